// A model as programs: its recipe and scaling, its expansion, and what follows from decision
// values.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/multi_label.hpp"
#include "mercer/learn/risk/regions.hpp"
#include "mercer/persist/export/detail/compile.hpp"

namespace mercer::exports {
namespace {

/// Numbers in the tables of an exported model.
constexpr std::size_t most_numbers = std::size_t{1} << 27;

/// Everything that is not Σ α_i k(x_i, x) + b and what follows from that.
void check_can_be_exported(const Model& model) {
    const Expansion& expansion = model.expansion();
    if (expansion.outputs() == 0) refuse_export("a model without outputs");
    for (const ObjectName& object : expansion.points.object_names()) {
        refuse_export("the column " + quoted(object.name) + " of " +
                      std::string(object_words.word(object.kind)));
    }
    if (companion_of(model) != nullptr) {
        refuse_export("the second model inside a model of the task " + task_name(model.task()));
    }
    for (const auto& extra : model.extras()) {
        std::string arrays;
        extra->each_array([&](const std::string& name, const Matrix<double>&) {
            arrays += (arrays.empty() ? "" : ", ") + name;
        });
        if (extra->decides()) {
            refuse_export("a model of the task " + task_name(model.task()) +
                          " that decides by more than its expansion (" + arrays + ")");
        }
    }
    if (model.extras().find<NestedLevels>() != nullptr) {
        refuse_export("the nested levels of a model of the task " + task_name(model.task()));
    }
    const std::size_t rows = expansion.size() + expansion.reference.size();
    if (rows > most_numbers / std::max<std::size_t>(model.columns(), 1) &&
        !is_linear(expansion.kernel)) {
        refuse_export("an expansion of " + std::to_string(rows) + " points of " +
                      std::to_string(model.columns()) +
                      " columns, more than 2^27 numbers; `reduce` makes it shorter");
    }
}

bool against_all_others(const Model& model) {
    return model.multi_class() == MultiClass::one_vs_rest && model.classes() > 2;
}

Matrix<double> transposed_table(const Matrix<double>& a) {
    Matrix<double> result(a.columns(), a.rows());
    for (std::size_t i = 0; i < a.rows(); ++i) {
        for (std::size_t j = 0; j < a.columns(); ++j) result(j, i) = a(i, j);
    }
    return result;
}

// ---- rows

/// The features that a recipe makes of one column of a table (data/table/recipe.cpp).
class ColumnCompiler {
   public:
    ColumnCompiler(Program& program, std::vector<Value>& out) : program_(program), out_(out) {}

    void operator()(const TableColumn& column, const Recipe::Fitted& f, Value x) {
        const Value gap = program_.apply(Op::missing, x);
        switch (column.kind) {
            case ColumnKind::number: out_.push_back(measured(f, x, gap)); break;
            case ColumnKind::yes_no:
                out_.push_back(program_.apply(Op::choose, gap, program_.constant(f.fill), x));
                break;
            case ColumnKind::category: return category(column, f, x, gap);
            case ColumnKind::date: {
                out_.push_back(measured(f, x, gap));
                const Value days = program_.apply(Op::choose, gap, program_.constant(f.fill), x);
                compile_date_parts(program_, days, column.has_time, out_);
                break;
            }
            default:
                refuse_export("the column " + quoted(column.name) + " of the kind " +
                              std::string(column_kinds.word(column.kind)));
        }
        if (column.gaps) out_.push_back(gap);
    }

   private:
    Value measured(const Recipe::Fitted& f, Value x, Value gap) {
        if (f.spread == 0) return program_.constant(0);
        Value v = program_.apply(Op::choose, gap, program_.constant(f.fill), x);
        if (f.bent) {
            // asinh(u) = sign(u) log(|u| + √(u² + 1))
            const Value u = program_.times(program_.plus(v, -f.middle), 1 / f.reach);
            const Value root =
                program_.apply(Op::root, program_.plus(program_.apply(Op::multiply, u, u), 1));
            const Value size = program_.apply(
                Op::log, program_.apply(Op::add, root, program_.apply(Op::magnitude, u)));
            v = program_.apply(Op::multiply, program_.apply(Op::sign, u), size);
        }
        return program_.times(program_.plus(v, -f.center), 1 / f.spread);
    }

    /// 1 in the place of the level: level_place of the recipe, for levels that the fit has seen.
    void category(const TableColumn& column, const Recipe::Fitted& f, Value x, Value gap) {
        const std::size_t levels = column.levels.size();
        // A gap is put beyond all levels, where it is compared as any number is.
        const Value place =
            program_.apply(Op::choose, gap, program_.constant(static_cast<double>(levels + 2)),
                           program_.apply(Op::least, program_.apply(Op::floor, x),
                                          program_.constant(static_cast<double>(levels))));
        for (std::size_t level = 0; level < f.seen.size(); ++level) {
            const bool is_gap = column.gaps && level + 1 == f.seen.size();
            if (!f.seen[level]) {
                out_.push_back(program_.constant(0));
            } else if (is_gap) {
                out_.push_back(gap);
            } else {
                const auto at = static_cast<double>(level);
                const Value from = program_.apply(Op::above, place, program_.constant(at - 0.5));
                const Value to = program_.apply(Op::at_most, place, program_.constant(at + 0.5));
                out_.push_back(program_.apply(Op::multiply, from, to));
            }
        }
    }

    Program& program_;
    std::vector<Value>& out_;
};

std::vector<const TableColumn*> columns_of_numbers(const Recipe& recipe) {
    std::vector<const TableColumn*> result;
    for (const TableColumn& column : recipe.columns().columns()) {
        if (column.kind != ColumnKind::text) result.push_back(&column);
    }
    return result;
}

Value scaled(Program& program, const Scaling& scaling, Value x) {
    using Kind = ScalingRule::Kind;
    const ScalingRule& rule = scaling.rule();
    if (rule.kind == Kind::none) return x;
    if (rule.kind == Kind::factor) return program.times(x, rule.factor);
    if (rule.kind == Kind::unit) {
        const Value squares = program.reduce(Op::sum, program.apply(Op::multiply, x, x));
        const Value none = program.apply(Op::at_most, squares, program.constant(0));
        const Value length = program.apply(Op::root, program.apply(Op::add, squares, none));
        return program.apply(Op::divide, x, length);
    }
    const double width = rule.kind == Kind::minmax ? rule.high - rule.low : 1;
    const double low = rule.kind == Kind::minmax ? rule.low : 0;
    std::vector<double> factor, offset;
    for (const double spread : scaling.spread()) {
        const bool constant = spread == 0;
        factor.push_back(constant ? 0 : width / spread);
        // Constant columns go to 0, or to the end of a range that leaves 0 out.
        offset.push_back(!constant || rule.low > 0 || rule.high < 0 ? low : 0);
    }
    const Value shifted = program.apply(Op::subtract, x, program.constants(scaling.center()));
    const Value sized = program.apply(Op::multiply, shifted, program.constants(std::move(factor)));
    if (std::ranges::all_of(offset, [](double v) { return v == 0; })) return sized;
    return program.apply(Op::add, sized, program.constants(std::move(offset)));
}

std::vector<InputColumn> input_columns(const Model& model) {
    std::vector<InputColumn> columns;
    if (model.recipe()) {
        for (const TableColumn* column : columns_of_numbers(*model.recipe())) {
            InputColumn entry{.name = column->name};
            if (column->kind == ColumnKind::date) entry.about = "days since 1970-01-01";
            for (std::size_t level = 0; level < column->levels.size(); ++level) {
                entry.about += (level == 0 ? "" : ", ") + std::to_string(level) + " = " +
                               column->levels[level];
            }
            if (column->more_levels) {
                entry.about += ", " + std::to_string(column->levels.size()) + " = any other";
            }
            columns.push_back(std::move(entry));
        }
        return columns;
    }
    columns.resize(model.columns());
    for (std::size_t j = 0; j < std::min(columns.size(), model.feature_names().size()); ++j) {
        columns[j].name = model.feature_names()[j];
    }
    return columns;
}

/// Hours are fractions of days since 1970, which single precision knows to two minutes.
bool has_times(const Model& model) {
    if (!model.recipe()) return false;
    return std::ranges::any_of(model.recipe()->columns().columns(), &TableColumn::has_time);
}

/// Sparse points may lack the last columns, which are zero in all of them.
Expansion as_wide_as_rows(Expansion expansion, std::size_t columns) {
    for (Rows* rows : {&expansion.points, &expansion.reference}) {
        if (rows->size() > 0 && rows->columns() < columns) *rows = rows->widened(columns);
    }
    return expansion;
}

/// Names of the decision values: of pairs "a or b", of others what they are of.
std::vector<std::string> decision_names(const Model& model) {
    if (!model.target_names().empty()) return model.target_names();
    std::vector<std::string> names;
    const auto& classes = model.class_names();
    if (against_all_others(model)) return classes;
    for (std::size_t a = 0; a < classes.size(); ++a) {
        for (std::size_t b = a + 1; b < classes.size(); ++b) {
            names.push_back(classes[a] + " or " + classes[b]);
        }
    }
    return names;
}

}  // namespace

void refuse_export(const std::string& why) {
    throw InvalidInput("this model cannot be exported: there are no operations for " + why);
}

Value compile_rows(Program& program, const Model& model) {
    Value x = program.input();
    if (model.recipe()) {
        const auto columns = columns_of_numbers(*model.recipe());
        std::vector<Value> features;
        ColumnCompiler compile_column(program, features);
        for (std::size_t c = 0; c < columns.size(); ++c) {
            compile_column(*columns[c], model.recipe()->fitted()[c], program.column(x, c));
        }
        x = program.stack(features);
    }
    return scaled(program, model.scaling(), x);
}

Compiled compile(const Model& model, bool single_precision) {
    check_can_be_exported(model);
    if (single_precision && has_times(model)) {
        throw InvalidInput(
            "this model learns from hours of dates, which are fractions of days since 1970: single "
            "precision knows them to two minutes only, so export it without `precision=single`");
    }
    std::vector<InputColumn> columns = input_columns(model);
    Program program(columns.size());
    const Value x = compile_rows(program, model);
    const Expansion expansion = as_wide_as_rows(model.expansion(), x.width);
    Value values{};
    if (expansion.size() == 0) {
        values = program.product(x, Matrix<double>(x.width, expansion.outputs()));
    } else if (is_linear(expansion.kernel) && expansion.self == 0) {
        values = program.product(x, transposed_table(weight_vectors(expansion)));
    } else {
        const CompiledKernel kernel = compile_kernel(program, x, expansion);
        values = program.expand(kernel.with_points, expansion.coefficients);
        if (kernel.with_itself) {
            values =
                program.apply(Op::add, values, program.times(*kernel.with_itself, expansion.self));
        }
    }
    program.result = program.apply(Op::add, values, program.constants(expansion.bias));
    Compiled result{.decision = std::move(program)};
    result.columns = std::move(columns);
    result.output_names = decision_names(model);
    result.double_rows = expansion.points.is_double() || has_times(model);
    result.votes = compile_votes(model);
    result.sets = compile_sets(model);
    result.probabilities = compile_probabilities(model);
    if (result.probabilities) result.probability_names = probability_names(model);
    if (is_classifier(model.task())) {
        result.labels = model.class_names();
        result.label_values = model.class_values();
    } else if (result.votes) {
        const bool groups = is_clustering(model.task());
        for (std::size_t c = 0; c < result.votes->result.width; ++c) {
            const double value = groups ? static_cast<double>(c) : (c == 0 ? 1.0 : -1.0);
            result.label_values.push_back(value);
            result.labels.push_back(format_number(value));
        }
    }
    return result;
}

std::optional<Program> compile_votes(const Model& model) {
    const Task task = model.task();
    if (is_regressor(task) || is_projection(task) || is_multi_label(task)) return std::nullopt;
    Program program(model.expansion().outputs());
    const Value f = program.input();
    if (is_clustering(task) || against_all_others(model)) {
        program.result = f;
        return program;
    }
    const Value inside = program.apply(Op::above, f, program.constant(0));
    if (!is_classifier(task)) {
        const Value first = program.column(inside, 0);
        const Value outside = program.plus(program.apply(Op::negate, first), 1);
        program.result = program.stack({first, outside});
        return program;
    }
    // The vote of a pair goes to the first class where f > 0, else to the second.
    const std::size_t k = model.classes();
    Matrix<double> moves(model.expansion().outputs(), k);
    std::vector<double> before(k, 0.0);
    std::size_t pair = 0;
    for (std::size_t a = 0; a < k; ++a) {
        for (std::size_t b = a + 1; b < k; ++b, ++pair) {
            moves(pair, a) = 1;
            moves(pair, b) = -1;
            before[b] += 1;
        }
    }
    const Value moved = program.product(inside, std::move(moves));
    program.result = program.apply(Op::add, moved, program.constants(std::move(before)));
    return program;
}

std::optional<Program> compile_sets(const Model& model) {
    const Threshold* threshold = model.extras().find<Threshold>();
    if (!is_multi_label(model.task()) || threshold == nullptr) return std::nullopt;
    Program program(model.expansion().outputs());
    const Value f = program.input();
    const auto c = threshold->coefficients.row(0);
    const Value weighed = program.apply(
        Op::multiply, f, program.constants({c.begin(), c.begin() + static_cast<long>(f.width)}));
    const Value limit = program.plus(program.reduce(Op::sum, weighed), c.back());
    program.result = program.apply(Op::above, f, limit);
    return program;
}

Matrix<double> trial_rows(const Model& model, std::size_t most) {
    Random random(1);
    if (model.recipe()) {
        const auto columns = columns_of_numbers(*model.recipe());
        Matrix<double> rows(most, columns.size());
        for (std::size_t i = 0; i < most; ++i) {
            for (std::size_t c = 0; c < columns.size(); ++c) {
                const Recipe::Fitted& f = model.recipe()->fitted()[c];
                const bool levels = columns[c]->kind == ColumnKind::category ||
                                    columns[c]->kind == ColumnKind::yes_no;
                const double level = static_cast<double>(
                    random.below(std::max<std::size_t>(columns[c]->levels.size(), 1)));
                const double size = f.bent ? f.reach : f.spread;
                rows(i, c) = levels ? level : f.fill + size * random.normal();
                if (columns[c]->gaps && random.uniform() < 0.2) rows(i, c) = NAN;
            }
        }
        return rows;
    }
    // Points of the expansion and halves between two, as they were before they were scaled.
    const Rows& points = model.expansion().points;
    Matrix<double> rows(points.size() == 0 ? 0 : most, points.columns());
    std::vector<double> other(points.columns());
    for (std::size_t i = 0; i < rows.rows(); ++i) {
        points.copy_row(i * points.size() / most, rows.row(i));
        if (i % 2 == 0) continue;
        points.copy_row(random.below(points.size()), other);
        for (std::size_t j = 0; j < other.size(); ++j) rows(i, j) = 0.5 * (rows(i, j) + other[j]);
    }
    if (model.scaling().rule().kind == ScalingRule::Kind::unit || rows.rows() == 0) return rows;
    const Rows raw = model.scaling().undo(Rows::dense(rows.values(), rows.columns()));
    for (std::size_t i = 0; i < rows.rows(); ++i) raw.copy_row(i, rows.row(i));
    return rows;
}

}  // namespace mercer::exports
