#include "mercer/solver/linear/conjugate_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/detail/row_sums.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

// The attribute once more: function templates take their visibility from where they are defined.
namespace mercer MERCER_API {
namespace {

/// Rows of the factor are cut here, by the problem's size alone.
constexpr std::size_t grain = 4096;

/// The lower triangle of L D⁻¹ L', a strip of columns after another: matrix products, and whoever
/// listens is asked between two strips.
Matrix<double> weighted_square(const Matrix<double>& l, std::span<const double> d,
                               const Progress& progress) {
    constexpr std::size_t rows_together = 64;
    const std::size_t rank = l.rows();
    Matrix<double> sum(rank, rank), part(rank, rank), strip(rank, std::min(grain, l.columns()));
    for (std::size_t first = 0; first < l.columns(); first += grain) {
        if (!keep_going(progress, {"preconditioner", -1})) throw Cancelled();
        const std::size_t width = std::min(grain, l.columns() - first);
        parallel_for(rank, [&](std::size_t r) {
            for (std::size_t i = 0; i < width; ++i) {
                strip(r, i) = l(r, first + i) / std::sqrt(d[first + i]);
            }
        });
        const MatrixView<const double> scaled =
            std::as_const(strip).view().block(0, 0, rank, width);
        parallel_ranges(rank, rows_together, [&](std::size_t begin, std::size_t end) {
            const auto to = part.view().block(begin, 0, end - begin, end);
            multiply_transposed(scaled.block(begin, 0, end - begin, width),
                                scaled.block(0, 0, end, width), to);
            for (std::size_t r = begin; r < end; ++r) {
                for (std::size_t s = 0; s <= r; ++s) sum(r, s) += part(r, s);
            }
        });
    }
    return sum;
}

}  // namespace

template <class T>
PivotedCholesky::PivotedCholesky(const SymmetricOperator<T>& k, std::span<const double> shift,
                                 const Settings& settings)
    : shift_(shift.begin(), shift.end()) {
    const std::size_t n = k.size();
    const std::size_t most = std::min(settings.rank, n);
    std::vector<double> rest(n);
    k.diagonal(rest);
    Matrix<double> factor(most, n);
    Matrix<T> row(1, n);
    std::size_t rank = 0;
    for (; rank < most; ++rank) {
        std::size_t pivot = 0;
        for (std::size_t i = 1; i < n; ++i) {
            if (rest[i] / shift_[i] > rest[pivot] / shift_[pivot]) pivot = i;
        }
        if (!(rest[pivot] > settings.tolerance * shift_[pivot])) break;
        const double done = static_cast<double>(rank) / static_cast<double>(most);
        if (!keep_going(settings.progress, {"preconditioner", done})) throw Cancelled();
        k.rows({&pivot, 1}, row.view());
        const double root = std::sqrt(rest[pivot]);
        const auto to = factor.row(rank);
        parallel_ranges(n, grain, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) to[i] = static_cast<double>(row(0, i));
            for (std::size_t r = 0; r < rank; ++r) {
                const double at_pivot = factor(r, pivot);
                const auto earlier = factor.row(r);
                for (std::size_t i = first; i < last; ++i) to[i] -= at_pivot * earlier[i];
            }
            for (std::size_t i = first; i < last; ++i) {
                to[i] /= root;
                rest[i] = std::max(0.0, rest[i] - to[i] * to[i]);
            }
        });
        rest[pivot] = 0;
    }
    factor_ = Matrix<double>(rank, n);
    std::copy_n(factor.values().begin(), rank * n, factor_.values().begin());
    for (std::size_t i = 0; i < n; ++i) {
        remaining_trace_ += rest[i];
        remaining_share_ += rest[i] / shift_[i];
    }

    inner_ = weighted_square(factor_, shift_, settings.progress);
    for (std::size_t r = 0; r < rank; ++r) inner_(r, r) += 1;
    if (!cholesky(inner_.view())) {
        throw InvalidInput("the preconditioner is not finite; the kernel's values are too large");
    }
}

double PivotedCholesky::log_determinant() const {
    double sum = rank() > 0 ? mercer::log_determinant(inner_.view()) : 0;
    for (const double d : shift_) sum += std::log(d);
    return sum;
}

void PivotedCholesky::apply(std::span<const double> r, std::span<double> z) const {
    const std::size_t n = shift_.size();
    for (std::size_t i = 0; i < n; ++i) z[i] = r[i] / shift_[i];
    if (rank() == 0) return;
    Matrix<double> inner(1, rank());
    parallel_for(rank(), [&](std::size_t s) { inner(0, s) = dot(factor_.row(s), z); });
    cholesky_solve(inner_.view(), inner.view());
    parallel_ranges(n, grain, [&](std::size_t first, std::size_t last) {
        std::vector<double> sum(last - first, 0.0);
        for (std::size_t s = 0; s < rank(); ++s) {
            const double weight = inner(0, s);
            const auto row = factor_.row(s);
            for (std::size_t i = first; i < last; ++i) sum[i - first] += weight * row[i];
        }
        for (std::size_t i = first; i < last; ++i) z[i] -= sum[i - first] / shift_[i];
    });
}

std::string describe(CgStatus status) {
    switch (status) {
        case CgStatus::converged: return "converged";
        case CgStatus::iteration_limit: return "stopped at the iteration limit";
        case CgStatus::cancelled: return "stopped early on request";
        default: return "stopped: rounding allows no further progress";
    }
}

template <class T>
void apply_all(const SymmetricOperator<T>& k, MatrixView<const double> x, MatrixView<double> y,
               const Progress& progress) {
    const std::size_t n = k.size();
    // 256 rows, and of very many rows fewer: 64 MiB of values are enough for one product.
    constexpr std::size_t most_values = (std::size_t{64} << 20) / sizeof(T);
    const std::size_t block =
        std::min(n, std::clamp<std::size_t>(most_values / std::max<std::size_t>(n, 1), 16, 256));
    Matrix<T> buffer(block, n);
    std::vector<std::size_t> which(block);
    std::vector<const T*> rows(block);
    constexpr std::size_t many = 4;  // right-hand sides from which on a product is the quicker way
    for (std::size_t first = 0; first < n; first += block) {
        if (!keep_going(progress, {"solving", -1})) throw Cancelled();
        const std::size_t count = std::min(block, n - first);
        std::iota(which.begin(), which.end(), first);
        k.rows(std::span(which).first(count), buffer.view().block(0, 0, count, n));
        if constexpr (std::is_same_v<T, double>) {
            if (x.rows >= many) {
                parallel_ranges(count, 16, [&](std::size_t begin, std::size_t end) {
                    multiply_transposed(
                        x, std::as_const(buffer).view().block(begin, 0, end - begin, n),
                        y.block(0, first + begin, x.rows, end - begin));
                });
                continue;
            }
        }
        // K is symmetric: its rows, weighed by x, add up to K x.
        for (std::size_t r = 0; r < count; ++r) rows[r] = buffer.row(r).data();
        for (std::size_t s = 0; s < x.rows; ++s) {
            if (first == 0) std::ranges::fill(y.row(s), 0.0);
            add_weighted_rows_in_parallel<T>(std::span<const T* const>(rows).first(count),
                                             x.row(s).subspan(first, count), y.row(s));
        }
    }
}

namespace {

/// One right-hand side's own recursion.
class Recursion {
   public:
    Recursion(std::span<const double> b, const PivotedCholesky& m)
        : x(b.size(), 0.0), r(b.begin(), b.end()), z(b.size()), m_(m) {
        norm_ = std::sqrt(dot(b, b));
        m.apply(r, z);
        direction = z;
        rho_ = dot(r, z);
    }

    double relative_residual() const { return norm_ == 0 ? 0 : std::sqrt(dot(r, r)) / norm_; }

    /// One step, given (K + D) × direction. False when there is nothing left to do.
    bool step(std::span<const double> image) {
        const double curvature = dot(direction, image);
        if (!(curvature > 0) || !(rho_ > 0)) return false;
        const double length = rho_ / curvature;
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] += length * direction[i];
            r[i] -= length * image[i];
        }
        m_.apply(r, z);
        const double next = dot(r, z);
        const double ratio = next / rho_;
        rho_ = next;
        for (std::size_t i = 0; i < x.size(); ++i) direction[i] = z[i] + ratio * direction[i];
        return true;
    }

    std::vector<double> x, r, z, direction;

   private:
    const PivotedCholesky& m_;
    double norm_ = 0;
    double rho_ = 0;
};

template <class T>
void apply_shifted(const SymmetricOperator<T>& k, std::span<const double> shift,
                   MatrixView<const double> x, MatrixView<double> y, const Progress& progress) {
    apply_all(k, x, y, progress);
    for (std::size_t s = 0; s < x.rows; ++s) {
        for (std::size_t i = 0; i < shift.size(); ++i) y(s, i) += shift[i] * x(s, i);
    }
}

/// The worst relative residual, from K itself.
template <class T>
double true_residual(const SymmetricOperator<T>& k, std::span<const double> shift,
                     MatrixView<const double> b, const Matrix<double>& x, Matrix<double>& image,
                     const Progress& progress) {
    apply_shifted(k, shift, x.view(), image.view(), progress);
    double worst = 0;
    for (std::size_t s = 0; s < b.rows; ++s) {
        double square = 0;
        for (std::size_t i = 0; i < b.columns; ++i) square += std::pow(b(s, i) - image(s, i), 2);
        const double norm = std::sqrt(dot(b.row(s), b.row(s)));
        if (norm > 0) worst = std::max(worst, std::sqrt(square) / norm);
    }
    return worst;
}

/// The image K x and the residual: by one more product, or, told to stop, as the recursion knows
/// them.
template <class T>
void finish(const SymmetricOperator<T>& k, std::span<const double> shift,
            MatrixView<const double> b, const std::vector<Recursion>& side,
            const CgSettings& settings, CgSolution& solution) {
    solution.image = Matrix<double>(b.rows, b.columns);
    bool measured = false;
    if (solution.status != CgStatus::cancelled) {
        try {
            solution.residual =
                true_residual(k, shift, b, solution.x, solution.image, settings.progress);
            measured = true;
        } catch (const Cancelled&) {
            solution.status = CgStatus::cancelled;
        }
    }
    for (std::size_t s = 0; s < b.rows; ++s) {
        if (!measured) {
            solution.residual = std::max(solution.residual, side[s].relative_residual());
        }
        for (std::size_t i = 0; i < b.columns; ++i) {
            if (!measured) solution.image(s, i) = b(s, i) - side[s].r[i];
            solution.image(s, i) -= shift[i] * solution.x(s, i);
        }
    }
}

}  // namespace

template <class T>
CgSolution conjugate_gradient(const SymmetricOperator<T>& k, std::span<const double> shift,
                              MatrixView<const double> b, const PivotedCholesky& preconditioner,
                              const CgSettings& settings) {
    const std::size_t n = k.size();
    const std::size_t limit =
        settings.iteration_limit != 0
            ? settings.iteration_limit
            : 100 + static_cast<std::size_t>(10 * std::sqrt(static_cast<double>(n)));
    std::vector<Recursion> side;
    for (std::size_t s = 0; s < b.rows; ++s) side.emplace_back(b.row(s), preconditioner);
    CgSolution solution{.x = Matrix<double>(b.rows, n)};
    Matrix<double> directions(b.rows, n);
    Matrix<double> images(b.rows, n);
    const auto worst = [&] {
        double most = 0;
        for (const Recursion& one : side) most = std::max(most, one.relative_residual());
        return most;
    };
    solution.status = CgStatus::iteration_limit;
    for (; solution.iterations < limit; ++solution.iterations) {
        const double residual = worst();
        if (residual <= settings.tolerance) {
            solution.status = CgStatus::converged;
            break;
        }
        const std::string detail = "residual " + format_number(residual);
        if (!keep_going(settings.progress, {"solving", -1, detail})) {
            solution.status = CgStatus::cancelled;
            break;
        }
        for (std::size_t s = 0; s < b.rows; ++s) {
            std::ranges::copy(side[s].direction, directions.row(s).begin());
        }
        try {
            apply_shifted(k, shift, directions.view(), images.view(), settings.progress);
        } catch (const Cancelled&) {  // the product is lost, the iterate is not
            solution.status = CgStatus::cancelled;
            break;
        }
        bool moved = false;
        for (std::size_t s = 0; s < b.rows; ++s) {
            if (side[s].relative_residual() > settings.tolerance) {
                moved = side[s].step(images.row(s)) || moved;
            }
        }
        solution.history.push_back(worst());
        if (!moved) {
            solution.status = CgStatus::stalled;
            break;
        }
    }
    for (std::size_t s = 0; s < b.rows; ++s) {
        std::ranges::copy(side[s].x, solution.x.row(s).begin());
    }
    finish(k, shift, b, side, settings, solution);
    // The recursion may believe more than the rounding of K allows.
    if (solution.status == CgStatus::converged && solution.residual > 100 * settings.tolerance) {
        solution.status = CgStatus::stalled;
    }
    return solution;
}

template PivotedCholesky::PivotedCholesky(const SymmetricOperator<float>&, std::span<const double>,
                                          const Settings&);
template PivotedCholesky::PivotedCholesky(const SymmetricOperator<double>&, std::span<const double>,
                                          const Settings&);
template CgSolution conjugate_gradient(const SymmetricOperator<float>&, std::span<const double>,
                                       MatrixView<const double>, const PivotedCholesky&,
                                       const CgSettings&);
template CgSolution conjugate_gradient(const SymmetricOperator<double>&, std::span<const double>,
                                       MatrixView<const double>, const PivotedCholesky&,
                                       const CgSettings&);
template void apply_all(const SymmetricOperator<float>&, MatrixView<const double>,
                        MatrixView<double>, const Progress&);
template void apply_all(const SymmetricOperator<double>&, MatrixView<const double>,
                        MatrixView<double>, const Progress&);

}  // namespace mercer
