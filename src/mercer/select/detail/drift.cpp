#include "mercer/select/detail/drift.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "mercer/base/text.hpp"
#include "mercer/data/recipe.hpp"

namespace mercer {
namespace {

constexpr double level = 0.01;          ///< of all columns together
constexpr double least_distance = 0.1;  ///< what many rows prove may still not matter

/// Values of one column on one side, from the rows at these positions.
std::vector<std::vector<double>> columns_at(const Dataset& data,
                                            const std::vector<std::size_t>& rows) {
    std::vector<std::vector<double>> columns(data.columns());
    std::vector<double> row(data.columns());
    for (const std::size_t i : rows) {
        data.x.copy_row(i, row);
        for (std::size_t j = 0; j < row.size(); ++j) columns[j].push_back(row[j]);
    }
    return columns;
}

/// How often each level occurs; what is not a number counts behind the last.
std::vector<std::size_t> counts_of(const std::vector<double>& values, std::size_t levels) {
    std::vector<std::size_t> counts(levels + 1, 0);
    for (const double v : values) {
        const bool known = v >= 0 && v < static_cast<double>(levels);
        ++counts[known ? static_cast<std::size_t>(v) : levels];
    }
    return counts;
}

std::vector<std::size_t> class_counts(const Classes& classes,
                                      const std::vector<std::size_t>& rows) {
    std::vector<std::size_t> counts(classes.count(), 0);
    for (const std::size_t i : rows) ++counts[static_cast<std::size_t>(classes.index[i])];
    return counts;
}

std::vector<double> targets_at(const Labels& y, const std::vector<std::size_t>& rows) {
    std::vector<double> values;
    for (const std::size_t i : rows) values.push_back(y.values[i]);
    return values;
}

ColumnDrift told(const std::string& column, bool by_levels, const TwoSamples& found) {
    return {.column = column,
            .test = by_levels ? "chi-square" : "Kolmogorov-Smirnov",
            .distance = found.distance,
            .p_value = found.p_value};
}

}  // namespace

double gamma_tail(double a, double x) {
    if (x <= 0) return 1;
    const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int n = 1; n < 10'000 && term > 1e-16 * sum; ++n) sum += term *= x / (a + n);
        return std::clamp(1 - front * sum, 0.0, 1.0);
    }
    // Lentz's method for the continued fraction.
    constexpr double tiny = 1e-300;
    double b = x + 1 - a, c = 1 / tiny, d = 1 / b, value = d;
    for (int n = 1; n < 10'000; ++n) {
        const double step = -n * (n - a);
        b += 2;
        d = step * d + b;
        d = 1 / (std::abs(d) < tiny ? tiny : d);
        c = b + step / c;
        if (std::abs(c) < tiny) c = tiny;
        value *= c * d;
        if (std::abs(c * d - 1) < 1e-15) break;
    }
    return std::clamp(front * value, 0.0, 1.0);
}

TwoSamples kolmogorov_smirnov(std::vector<double> first, std::vector<double> second) {
    for (std::vector<double>* side : {&first, &second}) {
        std::erase_if(*side, [](double v) { return std::isnan(v); });
        std::ranges::sort(*side);
    }
    if (first.size() < 2 || second.size() < 2) return {};
    const auto n = static_cast<double>(first.size());
    const auto m = static_cast<double>(second.size());
    TwoSamples found;
    for (std::size_t i = 0, k = 0; i < first.size() && k < second.size();) {
        const double at = std::min(first[i], second[k]);
        while (i < first.size() && first[i] == at) ++i;
        while (k < second.size() && second[k] == at) ++k;
        found.distance = std::max(
            found.distance, std::abs(static_cast<double>(i) / n - static_cast<double>(k) / m));
    }
    const double root = std::sqrt(n * m / (n + m));
    const double lambda = (root + 0.12 + 0.11 / root) * found.distance;
    if (lambda < 0.2) return found;  // there the series is 1 to all digits
    double sum = 0;
    for (int j = 1; j <= 100; ++j) {
        const double term = std::exp(-2.0 * j * j * lambda * lambda);
        sum += j % 2 == 1 ? term : -term;
        if (term < 1e-18) break;
    }
    found.p_value = std::clamp(2 * sum, 0.0, 1.0);
    return found;
}

TwoSamples chi_square(const std::vector<std::size_t>& first,
                      const std::vector<std::size_t>& second) {
    double n = 0, m = 0;
    for (const std::size_t c : first) n += static_cast<double>(c);
    for (const std::size_t c : second) m += static_cast<double>(c);
    if (n == 0 || m == 0) return {};
    TwoSamples found;
    double statistic = 0, rare_first = 0, rare_second = 0;
    std::size_t groups = 0;
    const auto add = [&](double a, double b) {
        const double all = a + b, p = n / (n + m);
        if (all == 0) return;
        statistic += (a - all * p) * (a - all * p) / (all * p) +
                     (b - all * (1 - p)) * (b - all * (1 - p)) / (all * (1 - p));
        ++groups;
    };
    for (std::size_t k = 0; k < first.size(); ++k) {
        const auto a = static_cast<double>(first[k]);
        const auto b = static_cast<double>(second[k]);
        found.distance += 0.5 * std::abs(a / n - b / m);
        if ((a + b) * std::min(n, m) / (n + m) < 5) {
            rare_first += a;
            rare_second += b;
        } else {
            add(a, b);
        }
    }
    add(rare_first, rare_second);
    if (groups > 1) found.p_value = gamma_tail(static_cast<double>(groups - 1) / 2, statistic / 2);
    return found;
}

std::vector<ColumnDrift> column_drift(const Dataset& data, const Split& split, bool numbers) {
    std::vector<ColumnDrift> drift;
    const auto train = columns_at(data, split.train);
    const auto test = columns_at(data, split.test);
    std::vector<const TableColumn*> kinds;
    if (data.table) {
        for (const TableColumn& c : data.table->columns()) {
            if (c.kind != ColumnKind::text) kinds.push_back(&c);
        }
    }
    for (std::size_t j = 0; j < data.columns(); ++j) {
        const TableColumn* kind = j < kinds.size() ? kinds[j] : nullptr;
        const std::string name = kind ? kind->name
                                 : j < data.feature_names.size()
                                     ? data.feature_names[j]
                                     : "column " + std::to_string(j + 1);
        const bool levels = kind && !kind->levels.empty();
        const std::size_t count = levels ? kind->levels.size() : 0;
        drift.push_back(told(name, levels,
                             levels
                                 ? chi_square(counts_of(train[j], count), counts_of(test[j], count))
                                 : kolmogorov_smirnov(train[j], test[j])));
    }
    const std::string target = data.roles.label_name.empty() ? "the target" : data.roles.label_name;
    if (numbers) {
        drift.push_back(told(
            target, false,
            kolmogorov_smirnov(targets_at(data.y, split.train), targets_at(data.y, split.test))));
    } else {
        const Classes classes = classes_of(data.y);
        drift.push_back(told(
            target, true,
            chi_square(class_counts(classes, split.train), class_counts(classes, split.test))));
    }
    const double limit = level / static_cast<double>(drift.size());
    for (ColumnDrift& d : drift) d.differs = d.p_value < limit && d.distance > least_distance;
    return drift;
}

std::vector<std::string> drift_warnings(const std::vector<ColumnDrift>& drift) {
    std::vector<const ColumnDrift*> found;
    for (const ColumnDrift& d : drift) {
        if (d.differs) found.push_back(&d);
    }
    if (found.empty()) return {};
    std::ranges::stable_sort(
        found, [](const auto* a, const auto* b) { return a->distance > b->distance; });
    std::string names;
    for (std::size_t k = 0; k < std::min<std::size_t>(found.size(), 5); ++k) {
        char distance[32];
        std::snprintf(distance, sizeof distance, " (by %.2f)", found[k]->distance);
        names += (k == 0 ? "" : ", ") + quoted(found[k]->column) + distance;
    }
    if (found.size() > 5) names += " and " + std::to_string(found.size() - 5) + " more";
    return {"drift: the rows set aside are distributed otherwise than those learnt from in " +
            names + "; what comes later may differ further, and the error with it"};
}

}  // namespace mercer
