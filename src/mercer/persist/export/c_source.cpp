// C99: one file, no malloc, nothing but <math.h>. Numbers of a row are local variables, numbers of
// points are computed one point after another and summed at once, so that the stack holds a few
// rows however many points there are.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "mercer/base/error.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/persist/export/detail/formats.hpp"
#include "mercer/version.hpp"

namespace mercer::exports {
namespace {

std::string number_text(double value, bool single = false) {
    if (std::isnan(value)) return "NAN";
    char buffer[40];
    const auto end = single
                         ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value))
                         : std::to_chars(buffer, buffer + sizeof buffer, value);
    std::string text(buffer, end.ptr);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text + (single ? "f" : "");
}

std::string c_string(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\' || c == '?') {
            result += '\\';
            result += c;
        } else if (byte < 0x20 || byte >= 0x7F) {
            // Octal ends after three digits, where hexadecimal would go on.
            result += '\\';
            for (const unsigned shift : {6U, 3U, 0U}) {
                result += static_cast<char>('0' + ((byte >> shift) & 7U));
            }
        } else {
            result += c;
        }
    }
    return result + "\"";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
        text.replace(at, from.size(), to);
    }
    return text;
}

/// For a comment: nothing in it ends the comment.
std::string in_comment(std::string text) {
    for (std::size_t at = 0; (at = text.find("*/", at)) != std::string::npos;) text[at + 1] = '|';
    for (std::size_t at = 0; (at = text.find("/*", at)) != std::string::npos;) text[at + 1] = '|';
    for (char& c : text) {
        // A backslash, or three letters that C reads as one, could swallow the end of a line.
        if (c == '\n' || c == '\r' || c == '\\') c = ' ';
    }
    return replaced(std::move(text), "??", "? ?");
}

/// Tables of constants, each once.
class CTables {
   public:
    CTables(std::string prefix, bool single) : prefix_(std::move(prefix)), single_(single) {}

    /// The name of an array of these numbers.
    std::string name(std::span<const double> values) {
        const std::vector<double> key(values.begin(), values.end());
        const auto found = names_.find(key);
        if (found != names_.end()) return found->second;
        const std::string own = prefix_ + "_table" + std::to_string(names_.size() + 1);
        // What a float holds exactly takes half the place.
        const bool small = single_ || std::ranges::all_of(values, [](double v) {
                               return static_cast<double>(static_cast<float>(v)) == v;
                           });
        text_ += std::string("static const ") + (small ? "float " : "double ") + own + "[" +
                 std::to_string(values.size()) + "] = {";
        for (std::size_t i = 0; i < values.size(); ++i) {
            text_ += (i % 8 == 0 ? "\n    " : " ") + number_text(values[i], small) + ",";
        }
        text_ += "\n};\n";
        names_.emplace(key, own);
        return own;
    }
    const std::string& text() const { return text_; }

   private:
    std::string prefix_;
    bool single_;
    std::map<std::vector<double>, std::string> names_{};
    std::string text_{};
};

/// Functions of our own that the operations need, each written when it is first asked for.
class CHelpers {
   public:
    CHelpers(std::string prefix, std::string real, std::string suffix)
        : prefix_(std::move(prefix)), real_(std::move(real)), suffix_(std::move(suffix)) {}

    std::string name(const std::string& function) {
        used_.insert(function);
        return prefix_ + "_" + function;
    }
    std::string text() const;

   private:
    std::string prefix_, real_, suffix_;
    std::set<std::string> used_{};
};

std::string CHelpers::text() const {
    static const std::map<std::string, const char*> bodies{
        {"logistic",
         "static REAL PREFIX_logistic(REAL z) {\n"
         "    const REAL e = expSUFFIX(z >= 0 ? -z : z);\n"
         "    return z >= 0 ? 1 / (1 + e) : e / (1 + e);\n"
         "}\n"},
        {"sign", "static REAL PREFIX_sign(REAL z) {\n    return (REAL)((z > 0) - (z < 0));\n}\n"},
        // learn/detail/platt.cpp
        {"couple",
         "/* Class probabilities from those of pairs: Wu, Lin and Weng 2004, second method. */\n"
         "static void PREFIX_couple(const REAL *pairs, int k, REAL *p, REAL *q, REAL *qp) {\n"
         "    const REAL tolerance = (REAL)0.005 / (REAL)k;\n"
         "    int t, j, round, pair = 0;\n"
         "    for (t = 0; t < k * k; ++t) q[t] = 0;\n"
         "    for (t = 0; t < k; ++t) {\n"
         "        p[t] = 1 / (REAL)k;\n"
         "        for (j = t + 1; j < k; ++j, ++pair) {\n"
         "            const REAL r = pairs[pair];\n"
         "            q[t * k + t] += (1 - r) * (1 - r);\n"
         "            q[j * k + j] += r * r;\n"
         "            q[t * k + j] = q[j * k + t] = -r * (1 - r);\n"
         "        }\n"
         "    }\n"
         "    for (round = 0; round < (k > 100 ? k : 100); ++round) {\n"
         "        REAL pqp = 0, worst = 0;\n"
         "        for (t = 0; t < k; ++t) {\n"
         "            qp[t] = 0;\n"
         "            for (j = 0; j < k; ++j) qp[t] += q[t * k + j] * p[j];\n"
         "            pqp += p[t] * qp[t];\n"
         "        }\n"
         "        for (t = 0; t < k; ++t) {\n"
         "            const REAL off = fabsSUFFIX(qp[t] - pqp);\n"
         "            if (off > worst) worst = off;\n"
         "        }\n"
         "        if (worst < tolerance) break;\n"
         "        for (t = 0; t < k; ++t) {\n"
         "            const REAL change = (pqp - qp[t]) / q[t * k + t];\n"
         "            p[t] += change;\n"
         "            pqp = (pqp + change * (change * q[t * k + t] + 2 * qp[t])) /\n"
         "                  ((1 + change) * (1 + change));\n"
         "            for (j = 0; j < k; ++j) {\n"
         "                qp[j] = (qp[j] + change * q[t * k + j]) / (1 + change);\n"
         "                p[j] /= 1 + change;\n"
         "            }\n"
         "        }\n"
         "    }\n"
         "}\n"}};
    std::string result;
    for (const std::string& function : used_) {
        std::string body = bodies.at(function);
        body = replaced(replaced(body, "PREFIX", prefix_), "REAL", real_);
        result += replaced(body, "SUFFIX", suffix_) + "\n";
    }
    return result;
}

/// The body of a function that carries a program out, from the array `in` to the array `out`.
class CWriter {
   public:
    CWriter(CTables& tables, CHelpers& helpers, bool single)
        : tables_(tables),
          helpers_(helpers),
          real_(single ? "float" : "double"),
          suffix_(single ? "f" : "") {}

    std::string operator()(const Program& program);

   private:
    void row_operation(const Operation& o);
    void several(const Operation& o);
    void loop_over_points(const Operation& o);
    void point_operation(const Operation& o);
    std::string pair_term(const Operation& o, const std::string& x, const std::string& z) const;
    void pair_sum(const Operation& o, const std::string& at);
    void anova(const Operation& o, const std::string& at);
    std::string elementwise(const Operation& o, const std::string& column);
    /// A part of an operation: one number of it, or that of the column at hand.
    std::string operand(const Value& value, const std::string& column);
    std::string literal(double value) const { return number_text(value, !suffix_.empty()); }
    std::string variable(const Value& value) const { return "v" + std::to_string(value.at); }
    void line(const std::string& text) { text_ += indent_ + text + "\n"; }
    std::string called(const char* function, const std::string& argument) const {
        return function + suffix_ + "(" + argument + ")";
    }

    CTables& tables_;
    CHelpers& helpers_;
    std::string real_, suffix_;
    const Program* program_ = nullptr;
    std::string indent_ = "    ";
    std::string text_{};
};

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

// ---- the whole file

class CFile {
   public:
    CFile(const Model& model, const ExportSettings& settings)
        : model_(model),
          name_(settings.name),
          single_(settings.single_precision),
          real_(single_ ? "float" : "double"),
          compiled_(compile(model)),
          tables_(name_, single_),
          helpers_(name_, real_, single_ ? "f" : "") {
        for (const char c : name_) {
            capital_ += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
        }
    }

    std::string text();

   private:
    std::string heading() const;
    std::string sizes() const;
    std::string array_function(const std::string& what, const Program& program,
                               const std::string& from, const std::string& to);
    std::string class_function();
    std::string names_table(const std::string& what, const std::vector<std::string>& names) const;
    std::string test() const;
    std::string test_table(const std::string& what, const Matrix<double>& m) const;
    std::string compared(const std::string& what, const std::string& limit) const;

    const Model& model_;
    std::string name_, capital_{};
    bool single_;
    std::string real_;
    Compiled compiled_;
    CTables tables_;
    CHelpers helpers_;
};

std::string CFile::heading() const {
    std::string text =
        "/* " +
        in_comment("A " + task_name(model_.task()) + " model, written by mercer " + version) +
        ".\n   Kernel: " + in_comment(model_.expansion().kernel.text()) + ".\n";
    text += "\n   Columns of a row:\n";
    constexpr std::size_t most_listed = 200;
    for (std::size_t j = 0; j < std::min(compiled_.columns.size(), most_listed); ++j) {
        const InputColumn& column = compiled_.columns[j];
        if (column.name.empty()) continue;
        text += "   " + std::to_string(j) + "  " + in_comment(column.name) +
                (column.about.empty() ? "" : ": " + in_comment(column.about)) + "\n";
    }
    text += "   " + std::to_string(compiled_.columns.size()) + " in all" +
            (model_.recipe() ? "; NAN where one is missing" : "") + ".\n";
    text +=
        "\n   Compile it with a C99 compiler and link the mathematical library (-lm). With\n"
        "   -DMERCER_TEST it is a program that tests itself: its exit code is 0 when all is "
        "well. */\n";
    return text;
}

std::string CFile::sizes() const {
    std::string text = "enum {\n    " + capital_ +
                       "_COLUMNS = " + std::to_string(compiled_.columns.size()) + ",\n    " +
                       capital_ + "_SCORES = " + std::to_string(compiled_.decision.result.width);
    if (!compiled_.labels.empty()) {
        text += ",\n    " + capital_ + "_CLASSES = " + std::to_string(compiled_.labels.size());
    }
    if (compiled_.probabilities) {
        text += ",\n    " + capital_ +
                "_PROBABILITIES = " + std::to_string(compiled_.probabilities->result.width);
    }
    return text + "\n};\n\n";
}

std::string CFile::array_function(const std::string& what, const Program& program,
                                  const std::string& from, const std::string& to) {
    CWriter write(tables_, helpers_, single_);
    const std::string head = "void " + name_ + "_" + what + "(const " + real_ + " in[" + capital_ +
                             from + "], " + real_ + " out[" + capital_ + to + "])";
    return head + ";\n" + head + " {\n" + write(program) + "}\n\n";
}

std::string CFile::class_function() {
    CWriter write(tables_, helpers_, single_);
    const std::string count = std::to_string(compiled_.labels.size());
    std::string text = "static void " + name_ + "_votes(const " + real_ + " in[" + capital_ +
                       "_SCORES], " + real_ + " out[" + capital_ + "_CLASSES]) {\n" +
                       write(*compiled_.votes) + "}\n\n";
    const std::string head =
        "int " + name_ + "_class(const " + real_ + " scores[" + capital_ + "_SCORES])";
    return text + "/* The position of the class of a row with these scores. */\n" + head + ";\n" +
           head + " {\n    " + real_ + " votes[" + capital_ + "_CLASSES];\n" +
           "    int k, best = 0;\n    " + name_ + "_votes(scores, votes);\n    for (k = 1; k < " +
           count + "; ++k) {\n        if (votes[k] > votes[best]) best = k;\n    }\n" +
           "    return best;\n}\n\n";
}

std::string CFile::names_table(const std::string& what,
                               const std::vector<std::string>& names) const {
    const std::string head =
        "const char *const " + name_ + "_" + what + "[" + std::to_string(names.size()) + "]";
    std::string text = "extern " + head + ";\n" + head + " = {\n";
    for (const std::string& name : names) text += "    " + c_string(name) + ",\n";
    return text + "};\n\n";
}

/// A part of the test: what a function makes of the expected scores, beside what it should.
std::string CFile::compared(const std::string& what, const std::string& limit) const {
    return "        " + name_ + "_" + what + "(scores[i], found_" + what + ");\n" +
           "        wrong |= differ(found_" + what + ", " + what + "[i], (int)(sizeof found_" +
           what + " / sizeof *found_" + what + "), " + limit + ");\n";
}

/// A main that compares a few rows with what the model says of them.
std::string CFile::test() const {
    constexpr std::size_t most = 8;
    const Matrix<double> rows = trial_rows(model_, most);
    if (rows.rows() == 0) return "";
    ModelParts parts = model_.parts();
    parts.double_precision = true;
    const Model exact(std::move(parts));
    const Matrix<double> scores = exact.decision(Rows::dense(rows.values(), rows.columns()));
    std::string tables = test_table("rows", rows) + test_table("scores", scores);
    const std::string limit = single_ ? "1e-3" : "1e-6";
    std::string checks = "        " + name_ + "_scores(rows[i], found);\n" +
                         "        wrong |= differ(found, scores[i], " + capital_ + "_SCORES, " +
                         limit + ");\n";
    if (compiled_.votes) {
        Matrix<double> classes(rows.rows(), 1);
        const std::vector<double> answers = exact.classify(scores.view());
        const bool positions = is_classifier(model_.task()) || is_clustering(model_.task());
        for (std::size_t i = 0; i < answers.size(); ++i) {
            classes(i, 0) = positions ? answers[i] : (answers[i] > 0 ? 0 : 1);
        }
        tables += test_table("classes", classes);
        checks += "        if (" + name_ + "_class(scores[i]) != (int)classes[i][0]) wrong = 1;\n";
    }
    if (compiled_.sets) {
        tables += test_table("labels", exact.sets_of(scores.view())) + "    " + real_ +
                  " found_labels[" + capital_ + "_SCORES];\n";
        checks += compared("labels", limit);
    }
    if (compiled_.probabilities) {
        tables += test_table("probabilities", probabilities_of(exact, scores.view())) + "    " +
                  real_ + " found_probabilities[" + capital_ + "_PROBABILITIES];\n";
        checks += compared("probabilities", limit);
    }
    return "#ifdef MERCER_TEST\n#include <stdio.h>\n\nstatic int differ(const " + real_ +
           " *found, const " + real_ + " *expected, int count, double limit) {\n" +
           "    int k, wrong = 0;\n    for (k = 0; k < count; ++k) {\n" +
           "        const double a = found[k], b = expected[k];\n" +
           "        if (fabs(a - b) <= limit * (1 + fabs(b))) continue;\n" +
           "        printf(\"%.9g instead of %.9g\\n\", a, b);\n        wrong = 1;\n    }\n" +
           "    return wrong;\n}\n\nint main(void) {\n" + tables + "    " + real_ + " found[" +
           capital_ + "_SCORES];\n    int i, wrong = 0;\n    for (i = 0; i < " +
           std::to_string(rows.rows()) + "; ++i) {\n" + checks +
           "    }\n    return wrong;\n}\n#endif\n";
}

std::string CFile::test_table(const std::string& what, const Matrix<double>& m) const {
    std::string text = "    static const " + real_ + " " + what + "[" + std::to_string(m.rows()) +
                       "][" + std::to_string(m.columns()) + "] = {\n";
    for (std::size_t i = 0; i < m.rows(); ++i) {
        text += "        {";
        for (const double v : m.row(i)) text += number_text(v, single_) + ", ";
        text += "},\n";
    }
    return text + "    };\n";
}

std::string CFile::text() {
    std::string functions = "/* The scores of a row: " +
                            std::string(compiled_.votes ? "the decision values of the classes, "
                                                          "pair by pair or one by one"
                                                        : "the values predicted") +
                            ". */\n" +
                            array_function("scores", compiled_.decision, "_COLUMNS", "_SCORES");
    if (compiled_.votes) functions += class_function();
    if (compiled_.sets) {
        functions += "/* 1 for each label that a row with these scores has, else 0. */\n" +
                     array_function("labels", *compiled_.sets, "_SCORES", "_SCORES");
    }
    if (compiled_.probabilities) {
        functions +=
            "/* The probabilities of the classes of a row with these scores. */\n" +
            array_function("probabilities", *compiled_.probabilities, "_SCORES", "_PROBABILITIES");
    }
    std::string names;
    if (!compiled_.labels.empty()) names += names_table("class_names", compiled_.labels);
    return heading() + "#include <math.h>\n\n" + sizes() + names + tables_.text() + "\n" +
           helpers_.text() + functions + test();
}

}  // namespace

std::string c_source(const Model& model, const ExportSettings& settings) {
    return CFile(model, settings).text();
}

}  // namespace mercer::exports
