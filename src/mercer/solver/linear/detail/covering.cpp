#include "mercer/solver/linear/detail/covering.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"

namespace mercer {
namespace {

constexpr std::size_t lists_of_task = 512;
constexpr std::size_t steps_between_looks = 40;
constexpr std::size_t most_steps_of_a_run = 400;
constexpr double much_better = 0.3;  ///< a gap so much smaller than at its beginning ends a run

double difference(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum);
}

std::span<const std::uint32_t> list(const Covering& p, std::size_t i) {
    return p.members.subspan(p.starts[i], p.starts[i + 1] - p.starts[i]);
}

/// body(i) for every set, on all threads.
template <class Body>
void each(const Covering& p, const Body& body) {
    parallel_ranges(p.cost.size(), lists_of_task, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) body(i);
    });
}

/// Several sums, so that no addition waits for the one before it.
double sum_over(const Covering& p, std::size_t i, std::span<const double> v) {
    const std::span<const std::uint32_t> of = list(p, i);
    std::array<double, 8> sum{};
    std::size_t k = 0;
    for (; k + sum.size() <= of.size(); k += sum.size()) {
        for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += v[of[k + j]];
    }
    for (; k < of.size(); ++k) sum[0] += v[of[k]];
    return std::accumulate(sum.begin(), sum.end(), 0.0);
}

double largest_over(const Covering& p, std::size_t i, std::span<const double> v) {
    double largest = 0;
    for (const std::uint32_t m : list(p, i)) largest = std::max(largest, v[m]);
    return largest;
}

/// Cover all, whatever they were, unless an element has no cover: then some are infinite.
std::vector<double> repaired_weights(const Covering& p, const std::vector<double>& w) {
    std::vector<double> lack(w.size()), weights(w.size());
    each(p, [&](std::size_t i) { lack[i] = 1 / sum_over(p, i, w); });
    each(p, [&](std::size_t i) { weights[i] = w[i] == 0 ? 0 : w[i] * largest_over(p, i, lack); });
    return weights;
}

/// No set is worth more than it costs at them.
std::vector<double> repaired_prices(const Covering& p, std::span<const double> prices) {
    std::vector<double> y(prices.size()), overpaid(y), repaired(y);
    std::ranges::transform(prices, y.begin(), [](double price) { return std::max(0.0, price); });
    each(p, [&](std::size_t i) { overpaid[i] = sum_over(p, i, y) / p.cost[i]; });
    each(p,
         [&](std::size_t i) { repaired[i] = y[i] == 0 ? 0 : y[i] / largest_over(p, i, overpaid); });
    return repaired;
}

class CoveringRun {
   public:
    CoveringRun(const Covering& problem, const CoveringSettings& settings)
        : p_(problem), s_(settings), n_(problem.cost.size()) {}

    CoveringSolution solve() {
        const Run run(s_.progress, s_.time_limit);
        begin();
        look(w_, y_);
        double begun = infinite;  // the first run is short: it finds how long steps should be
        while (gap_of_best() > s_.gap) {
            if (!run.goes_on({"covering", -1, "gap " + short_gap()})) {
                best_.status =
                    run.out_of_time() ? LinearStatus::time_limit : LinearStatus::cancelled;
                break;
            }
            if (best_.iterations >= s_.iteration_limit) {
                best_.status = LinearStatus::failed;
                break;
            }
            for (std::size_t k = 0; k < steps_between_looks; ++k) step();
            std::vector<double> mean_w = mean(sum_w_), mean_y = mean(sum_y_);
            const double of_mean = look(mean_w, mean_y), of_end = look(w_, y_);
            const double better = std::min(of_mean, of_end);
            if (better > much_better * begun && steps_ < most_steps_of_a_run) continue;
            if (of_mean < of_end) {
                w_ = std::move(mean_w);
                y_ = std::move(mean_y);
            }
            begin_again();
            begun = better;
        }
        return std::move(best_);
    }

   private:
    double length(std::size_t i) const { return static_cast<double>(list(p_, i).size()); }

    /// Every set a share of each element, and every element a share of each set's cost.
    void begin() {
        w_.resize(n_);
        y_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            w_[i] = 1 / length(i);
            y_[i] = p_.cost[i] / length(i);
        }
        w_ = repaired_weights(p_, w_);
        y_ = repaired_prices(p_, y_);
        balance_ = std::sqrt(dot(y_, y_) / dot(w_, w_));
        begin_again();
    }
    void begin_again() {
        if (!first_w_.empty()) {
            const double by_w = difference(w_, first_w_), by_y = difference(y_, first_y_);
            if (by_w > 0 && by_y > 0) balance_ = std::sqrt(balance_ * by_y / by_w);
        }
        first_w_ = w_;
        first_y_ = y_;
        sum_w_.assign(n_, 0.0);
        sum_y_.assign(n_, 0.0);
        steps_ = 0;
    }
    std::vector<double> mean(const std::vector<double>& sum) const {
        std::vector<double> result = sum;
        for (double& value : result) value /= static_cast<double>(steps_);
        return result;
    }

    /// w descends by what it costs beyond its price, y rises by what w then leaves uncovered.
    void step() {
        ahead_.resize(n_);
        each(p_, [&](std::size_t i) {
            const double surplus = p_.cost[i] - sum_over(p_, i, y_);
            const double next = std::max(0.0, w_[i] - surplus / (balance_ * length(i)));
            ahead_[i] = 2 * next - w_[i];
            w_[i] = next;
            sum_w_[i] += next;
        });
        next_y_.resize(n_);
        each(p_, [&](std::size_t i) {
            const double missing = 1 - sum_over(p_, i, ahead_);
            next_y_[i] = std::max(0.0, y_[i] + balance_ * missing / length(i));
            sum_y_[i] += next_y_[i];
        });
        std::swap(y_, next_y_);
        ++steps_;
        ++best_.iterations;
    }

    /// The gap between what w and y prove, whose best is kept.
    double look(const std::vector<double>& w, const std::vector<double>& y) {
        std::vector<double> weights = repaired_weights(p_, w);
        const double objective = dot(p_.cost, weights);
        const double bound = covering_bound(p_, y);
        if (best_.weights.empty() || objective < best_.objective) {
            best_.weights = std::move(weights);
            best_.unrepaired = w;
            best_.objective = objective;
        }
        best_.bound = std::max(best_.bound, bound);
        return std::isfinite(objective) ? (objective - bound) / objective : 1;
    }
    double gap_of_best() const { return (best_.objective - best_.bound) / best_.objective; }
    std::string short_gap() const { return format_number(std::round(gap_of_best() * 1e4) / 1e4); }

    const Covering& p_;
    const CoveringSettings& s_;
    std::size_t n_;
    std::vector<double> w_{}, y_{};                                  ///< where the steps stand
    std::vector<double> ahead_{}, next_y_{};                         ///< of a step
    std::vector<double> first_w_{}, first_y_{}, sum_w_{}, sum_y_{};  ///< of this run of steps
    std::size_t steps_ = 0;                                          ///< of this run
    double balance_ = 1;  ///< of the lengths of steps in y and in w
    CoveringSolution best_{};
};

}  // namespace

double covering_bound(const Covering& problem, std::span<const double> prices) {
    const std::vector<double> repaired = repaired_prices(problem, prices);
    return std::accumulate(repaired.begin(), repaired.end(), 0.0);
}

CoveringSolution cover(const Covering& problem, const CoveringSettings& settings) {
    return CoveringRun(problem, settings).solve();
}

}  // namespace mercer
