#include "mercer/select/detail/table_warnings.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <unordered_set>

#include "mercer/base/text.hpp"
#include "mercer/data/recipe.hpp"

namespace mercer {
namespace {

constexpr std::size_t too_few_rows = 100;
constexpr double rare_class = 0.05;
constexpr double too_good = 0.98;  ///< a correlation, or a share of rows told rightly

std::vector<double> column_of(const Rows& x, std::size_t j) {
    std::vector<double> row(x.columns()), values;
    for (std::size_t i = 0; i < x.size(); ++i) {
        x.copy_row(i, row);
        values.push_back(row[j]);
    }
    return values;
}

/// Places in the order of the values, equal ones sharing the mean of theirs.
std::vector<double> ranks_of(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
    std::vector<double> ranks(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t last = first;
        while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
        for (std::size_t k = first; k < last; ++k) {
            ranks[order[k]] = static_cast<double>(first + last - 1) / 2;
        }
        first = last;
    }
    return ranks;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const auto n = static_cast<double>(a.size());
    const double x = std::accumulate(a.begin(), a.end(), 0.0) / n;
    const double y = std::accumulate(b.begin(), b.end(), 0.0) / n;
    double xx = 0, yy = 0, xy = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        xx += (a[i] - x) * (a[i] - x);
        yy += (b[i] - y) * (b[i] - y);
        xy += (a[i] - x) * (b[i] - y);
    }
    return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

/// The share of rows told rightly by saying the most frequent class of each value, where values
/// repeat; 0 where they do not.
double told_by_value(const std::vector<double>& values, const std::vector<std::int32_t>& classes) {
    std::map<double, std::map<std::int32_t, std::size_t>> counts;
    for (std::size_t i = 0; i < values.size(); ++i) {
        ++counts[std::isnan(values[i]) ? -1e300 : values[i]][classes[i]];
    }
    if (counts.size() * 5 > values.size()) return 0;
    std::size_t right = 0;
    for (const auto& [value, by_class] : counts) {
        std::size_t most = 0;
        for (const auto& [c, count] : by_class) most = std::max(most, count);
        right += most;
    }
    return static_cast<double>(right) / static_cast<double>(values.size());
}

/// Names of the columns that know the target.
std::vector<std::string> leaks(const Dataset& data, bool numbers) {
    std::vector<std::string> found;
    if (data.columns() > 1000 || data.size() < 20 || data.columns() < 2) return found;
    const std::vector<double> target = numbers ? ranks_of(data.y.values) : std::vector<double>{};
    const Classes classes = numbers ? Classes{} : classes_of(data.y);
    double baseline = 0;
    if (!numbers) {
        std::vector<std::size_t> count(classes.count(), 0);
        for (const std::int32_t c : classes.index) ++count[static_cast<std::size_t>(c)];
        baseline = static_cast<double>(std::ranges::max(count)) / static_cast<double>(data.size());
    }
    for (std::size_t j = 0; j < data.columns(); ++j) {
        const std::vector<double> values = column_of(data.x, j);
        bool leak = false;
        if (numbers) {
            const bool whole = std::ranges::none_of(values, [](double v) { return std::isnan(v); });
            leak = whole && std::abs(correlation(ranks_of(values), target)) > too_good;
        } else {
            leak = baseline < 0.9 && told_by_value(values, classes.index) > too_good;
        }
        if (!leak) continue;
        found.push_back(j < data.feature_names.size() ? quoted(data.feature_names[j])
                                                      : std::to_string(j + 1));
    }
    return found;
}

std::string row_bytes(const Dataset& data, std::size_t i, std::vector<double>& row) {
    std::string bytes;
    data.x.copy_row(i, row);
    for (const double v : row) {
        const auto bits = std::bit_cast<std::uint64_t>(v);
        bytes.append(reinterpret_cast<const char*>(&bits), sizeof bits);
    }
    for (const ObjectColumn& column : data.x.objects()) {
        if (column.kind() == ObjectKind::text) bytes += std::string(column.text(i)) + '\0';
    }
    return bytes;
}

}  // namespace

std::vector<std::string> table_warnings(const Dataset& data, bool numbers) {
    std::vector<std::string> warnings;
    if (data.size() < too_few_rows) {
        warnings.push_back("there are only " + std::to_string(data.size()) +
                           " rows: the error is known roughly, and the choice of settings is luck "
                           "in part");
    }
    if (!numbers) {
        const Classes classes = classes_of(data.y);
        std::vector<std::size_t> count(classes.count(), 0);
        for (const std::int32_t c : classes.index) ++count[static_cast<std::size_t>(c)];
        const auto least = std::ranges::min_element(count);
        if (static_cast<double>(*least) < rare_class * static_cast<double>(data.size())) {
            const auto c = static_cast<std::size_t>(least - count.begin());
            warnings.push_back(
                "classes are unbalanced: " + quoted(classes.names[c]) + " has " +
                std::to_string(*least) + " of " + std::to_string(data.size()) +
                " rows; look at recall and balanced accuracy, not at accuracy alone");
        }
    }
    for (const std::string& name : leaks(data, numbers)) {
        warnings.push_back("leakage suspected: the column " + name +
                           " tells the target nearly by itself; is it known when a prediction is "
                           "wanted? Else leave it out");
    }
    return warnings;
}

std::string order_of_time(const Dataset& data) {
    const std::size_t n = data.size();
    if (n < 20 || data.columns() > 1000) return {};
    const std::vector<double>& y = data.y.values;
    const std::vector<double> before(y.begin(), y.end() - 1), after(y.begin() + 1, y.end());
    // Beyond what independent rows reach by chance in one of a thousand tables.
    const double alike = correlation(ranks_of(before), ranks_of(after));
    if (alike * std::sqrt(static_cast<double>(n - 1)) < 3.1 || alike < 0.3) return {};
    for (std::size_t j = 0; j < data.columns(); ++j) {
        const std::vector<double> values = column_of(data.x, j);
        std::size_t rises = 0;
        bool falls = false;
        for (std::size_t i = 1; i < n && !falls; ++i) {
            falls = !(values[i] >= values[i - 1]);
            rises += values[i] > values[i - 1] ? 1 : 0;
        }
        if (falls || 2 * rises < n) continue;
        const std::string name =
            j < data.feature_names.size() ? quoted(data.feature_names[j]) : std::to_string(j + 1);
        return "rows seem to be in the order of time: the column " + name +
               " rises from row to row, and targets of neighbouring rows are alike. Rows set aside "
               "at random lie between others, so the error is that of filling gaps; for what comes "
               "later use `by_time=true`";
    }
    return {};
}

std::size_t rows_on_both_sides(const Dataset& data, const Split& split) {
    std::unordered_set<std::string> seen;
    std::vector<double> row(data.columns());
    for (const std::size_t i : split.train) seen.insert(row_bytes(data, i, row));
    std::size_t count = 0;
    for (const std::size_t i : split.test) count += seen.contains(row_bytes(data, i, row)) ? 1 : 0;
    return count;
}

}  // namespace mercer
