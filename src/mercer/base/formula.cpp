#include "mercer/base/formula.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>

#include "mercer/base/detail/formula_tree.hpp"
#include "mercer/base/detail/scanner.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer {
namespace {

using Kind = FormulaTree::Kind;

struct Call {
    const char* name;
    std::size_t arguments;
    double (*one)(double);
    double (*two)(double, double);
};

const Call* find_call(std::string_view name) {
    static const Call calls[] = {
        {"exp", 1, [](double a) { return std::exp(a); }, nullptr},
        {"log", 1, [](double a) { return std::log(a); }, nullptr},
        {"sqrt", 1, [](double a) { return std::sqrt(a); }, nullptr},
        {"abs", 1, [](double a) { return std::fabs(a); }, nullptr},
        {"sin", 1, [](double a) { return std::sin(a); }, nullptr},
        {"cos", 1, [](double a) { return std::cos(a); }, nullptr},
        {"tan", 1, [](double a) { return std::tan(a); }, nullptr},
        {"tanh", 1, [](double a) { return std::tanh(a); }, nullptr},
        {"sign", 1, [](double a) { return a > 0   ? 1.0
                                          : a < 0 ? -1.0
                                                  : 0.0; }, nullptr},
        {"floor", 1, [](double a) { return std::floor(a); }, nullptr},
        {"min", 2, nullptr, [](double a, double b) { return std::min(a, b); }},
        {"max", 2, nullptr, [](double a, double b) { return std::max(a, b); }},
    };
    for (const Call& call : calls) {
        if (name == call.name) return &call;
    }
    return nullptr;
}

/// x0, x1, …: the number after the x, if the word is one of them.
std::optional<std::size_t> column_word(std::string_view word) {
    if (word.size() < 2 || word.size() > 16 || word.front() != 'x') return {};
    std::size_t value = 0;
    for (const char c : word.substr(1)) {
        if (c < '0' || c > '9') return {};
        value = value * 10 + static_cast<std::size_t>(c - '0');
    }
    return value;
}

/// Words that cannot stand for a column of that name unless quoted.
bool is_reserved(std::string_view word) {
    const bool column = word.size() > 1 && word.front() == 'x' &&
                        word.find_first_not_of("0123456789", 1) == std::string_view::npos;
    return column || word == "x" || word == "pi" || word == "e" || word == "norm" ||
           find_call(word) != nullptr;
}

}  // namespace

struct Formula::Node {
    using Pointer = std::shared_ptr<const Node>;

    Kind kind = Kind::number;
    double value = 0;
    std::size_t column = 0;
    std::string name{};
    const Call* call = nullptr;
    std::vector<Pointer> parts{};
    std::vector<bool> inverse{};  ///< sum: subtracted; product: divided by
};

namespace {

using Node = Formula::Node;
using Pointer = Node::Pointer;

Pointer make(Node node) {
    return std::make_shared<const Node>(std::move(node));
}

// ---- Reading. One function for each level of binding, loosest first.

class Reader {
   public:
    explicit Reader(Scanner& scanner) : in_(scanner) {}

    Pointer sum() {
        return chain(Kind::sum, '+', '-', [this] { return product(); });
    }

   private:
    Pointer product() {
        return chain(Kind::product, '*', '/', [this] { return unary(); });
    }

    /// part op part op …, as one node however long, so that depth grows only with nesting.
    Pointer chain(Kind kind, char plain, char inverse, const std::function<Pointer()>& part) {
        Node node{.kind = kind};
        node.parts.push_back(part());
        node.inverse.push_back(false);
        while (true) {
            const std::size_t at = in_.position();
            const bool inverted = in_.peek() == inverse;
            if (!in_.accept(plain) && !in_.accept(inverse)) break;
            if (kind == Kind::product && in_.peek() == '*') {
                in_.fail_at(at, "write powers with ^, not **");
            }
            node.parts.push_back(part());
            node.inverse.push_back(inverted);
        }
        return node.parts.size() == 1 ? node.parts.front() : make(std::move(node));
    }

    Pointer unary() {
        const Scanner::Level level(in_);
        if (in_.accept('+')) return unary();
        if (in_.accept('-')) return make({.kind = Kind::negate, .parts = {unary()}});
        Pointer base = atom();
        if (!in_.accept('^')) return base;
        return make({.kind = Kind::power, .parts = {std::move(base), unary()}});
    }

    Pointer atom() {
        if (in_.at_number()) return make({.kind = Kind::number, .value = in_.number()});
        if (in_.at_quote()) return make({.kind = Kind::name, .name = in_.quoted_name()});
        if (in_.at_word()) return word();
        if (in_.accept('(')) {
            Pointer inside = sum();
            in_.expect(')', "to close the parenthesis");
            return inside;
        }
        if (in_.accept('|')) {
            Pointer inside = sum();
            in_.expect('|', "to close the absolute value");
            return make({.kind = Kind::call, .call = find_call("abs"), .parts = {inside}});
        }
        in_.fail("expected a number, a column such as x0, a name or '(', found " + in_.found());
    }

    Pointer word() {
        const std::size_t at = in_.position();
        const std::string word = in_.word();
        if (const auto column = column_word(word)) {
            return make({.kind = Kind::column, .column = *column});
        }
        if (word == "x" && in_.accept('[')) {
            const std::size_t column = in_.index("a column number");
            in_.expect(']', "to close the column number");
            return make({.kind = Kind::column, .column = column});
        }
        if (word == "pi") return make({.kind = Kind::number, .value = std::numbers::pi});
        if (word == "e") return make({.kind = Kind::number, .value = std::numbers::e});
        if (word == "norm") return make({.kind = Kind::norm});
        if (const Call* call = find_call(word)) return arguments(*call);
        if (in_.peek() == '(') {
            in_.fail_at(at, "there is no function " + quoted(word) +
                                "; there are exp log sqrt abs sin cos tan tanh sign floor min max");
        }
        // x alone is a column of that name: nothing else could be meant.
        if (word != "x" && is_reserved(word)) {
            in_.fail_at(at, "this column number is too large");
        }
        return make({.kind = Kind::name, .name = word});
    }

    Pointer arguments(const Call& call) {
        const std::string name = call.name;
        in_.expect('(', "after the function " + name + " (a column of that name goes in quotes)");
        Node node{.kind = Kind::call, .call = &call};
        for (std::size_t i = 0; i < call.arguments; ++i) {
            if (i > 0) in_.expect(',', "because " + name + " takes two arguments");
            node.parts.push_back(sum());
        }
        in_.expect(')', "to close " + name + "(");
        return make(std::move(node));
    }

    Scanner& in_;
};

// ---- Printing. Levels: 1 sum, 2 product, 3 negation, 4 power, 5 the rest.

int level_of(const Node& node) {
    switch (node.kind) {
        case Kind::sum: return 1;
        case Kind::product: return 2;
        case Kind::negate: return 3;
        case Kind::power: return 4;
        default: return 5;
    }
}

std::string print(const Node& node, int least);

std::string print_chain(const Node& node, const char* plain, const char* inverse) {
    // The first part may bind as loosely as the chain itself: (a + b) + c is a + b + c.
    const int level = level_of(node);
    std::string result = print(*node.parts.front(), level);
    for (std::size_t i = 1; i < node.parts.size(); ++i) {
        result += node.inverse[i] ? inverse : plain;
        result += print(*node.parts[i], level + 1);
    }
    return result;
}

std::string print_bare(const Node& node) {
    switch (node.kind) {
        case Kind::number: return format_number(node.value);
        case Kind::column: return "x" + std::to_string(node.column);
        case Kind::norm: return "norm";
        case Kind::sum: return print_chain(node, " + ", " - ");
        case Kind::product: return print_chain(node, "*", "/");
        case Kind::negate: return "-" + print(*node.parts[0], 3);
        case Kind::power: return print(*node.parts[0], 5) + "^" + print(*node.parts[1], 3);
        case Kind::name:
            return is_plain_word(node.name) && !is_reserved(node.name)
                       ? node.name
                       : in_double_quotes(node.name);
        case Kind::call: break;
    }
    std::string result = std::string(node.call->name) + "(";
    for (std::size_t i = 0; i < node.parts.size(); ++i) {
        result += (i == 0 ? "" : ", ") + print(*node.parts[i], 0);
    }
    return result + ")";
}

std::string print(const Node& node, int least) {
    const std::string bare = print_bare(node);
    return level_of(node) < least ? "(" + bare + ")" : bare;
}

// ---- Values.

double evaluate(const Node& node, std::span<const double> row);

double column_value(const Node& node, std::span<const double> row) {
    if (node.column < row.size()) return row[node.column];
    throw InvalidInput("formula: column x" + std::to_string(node.column) +
                       " is not there; the row has " + std::to_string(row.size()) +
                       " columns, counted from 0");
}

double evaluate_parts(const Node& node, std::span<const double> row) {
    double result = evaluate(*node.parts.front(), row);
    for (std::size_t i = 1; i < node.parts.size(); ++i) {
        const double part = evaluate(*node.parts[i], row);
        if (node.kind == Kind::sum) {
            result = node.inverse[i] ? result - part : result + part;
        } else {
            result = node.inverse[i] ? result / part : result * part;
        }
    }
    return result;
}

double evaluate(const Node& node, std::span<const double> row) {
    switch (node.kind) {
        case Kind::number: return node.value;
        case Kind::column: return column_value(node, row);
        case Kind::norm: {
            double sum = 0;
            for (const double x : row) sum += x * x;
            return std::sqrt(sum);
        }
        case Kind::sum:
        case Kind::product: return evaluate_parts(node, row);
        case Kind::negate: return -evaluate(*node.parts[0], row);
        case Kind::power:
            return std::pow(evaluate(*node.parts[0], row), evaluate(*node.parts[1], row));
        case Kind::call:
            return node.call->one ? node.call->one(evaluate(*node.parts[0], row))
                                  : node.call->two(evaluate(*node.parts[0], row),
                                                   evaluate(*node.parts[1], row));
        case Kind::name: break;
    }
    throw InvalidInput("formula: the column " + quoted(node.name) +
                       " is known by name only; bind the formula to column names first");
}

Pointer bind_names(const Pointer& node, std::span<const std::string> names) {
    if (node->kind == Kind::name) {
        const auto found = std::find(names.begin(), names.end(), node->name);
        if (found == names.end()) {
            const auto near = nearest_word(node->name, {names.begin(), names.end()});
            throw InvalidInput("formula: there is no column " + quoted(node->name) +
                               (names.empty() ? "; the data has no column names, use x0, x1, ..."
                                : near        ? "; did you mean " + quoted(*near) + "?"
                                : node->name == "x"
                                    ? "; columns by number are x0, x1, ... or x[0], x[1], ..."
                                    : ""));
        }
        if (std::find(found + 1, names.end(), node->name) != names.end()) {
            throw InvalidInput("formula: more than one column is called " + quoted(node->name) +
                               "; use its number, as in x0");
        }
        return make(
            {.kind = Kind::column, .column = static_cast<std::size_t>(found - names.begin())});
    }
    Node copy = *node;
    for (Pointer& part : copy.parts) part = bind_names(part, names);
    return make(std::move(copy));
}

bool any_names(const Node& node) {
    return node.kind == Kind::name ||
           std::any_of(node.parts.begin(), node.parts.end(),
                       [](const Pointer& part) { return any_names(*part); });
}

std::size_t highest_column(const Node& node) {
    std::size_t result = node.kind == Kind::column ? node.column + 1 : 0;
    for (const Pointer& part : node.parts) result = std::max(result, highest_column(*part));
    return result;
}

}  // namespace

Formula Formula::parse(std::string_view text) {
    Scanner scanner(text, "formula");
    Formula result = parse(scanner);
    if (!scanner.at_end()) {
        scanner.fail("expected an operator or the end, found " + scanner.found());
    }
    return result;
}

Formula Formula::parse(Scanner& scanner) {
    return Formula(Reader(scanner).sum());
}

std::string Formula::text() const {
    return print(*root_, 0);
}

double Formula::operator()(std::span<const double> row) const {
    return evaluate(*root_, row);
}

Formula Formula::bind(std::span<const std::string> names) const {
    return any_names(*root_) ? Formula(bind_names(root_, names)) : *this;
}

bool Formula::has_names() const {
    return any_names(*root_);
}

std::size_t Formula::columns_needed() const {
    return highest_column(*root_);
}

namespace {

FormulaTree copy_tree(const Node& node) {
    FormulaTree tree{.kind = node.kind,
                     .value = node.value,
                     .column = node.column,
                     .name = node.call ? node.call->name : node.name,
                     .inverse = node.inverse};
    for (const Pointer& part : node.parts) tree.parts.push_back(copy_tree(*part));
    return tree;
}

}  // namespace

FormulaTree tree_of(const Formula& formula) {
    // Its text parses back to the same formula, so that the tree stays private to this file.
    const std::string text = formula.text();
    Scanner scanner(text, "formula");
    return copy_tree(*Reader(scanner).sum());
}

}  // namespace mercer
