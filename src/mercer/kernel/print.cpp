// Kernels as text. The trees are in the normal form of detail/build.hpp, which makes this the exact
// inverse of parse.cpp.
#include <cmath>

#include "mercer/base/detail/scanner.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/build.hpp"
#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {
namespace {

/// How tightly a piece of text binds; a looser piece inside a tighter place gets parentheses.
enum Level { sum_level = 1, term_level = 2, power_level = 3, atom_level = 4 };

Level level_of(const KernelNode& node) {
    switch (node.kind) {
        case KernelKind::sum: return sum_level;
        case KernelKind::product:
        case KernelKind::scale: return term_level;
        case KernelKind::constant: return node.value < 0 ? term_level : atom_level;
        case KernelKind::power: return power_level;
        default: return atom_level;
    }
}

void print(const KernelNode& node, Level least, std::string& out);

void print_scaled(double factor, const KernelNode& child, std::string& out) {
    if (factor == -1)
        out += "-";
    else if (factor < 0)
        out += "-" + format_number(-factor) + "*";
    else
        out += format_number(factor) + "*";
    print(child, term_level, out);
}

void print_sum(const KernelNode& node, std::string& out) {
    print(node.children.front().node(), term_level, out);
    for (std::size_t i = 1; i < node.children.size(); ++i) {
        const KernelNode& part = node.children[i].node();
        const bool negative =
            part.value < 0 && (part.kind == KernelKind::constant || part.kind == KernelKind::scale);
        out += negative ? " - " : " + ";
        if (!negative) {
            print(part, term_level, out);
        } else if (part.kind == KernelKind::constant) {
            out += format_number(-part.value);
        } else if (part.value == -1) {
            print(part.children.front().node(), term_level, out);
        } else {
            print_scaled(-part.value, part.children.front().node(), out);
        }
    }
}

void print_subsets(const KernelNode& node, std::string& out) {
    std::string subsets;
    const KernelNode* inner = &node;
    for (; inner->kind == KernelKind::columns; inner = &inner->children.front().node()) {
        subsets += "[" + inner->subset.text() + "]";
    }
    print(*inner, atom_level, out);
    out += subsets;
}

void print_call(const KernelNode& node, std::string& out) {
    out += node.entry().name;
    const std::size_t name_end = out.size();
    const auto separate = [&] { out += out.size() == name_end ? "(" : ", "; };
    for (const Kernel& child : node.children) {
        separate();
        print(child.node(), sum_level, out);
    }
    if (node.leaf != nullptr && node.leaf->arguments != nullptr) {
        out += "(" + node.leaf->arguments(node) + ")";
        return;
    }
    for (const auto& [name, value] : node.given) {
        separate();
        const bool learnt = node.learnt != nullptr && name == node.leaf->learnt_parameter;
        out += name + "=" +
               (learnt ? node.leaf->learnt_text(*node.learnt)
                       : parameter_text(*find_form(node.entry(), name), value));
    }
    for (const Formula& f : node.formulas) {
        separate();
        out += f.text();
    }
    if (node.kind == KernelKind::bilinear) {
        separate();
        out += matrix_text(node.matrix);
    }
    if (node.kind == KernelKind::user) {
        separate();
        out += node.name;
    }
    if (node.kind == KernelKind::sets) {
        separate();
        out += node.split != SetSplit::none
                   ? "split=" + std::string(set_splits.word(node.split))
                   : "width=" + format_number(node.value) + (node.counted ? ", counted=true" : "");
        if (node.mean) out += ", mean=true";
    }
    if (out.size() > name_end) out += ")";
}

void print_bare(const KernelNode& node, std::string& out) {
    switch (node.kind) {
        case KernelKind::constant: out += format_number(node.value); return;
        case KernelKind::sum: print_sum(node, out); return;
        case KernelKind::scale: print_scaled(node.value, node.children.front().node(), out); return;
        case KernelKind::product:
            for (std::size_t i = 0; i < node.children.size(); ++i) {
                if (i > 0) out += "*";
                print(node.children[i].node(), power_level, out);
            }
            return;
        case KernelKind::power:
            print(node.children.front().node(), atom_level, out);
            out += "^" + format_number(node.value);
            return;
        case KernelKind::columns: print_subsets(node, out); return;
        default: print_call(node, out);
    }
}

void print(const KernelNode& node, Level least, std::string& out) {
    const bool enclosed = level_of(node) < least;
    if (enclosed) out += "(";
    print_bare(node, out);
    if (enclosed) out += ")";
}

}  // namespace

std::string Kernel::text() const {
    std::string out;
    print(*node_, sum_level, out);
    return out;
}

}  // namespace mercer
