// Whether two samples of a table's rows come from one distribution, column by column.
#pragma once

#include <cstddef>
#include <vector>

#include "mercer/data/dataset.hpp"
#include "mercer/select/automatic.hpp"

namespace mercer {

struct TwoSamples {
    double distance = 0;
    double p_value = 1;
};
/// The largest distance of the two distribution functions; the p-value by Kolmogorov's limit with
/// Stephens' (1970) correction for small samples, too large rather than too small where values are
/// tied. Values that are not numbers are left out; without two on either side the p-value is 1.
TwoSamples kolmogorov_smirnov(std::vector<double> first, std::vector<double> second);

/// Pearson's test that the counts of levels have the same shares; levels that are expected fewer
/// than five times on a side are taken together. The distance is half the sum of the differences
/// of shares.
TwoSamples chi_square(const std::vector<std::size_t>& first,
                      const std::vector<std::size_t>& second);

/// The upper tail Q(a, x) of the gamma distribution (Abramowitz and Stegun 6.5.29 and 6.5.31).
double gamma_tail(double a, double x);

/// One entry a column that is no text, and one for the target, in that order.
std::vector<ColumnDrift> column_drift(const Dataset& data, const Split& split, bool numbers);

/// What to say of it.
std::vector<std::string> drift_warnings(const std::vector<ColumnDrift>& drift);

}  // namespace mercer
