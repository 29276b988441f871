#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/detail/row_sums.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/detail/selection.hpp"

namespace mercer::reduction {
namespace {

/// A point whose image lies this near (relative, squared) to those chosen adds nothing but
/// rounding.
template <class T>
constexpr double least_part = sizeof(T) == 4 ? 1e-5 : 1e-10;

const Rows& reference_of(const Expansion& e) {
    return e.reference.size() > 0 ? e.reference : e.points;
}

/// The images of the chosen points made orthonormal one after another, seen at every point: row n
/// holds <e_n, Φ(x_i)>. This is the Cholesky factor of the chosen columns, built a row at a time,
/// so that the gain of every candidate is known exactly at every step.
template <class T>
class Pursuit {
   public:
    Pursuit(const Expansion& e, const OwnValues& own)
        : gram_(make_gram<T>(e.kernel, reference_of(e))),
          points_(e.reference.size() > 0 ? gram_.prepare(e.points) : gram_.reference()),
          rest_(own.values),
          left_(e.size()),
          scale_(e.size()) {
        gram_.diagonal(points_, left_);
        scale_ = left_;
    }

    /// The best candidate, or size() when none is left.
    std::size_t best() const {
        const std::size_t n = left_.size();
        std::vector<double> gain(n, 0.0);
        parallel_ranges(n, 1024, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                if (left_[i] <= least_part<T> * scale_[i]) continue;
                double sum = 0;
                for (const double r : rest_.row(i)) sum += r * r;
                gain[i] = sum / left_[i];
            }
        });
        const auto top = std::ranges::max_element(gain);
        return top == gain.end() || *top <= 0 ? n : static_cast<std::size_t>(top - gain.begin());
    }

    /// Adds a point; by how much ρ falls.
    double take(std::size_t chosen) {
        const std::size_t n = left_.size();
        const double root = std::sqrt(left_[chosen]);
        std::vector<T> column(n);
        const std::size_t which[] = {chosen};
        gram_.block(gram_.select(points_, which, false), points_, {column.data(), 1, n});
        std::vector<double> fresh(column.begin(), column.end());
        std::vector<const T*> rows;
        std::vector<double> weights;
        for (const std::vector<T>& row : basis_) {
            rows.push_back(row.data());
            weights.push_back(-static_cast<double>(row[chosen]));
        }
        add_weighted_rows_in_parallel<T>(rows, weights, fresh);
        std::vector<double> part(rest_.row(chosen).begin(), rest_.row(chosen).end());
        for (double& value : part) value /= root;
        parallel_ranges(n, 1024, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                const double value = fresh[i] / root;
                column[i] = static_cast<T>(value);
                left_[i] -= value * value;
                for (std::size_t c = 0; c < part.size(); ++c) rest_(i, c) -= value * part[c];
            }
        });
        left_[chosen] = 0;
        basis_.push_back(std::move(column));
        return std::inner_product(part.begin(), part.end(), part.begin(), 0.0);
    }

   private:
    Gram<T> gram_;
    Points<T> points_;
    Matrix<double> rest_;        ///< <w_c − w'_c, Φ(x_i)>, points × outputs
    std::vector<double> left_;   ///< squared length of Φ(x_i) outside the span of the chosen
    std::vector<double> scale_;  ///< k(x_i, x_i)
    std::vector<std::vector<T>> basis_{};
};

template <class T>
Choice pursue(const Expansion& e, const OwnValues& own, std::size_t most, double error,
              const Progress& progress) {
    Pursuit<T> pursuit(e, own);
    Choice choice{.error = {own.squared_norm}};
    while (choice.order.size() < most && choice.error.back() > error) {
        const double done = static_cast<double>(choice.order.size()) /
                            static_cast<double>(std::max<std::size_t>(most, 1));
        if (!keep_going(progress, {"choosing vectors", done})) {
            choice.cancelled = true;
            break;
        }
        const std::size_t next = pursuit.best();
        if (next == e.size()) break;
        choice.order.push_back(next);
        choice.error.push_back(std::max(0.0, choice.error.back() - pursuit.take(next)));
    }
    return choice;
}

/// Coordinate descent on one λ after another, all outputs of a point moving together.
class GroupDescent {
   public:
    GroupDescent(const Matrix<float>& gram, const OwnValues& own)
        : gram_(gram), rest_(own.values), weights_(own.values.rows(), own.values.columns()) {}

    /// The λ above which nothing is used.
    double largest_penalty() const {
        double largest = 0;
        for (std::size_t i = 0; i < rest_.rows(); ++i) {
            if (diagonal(i) > 0) {
                largest = std::max(largest, length(rest_.row(i)) / std::sqrt(diagonal(i)));
            }
        }
        return largest;
    }

    void minimise(double penalty) {
        constexpr int most_sweeps = 30;
        for (int sweep = 0; sweep < most_sweeps; ++sweep) {
            const bool all = sweep % 5 == 0;
            double moved = 0;
            for (std::size_t i = 0; i < rest_.rows(); ++i) {
                if (all || in_use(i)) moved = std::max(moved, step(i, penalty));
            }
            if (moved < 1e-3 * penalty) {
                if (all) return;
                sweep += 4 - sweep % 5;  // the next sweep looks at every point again
            }
        }
    }

    bool in_use(std::size_t i) const {
        return std::ranges::any_of(weights_.row(i), [](double b) { return b != 0; });
    }
    double size_of(std::size_t i) const {
        return length(weights_.row(i)) * std::sqrt(std::max(0.0, diagonal(i)));
    }

   private:
    double diagonal(std::size_t i) const { return static_cast<double>(gram_(i, i)); }
    static double length(std::span<const double> v) {
        return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
    }

    /// The minimum in the coefficients of one point: soft thresholding of their length.
    double step(std::size_t i, double penalty) {
        const double k = diagonal(i);
        if (!(k > 0)) return 0;
        std::vector<double> move(rest_.row(i).begin(), rest_.row(i).end());
        for (std::size_t c = 0; c < move.size(); ++c) move[c] += k * weights_(i, c);
        const double size = length(move);
        const double shrink = size > 0 ? std::max(0.0, 1 - penalty * std::sqrt(k) / size) / k : 0;
        bool changed = false;
        for (std::size_t c = 0; c < move.size(); ++c) {
            const double old = weights_(i, c);
            weights_(i, c) = shrink * move[c];
            move[c] = weights_(i, c) - old;
            changed = changed || move[c] != 0;
        }
        if (!changed) return 0;
        const auto row = gram_.row(i);
        parallel_ranges(row.size(), 4096, [&](std::size_t first, std::size_t last) {
            for (std::size_t j = first; j < last; ++j) {
                for (std::size_t c = 0; c < move.size(); ++c) {
                    rest_(j, c) -= move[c] * static_cast<double>(row[j]);
                }
            }
        });
        return length(move) * std::sqrt(k);
    }

    const Matrix<float>& gram_;
    Matrix<double> rest_;     ///< <w_c − w'_c, Φ(x_i)>
    Matrix<double> weights_;  ///< b, points × outputs
};

}  // namespace

OwnValues own_values(const Expansion& e, bool double_precision, const Progress& progress) {
    Expansion plain = e;
    plain.bias.assign(e.outputs(), 0.0);
    plain.self = 0;
    OwnValues own{.values = Evaluator(plain, double_precision)(e.points, progress)};
    for (std::size_t i = 0; i < e.size(); ++i) {
        for (std::size_t c = 0; c < e.outputs(); ++c) {
            own.squared_norm += e.coefficients(c, i) * own.values(i, c);
        }
    }
    own.squared_norm = std::max(0.0, own.squared_norm);
    return own;
}

Choice choose_greedily(const Expansion& e, const OwnValues& own, std::size_t most, double error,
                       bool double_precision, const Progress& progress) {
    return double_precision ? pursue<double>(e, own, most, error, progress)
                            : pursue<float>(e, own, most, error, progress);
}

Choice choose_by_l1(const Expansion& e, const OwnValues& own, std::size_t count,
                    std::size_t memory_bytes, const Progress& progress) {
    const std::size_t n = e.size();
    if (n > 0 && n > memory_bytes / sizeof(float) / n) {
        throw InvalidInput("choosing by L1 stores the Gram matrix of all " + std::to_string(n) +
                           " points, more than the memory allowed; use the method greedy");
    }
    const auto gram = make_gram<float>(e.kernel, reference_of(e));
    Matrix<float> k(n, n);
    const Points<float> points = e.reference.size() > 0 ? gram.prepare(e.points) : gram.reference();
    gram.block(points, points, k.view());
    GroupDescent descent(k, own);
    Choice choice{.error = {own.squared_norm}};
    double penalty = descent.largest_penalty();
    for (int stage = 0; stage < 80 && choice.order.size() < count; ++stage) {
        const double done = static_cast<double>(choice.order.size()) / static_cast<double>(count);
        if (!keep_going(progress, {"choosing vectors", done})) {
            choice.cancelled = true;
            break;
        }
        penalty *= 0.85;
        descent.minimise(penalty);
        choice.order.clear();
        for (std::size_t i = 0; i < n; ++i) {
            if (descent.in_use(i)) choice.order.push_back(i);
        }
    }
    std::ranges::stable_sort(choice.order, [&](std::size_t a, std::size_t b) {
        return descent.size_of(a) > descent.size_of(b);
    });
    if (choice.order.size() > count) choice.order.resize(count);
    return choice;
}

}  // namespace mercer::reduction
