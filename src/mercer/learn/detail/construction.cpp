#include "mercer/learn/detail/construction.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/parallel.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/feature/preimage.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/kernel/detail/node.hpp"
#include "mercer/learn/svm/detail/shared_fit.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer::reduction {
namespace {

class Builder {
   public:
    Builder(const Expansion& e, const OwnValues& own)
        : e_(e), own_(own), gram_(make_gram<double>(e.kernel, e.points)), lengths_(e.size()) {
        gram_.diagonal(gram_.reference(), lengths_);
        rest_ = own.values;
    }

    std::size_t count() const { return values_.size(); }
    const std::vector<double>& vectors() const { return z_; }

    /// Adds the next vector; false when there is none that would help.
    bool add_next() {
        const std::size_t start = best_start();
        if (start == e_.size()) return false;
        std::vector<double> row(e_.points.columns());
        e_.points.copy_row(start, row);
        const std::vector<double> first = row;
        std::vector<double> direction(rest_.row(start).begin(), rest_.row(start).end());
        const int rounds = e_.outputs() > 1 ? 2 : 1;
        for (int round = 0; round < rounds; ++round) {
            row = preimage_along(direction, row);
            direction = left_at(row);
        }
        return add(row) || add(first);
    }

    double error() const { return error_; }

   private:
    /// The point of the expansion that would lower ρ most by itself.
    std::size_t best_start() const {
        std::size_t best = e_.size();
        double most = 0;
        for (std::size_t i = 0; i < e_.size(); ++i) {
            if (!(lengths_[i] > 0)) continue;
            const auto r = rest_.row(i);
            const double gain =
                std::inner_product(r.begin(), r.end(), r.begin(), 0.0) / lengths_[i];
            if (gain > most) {
                most = gain;
                best = i;
            }
        }
        return best;
    }

    std::vector<double> preimage_along(const std::vector<double>& direction,
                                       const std::vector<double>& start) const {
        const std::size_t columns = e_.points.columns();
        Matrix<double> target(1, e_.size() + count());
        for (std::size_t c = 0; c < e_.outputs(); ++c) {
            for (std::size_t i = 0; i < e_.size(); ++i) {
                target(0, i) += direction[c] * e_.coefficients(c, i);
            }
            for (std::size_t j = 0; j < count(); ++j) {
                target(0, e_.size() + j) -= direction[c] * beta_(c, j);
            }
        }
        const Rows points =
            count() == 0 ? e_.points : concatenate(e_.points, Rows::dense(z_, columns));
        PreimageSettings settings{.free_factor = true, .starts = 1, .iterations = 100};
        settings.method =
            gaussian_gamma(e_.kernel) ? PreimageMethod::fixed_point : PreimageMethod::gradient;
        settings.tolerance = 1e-6;
        const PreimageFinder finder(e_.kernel, points, settings);
        return finder.find(target.view(), Rows::dense(start, columns)).front().z;
    }

    /// k(z, x_i) for all points, in double.
    std::vector<double> values_at(const std::vector<double>& z) const {
        std::vector<double> values(e_.size());
        const Points<double> point = gram_.prepare(Rows::dense(z, z.size()));
        gram_.block(point, gram_.reference(), {values.data(), 1, values.size()});
        return values;
    }

    std::vector<double> among(const std::vector<double>& z) const {
        std::vector<double> values(count());
        if (count() == 0) return values;
        const Points<double> others = gram_.prepare(Rows::dense(z_, z.size()));
        gram_.block(gram_.prepare(Rows::dense(z, z.size())), others,
                    {values.data(), 1, values.size()});
        return values;
    }

    /// <w_c − w'_c, Φ(z)>.
    std::vector<double> left_at(const std::vector<double>& z) const {
        const std::vector<double> with_points = values_at(z);
        const std::vector<double> with_vectors = among(z);
        std::vector<double> left(e_.outputs(), 0.0);
        for (std::size_t c = 0; c < e_.outputs(); ++c) {
            const auto a = e_.coefficients.row(c);
            left[c] = std::inner_product(a.begin(), a.end(), with_points.begin(), 0.0);
            for (std::size_t j = 0; j < count(); ++j) left[c] -= beta_(c, j) * with_vectors[j];
        }
        return left;
    }

    bool add(const std::vector<double>& z) {
        if (!std::ranges::all_of(z, [](double v) { return std::isfinite(v); })) return false;
        std::vector<double> row = among(z);
        std::vector<double> own(1);
        gram_.diagonal(gram_.prepare(Rows::dense(z, z.size())), own);
        // What lies in the span of the others already would only make their coefficients large.
        if (count() > 0) {
            Matrix<double> k = gram_of_vectors_;
            factor_with_ridge(k, 1e-11);
            Matrix<double> v(1, count());
            std::ranges::copy(row, v.row(0).begin());
            forward_solve(k.view(), v.view());
            const auto f = v.row(0);
            if (own[0] - std::inner_product(f.begin(), f.end(), f.begin(), 0.0) <= 1e-8 * own[0]) {
                return false;
            }
        }
        grow(row, own[0]);
        z_.insert(z_.end(), z.begin(), z.end());
        values_.push_back(values_at(z));
        refit();
        return true;
    }

    void grow(const std::vector<double>& row, double own) {
        const std::size_t n = row.size();
        Matrix<double> larger(n + 1, n + 1);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) larger(i, j) = gram_of_vectors_(i, j);
            larger(i, n) = larger(n, i) = row[i];
        }
        larger(n, n) = own;
        gram_of_vectors_ = std::move(larger);
    }

    /// The best coefficients for all vectors, and what they leave.
    void refit() {
        beta_ = Matrix<double>(e_.outputs(), count());
        for (std::size_t c = 0; c < e_.outputs(); ++c) {
            const auto a = e_.coefficients.row(c);
            for (std::size_t j = 0; j < count(); ++j) {
                beta_(c, j) = std::inner_product(a.begin(), a.end(), values_[j].begin(), 0.0);
            }
        }
        const Matrix<double> inner = beta_;
        Matrix<double> k = gram_of_vectors_;
        factor_with_ridge(k, 1e-11);
        cholesky_solve(k.view(), beta_.view());
        error_ = std::max(0.0, own_.squared_norm - std::inner_product(inner.values().begin(),
                                                                      inner.values().end(),
                                                                      beta_.values().begin(), 0.0));
        parallel_ranges(e_.size(), 256, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                for (std::size_t c = 0; c < e_.outputs(); ++c) {
                    double sum = own_.values(i, c);
                    for (std::size_t j = 0; j < count(); ++j) sum -= beta_(c, j) * values_[j][i];
                    rest_(i, c) = sum;
                }
            }
        });
    }

    const Expansion& e_;
    const OwnValues& own_;
    Gram<double> gram_;
    std::vector<double> lengths_;  ///< k(x_i, x_i)
    Matrix<double> rest_{};        ///< <w_c − w'_c, Φ(x_i)>, points × outputs
    std::vector<double> z_{};
    std::vector<std::vector<double>> values_{};  ///< k(z_j, x_i), one row a vector
    Matrix<double> gram_of_vectors_{};
    Matrix<double> beta_{};
    double error_ = 0;
};

}  // namespace

Construction construct(const Expansion& e, const OwnValues& own, std::size_t most, double error,
                       const Progress& progress) {
    Construction result{.error = {own.squared_norm}};
    Builder builder(e, own);
    while (builder.count() < most && result.error.back() > error) {
        const double done = static_cast<double>(builder.count()) / static_cast<double>(most);
        if (!keep_going(progress, {"constructing vectors", done})) {
            result.cancelled = true;
            break;
        }
        if (!builder.add_next()) break;
        result.error.push_back(builder.error());
    }
    result.z = builder.vectors();
    return result;
}

}  // namespace mercer::reduction
