#include "mercer/solver/detail/hulls.hpp"

#include <limits>
#include <numeric>

#include "mercer/solver/detail/corral.hpp"

namespace mercer {
namespace {

/// Cycles without a shorter distance after which rounding is at work.
constexpr int most_idle = 30;
/// A shorter distance is one by at least this part of the scale, squared.
constexpr double noticeable = 1e-17;

template <class T>
class NearestPoints {
   public:
    NearestPoints(const SymmetricOperator<T>& k, const Hulls& hulls, const HullLimits& limits)
        : k_(k),
          hulls_(hulls),
          limits_(limits),
          diagonal_(k.size()),
          weight_(hulls.size(), 0.0),
          shut_(hulls.size(), 0),
          corral_(hulls.sides, limits.corral, largest_diagonal(),
                  16 * static_cast<double>(std::numeric_limits<T>::epsilon())) {}

    HullPoints run(std::span<const double> first) {
        HullPoints result;
        begin(first);
        double best = std::numeric_limits<double>::infinity();
        for (int idle = 0;; ++result.cycles) {
            shorten();
            measure();
            if (squared_ < best - noticeable * scale_ * scale_) {
                best = squared_;
                result.weights = weight_;
                result.squared_distance = std::max(0.0, squared_);
                result.scale = scale_;
                idle = 0;
            } else if (++idle > most_idle) {
                result.end = HullEnd::rounding;
                break;
            }
            if (squared_ <= limits_.nothing * scale_ * scale_) {
                result.end = HullEnd::met;
                break;
            }
            if (spread_ <= limits_.tolerance * squared_) {
                result.end = HullEnd::nearest;
                result.weights = weight_;
                result.squared_distance = squared_;
                result.scale = scale_;
                break;
            }
            if (worst_ == hulls_.size()) {
                result.end = HullEnd::rounding;
                break;
            }
            const bool stopped = result.cycles % 32 == 31 && limits_.go_on && !limits_.go_on();
            if (corral_.full() || stopped) break;  // HullEnd::limit
            enter(worst_);
        }
        return result;
    }

   private:
    double largest_diagonal() {
        k_.diagonal(diagonal_);
        double largest = 0;
        for (const std::size_t r : hulls_.row) largest = std::max(largest, std::abs(diagonal_[r]));
        return largest > 0 ? largest : 1;
    }

    void begin(std::span<const double> first) {
        for (std::uint8_t side = 0; side < hulls_.sides; ++side) {
            std::size_t best = hulls_.size();
            for (std::size_t i = 0; i < hulls_.size(); ++i) {
                if (hulls_.side[i] != side) continue;
                if (best == hulls_.size() ||
                    (!first.empty() && std::abs(first[i]) > std::abs(first[best]))) {
                    best = i;
                }
            }
            if (side == 0) settle_base(hulls_.row[best]);
            corral_.add(best, side, products(best));
            weight_[best] = 1;
        }
    }

    /// Weights of two sides move points of two hulls, whose difference does not know the origin:
    /// products are taken as seen from one of the points, k(x, z) − k(x, b) − k(z, b) + k(b, b).
    /// So kernels serve that are positive definite only so far (negative distances).
    void settle_base(std::size_t row) {
        std::vector<T> values(k_.size());
        k_.rows(std::span(&row, 1), MatrixView<T>(values.data(), 1, values.size()));
        size_.resize(k_.size());
        for (std::size_t r = 0; r < k_.size(); ++r) {
            const double own = std::abs(diagonal_[r]);
            size_[r] = std::sqrt(own > 0 ? own : std::abs(static_cast<double>(values[r])));
        }
        base_.assign(k_.size(), 0.0);
        if (hulls_.sides == 1) return;
        own_ = diagonal_[row];
        for (std::size_t r = 0; r < k_.size(); ++r) base_[r] = static_cast<double>(values[r]);
    }

    /// The products of variable j with the members and itself.
    std::vector<double> products(std::size_t j) const {
        std::vector<std::size_t> rows;
        for (const std::size_t i : corral_.members()) rows.push_back(hulls_.row[i]);
        rows.push_back(hulls_.row[j]);
        std::vector<T> values(rows.size());
        k_.tile(std::span(&hulls_.row[j], 1), rows, MatrixView<T>(values.data(), 1, rows.size()));
        std::vector<double> h(rows.size());
        for (std::size_t a = 0; a < rows.size(); ++a) {
            const std::size_t i = a < corral_.size() ? corral_.members()[a] : j;
            h[a] = hulls_.sign[j] * hulls_.sign[i] *
                   (static_cast<double>(values[a]) - base_[rows[a]] - base_[hulls_.row[j]] + own_);
        }
        return h;
    }

    /// To the least norm over the hull of the members: those that would get a weight below zero go.
    void shorten() {
        for (;;) {
            const std::vector<double> x = corral_.affine_minimum();
            double step = 1;
            std::size_t leaves = corral_.size();
            for (std::size_t a = 0; a < x.size(); ++a) {
                const double w = weight_[corral_.members()[a]];
                if (x[a] > 0 || !(w > x[a])) continue;
                const double here = w / (w - x[a]);
                if (here < step || leaves == corral_.size()) {
                    step = std::min(step, here);
                    leaves = a;
                }
            }
            for (std::size_t a = 0; a < x.size(); ++a) {
                double& w = weight_[corral_.members()[a]];
                w = std::max(0.0, w + step * (x[a] - w));
            }
            if (leaves == corral_.size()) return;
            leave(leaves);
        }
    }

    void leave(std::size_t place) {
        const std::size_t i = corral_.members()[place];
        weight_[i] = 0;
        shut_[i] = 1;
        corral_.remove(place);
    }

    void enter(std::size_t j) {
        std::vector<double> h = products(j);
        const std::uint8_t side = hulls_.side[j];
        if (corral_.add(j, side, h)) return;
        // It is a combination of the members: they make way along it, without curvature, until one
        // of them has no weight left.
        const double own = h.back();
        h.pop_back();
        const std::vector<double> z = corral_.replacement(side, h);
        double step = std::numeric_limits<double>::infinity();
        std::size_t leaves = corral_.size();
        for (std::size_t a = 0; a < z.size(); ++a) {
            if (!(z[a] < 0)) continue;
            const double here = weight_[corral_.members()[a]] / -z[a];
            if (here >= step) continue;
            step = here;
            leaves = a;
        }
        shut_[j] = 1;
        if (leaves == corral_.size()) return;
        const std::vector<double> before = weight_;
        for (std::size_t a = 0; a < z.size(); ++a) {
            double& w = weight_[corral_.members()[a]];
            w = std::max(0.0, w + step * z[a]);
        }
        const std::size_t left = corral_.members()[leaves];
        leave(leaves);
        h.erase(h.begin() + static_cast<std::ptrdiff_t>(leaves));
        h.push_back(own);
        if (corral_.add(j, side, std::move(h))) {
            weight_[j] = step;
            return;
        }
        weight_ = before;  // it was nearly the same point as one that stays
        if (!corral_.add(left, hulls_.side[left], products(left))) weight_[left] = 0;
    }

    /// d², the spread of the conditions over all variables, and who violates them most.
    void measure() {
        normalise();
        std::vector<std::size_t> rows;
        std::vector<double> beta;
        scale_ = 0;
        for (const std::size_t i : corral_.members()) {
            rows.push_back(hulls_.row[i]);
            beta.push_back(hulls_.sign[i] * weight_[i]);
            scale_ += weight_[i] * size_[hulls_.row[i]];
        }
        sums_.assign(k_.size(), 0.0);
        const std::vector<char> again(rows.size(), 1);
        k_.add_rows(rows, beta, Columns::all(), again, sums_);
        const double last = squared_;
        squared_ = 0;
        std::array<double, 2> level{};
        for (const std::size_t i : corral_.members()) {
            const double part = weight_[i] * hulls_.sign[i] * sums_[hulls_.row[i]];
            squared_ += part;
            level[hulls_.side[i]] += part;
        }
        if (squared_ < last) std::ranges::fill(shut_, char{0});
        std::array<double, 2> least = level;
        worst_ = hulls_.size();
        double depth = 0;
        for (std::size_t i = 0; i < hulls_.size(); ++i) {
            const std::uint8_t side = hulls_.side[i];
            const double h = hulls_.sign[i] * sums_[hulls_.row[i]];
            least[side] = std::min(least[side], h);
            if (weight_[i] > 0 || shut_[i] != 0 || !(level[side] - h > depth)) continue;
            depth = level[side] - h;
            worst_ = i;
        }
        spread_ = 0;
        for (std::size_t s = 0; s < hulls_.sides; ++s) spread_ += level[s] - least[s];
    }

    void normalise() {
        std::array<double, 2> sum{};
        for (const std::size_t i : corral_.members()) sum[hulls_.side[i]] += weight_[i];
        for (const std::size_t i : corral_.members()) weight_[i] /= sum[hulls_.side[i]];
    }

    const SymmetricOperator<T>& k_;
    const Hulls& hulls_;
    const HullLimits& limits_;
    std::vector<double> diagonal_;
    std::vector<double> size_{};  ///< √k(x, x), or what stands for it where that is 0
    std::vector<double> base_{};  ///< k(x, b)
    double own_ = 0;              ///< k(b, b)
    std::vector<double> weight_;
    std::vector<char> shut_;  ///< not again before d has become shorter
    Corral corral_;
    std::vector<double> sums_{};
    double squared_ = std::numeric_limits<double>::infinity();
    double scale_ = 0;
    double spread_ = 0;
    std::size_t worst_ = 0;
};

}  // namespace

std::optional<Hulls> hulls_of(const CanonicalDual& form) {
    const std::size_t n = form.variables;
    if (form.general || n == 0 || form.equalities > 1 || form.target[0] != 0) return std::nullopt;
    Hulls hulls;
    hulls.sides = form.equalities + 1;
    std::array<bool, 2> seen{};
    for (std::size_t i = 0; i < n; ++i) {
        const bool grows = form.lower[i] == 0 && std::isinf(form.upper[i]);
        const bool falls = form.upper[i] == 0 && std::isinf(form.lower[i]);
        if (grows == falls || form.group[i] != form.equalities) return std::nullopt;
        const double direction = grows ? 1 : -1;
        const double pull = -direction * form.p[i];
        if (i == 0) hulls.pull = pull;
        if (!(pull > 0) || pull != hulls.pull) return std::nullopt;
        hulls.row.push_back(form.row[i]);
        hulls.sign.push_back(form.sign[i] * direction);
        hulls.direction.push_back(direction);
        hulls.side.push_back(hulls.sides == 2 && falls ? 1 : 0);
        seen[hulls.side.back()] = true;
    }
    return seen[0] && (hulls.sides == 1 || seen[1]) ? std::optional(std::move(hulls))
                                                    : std::nullopt;
}

template <class T>
HullPoints nearest_hull_points(const SymmetricOperator<T>& k, const Hulls& hulls,
                               const HullLimits& limits, std::span<const double> first) {
    return NearestPoints<T>(k, hulls, limits).run(first);
}

template HullPoints nearest_hull_points<float>(const SymmetricOperator<float>&, const Hulls&,
                                               const HullLimits&, std::span<const double>);
template HullPoints nearest_hull_points<double>(const SymmetricOperator<double>&, const Hulls&,
                                                const HullLimits&, std::span<const double>);

}  // namespace mercer
