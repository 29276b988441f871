// The kernel perceptron on blocks of rows. For the .cpp files of this room only.
//
// A perceptron looks at its rows one after another, and a kernel row at a time would waste the
// matrix products. So a block of upcoming rows is taken against all points held so far in one
// product, and against itself in another; then the rows are gone through in order, and each mistake
// corrects the values of the rows behind it from the second product. The result is that of the
// algorithm as printed, rounding apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/gram/gram.hpp"

namespace mercer {

/// What a mistake changes: output `up` grows, output `down` falls, each by the row's weight.
struct PerceptronUpdate {
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    std::size_t up = none;
    std::size_t down = none;
    bool made() const { return up != none || down != none; }
};

/// The decision about one row of class y with these values; a tie is a mistake (003: ya <= 0).
/// One output stands for two classes, positive for the first.
inline PerceptronUpdate perceptron_update(std::span<const double> f, std::size_t y) {
    PerceptronUpdate update;
    if (f.size() == 1) {
        if ((y == 0 ? f[0] : -f[0]) > 0) return update;
        (y == 0 ? update.up : update.down) = 0;
        return update;
    }
    std::size_t rival = y == 0 ? 1 : 0;
    for (std::size_t c = 0; c < f.size(); ++c) {
        if (c != y && f[c] > f[rival]) rival = c;
    }
    if (f[y] > f[rival]) return update;
    return {.up = y, .down = rival};
}

/// How far on the right side a row is: y f(x), or the lead over the best rival.
inline double perceptron_lead(std::span<const double> f, std::size_t y) {
    if (f.size() == 1) return y == 0 ? f[0] : -f[0];
    double rival = -std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < f.size(); ++c) {
        if (c != y) rival = std::max(rival, f[c]);
    }
    return f[y] - rival;
}

/// One vector of a voted perceptron: what the update before it did, and for how many rows it stood.
struct PerceptronVote {
    std::size_t slot = 0;
    PerceptronUpdate update{};
    double weight = 1;
    std::size_t survived = 0;
};

/// The lead of every row in the last pass, and Σ α f without the bias: what the mistake bound
/// needs.
struct PassRecord {
    std::size_t mistakes = 0;
    double least_lead = std::numeric_limits<double>::infinity();
};

/// Points held with their coefficients, and the rule that changes them. Rows are known by their
/// place in a pool that the caller keeps.
template <class T>
class PerceptronCore {
   public:
    PerceptronCore(std::size_t outputs, std::size_t budget, bool bias, bool voting)
        : outputs_(outputs),
          budget_(budget),
          use_bias_(bias),
          voting_(voting),
          bias_(outputs, 0.0),
          age_weighted_bias_(outputs, 0.0),
          kernel_(budget == 0 ? 0 : budget + 1, budget == 0 ? 0 : budget + 1) {}

    /// Goes through a block: `block` as rows and columns, `held` the points of the pool at
    /// positions(), `places` where the rows stand in the pool, `classes` and `weights` (may be
    /// empty) theirs.
    void learn(const Gram<T>& gram, const Points<T>& block, const Points<T>& held,
               std::span<const std::size_t> places, std::span<const std::size_t> classes,
               std::span<const double> weights, PassRecord& record) {
        const std::size_t rows = places.size();
        const std::size_t before = positions_.size();
        values_.resize(rows * (before + rows));
        const MatrixView<T> values(values_.data(), rows, before + rows);
        if (before > 0) gram.block(block, held, values.block(0, 0, rows, before));
        gram.block(block, block, values.block(0, before, rows, rows));
        evaluations_ += static_cast<std::uint64_t>(rows) * (before + rows);
        column_.resize(before);
        for (std::size_t s = 0; s < before; ++s) column_[s] = s;
        start_scores(values, before);
        for (std::size_t r = 0; r < rows; ++r) {
            ++steps_;
            const std::span<const double> f = scores_.row(r);
            record.least_lead = std::min(record.least_lead, perceptron_lead(f, classes[r]));
            const PerceptronUpdate update = perceptron_update(f, classes[r]);
            if (update.made()) {
                ++record.mistakes;
                ++mistakes_;
                apply(values, before, r, places[r], update, weights.empty() ? 1 : weights[r]);
            }
            if (voting_ && !votes_.empty()) ++votes_.back().survived;
        }
    }

    const std::vector<std::size_t>& positions() const { return positions_; }
    /// The caller has put the points into a new pool, in the order of positions().
    void renumber() {
        slot_of_.clear();
        for (std::size_t s = 0; s < positions_.size(); ++s) slot_of_[positions_[s] = s] = s;
    }

    /// outputs × points: now, or the mean over all steps.
    Matrix<double> coefficients(bool averaged) const {
        Matrix<double> result(outputs_, positions_.size());
        for (std::size_t s = 0; s < positions_.size(); ++s) {
            for (std::size_t c = 0; c < outputs_; ++c) {
                result(c, s) =
                    mean(alpha_[s * outputs_ + c], age_weighted_[s * outputs_ + c], averaged);
            }
        }
        return result;
    }
    std::vector<double> bias(bool averaged) const {
        std::vector<double> result(outputs_);
        for (std::size_t c = 0; c < outputs_; ++c) {
            result[c] = mean(bias_[c], age_weighted_bias_[c], averaged);
        }
        return result;
    }
    const std::vector<PerceptronVote>& votes() const { return votes_; }

    std::size_t steps() const { return steps_; }
    std::size_t mistakes() const { return mistakes_; }
    std::size_t merges() const { return merges_; }
    double forgotten() const { return forgotten_; }
    std::uint64_t evaluations() const { return evaluations_; }

   private:
    /// The mean of w over steps 1 … T when an update Δ at step t is in force from t on: w − Σ (t−1)
    /// Δ / T.
    double mean(double now, double age, bool averaged) const {
        return averaged && steps_ > 0 ? now - age / static_cast<double>(steps_) : now;
    }

    void start_scores(MatrixView<const T> values, std::size_t before) {
        if (scores_.rows() != values.rows) scores_ = Matrix<double>(values.rows, outputs_);
        parallel_ranges(values.rows, 16, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                const std::span<double> f = scores_.row(i);
                std::ranges::copy(bias_, f.begin());
                const T* const k = values.row(i).data();
                for (std::size_t s = 0; s < before; ++s) {
                    const auto value = static_cast<double>(k[s]);
                    const double* const alpha = alpha_.data() + s * outputs_;
                    for (std::size_t c = 0; c < outputs_; ++c) f[c] += alpha[c] * value;
                }
            }
        });
    }

    /// Calls body(output, amount) for what the update changes.
    template <class Body>
    static void each_change(const PerceptronUpdate& update, double weight, Body&& body) {
        if (update.up != PerceptronUpdate::none) body(update.up, weight);
        if (update.down != PerceptronUpdate::none) body(update.down, -weight);
    }

    void apply(MatrixView<const T> values, std::size_t before, std::size_t r, std::size_t place,
               const PerceptronUpdate& update, double weight) {
        const auto [found, is_new] = slot_of_.try_emplace(place, positions_.size());
        const std::size_t slot = found->second;
        if (is_new) add_point(values, before, r, place);
        const double age = static_cast<double>(steps_ - 1);
        const double offset = use_bias_ ? 1 : 0;
        each_change(update, weight, [&](std::size_t c, double amount) {
            alpha_[slot * outputs_ + c] += amount;
            age_weighted_[slot * outputs_ + c] += age * amount;
            bias_[c] += offset * amount;
            age_weighted_bias_[c] += offset * age * amount;
            const std::size_t column = column_[slot];
            for (std::size_t i = r + 1; i < values.rows; ++i) {
                scores_(i, c) += amount * (static_cast<double>(values(i, column)) + offset);
            }
        });
        if (voting_) votes_.push_back({slot, update, weight, 0});
        if (budget_ > 0 && positions_.size() > budget_) merge(values, r);
    }

    void add_point(MatrixView<const T> values, std::size_t before, std::size_t r,
                   std::size_t place) {
        const std::size_t slot = positions_.size();
        positions_.push_back(place);
        column_.push_back(before + r);
        alpha_.resize(alpha_.size() + outputs_, 0.0);
        age_weighted_.resize(age_weighted_.size() + outputs_, 0.0);
        if (budget_ == 0) return;
        for (std::size_t s = 0; s <= slot; ++s) {
            kernel_(slot, s) = kernel_(s, slot) = static_cast<double>(values(r, column_[s]));
        }
        replacement_.emplace_back();
        find_heir(slot);
        for (std::size_t s = 0; s < slot; ++s) {
            if (const double share = kept_by(s, slot); share > replacement_[s].share) {
                replacement_[s] = {slot, share};
            }
        }
    }

    /// What is left of ‖Φ(x_s)‖² in its projection on the image of x_n: k(s,n)²/k(n,n).
    double kept_by(std::size_t s, std::size_t n) const {
        return kernel_(n, n) > 0 ? kernel_(s, n) * kernel_(s, n) / kernel_(n, n) : -1;
    }

    void find_heir(std::size_t s) {
        replacement_[s] = {};
        for (std::size_t n = 0; n < positions_.size(); ++n) {
            if (n == s) continue;
            if (const double share = kept_by(s, n); share > replacement_[s].share)
                replacement_[s] = {n, share};
        }
    }

    /// ‖α_s‖² over the outputs.
    double squared_coefficient(std::size_t s) const {
        double sum = 0;
        for (std::size_t c = 0; c < outputs_; ++c) {
            sum += alpha_[s * outputs_ + c] * alpha_[s * outputs_ + c];
        }
        return sum;
    }

    /// ‖Δw‖² if s went: ‖α_s‖² (k(s,s) − k(s,n)²/k(n,n)), n its heir.
    double loss(std::size_t s) const {
        return squared_coefficient(s) * (kernel_(s, s) - std::max(replacement_[s].share, 0.0));
    }

    /// Takes out the point m that is missed least and leaves α_m k(m,n)/k(n,n) at its heir n.
    void merge(MatrixView<const T> values, std::size_t r) {
        std::size_t gone = 0;
        for (std::size_t s = 1; s < positions_.size(); ++s) {
            if (loss(s) < loss(gone)) gone = s;
        }
        const std::size_t replacement = replacement_[gone].slot;
        const bool inherits = replacement_[gone].share >= 0;
        const double ratio =
            inherits ? kernel_(gone, replacement) / kernel_(replacement, replacement) : 0;
        forgotten_ += std::sqrt(std::max(0.0, loss(gone)));
        ++merges_;
        for (std::size_t c = 0; c < outputs_; ++c) {
            const double alpha = alpha_[gone * outputs_ + c];
            alpha_[replacement * outputs_ + c] += ratio * alpha;
            age_weighted_[replacement * outputs_ + c] += ratio * age_weighted_[gone * outputs_ + c];
            for (std::size_t i = r + 1; i < values.rows && alpha != 0; ++i) {
                scores_(i, c) +=
                    alpha * (ratio * static_cast<double>(values(i, column_[replacement])) -
                             static_cast<double>(values(i, column_[gone])));
            }
        }
        remove(gone);
    }

    /// The last point takes the place of `gone`.
    void remove(std::size_t gone) {
        const std::size_t last = positions_.size() - 1;
        slot_of_.erase(positions_[gone]);
        if (gone != last) {
            positions_[gone] = positions_[last];
            slot_of_[positions_[gone]] = gone;
            column_[gone] = column_[last];
            for (std::size_t c = 0; c < outputs_; ++c) {
                alpha_[gone * outputs_ + c] = alpha_[last * outputs_ + c];
                age_weighted_[gone * outputs_ + c] = age_weighted_[last * outputs_ + c];
            }
            const double self = kernel_(last, last);
            for (std::size_t s = 0; s < last; ++s) {
                kernel_(gone, s) = kernel_(s, gone) = kernel_(last, s);
            }
            kernel_(gone, gone) = self;
        }
        positions_.pop_back();
        column_.pop_back();
        alpha_.resize(alpha_.size() - outputs_);
        age_weighted_.resize(age_weighted_.size() - outputs_);
        std::swap(replacement_[gone], replacement_[last]);
        replacement_.pop_back();
        for (std::size_t s = 0; s < last; ++s) {
            if (replacement_[s].slot == gone) {
                find_heir(s);
            } else if (replacement_[s].slot == last) {
                replacement_[s].slot = gone;
            }
        }
    }

    /// The point that would keep most of another one's image.
    struct Replacement {
        std::size_t slot = 0;
        double share = -1;
    };

    std::size_t outputs_;
    std::size_t budget_;
    bool use_bias_;
    bool voting_;
    std::vector<std::size_t> positions_{};  ///< of the points in the pool
    std::unordered_map<std::size_t, std::size_t> slot_of_{};
    std::vector<double> alpha_{};         ///< points × outputs
    std::vector<double> age_weighted_{};  ///< Σ (t−1) Δα, likewise
    std::vector<double> bias_;
    std::vector<double> age_weighted_bias_;
    Matrix<double> kernel_;                   ///< between the points, where there is a budget
    std::vector<Replacement> replacement_{};  ///< likewise
    std::vector<PerceptronVote> votes_{};
    std::size_t steps_ = 0;
    std::size_t mistakes_ = 0;
    std::size_t merges_ = 0;
    double forgotten_ = 0;
    std::uint64_t evaluations_ = 0;

    // Of the block at hand.
    std::vector<T> values_{};
    std::vector<std::size_t> column_{};  ///< of `values` that belongs to a point
    Matrix<double> scores_{};
};

}  // namespace mercer
