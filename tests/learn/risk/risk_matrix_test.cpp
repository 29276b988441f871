// Systems of Newton's method with a stored matrix: by a factor in single precision, refined, or by
// a double one, they are solved all the same.
#include "mercer/learn/risk/detail/risk_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/gram/operators.hpp"

namespace mercer {
namespace {

/// ‖(K_AA + D) x − b‖ / ‖b‖ for some rows A, with D between two powers of ten.
double residual(const Matrix<double>& k, const std::vector<std::size_t>& which, double least,
                double most) {
    Random random(5, 0);
    const std::size_t m = which.size();
    std::vector<double> diagonal(m), b(m);
    for (std::size_t i = 0; i < m; ++i) {
        diagonal[i] = std::pow(10.0, least + (most - least) * random.uniform());
        b[i] = random.uniform() - 0.5;
    }
    Matrix<double> x(1, m);
    std::ranges::copy(b, x.row(0).begin());
    EXPECT_TRUE(StoredRiskMatrix(k.view()).solve(which, diagonal, x.view(), {}));
    double off = 0, length = 0;
    for (std::size_t r = 0; r < m; ++r) {
        double image = diagonal[r] * x(0, r);
        for (std::size_t c = 0; c < m; ++c) image += k(which[r], which[c]) * x(0, c);
        off += (image - b[r]) * (image - b[r]);
        length += b[r] * b[r];
    }
    return std::sqrt(off / length);
}

TEST(StoredRiskMatrix, SystemsOfAllRowsAndOfSomeAreSolved) {
    const Dataset data = embedded("digits");
    const auto gram = make_gram<double>(rbf({.gamma = 0.001}), data.x);
    const std::size_t n = gram.size();
    Matrix<double> k(n, n);
    gram.matrix(k.view());
    std::vector<std::size_t> all(n), some, most, few, backwards(n);
    std::iota(all.begin(), all.end(), std::size_t{0});
    for (std::size_t i = 0; i < n; ++i) {
        backwards[i] = n - 1 - i;
        if (i % 5 < 2) some.push_back(i);
        if (i % 20 != 0) most.push_back(i);
        if (i % 10 == 3) few.push_back(i);
    }
    for (const auto& which : {all, some, most, few, backwards}) {
        EXPECT_LT(residual(k, which, -1, 3), 1e-9) << which.size();
        EXPECT_LT(residual(k, which, 0, 12), 1e-9) << which.size();
        EXPECT_LT(residual(k, which, -9, -8), 1e-4) << which.size();  // only a double factor can
    }
}

TEST(StoredRiskMatrix, WhatIsNotPositiveDefiniteIsSaid) {
    const std::size_t n = 600;
    Matrix<double> k(n, n);
    for (std::size_t i = 0; i < n; ++i) k(i, i) = i == 400 ? -5 : 1;
    std::vector<std::size_t> all(n);
    std::iota(all.begin(), all.end(), std::size_t{0});
    Matrix<double> b(1, n, 1.0);
    EXPECT_FALSE(StoredRiskMatrix(k.view()).solve(all, std::vector<double>(n, 0.5), b.view(), {}));
}

}  // namespace
}  // namespace mercer
