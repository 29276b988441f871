#include "mercer/learn/risk/detail/loss_tile.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "mercer/base/detail/vector_math.hpp"

namespace mercer {
namespace {

/// Exponentials and logarithms are taken of all rows together.
void evaluate_logistic(const double* y, std::size_t n, bool with_value, LossTile& b) {
    double* const e = b.value.data();
    for (std::size_t k = 0; k < n; ++k) e[k] = -std::fabs(b.z[k]);
    vector_exp({e, n});
    for (std::size_t k = 0; k < n; ++k) {
        const double inverse = 1 / (1 + e[k]), share = e[k] * inverse;
        b.slope[k] = -y[k] * (y[k] * b.z[k] >= 0 ? share : inverse);
        b.curvature[k] = share * inverse;
        e[k] += 1;
    }
    if (!with_value) return;
    vector_log({e, n});
    for (std::size_t k = 0; k < n; ++k) b.value[k] += std::max(0.0, -y[k] * b.z[k]);
}

void evaluate_squared_hinge(const double* y, std::size_t n, LossTile& b) {
    for (std::size_t k = 0; k < n; ++k) {
        const double slack = std::max(0.0, 1 - y[k] * b.z[k]);
        b.value[k] = slack * slack;
        b.slope[k] = -2 * y[k] * slack;
        b.curvature[k] = slack > 0 ? 2 : 0;
    }
}

}  // namespace

void LossTile::evaluate(const LossFunction& loss, const double* y, std::size_t n, bool with_value) {
    if (loss.loss == Loss::logistic) return evaluate_logistic(y, n, with_value, *this);
    if (loss.loss == Loss::squared_hinge) return evaluate_squared_hinge(y, n, *this);
    for (std::size_t k = 0; k < n; ++k) {
        value[k] = loss.value(y[k], z[k]);
        slope[k] = loss.slope(y[k], z[k]);
        curvature[k] = loss.curvature(y[k], z[k]);
    }
}

}  // namespace mercer
