#include <algorithm>
#include <cmath>
#include <numbers>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/data/table/detail/cells.hpp"

namespace mercer {
namespace {

/// So many times the distance from the median to the quartiles are far out: a normal sample of a
/// million has none beyond 8 of them.
constexpr double far_out = 12;
constexpr double days_a_year = 365.2425;

double quantile_of(const std::vector<double>& sorted, double q) {
    const double at = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double t = at - static_cast<double>(below);
    return (1 - t) * sorted[below] + t * sorted[above];
}

/// The columns of numbers among those of a table.
std::vector<const TableColumn*> number_columns(const TableColumns& columns) {
    std::vector<const TableColumn*> result;
    for (const TableColumn& column : columns.columns()) {
        if (column.kind != ColumnKind::text) result.push_back(&column);
    }
    return result;
}

bool is_measured(ColumnKind kind) {
    return kind == ColumnKind::number || kind == ColumnKind::date;
}

/// Mean and deviation, and before that what bends a column whose values lie far apart.
void fit_measure(std::vector<double> values, Recipe::Fitted& fitted) {
    if (values.empty()) {
        fitted.spread = 0;
        return;
    }
    std::ranges::sort(values);
    fitted.fill = quantile_of(values, 0.5);
    const double low = quantile_of(values, 0.25);
    const double high = quantile_of(values, 0.75);
    double reach = std::max(fitted.fill - low, high - fitted.fill);
    if (reach == 0) {
        // More than half of the values are one: the others tell how far they go.
        double sum = 0;
        for (const double v : values) sum += std::abs(v - fitted.fill);
        reach = sum / static_cast<double>(values.size());
    }
    const double farthest = std::max(values.back() - fitted.fill, fitted.fill - values.front());
    fitted.bent =
        values.size() >= 20 && reach > 0 && std::isfinite(farthest) && farthest > far_out * reach;
    if (fitted.bent) {
        fitted.middle = fitted.fill;
        fitted.reach = reach;
        for (double& v : values) v = std::asinh((v - fitted.middle) / fitted.reach);
    }
    // Shifted by a value of the column, so that large means cost no digits.
    const double shift = values[values.size() / 2];
    double sum = 0, squares = 0;
    for (const double v : values) sum += v - shift;
    const double mean = sum / static_cast<double>(values.size());
    for (const double v : values) squares += (v - shift - mean) * (v - shift - mean);
    fitted.center = shift + mean;
    fitted.spread = std::sqrt(squares / static_cast<double>(values.size()));
    if (!std::isfinite(fitted.center) || !std::isfinite(fitted.spread)) {
        throw InvalidInput("a column's numbers are too large to take their mean");
    }
}

double measured(const Recipe::Fitted& f, double value) {
    if (std::isnan(value)) value = f.fill;
    if (f.bent) value = std::asinh((value - f.middle) / f.reach);
    return f.spread == 0 ? 0 : (value - f.center) / f.spread;
}

/// The parts of a date beside the day itself.
struct DatePart {
    const char* name;
    double (*turn)(double days);  ///< a fraction of a round
};

double year_turn(double days) {
    const auto day = static_cast<long long>(std::floor(days));
    const tables::Civil civil = tables::civil_from_days(day);
    const long long first = tables::days_from_civil(civil.year, 1, 1);
    return static_cast<double>(day - first) / days_a_year;
}
double week_turn(double days) {
    return (std::floor(days) + 3) / 7;  // 1970-01-01 was a Thursday
}
double day_turn(double days) {
    return days - std::floor(days);
}
constexpr DatePart date_parts[] = {{"year", year_turn}, {"week", week_turn}, {"hour", day_turn}};

/// How many parts a column of dates has: the hour where some cell has one.
std::size_t parts_of(const TableColumn& column) {
    return column.has_time ? 3 : 2;
}

std::size_t width_of(const TableColumn& column) {
    const std::size_t gap = column.gaps ? 1 : 0;
    switch (column.kind) {
        case ColumnKind::number:
        case ColumnKind::yes_no: return 1 + gap;
        case ColumnKind::date: return 1 + 2 * parts_of(column) + gap;
        case ColumnKind::category: return column.levels.size() + (column.more_levels ? 1 : 0) + gap;
        default: return 0;
    }
}

/// Where a level, or a gap, stands among the features of its column.
std::size_t level_place(const TableColumn& column, double value) {
    if (std::isnan(value)) return column.levels.size() + (column.more_levels ? 1 : 0);
    return std::min(static_cast<std::size_t>(value), column.levels.size());
}

void write_column(const TableColumn& column, const Recipe::Fitted& f, double value, float* out) {
    const std::size_t width = width_of(column);
    const bool missing = std::isnan(value);
    if (column.gaps && column.kind != ColumnKind::category) out[width - 1] = missing ? 1 : 0;
    switch (column.kind) {
        case ColumnKind::number: out[0] = static_cast<float>(measured(f, value)); break;
        // Apart by 1, as two levels of a category are by √2 and a column of numbers in the mean.
        case ColumnKind::yes_no: out[0] = static_cast<float>(missing ? f.fill : value); break;
        case ColumnKind::date: {
            const double day = missing ? f.fill : value;
            out[0] = static_cast<float>(measured(f, value));
            for (std::size_t p = 0; p < parts_of(column); ++p) {
                const double angle = 2 * std::numbers::pi * date_parts[p].turn(day);
                out[1 + 2 * p] = static_cast<float>(std::sin(angle));
                out[2 + 2 * p] = static_cast<float>(std::cos(angle));
            }
            break;
        }
        case ColumnKind::category: {
            const std::size_t place = level_place(column, value);
            // What the fit has not seen is like no level, rather than far from all of them.
            if (place < width && f.seen[place]) out[place] = 1;
            break;
        }
        default: break;
    }
}

}  // namespace

Recipe Recipe::fit(std::shared_ptr<const TableColumns> columns, const Rows& rows) {
    const auto numbers = number_columns(*columns);
    if (rows.size() == 0) throw InvalidInput("there are no rows to fit a recipe on");
    if (rows.columns() != numbers.size()) {
        throw InvalidInput("the rows have " + std::to_string(rows.columns()) +
                           " columns, and the table has " + std::to_string(numbers.size()) +
                           " that are no texts");
    }
    std::vector<Fitted> fitted(numbers.size());
    std::vector<std::vector<double>> values(numbers.size());
    std::vector<double> row(rows.columns());
    for (std::size_t c = 0; c < numbers.size(); ++c) {
        if (numbers[c]->kind == ColumnKind::category) {
            fitted[c].seen.assign(width_of(*numbers[c]), false);
        }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows.copy_row(i, row);
        for (std::size_t c = 0; c < numbers.size(); ++c) {
            if (numbers[c]->kind == ColumnKind::category) {
                const std::size_t place = level_place(*numbers[c], row[c]);
                if (place < fitted[c].seen.size()) fitted[c].seen[place] = true;
            } else if (!std::isnan(row[c])) {
                values[c].push_back(row[c]);
            }
        }
    }
    for (std::size_t c = 0; c < numbers.size(); ++c) {
        if (is_measured(numbers[c]->kind)) {
            fit_measure(std::move(values[c]), fitted[c]);
        } else if (numbers[c]->kind == ColumnKind::yes_no && !values[c].empty()) {
            double sum = 0;
            for (const double v : values[c]) sum += v;
            fitted[c].fill = sum / static_cast<double>(values[c].size());
        }
    }
    return Recipe(std::move(columns), std::move(fitted));
}

Recipe::Recipe(std::shared_ptr<const TableColumns> columns, std::vector<Fitted> fitted)
    : columns_(std::move(columns)), fitted_(std::move(fitted)) {
    const auto numbers = number_columns(*columns_);
    if (fitted_.size() != numbers.size()) {
        throw InvalidInput("a recipe for " + std::to_string(fitted_.size()) + " columns of " +
                           std::to_string(numbers.size()));
    }
    for (std::size_t c = 0; c < numbers.size(); ++c) {
        const Fitted& f = fitted_[c];
        const bool finite = std::isfinite(f.fill) && std::isfinite(f.middle) &&
                            std::isfinite(f.reach) && std::isfinite(f.center) &&
                            std::isfinite(f.spread);
        const std::size_t levels =
            numbers[c]->kind == ColumnKind::category ? width_of(*numbers[c]) : 0;
        if (finite && f.reach > 0 && f.spread >= 0 && f.seen.size() == levels &&
            std::abs(f.fill) < 1e300) {
            continue;
        }
        throw InvalidInput("the recipe of the column " + quoted(numbers[c]->name) +
                           " has numbers that cannot be");
    }
}

std::vector<std::string> Recipe::names() const {
    std::vector<std::string> names;
    for (const TableColumn* column : number_columns(*columns_)) {
        const std::string& own = column->name;
        if (column->kind == ColumnKind::category) {
            for (const std::string& level : column->levels) names.push_back(own + "=" + level);
            if (column->more_levels) names.push_back(own + " is another");
        } else {
            names.push_back(own);
        }
        for (std::size_t p = 0; column->kind == ColumnKind::date && p < parts_of(*column); ++p) {
            names.push_back(own + ": sin of " + date_parts[p].name);
            names.push_back(own + ": cos of " + date_parts[p].name);
        }
        if (column->gaps) names.push_back(own + " is missing");
    }
    return names;
}

std::vector<std::size_t> Recipe::sources() const {
    std::vector<std::size_t> sources;
    for (std::size_t k = 0; k < columns_->columns().size(); ++k) {
        sources.insert(sources.end(), width_of(columns_->columns()[k]), k);
    }
    return sources;
}

Rows Recipe::apply(const Rows& rows) const {
    const auto numbers = number_columns(*columns_);
    if (rows.columns() != numbers.size()) {
        throw InvalidInput("the rows have " + std::to_string(rows.columns()) +
                           " columns; the table trained on has " + std::to_string(numbers.size()) +
                           " that are no texts");
    }
    std::size_t width = 0;
    for (const TableColumn* column : numbers) width += width_of(*column);
    if (width == 0) return rows;
    std::vector<float> values(rows.size() * width, 0.0F);
    std::vector<double> row(rows.columns());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows.copy_row(i, row);
        float* out = values.data() + i * width;
        for (std::size_t c = 0; c < numbers.size(); ++c) {
            // Infinite numbers stay: whoever learns or predicts names them.
            write_column(*numbers[c], fitted_[c], row[c], out);
            out += width_of(*numbers[c]);
        }
    }
    Rows result = Rows::dense(std::move(values), width);
    if (!rows.objects().empty()) {
        result = result.with_objects({rows.objects().begin(), rows.objects().end()});
    }
    std::vector<std::size_t> origins;
    for (std::size_t i = 0; i < rows.size(); ++i) origins.push_back(rows.origin(i));
    return result.with_origins(std::move(origins));
}

Dataset prepared(const Dataset& data) {
    if (!data.table) return data;
    const Recipe recipe = Recipe::fit(data.table, data.x);
    Dataset result = data;
    result.x = recipe.apply(data.x);
    result.feature_names = recipe.names();
    result.table = nullptr;
    return result;
}

}  // namespace mercer
