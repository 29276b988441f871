#include "mercer/select/detail/learn_facts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/learn/calibration.hpp"

namespace mercer {
namespace {

constexpr std::size_t least_rows = 16;
constexpr std::size_t most_draws = 5;
constexpr std::size_t quantiles = 15;
constexpr std::size_t shown_levels = 12;
constexpr std::size_t shown_classes = 5;

/// Share of wrong rows, or root mean squared error.
double error_on(const Model& model, const Dataset& test) {
    const Score s = score(model.task(), model.predict_labels(test.x), test.y);
    return is_classifier(model.task()) ? 1 - s.accuracy : std::sqrt(s.mean_squared_error);
}

struct Errors {
    std::size_t rows = 0;
    std::vector<double> errors{};

    CurveSize size() const {
        CurveSize c{.rows = rows, .draws = errors.size()};
        const auto n = static_cast<double>(errors.size());
        c.error = std::accumulate(errors.begin(), errors.end(), 0.0) / n;
        for (const double e : errors) c.deviation += (e - c.error) * (e - c.error);
        c.deviation = errors.size() < 2 ? 0 : std::sqrt(c.deviation / (n - 1));
        return c;
    }
};

/// One column of the rows as a model takes them.
struct MovedColumn {
    std::size_t position = 0;
    std::string name{};
    const TableColumn* kind = nullptr;  ///< null: no table
};

std::vector<MovedColumn> moved_columns(const Dataset& data) {
    std::vector<MovedColumn> columns;
    if (data.table) {
        for (const TableColumn& c : data.table->columns()) {
            if (c.kind != ColumnKind::text) columns.push_back({columns.size(), c.name, &c});
        }
        return columns;
    }
    for (std::size_t j = 0; j < data.columns(); ++j) {
        columns.push_back({j, j < data.feature_names.size() ? data.feature_names[j]
                                                            : "column " + std::to_string(j + 1)});
    }
    return columns;
}

std::vector<double> sorted_values(const Rows& x, std::size_t column) {
    std::vector<double> row(x.columns()), values;
    for (std::size_t i = 0; i < x.size(); ++i) {
        x.copy_row(i, row);
        if (!std::isnan(row[column])) values.push_back(row[column]);
    }
    std::ranges::sort(values);
    return values;
}

std::vector<double> quantiles_of(const std::vector<double>& sorted) {
    std::vector<double> places;
    // From the 2nd to the 98th percentile: far outliers would flatten the picture.
    for (std::size_t k = 0; k < quantiles && !sorted.empty(); ++k) {
        const double q = 0.02 + 0.96 * static_cast<double>(k) / static_cast<double>(quantiles - 1);
        const auto at = static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5);
        if (places.empty() || sorted[at] > places.back()) places.push_back(sorted[at]);
    }
    return places;
}

/// The rows with one column at a value.
Rows with_column_at(const Rows& rows, std::size_t column, double value) {
    std::vector<double> values(rows.size() * rows.columns()), row(rows.columns());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows.copy_row(i, row);
        row[column] = value;
        std::ranges::copy(row, values.begin() + static_cast<std::ptrdiff_t>(i * row.size()));
    }
    Rows result = Rows::dense(std::move(values), rows.columns());
    if (rows.objects().empty()) return result;
    return result.with_objects({rows.objects().begin(), rows.objects().end()});
}

/// The classes whose lines are drawn: of two the last, of more the first few.
std::vector<std::size_t> followed_classes(const Model& model) {
    if (!is_classifier(model.task())) return {0};
    if (model.classes() == 2) return {1};
    std::vector<std::size_t> classes(std::min(model.classes(), shown_classes));
    std::iota(classes.begin(), classes.end(), 0);
    return classes;
}

std::vector<double> means_at(const Model& model, const Rows& rows,
                             const std::vector<std::size_t>& lines) {
    std::vector<double> means(lines.size(), 0.0);
    const auto n = static_cast<double>(rows.size());
    const bool classes = is_classifier(model.task());
    if (classes && has_probabilities(model)) {
        const Matrix<double> p = model.probabilities(rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (std::size_t k = 0; k < lines.size(); ++k) means[k] += p(i, lines[k]) / n;
        }
        return means;
    }
    for (const double v : model.predict(rows)) {
        for (std::size_t k = 0; k < lines.size(); ++k) {
            means[k] += (classes ? (v == static_cast<double>(lines[k]) ? 1.0 : 0.0) : v) / n;
        }
    }
    return means;
}

}  // namespace

std::vector<CurveSize> learning_curve(const MachineMaker& machine, const Dataset& train,
                                      const Dataset& test, double error, double seconds,
                                      std::uint64_t seed, Budget& budget, double time) {
    std::vector<Errors> sizes;
    for (std::size_t part = 2; part <= 32 && train.size() / part >= least_rows; part *= 2) {
        sizes.insert(sizes.begin(), {.rows = train.size() / part});
    }
    const bool classes = train.y.are_text() || is_classifier(machine({}, 1, false).task());
    const Classes names = classes ? classes_of(train.y) : Classes{};
    const double end = budget.used() + std::min(time, budget.left());
    for (std::size_t draw = 0; draw < most_draws; ++draw) {
        for (Errors& size : sizes) {
            const double share = static_cast<double>(size.rows) / static_cast<double>(train.size());
            // At least linear in the rows: a machine that would not be ready is not begun.
            if (seconds * share > end - budget.used()) continue;
            const auto rows = split_rows(train.size(), share, seed + 100 * draw + 7, names.index);
            const Dataset few = train.select(rows.test);
            const double limit = std::max(0.1, end - budget.used());
            try {
                const Model model =
                    machine(budget.until(limit, "learning curve"), limit, false).fit(few);
                budget.check();
                if (model.report().status != FitStatus::converged) continue;
                size.errors.push_back(error_on(model, test));
            } catch (const InvalidInput&) {
                continue;  // a class of which no row was drawn
            }
        }
    }
    std::vector<CurveSize> curve;
    for (const Errors& size : sizes) {
        if (!size.errors.empty()) curve.push_back(size.size());
    }
    if (curve.empty()) return curve;
    curve.push_back({.rows = train.size(), .draws = 1, .error = error});
    return curve;
}

std::vector<std::pair<std::string, double>> column_importance(const Model& model, const Rows& rows,
                                                              const Progress& progress) {
    std::map<std::string, double> mean;
    try {
        for (const Explanation& e : explain(model, rows, 1000, progress)) {
            for (const auto& [name, added] : e.columns) {
                mean[name] += std::abs(added) / static_cast<double>(rows.size());
            }
        }
    } catch (const InvalidInput&) {
        return {};
    } catch (const Cancelled&) {
        return {};
    }
    std::vector<std::pair<std::string, double>> all(mean.begin(), mean.end());
    std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.second > b.second; });
    return all;
}

std::vector<ColumnEffect> column_effects(const Model& model, const Dataset& train, const Rows& rows,
                                         const std::vector<std::string>& names,
                                         const Progress& progress) {
    const std::vector<std::size_t> lines = followed_classes(model);
    const std::vector<MovedColumn> columns = moved_columns(train);
    std::vector<ColumnEffect> effects;
    for (const std::string& name : names) {
        const auto column = std::ranges::find(columns, name, &MovedColumn::name);
        if (column == columns.end()) continue;
        ColumnEffect effect{.column = name};
        if (column->kind && !column->kind->levels.empty()) {
            effect.levels = column->kind->levels;
            if (effect.levels.size() > shown_levels) effect.levels.resize(shown_levels);
            for (std::size_t k = 0; k < effect.levels.size(); ++k) {
                effect.places.push_back(static_cast<double>(k));
            }
        } else {
            effect.places = quantiles_of(sorted_values(train.x, column->position));
            effect.date = column->kind && column->kind->kind == ColumnKind::date;
        }
        if (effect.places.size() < 2) continue;
        if (is_classifier(model.task())) {
            for (const std::size_t c : lines) effect.lines.push_back(model.class_names()[c]);
        }
        effect.means = Matrix<double>(lines.size(), effect.places.size());
        for (std::size_t k = 0; k < effect.places.size(); ++k) {
            if (!keep_going(progress, {.task = "effects of columns", .fraction = -1})) {
                return effects;
            }
            const auto means =
                means_at(model, with_column_at(rows, column->position, effect.places[k]), lines);
            for (std::size_t l = 0; l < lines.size(); ++l) effect.means(l, k) = means[l];
        }
        effects.push_back(std::move(effect));
    }
    return effects;
}

}  // namespace mercer
