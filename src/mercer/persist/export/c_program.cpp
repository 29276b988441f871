#include "mercer/persist/export/detail/c_program.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "mercer/base/error.hpp"

namespace mercer::exports {

std::string CWriter::operator()(const Program& program) {
    program_ = &program;
    text_.clear();
    // What nothing depends on is not written: compilers warn of it.
    std::vector<bool> wanted(program.operations().size(), false);
    wanted[program.result.at] = true;
    for (std::size_t i = wanted.size(); i-- > 0;) {
        if (!wanted[i]) continue;
        for (const Value& part : program.operations()[i].of) wanted[part.at] = true;
    }
    for (const Operation& o : program.operations()) {
        if (!wanted[o.value.at] || o.op == Op::input || o.op == Op::constant) continue;
        if (!o.value.on_points()) row_operation(o);
    }
    const Value result = program.result;
    const std::string count = std::to_string(result.width);
    if (result.width == 1) {
        line("out[0] = " + operand(result, "0") + ";");
    } else {
        line("for (k = 0; k < " + count + "; ++k) out[k] = " + operand(result, "k") + ";");
    }
    const bool counts = text_.find("; ++k)") != std::string::npos;
    const bool points = text_.find("; ++i)") != std::string::npos;
    std::string variables;
    if (counts) variables += "    int k;\n";
    if (points) variables += "    int i;\n";
    return variables + text_;
}

std::string CWriter::operand(const Value& value, const std::string& column) {
    const Operation& o = (*program_)[value];
    if (o.op == Op::input) return "in[" + (value.width == 1 ? "0" : column) + "]";
    if (o.op == Op::constant) {
        const bool same = std::ranges::all_of(
            o.numbers, [&](double v) { return v == o.numbers.front() || std::isnan(v); });
        if (same) {
            const double v = o.numbers.front();
            return v < 0 ? "(" + literal(v) + ")" : literal(v);
        }
        return tables_.name(o.numbers) + "[" + (value.on_points() ? "i" : column) + "]";
    }
    if (value.on_points() || value.width == 1) return variable(value);
    return variable(value) + "[" + column + "]";
}

void CWriter::row_operation(const Operation& o) {
    if (o.op == Op::mean || o.op == Op::expand) return loop_over_points(o);
    const std::string own = variable(o.value);
    switch (o.op) {
        case Op::column:
            line("const " + real_ + " " + own + " = " + operand(o.of[0], std::to_string(o.index)) +
                 ";");
            return;
        case Op::sum:
        case Op::largest: {
            const std::string count = std::to_string(o.of[0].width);
            const bool sum = o.op == Op::sum;
            line(real_ + " " + own + " = " + (sum ? "0" : operand(o.of[0], "0")) + ";");
            line("for (k = 0; k < " + count + "; ++k) " +
                 (sum ? own + " += " + operand(o.of[0], "k")
                      : "if (" + operand(o.of[0], "k") + " > " + own + ") " + own + " = " +
                            operand(o.of[0], "k")) +
                 ";");
            return;
        }
        case Op::select:
        case Op::stack:
        case Op::product:
        case Op::couple: return several(o);
        default: break;
    }
    if (o.value.width == 1) {
        line("const " + real_ + " " + own + " = " + elementwise(o, "0") + ";");
        return;
    }
    line(real_ + " " + own + "[" + std::to_string(o.value.width) + "];");
    line("for (k = 0; k < " + std::to_string(o.value.width) + "; ++k) " + own +
         "[k] = " + elementwise(o, "k") + ";");
}

/// Operations whose result is an array that is not made element by element.
void CWriter::several(const Operation& o) {
    const std::string own = variable(o.value);
    const std::string width = std::to_string(o.value.width);
    const bool one = o.value.width == 1;
    line(real_ + " " + own + (one ? ";" : "[" + width + "];"));
    const auto place = [&](std::size_t k) {
        return one ? own : own + "[" + std::to_string(k) + "]";
    };
    if (o.op == Op::select) {
        for (std::size_t k = 0; k < o.positions.size(); ++k) {
            line(place(k) + " = " + operand(o.of[0], std::to_string(o.positions[k])) + ";");
        }
    } else if (o.op == Op::stack) {
        std::size_t k = 0;
        for (const Value& part : o.of) {
            for (std::size_t j = 0; j < part.width; ++j, ++k) {
                line(place(k) + " = " + operand(part, std::to_string(j)) + ";");
            }
        }
    } else if (o.op == Op::product) {
        const std::string table = tables_.name(o.table.values());
        const std::string rows = std::to_string(o.table.rows());
        line("for (k = 0; k < " + width + "; ++k) {");
        line("    double sum = 0;");
        line("    int j;");
        line("    for (j = 0; j < " + rows + "; ++j) sum += (double)" + operand(o.of[0], "j") +
             " * " + table + "[j * " + width + " + k];");
        line("    " + (one ? own : own + "[k]") + " = (" + real_ + ")sum;");
        line("}");
    } else {
        const std::string square = std::to_string(o.index * o.index);
        line(real_ + " " + own + "_q[" + square + "], " + own + "_qp[" + width + "];");
        line(helpers_.name("couple") + "(" + variable(o.of[0]) + ", " + width + ", " + own + ", " +
             own + "_q, " + own + "_qp);");
    }
}

/// Σ over the points: of the operations on points those that are wanted, one point at a time.
void CWriter::loop_over_points(const Operation& o) {
    std::set<std::size_t> wanted;
    std::vector<Value> open{o.of[0]};
    while (!open.empty()) {
        const Value next = open.back();
        open.pop_back();
        if (!next.on_points() || !wanted.insert(next.at).second) continue;
        for (const Value& part : (*program_)[next].of) open.push_back(part);
    }
    const std::string own = variable(o.value);
    const std::size_t outputs = o.value.width;
    const std::string points = std::to_string(o.of[0].width);
    const bool one = outputs == 1;
    // Sums are taken in double precision, as the model's own are.
    line("double " + own + "_sum" + (one ? "" : "[" + std::to_string(outputs) + "]") + " = " +
         (one ? "0" : "{0}") + ";");
    line("for (i = 0; i < " + points + "; ++i) {");
    indent_ += "    ";
    for (const std::size_t at : wanted) {
        const Operation& part = program_->operations()[at];
        if (part.op != Op::constant) point_operation(part);
    }
    const std::string value = operand(o.of[0], "i");
    if (o.op == Op::mean) {
        line(own + "_sum += " + value + ";");
    } else if (one) {
        line(own + "_sum += (double)" + tables_.name(o.table.values()) + "[i] * " + value + ";");
    } else {
        line("for (k = 0; k < " + std::to_string(outputs) + "; ++k) " + own +
             "_sum[k] += (double)" + tables_.name(o.table.values()) + "[k * " + points +
             " + i] * " + value + ";");
    }
    indent_.resize(indent_.size() - 4);
    line("}");
    if (one) {
        line("const " + real_ + " " + own + " = (" + real_ + ")" +
             (o.op == Op::mean ? "(" + own + "_sum / " + points + ".0);" : own + "_sum;"));
    } else {
        line(real_ + " " + own + "[" + std::to_string(outputs) + "];");
        line("for (k = 0; k < " + std::to_string(outputs) + "; ++k) " + own + "[k] = (" + real_ +
             ")" + own + "_sum[k];");
    }
}

void CWriter::point_operation(const Operation& o) {
    switch (o.op) {
        case Op::dot:
        case Op::squared:
        case Op::absolute:
        case Op::chi2:
        case Op::minima:
        case Op::sine: return pair_sum(o, tables_.name(o.table.values()));
        case Op::anova: return anova(o, tables_.name(o.table.values()));
        default:
            line("const " + real_ + " " + variable(o.value) + " = " + elementwise(o, "i") + ";");
    }
}

std::string CWriter::pair_term(const Operation& o, const std::string& x,
                               const std::string& z) const {
    const std::string gap = "(" + x + " - " + z + ")";
    switch (o.op) {
        case Op::dot: return x + " * " + z;
        case Op::squared: return gap + " * " + gap;
        case Op::absolute: return called("fabs", x + " - " + z);
        case Op::minima: return "(" + x + " < " + z + " ? " + x + " : " + z + ")";
        case Op::chi2:
            return "(" + x + " + " + z + " == 0 ? 0 : " + gap + " * " + gap + " / (" + x + " + " +
                   z + "))";
        default: {
            const std::string wave =
                called("sin", literal(3.14159265358979323846 / o.number) + " * " + gap);
            return wave + " * " + wave;
        }
    }
}

void CWriter::pair_sum(const Operation& o, const std::string& table) {
    const std::string own = variable(o.value);
    const std::string width = std::to_string(o.table.columns());
    line(real_ + " " + own + " = 0;");
    line("for (k = 0; k < " + width + "; ++k) {");
    line("    const " + real_ + " a = " + operand(o.of[0], "k") + ", b = " + table + "[i * " +
         width + " + k];");
    line("    " + own + " += " + pair_term(o, "a", "b") + ";");
    line("}");
}

/// The recursion of kernel/detail/pair_number.cpp.
void CWriter::anova(const Operation& o, const std::string& table) {
    const std::string own = variable(o.value);
    const std::string width = std::to_string(o.table.columns());
    const std::string degree = std::to_string(o.index);
    line(real_ + " " + own + "_chosen[" + std::to_string(o.index + 1) + "] = {1};");
    line("for (k = 0; k < " + width + "; ++k) {");
    line("    const " + real_ + " a = " + operand(o.of[0], "k") + ", b = " + table + "[i * " +
         width + " + k];");
    line("    const " + real_ +
         " factor = " + called("exp", "-" + literal(o.number) + " * (a - b) * (a - b)") + ";");
    line("    int j;");
    line("    for (j = " + degree + "; j > 0; j -= 1) " + own + "_chosen[j] += factor * " + own +
         "_chosen[j - 1];");
    line("}");
    line("const " + real_ + " " + own + " = " + own + "_chosen[" + degree + "];");
}

std::string CWriter::elementwise(const Operation& o, const std::string& column) {
    const std::string a = operand(o.of[0], column);
    const std::string b = o.of.size() > 1 ? operand(o.of[1], column) : "";
    const std::string c = o.of.size() > 2 ? operand(o.of[2], column) : "";
    switch (o.op) {
        case Op::negate: return "-" + a;
        case Op::exp: return called("exp", a);
        case Op::log: return called("log", a);
        case Op::root: return called("sqrt", a);
        case Op::magnitude: return called("fabs", a);
        case Op::sin: return called("sin", a);
        case Op::cos: return called("cos", a);
        case Op::tanh: return called("tanh", a);
        case Op::floor: return called("floor", a);
        case Op::sign: return helpers_.name("sign") + "(" + a + ")";
        case Op::logistic: return helpers_.name("logistic") + "(" + a + ")";
        case Op::missing: return a + " != " + a + " ? 1 : 0";
        case Op::add: return a + " + " + b;
        case Op::subtract: return a + " - " + b;
        case Op::multiply: return a + " * " + b;
        case Op::divide: return a + " / " + b;
        case Op::power: return called("pow", a + ", " + b);
        case Op::least: return a + " < " + b + " ? " + a + " : " + b;
        case Op::most: return a + " > " + b + " ? " + a + " : " + b;
        case Op::at_most: return a + " <= " + b + " ? 1 : 0";
        case Op::above: return a + " > " + b + " ? 1 : 0";
        case Op::choose: return a + " != 0 ? " + b + " : " + c;
        default: throw InvalidInput(std::string("no words in C for ") + name_of(o.op));
    }
}

}  // namespace mercer::exports
