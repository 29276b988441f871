// Shared by the tests of the kernel room: random rows, Gram matrices by the plain formula, and
// eigenvalues by Jacobi's method, independent of what the library uses.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer::test {

using Points = std::vector<std::vector<double>>;

inline Points random_points(Random& random, std::size_t count, std::size_t columns) {
    Points result(count, std::vector<double>(columns));
    for (auto& row : result) {
        for (double& value : row) value = random.normal();
    }
    return result;
}

inline Points absolute(Points points) {
    for (auto& row : points) {
        for (double& value : row) value = std::fabs(value);
    }
    return points;
}

inline Points unit_norm(Points points) {
    for (auto& row : points) {
        double sum = 0;
        for (const double value : row) sum += value * value;
        for (double& value : row) value /= std::sqrt(sum);
    }
    return points;
}

inline Matrix<double> matrix_of(const Points& points) {
    Matrix<double> result(points.size(), points.front().size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        std::copy(points[i].begin(), points[i].end(), result.row(i).begin());
    }
    return result;
}

/// The moments that data/ would compute.
inline ColumnMoments moments_of(const Points& points) {
    ColumnMoments result;
    result.rows = points.size();
    result.sum.assign(points.front().size(), 0);
    result.sum_of_squares = result.sum;
    for (const auto& row : points) {
        for (std::size_t j = 0; j < row.size(); ++j) {
            result.sum[j] += row[j];
            result.sum_of_squares[j] += row[j] * row[j];
        }
    }
    return result;
}

inline Matrix<double> gram(const Kernel& k, const Points& points) {
    const Matrix<double> sample = matrix_of(points);
    Matrix<double> result(points.size(), points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        for (std::size_t j = 0; j < points.size(); ++j) {
            result(i, j) = evaluate(k, points[i], points[j], sample.view());
        }
    }
    return result;
}

/// H K H with H = I - 11'/n: what weights that sum to 0 see of K.
inline Matrix<double> centred(Matrix<double> k) {
    const std::size_t n = k.rows();
    const auto count = static_cast<double>(n);
    for (int pass = 0; pass < 2; ++pass) {
        for (std::size_t i = 0; i < n; ++i) {
            double mean = 0;
            for (std::size_t j = 0; j < n; ++j) mean += pass == 0 ? k(i, j) : k(j, i);
            mean /= count;
            for (std::size_t j = 0; j < n; ++j) (pass == 0 ? k(i, j) : k(j, i)) -= mean;
        }
    }
    return k;
}

/// Eigenvalues of a symmetric matrix in ascending order, by cyclic Jacobi rotations.
inline std::vector<double> eigenvalues(Matrix<double> a) {
    const std::size_t n = a.rows();
    for (int sweep = 0; sweep < 60; ++sweep) {
        double off = 0;
        for (std::size_t p = 0; p < n; ++p) {
            for (std::size_t q = p + 1; q < n; ++q) {
                off = std::max(off, std::fabs(a(p, q)));
                if (a(p, q) == 0) continue;
                const double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
                const double t =
                    std::copysign(1 / (std::fabs(theta) + std::hypot(theta, 1)), theta);
                const double c = 1 / std::hypot(t, 1);
                const double s = t * c;
                for (std::size_t k = 0; k < n; ++k) {
                    const double kp = a(k, p);
                    const double kq = a(k, q);
                    a(k, p) = c * kp - s * kq;
                    a(k, q) = s * kp + c * kq;
                }
                for (std::size_t k = 0; k < n; ++k) {
                    const double pk = a(p, k);
                    const double qk = a(q, k);
                    a(p, k) = c * pk - s * qk;
                    a(q, k) = s * pk + c * qk;
                }
            }
        }
        if (off < 1e-300) break;
    }
    std::vector<double> result(n);
    for (std::size_t i = 0; i < n; ++i) result[i] = a(i, i);
    std::sort(result.begin(), result.end());
    return result;
}

/// The smallest eigenvalue relative to the largest in size.
inline double relative_least_eigenvalue(const Matrix<double>& k) {
    const auto values = eigenvalues(k);
    const double size = std::max(std::fabs(values.front()), std::fabs(values.back()));
    return size == 0 ? 0 : values.front() / size;
}

/// What the call complained about, or "accepted".
template <class Call>
std::string complaint(Call&& call) {
    try {
        call();
    } catch (const InvalidInput& problem) {
        return problem.what();
    }
    return "accepted";
}

}  // namespace mercer::test
