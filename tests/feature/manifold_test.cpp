// Isomap, locally linear embedding and Laplacian eigenmaps as kernels, against their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/support.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/feature/geometry.hpp"
#include "mercer/feature/spectral.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

using testing::message_of;
using Cloud = std::vector<std::vector<double>>;

Cloud roll(std::size_t n) {
    Random random(3, 0);
    Cloud points;
    for (std::size_t i = 0; i < n; ++i) {
        const double t = 3 + 6 * random.uniform(), h = 4 * random.uniform();
        points.push_back({t * std::cos(t), h, t * std::sin(t)});
    }
    return points;
}

Matrix<double> dots(const Cloud& points) {
    Matrix<double> k(points.size(), points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        for (std::size_t j = 0; j < points.size(); ++j) {
            for (std::size_t c = 0; c < points[i].size(); ++c) {
                k(i, j) += points[i][c] * points[j][c];
            }
        }
    }
    return k;
}

double distance_of(const Cloud& p, std::size_t i, std::size_t j) {
    double sum = 0;
    for (std::size_t c = 0; c < p[i].size(); ++c) sum += (p[i][c] - p[j][c]) * (p[i][c] - p[j][c]);
    return std::sqrt(sum);
}

std::vector<std::size_t> nearest(const Cloud& p, std::size_t i, std::size_t count) {
    std::vector<std::pair<double, std::size_t>> all;
    for (std::size_t j = 0; j < p.size(); ++j) {
        if (j != i) all.emplace_back(distance_of(p, i, j), j);
    }
    std::ranges::sort(all);
    std::vector<std::size_t> result;
    for (std::size_t r = 0; r < count; ++r) result.push_back(all[r].second);
    return result;
}

TEST(Manifold, IsomapHasTheShortestPathsOfFloydAndWarshall) {
    const Cloud p = roll(70);
    const std::size_t n = p.size();
    Matrix<double> d(n, n, 1e300);
    for (std::size_t i = 0; i < n; ++i) {
        d(i, i) = 0;
        for (const std::size_t j : nearest(p, i, 6)) d(i, j) = d(j, i) = distance_of(p, i, j);
    }
    for (std::size_t m = 0; m < n; ++m) {
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) d(i, j) = std::min(d(i, j), d(i, m) + d(m, j));
        }
    }
    for (double& v : d.values()) v *= -0.5 * v;
    center_gram(d.view());
    const Matrix<double> k = ManifoldFunction::parse("isomap(6)")(dots(p).view());
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) ASSERT_NEAR(k(i, j), d(i, j), 1e-9 * std::abs(d(0, 0)));
    }
    // Not a dot product: some eigenvalue is clearly below 0, and clip takes it away.
    EXPECT_LT(symmetric_eigen(k.view(), false).values.front(), -1e-3);
    const Matrix<double> repaired = apply_functions(dots(p).view(), "isomap(6) clip");
    EXPECT_GT(symmetric_eigen(repaired.view(), false).values.front(), -1e-9);
}

TEST(Manifold, IsomapOfALineIsTheLine) {
    Cloud line;
    for (int i = 0; i < 20; ++i) line.push_back({0.3 * i * 0.6, 0.3 * i * 0.8});
    Matrix<double> k = dots(line);
    const Matrix<double> flat = ManifoldFunction(ManifoldFunction::Kind::isomap, 2)(k.view());
    center_gram(k.view());
    for (std::size_t i = 0; i < 20; ++i) {
        for (std::size_t j = 0; j < 20; ++j) ASSERT_NEAR(flat(i, j), k(i, j), 1e-10);
    }
}

TEST(Manifold, LleWritesPointsAsAverages) {
    const Cloud p = roll(40);
    const std::size_t n = p.size();
    const Matrix<double> k = ManifoldFunction::parse("lle(5)")(dots(p).view());
    const Spectrum s = symmetric_eigen(k.view());
    EXPECT_NEAR(s.values.front(), 0, 1e-10);
    // The constant is an eigenvector of the largest eigenvalue, since weights sum to 1.
    for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) sum += k(i, j);
        EXPECT_NEAR(sum, s.values.back(), 1e-9);
    }
    // I − W by elimination, point by point.
    Matrix<double> rest(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto around = nearest(p, i, 5);
        double c[5][6];
        double trace = 0;
        for (std::size_t a = 0; a < 5; ++a) {
            for (std::size_t b = 0; b < 5; ++b) {
                c[a][b] = 0;
                for (std::size_t t = 0; t < 3; ++t) {
                    c[a][b] += (p[i][t] - p[around[a]][t]) * (p[i][t] - p[around[b]][t]);
                }
            }
            c[a][5] = 1;
            trace += c[a][a];
        }
        for (std::size_t a = 0; a < 5; ++a) c[a][a] += 1e-3 * trace;
        for (std::size_t a = 0; a < 5; ++a) {
            for (std::size_t b = 0; b < 5; ++b) {
                if (a == b) continue;
                const double factor = c[b][a] / c[a][a];
                for (std::size_t t = 0; t < 6; ++t) c[b][t] -= factor * c[a][t];
            }
        }
        double sum = 0;
        for (std::size_t a = 0; a < 5; ++a) sum += c[a][5] / c[a][a];
        rest(i, i) = 1;
        for (std::size_t a = 0; a < 5; ++a) rest(i, around[a]) = -c[a][5] / c[a][a] / sum;
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            double m = 0;
            for (std::size_t r = 0; r < n; ++r) m += rest(r, i) * rest(r, j);
            ASSERT_NEAR(k(i, j), (i == j ? s.values.back() : 0) - m, 1e-8) << i << ' ' << j;
        }
    }
}

TEST(Manifold, LaplacianIsThePseudoInverse) {
    const Cloud p = roll(50);
    const std::size_t n = p.size();
    const Matrix<double> k = ManifoldFunction::parse("laplacian(6)")(dots(p).view());
    Matrix<double> l(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        for (const std::size_t j : nearest(p, i, 6)) l(i, j) = l(j, i) = -1;
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) l(i, i) -= i == j ? 0 : l(i, j);
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::size_t m = 0; m < n; ++m) sum += l(i, m) * k(m, j);
            ASSERT_NEAR(sum, (i == j ? 1 : 0) - 1.0 / static_cast<double>(n), 1e-9);
        }
    }
}

TEST(Manifold, MistakesAreNamed) {
    Cloud apart{{0}, {1}, {100}, {101}, {200}, {201}};
    const Matrix<double> k = dots(apart);
    const auto about = [&](const char* text) {
        return message_of([&] { apply_functions(k.view(), text); });
    };
    EXPECT_NE(about("isomap(1)").find("3 parts"), std::string::npos);
    EXPECT_NE(about("laplacian(1)").find("3 parts"), std::string::npos);
    EXPECT_NE(about("lle(6)").find("more points"), std::string::npos);
    EXPECT_NE(about("isomap").find("isomap(7)"), std::string::npos);
    EXPECT_NE(about("isomap(0.5)").find("whole number"), std::string::npos);
    EXPECT_NE(about("clop").find("clop"), std::string::npos);
    EXPECT_NE(about(" ").find("no function"), std::string::npos);
}

}  // namespace
}  // namespace mercer
