#include "mercer/learn/detail/label_ranking.hpp"

#include <algorithm>
#include <numeric>

#include "mercer/base/detail/row_sums.hpp"

namespace mercer {

LabelRanking::LabelRanking(const Matrix<double>& k, const std::vector<LabelSets>& sets,
                           std::size_t labels, std::span<const double> bounds, std::size_t room)
    : k_(k),
      sets_(sets),
      c_(bounds),
      room_(room),
      beta_(labels, k.rows()),
      f_(labels, k.rows()),
      change_(labels) {
    for (const LabelSets& s : sets) {
        alpha_.emplace_back(s.had.size() * s.not_had.size(), 0.0);
    }
}

void LabelRanking::pass(const std::function<bool()>& goes_on) {
    std::vector<std::size_t> moved;
    for (std::size_t i = 0; i < sets_.size(); ++i) {
        if (visit(i, i, k_.view(), f_.view()) > 0) moved.push_back(i);
    }
    const std::size_t m = moved.size();
    if (m > 0 && m <= sets_.size() / 2 && m <= room_ / m) settle(moved, goes_on);
}

LabelRanking::Values LabelRanking::values() const {
    double norm = 0;
    for (std::size_t q = 0; q < beta_.rows(); ++q) {
        norm +=
            std::inner_product(beta_.row(q).begin(), beta_.row(q).end(), f_.row(q).begin(), 0.0);
    }
    Values v{.primal = norm / 2, .dual = -norm / 2};
    for (std::size_t i = 0; i < sets_.size(); ++i) {
        if (alpha_[i].empty()) continue;
        for (const std::size_t a : sets_[i].had) {
            for (const std::size_t b : sets_[i].not_had) {
                const double xi = 1 - (f_(a, i) - f_(b, i));
                if (xi > 0) v.primal += c_[i] / sets_[i].pairs() * xi;
            }
        }
        v.dual += std::accumulate(alpha_[i].begin(), alpha_[i].end(), 0.0);
    }
    return v;
}

/// One step for each pair of labels of row i, which is row `place` of `k` and column `place` of
/// `f`. Returns what the dual value gained.
double LabelRanking::visit(std::size_t i, std::size_t place, MatrixView<const double> k,
                           MatrixView<double> f) {
    const double own = k(place, place);
    if (alpha_[i].empty() || !(own > 0)) return 0;
    const double bound = c_[i] / sets_[i].pairs();
    std::ranges::fill(change_, 0.0);
    double gain = 0;
    std::size_t at = 0;
    for (const std::size_t a : sets_[i].had) {
        for (const std::size_t b : sets_[i].not_had) {
            double& alpha = alpha_[i][at++];
            const double slope = 1 - (f(a, place) - f(b, place)) - own * (change_[a] - change_[b]);
            const double next = std::clamp(alpha + slope / (2 * own), 0.0, bound);
            const double step = next - alpha;
            change_[a] += step;
            change_[b] -= step;
            gain += step * (slope - own * step);
            alpha = next;
        }
    }
    const double* const row = k.row(place).data();
    for (std::size_t q = 0; q < change_.size(); ++q) {
        if (change_[q] == 0) continue;
        beta_(q, i) += change_[q];
        add_weighted_rows<double>({&row, 1}, {&change_[q], 1}, f.row(q));
    }
    return gain;
}

/// Passes over some rows until one gains a hundredth of what the first did, or they have cost as
/// much as eight over all whose rows all move.
void LabelRanking::settle(const std::vector<std::size_t>& rows,
                          const std::function<bool()>& goes_on) {
    const std::size_t m = rows.size();
    const std::size_t labels = beta_.rows();
    Matrix<double> tile(m, m), f(labels, m), before(labels, m);
    for (std::size_t r = 0; r < m; ++r) {
        for (std::size_t c = 0; c < m; ++c) tile(r, c) = k_(rows[r], rows[c]);
        for (std::size_t q = 0; q < labels; ++q) {
            f(q, r) = f_(q, rows[r]);
            before(q, r) = beta_(q, rows[r]);
        }
    }
    const std::size_t most = 8 * (sets_.size() / m) * (sets_.size() / m);
    double first = 0;
    for (std::size_t number = 0; number < most; ++number) {
        double gain = 0;
        for (std::size_t r = 0; r < m; ++r) gain += visit(rows[r], r, tile.view(), f.view());
        if (number == 0) first = gain;
        if (!(gain > 0.01 * first) || !goes_on()) break;
    }
    std::vector<const double*> moved(m);
    for (std::size_t r = 0; r < m; ++r) moved[r] = k_.row(rows[r]).data();
    for (std::size_t q = 0; q < labels; ++q) {
        std::vector<double> change(m);
        for (std::size_t r = 0; r < m; ++r) change[r] = beta_(q, rows[r]) - before(q, r);
        add_weighted_rows_in_parallel<double>(moved, change, f_.row(q));
    }
}

}  // namespace mercer
