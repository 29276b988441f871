// Kernel expressions and random rows shared by the tests of the Gram room.
#pragma once

#include <string>
#include <vector>

#include "mercer/base/random.hpp"
#include "mercer/data/rows.hpp"

namespace mercer::testing {

/// Every kernel and every operation at least once; all fit rows of 8 or more columns with entries
/// in [0, 1].
inline const std::vector<std::string>& expressions() {
    static const std::vector<std::string> list = {
        "linear",
        "polynomial(degree=3, gamma=0.2, coef0=1)",
        "polynomial(degree=2, coef0=0)",
        "rbf(gamma=0.3)",
        "rbf(sigma=1.5)",
        "rbf(c=2)",
        "rbf(width=3)",
        "rbf(gamma=scale)",
        "rbf(gamma=auto)",
        "laplacian(gamma=0.1)",
        "laplacian(gamma=0.4, norm=2)",
        "sigmoid(gamma=0.1, coef0=-0.2)",
        "logistic(beta=0.3, theta=1)",
        "expdot(gamma=0.05)",
        "outer(1 + x0^2 - sin(x1))",
        "ball(radius=1.1)",
        "negative_distance(beta=1.5)",
        "negative_distance(beta=2)",
        "anova(gamma=0.7, degree=3)",
        "inverse_multiquadric(c=0.8)",
        "matern(nu=0.5, length=1.3)",
        "matern(nu=1.5, length=1.3)",
        "matern(nu=2.5, length=1.3)",
        "rational_quadratic(alpha=0.7, length=1.2)",
        "periodic(period=0.9, length=2)",
        "chi2(gamma=0.2)",
        "additive_chi2",
        "intersection",
        "0.5*linear + 2*rbf(gamma=0.1) + 1",
        "linear - 0.3*rbf(gamma=1)",
        "rbf(gamma=0.3)*polynomial(degree=2)",
        "(linear + 1)^4",
        "rbf(gamma=0.3)^0.5",
        "exp(0.1*linear)",
        "normalize(polynomial(degree=3))",
        "normalize(linear + intersection)",
        "center(rbf(gamma=0.4))",
        "normalize(center(rbf(gamma=0.4) + linear))",
        "rbf_of(polynomial(degree=2), gamma=0.05)",
        "rbf_of(center(linear), gamma=0.2)",
        "rbf(gamma=0.4)[0:4] + linear[4,6,5] * rbf(gamma=2)[7]",
        "map(rbf(gamma=0.5), x0*x1, x2^2, cos(x3))",
        "map(linear[0:2], x0, sqrt(x1), 1)",
        "outer(x0)*rbf(gamma=0.4)",
        "(linear[0:3] + rbf(gamma=1)[0:3])^2 + 0.1*exp(linear[3:5])",
    };
    return list;
}

/// Rows with entries in [0, 1), `share` of them not zero.
inline Rows random_rows(std::size_t n, std::size_t columns, double share, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> values(n * columns, 0.0);
    for (double& value : values) {
        if (random.uniform() < share) value = random.uniform();
    }
    return Rows::dense(std::move(values), columns);
}

/// Rows whose entries are bytes / 255, as images are.
inline Rows byte_rows(std::size_t n, std::size_t columns, std::uint64_t seed) {
    Random random(seed);
    std::vector<float> values(n * columns);
    for (float& value : values) value = static_cast<float>(random.below(256)) / 255.0F;
    return Rows::dense(std::move(values), columns);
}

inline std::vector<double> row_of(const Rows& rows, std::size_t i) {
    std::vector<double> row(rows.columns());
    rows.copy_row(i, row);
    return row;
}

}  // namespace mercer::testing
