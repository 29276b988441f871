// The small factor against the definition, at every vector level of this processor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mercer/base/detail/simd.hpp"
#include "mercer/base/random.hpp"
#include "mercer/solver/linear/detail/small_cholesky.hpp"

namespace mercer::testing {
namespace {

Matrix<double> positive_matrix(std::size_t n) {
    Random random(n);
    Matrix<double> g(n, n + 2), a(n, n);
    for (double& value : g.values()) value = random.normal();
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            for (std::size_t k = 0; k < n + 2; ++k) a(i, j) += g(i, k) * g(j, k);
        }
        a(i, i) += 1;
    }
    return a;
}

TEST(SmallCholesky, FactorsAndSolves) {
    for (const std::string& level : simd_levels()) {
        use_simd_level(level);
        for (const std::size_t n : {1U, 2U, 7U, 8U, 16U, 17U, 31U, 64U, 101U}) {
            const Matrix<double> a = positive_matrix(n);
            Matrix<double> l = a;
            ASSERT_TRUE(small_cholesky(l.view()));
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j <= i; ++j) {
                    double sum = 0;
                    for (std::size_t k = 0; k <= j; ++k) sum += l(i, k) * l(j, k);
                    ASSERT_NEAR(sum, a(i, j), 1e-11 * a(i, i)) << level << ' ' << n;
                }
            }
            std::vector<double> x(n, 1.0);
            small_cholesky_solve(std::as_const(l).view(), x);
            for (std::size_t i = 0; i < n; ++i) {
                double sum = 0;
                for (std::size_t j = 0; j < n; ++j) sum += a(i, j) * x[j];
                ASSERT_NEAR(sum, 1, 1e-9) << level << ' ' << n;
            }
        }
    }
    use_simd_level("");
}

TEST(SmallCholesky, SolvesFromTheFirstEntryThatIsNotZero) {
    for (const std::string& level : simd_levels()) {
        use_simd_level(level);
        for (const std::size_t n : {1U, 9U, 33U, 101U}) {
            Matrix<double> l = positive_matrix(n);
            ASSERT_TRUE(small_cholesky(l.view()));
            for (std::size_t k = 0; k < n; k += 4) {
                std::vector<double> whole(n, 0.0);
                whole[k] = 1;
                std::vector<double> from = whole;
                small_cholesky_solve(std::as_const(l).view(), whole);
                small_cholesky_solve(std::as_const(l).view(), from, k);
                for (std::size_t i = 0; i < n; ++i) {
                    ASSERT_NEAR(from[i], whole[i], 1e-12) << level << ' ' << n << ' ' << k;
                }
            }
        }
    }
    use_simd_level("");
}

TEST(SmallCholesky, RefusesWhatIsNotPositiveDefinite) {
    for (const std::size_t n : {1U, 9U, 40U}) {
        for (const double wrong : {-1e9, static_cast<double>(NAN), HUGE_VAL}) {
            Matrix<double> a = positive_matrix(n);
            a(n - 1, n - 1) = wrong;
            EXPECT_FALSE(small_cholesky(a.view()));
        }
    }
}

}  // namespace
}  // namespace mercer::testing
