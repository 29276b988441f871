#include "mercer/theory/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "mercer/base/error.hpp"

namespace mercer {
namespace {

/// ln N, with as many as there are labellings as no news.
Bound labellings(std::string name, std::string formula, double log_count, double rows,
                 std::vector<BoundInput> inputs, std::string about) {
    const double all = rows * std::numbers::ln2;
    inputs.push_back({"m", rows});
    return {.name = std::move(name),
            .formula = std::move(formula),
            .inputs = std::move(inputs),
            .value = log_count,
            .vacuous = log_count >= all * (1 - 1e-12),
            .about = std::move(about)};
}

void check_risk_sample(const RiskSample& s) {
    require_range("error", s.empirical, s.empirical >= 0 && s.empirical <= 1,
                  "a share of the rows, from 0 to 1");
    require_range("rows", s.rows, s.rows >= 1 && s.rows <= 1e15, "at least 1");
    require_range("delta", s.delta, s.delta > 0 && s.delta < 1,
                  "greater than 0 and less than 1: it is the probability with which the bound may "
                  "fail");
}

Bound risk_of(std::string name, std::string formula, const RiskSample& s, double value,
              std::vector<BoundInput> more, std::string about) {
    Bound b{.name = std::move(name),
            .formula = std::move(formula),
            .inputs = {{"R_emp", s.empirical}, {"m", s.rows}, {"δ", s.delta}},
            .value = value,
            .confidence = 1 - s.delta,
            .vacuous = !(value < 1),
            .about = std::move(about)};
    b.inputs.insert(b.inputs.end(), more.begin(), more.end());
    return b;
}

}  // namespace

Bound cover_separation(double points, double dimensions) {
    require_range("points", points, points >= 1 && points <= 1e15, "at least 1");
    require_range("dimensions", dimensions, dimensions >= 1, "at least 1");
    const double log_count = half_space_shattering(dimensions, points, false);
    const double log_share = std::min(0.0, log_count - points * std::numbers::ln2);
    return {.name = "cover-separation",
            .formula = "C(p,N)/2^p, C(p,N) = 2 Σ_{k<N} C(p−1,k)",
            .inputs = {{"p", points}, {"N", dimensions}, {"ln C", log_count}},
            .value = std::exp(log_share),
            .about =
                "probability that random labels of p points in general position are separated "
                "by a plane through the origin of N dimensions; ½ at p = 2N (Cover 1965)"};
}

Bound growth_bound(double dimension, double rows) {
    return labellings("growth-function", "G(m) ≤ h(ln(m/h) + 1), m ln 2 for m ≤ h",
                      growth_function(dimension, rows), rows, {{"h", dimension}},
                      "ln of the ways in which functions of VC dimension h label m points");
}

Bound sauer_bound(double dimension, double rows) {
    return labellings("sauer", "G(m) ≤ ln Σ_{i≤h} C(m,i)", sauer_shattering(dimension, rows), rows,
                      {{"h", dimension}}, "the same by Sauer's lemma, which is never larger");
}

Bound half_space_growth(double columns, double rows, bool bias) {
    return labellings("half-space-growth",
                      bias ? "G(m) = ln C(m,N+1), C(p,N) = 2 Σ_{k<N} C(p−1,k)"
                           : "G(m) = ln C(m,N), C(p,N) = 2 Σ_{k<N} C(p−1,k)",
                      half_space_shattering(columns, rows, bias), rows, {{"N", columns}},
                      "ln of the ways in which half-spaces of R^N label m points in general "
                      "position, exactly (Cover 1965)");
}

double rademacher_by_trace(double rows, double trace, double norm) {
    require_range("rows", rows, rows >= 1, "at least 1");
    require_range("trace", trace, trace >= 0, "0 or greater");
    require_range("norm", norm, norm >= 0, "0 or greater");
    return norm * std::sqrt(trace) / rows;
}

Bound rademacher_risk(const RiskSample& s, double complexity) {
    check_risk_sample(s);
    require_range("R̂", complexity, complexity >= 0, "0 or greater");
    const double distance = 2 * complexity + 3 * std::sqrt(std::log(2 / s.delta) / (2 * s.rows));
    return risk_of(
        "rademacher", "R ≤ R_emp + 2R̂ + 3√(ln(2/δ) / 2m)", s, s.empirical + distance,
        {{"R̂", complexity}},
        "error of any function of the class; R_emp counts rows with y f(x) < 1, or is the "
        "mean of min(1, max(0, 1 − y f(x)))");
}

Bound compression_risk(const RiskSample& s, double support) {
    check_risk_sample(s);
    require_range("#SV", support, support >= 0 && support < s.rows,
                  "from 0 to one less than the number of rows");
    const double others = s.rows - support;
    const double log_choice =
        std::lgamma(s.rows + 1) - std::lgamma(support + 1) - std::lgamma(others + 1);
    const double cost = log_choice + std::log(s.rows / s.delta);
    const bool clean = s.empirical == 0;
    return risk_of("compression",
                   clean ? "R ≤ (ln C(m,d) + ln(m/δ)) / (m − d)"
                         : "R ≤ R_emp + √((ln C(m,d) + ln(m/δ)) / 2(m − d))",
                   s, clean ? cost / others : s.empirical + std::sqrt(cost / (2 * others)),
                   {{"d", support}},
                   "error of a machine that training on its d support vectors alone gives again; "
                   "R_emp is its share of errors on the other rows (Littlestone and Warmuth 1986)");
}

Bound margin_description(double radius, double margin, double dimensions) {
    require_range("radius", radius, radius > 0, "greater than 0");
    require_range("margin", margin, margin > 0 && margin <= radius * (1 + 1e-12),
                  "greater than 0 and at most the radius");
    require_range("dimensions", dimensions, dimensions >= 1, "at least 1");
    const double share = std::min(1.0, margin / radius);
    const bool plane = dimensions == 2;
    double bits = dimensions * std::log2(1 + 2 / share);
    if (plane) bits = std::log2(std::floor(std::numbers::pi / std::asin(share)) + 1);
    if (dimensions == 1) bits = 1;
    return {.name = "description",
            .formula = dimensions == 1 ? "one of 2 signs"
                       : plane         ? "log₂(⌊π/arcsin(ρ/R)⌋ + 1)"
                                       : "N log₂(1 + 2R/ρ)",
            .inputs = {{"R", radius}, {"ρ", margin}, {"N", dimensions}},
            .value = bits,
            .about =
                "bits that describe a plane through the origin well enough for points in a "
                "sphere of radius R around it, which it labels with margin ρ (Schölkopf "
                "2004: it may turn by arcsin(ρ/R))"};
}

Bound description_risk(const RiskSample& s, double bits) {
    check_risk_sample(s);
    require_range("bits", bits, bits >= 0, "0 or greater");
    const double cost = bits * std::numbers::ln2 + std::log(1 / s.delta);
    const bool clean = s.empirical == 0;
    return risk_of(
        "description-risk",
        clean ? "R ≤ (bits ln 2 + ln(1/δ)) / m" : "R ≤ R_emp + √((bits ln 2 + ln(1/δ)) / 2m)", s,
        clean ? cost / s.rows : s.empirical + std::sqrt(cost / (2 * s.rows)), {{"bits", bits}},
        "error of a function that so many bits describe, in a code fixed before the data "
        "were seen");
}

}  // namespace mercer
