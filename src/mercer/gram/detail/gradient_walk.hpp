// The expression behind a GramGradient, annotated with where its numbers come from, and its
// evaluation for a batch of pairs.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mercer/gram/detail/column_numbers.hpp"
#include "mercer/gram/gradient.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/kernel/detail/leaf.hpp"
#include "mercer/kernel/detail/own_parameters.hpp"

namespace mercer {

/// Values of a part for a batch of pairs, with their derivatives in the part's parameters.
struct Batch {
    std::vector<double> value{};
    std::vector<std::vector<double>> slope{};  ///< one a parameter; empty when not wanted
};

/// Pairs of rows of the sample: a window, or the pairs (i, i) of its rows.
struct Pairs {
    PairWindow window{};
    bool diagonal = false;
    std::size_t size() const { return diagonal ? window.rows : window.rows * window.columns; }
};

inline constexpr std::size_t gradient_tile = 256;

/// A pairwise number that does not depend on parameters.
struct PairSource {
    PairNumber number = PairNumber::dot;
    std::size_t sample = 0;
    std::shared_ptr<const Gram<double>> gram{};  ///< none for `absolute`
    double sign = 1;                             ///< of the number relative to what `gram` gives
    /// The tiles of the lower triangle, where they are kept.
    std::shared_ptr<const std::vector<std::vector<double>>> kept{};
};

/// Everything about the sample that other values of the parameters do not change.
struct PairSources {
    std::vector<Rows> samples{};  ///< the rows as some part of the expression sees them
    std::vector<PairSource> sources{};
    std::map<std::string, std::size_t> sample_of{};
    std::map<std::string, std::size_t> source_of{};
    struct Members {
        std::shared_ptr<const GramGradient> gradient;
        std::vector<std::size_t> starts;
    };
    std::map<std::string, std::shared_ptr<const Members>> members{};

    /// The numbers of a source for some pairs.
    std::vector<double> fill(std::size_t source, const Pairs& pairs) const;
};

/// A node of the expression in its place.
struct GradientPart {
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    const KernelNode* node = nullptr;
    std::vector<GradientPart> children{};
    std::vector<OwnParameter> own{};
    std::size_t sample = 0;
    std::size_t source = none;  ///< of a leaf, where it has one
    std::size_t side = none;    ///< normalize, rbf_of, center: what they need of single rows
    std::shared_ptr<const PairSources::Members> starts{};  ///< sets
    std::shared_ptr<const GramGradient> members{};         ///< sets, at the part's own parameters
    std::shared_ptr<const ObjectPairs> objects{};  ///< a leaf by pairs with slopes: the sample

    /// Those of the part and of all parts inside it.
    std::size_t parameter_count() const;
};

/// k(x_i, x_i) of a part for every row, or its mean over the sample with the mean of means.
struct RowSide {
    Batch rows{};
    double mean = 0;
    std::vector<double> mean_slope{};
};

/// Finds and prepares what the parts need; `sources` grows by what is not there yet.
/// `sides` receives one empty entry for each part that needs one, inner parts first.
GradientPart build_part(const Kernel& kernel, PairSources& sources, std::vector<RowSide>& sides);

/// Evaluates parts for one batch.
class TangentWalker {
   public:
    using Numbers = std::function<std::span<const double>(std::size_t source)>;

    TangentWalker(const PairSources& sources, const std::vector<RowSide>& sides, const Pairs& pairs,
                  const Numbers& numbers, bool slopes)
        : sources_(sources), sides_(sides), pairs_(pairs), numbers_(numbers), slopes_(slopes) {}

    Batch operator()(const GradientPart& part) const;

   private:
    Batch leaf(const GradientPart& part) const;
    Batch sum(const GradientPart& part) const;
    Batch product(const GradientPart& part) const;
    Batch scaled(const GradientPart& part) const;
    Batch power(const GradientPart& part) const;
    Batch exponential(const GradientPart& part) const;
    Batch normalized(const GradientPart& part) const;
    Batch gaussian_of(const GradientPart& part) const;
    Batch centered(const GradientPart& part) const;
    Batch on_sets(const GradientPart& part) const;
    void object_slopes(const GradientPart& part, const std::string& canonical,
                       std::vector<double>& out) const;
    void add_members(const GradientPart& part, const PairWindow& window, std::size_t at,
                     Batch& out) const;

    /// f(position in the batch, row i, row j)
    template <class F>
    void each_pair(F f) const;

    const PairSources& sources_;
    const std::vector<RowSide>& sides_;
    const Pairs& pairs_;
    const Numbers& numbers_;
    bool slopes_;
};

}  // namespace mercer
