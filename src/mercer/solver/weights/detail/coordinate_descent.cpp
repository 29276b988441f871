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
double CoordinateDescent<T>::product(const Variable& v, const double* w) const {
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
void CoordinateDescent<T>::add(const Variable& v, double weight, double* w) const {
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

/// Of what is minimised; a is what the variable adds to the equalities.
template <class T>
double CoordinateDescent<T>::gradient(std::size_t i, const std::array<double, 2>& a) const {
    const Variable& v = variables_[i];
    double result = v.sign * product(v, w_.data()) + v.p;
    for (std::size_t e = 0; e < form_.equalities; ++e) {
        result += a[e] * (lambda_[e] + penalty_ * missed_[e]);
    }
    return result;
}

template <class T>
void CoordinateDescent<T>::move(std::size_t i, double to) {
    Variable& v = variables_[i];
    const double change = to - v.u;
    v.u = to;
    add(v, v.sign * change, w_.data());
    const std::array<double, 2> a = form_.coefficients(i);
    for (std::size_t e = 0; e < form_.equalities; ++e) missed_[e] += a[e] * change;
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
        const Variable& v = variables_[i];
        const std::array<double, 2> a = form_.coefficients(i);
        const double slope = gradient(i, a);
        const double curvature = v.curvature + penalty_ * (a[0] * a[0] + a[1] * a[1]);
        entries_ += v.size;
        // At a bound, and pushed against it harder than any was violated in the last pass.
        if (v.u <= v.lower && slope > highest_) continue;
        if (v.u >= v.upper && slope < lowest_) continue;
        active_[kept++] = i;
        double projected = slope;
        if (v.u <= v.lower) projected = std::min(slope, 0.0);
        if (v.u >= v.upper) projected = std::max(slope, 0.0);
        highest = std::max(highest, projected);
        lowest = std::min(lowest, projected);
        if (projected == 0) continue;
        // A row of zeros in no equality: as far as the bounds let it go.
        const double wanted =
            curvature > 0 ? v.u - slope / curvature : (slope > 0 ? v.lower : v.upper);
        const double moved = std::clamp(wanted, v.lower, v.upper);
        if (moved == v.u || !std::isfinite(moved)) continue;
        move(i, moved);
    }
    steps_ += active_.size();
    active_.resize(kept);
    violation_ = form_.equalities > 0 ? highest - lowest : std::max(highest, -lowest);
    for (std::size_t e = 0; e < form_.equalities; ++e) {
        violation_ += std::abs(penalty_ * missed_[e]);
        lambda_[e] += penalty_ * missed_[e];
    }
    highest_ = highest > 0 ? highest : infinity;
    lowest_ = lowest < 0 ? lowest : -infinity;
}

template <class T>
std::vector<typename CoordinateDescent<T>::Violated> CoordinateDescent<T>::find_worst() {
    constexpr std::ptrdiff_t most = 48;
    std::vector<Violated> found;
    for (const std::uint32_t i : active_) {
        const Variable& v = variables_[i];
        const double slope = gradient(i, form_.coefficients(i));
        entries_ += v.size;
        if ((v.u <= v.lower && slope >= 0) || (v.u >= v.upper && slope <= 0)) continue;
        found.push_back({i, slope});
    }
    // Ties by number, so that the choice does not depend on the library's way of choosing.
    const auto before = [](const Violated& a, const Violated& b) {
        const double x = std::abs(a.gradient), y = std::abs(b.gradient);
        return x != y ? x > y : a.variable < b.variable;
    };
    if (std::ssize(found) > most) {
        std::nth_element(found.begin(), found.begin() + most, found.end(), before);
        found.resize(static_cast<std::size_t>(most));
    }
    std::ranges::sort(found, {}, &Violated::variable);
    return found;
}

template <class T>
Matrix<double> CoordinateDescent<T>::matrix_of(const std::vector<Violated>& some) {
    Matrix<double> q(some.size(), some.size());
    std::vector<double> full(w_.size(), 0.0);
    for (std::size_t k = 0; k < some.size(); ++k) {
        const Variable& v = variables_[some[k].variable];
        const std::array<double, 2> a = form_.coefficients(some[k].variable);
        add(v, v.sign, full.data());
        for (std::size_t l = 0; l <= k; ++l) {
            const Variable& other = variables_[some[l].variable];
            const std::array<double, 2> b = form_.coefficients(some[l].variable);
            q(k, l) = q(l, k) =
                other.sign * product(other, full.data()) + penalty_ * (a[0] * b[0] + a[1] * b[1]);
            entries_ += other.size;
        }
        add(v, -v.sign, full.data());  // to exact zeros
    }
    return q;
}

template <class T>
void CoordinateDescent<T>::solve_worst() {
    constexpr int most_passes = 500;
    constexpr double enough = 0.01;
    std::vector<Violated> some = find_worst();
    const Matrix<double> q = matrix_of(some);
    double first = 0;
    for (int pass = 0; pass < most_passes; ++pass) {
        double worst = 0;
        for (std::size_t k = 0; k < some.size(); ++k) {
            const Variable& v = variables_[some[k].variable];
            const double u = v.u + some[k].moved, slope = some[k].gradient;
            if ((u <= v.lower && slope >= 0) || (u >= v.upper && slope <= 0)) continue;
            worst = std::max(worst, std::abs(slope));
            if (!(q(k, k) > 0)) continue;
            const double change = std::clamp(u - slope / q(k, k), v.lower, v.upper) - u;
            some[k].moved += change;
            const std::span<const double> line = q.row(k);
            for (std::size_t l = 0; l < some.size(); ++l) some[l].gradient += change * line[l];
        }
        if (pass == 0) first = worst;
        if (worst <= enough * first) break;
    }
    for (const Violated& one : some) {
        const Variable& v = variables_[one.variable];
        const double to = std::clamp(v.u + one.moved, v.lower, v.upper);
        if (to != v.u && std::isfinite(to)) move(one.variable, to);
    }
}

template class CoordinateDescent<float>;
template class CoordinateDescent<double>;

}  // namespace mercer
