// What is known of every named kernel. The parser, the printer, the checks, the help text and the
// table in docs/kernels.md are all read from here.
#include <algorithm>
#include <cmath>
#include <limits>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/build-inl.hpp"

namespace mercer {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double highest_degree = 1000;

double same(double v) {
    return v;
}

ParameterForm any(std::string name, std::vector<std::string> aliases, Parameter fallback,
                  bool rule = false) {
    return {.name = name,
            .aliases = std::move(aliases),
            .canonical = name,
            .convert = same,
            .low = -infinity,
            .high = infinity,
            .rule_allowed = rule,
            .fallback = fallback};
}

ParameterForm at_least_zero(std::string name, Parameter fallback, bool rule = false) {
    ParameterForm form = any(std::move(name), {}, fallback, rule);
    form.low = 0;
    return form;
}

ParameterForm above_zero(std::string name, std::vector<std::string> aliases,
                         std::optional<Parameter> fallback) {
    ParameterForm form = any(std::move(name), std::move(aliases), 0.0);
    form.low = 0;
    form.low_open = true;
    form.fallback = fallback;
    return form;
}

ParameterForm whole(std::string name, std::vector<std::string> aliases, double low, double high,
                    std::optional<Parameter> fallback) {
    ParameterForm form = above_zero(std::move(name), std::move(aliases), fallback);
    form.low = low;
    form.low_open = false;
    form.high = high;
    form.integer = true;
    return form;
}

/// Another way to give `canonical`, which must be positive.
ParameterForm other_form(std::string name, std::vector<std::string> aliases, std::string canonical,
                         double (*convert)(double)) {
    ParameterForm form = above_zero(std::move(name), std::move(aliases), {});
    form.canonical = std::move(canonical);
    form.convert = convert;
    return form;
}

/// gamma and the seeds' other ways to write it: 000 and 001 use sigma, 002 c and sigma² (here
/// width²), 003 and 004 gamma.
std::vector<ParameterForm> gaussian_forms(Parameter fallback, bool rule) {
    return {at_least_zero("gamma", fallback, rule),
            other_form("sigma", {"lengthscale"}, "gamma", [](double v) { return 0.5 / (v * v); }),
            other_form("c", {}, "gamma", [](double v) { return 1 / v; }),
            other_form("width", {}, "gamma", [](double v) { return 1 / (v * v); })};
}

ParameterForm delta_form() {
    ParameterForm form = any("delta", {}, 0.0);
    form.canonical = "coef0";
    form.convert = [](double v) { return -v; };
    form.fallback.reset();
    return form;
}

std::vector<KernelEntry> dot_product_entries() {
    using K = KernelKind;
    return {
        {K::linear, "linear", {"dot"}, "x.z", "the dot product", {}},
        {K::polynomial,
         "polynomial",
         {"poly"},
         "(coef0 + gamma x.z)^degree",
         "all monomials up to the degree; homogeneous with coef0=0",
         {whole("degree", {"d"}, 0, highest_degree, 3.0), any("gamma", {"s", "scale"}, 1.0, true),
          any("coef0", {"c", "offset"}, 1.0)}},
        {K::sigmoid,
         "sigmoid",
         {"tanh"},
         "tanh(gamma x.z + coef0)",
         "the neural-network kernel; not positive definite",
         {any("gamma", {"kappa"}, 1.0, true), any("coef0", {"theta"}, 0.0), delta_form()}},
        {K::logistic,
         "logistic",
         {},
         "1 / (1 + exp(theta - beta x.z))",
         "the logistic function of the dot product; not positive definite in general",
         {any("beta", {}, 1.0), any("theta", {}, 1.0)}},
        {K::exponential_dot,
         "expdot",
         {"exponential_dot"},
         "exp(gamma x.z)",
         "the exponential of the dot product",
         {any("gamma", {}, 1.0)}},
    };
}

std::vector<KernelEntry> distance_entries() {
    using K = KernelKind;
    return {
        {K::rbf,
         "rbf",
         {"gaussian"},
         "exp(-gamma |x-z|^2)",
         "the Gaussian; gamma = 1/(2 sigma^2) = 1/c = 1/width^2",
         gaussian_forms(scale_rule, true)},
        {K::ball,
         "ball",
         {"indicator"},
         "1 if |x-z| <= radius else 0",
         "near or not; not positive definite",
         {at_least_zero("radius", 0.0)}},
        {K::negative_distance,
         "negative_distance",
         {"power"},
         "-|x-z|^beta",
         "conditionally positive definite for beta <= 2",
         {above_zero("beta", {}, 1.0)}},
        {K::inverse_multiquadric,
         "inverse_multiquadric",
         {"imq"},
         "1 / sqrt(|x-z|^2 + c^2)",
         "heavy tails",
         {above_zero("c", {}, 1.0)}},
        {K::matern,
         "matern",
         {"matern12", "matern32", "matern52"},
         "Matern of smoothness nu in |x-z| / length",
         "nu is 0.5, 1.5 or 2.5",
         {above_zero("nu", {}, 1.5), above_zero("length", {"lengthscale", "l"}, 1.0)}},
        {K::rational_quadratic,
         "rational_quadratic",
         {"rq"},
         "(1 + |x-z|^2 / (2 alpha length^2))^(-alpha)",
         "a mixture of Gaussians of many widths",
         {above_zero("alpha", {}, 1.0), above_zero("length", {"lengthscale", "l"}, 1.0)}},
    };
}

std::vector<KernelEntry> column_entries() {
    using K = KernelKind;
    return {
        {K::laplacian,
         "laplacian",
         {"laplace"},
         "exp(-gamma |x-z|_1)",
         "with norm=2 the Euclidean length; gamma = 1/sigma",
         {at_least_zero("gamma", auto_rule, true),
          other_form("sigma", {"lengthscale"}, "gamma", [](double v) { return 1 / v; }),
          whole("norm", {}, 1, 2, 1.0)}},
        {K::anova,
         "anova",
         {},
         "sum over choices of `degree` columns of prod exp(-gamma (xi-zi)^2)",
         "interactions of exactly `degree` columns",
         {at_least_zero("gamma", 1.0), whole("degree", {"d"}, 1, highest_degree, 2.0)}},
        {K::periodic,
         "periodic",
         {},
         "exp(-2 sum sin^2(pi (xi-zi) / period) / length^2)",
         "repeats along every column",
         {above_zero("period", {}, 1.0), above_zero("length", {"lengthscale", "l"}, 1.0)}},
        {K::chi2,
         "chi2",
         {},
         "exp(-gamma sum (xi-zi)^2 / (xi+zi))",
         "for histograms: entries must be >= 0",
         {at_least_zero("gamma", 1.0)}},
        {K::additive_chi2,
         "additive_chi2",
         {},
         "-sum (xi-zi)^2 / (xi+zi)",
         "for histograms: entries must be >= 0",
         {}},
        {K::intersection,
         "intersection",
         {"histogram_intersection"},
         "sum min(xi, zi)",
         "for histograms: entries must be >= 0",
         {}},
    };
}

std::vector<KernelEntry> other_entries() {
    using K = KernelKind;
    return {
        {K::bilinear, "bilinear", {}, "x' A z", "bilinear([[1,0],[0,2]]), A symmetric", {}},
        {K::outer, "outer", {}, "f(x) f(z)", "outer(1 + x0^2), any formula of one row", {}},
        {K::precomputed, "precomputed", {}, "K[x, z]", "the rows are rows of a Gram matrix", {}},
        {K::constant,
         "constant",
         {},
         "value",
         "written as a number: linear + 1",
         {any("value", {}, 1.0)}},
        {K::user, "user", {}, "f(x, z)", "user(name), a function registered by the program", {}},
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
         gaussian_forms(1.0, false)},
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
         "number of a row says how many",
         {whole("width", {}, 1, 1e9, {})}},
    };
}

std::vector<KernelEntry> build_table() {
    std::vector<KernelEntry> table;
    for (auto part :
         {dot_product_entries(), distance_entries(), column_entries(), other_entries()}) {
        table.insert(table.end(), part.begin(), part.end());
    }
    // No radius suits all data, and a constant without a value is a slip.
    for (KernelEntry& entry : table) {
        const bool required = entry.kind == KernelKind::ball || entry.kind == KernelKind::constant;
        if (required) entry.parameters.front().fallback.reset();
    }
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

}  // namespace

const std::vector<KernelEntry>& kernel_table() {
    static const std::vector<KernelEntry> table = build_table();
    return table;
}

const KernelEntry& kernel_entry(KernelKind kind) {
    const auto& table = kernel_table();  // in the order of KernelKind, which a test checks
    return table.at(static_cast<std::size_t>(kind));
}

const KernelEntry* find_entry(std::string_view name) {
    for (const KernelEntry& entry : kernel_table()) {
        // These are written with operators and numbers, not by name.
        const bool unnamed = entry.kind == KernelKind::sum || entry.kind == KernelKind::product ||
                             entry.kind == KernelKind::scale || entry.kind == KernelKind::power ||
                             entry.kind == KernelKind::columns;
        if (unnamed) continue;
        const auto& aliases = entry.aliases;
        if (entry.name == name ||
            std::find(aliases.begin(), aliases.end(), name) != aliases.end()) {
            return &entry;
        }
    }
    return nullptr;
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

GivenParameters preset_parameters(std::string_view name) {
    if (name == "matern12") return {{"nu", 0.5}};
    if (name == "matern32") return {{"nu", 1.5}};
    if (name == "matern52") return {{"nu", 2.5}};
    return {};
}

std::string parameter_text(const Parameter& value) {
    if (const double* number = std::get_if<double>(&value)) return format_number(*number);
    return std::get<Rule>(value) == Rule::scale ? "scale" : "auto";
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
    const std::string found = ", found " + format_number(v);
    const bool inside = std::isfinite(v) && v <= form.high && v >= form.low &&
                        !(form.low_open && v == form.low) && !(form.integer && v != std::floor(v));
    if (!inside) return name + " must be " + range_text(form) + found;
    if (entry.kind == KernelKind::matern && form.name == "nu" && v != 0.5 && v != 1.5 && v != 2.5) {
        return name + " must be 0.5, 1.5 or 2.5" + found;
    }
    // sigma = 1e-200 is a number, 1 / (2 sigma²) is not.
    if (!std::isfinite(form.convert(v))) {
        return name + " = " + format_number(v) + " makes " + form.canonical +
               " infinite; give one nearer to 1";
    }
    return {};
}

Parameter canonical_parameter(const KernelNode& node, std::string_view canonical) {
    const KernelEntry& entry = kernel_entry(node.kind);
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
    throw InvalidInput(kernel_entry(kind).name + "(" + std::string(canonical) + "=" +
                       parameter_text(result) +
                       ") is a rule that waits for data; resolve the kernel on a data set first, "
                       "or give a number");
}

}  // namespace mercer
