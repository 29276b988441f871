#include "mercer/solver/weights/detail/interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/weights/detail/explicit_products.hpp"

namespace mercer {

template <class T>
InteriorPoint<T>::InteriorPoint(const CanonicalDual& form, const ExplicitRows<T>& rows)
    : form_(form),
      rows_(rows),
      fixed_(form.variables, 0),
      u_(form.variables),
      z_(form.variables),
      y_(form.variables),
      free_gradient_(form.variables),
      inverse_(form.variables),
      factor_(rows.columns + form.equalities, rows.columns + form.equalities) {
    std::vector<double> squares(rows.size);
    square_rows(rows, squares);
    double sum = 0;
    for (const double square : squares) sum += square;
    gradient_unit_ = 0;
    for (const double p : form.p) gradient_unit_ = std::max(gradient_unit_, std::abs(p));
    const double mean = sum / static_cast<double>(std::max<std::size_t>(rows.size, 1));
    length_unit_ = (gradient_unit_ > 0 ? gradient_unit_ : 1) / std::max(mean, 1e-300);
    for (std::size_t i = 0; i < form.variables; ++i) {
        const double width = form.upper[i] - form.lower[i];
        fixed_[i] = width > 0 ? 0 : 1;
        if (fixed_[i] == 0) bounds_ += std::isfinite(width) ? 2 : 1;
        u_[i] = form.lower[i];
        if (fixed_[i] == 0) u_[i] += std::isfinite(width) ? width / 2 : length_unit_;
    }
    look();
    // Multipliers as large as the gradient, and every product s z and t y of a variable the same.
    double size = 0;
    for (const double g : free_gradient_) size += std::abs(g);
    size = std::max(size / static_cast<double>(form.variables), gradient_unit_);
    if (gradient_unit_ == 0) gradient_unit_ = size > 0 ? size : 1;
    if (size == 0) size = gradient_unit_;
    for (std::size_t i = 0; i < form.variables; ++i) {
        if (fixed_[i] != 0) continue;
        z_[i] = size;
        if (std::isfinite(form.upper[i])) y_[i] = size;
    }
    look();
}

/// Gradient, gap and residuals where u, z, y and λ are.
template <class T>
void InteriorPoint<T>::look() {
    const std::size_t n = form_.variables;
    std::vector<double> beta(rows_.size, 0.0), w(rows_.columns), products(rows_.size);
    for (std::size_t i = 0; i < n; ++i) beta[form_.row[i]] += form_.sign[i] * u_[i];
    sum_rows(rows_, std::span<const double>(beta), w);
    multiply_rows(rows_, std::span<const double>(w), products);
    for (std::size_t e = 0; e < form_.equalities; ++e) missing_[e] = form_.target[e];
    double squares = 0, linear = 0, gap = 0, worst = 0;
    for (const double value : w) squares += value * value;
    for (std::size_t i = 0; i < n; ++i) {
        const std::array<double, 2> a = form_.coefficients(i);
        linear += form_.p[i] * u_[i];
        for (std::size_t e = 0; e < 2; ++e) missing_[e] -= a[e] * u_[i];
        free_gradient_[i] = form_.sign[i] * products[form_.row[i]] + form_.p[i] -
                            a[0] * lambda_[0] - a[1] * lambda_[1];
        if (fixed_[i] != 0) continue;
        gap += (u_[i] - form_.lower[i]) * z_[i];
        if (y_[i] > 0) gap += (form_.upper[i] - u_[i]) * y_[i];
        worst = std::max(worst, std::abs(free_gradient_[i] - z_[i] + y_[i]));
    }
    objective_ = squares / 2 + linear;
    mu_ = gap / static_cast<double>(std::max<std::size_t>(bounds_, 1));
    // An optimum of 0 is measured by how far away it was at first.
    if (first_gap_ == 0) first_gap_ = gap;
    relative_gap_ = gap / std::max({std::abs(objective_), 1e-6 * first_gap_, 1e-300});
    double total = 1e-300;
    for (const double value : u_) total += std::abs(value);
    residual_ = std::max(
        {worst / gradient_unit_, std::abs(missing_[0]) / total, std::abs(missing_[1]) / total});
}

/// The matrix of a step, I + V'D⁻¹V bordered by the equalities, and its Cholesky factor.
template <class T>
bool InteriorPoint<T>::factor() {
    const std::size_t d = rows_.columns, m = form_.equalities;
    std::vector<double> h(rows_.size, 0.0), line(d);
    Matrix<double> border(m, rows_.size, 0.0);
    std::array<std::array<double, 2>, 2> corner{};
    for (std::size_t i = 0; i < form_.variables; ++i) {
        if (fixed_[i] != 0) {
            inverse_[i] = 0;
            continue;
        }
        double diagonal = z_[i] / (u_[i] - form_.lower[i]);
        if (y_[i] > 0) diagonal += y_[i] / (form_.upper[i] - u_[i]);
        inverse_[i] = 1 / diagonal;
        h[form_.row[i]] += inverse_[i];
        const std::array<double, 2> a = form_.coefficients(i);
        for (std::size_t e = 0; e < m; ++e) {
            border(e, form_.row[i]) -= inverse_[i] * form_.sign[i] * a[e];
            for (std::size_t f = 0; f < m; ++f) corner[e][f] += inverse_[i] * a[e] * a[f];
        }
    }
    const MatrixView<double> all = factor_.view();
    weigh_rows(rows_, std::span<const double>(h), all.block(0, 0, d, d));
    for (std::size_t k = 0; k < d; ++k) all(k, k) += 1;
    for (std::size_t e = 0; e < m; ++e) {
        sum_rows(rows_, std::as_const(border).row(e), line);
        std::ranges::copy(line, all.row(d + e).begin());
        for (std::size_t f = 0; f <= e; ++f) all(d + e, d + f) = corner[e][f];
        all(d + e, d + e) *= 1 + 1e-14;
    }
    return cholesky(all);
}

/// Δu and Δλ for the right-hand sides r and b − A u.
template <class T>
void InteriorPoint<T>::solve(std::span<const double> r, std::array<double, 2> missing,
                             Direction& out) const {
    const std::size_t d = rows_.columns, m = form_.equalities, n = form_.variables;
    std::vector<double> beta(rows_.size, 0.0), products(rows_.size);
    Matrix<double> right(1, d + m);
    std::array<double, 2> sums = missing;
    for (std::size_t i = 0; i < n; ++i) {
        const double part = r[i] * inverse_[i];
        const std::array<double, 2> a = form_.coefficients(i);
        beta[form_.row[i]] += form_.sign[i] * part;
        for (std::size_t e = 0; e < 2; ++e) sums[e] -= a[e] * part;
    }
    sum_rows(rows_, std::span<const double>(beta), right.row(0).first(d));
    for (std::size_t e = 0; e < m; ++e) right(0, d + e) = sums[e];
    cholesky_solve(factor_.view(), right.view());
    multiply_rows(rows_, std::as_const(right).row(0).first(d), products);
    for (std::size_t e = 0; e < m; ++e) out.lambda[e] = right(0, d + e);
    out.u.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const std::array<double, 2> a = form_.coefficients(i);
        out.u[i] = inverse_[i] * (r[i] - form_.sign[i] * products[form_.row[i]] +
                                  a[0] * out.lambda[0] + a[1] * out.lambda[1]);
    }
}

/// The multipliers' part of a direction, from what s z and t y should become.
template <class T>
void InteriorPoint<T>::finish(std::span<const double> centring_z,
                              std::span<const double> centring_y, Direction& out) const {
    out.z.assign(form_.variables, 0.0);
    out.y.assign(form_.variables, 0.0);
    for (std::size_t i = 0; i < form_.variables; ++i) {
        if (fixed_[i] != 0) continue;
        out.z[i] = (centring_z[i] - z_[i] * out.u[i]) / (u_[i] - form_.lower[i]);
        if (y_[i] > 0) {
            out.y[i] = (centring_y[i] + y_[i] * out.u[i]) / (form_.upper[i] - u_[i]);
        }
    }
}

/// How far one may go along d, at most 1, before something that must stay positive is 0.
template <class T>
double InteriorPoint<T>::longest(const Direction& d) const {
    double most = 1;
    const auto limit = [&](double value, double change) {
        if (change < 0) most = std::min(most, -value / change);
    };
    for (std::size_t i = 0; i < form_.variables; ++i) {
        if (fixed_[i] != 0) continue;
        limit(u_[i] - form_.lower[i], d.u[i]);
        limit(z_[i], d.z[i]);
        if (y_[i] > 0) {
            limit(form_.upper[i] - u_[i], -d.u[i]);
            limit(y_[i], d.y[i]);
        }
    }
    return most;
}

template <class T>
double InteriorPoint<T>::complementarity(const Direction& d, double length) const {
    double sum = 0;
    for (std::size_t i = 0; i < form_.variables; ++i) {
        if (fixed_[i] != 0) continue;
        const double moved = u_[i] + length * d.u[i];
        sum += (moved - form_.lower[i]) * (z_[i] + length * d.z[i]);
        if (y_[i] > 0) sum += (form_.upper[i] - moved) * (y_[i] + length * d.y[i]);
    }
    return sum;
}

/// Corrects a direction so that one may go further along it: the products s z and t y that would be
/// far from their aim at the end of a longer step are brought nearer to it (Gondzio 1996).
template <class T>
void InteriorPoint<T>::centre(double aim, Direction& d) const {
    constexpr std::size_t most = 3;
    constexpr double longer = 0.3, gained = 0.1, low = 0.1, high = 10;
    const std::size_t n = form_.variables;
    double length = longest(d);
    std::vector<double> r(n), centring_z(n), centring_y(n);
    for (std::size_t k = 0; k < most && length < 0.95; ++k) {
        const double trial = std::min(1.0, length + longer);
        const auto wanted = [&](double product) {
            return std::max(std::clamp(product, low * aim, high * aim) - product, -high * aim);
        };
        for (std::size_t i = 0; i < n; ++i) {
            r[i] = centring_z[i] = centring_y[i] = 0;
            if (fixed_[i] != 0) continue;
            const double s = u_[i] - form_.lower[i], moved = s + trial * d.u[i];
            centring_z[i] = wanted(moved * (z_[i] + trial * d.z[i]));
            r[i] = centring_z[i] / s;
            if (y_[i] == 0) continue;
            const double t = form_.upper[i] - u_[i];
            centring_y[i] = wanted((t - trial * d.u[i]) * (y_[i] + trial * d.y[i]));
            r[i] -= centring_y[i] / t;
        }
        Direction better;
        solve(r, {}, better);
        finish(centring_z, centring_y, better);
        for (std::size_t i = 0; i < n; ++i) {
            better.u[i] += d.u[i];
            better.z[i] += d.z[i];
            better.y[i] += d.y[i];
        }
        for (std::size_t e = 0; e < 2; ++e) better.lambda[e] += d.lambda[e];
        const double reached = longest(better);
        if (reached < length + gained * longer) return;
        length = reached;
        d = std::move(better);
    }
}

template <class T>
bool InteriorPoint<T>::step() {
    const std::size_t n = form_.variables;
    if (!factor()) return false;
    std::vector<double> r(n), centring_z(n), centring_y(n);
    for (std::size_t i = 0; i < n; ++i) {
        r[i] = -free_gradient_[i];
        centring_z[i] = -(u_[i] - form_.lower[i]) * z_[i];
        centring_y[i] = y_[i] > 0 ? -(form_.upper[i] - u_[i]) * y_[i] : 0;
    }
    Direction predicted, d;
    solve(r, missing_, predicted);
    finish(centring_z, centring_y, predicted);
    const double before = mu_ * static_cast<double>(bounds_);
    const double ratio = complementarity(predicted, longest(predicted)) / before;
    const double aim = std::pow(std::clamp(ratio, 0.0, 1.0), 3) * mu_;
    for (std::size_t i = 0; i < n; ++i) {
        if (fixed_[i] != 0) continue;
        const double s = u_[i] - form_.lower[i];
        centring_z[i] += aim - predicted.u[i] * predicted.z[i];
        r[i] = -(free_gradient_[i] - z_[i] + y_[i]) + centring_z[i] / s;
        if (y_[i] > 0) {
            centring_y[i] += aim + predicted.u[i] * predicted.y[i];
            r[i] -= centring_y[i] / (form_.upper[i] - u_[i]);
        }
    }
    solve(r, missing_, d);
    finish(centring_z, centring_y, d);
    centre(aim, d);
    const double length = std::min(1.0, 0.995 * longest(d));
    if (!(length > 1e-10)) return false;
    for (std::size_t i = 0; i < n; ++i) {
        if (fixed_[i] != 0) continue;
        const double moved = u_[i] + length * d.u[i];
        // Rounding must not put a variable on its bound.
        if (moved > form_.lower[i] && moved < form_.upper[i]) u_[i] = moved;
        z_[i] += length * d.z[i];
        if (y_[i] > 0) y_[i] += length * d.y[i];
    }
    for (std::size_t e = 0; e < form_.equalities; ++e) lambda_[e] += length * d.lambda[e];
    const double last = relative_gap_;
    look();
    return std::isfinite(relative_gap_) && std::isfinite(objective_) &&
           (length > 1e-6 || relative_gap_ < last);
}

template <class T>
std::vector<double> InteriorPoint<T>::rounded() const {
    std::vector<double> result = u_;
    for (std::size_t i = 0; i < form_.variables; ++i) {
        if (fixed_[i] != 0) continue;
        const double width = form_.upper[i] - form_.lower[i];
        const double unit = (std::isfinite(width) ? width : length_unit_) / gradient_unit_;
        if (u_[i] - form_.lower[i] < unit * z_[i]) result[i] = form_.lower[i];
        if (y_[i] > 0 && form_.upper[i] - u_[i] < unit * y_[i]) result[i] = form_.upper[i];
    }
    return result;
}

template class InteriorPoint<float>;
template class InteriorPoint<double>;

}  // namespace mercer
