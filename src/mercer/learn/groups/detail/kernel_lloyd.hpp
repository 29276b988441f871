// Lloyd's two steps in feature space, from one start to its end. For learn/groups/kmeans.cpp.
//
// With S_ci = Σ_{j in c} w_j k(x_j, x_i) the squared distance of row i from the mean of group c is
//
//     k(x_i, x_i) − 2 S_ci / W_c + ‖μ_c‖²,     W_c ‖μ_c‖² = Σ_{i in c} w_i S_ci / W_c,
//
// and S follows the rows that move: n kernel values for each. Where the features can be written
// down (linear kernels) W_c μ_c is kept instead, and S is one product with all rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/base/operator.hpp"
#include "mercer/base/random.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/groups/kmeans.hpp"
#include "mercer/learn/report.hpp"

namespace mercer {

/// What one start came to.
struct Grouping {
    std::vector<std::size_t> cluster{};  ///< of each row
    double objective = std::numeric_limits<double>::infinity();
    std::vector<double> history{};
    std::size_t refilled = 0;
    std::vector<double> square{};  ///< ‖μ‖² of each cluster
    std::vector<double> weight{};
    FitStatus status = FitStatus::iteration_limit;
};

template <class T>
class KernelLloyd {
   public:
    /// Settings, weights (one for each row) and operator must live as long as this. With
    /// `features`, the rows behind the operator, it is asked for little; with `engine`, whose
    /// reference rows are those of an operator that cannot keep its values, not for sums over all.
    KernelLloyd(const KMeansSettings& settings, const Run& run, std::span<const double> weights,
                const SymmetricOperator<T>& op,
                std::optional<ExplicitRows<T>> features = std::nullopt,
                std::optional<Gram<T>> engine = std::nullopt);

    /// Begun by k-means++ with the stream of random numbers of this number.
    Grouping start(std::size_t number);
    /// Begun by the nearest of the means of some rows, whose groups are given.
    Grouping start_from(std::size_t number, std::span<const std::size_t> rows,
                        std::span<const std::size_t> groups);

    /// Kernel values that did not come from the operator.
    std::uint64_t evaluations() const { return evaluations_; }

   private:
    void improve(std::size_t number, Grouping& g);
    void run_to_end(std::size_t number, Grouping& g);
    double distance(std::size_t i, std::size_t c) const;
    double total(std::span<const double> own) const;
    std::vector<std::size_t> seed(Random& random);
    std::size_t draw(const std::vector<double>& chance, const std::vector<std::size_t>& chosen,
                     Random& random) const;
    template <class Change>
    void each_row(std::span<const std::size_t> which, Change&& change);
    template <class Change>
    void each_feature_row(std::span<const std::size_t> which, Change&& change);
    void add_all(const std::vector<std::size_t>& cluster);
    void move(const std::vector<std::size_t>& from, const std::vector<std::size_t>& to);
    bool sums_hold(const Grouping& g);
    void ask() const;
    void measure(Grouping& g);
    std::vector<std::size_t> nearest(const std::vector<std::size_t>& cluster,
                                     std::vector<double>& own) const;
    void refill(std::vector<std::size_t>& next, const std::vector<double>& own,
                std::size_t& refilled) const;
    bool may_go_on(std::size_t number, std::size_t pass, Grouping& g);

    const KMeansSettings& settings_;
    Run run_;
    std::span<const double> row_weight_;
    const SymmetricOperator<T>& op_;
    std::size_t n_;
    std::size_t k_;
    std::vector<double> diagonal_;
    Matrix<T> block_;
    Matrix<double> sums_;  ///< S: clusters × rows
    std::vector<double> weight_;
    std::vector<double> square_;
    std::optional<ExplicitRows<T>> features_;
    std::optional<Gram<T>> engine_;
    std::uint64_t evaluations_ = 0;
    Matrix<double> means_{};  ///< clusters × features: Σ_{j in c} w_j φ_j
};

extern template class KernelLloyd<float>;
extern template class KernelLloyd<double>;

}  // namespace mercer
