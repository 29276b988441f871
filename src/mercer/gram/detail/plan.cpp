#include "mercer/gram/detail/plan.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/base/words.hpp"
#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {
namespace {

/// Walks the expression once, sharing equal groups, sources and sides as it goes.
class Compiler {
   public:
    Compiler(std::size_t columns, std::span<const ObjectName> objects)
        : objects_(objects.begin(), objects.end()), unread_(objects_) {
        plan_.groups.push_back({.key = "", .width = columns, .objects = objects_});
    }

    Plan take(const Kernel& kernel) {
        plan_.kernel.push_back(kernel);
        emit(kernel.node(), 0, 0);
        plan_.program = std::move(program_);
        if (!unread_.empty()) refuse_unread(kernel);
        return std::move(plan_);
    }

   private:
    // ---- instructions

    Instruction& push(Code code, std::size_t target, double a = 0, double b = 0) {
        return program_.emplace_back(Instruction{.code = code, .target = target, .a = a, .b = b});
    }
    void load(std::size_t target, const Source& source) {
        if (!source.kernel.empty()) plan_.groups[source.group].raw = true;
        push(Code::load, target).source = share(source);
    }
    void dot(std::size_t target, std::size_t group) {
        plan_.groups[group].dots = true;
        plan_.groups[group].placed = true;
        load(target, {.kind = SourceKind::dot, .group = group});
    }
    /// ‖x−z‖² and what is made of it. Short rows are as fast by differences, which keep all digits
    /// near 0; long ones go through the matrix product unless `steep`: a jump or a root of the
    /// distance needs those digits.
    void distance(Code code, std::size_t target, std::size_t group, double a = 0,
                  bool steep = false) {
        Instruction made{.code = code, .target = target, .a = a};
        const bool is_short =
            plan_.groups[group].width < short_row && !plan_.groups[group].features;
        if (steep || is_short) {
            plan_.groups[group].columnwise = true;
            made.source = share(Source{.kind = SourceKind::squared, .group = group});
        } else {
            plan_.groups[group].distances = true;
            made.source = share(Source{.kind = SourceKind::dot, .group = group});
            made.side = share(Side{.kind = SideKind::squared_norm, .group = group});
        }
        program_.push_back(made);
    }
    void columnwise(std::size_t target, SourceKind kind, std::size_t group, double a = 0,
                    double b = 0) {
        plan_.groups[group].columnwise = true;
        if (kind == SourceKind::chi2 || kind == SourceKind::intersection) {
            plan_.groups[group].placed = true;
        }
        load(target, {.kind = kind, .group = group, .a = a, .b = b});
    }
    void power(std::size_t target, double exponent) {
        const bool whole = exponent >= 0 && exponent <= 1024 && exponent == std::floor(exponent);
        if (exponent == 1) return;
        if (whole) {
            push(Code::integer_power, target, 0, exponent);
        } else {
            push(Code::power, target, exponent);
        }
    }

    // ---- sharing

    std::size_t share(const Source& source) {
        const bool shareable = source.kernel.empty();
        for (std::size_t i = 0; shareable && i < plan_.sources.size(); ++i) {
            const Source& other = plan_.sources[i];
            if (other.kind == source.kind && other.group == source.group && other.a == source.a &&
                other.b == source.b && other.kernel.empty()) {
                return i;
            }
        }
        plan_.sources.push_back(source);
        return plan_.sources.size() - 1;
    }
    std::size_t share(Side side) {
        for (std::size_t i = 0; i < plan_.sides.size(); ++i) {
            const Side& other = plan_.sides[i];
            if (side.program.empty() && other.kind == side.kind && other.group == side.group &&
                other.formula == side.formula && other.program.empty()) {
                return i;
            }
        }
        plan_.sides.push_back(std::move(side));
        return plan_.sides.size() - 1;
    }
    std::size_t share(Group group) {
        for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
            if (plan_.groups[i].key == group.key) return i;
        }
        plan_.groups.push_back(std::move(group));
        return plan_.groups.size() - 1;
    }
    /// A side computed by the program of a part of the expression.
    std::size_t side_of(SideKind kind, const KernelNode& part, std::size_t group) {
        Program outer = std::move(program_);
        program_.clear();
        emit(part, group, 0);
        Side side{.kind = kind, .group = group, .formula = {}, .program = std::move(program_)};
        program_ = std::move(outer);
        return share(std::move(side));
    }

    Group derived(std::size_t parent, const std::string& key, Group::Step step, std::size_t width) {
        const Group& from = plan_.groups[parent];
        Group group{.key = from.key + key,
                    .width = width,
                    .steps = from.steps,
                    .objects = from.objects,
                    .features = from.features};
        if (!step.columns.empty() || !step.formulas.empty()) group.steps.push_back(std::move(step));
        return group;
    }
    std::size_t subset(const KernelNode& node, std::size_t parent) {
        std::vector<std::size_t> positions = node.subset.positions(plan_.groups[parent].width);
        const std::size_t width = positions.size();
        Group group = derived(parent, '[' + node.subset.text() + ']',
                              {.columns = std::move(positions), .formulas = {}}, width);
        std::erase_if(group.objects, [&](const ObjectName& object) {
            return std::ranges::none_of(node.subset.items, [&](const ColumnSet::Item& item) {
                return item.object && item.name == object.name;
            });
        });
        return share(std::move(group));
    }
    std::size_t mapped(const KernelNode& node, std::size_t parent) {
        if (node.children.size() > 1) {
            std::size_t seen = parent;
            const KernelNode* leaf = &node.children[1].node();
            for (; leaf->kind == KernelKind::columns; leaf = &leaf->children.front().node()) {
                seen = subset(*leaf, seen);
            }
            return featured(*leaf, seen, is_counts_in_common(node));
        }
        std::string key = "(";
        for (const Formula& formula : node.formulas) {
            need_columns(formula, parent);
            key += formula.text() + ',';
        }
        return share(derived(parent, key + ')', {.columns = {}, .formulas = node.formulas},
                             node.formulas.size()));
    }
    /// Rows of the features of a leaf.
    std::size_t featured(const KernelNode& leaf, std::size_t parent, bool unary = false) {
        const Kernel kernel(std::make_shared<KernelNode>(leaf));
        const std::string object = object_of(leaf, parent);
        const std::string key = kernel.text() + ' ' + object + (unary ? " unary" : "");
        Group group = derived(parent, '{' + key + '}', {}, 0);
        group.steps.push_back(
            {.columns = {}, .formulas = {}, .features = {kernel}, .unary = unary});
        group.objects = {{object, object_kind(leaf)}};
        group.features = true;
        return share(std::move(group));
    }
    /// The column that a leaf on objects reads: the one of its kind that can be seen. Empty for a
    /// leaf on rows of numbers.
    std::string object_of(const KernelNode& leaf, std::size_t group) {
        return object_of(object_kind(leaf), leaf.entry().name, group);
    }
    std::string object_of(ObjectKind kind, const std::string& name, std::size_t group) {
        if (kind == ObjectKind::numbers) return {};
        std::vector<std::string> names;
        for (const ObjectName& object : plan_.groups[group].objects) {
            if (object.kind == kind) names.push_back(object.name);
        }
        const std::string what = std::string(object_words.word(kind)) + "s";
        if (names.empty()) {
            throw InvalidInput("the kernel " + name + " reads " + what +
                               ", and there is no column of " + what + " here");
        }
        if (names.size() > 1) {
            throw InvalidInput("the kernel " + name + " reads one column of " + what +
                               "; say which of " + one_of(names) + ": " + name + "[" +
                               names.front() + "]");
        }
        std::erase_if(unread_,
                      [&](const ObjectName& object) { return object.name == names.front(); });
        return names.front();
    }
    [[noreturn]] void refuse_unread(const Kernel& kernel) const {
        const ObjectName& object = unread_.front();
        const bool text = object.kind == ObjectKind::text;
        const bool node = object.kind == ObjectKind::node;
        throw InvalidInput("the column " + quoted(object.name) + " holds " +
                           (text   ? "text"
                            : node ? "nodes of a graph"
                                   : "graphs") +
                           ", which the kernel " + quoted(kernel.text(), 80) +
                           " does not read: `leave_out` the column, or use a kernel on " +
                           (text   ? "texts such as words"
                            : node ? "nodes such as diffusion"
                                   : "graphs such as wl"));
    }
    /// Numbers to be read must be there where objects are.
    void need_numbers(const KernelNode& leaf, std::size_t group) const {
        if (plan_.groups[group].width > 0 || plan_.groups[group].features || objects_.empty())
            return;
        throw InvalidInput("the kernel " + leaf.entry().name +
                           " reads numbers, and there are none here beside texts or graphs");
    }
    void need_columns(const Formula& formula, std::size_t group) const {
        const std::size_t width = plan_.groups[group].width;
        if (formula.columns_needed() > width) {
            throw InvalidInput("the formula " + quoted(formula.text()) + " needs column " +
                               std::to_string(formula.columns_needed() - 1) +
                               ", but the rows have " + std::to_string(width) +
                               " columns (counted from 0)");
        }
    }

    // ---- the tree

    void emit(const KernelNode& node, std::size_t group, std::size_t target) {
        switch (node.kind) {
            case KernelKind::sum:
            case KernelKind::product: emit_many(node, group, target); return;
            case KernelKind::scale:
                emit(node.children[0].node(), group, target);
                push(Code::affine, target, node.value);
                return;
            case KernelKind::power:
                emit(node.children[0].node(), group, target);
                power(target, node.value);
                return;
            case KernelKind::exp:
                emit(node.children[0].node(), group, target);
                push(Code::exp, target, 1);
                return;
            case KernelKind::normalize:
                emit_with_side(node, SideKind::inverse_root, Code::scale_outer, group, target);
                return;
            case KernelKind::center:
                emit_with_side(node, SideKind::mean, Code::center, group, target);
                return;
            case KernelKind::rbf_of:
                emit_with_side(node, SideKind::diagonal, Code::feature_gaussian, group, target);
                program_.back().a = -node.parameter("gamma");
                return;
            case KernelKind::columns:
                emit(node.children[0].node(), subset(node, group), target);
                return;
            case KernelKind::map:
                if (is_counts_in_common(node)) return dot(target, mapped(node, group));
                emit(node.children[0].node(), mapped(node, group), target);
                return;
            default: emit_leaf(node, group, target); return;
        }
    }

    void emit_many(const KernelNode& node, std::size_t group, std::size_t target) {
        emit(node.children[0].node(), group, target);
        for (std::size_t i = 1; i < node.children.size(); ++i) {
            emit(node.children[i].node(), group, target + 1);
            const bool sum = node.kind == KernelKind::sum;
            push(sum ? Code::add : Code::multiply, target).operand = target + 1;
        }
    }

    void emit_with_side(const KernelNode& node, SideKind kind, Code code, std::size_t group,
                        std::size_t target) {
        const KernelNode& part = node.children[0].node();
        const std::size_t side = side_of(kind, part, group);
        emit(part, group, target);
        push(code, target).side = side;
    }

    /// What the engine has its own way for; every other leaf goes by its description.
    void emit_leaf(const KernelNode& node, std::size_t group, std::size_t target) {
        switch (node.kind) {
            case KernelKind::bilinear: return emit_bilinear(node, group, target);
            case KernelKind::outer: {
                need_columns(node.formulas[0], group);
                const std::size_t side = share(
                    Side{.kind = SideKind::formula, .group = group, .formula = node.formulas});
                push(Code::outer, target).side = side;
                return;
            }
            case KernelKind::constant: push(Code::constant, target, node.value); return;
            case KernelKind::sets: return emit_sets(node, group, target);
            default: return emit_described(node, group, target);
        }
    }

    void emit_sets(const KernelNode& node, std::size_t group, std::size_t target) {
        const bool texts = node.split != SetSplit::none;
        if (!texts) need_numbers(node, group);
        load(target, {.kind = SourceKind::sets,
                      .group = group,
                      .a = node.value,
                      .b = node.counted ? 1.0 : 0.0,
                      .kernel = {node.children[0]},
                      .object = texts ? object_of(ObjectKind::text, "sets", group) : "",
                      .mean = node.mean,
                      .split = node.split});
    }

    void emit_described(const KernelNode& node, std::size_t group, std::size_t target) {
        if (node.leaf->features != nullptr) return dot(target, featured(node, group));
        const PairNumber number = pair_number(node);
        const bool objects = node.leaf->prepare != nullptr;
        if (!objects) need_numbers(node, group);
        if (objects || number == PairNumber::rows) {
            return load(target, {.kind = SourceKind::pairs,
                                 .group = group,
                                 .kernel = {Kernel(std::make_shared<KernelNode>(node))},
                                 .object = objects ? object_of(node, group) : ""});
        }
        if (node.leaf->fast == nullptr) {
            emit_number(node, number, group, target, true);
            push(Code::apply, target).leaf = &node;
            return;
        }
        const FastForm fast = node.leaf->fast(node);
        std::span<const FastStep> steps = fast.steps;
        // The commonest kernel in one pass.
        if (number == PairNumber::squared && !fast.steep && !steps.empty() &&
            steps.front().code == FastCode::exp) {
            distance(Code::gaussian, target, group, steps.front().a);
            steps = steps.subspan(1);
        } else {
            emit_number(node, number, group, target, fast.steep);
        }
        for (const FastStep& step : steps) emit_step(step, target);
    }

    void emit_number(const KernelNode& node, PairNumber number, std::size_t group,
                     std::size_t target, bool steep) {
        const auto p = [&](const char* name) { return node.parameter(name); };
        switch (number) {
            case PairNumber::dot: return dot(target, group);
            case PairNumber::squared: return distance(Code::distance, target, group, 0, steep);
            case PairNumber::absolute: return columnwise(target, SourceKind::absolute, group);
            case PairNumber::chi2: return columnwise(target, SourceKind::chi2, group);
            case PairNumber::minima: return columnwise(target, SourceKind::intersection, group);
            case PairNumber::sine: return columnwise(target, SourceKind::sine, group, p("period"));
            case PairNumber::anova:
                return columnwise(target, SourceKind::anova, group, p("gamma"), p("degree"));
            case PairNumber::nothing: push(Code::constant, target); return;
            case PairNumber::rows: break;
        }
        throw std::logic_error("a number of a pair without instructions");
    }

    void emit_step(const FastStep& step, std::size_t target) {
        const auto code = [&] {
            switch (step.code) {
                case FastCode::exp: return Code::exp;
                case FastCode::tanh: return Code::tanh;
                case FastCode::logistic: return Code::logistic;
                case FastCode::root: return Code::root;
                case FastCode::matern: return Code::matern;
                case FastCode::at_most: return Code::step;
                default: return Code::affine;
            }
        };
        if (step.code == FastCode::power) return power(target, step.a);
        push(code(), target, step.a, step.b);
    }

    void emit_bilinear(const KernelNode& node, std::size_t group, std::size_t target) {
        const std::size_t width = plan_.groups[group].width;
        if (node.matrix.rows() != width) {
            throw InvalidInput("the matrix of bilinear is " + std::to_string(node.matrix.rows()) +
                               " × " + std::to_string(node.matrix.columns()) +
                               ", but the rows have " + std::to_string(width) + " columns");
        }
        Group shaped = derived(group, node.name + Kernel(std::make_shared<KernelNode>(node)).text(),
                               {}, width);
        shaped.form = node.matrix;
        dot(target, share(std::move(shaped)));
    }

    Plan plan_;
    Program program_;
    std::vector<ObjectName> objects_;
    std::vector<ObjectName> unread_;  ///< by no leaf so far
};

}  // namespace

std::size_t Plan::registers() const {
    std::size_t highest = 0;
    const auto look = [&](const Program& part) {
        for (const Instruction& instruction : part) {
            highest = std::max({highest, instruction.target, instruction.operand});
        }
    };
    look(program);
    for (const Side& side : sides) look(side.program);
    return highest + 1;
}

Plan compile(const Kernel& kernel, std::size_t columns, std::span<const ObjectName> objects) {
    return Compiler(columns, objects).take(kernel);
}

}  // namespace mercer
