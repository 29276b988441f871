// ONNX: every operation of a program becomes one or a few of the standard operators (opset 17), on
// all rows at once. Numbers of a row are n × 1, its columns n × width, numbers of points n ×
// points.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "mercer/base/error.hpp"
#include "mercer/persist/export/detail/formats.hpp"
#include "mercer/persist/export/detail/onnx_wire.hpp"
#include "mercer/version.hpp"

namespace mercer::exports {
namespace {

constexpr std::int64_t onnx_ir_version = 8;
constexpr std::int64_t onnx_opset = 17;
/// Columns × degree of an anova kernel, each some operators.
constexpr std::size_t most_anova_steps = 4096;

OnnxAttribute whole_number(std::string name, std::int64_t value) {
    return {.name = std::move(name), .numbers = {value}};
}
OnnxAttribute whole_numbers(std::string name, std::vector<std::int64_t> values) {
    return {.name = std::move(name), .numbers = std::move(values), .list = true};
}

class OnnxWriter {
   public:
    explicit OnnxWriter(OnnxGraph& graph) : graph_(graph) {}

    /// The name of the program's result, where its input is that of this name.
    std::string operator()(const Program& program, const std::string& input);

   private:
    std::string write(const Operation& operation);
    std::string for_all_rows(Value value);
    std::string pair(const Operation& operation, const std::string& row);
    std::string squared(const Operation& operation, const std::string& row);
    std::string anova(const Operation& operation, const std::string& factors);
    std::string elementwise(const Operation& operation);
    std::string couple(const std::string& pairs, std::size_t classes);
    WireMessage couple_round(const std::string& q, std::size_t classes);
    std::string pairwise(const std::string& pairs, std::size_t classes, bool turned);

    const std::string& in(const Operation& operation, std::size_t which) const {
        return names_[operation.of[which].at];
    }
    std::string matrix(const Matrix<double>& m) {
        return graph_.reals(m.values(), {m.rows(), m.columns()});
    }
    std::string turned(const Matrix<double>& m) {
        Matrix<double> t(m.columns(), m.rows());
        for (std::size_t i = 0; i < m.rows(); ++i) {
            for (std::size_t j = 0; j < m.columns(); ++j) t(j, i) = m(i, j);
        }
        return matrix(t);
    }
    std::string sum_over(const std::string& a, std::int64_t axis, bool keep) {
        return graph_.node("ReduceSum", {a, graph_.wholes({axis})},
                           {whole_number("keepdims", keep ? 1 : 0)});
    }
    std::string as_real(const std::string& truth) {
        return graph_.node("Cast", {truth},
                           {whole_number("to", static_cast<std::int64_t>(graph_.real_type()))});
    }

    OnnxGraph& graph_;
    std::vector<std::string> names_{};
    std::vector<bool> fixed_{};  ///< follows from constants alone
    std::string input_{};
};

std::string OnnxWriter::operator()(const Program& program, const std::string& input) {
    names_.clear();
    fixed_.clear();
    input_ = input;
    for (const Operation& operation : program.operations()) {
        const bool is_input = operation.op == Op::input;
        fixed_.push_back(!is_input && std::ranges::all_of(operation.of, [&](const Value& part) {
            return fixed_[part.at];
        }));
        names_.push_back(is_input ? input : write(operation));
    }
    return for_all_rows(program.result);
}

/// What follows from constants alone is one row; here it becomes as many as there are.
std::string OnnxWriter::for_all_rows(Value value) {
    if (!fixed_[value.at]) return names_[value.at];
    const std::string gaps = sum_over(as_real(graph_.node("IsNaN", {input_})), 1, true);
    return graph_.node("Add", {names_[value.at], graph_.node("Mul", {gaps, graph_.real(0)})});
}

std::string OnnxWriter::write(const Operation& o) {
    switch (o.op) {
        case Op::constant: return graph_.reals(o.numbers, {1, o.numbers.size()});
        case Op::column:
            return graph_.node("Gather",
                               {in(o, 0), graph_.wholes({static_cast<std::int64_t>(o.index)})},
                               {whole_number("axis", 1)});
        case Op::select: {
            const std::vector<std::int64_t> places(o.positions.begin(), o.positions.end());
            return graph_.node("Gather", {in(o, 0), graph_.wholes(places)},
                               {whole_number("axis", 1)});
        }
        case Op::stack: {
            std::vector<std::string> parts;
            for (const Value& part : o.of) parts.push_back(for_all_rows(part));
            return graph_.node("Concat", parts, {whole_number("axis", 1)});
        }
        case Op::product: return graph_.node("MatMul", {in(o, 0), matrix(o.table)});
        case Op::expand: return graph_.node("MatMul", {in(o, 0), turned(o.table)});
        case Op::sum: return sum_over(in(o, 0), 1, true);
        case Op::mean: return graph_.node("ReduceMean", {in(o, 0)}, {whole_numbers("axes", {1})});
        case Op::largest: return graph_.node("ReduceMax", {in(o, 0)}, {whole_numbers("axes", {1})});
        case Op::couple: return couple(in(o, 0), o.index);
        case Op::dot:
        case Op::squared:
        case Op::absolute:
        case Op::chi2:
        case Op::minima:
        case Op::sine:
        case Op::anova: return pair(o, in(o, 0));
        default: return elementwise(o);
    }
}

/// ‖x‖² + ‖z‖² − 2 x·z of rows moved by the mean of the points, so that few digits are lost.
std::string OnnxWriter::squared(const Operation& o, const std::string& row) {
    std::vector<double> middle(o.table.columns(), 0.0);
    for (std::size_t i = 0; i < o.table.rows(); ++i) {
        for (std::size_t j = 0; j < middle.size(); ++j) middle[j] += o.table(i, j);
    }
    for (double& m : middle) m /= static_cast<double>(o.table.rows());
    Matrix<double> moved = o.table;
    std::vector<double> norms(moved.rows(), 0.0);
    for (std::size_t i = 0; i < moved.rows(); ++i) {
        for (std::size_t j = 0; j < middle.size(); ++j) {
            moved(i, j) -= middle[j];
            norms[i] += moved(i, j) * moved(i, j);
        }
    }
    for (double& m : moved.values()) m *= -2;
    const std::string x = graph_.node("Sub", {row, graph_.reals(middle, {1, middle.size()})});
    const std::string own = sum_over(graph_.node("Mul", {x, x}), 1, true);
    const std::string mixed = graph_.node("MatMul", {x, turned(moved)});
    const std::string others = graph_.node("Add", {mixed, graph_.reals(norms, {1, norms.size()})});
    return graph_.node("Max", {graph_.node("Add", {others, own}), graph_.real(0)});
}

std::string OnnxWriter::pair(const Operation& o, const std::string& row) {
    if (o.op == Op::dot) return graph_.node("MatMul", {row, turned(o.table)});
    if (o.op == Op::squared && !o.steep) return squared(o, row);
    // n × 1 × width beside 1 × points × width
    const std::string x = graph_.node("Unsqueeze", {row, graph_.wholes({1})});
    const std::string z = graph_.reals(o.table.values(), {1, o.table.rows(), o.table.columns()});
    if (o.op == Op::minima) return sum_over(graph_.node("Min", {x, z}), 2, false);
    const std::string gap = graph_.node("Sub", {x, z});
    if (o.op == Op::absolute) return sum_over(graph_.node("Abs", {gap}), 2, false);
    if (o.op == Op::sine) {
        const std::string turn =
            graph_.node("Mul", {gap, graph_.real(std::numbers::pi / o.number)});
        const std::string wave = graph_.node("Sin", {turn});
        return sum_over(graph_.node("Mul", {wave, wave}), 2, false);
    }
    const std::string square = graph_.node("Mul", {gap, gap});
    if (o.op == Op::squared) return sum_over(square, 2, false);
    if (o.op == Op::chi2) {
        // Where both are 0 the square is, and anything may stand below it.
        const double least = graph_.real_type() == OnnxType::real64 ? 1e-300 : 1e-37;
        const std::string both =
            graph_.node("Max", {graph_.node("Add", {x, z}), graph_.real(least)});
        return sum_over(graph_.node("Div", {square, both}), 2, false);
    }
    return anova(o, graph_.node("Exp", {graph_.node("Mul", {square, graph_.real(-o.number)})}));
}

/// The recursion of kernel/detail/pair_number.cpp, written out.
std::string OnnxWriter::anova(const Operation& o, const std::string& factors) {
    const std::size_t width = o.table.columns();
    if (o.index == 1) return sum_over(factors, 2, false);
    if (width * o.index > most_anova_steps) {
        refuse_export("an anova kernel of degree " + std::to_string(o.index) + " over " +
                      std::to_string(width) + " columns; their product must be at most " +
                      std::to_string(most_anova_steps));
    }
    std::vector<std::string> chosen(o.index + 1);
    for (std::size_t k = 0; k < width; ++k) {
        const std::string at = graph_.wholes({static_cast<std::int64_t>(k)}, true);
        const std::string factor = graph_.node("Gather", {factors, at}, {whole_number("axis", 2)});
        for (std::size_t j = std::min(o.index, k + 1); j > 0; --j) {
            const std::string next = j == 1 ? factor : graph_.node("Mul", {factor, chosen[j - 1]});
            chosen[j] = chosen[j].empty() ? next : graph_.node("Add", {chosen[j], next});
        }
    }
    if (!chosen[o.index].empty()) return chosen[o.index];
    return graph_.node("Mul", {sum_over(factors, 2, false), graph_.real(0)});
}

std::string OnnxWriter::elementwise(const Operation& o) {
    const std::string& a = in(o, 0);
    switch (o.op) {
        case Op::negate: return graph_.node("Neg", {a});
        case Op::exp: return graph_.node("Exp", {a});
        case Op::log: return graph_.node("Log", {a});
        case Op::root: return graph_.node("Sqrt", {a});
        case Op::magnitude: return graph_.node("Abs", {a});
        case Op::sin: return graph_.node("Sin", {a});
        // Not every runtime has the cosine in double precision.
        case Op::cos:
            return graph_.node("Sin", {graph_.node("Add", {a, graph_.real(std::numbers::pi / 2)})});
        case Op::tanh: return graph_.node("Tanh", {a});
        case Op::sign: return graph_.node("Sign", {a});
        case Op::floor: return graph_.node("Floor", {a});
        case Op::logistic: return graph_.node("Sigmoid", {a});
        case Op::missing: return as_real(graph_.node("IsNaN", {a}));
        case Op::add: return graph_.node("Add", {a, in(o, 1)});
        case Op::subtract: return graph_.node("Sub", {a, in(o, 1)});
        case Op::multiply: return graph_.node("Mul", {a, in(o, 1)});
        case Op::divide: return graph_.node("Div", {a, in(o, 1)});
        case Op::power: return graph_.node("Pow", {a, in(o, 1)});
        case Op::least: return graph_.node("Min", {a, in(o, 1)});
        case Op::most: return graph_.node("Max", {a, in(o, 1)});
        case Op::at_most: return as_real(graph_.node("LessOrEqual", {a, in(o, 1)}));
        case Op::above: return as_real(graph_.node("Greater", {a, in(o, 1)}));
        case Op::choose:
            return graph_.node(
                "Where", {graph_.node("Cast", {a}, {whole_number("to", 9)}), in(o, 1), in(o, 2)});
        default: throw InvalidInput(std::string("no operator for ") + name_of(o.op));
    }
}

/// r(a, b) of all classes as n × classes × classes, its diagonal 0; or r(b, a).
std::string OnnxWriter::pairwise(const std::string& pairs, std::size_t k, bool turned_round) {
    Matrix<double> spread(k * (k - 1) / 2, k * k);
    std::vector<double> before(k * k, 0.0);
    std::size_t pair = 0;
    for (std::size_t a = 0; a < k; ++a) {
        for (std::size_t b = a + 1; b < k; ++b, ++pair) {
            const std::size_t first = turned_round ? b * k + a : a * k + b;
            const std::size_t second = turned_round ? a * k + b : b * k + a;
            spread(pair, first) = 1;
            spread(pair, second) = -1;
            before[second] = 1;
        }
    }
    const std::string flat = graph_.node(
        "Add", {graph_.node("MatMul", {pairs, matrix(spread)}), graph_.reals(before, {1, k * k})});
    const auto size = static_cast<std::int64_t>(k);
    return graph_.node("Reshape", {flat, graph_.wholes({-1, size, size})});
}

std::string OnnxWriter::couple(const std::string& pairs, std::size_t k) {
    const std::string r = pairwise(pairs, k, false);
    const std::string t = pairwise(pairs, k, true);
    // q(t, j) = −r(j, t) r(t, j), q(t, t) = Σ r(j, t)²
    Matrix<double> identity(k, k);
    for (std::size_t c = 0; c < k; ++c) identity(c, c) = 1;
    const std::string squares = sum_over(graph_.node("Mul", {t, t}), 2, true);
    const std::string diagonal =
        graph_.node("Mul", {squares, graph_.reals(identity.values(), {1, k, k})});
    const std::string q = graph_.node("Sub", {diagonal, graph_.node("Mul", {r, t})});
    // All classes alike to begin with, as many rows as there are.
    const std::string some = sum_over(pairs, 1, true);
    const std::string start = graph_.node(
        "Add", {graph_.node("Mul", {some, graph_.real(0)}),
                graph_.reals(std::vector<double>(k, 1 / static_cast<double>(k)), {1, k})});
    const WireMessage body = couple_round(q, k);
    const auto rounds = static_cast<std::int64_t>(std::max<std::size_t>(100, k));
    return graph_.node("Loop", {graph_.wholes({rounds}, true), graph_.truth(true), start},
                       {{.name = "body", .numbers = {}, .graph = &body}});
}

/// One round of `couple` (learn/detail/platt.cpp) on all rows; those that are done stay.
WireMessage OnnxWriter::couple_round(const std::string& q, std::size_t k) {
    OnnxGraph body(graph_.real_type(), graph_.counter());
    OnnxWriter inside(body);
    const std::string p_in = body.new_name();
    body.input(body.new_name(), OnnxType::whole64, {});
    body.input(body.new_name(), OnnxType::truth, {});
    body.input(p_in, body.real_type(), {{.name = "rows"}, {.size = k}});
    std::string p = p_in;
    std::string qp = body.node(
        "Squeeze", {body.node("MatMul", {q, body.node("Unsqueeze", {p, body.wholes({2})})}),
                    body.wholes({2})});
    std::string pqp = inside.sum_over(body.node("Mul", {p, qp}), 1, true);
    const std::string worst =
        body.node("ReduceMax", {body.node("Abs", {body.node("Sub", {qp, pqp})})},
                  {whole_numbers("axes", {1})});
    const double tolerance = 0.005 / static_cast<double>(k);
    const std::string active =
        inside.as_real(body.node("GreaterOrEqual", {worst, body.real(tolerance)}));
    for (std::size_t c = 0; c < k; ++c) {
        const std::string at = body.wholes({static_cast<std::int64_t>(c)});
        const std::string row = body.node(
            "Squeeze", {body.node("Gather", {q, at}, {whole_number("axis", 1)}), body.wholes({1})});
        const std::string qcc = body.node("Gather", {row, at}, {whole_number("axis", 1)});
        const std::string qpc = body.node("Gather", {qp, at}, {whole_number("axis", 1)});
        const std::string change =
            body.node("Mul", {active, body.node("Div", {body.node("Sub", {pqp, qpc}), qcc})});
        const std::string shrink = body.node("Add", {change, body.real(1)});
        std::vector<double> unit(k, 0.0);
        unit[c] = 1;
        p = body.node(
            "Div",
            {body.node("Add", {p, body.node("Mul", {change, body.reals(unit, {1, k})})}), shrink});
        const std::string grown = body.node(
            "Add", {body.node("Mul", {change, qcc}), body.node("Mul", {qpc, body.real(2)})});
        pqp = body.node("Div", {body.node("Add", {pqp, body.node("Mul", {change, grown})}),
                                body.node("Mul", {shrink, shrink})});
        qp = body.node("Div", {body.node("Add", {qp, body.node("Mul", {change, row})}), shrink});
    }
    const std::string any = body.node("ReduceMax", {active}, {whole_number("keepdims", 0)});
    body.output(body.node("Greater", {any, body.real(0.5)}), OnnxType::truth, {});
    body.output(p, body.real_type(), {{.name = "rows"}, {.size = k}});
    return body.finish("couple");
}

// ---- the whole

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : "\n") + word;
    return text;
}

void write_labels(OnnxGraph& graph, const Compiled& compiled, const std::string& votes) {
    const std::string place =
        graph.node("ArgMax", {votes}, {whole_number("axis", 1), whole_number("keepdims", 0)});
    OnnxType type = OnnxType::text;
    std::string table;
    if (compiled.label_values.empty()) {
        table = graph.texts(compiled.labels);
    } else {
        std::vector<std::int64_t> whole;
        for (const double value : compiled.label_values) {
            if (std::abs(value) <= 0x1p53 && value == std::floor(value)) {
                whole.push_back(static_cast<std::int64_t>(value));
            }
        }
        const bool all = whole.size() == compiled.label_values.size();
        type = all ? OnnxType::whole64 : graph.real_type();
        table = all ? graph.wholes(whole)
                    : graph.reals(compiled.label_values, {compiled.label_values.size()});
    }
    graph.node_to({"label"}, "Gather", {table, place});
    graph.output("label", type, {{.name = "rows"}});
}

void write_output(OnnxGraph& graph, const std::string& name, const std::string& value,
                  std::size_t width) {
    graph.node_to({name}, "Identity", {value});
    graph.output(name, graph.real_type(), {{.name = "rows"}, {.size = width}});
}

void add_property(WireMessage& model, const std::string& key, const std::string& value) {
    if (value.empty()) return;
    WireMessage entry;
    entry.bytes(1, key);
    entry.bytes(2, value);
    model.message(14, entry);
}

WireMessage whole_model(WireMessage graph, const Model& model, const Compiled& compiled) {
    WireMessage result;
    result.number(1, onnx_ir_version);
    result.bytes(2, "mercer");
    result.bytes(3, version);
    result.bytes(6, "A " + task_name(model.task()) + " model with the kernel " +
                        model.expansion().kernel.text());
    result.message(7, graph);
    WireMessage opset;
    opset.bytes(1, "");
    opset.number(2, onnx_opset);
    result.message(8, opset);
    std::vector<std::string> columns;
    for (const InputColumn& column : compiled.columns) {
        if (column.name.empty()) continue;
        columns.push_back(column.about.empty() ? column.name
                                               : column.name + " (" + column.about + ")");
    }
    add_property(result, "task", task_name(model.task()));
    add_property(result, "kernel", model.expansion().kernel.text());
    add_property(result, "columns", joined(columns));
    add_property(result, "scores", joined(compiled.output_names));
    add_property(result, "classes", joined(compiled.labels));
    return result;
}

}  // namespace

std::string onnx_bytes(const Model& model, const ExportSettings& settings) {
    const Compiled compiled = compile(model, settings.single_precision);
    const OnnxType real = settings.single_precision ? OnnxType::real32 : OnnxType::real64;
    const OnnxType given =
        compiled.double_rows && !settings.single_precision ? OnnxType::real64 : OnnxType::real32;
    std::size_t counter = 0;
    OnnxGraph graph(real, counter);
    OnnxWriter write(graph);
    graph.input("x", given, {{.name = "rows"}, {.size = compiled.columns.size()}});
    std::string x = "x";
    if (given != real) {
        x = graph.node("Cast", {x}, {whole_number("to", static_cast<std::int64_t>(real))});
    }
    const std::string scores = write(compiled.decision, x);
    if (compiled.votes) write_labels(graph, compiled, write(*compiled.votes, scores));
    if (compiled.sets) {
        write_output(graph, "labels", write(*compiled.sets, scores), compiled.sets->result.width);
    }
    if (compiled.probabilities) {
        write_output(graph, "probabilities", write(*compiled.probabilities, scores),
                     compiled.probabilities->result.width);
    }
    const bool has_labels = compiled.votes || compiled.sets;
    write_output(graph, has_labels ? "scores" : "values", scores, compiled.decision.result.width);
    return whole_model(graph.finish(settings.name), model, compiled).text();
}

}  // namespace mercer::exports
