#include "mercer/kernel/detail/leaf_tools.hpp"

#include <algorithm>

#include "mercer/base/detail/infinity.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer::leaves {
namespace {

double same(double v) {
    return v;
}

}  // namespace

ParameterForm any(std::string name, std::vector<std::string> aliases,
                  std::optional<Parameter> fallback, bool rule) {
    return {.name = name,
            .aliases = std::move(aliases),
            .canonical = name,
            .convert = same,
            .low = -infinity,
            .high = infinity,
            .rule_allowed = rule,
            .fallback = fallback};
}

ParameterForm at_least_zero(std::string name, std::optional<Parameter> fallback, bool rule) {
    ParameterForm form = any(std::move(name), {}, fallback, rule);
    form.low = 0;
    return form;
}

ParameterForm above_zero(std::string name, std::vector<std::string> aliases,
                         std::optional<Parameter> fallback) {
    ParameterForm form = any(std::move(name), std::move(aliases), fallback);
    form.low = 0;
    form.low_open = true;
    return form;
}

ParameterForm whole(std::string name, std::vector<std::string> aliases, double low, double high,
                    std::optional<Parameter> fallback) {
    ParameterForm form = any(std::move(name), std::move(aliases), fallback);
    form.low = low;
    form.high = high;
    form.integer = true;
    return form;
}

ParameterForm word(std::string name, std::vector<std::string> words, double fallback) {
    ParameterForm form = any(std::move(name), {}, fallback);
    for (std::size_t i = 0; i < words.size(); ++i) form.choices.push_back(static_cast<double>(i));
    form.words = std::move(words);
    return form;
}

ParameterForm truth(std::string name, bool fallback) {
    return word(std::move(name), {"false", "true"}, fallback ? 1 : 0);
}

ParameterForm other_form(std::string name, std::vector<std::string> aliases, std::string canonical,
                         double exponent, double (*convert)(double)) {
    ParameterForm form = above_zero(std::move(name), std::move(aliases), {});
    form.canonical = std::move(canonical);
    form.exponent = exponent;
    form.convert = convert;
    return form;
}

ParameterForm length_form() {
    return above_zero("length", {"lengthscale", "l"}, 1.0);
}

std::vector<ParameterForm> gaussian_forms(Parameter fallback, bool rule) {
    return {
        at_least_zero("gamma", fallback, rule),
        other_form("sigma", {"lengthscale"}, "gamma", -2, [](double v) { return 0.5 / (v * v); }),
        other_form("c", {}, "gamma", -1, [](double v) { return 1 / v; }),
        other_form("width", {}, "gamma", -2, [](double v) { return 1 / (v * v); })};
}

GivenParameters gaussian_parameters(const RbfParameters& p) {
    GivenParameters given;
    if (p.gamma) given.emplace_back("gamma", *p.gamma);
    give_if_set(given, "sigma", p.sigma);
    give_if_set(given, "c", p.c);
    give_if_set(given, "width", p.width);
    return given;
}

double number_or_one(const KernelNode& node, std::string_view name) {
    const Parameter value = canonical_parameter(node, name);
    const double* number = std::get_if<double>(&value);
    return number ? *number : 1.0;
}

bool is_number(const KernelNode& node, std::string_view name) {
    return std::holds_alternative<double>(canonical_parameter(node, name));
}

void exponentials(Numbers t, double rate, double scale, Out out) {
    map_to(t, out, [rate](double v) { return rate * v; });
    vector_exp(out);
    if (scale == 1) return;
    for (double& v : out) v *= scale;
}

void exponential_slopes(Numbers t, double rate, const LeafSlopes& out) {
    exponentials(t, rate, 1, out.value);
    exponentials(t, rate, rate, out.by_number);
}

void exponential_rate_slope(Numbers t, double rate, Out out) {
    exponentials(t, rate, 1, out);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] *= t[i];
}

void powers(Numbers t, double p, Out out) {
    std::ranges::copy(t.first(out.size()), out.begin());
    vector_log(out);
    for (double& v : out) v *= p;
    vector_exp(out);
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (t[i] <= 0) out[i] = p == 0 ? 1 : 0;
    }
}

void root_exponentials(Numbers t, double rate, Out out) {
    map_to(t, out, [rate](double v) { return -rate * std::sqrt(v); });
    vector_exp(out);
}

void root_exponential_slopes(Numbers t, double rate, Out out) {
    root_exponentials(t, rate, out);
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = t[i] > 0 ? -rate * out[i] / (2 * std::sqrt(t[i])) : 0;
    }
}

void identity_slopes(const KernelNode&, Numbers t, const LeafSlopes& out) {
    std::ranges::copy(t.first(out.value.size()), out.value.begin());
    std::ranges::fill(out.by_number, 1.0);
}

double formula_value(const Formula& f, Row row) {
    const double value = f(row);
    if (std::isfinite(value)) return value;
    throw InvalidInput("the formula " + quoted(f.text()) + " has the value " +
                       format_number(value) + " at a row; it must be finite at every row");
}

}  // namespace mercer::leaves
