#include "mercer/solver/weights/detail/proximal_newton.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/detail/infinity.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/solver/weights/detail/explicit_products.hpp"

namespace mercer {
namespace {

constexpr std::size_t piece_rows = 4096;

}  // namespace

template <class T>
ProximalNewton<T>::ProximalNewton(const CanonicalDual& form, const ExplicitRows<T>& rows,
                                  Start start)
    : form_(form),
      rows_(rows),
      length_(rows.size),
      width_(start.width),
      u_(std::move(start.u)),
      w_(rows.columns),
      lambda_(start.lambda),
      product_(rows.size),
      due_(rows.size, 0.0),
      seen_(rows.size, 0),
      is_moved_(rows.size, 0),
      pieces_((rows.size + piece_rows - 1) / piece_rows),
      system_(rows, form.equalities),
      step_(rows.columns + form.equalities, 0.0) {
    find_owners();
    measure_rows();
    centre_ = u_;
    std::vector<double> beta(rows.size, 0.0);
    for (std::size_t e = 0; e < 2; ++e) balance_[e] = -form.target[e];
    for (std::size_t i = 0; i < form.variables; ++i) {
        if (u_[i] == 0) continue;
        beta[form.row[i]] += form.sign[i] * u_[i];
        linear_ += form.p[i] * u_[i];
        const std::array<double, 2> a = form.coefficients(i);
        for (std::size_t e = 0; e < 2; ++e) balance_[e] += a[e] * u_[i];
    }
    sum_rows(rows, std::span<const double>(beta), w_);
    sum_ = w_;
    if (!start.w.empty()) w_ = std::move(start.w);
    // A step of no length looks at every row.
    look(path_);
    settle_all(0);
}

template <class T>
void ProximalNewton<T>::find_owners() {
    bool own = form_.variables == rows_.size;
    for (std::size_t i = 0; own && i < form_.variables; ++i) own = form_.row[i] == i;
    if (own) return;
    first_.assign(rows_.size + 1, 0);
    for (const std::size_t r : form_.row) ++first_[r + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    owner_.resize(form_.variables);
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t i = 0; i < form_.variables; ++i) {
        owner_[next[form_.row[i]]++] = static_cast<std::uint32_t>(i);
    }
}

template <class T>
template <class Use>
inline void ProximalNewton<T>::each_variable(std::size_t row, Use use) const {
    if (first_.empty()) return use(row);
    for (std::uint32_t k = first_[row]; k < first_[row + 1]; ++k) use(std::size_t{owner_[k]});
}

template <class T>
void ProximalNewton<T>::measure_rows() {
    square_rows(rows_, length_);
    double sum = 0, largest = 0;
    for (const double p : form_.p) largest = std::max(largest, std::abs(p));
    for (std::size_t r = 0; r < rows_.size; ++r) {
        double most = 0;
        if (form_.equalities > 0) {
            each_variable(r, [&](std::size_t i) {
                const std::array<double, 2> a = form_.coefficients(i);
                most = std::max(most, a[0] * a[0] + a[1] * a[1]);
            });
        }
        sum += length_[r] + most;
        length_[r] = std::max(std::sqrt(length_[r] + most), 1e-300);
    }
    const double mean = sum / static_cast<double>(std::max<std::size_t>(rows_.size, 1));
    mean_length_ = std::sqrt(mean);
    unit_ = (largest > 0 ? largest : 1) / std::max(mean, 1e-300);
}

template <class T>
inline double ProximalNewton<T>::room(std::size_t i) const {
    const double length = form_.upper[i] - form_.lower[i];
    return length < infinity ? length : unit_;
}

template <class T>
inline double ProximalNewton<T>::gradient(std::size_t i, double product) const {
    double g = form_.sign[i] * product + form_.p[i];
    if (form_.equalities > 0) {
        const std::array<double, 2> a = form_.coefficients(i);
        g -= a[0] * lambda_[0] + a[1] * lambda_[1];
    }
    return g;
}

/// The Newton direction, from the slope of F and the free rows.
template <class T>
bool ProximalNewton<T>::direction() {
    const std::size_t d = rows_.columns, m = form_.equalities;
    rows_at_hand_.clear();
    weights_at_hand_.clear();
    for (const Piece& piece : pieces_) {
        rows_at_hand_.insert(rows_at_hand_.end(), piece.free.begin(), piece.free.end());
        weights_at_hand_.insert(weights_at_hand_.end(), piece.weight.begin(), piece.weight.end());
    }
    FreeRows free{.rows = rows_at_hand_, .weight = weights_at_hand_};
    Matrix<double> border(m, rows_at_hand_.size(), 0.0);
    double largest = 0;
    for (std::size_t f = 0; m > 0 && f < rows_at_hand_.size(); ++f) {
        each_variable(rows_at_hand_[f], [&](std::size_t i) {
            if (!form_.is_free(i, u_[i])) return;
            const std::array<double, 2> a = form_.coefficients(i);
            largest = std::max(largest, room(i));
            for (std::size_t e = 0; e < m; ++e) {
                border(e, f) += room(i) * form_.sign[i] * a[e];
                for (std::size_t g = 0; g < m; ++g) free.corner[e][g] += room(i) * a[e] * a[g];
            }
        });
    }
    free.border = std::as_const(border).view();
    // An equality none of whose variables is free has a slope and no curvature; others have some
    // from w alone where the columns add up to a constant, which must not be drowned.
    for (std::size_t e = 0; e < m; ++e) {
        double& own = free.corner[e][e];
        own = own > 0 ? own * (1 + 1e-13) : (largest > 0 ? largest : unit_);
    }
    for (std::size_t k = 0; k < d; ++k) step_[k] = sum_[k] - w_[k];
    for (std::size_t e = 0; e < m; ++e) step_[d + e] = -balance_[e];
    return system_.solve(free, width_, step_);
}

/// Finds the rows that may come to a kink before the path is as long as `reach`, with their
/// products, and the variables that the whole step would move.
template <class T>
void ProximalNewton<T>::look(double reach) {
    const bool moves = reach > path_;
    std::size_t due = 0;
    for (std::size_t r = 0; rows_.partners && r < rows_.size; ++r) due += due_[r] <= reach ? 1 : 0;
    const Partners* const partners = partners_for_products(rows_, due);
    if (!partners) {
        parallel_for(pieces_.size(), [&](std::size_t p) {
            find_near(p, reach, moves);
            multiply(pieces_[p], moves);
            find_movers(pieces_[p]);
        });
        return;
    }
    parallel_for(pieces_.size(), [&](std::size_t p) { find_near(p, reach, moves); });
    const auto [begin, end] = share_of(pieces_.size(), partners->number(), partners);
    parallel_for(end - begin,
                 [&, from = begin](std::size_t p) { multiply(pieces_[from + p], moves); });
    tell_products(*partners, moves);
    parallel_for(pieces_.size(), [&](std::size_t p) { find_movers(pieces_[p]); });
}

template <class T>
void ProximalNewton<T>::find_near(std::size_t number, double reach, bool moves) {
    Piece& piece = pieces_[number];
    piece.near.clear();
    piece.stale.clear();
    const std::size_t end = std::min(rows_.size, (number + 1) * piece_rows);
    for (std::size_t r = number * piece_rows; r < end; ++r) {
        if (due_[r] > reach) continue;
        piece.near.push_back(static_cast<std::uint32_t>(r));
        if (seen_[r] != steps_) piece.stale.push_back(static_cast<std::uint32_t>(r));
    }
    piece.along.assign(piece.near.size(), 0.0);
    const std::size_t products = piece.stale.size() + (moves ? piece.near.size() : 0);
    piece.entries += products * rows_.values.size() / std::max<std::size_t>(rows_.size, 1);
}

template <class T>
void ProximalNewton<T>::multiply(Piece& piece, bool moves) {
    const std::span<const double> step = std::span<const double>(step_).first(rows_.columns);
    std::size_t next = 0;
    for (std::size_t k = 0; k < piece.near.size(); ++k) {
        const std::uint32_t r = piece.near[k];
        if (next < piece.stale.size() && piece.stale[next] == r) {
            product_[r] = row_product<T>(rows_, r, w_);
            ++next;
        }
        if (moves) piece.along[k] = row_product<T>(rows_, r, step);
    }
}

/// Each partner tells the products of its pieces, of which all know how many there are.
template <class T>
void ProximalNewton<T>::tell_products(const Partners& partners, bool moves) {
    std::vector<std::size_t> bytes(partners.count(), 0);
    std::size_t all = 0;
    std::vector<double> own;
    for (std::size_t p = 0; p < partners.count(); ++p) {
        const auto [first, last] = share_of(pieces_.size(), p, &partners);
        std::size_t told = 0;
        for (const Piece& piece : std::span(pieces_).subspan(first, last - first)) {
            told += piece.stale.size() + (moves ? piece.near.size() : 0);
            if (p != partners.number()) continue;
            for (const std::uint32_t r : piece.stale) own.push_back(product_[r]);
            if (moves) own.insert(own.end(), piece.along.begin(), piece.along.end());
        }
        bytes[p] = told * sizeof(double);
        all += told;
    }
    std::vector<double> heard(all);
    partners.gather(std::as_bytes(std::span<const double>(own)), bytes,
                    std::as_writable_bytes(std::span(heard)));
    const double* from = heard.data();
    for (Piece& piece : pieces_) {
        for (const std::uint32_t r : piece.stale) product_[r] = *from++;
        if (!moves) continue;
        std::copy_n(from, piece.along.size(), piece.along.begin());
        from += piece.along.size();
    }
}

template <class T>
void ProximalNewton<T>::find_movers(Piece& piece) {
    piece.movers.clear();
    const double* const lambda = step_.data() + rows_.columns;
    const std::size_t m = form_.equalities;
    const double inverse = 1 / width_;
    for (std::size_t k = 0; k < piece.near.size(); ++k) {
        const std::uint32_t r = piece.near[k];
        const double product = product_[r], along = piece.along[k];
        each_variable(r, [&](std::size_t i) {
            double rate = form_.sign[i] * along;
            if (m > 0) {
                const std::array<double, 2> a = form_.coefficients(i);
                for (std::size_t e = 0; e < m; ++e) rate -= a[e] * lambda[e];
            }
            const double q = room(i) * inverse, u = u_[i];
            const double offset = centre_[i] - u - gradient(i, product) * q;
            const double low = form_.lower[i] - u, high = form_.upper[i] - u;
            if (std::clamp(offset - rate * q, low, high) == 0) return;
            piece.movers.push_back({offset, rate * q, low, high, rate});
        });
    }
}

/// F'(t) along the step.
template <class T>
double ProximalNewton<T>::slope(double t) const {
    constexpr std::size_t many = 16384;
    const std::size_t d = rows_.columns;
    double value = 0;
    for (std::size_t k = 0; k < d; ++k) value += step_[k] * (w_[k] + t * step_[k] - sum_[k]);
    for (std::size_t e = 0; e < form_.equalities; ++e) value += step_[d + e] * balance_[e];
    std::vector<double> parts(pieces_.size());
    const auto add = [&](std::size_t number) {
        const Piece& piece = pieces_[number];
        double sum = 0;
        for (const Mover& mover : piece.movers) {
            sum += mover.rate * std::clamp(mover.offset - t * mover.slope, mover.low, mover.high);
        }
        parts[number] = sum;
    };
    std::size_t movers = 0;
    for (const Piece& piece : pieces_) movers += piece.movers.size();
    if (movers > many) {
        parallel_for(pieces_.size(), add);
    } else {
        for (std::size_t number = 0; number < parts.size(); ++number) add(number);
    }
    return value - std::accumulate(parts.begin(), parts.end(), 0.0);
}

/// Where along the step F is least, about; at most 1.
template <class T>
double ProximalNewton<T>::search() const {
    constexpr double enough = 0.1;  // of the slope at first
    constexpr int most = 60;
    const double begin = slope(0);
    if (!(begin < 0)) return 0;
    double low = 0, high = 1, at_low = begin, at_high = slope(1);
    if (at_high <= -enough * begin) return 1;
    for (int k = 0; k < most; ++k) {
        const double share = std::clamp(at_low / (at_low - at_high), 0.05, 0.95);
        const double t = low + (high - low) * share;
        const double at = slope(t);
        if (std::abs(at) <= -enough * begin) return t;
        // The end that stays counts half, so that it moves too (Illinois).
        if (at < 0) {
            low = t;
            at_low = at;
            at_high /= 2;
        } else {
            high = t;
            at_high = at;
            at_low /= 2;
        }
    }
    return low > 0 ? low : high;
}

/// Brings the variables of the rows looked at to where their products put them after a step of t,
/// and says when to look at each row again.
template <class T>
void ProximalNewton<T>::settle(Piece& piece, double t) {
    piece.free.clear();
    piece.weight.clear();
    piece.changed.clear();
    piece.by.clear();
    std::array<double, 2> balance{};
    double linear = 0;
    const double inverse = 1 / width_;
    for (std::size_t k = 0; k < piece.near.size(); ++k) {
        const std::uint32_t row = piece.near[k];
        const double product = product_[row] + t * piece.along[k];
        product_[row] = product;
        seen_[row] = steps_;
        double slack = infinity, change = 0, weight = 0;
        bool away = false;
        each_variable(row, [&](std::size_t i) {
            const double lower = form_.lower[i], upper = form_.upper[i], centre = centre_[i];
            const double length = room(i);
            const double wanted = centre - gradient(i, product) * (length * inverse);
            const double moved = std::clamp(wanted, lower, upper);
            if (const double by = moved - u_[i]; by != 0) {
                u_[i] = moved;
                change += form_.sign[i] * by;
                linear += form_.p[i] * by;
                if (form_.equalities > 0) {
                    const std::array<double, 2> a = form_.coefficients(i);
                    for (std::size_t e = 0; e < 2; ++e) balance[e] += a[e] * by;
                }
            }
            away = away || moved != centre;
            if (moved > lower && moved < upper) {
                slack = 0;
                weight += length;
            } else if (length > 0) {
                slack = std::min(slack, std::abs(wanted - moved) * width_ / length);
            }
        });
        due_[row] = path_ + slack / length_[row];
        if (change != 0) {
            piece.changed.push_back(row);
            piece.by.push_back(change);
        }
        if (weight > 0) {
            piece.free.push_back(row);
            piece.weight.push_back(weight);
        }
        if (away && is_moved_[row] == 0) {
            is_moved_[row] = 1;
            piece.moved.push_back(row);
        }
    }
    piece.balance = balance;
    piece.linear = linear;
}

template <class T>
void ProximalNewton<T>::settle_all(double t) {
    parallel_for(pieces_.size(), [&](std::size_t p) { settle(pieces_[p], t); });
    rows_at_hand_.clear();
    weights_at_hand_.clear();
    for (Piece& piece : pieces_) {
        rows_at_hand_.insert(rows_at_hand_.end(), piece.changed.begin(), piece.changed.end());
        weights_at_hand_.insert(weights_at_hand_.end(), piece.by.begin(), piece.by.end());
        linear_ += piece.linear;
        for (std::size_t e = 0; e < 2; ++e) balance_[e] += piece.balance[e];
        entries_ += std::exchange(piece.entries, 0);
    }
    add_some<T>(rows_, rows_at_hand_, weights_at_hand_, sum_);
}

template <class T>
bool ProximalNewton<T>::step() {
    if (!direction()) return false;
    const double length = std::sqrt(dot(step_, step_));
    last_change_ = length * mean_length_;
    if (!std::isfinite(length)) return false;
    const double reach = path_ + length * (1 + 1e-9);
    look(reach);
    const double t = search();
    const std::size_t d = rows_.columns;
    for (std::size_t k = 0; k < d; ++k) w_[k] += t * step_[k];
    for (std::size_t e = 0; e < form_.equalities; ++e) lambda_[e] += t * step_[d + e];
    path_ += t * length;
    ++steps_;
    settle_all(t);
    return t > 0;
}

template <class T>
void ProximalNewton<T>::narrow(double width) {
    width_ = width;
    for (Piece& piece : pieces_) {
        for (const std::uint32_t row : piece.moved) {
            is_moved_[row] = 0;
            each_variable(row, [&](std::size_t i) { centre_[i] = u_[i]; });
        }
        piece.moved.clear();
    }
    // Rows that were not looked at are as far from their kinks as before, or farther.
    settle_all(0);
}

template <class T>
double ProximalNewton<T>::residual() const {
    double square = 0;
    for (std::size_t k = 0; k < w_.size(); ++k) square += (w_[k] - sum_[k]) * (w_[k] - sum_[k]);
    return std::sqrt(square) * mean_length_;
}

template <class T>
double ProximalNewton<T>::violation() const {
    double worst = 0;
    for (const Piece& piece : pieces_) {
        for (const std::uint32_t row : piece.free) {
            each_variable(row, [&](std::size_t i) {
                if (!form_.is_free(i, u_[i])) return;
                worst = std::max(worst, std::abs(gradient(i, product_[row])));
            });
        }
    }
    return worst;
}

template <class T>
double ProximalNewton<T>::gap() const {
    double gap = 0;
    for (const Piece& piece : pieces_) {
        for (const std::uint32_t row : piece.near) {
            each_variable(row, [&](std::size_t i) {
                const double g = gradient(i, product_[row]);
                const double left = g > 0 ? u_[i] - form_.lower[i] : form_.upper[i] - u_[i];
                if (left > 0 && left < infinity) gap += std::abs(g) * left;
            });
        }
    }
    return gap;
}

template <class T>
double ProximalNewton<T>::objective() const {
    return dot(sum_, sum_) / 2 + linear_;
}

template class ProximalNewton<float>;
template class ProximalNewton<double>;

}  // namespace mercer
