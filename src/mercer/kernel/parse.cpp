// The text syntax of kernels (docs/kernels.md):
//
//   sum      := product { ("+" | "-") product }
//   product  := signed { ("*" | "/") signed }
//   signed   := { "+" | "-" } power
//   power    := subset [ "^" [ "+" | "-" ] ( number | "(" sum ")" ) ]
//   subset   := atom { "[" item { "," item } "]" }
//   atom     := number | "pi" | "(" sum ")" | name [ "(" arguments ")" ]
//
// One function a rule. Everything is built through detail/build.hpp, so the result is in normal
// form.
#include <algorithm>
#include <numbers>
#include <optional>

#include "mercer/base/detail/scanner.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/base/words.hpp"
#include "mercer/kernel/detail/build.hpp"
#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {
namespace {

bool is_constant(const Kernel& k) {
    return k.node().kind == KernelKind::constant;
}

class Reader {
   public:
    explicit Reader(std::string_view text) : in_(text, "kernel") {}

    Kernel whole() {
        if (in_.at_end()) in_.fail("expected a kernel such as rbf(gamma=0.5), found the end");
        Kernel result = sum();
        if (!in_.at_end()) {
            in_.fail("expected one of + - * / ^ [ or the end, found " + in_.found());
        }
        return result;
    }

   private:
    /// Runs a builder and shows where in the text its complaint belongs.
    template <class Build>
    auto at(std::size_t position, Build&& build) {
        try {
            return build();
        } catch (const InvalidInput& problem) {
            in_.fail_at(position, problem.what());
        }
    }

    Kernel sum() {
        const std::size_t start = in_.position();
        std::vector<Kernel> parts{product()};
        while (in_.peek() == '+' || in_.peek() == '-') {
            const double sign = in_.accept('+') ? 1 : (in_.accept('-'), -1);
            const std::size_t where = in_.position();
            const Kernel part = product();
            parts.push_back(sign < 0 ? at(where, [&] { return make_scale(-1, part); }) : part);
        }
        return at(start, [&] { return make_sum(parts); });
    }

    Kernel product() {
        const std::size_t start = in_.position();
        std::vector<Kernel> parts{signed_part()};
        // Numbers in front are worked out as they come: 6/3 is exactly 2, 6 * (1/3) need not be.
        const auto multiply = [&](const Kernel& factor, double number) {
            if (parts.size() == 1 && is_constant(parts.front()) && is_constant(factor)) {
                parts.front() = make_constant(number);
            } else {
                parts.push_back(factor);
            }
        };
        while (in_.peek() == '*' || in_.peek() == '/') {
            const std::size_t operation = in_.position();
            const bool divided = in_.accept('/');
            if (!divided) in_.accept('*');
            if (!divided && in_.peek() == '*') {
                in_.fail_at(operation, "write powers with ^, not **");
            }
            const std::size_t where = in_.position();
            const Kernel factor = signed_part();
            const double before = parts.front().node().value;
            const double value = factor.node().value;
            if (divided && !is_constant(factor)) {
                in_.fail_at(where, "a kernel can be divided by a number only; write k^-1 for 1/k");
            }
            if (divided && value == 0) in_.fail_at(where, "division by zero");
            at(where, [&] {
                if (divided)
                    multiply(make_constant(1 / value), before / value);
                else
                    multiply(factor, before * value);
                return true;
            });
        }
        return at(start, [&] { return make_product(parts); });
    }

    Kernel signed_part() {
        const std::size_t start = in_.position();
        bool negative = false;
        while (in_.peek() == '+' || in_.peek() == '-')
            negative ^= !in_.accept('+') && in_.accept('-');
        const Kernel result = power();
        return negative ? at(start, [&] { return make_scale(-1, result); }) : result;
    }

    Kernel power() {
        const std::size_t start = in_.position();
        const Kernel base = subset();
        if (!in_.accept('^')) return base;
        const bool negative = !in_.accept('+') && in_.accept('-');
        const std::size_t where = in_.position();
        std::optional<double> exponent;
        if (in_.at_number()) {
            exponent = in_.number();
        } else if (in_.accept('(')) {
            exponent = number_in_parentheses(where);
        } else {
            in_.fail("expected a number as the exponent, found " + in_.found());
        }
        if (in_.peek() == '^') in_.fail("two powers in a row; write (k^2)^3 or k^6");
        if (in_.peek() == '[') in_.fail("a subset goes before the power: k[0:3]^2 or (k^2)[0:3]");
        return at(start, [&] { return make_power(base, negative ? -*exponent : *exponent); });
    }

    double number_in_parentheses(std::size_t where) {
        const Kernel inside = sum();
        in_.expect(')', "to close the exponent");
        if (!is_constant(inside)) in_.fail_at(where, "an exponent must be a number, not a kernel");
        return inside.node().value;
    }

    Kernel subset() {
        Kernel result = atom();
        while (in_.peek() == '[') {
            const std::size_t where = in_.position();
            const ColumnSet columns = read_columns(in_);
            result = at(where, [&] { return result[columns]; });
        }
        return result;
    }

    Kernel atom() {
        const Scanner::Level level(in_);
        if (in_.at_number()) return make_constant(in_.number());
        if (in_.accept('(')) {
            Kernel inside = sum();
            in_.expect(')', "to close the parenthesis");
            return inside;
        }
        if (!in_.at_word()) in_.fail("expected a kernel or a number, found " + in_.found());
        const std::size_t where = in_.position();
        const std::string name = in_.word();
        if (name == "pi" && in_.peek() != '(') return make_constant(std::numbers::pi);
        const KernelEntry* entry = find_entry(name);
        if (entry == nullptr) unknown_kernel(where, name);
        return at_kernel(*entry, name, where);
    }

    [[noreturn]] void unknown_kernel(std::size_t where, const std::string& name) {
        const auto near = nearest_word(name, kernel_names(true));
        std::string hint = near ? "did you mean " + *near + "?" : "there are";
        if (!near) {
            for (const std::string& known : kernel_names(false)) hint += " " + known;
        }
        in_.fail_at(where, "unknown kernel " + quoted(name) + "; " + hint);
    }

    Kernel at_kernel(const KernelEntry& entry, const std::string& name, std::size_t where) {
        switch (entry.kind) {
            case KernelKind::exp:
            case KernelKind::normalize:
            case KernelKind::center: {
                open(entry.name, "a kernel");
                const Kernel inside = sum();
                close(entry.name);
                return at(where, [&] { return make_wrapped(entry.kind, inside); });
            }
            case KernelKind::rbf_of: {
                open(entry.name, "a kernel");
                const Kernel inside = sum();
                const GivenParameters given = more_parameters(entry);
                return at(where, [&] { return make_rbf_of(inside, given); });
            }
            case KernelKind::map: return map_call(where);
            case KernelKind::sets: return sets_call(where);
            case KernelKind::outer: {
                open(entry.name, "a formula such as 1 + x0^2");
                const Formula f = Formula::parse(in_);
                close(entry.name);
                return outer(f);
            }
            case KernelKind::bilinear: return bilinear_call(where);
            case KernelKind::user: return user_call();
            default: return leaf(entry, name, where);
        }
    }

    void open(const std::string& name, const std::string& what) {
        in_.expect('(', "because " + name + " takes " + what);
    }
    void close(const std::string& name) { in_.expect(')', "to close " + name + "("); }

    Kernel leaf(const KernelEntry& entry, const std::string& name, std::size_t where) {
        const Leaf* described = find_leaf(entry.name);
        if (described->read != nullptr) {
            open(entry.name, "a model such as gmm(components=8)");
            KernelNode node = described->read(in_);
            close(entry.name);
            node.leaf = described;
            return at(where, [&] { return make_node(std::move(node)); });
        }
        GivenParameters given = preset_parameters(entry, name);
        learnt_.reset();
        if (in_.accept('(')) {
            if (!in_.accept(')')) {
                parameter(entry, given);
                while (in_.accept(',')) parameter(entry, given);
                close(name);
            }
        }
        if (entry.kind == KernelKind::constant) {
            if (given.empty()) in_.fail_at(where, "constant needs value, as in constant(value=1)");
            return make_constant(std::get<double>(given.front().second));
        }
        return at(where, [&] {
            const Kernel plain = make_leaf(*described, given);
            if (learnt_ == nullptr) return plain;
            KernelNode node = plain.node();
            node.learnt = std::move(learnt_);
            return make_node(std::move(node));
        });
    }

    /// ", name=value" repeated, to the closing parenthesis.
    GivenParameters more_parameters(const KernelEntry& entry) {
        GivenParameters given;
        while (in_.accept(',')) parameter(entry, given);
        close(entry.name);
        return given;
    }

    /// One `name=value`, or a bare value for the first parameter not yet given.
    void parameter(const KernelEntry& entry, GivenParameters& given) {
        const std::size_t where = in_.position();
        const ParameterForm* form = nullptr;
        if (in_.at_word()) {
            const std::string name = in_.word();
            if (in_.accept('='))
                form = named_form(entry, name, where);
            else
                in_.go_back(where);
        }
        if (form == nullptr) form = next_form(entry, given, where);
        for (const auto& [other, ignored] : given) {
            if (find_form(entry, other)->canonical != form->canonical) continue;
            in_.fail_at(where, other == form->name ? form->name + " is given twice"
                                                   : other + " and " + form->name + " both set " +
                                                         form->canonical + "; give one of them");
        }
        const std::size_t value_at = in_.position();
        const Parameter value = parameter_value(entry, *form);
        const std::string problem = parameter_problem(entry, *form, value);
        if (!problem.empty()) in_.fail_at(value_at, problem);
        given.emplace_back(form->name, value);
    }

    const ParameterForm* named_form(const KernelEntry& entry, const std::string& name,
                                    std::size_t where) {
        if (const ParameterForm* form = find_form(entry, name)) return form;
        std::vector<std::string> names;
        for (const ParameterForm& form : entry.parameters) {
            names.push_back(form.name);
            names.insert(names.end(), form.aliases.begin(), form.aliases.end());
        }
        const auto near = nearest_word(name, names);
        in_.fail_at(where, entry.name + " has no parameter " + quoted(name) +
                               (near ? "; did you mean " + *near + "?"
                                     : "; it has " + parameter_names(entry)));
    }

    /// Values without names fill the parameters in the order of the table.
    const ParameterForm* next_form(const KernelEntry& entry, const GivenParameters& given,
                                   std::size_t where) {
        for (const ParameterForm& form : entry.parameters) {
            if (form.name != form.canonical) continue;
            bool taken = false;
            for (const auto& [name, ignored] : given) {
                taken |= find_form(entry, name)->canonical == form.canonical;
            }
            if (!taken) return &form;
        }
        in_.fail_at(
            where, entry.name + (entry.parameters.empty()
                                     ? " takes no parameters"
                                     : " takes no more parameters than " + parameter_names(entry)));
    }

    Parameter parameter_value(const KernelEntry& entry, const ParameterForm& form) {
        const std::size_t where = in_.position();
        if (!form.words.empty()) return word_value(entry, form);
        if (in_.at_word()) {
            const std::string word = in_.word();
            if (word == "scale") return Rule::scale;
            if (word == "auto") return Rule::automatic;
            in_.go_back(where);
        }
        const bool starts_number = in_.at_number() || in_.peek() == '-' || in_.peek() == '+' ||
                                   in_.peek() == '(' || in_.peek() == 'p';
        if (starts_number) {
            const Kernel value = sum();
            if (is_constant(value)) return value.node().value;
        }
        in_.go_back(where);
        in_.fail("expected a number" + std::string(form.rule_allowed ? ", scale or auto" : "") +
                 " for " + form.name + " of " + entry.name + ", found " + in_.found());
    }

    Parameter word_value(const KernelEntry& entry, const ParameterForm& form) {
        const std::size_t where = in_.position();
        const Leaf* leaf = in_.peek() == '[' ? find_leaf(entry.name) : nullptr;
        if (leaf != nullptr && leaf->learnt_parameter == form.name) {
            learnt_ = leaf->read_learnt(in_);
            return 1.0;  // the word that asked for it
        }
        const std::string word = in_.at_word() ? in_.word() : "";
        const auto found = std::ranges::find(form.words, word);
        if (found != form.words.end()) return static_cast<double>(found - form.words.begin());
        in_.go_back(where);
        in_.fail("expected " + one_of(form.words) + " for " + form.name + " of " + entry.name +
                 ", found " + in_.found());
    }

    Kernel map_call(std::size_t where) {
        open("map", "a kernel and formulas");
        const Kernel inside = sum();
        std::vector<Formula> formulas;
        std::optional<Kernel> features;
        while (in_.accept(',')) {
            if (!features && formulas.empty()) features = named_features();
            if (features) break;
            formulas.push_back(Formula::parse(in_));
        }
        close("map");
        return at(where, [&] { return features ? map(inside, *features) : map(inside, formulas); });
    }

    /// A kernel where a formula may stand, known by its name.
    std::optional<Kernel> named_features() {
        const std::size_t where = in_.position();
        const Leaf* leaf = in_.at_word() ? find_leaf(in_.word()) : nullptr;
        in_.go_back(where);
        if (leaf == nullptr || leaf->features == nullptr) return std::nullopt;
        return subset();
    }

    Kernel sets_call(std::size_t where) {
        const KernelEntry& entry = combination_entry(KernelKind::sets);
        open("sets", "a kernel and a width");
        const Kernel inside = sum();
        GivenParameters given;
        while (in_.accept(',')) parameter(entry, given);
        close("sets");
        return at(where, [&] { return make_sets(inside, given); });
    }

    Kernel user_call() {
        open("user", "the name of a registered function");
        const std::size_t where = in_.position();
        if (!in_.at_word()) in_.fail("expected the name of a function, found " + in_.found());
        const std::string name = in_.word();
        close("user");
        return at(where, [&] { return make_user(name); });
    }

    Kernel bilinear_call(std::size_t where) {
        open("bilinear", "a matrix such as [[1,0],[0,2]]");
        const Matrix<double> a = read_matrix(in_);
        close("bilinear");
        return at(where, [&] { return bilinear(a); });
    }

    Scanner in_;
    /// What the leaf that is read now has learnt.
    std::shared_ptr<const Learnt> learnt_{};
};

}  // namespace

Kernel Kernel::parse(std::string_view text) {
    Kernel result = Reader(text).whole();
    // Full names and blanks make the printed text longer, up to nine times; it must read back too.
    if (text.size() > Scanner::longest_text / 10 && result.text().size() > Scanner::longest_text) {
        throw InvalidInput("kernel: printed in full the expression is longer than " +
                           std::to_string(Scanner::longest_text) + " bytes. Write it shorter.");
    }
    return result;
}

}  // namespace mercer
