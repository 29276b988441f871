#include "mercer/learn/svm/detail/shared_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/gram/gradient.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/kernel/detail/node.hpp"
#include "mercer/kernel/detail/slope.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer::reduction {

struct SharedFit::Face {
    virtual ~Face() = default;
    virtual double evaluate(std::span<const double> z, std::span<double> gradient) const = 0;

   protected:
    Face() = default;
    Face(const Face&) = default;
    Face& operator=(const Face&) = default;
};

namespace {

constexpr std::size_t tile_points = 512;

/// The factor before a kernel and the kernel itself.
std::pair<double, Kernel> unscaled(const Kernel& k) {
    if (k.node().kind != KernelKind::scale) return {1.0, k};
    return {k.node().value, k.node().children[0]};
}

/// One part of the gradient of k, evaluated on blocks.
template <class T>
struct Slope {
    double factor = 1;  ///< times the kernel's own values, unless there is a gram
    std::optional<Gram<T>> gram{};
    std::vector<Points<T>> tiles{};
    bool difference = false;
};

/// A run of the points, laid out for each product it takes part in.
template <class T>
struct PointTile {
    std::size_t first = 0;
    Points<T> points{};
    Matrix<T> coefficients{};  ///< outputs × points
    Matrix<T> by_point{};      ///< points × outputs
    Matrix<T> by_column{};     ///< columns × points: the rows themselves, transposed

    std::size_t size() const { return by_point.rows(); }
};

template <class T>
Rows rows_from(std::span<const double> z, std::size_t columns) {
    return Rows::dense(std::vector<T>(z.begin(), z.end()), columns);
}

template <class T>
class Fit final : public SharedFit::Face {
   public:
    Fit(const Expansion& e, double squared_norm)
        : kernel_(e.kernel),
          points_(e.points),
          coefficients_(e.coefficients),
          columns_(e.points.columns()),
          squared_norm_(squared_norm),
          gram_(make_gram<T>(e.kernel, e.points)) {
        for (std::size_t first = 0; first < e.size(); first += tile_points) add_tile(first);
        const auto terms = slope_terms(e.kernel);
        if (!terms) {
            pairwise_ = true;
            check_derivative();
            return;
        }
        const auto [own_factor, own] = unscaled(e.kernel);
        for (const SlopeTerm& term : *terms) {
            const auto [factor, base] = unscaled(term.slope);
            Slope<T> slope{.factor = factor / own_factor, .difference = term.difference};
            if (!(base == own)) {
                slope.gram = make_gram<T>(term.slope, e.points);
                for (const PointTile<T>& tile : tiles_) {
                    slope.tiles.push_back(
                        slope.gram->select(slope.gram->reference(), positions(tile)));
                }
            }
            slopes_.push_back(std::move(slope));
        }
    }

    double evaluate(std::span<const double> z, std::span<double> gradient) const override {
        const std::size_t count = z.size() / columns_;
        const std::size_t outputs = coefficients_.rows();
        Matrix<T> values(count, points_.size());
        Matrix<double> beta(outputs, count);  // first F, then K_zz⁻¹ F
        for_each_band(count, [&](std::size_t first, std::size_t last) {
            fill_band(z, first, last, values, beta);
        });
        const auto own = make_gram<double>(kernel_, rows_from<double>(z, columns_));
        Matrix<double> k(count, count);
        own.matrix(k.view());
        const Matrix<double> inner = beta;
        factor_with_ridge(k, sizeof(T) == 4 ? 1e-6 : 1e-11);
        cholesky_solve(k.view(), beta.view());
        const double explained = std::inner_product(inner.values().begin(), inner.values().end(),
                                                    beta.values().begin(), 0.0);
        std::ranges::fill(gradient, 0.0);
        const Matrix<double> by_vector = transposed(beta);
        for_each_band(count, [&](std::size_t first, std::size_t last) {
            if (pairwise_) {
                add_pairwise(z, by_vector, first, last, gradient);
            } else {
                add_points(z, values, by_vector, first, last, gradient);
            }
        });
        if (!pairwise_) add_own(z, by_vector, gradient);
        return squared_norm_ - explained;
    }

   private:
    static std::vector<std::size_t> positions(const PointTile<T>& tile) {
        std::vector<std::size_t> all(tile.size());
        std::iota(all.begin(), all.end(), tile.first);
        return all;
    }

    static Matrix<double> transposed(const Matrix<double>& m) {
        Matrix<double> result(m.columns(), m.rows());
        for (std::size_t i = 0; i < m.rows(); ++i) {
            for (std::size_t j = 0; j < m.columns(); ++j) result(j, i) = m(i, j);
        }
        return result;
    }

    void add_tile(std::size_t first) {
        const std::size_t count = std::min(tile_points, points_.size() - first);
        const std::size_t outputs = coefficients_.rows();
        PointTile<T> tile{.first = first};
        tile.coefficients = Matrix<T>(outputs, count);
        tile.by_point = Matrix<T>(count, outputs);
        tile.by_column = Matrix<T>(columns_, count);
        std::vector<double> row(columns_);
        for (std::size_t i = 0; i < count; ++i) {
            points_.copy_row(first + i, row);
            for (std::size_t k = 0; k < columns_; ++k) {
                tile.by_column(k, i) = static_cast<T>(row[k]);
            }
            for (std::size_t c = 0; c < outputs; ++c) {
                tile.by_point(i, c) = static_cast<T>(coefficients_(c, first + i));
                tile.coefficients(c, i) = tile.by_point(i, c);
            }
        }
        tile.points = gram_.select(gram_.reference(), positions(tile));
        tiles_.push_back(std::move(tile));
    }

    void check_derivative() const {
        try {
            std::vector<double> row(columns_);
            points_.copy_row(0, row);
            const std::size_t one[] = {0};
            input_gradients(kernel_, row, points_.select(one));
        } catch (const InvalidInput& error) {
            throw InvalidInput(std::string(error.what()) +
                               "; the vectors of such a kernel can be chosen but not moved: use a "
                               "choice (greedy, l1) without joint optimisation");
        }
    }

    /// Bands of vectors, cut by their number alone.
    template <class Body>
    static void for_each_band(std::size_t count, Body&& body) {
        parallel_ranges(count, std::clamp<std::size_t>((count + 7) / 8, 8, 128), body);
    }

    void fill_band(std::span<const double> z, std::size_t first, std::size_t last,
                   Matrix<T>& values, Matrix<double>& inner) const {
        const std::size_t count = last - first;
        const Points<T> band =
            gram_.prepare(rows_from<T>(z.subspan(first * columns_, count * columns_), columns_));
        Matrix<T> part(count, coefficients_.rows());
        for (const PointTile<T>& tile : tiles_) {
            const auto block = values.view().block(first, tile.first, count, tile.size());
            gram_.block(band, tile.points, block);
            multiply_transposed(block, tile.coefficients.view(), part.view());
            for (std::size_t j = 0; j < count; ++j) {
                for (std::size_t c = 0; c < part.columns(); ++c) {
                    inner(c, first + j) += static_cast<double>(part(j, c));
                }
            }
        }
    }

    /// gradient −= 2 Σ_i (a'b)_ij ∂k(x_i, z_j)/∂z_j for one band of z.
    void add_points(std::span<const double> z, const Matrix<T>& values,
                    const Matrix<double>& by_vector, std::size_t first, std::size_t last,
                    std::span<double> gradient) const {
        const std::size_t count = last - first;
        Matrix<T> own(count, by_vector.columns());
        for (std::size_t j = 0; j < count; ++j) {
            std::ranges::transform(by_vector.row(first + j), own.row(j).begin(),
                                   [](double b) { return static_cast<T>(b); });
        }
        const Rows rows = rows_from<T>(z.subspan(first * columns_, count * columns_), columns_);
        Matrix<T> sums(count, columns_);
        for (const Slope<T>& slope : slopes_) {
            const Points<T> band = slope.gram ? slope.gram->prepare(rows) : Points<T>();
            for (std::size_t t = 0; t < tiles_.size(); ++t) {
                const PointTile<T>& tile = tiles_[t];
                Matrix<T> weights(count, tile.size());
                multiply_transposed(own.view(), tile.by_point.view(), weights.view());
                Matrix<T> slopes(slope.gram ? count : 0, slope.gram ? tile.size() : 0);
                if (slope.gram) slope.gram->block(band, slope.tiles[t], slopes.view());
                const auto factor = static_cast<T>(slope.factor);
                for (std::size_t j = 0; j < count; ++j) {
                    for (std::size_t i = 0; i < tile.size(); ++i) {
                        weights(j, i) *=
                            slope.gram ? slopes(j, i) : factor * values(first + j, tile.first + i);
                    }
                }
                multiply_transposed(weights.view(), tile.by_column.view(), sums.view());
                add_sums(slope.difference, -2, z, first, weights, sums, gradient);
            }
        }
    }

    /// gradient_j += factor × (Σ_i weights_ji) z_j − …, or the plain sums.
    template <class S>
    void add_sums(bool difference, double factor, std::span<const double> z, std::size_t first,
                  const Matrix<S>& weights, const Matrix<S>& sums,
                  std::span<double> gradient) const {
        const double sign = difference ? -factor : factor;
        for (std::size_t j = 0; j < weights.rows(); ++j) {
            double total = 0;
            for (const S w : weights.row(j)) total += static_cast<double>(w);
            double* g = gradient.data() + (first + j) * columns_;
            const double* own = z.data() + (first + j) * columns_;
            for (std::size_t k = 0; k < columns_; ++k) {
                g[k] += sign * static_cast<double>(sums(j, k));
                if (difference) g[k] += factor * total * own[k];
            }
        }
    }

    /// gradient += 2 Σ_l (b'b)_jl ∂k(z_l, z_j)/∂z_j.
    void add_own(std::span<const double> z, const Matrix<double>& by_vector,
                 std::span<double> gradient) const {
        const std::size_t count = by_vector.rows();
        Matrix<double> by_column(columns_, count);
        for (std::size_t j = 0; j < count; ++j) {
            for (std::size_t k = 0; k < columns_; ++k) by_column(k, j) = z[j * columns_ + k];
        }
        const auto terms = slope_terms(kernel_);
        for (const SlopeTerm& term : *terms) {
            Matrix<double> slopes(count, count);
            make_gram<double>(term.slope, rows_from<double>(z, columns_)).matrix(slopes.view());
            for_each_band(count, [&](std::size_t first, std::size_t last) {
                Matrix<double> weights(last - first, count);
                multiply_transposed(
                    by_vector.view().block(first, 0, last - first, by_vector.columns()),
                    by_vector.view(), weights.view());
                for (std::size_t j = first; j < last; ++j) {
                    for (std::size_t l = 0; l < count; ++l) weights(j - first, l) *= slopes(j, l);
                }
                Matrix<double> sums(last - first, columns_);
                multiply_transposed(weights.view(), by_column.view(), sums.view());
                add_sums(term.difference, 2, z, first, weights, sums, gradient);
            });
        }
    }

    /// Both sums pair by pair, for kernels whose gradient is no kernel again.
    void add_pairwise(std::span<const double> z, const Matrix<double>& by_vector, std::size_t first,
                      std::size_t last, std::span<double> gradient) const {
        const Rows vectors = rows_from<double>(z, columns_);
        for (std::size_t j = first; j < last; ++j) {
            const auto own = z.subspan(j * columns_, columns_);
            double* g = gradient.data() + j * columns_;
            const auto add = [&](const Rows& rows, double factor, auto&& weight) {
                const Matrix<double> slopes = input_gradients(kernel_, own, rows);
                for (std::size_t i = 0; i < rows.size(); ++i) {
                    const double w = factor * weight(i);
                    for (std::size_t k = 0; k < columns_; ++k) g[k] += w * slopes(i, k);
                }
            };
            add(points_, -2, [&](std::size_t i) {
                double sum = 0;
                for (std::size_t c = 0; c < by_vector.columns(); ++c) {
                    sum += coefficients_(c, i) * by_vector(j, c);
                }
                return sum;
            });
            add(vectors, 2, [&](std::size_t l) {
                const auto a = by_vector.row(j);
                return std::inner_product(a.begin(), a.end(), by_vector.row(l).begin(), 0.0);
            });
        }
    }

    Kernel kernel_;
    Rows points_;
    Matrix<double> coefficients_;
    std::size_t columns_;
    double squared_norm_;
    Gram<T> gram_;
    std::vector<PointTile<T>> tiles_{};
    std::vector<Slope<T>> slopes_{};
    bool pairwise_ = false;
};

}  // namespace

SharedFit::SharedFit(const Expansion& e, double squared_norm, bool double_precision) {
    if (double_precision) {
        face_ = std::make_shared<Fit<double>>(e, squared_norm);
    } else {
        face_ = std::make_shared<Fit<float>>(e, squared_norm);
    }
}

double SharedFit::operator()(std::span<const double> z, std::span<double> gradient) const {
    return face_->evaluate(z, gradient);
}

void factor_with_ridge(Matrix<double>& gram, double relative) {
    const std::size_t n = gram.rows();
    double mean = 0;
    for (std::size_t i = 0; i < n; ++i) mean += std::fabs(gram(i, i)) / static_cast<double>(n);
    const Matrix<double> original = gram;
    for (double ridge = relative * mean;; ridge *= 10) {
        for (std::size_t i = 0; i < n; ++i) gram(i, i) += ridge;
        if (cholesky(gram.view())) return;
        if (!(ridge < mean)) {
            throw InvalidInput(
                "the kernel values among the reduced vectors are no Gram matrix: the kernel must "
                "be positive definite");
        }
        gram = original;
    }
}

}  // namespace mercer::reduction
