// The perceptron and the kernel perceptron (003, algorithms 28 and 29): look at one row after
// another, and add it to the weight vector, with its sign, whenever the answer is wrong.
//
//   Model model = perceptron({.common = {.kernel = rbf({.gamma = 0.5})}, .passes = 3}).fit(data);
//   model.report().history;                       // mistakes in each pass
//   model.report().figures.at("mistake_bound");   // once a pass was made without any
//
//   PerceptronStream stream({.kernel = rbf({.gamma = 0.5}), .columns = 2,
//                            .class_names = {"left", "right"}, .budget = 500});
//   while (more_to_come) stream.update(x, 1);     // for ever, in the memory of 500 points
//   Model now = stream.model();
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

enum class PassOrder { given, shuffled };

enum class PerceptronVariant {
    plain,     ///< the last weight vector, as 003 prints it
    averaged,  ///< the mean of all weight vectors held on the way
    voted,     ///< each of them votes, as often as it survived [Freund and Schapire 1999]
};

/// Two classes: wrong is y f(x) <= 0, and then α += y, b += y, + being the first class. More
/// classes: wrong is when another class reaches the value of the right one; then the right one gets
/// the row with +1 and the highest of the others with −1 [Crammer and Singer 2003]. A row of weight
/// w counts w times in its update.
struct PerceptronSettings {
    FitSettings common{};
    std::size_t passes = 10;  ///< at most; a pass without mistakes ends the training
    PassOrder order = PassOrder::given;
    PerceptronVariant variant = PerceptronVariant::plain;
    /// At most so many points; 0: as many as mistakes are made. When there is one too many, that
    /// one goes which loses least by being replaced with its projection on another point: ‖Δw‖² =
    /// ‖α_m‖² (k(m,m) − k(m,n)²/k(n,n)). So merged points are rows of the data, for any kernel.
    std::size_t budget = 0;
    bool bias = true;
};

/// A linear kernel is trained on the weight vector itself (algorithm 28), any other on the
/// coefficients (algorithm 29); both make the same mistakes.
///
/// The report's history holds the mistakes of each pass, its figures `mistakes`, `passes`,
/// `last_mistakes`, with a budget `merges` and `forgotten` (the sum of all ‖Δw‖), and, once a pass
/// went without mistakes, the margin δ of the weight vector found and Novikoff's bound R²/δ² on the
/// mistakes of any run
/// (`mistake_bound`; twice that for more than two classes, whose updates move two vectors). It
/// holds for every separating vector, so it is smallest for the hard margin's. Budgets and weights
/// have no such bound.
class Perceptron {
   public:
    explicit Perceptron(PerceptronSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return Task::perceptron; }
    const PerceptronSettings& settings() const { return settings_; }
    Model fit(const Dataset& data) const;

   private:
    PerceptronSettings settings_;
};
inline Perceptron perceptron(PerceptronSettings settings = {}) {
    return Perceptron(std::move(settings));
}

struct StreamSettings {
    Kernel kernel = rbf({.gamma = 1.0});     ///< without rules that wait for data
    std::size_t columns = 0;                 ///< of every row to come
    std::vector<std::string> class_names{};  ///< two or more, in order
    std::size_t budget = 0;                  ///< 0: none, and the memory grows with the mistakes
    bool averaged = false;
    bool bias = true;
    bool double_precision = false;
};

/// The kernel perceptron on rows that come one by one and are not kept unless they are mistakes.
class PerceptronStream {
   public:
    /// Throws InvalidInput for fewer than two classes, two of the same name, no columns, a kernel
    /// that waits for data or needs a whole sample (center, precomputed).
    explicit PerceptronStream(StreamSettings settings);
    PerceptronStream(PerceptronStream&&) noexcept;
    PerceptronStream& operator=(PerceptronStream&&) noexcept;
    ~PerceptronStream();

    /// Learns from one row of class `y` (a position in class_names); true when it was a mistake.
    /// Throws InvalidInput, and learns nothing, for a row of another length or not finite.
    bool update(std::span<const double> x, std::size_t y);

    std::size_t steps() const;
    std::size_t mistakes() const;
    std::size_t points() const;  ///< held at the moment
    Model model() const;

   private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The votes of a voted perceptron, all of whose vectors speak [Freund and Schapire 1999]. One row
/// an update of the training, in order:
///     point of the expansion, output that grew (or −1), output that fell (or −1), by how much,
///     number of rows the vector after this update stood for
/// so that the vectors are the partial sums over the rows. Decisions are shares of the votes: for
/// two classes those for the first less those for the second, otherwise one column per class.
struct Votes final : ArrayExtra<Votes> {
    Matrix<double> table{};

    Votes() = default;
    explicit Votes(Matrix<double> updates) : table(std::move(updates)) {}
    template <class Self, class Visit>
    static void arrays(Self& self, Visit&& visit) {
        visit("votes", self.table);
    }
    void check(const ModelParts& model, const std::string& place) const override;
    std::string why_not_reduced() const override;
    bool decides() const override { return true; }
    Matrix<double> decide(const Model& model, const Rows& scaled,
                          const Progress& progress) const override;
};

}  // namespace mercer
