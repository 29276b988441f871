#include "mercer/solver/weights/detail/coordinate_descent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "mercer/base/detail/infinity.hpp"
#include "mercer/solver/weights/detail/explicit_products.hpp"

namespace mercer {

template <class T>
CoordinateDescent<T>::CoordinateDescent(const CanonicalDual& form, const ExplicitRows<T>& rows,
                                        std::vector<double> u)
    : form_(form),
      rows_(rows),
      u_(std::move(u)),
      w_(rows.columns, 0.0),
      squares_(rows.size),
      active_(form.variables) {
    std::iota(active_.begin(), active_.end(), std::size_t{0});
    square_rows(rows, squares_);
    std::vector<double> beta(rows.size, 0.0);
    for (std::size_t e = 0; e < form.equalities; ++e) missed_[e] = -form.target[e];
    for (std::size_t i = 0; i < form.variables; ++i) {
        beta[form.row[i]] += form.sign[i] * u_[i];
        const std::array<double, 2> a = form_.coefficients(i);
        for (std::size_t e = 0; e < 2; ++e) missed_[e] += a[e] * u_[i];
    }
    sum_rows(rows, std::span<const double>(beta), w_);
    if (form.equalities > 0) {
        const double sum = std::accumulate(squares_.begin(), squares_.end(), 0.0);
        penalty_ = std::max(sum / static_cast<double>(std::max<std::size_t>(rows.size, 1)), 1e-300);
    }
    highest_ = infinity;
    lowest_ = -infinity;
}

template <class T>
double CoordinateDescent<T>::product(std::size_t row) const {
    const double* const w = w_.data();
    if (rows_.is_sparse()) {
        const T* const values = rows_.values.data();
        const std::uint32_t* const index = rows_.index.data();
        const std::size_t end = rows_.starts[row + 1];
        // Several sums, so that no addition waits for the one before it.
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        std::size_t a = rows_.starts[row];
        for (; a + 4 <= end; a += 4) {
            s0 += static_cast<double>(values[a]) * w[index[a]];
            s1 += static_cast<double>(values[a + 1]) * w[index[a + 1]];
            s2 += static_cast<double>(values[a + 2]) * w[index[a + 2]];
            s3 += static_cast<double>(values[a + 3]) * w[index[a + 3]];
        }
        for (; a < end; ++a) s0 += static_cast<double>(values[a]) * w[index[a]];
        return (s0 + s1) + (s2 + s3);
    }
    const T* const values = rows_.values.data() + row * rows_.columns;
    double even = 0, odd = 0;
    std::size_t k = 0;
    for (; k + 2 <= rows_.columns; k += 2) {
        even += static_cast<double>(values[k]) * w[k];
        odd += static_cast<double>(values[k + 1]) * w[k + 1];
    }
    if (k < rows_.columns) even += static_cast<double>(values[k]) * w[k];
    return even + odd;
}

template <class T>
void CoordinateDescent<T>::add(std::size_t row, double weight) {
    double* const w = w_.data();
    if (rows_.is_sparse()) {
        const T* const values = rows_.values.data();
        const std::uint32_t* const index = rows_.index.data();
        const std::size_t end = rows_.starts[row + 1];
        for (std::size_t a = rows_.starts[row]; a < end; ++a) {
            w[index[a]] += weight * static_cast<double>(values[a]);
        }
        return;
    }
    const T* const values = rows_.values.data() + row * rows_.columns;
    for (std::size_t k = 0; k < rows_.columns; ++k) w[k] += weight * static_cast<double>(values[k]);
}

template <class T>
void CoordinateDescent<T>::begin_anew() {
    active_.resize(form_.variables);
    std::iota(active_.begin(), active_.end(), std::size_t{0});
    highest_ = infinity;
    lowest_ = -infinity;
}

template <class T>
double CoordinateDescent<T>::objective() const {
    double value = 0;
    for (const double weight : w_) value += weight * weight / 2;
    for (std::size_t i = 0; i < u_.size(); ++i) value += form_.p[i] * u_[i];
    return value;
}

template <class T>
void CoordinateDescent<T>::pass() {
    // An order by multiplication, whose bias of n / 2³² matters to nobody, not by exact division.
    for (std::size_t i = active_.size(); i > 1; --i) {
        std::swap(active_[i - 1], active_[((random_.bits() >> 32U) * i) >> 32U]);
    }
    double highest = 0, lowest = 0;
    std::size_t kept = 0;
    for (const std::size_t i : active_) {
        const std::size_t row = form_.row[i];
        double gradient = form_.sign[i] * product(row) + form_.p[i];
        double curvature = squares_[row];
        std::array<double, 2> a{};
        if (form_.equalities > 0) {
            a = form_.coefficients(i);
            gradient += a[0] * (lambda_[0] + penalty_ * missed_[0]) +
                        a[1] * (lambda_[1] + penalty_ * missed_[1]);
            curvature += penalty_ * (a[0] * a[0] + a[1] * a[1]);
        }
        ++steps_;
        entries_ += rows_.is_sparse() ? rows_.starts[row + 1] - rows_.starts[row] : rows_.columns;
        // At a bound, and pushed against it harder than any was violated in the last pass.
        if (u_[i] <= form_.lower[i] && gradient > highest_) continue;
        if (u_[i] >= form_.upper[i] && gradient < lowest_) continue;
        active_[kept++] = i;
        double projected = gradient;
        if (u_[i] <= form_.lower[i]) projected = std::min(gradient, 0.0);
        if (u_[i] >= form_.upper[i]) projected = std::max(gradient, 0.0);
        highest = std::max(highest, projected);
        lowest = std::min(lowest, projected);
        if (projected == 0) continue;
        // A row of zeros in no equality: as far as the bounds let it go.
        const double wanted = curvature > 0 ? u_[i] - gradient / curvature
                                            : (gradient > 0 ? form_.lower[i] : form_.upper[i]);
        const double moved = std::clamp(wanted, form_.lower[i], form_.upper[i]);
        const double change = moved - u_[i];
        if (change == 0 || !std::isfinite(change)) continue;
        u_[i] = moved;
        add(row, form_.sign[i] * change);
        for (std::size_t e = 0; e < form_.equalities; ++e) missed_[e] += a[e] * change;
    }
    active_.resize(kept);
    violation_ = highest - lowest;
    for (std::size_t e = 0; e < form_.equalities; ++e) {
        violation_ += std::abs(penalty_ * missed_[e]);
        lambda_[e] += penalty_ * missed_[e];
    }
    highest_ = highest > 0 ? highest : infinity;
    lowest_ = lowest < 0 ? lowest : -infinity;
}

template class CoordinateDescent<float>;
template class CoordinateDescent<double>;

}  // namespace mercer
