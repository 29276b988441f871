#include "mercer/kernel/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "mercer/base/detail/infinity.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/base/words.hpp"
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

/// Kernels made of kernels. Leaves are described one by one in kernel/leaf/.
const std::vector<KernelEntry>& combinations() {
    using K = KernelKind;
    static const std::vector<KernelEntry> table{
        {K::sum, "sum", {}, "a + b", "also a - b", {}},
        {K::product, "product", {}, "a * b", "", {}},
        {K::scale, "scale", {}, "factor * k", "also k * factor, k / number, -k", {}},
        {K::power, "power_of", {}, "k ^ number", "", {}},
        {K::exp, "exp", {}, "exp(k(x,z))", "exp(k)", {}},
        {K::normalize,
         "normalize",
         {"normalise"},
         "k(x,z) / sqrt(k(x,x) k(z,z))",
         "normalize(k); 0 where a norm is 0",
         {}},
        {K::center,
         "center",
         {"centre"},
         "<f(x) - mean, f(z) - mean>",
         "center(k), the centre of mass of the training sample moved to the origin",
         {}},
        {K::rbf_of,
         "rbf_of",
         {"gaussian_of"},
         "exp(-gamma (k(x,x) + k(z,z) - 2 k(x,z)))",
         "rbf_of(k, gamma=1), the Gaussian in k's feature space",
         leaves::gaussian_forms(1.0, false)},
        {K::columns,
         "columns",
         {},
         "k on some columns",
         "k[0:10], k[3], k[age,\"sepal length\"]",
         {}},
        {K::map, "map", {}, "k(f(x), f(z))", "map(k, x0^2, x0*x1), one formula a coordinate", {}},
        {K::sets,
         "sets",
         {},
         "sum of k(a, b) over a in x, b in z",
         "sets(k, width=3): a row is a set of vectors one after another; counted=true: the first "
         "number of a row says how many; sets(k, split=lines): a text is the set of its lines; "
         "mean=true: the mean over pairs in place of the sum",
         {leaves::whole("width", {}, 1, 1e9, {}), leaves::truth("counted"),
          leaves::word("split", set_splits.words()), leaves::truth("mean")}},
    };
    return table;
}

std::string range_text(const ParameterForm& form) {
    const std::string what = form.integer ? "a whole number" : "a number";
    if (form.high < infinity) {
        return what + " from " + format_number(form.low) + " to " + format_number(form.high);
    }
    if (form.low > -infinity) {
        return what + (form.low_open ? " > " : " >= ") + format_number(form.low);
    }
    return what;
}

/// "0.5, 1.5 or 2.5"
std::string choices_text(const std::vector<double>& choices) {
    std::string text;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        if (i > 0) text += i + 1 < choices.size() ? ", " : " or ";
        text += format_number(choices[i]);
    }
    return text;
}

}  // namespace

std::vector<const KernelEntry*> kernel_table() {
    std::vector<const KernelEntry*> table;
    for (const Leaf* leaf : all_leaves()) table.push_back(&leaf->entry);
    const auto registered = table.begin() + static_cast<std::ptrdiff_t>(built_in_leaves().size());
    std::vector<const KernelEntry*> combined;
    for (const KernelEntry& entry : combinations()) combined.push_back(&entry);
    table.insert(registered, combined.begin(), combined.end());
    return table;
}

const KernelEntry& combination_entry(KernelKind kind) {
    for (const KernelEntry& entry : combinations()) {
        if (entry.kind == kind) return entry;
    }
    throw std::logic_error("a kind of combination without an entry in the table");
}

bool KernelEntry::is_plain_call() const {
    return kind == KernelKind::leaf || kind == KernelKind::linear ||
           kind == KernelKind::precomputed || kind == KernelKind::constant;
}

const KernelEntry& KernelNode::entry() const {
    return leaf != nullptr ? leaf->entry : combination_entry(kind);
}

const KernelEntry* find_entry(std::string_view name) {
    if (const Leaf* leaf = find_leaf(name)) return &leaf->entry;
    for (const KernelEntry& entry : combinations()) {
        // These are written with operators and numbers, not by name.
        const bool unnamed = entry.kind == KernelKind::sum || entry.kind == KernelKind::product ||
                             entry.kind == KernelKind::scale || entry.kind == KernelKind::power ||
                             entry.kind == KernelKind::columns;
        const bool called =
            entry.name == name || std::ranges::find(entry.aliases, name) != entry.aliases.end();
        if (called && !unnamed) return &entry;
    }
    return nullptr;
}

std::vector<std::string> kernel_names(bool with_aliases) {
    std::vector<std::string> names;
    for (const KernelEntry* entry : kernel_table()) {
        if (find_entry(entry->name) == entry) names.push_back(entry->name);
        if (!with_aliases) continue;
        names.insert(names.end(), entry->aliases.begin(), entry->aliases.end());
    }
    return names;
}

const ParameterForm* find_form(const KernelEntry& entry, std::string_view name) {
    for (const ParameterForm& form : entry.parameters) {
        const auto& aliases = form.aliases;
        if (form.name == name || std::find(aliases.begin(), aliases.end(), name) != aliases.end()) {
            return &form;
        }
    }
    return nullptr;
}

GivenParameters preset_parameters(const KernelEntry& entry, std::string_view alias) {
    for (const auto& [name, given] : entry.presets) {
        if (name == alias) return given;
    }
    return {};
}

std::string parameter_text(const Parameter& value) {
    if (const double* number = std::get_if<double>(&value)) return format_number(*number);
    return std::get<Rule>(value) == Rule::scale ? "scale" : "auto";
}

std::string parameter_text(const ParameterForm& form, const Parameter& value) {
    const double* number = std::get_if<double>(&value);
    if (number == nullptr || form.words.empty()) return parameter_text(value);
    return form.words.at(static_cast<std::size_t>(*number));
}

std::string parameter_names(const KernelEntry& entry) {
    std::string result;
    for (const ParameterForm& form : entry.parameters) {
        result += (result.empty() ? "" : ", ") + form.name;
    }
    return result.empty() ? "no parameters" : result;
}

std::string parameter_problem(const KernelEntry& entry, const ParameterForm& form,
                              const Parameter& value) {
    const std::string name = form.name + " of " + entry.name;
    if (std::holds_alternative<Rule>(value)) {
        if (form.rule_allowed) return {};
        return name + " cannot be " + parameter_text(value) + "; give " + range_text(form);
    }
    const double v = std::get<double>(value);
    if (!form.words.empty()) {
        const bool known = std::ranges::find(form.choices, v) != form.choices.end();
        return known ? "" : name + " must be " + one_of(form.words);
    }
    const std::string found = ", found " + format_number(v);
    const bool inside = std::isfinite(v) && v <= form.high && v >= form.low &&
                        !(form.low_open && v == form.low) && !(form.integer && v != std::floor(v));
    if (!inside) return name + " must be " + range_text(form) + found;
    if (!form.choices.empty() && std::ranges::find(form.choices, v) == form.choices.end()) {
        return name + " must be " + choices_text(form.choices) + found;
    }
    // sigma = 1e-200 is a number, 1 / (2 sigma²) is not.
    if (!std::isfinite(form.convert(v))) {
        return name + " = " + format_number(v) + " makes " + form.canonical +
               " infinite; give one nearer to 1";
    }
    return {};
}

Parameter canonical_parameter(const KernelNode& node, std::string_view canonical) {
    const KernelEntry& entry = node.entry();
    for (const ParameterForm& form : entry.parameters) {
        if (form.canonical != canonical) continue;
        for (const auto& [name, value] : node.given) {
            if (name != form.name) continue;
            if (const double* number = std::get_if<double>(&value)) return form.convert(*number);
            return value;
        }
    }
    for (const ParameterForm& form : entry.parameters) {
        if (form.name == canonical && form.fallback) return *form.fallback;
    }
    throw InvalidInput(entry.name + " has no parameter " + quoted(canonical) + "; it has " +
                       parameter_names(entry));
}

double KernelNode::parameter(std::string_view canonical) const {
    const Parameter result = canonical_parameter(*this, canonical);
    if (const double* number = std::get_if<double>(&result)) return *number;
    throw InvalidInput(entry().name + "(" + std::string(canonical) + "=" + parameter_text(result) +
                       ") is a rule that waits for data; resolve the kernel on a data set first, "
                       "or give a number");
}

}  // namespace mercer
