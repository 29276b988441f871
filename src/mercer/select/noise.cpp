#include "mercer/select/metrics.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "mercer/base/error.hpp"

namespace mercer {
namespace {

/// Mean of |z| over the errors no larger than `most`.
double mean_size(const Labels& predicted, const Labels& truth, double most) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const double size = std::abs(truth.values[i] - predicted.values[i]);
        if (size > most) continue;
        sum += size;
        ++count;
    }
    return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace

double laplace_scale(const Labels& predicted, const Labels& truth) {
    if (predicted.size() != truth.size()) {
        throw InvalidInput("there are " + std::to_string(predicted.size()) + " predictions for " +
                           std::to_string(truth.size()) + " targets");
    }
    const double first = mean_size(predicted, truth, std::numeric_limits<double>::infinity());
    // A Laplace density of scale σ has the standard deviation √2 σ.
    return mean_size(predicted, truth, 5 * std::sqrt(2.0) * first);
}

}  // namespace mercer
