#include "mercer/gram/detail/plan.hpp"

#include <algorithm>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/node.hpp"

namespace mercer {
namespace {

/// Walks the expression once, sharing equal groups, sources and sides as it goes.
class Compiler {
   public:
    explicit Compiler(std::size_t columns) {
        plan_.groups.push_back({.key = "", .width = columns});
    }

    Plan take(const Kernel& kernel) {
        emit(kernel.node(), 0, 0);
        plan_.program = std::move(program_);
        return std::move(plan_);
    }

   private:
    // ---- instructions

    Instruction& push(Code code, std::size_t target, double a = 0, double b = 0) {
        return program_.emplace_back(Instruction{.code = code, .target = target, .a = a, .b = b});
    }
    void load(std::size_t target, const Source& source) {
        if (source.kind == SourceKind::gathered || !source.kernel.empty()) {
            plan_.groups[source.group].raw = true;
        }
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
        if (steep || plan_.groups[group].width < short_row) {
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
        Group group{.key = from.key + key, .width = width, .steps = from.steps};
        if (!step.columns.empty() || !step.formulas.empty()) group.steps.push_back(std::move(step));
        return group;
    }
    std::size_t subset(const KernelNode& node, std::size_t parent) {
        std::vector<std::size_t> positions = node.subset.positions(plan_.groups[parent].width);
        const std::size_t width = positions.size();
        return share(derived(parent, '[' + node.subset.text() + ']',
                             {.columns = std::move(positions), .formulas = {}}, width));
    }
    std::size_t mapped(const KernelNode& node, std::size_t parent) {
        std::string key = "(";
        for (const Formula& formula : node.formulas) {
            need_columns(formula, parent);
            key += formula.text() + ',';
        }
        return share(derived(parent, key + ')', {.columns = {}, .formulas = node.formulas},
                             node.formulas.size()));
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

    void emit_leaf(const KernelNode& node, std::size_t group, std::size_t target) {
        const auto p = [&](const char* name) { return node.parameter(name); };
        switch (node.kind) {
            case KernelKind::linear: return dot(target, group);
            case KernelKind::polynomial:
                dot(target, group);
                push(Code::affine, target, p("gamma"), p("coef0"));
                return power(target, p("degree"));
            case KernelKind::sigmoid:
                dot(target, group);
                push(Code::affine, target, p("gamma"), p("coef0"));
                push(Code::tanh, target);
                return;
            case KernelKind::logistic:
                dot(target, group);
                push(Code::affine, target, p("beta"), -p("theta"));
                push(Code::logistic, target);
                return;
            case KernelKind::exponential_dot:
                dot(target, group);
                push(Code::exp, target, p("gamma"));
                return;
            case KernelKind::bilinear: return emit_bilinear(node, group, target);
            case KernelKind::outer: {
                need_columns(node.formulas[0], group);
                const std::size_t side = share(
                    Side{.kind = SideKind::formula, .group = group, .formula = node.formulas});
                push(Code::outer, target).side = side;
                return;
            }
            case KernelKind::constant: push(Code::constant, target, node.value); return;
            case KernelKind::precomputed:
                return load(target, {.kind = SourceKind::gathered, .group = group});
            case KernelKind::user:
                return load(target, {.kind = SourceKind::user,
                                     .group = group,
                                     .kernel = {Kernel(std::make_shared<KernelNode>(node))}});
            case KernelKind::sets:
                return load(target, {.kind = SourceKind::sets,
                                     .group = group,
                                     .a = node.value,
                                     .b = node.counted ? 1.0 : 0.0,
                                     .kernel = {node.children[0]}});
            default: return emit_distance_leaf(node, group, target);
        }
    }

    void emit_distance_leaf(const KernelNode& node, std::size_t group, std::size_t target) {
        const auto p = [&](const char* name) { return node.parameter(name); };
        switch (node.kind) {
            case KernelKind::rbf: return distance(Code::gaussian, target, group, -p("gamma"));
            // A jump or a root at some distance makes these steep where ‖x‖² + ‖z‖² − 2 x·z has
            // lost its digits, so they take the sum of squared differences.
            case KernelKind::ball:
                distance(Code::distance, target, group, 0, true);
                push(Code::step, target, p("radius") * p("radius"));
                return;
            case KernelKind::negative_distance:
                distance(Code::distance, target, group, 0, true);
                power(target, p("beta") / 2);
                push(Code::affine, target, -1);
                return;
            case KernelKind::inverse_multiquadric:
                distance(Code::distance, target, group);
                push(Code::affine, target, 1, p("c") * p("c"));
                return power(target, -0.5);
            case KernelKind::matern:
                distance(Code::distance, target, group, 0, p("nu") < 1);
                push(Code::matern, target, p("nu"), 1 / p("length"));
                return;
            case KernelKind::rational_quadratic:
                distance(Code::distance, target, group);
                push(Code::affine, target, 1 / (2 * p("alpha") * p("length") * p("length")), 1);
                return power(target, -p("alpha"));
            default: return emit_columnwise_leaf(node, group, target);
        }
    }

    void emit_columnwise_leaf(const KernelNode& node, std::size_t group, std::size_t target) {
        const auto p = [&](const char* name) { return node.parameter(name); };
        switch (node.kind) {
            case KernelKind::laplacian:
                if (p("norm") == 2) {
                    distance(Code::distance, target, group, 0, true);
                    push(Code::root, target);
                } else {
                    columnwise(target, SourceKind::absolute, group);
                }
                push(Code::exp, target, -p("gamma"));
                return;
            case KernelKind::anova:
                return columnwise(target, SourceKind::anova, group, p("gamma"), p("degree"));
            case KernelKind::periodic:
                columnwise(target, SourceKind::sine, group, p("period"));
                push(Code::exp, target, -2 / (p("length") * p("length")));
                return;
            case KernelKind::chi2:
                columnwise(target, SourceKind::chi2, group);
                push(Code::exp, target, -p("gamma"));
                return;
            case KernelKind::additive_chi2:
                columnwise(target, SourceKind::chi2, group);
                push(Code::affine, target, -1);
                return;
            case KernelKind::intersection:
                return columnwise(target, SourceKind::intersection, group);
            default: throw std::logic_error("a kernel kind without instructions");
        }
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

Plan compile(const Kernel& kernel, std::size_t columns) {
    return Compiler(columns).take(kernel);
}

}  // namespace mercer
