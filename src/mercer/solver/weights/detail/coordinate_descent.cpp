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
      variables_(form.variables),
      w_(rows.columns, 0.0),
      active_(form.variables) {
    std::iota(active_.begin(), active_.end(), std::uint32_t{0});
    std::vector<double> squares(rows.size), beta(rows.size, 0.0);
    square_rows(rows, squares);
    for (std::size_t e = 0; e < form.equalities; ++e) missed_[e] = -form.target[e];
    for (std::size_t i = 0; i < form.variables; ++i) {
        const std::size_t row = form.row[i];
        const std::size_t first = rows.is_sparse() ? rows.starts[row] : row * rows.columns;
        variables_[i] = {.u = u[i],
                         .lower = form.lower[i],
                         .upper = form.upper[i],
                         .p = form.p[i],
                         .sign = form.sign[i],
                         .curvature = squares[row],
                         .first = first,
                         .size = rows.is_sparse() ? rows.starts[row + 1] - first : rows.columns};
        beta[row] += form.sign[i] * u[i];
        const std::array<double, 2> a = form_.coefficients(i);
        for (std::size_t e = 0; e < 2; ++e) missed_[e] += a[e] * u[i];
    }
    if (rows.is_sparse()) {
        sparse_.resize(rows.values.size());
        for (std::size_t a = 0; a < sparse_.size(); ++a)
            sparse_[a] = {rows.values[a], rows.index[a]};
    }
    sum_rows(rows, std::span<const double>(beta), w_);
    if (form.equalities > 0) {
        const double sum = std::accumulate(squares.begin(), squares.end(), 0.0);
        penalty_ = std::max(sum / static_cast<double>(std::max<std::size_t>(rows.size, 1)), 1e-300);
    }
    highest_ = infinity;
    lowest_ = -infinity;
}

template <class T>
std::vector<double> CoordinateDescent<T>::u() const {
    std::vector<double> result(variables_.size());
    std::ranges::transform(variables_, result.begin(), &Variable::u);
    return result;
}

template <class T>
double CoordinateDescent<T>::product(const Variable& v) const {
    const double* const w = w_.data();
    // Several sums, so that no addition waits for the one before it.
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    std::size_t a = 0;
    if (rows_.is_sparse()) {
        const Entry* const entry = sparse_.data() + v.first;
        const auto term = [&](std::size_t k) {
            return static_cast<double>(entry[k].value) * w[entry[k].column];
        };
        for (; a + 4 <= v.size; a += 4) {
            s0 += term(a);
            s1 += term(a + 1);
            s2 += term(a + 2);
            s3 += term(a + 3);
        }
        for (; a < v.size; ++a) s0 += term(a);
        return (s0 + s1) + (s2 + s3);
    }
    const T* const values = rows_.values.data() + v.first;
    for (; a + 4 <= v.size; a += 4) {
        s0 += static_cast<double>(values[a]) * w[a];
        s1 += static_cast<double>(values[a + 1]) * w[a + 1];
        s2 += static_cast<double>(values[a + 2]) * w[a + 2];
        s3 += static_cast<double>(values[a + 3]) * w[a + 3];
    }
    for (; a < v.size; ++a) s0 += static_cast<double>(values[a]) * w[a];
    return (s0 + s1) + (s2 + s3);
}

template <class T>
void CoordinateDescent<T>::add(const Variable& v, double weight) {
    double* const w = w_.data();
    if (rows_.is_sparse()) {
        const Entry* const entry = sparse_.data() + v.first;
        for (std::size_t a = 0; a < v.size; ++a) {
            w[entry[a].column] += weight * static_cast<double>(entry[a].value);
        }
        return;
    }
    const T* const values = rows_.values.data() + v.first;
    for (std::size_t k = 0; k < v.size; ++k) w[k] += weight * static_cast<double>(values[k]);
}

/// Has what stands at a later place of the order fetched: the variable, and further on its row.
template <class T>
void CoordinateDescent<T>::ask_for(std::size_t place) const {
    constexpr std::size_t ahead = 8, line = 64;
    if (place + 2 * ahead < active_.size()) {
        __builtin_prefetch(&variables_[active_[place + 2 * ahead]]);
    }
    if (place + ahead >= active_.size()) return;
    const Variable& next = variables_[active_[place + ahead]];
    const char* const from = rows_.is_sparse()
                                 ? reinterpret_cast<const char*>(sparse_.data() + next.first)
                                 : reinterpret_cast<const char*>(rows_.values.data() + next.first);
    const std::size_t bytes = next.size * (rows_.is_sparse() ? sizeof(Entry) : sizeof(T));
    for (std::size_t b = 0; b < std::min<std::size_t>(bytes, 4 * line); b += line) {
        __builtin_prefetch(from + b);
    }
}

template <class T>
void CoordinateDescent<T>::begin_anew() {
    active_.resize(variables_.size());
    std::iota(active_.begin(), active_.end(), std::uint32_t{0});
    highest_ = infinity;
    lowest_ = -infinity;
}

template <class T>
double CoordinateDescent<T>::objective() const {
    double value = 0;
    for (const double weight : w_) value += weight * weight / 2;
    for (const Variable& v : variables_) value += v.p * v.u;
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
    for (std::size_t place = 0; place < active_.size(); ++place) {
        const std::uint32_t i = active_[place];
        ask_for(place);
        Variable& v = variables_[i];
        double gradient = v.sign * product(v) + v.p;
        double curvature = v.curvature;
        std::array<double, 2> a{};
        if (form_.equalities > 0) {
            a = form_.coefficients(i);
            gradient += a[0] * (lambda_[0] + penalty_ * missed_[0]) +
                        a[1] * (lambda_[1] + penalty_ * missed_[1]);
            curvature += penalty_ * (a[0] * a[0] + a[1] * a[1]);
        }
        entries_ += v.size;
        // At a bound, and pushed against it harder than any was violated in the last pass.
        if (v.u <= v.lower && gradient > highest_) continue;
        if (v.u >= v.upper && gradient < lowest_) continue;
        active_[kept++] = i;
        double projected = gradient;
        if (v.u <= v.lower) projected = std::min(gradient, 0.0);
        if (v.u >= v.upper) projected = std::max(gradient, 0.0);
        highest = std::max(highest, projected);
        lowest = std::min(lowest, projected);
        if (projected == 0) continue;
        // A row of zeros in no equality: as far as the bounds let it go.
        const double wanted =
            curvature > 0 ? v.u - gradient / curvature : (gradient > 0 ? v.lower : v.upper);
        const double moved = std::clamp(wanted, v.lower, v.upper);
        const double change = moved - v.u;
        if (change == 0 || !std::isfinite(change)) continue;
        v.u = moved;
        add(v, v.sign * change);
        for (std::size_t e = 0; e < form_.equalities; ++e) missed_[e] += a[e] * change;
    }
    steps_ += active_.size();
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
