// What the files of kernel/leaf/ write their descriptions with.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/detail/vector_math.hpp"
#include "mercer/kernel/detail/build.hpp"
#include "mercer/kernel/detail/leaf.hpp"

namespace mercer::leaves {

using Row = Leaf::Row;
using Numbers = Leaf::Numbers;
using Out = std::span<double>;

// ---- parameters

inline constexpr double highest_degree = 1000;

/// Any number, or a rule where `rule` allows one.
ParameterForm any(std::string name, std::vector<std::string> aliases,
                  std::optional<Parameter> fallback, bool rule = false);
ParameterForm at_least_zero(std::string name, std::optional<Parameter> fallback, bool rule = false);
ParameterForm above_zero(std::string name, std::vector<std::string> aliases,
                         std::optional<Parameter> fallback);
ParameterForm whole(std::string name, std::vector<std::string> aliases, double low, double high,
                    std::optional<Parameter> fallback);
/// One of some words; the value is its place among them.
ParameterForm word(std::string name, std::vector<std::string> words, double fallback = 0);
/// true or false
ParameterForm truth(std::string name, bool fallback = false);
/// Another way to give `canonical`, which must be positive: canonical = constant × value^exponent.
ParameterForm other_form(std::string name, std::vector<std::string> aliases, std::string canonical,
                         double exponent, double (*convert)(double));
/// "length", the scale on which a kernel falls off.
ParameterForm length_form();
/// gamma and the seeds' other ways to write it: 000 and 001 use sigma, 002 c and sigma² (here
/// width²), 003 and 004 gamma.
std::vector<ParameterForm> gaussian_forms(Parameter fallback, bool rule);

/// A parameter that the caller left at its default is not part of the expression.
inline void give_unless(GivenParameters& given, const char* name, const Parameter& value,
                        const Parameter& fallback) {
    if (value != fallback) given.emplace_back(name, value);
}
inline void give_if_set(GivenParameters& given, const char* name,
                        const std::optional<double>& value) {
    if (value) given.emplace_back(name, *value);
}
GivenParameters gaussian_parameters(const RbfParameters& p);

/// The number, or 1 for a rule: a rule always gives a positive number.
double number_or_one(const KernelNode& node, std::string_view name);
bool is_number(const KernelNode& node, std::string_view name);

// ---- why a kernel is strictly positive definite

inline constexpr const char* transform_positive =
    "one whose Fourier transform is above 0 everywhere";
inline constexpr const char* mixture_of_gaussians =
    "a mixture of Gaussians of all widths [Schoenberg 1938]";

// ---- functions of many numbers

/// out[i] = f(t[i]); nothing when `out` is not wanted.
template <class F>
void map_to(Numbers t, Out out, F f) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = f(t[i]);
}
/// out = scale exp(rate t), each.
void exponentials(Numbers t, double rate, double scale, Out out);
/// k = exp(rate t) with its slope.
void exponential_slopes(Numbers t, double rate, const LeafSlopes& out);
/// out = t exp(rate t): the slope in the rate.
void exponential_rate_slope(Numbers t, double rate, Out out);
/// out = t^p for t >= 0; 0^p = 0 also for p < 0, where callers want the harmless value.
void powers(Numbers t, double p, Out out);
/// out = exp(−rate √t), and its slope −rate exp(−rate √t) / (2 √t); 0 at the kink t = 0, the mean
/// of the two one-sided derivatives along any line through it.
void root_exponentials(Numbers t, double rate, Out out);
void root_exponential_slopes(Numbers t, double rate, Out out);
/// k = t itself, with the slope 1.
void identity_slopes(const KernelNode&, Numbers t, const LeafSlopes& out);

/// f at a row, which must be finite.
double formula_value(const Formula& f, Row row);

}  // namespace mercer::leaves
