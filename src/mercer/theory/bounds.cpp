#include "mercer/theory/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "mercer/base/detail/infinity.hpp"
#include "mercer/base/error.hpp"
#include "mercer/learn/detail/sample.hpp"

namespace mercer {
namespace {

constexpr double most_rows = 1e15;  ///< beyond it a double no longer counts single rows

void check_rows(double rows) {
    require_range("rows", rows, rows >= 1 && rows <= most_rows, "at least 1");
}
void check_epsilon(double epsilon) {
    require_range("epsilon", epsilon, epsilon > 0 && epsilon < 1, "greater than 0 and less than 1");
}
void check_delta(double delta) {
    require_range("delta", delta, delta > 0 && delta < 1,
                  "greater than 0 and less than 1: it is the probability with which the bound may "
                  "fail");
}
void check_functions(double functions) {
    require_range("functions", functions, functions >= 1, "at least 1");
}
void check_dimension(double dimension) {
    require_range("dimension", dimension, dimension > 0, "greater than 0");
}
void check_log_shattering(double log_shattering) {
    require_range("ln N", log_shattering, log_shattering >= 0, "0 or greater");
}
void check(const RiskSample& s) {
    require_range("error", s.empirical, s.empirical >= 0 && s.empirical <= 1,
                  "a share of the rows, from 0 to 1");
    check_rows(s.rows);
    check_delta(s.delta);
}

Bound finished(Bound b) {
    b.vacuous = !(b.value < 1);
    return b;
}

/// R <= R_emp + distance.
Bound risk(std::string name, std::string formula, const RiskSample& s, double distance,
           std::vector<BoundInput> more, std::string about) {
    Bound b{.name = std::move(name),
            .formula = std::move(formula),
            .inputs = {{"R_emp", s.empirical}, {"m", s.rows}, {"δ", s.delta}},
            .value = s.empirical + distance,
            .confidence = 1 - s.delta,
            .about = std::move(about)};
    b.inputs.insert(b.inputs.end(), more.begin(), more.end());
    return finished(std::move(b));
}

const char* const one_function = "error of one function that was chosen before the data were seen";

/// ln Σ_{i=0..last} C(points, i), summed from the largest term so that nothing overflows.
double log_binomial_sum(double points, double last) {
    if (last >= points) return points * std::numbers::ln2;
    const auto log_choose = [&](double i) {
        return std::lgamma(points + 1) - std::lgamma(i + 1) - std::lgamma(points - i + 1);
    };
    // Terms grow up to points/2; far below the largest they no longer count.
    const double top = std::min(last, std::floor(points / 2));
    const double largest = log_choose(top);
    double sum = 0;
    for (double i = top; i >= 0; --i) {
        const double term = std::exp(log_choose(i) - largest);
        sum += term;
        if (term < 1e-18 * sum) break;
    }
    for (double i = top + 1; i <= last; ++i) {
        const double term = std::exp(log_choose(i) - largest);
        sum += term;
        if (term < 1e-18 * sum) break;
    }
    return largest + std::log(sum);
}

/// (h(log(2m/h) + 1) − log(δ/4)) / m
double squared_confidence_term(double dimension, double rows, double delta) {
    return (dimension * (std::log(2 * rows / dimension) + 1) - std::log(delta / 4)) / rows;
}

/// The least whole m >= low with distance(m) <= epsilon, where the distance falls from low on.
double fewest_rows(double low, double epsilon, const std::function<double(double)>& distance) {
    double enough = std::max(1.0, std::ceil(low));
    while (distance(enough) > epsilon) {
        enough *= 2;
        if (enough > most_rows) {
            throw InvalidInput("more than 1e15 rows would be needed; take a larger epsilon");
        }
    }
    double few = std::max(1.0, std::ceil(low)) - 1;
    while (enough - few > 1) {
        const double middle = std::floor((few + enough) / 2);
        (distance(middle) <= epsilon ? enough : few) = middle;
    }
    return enough;
}

}  // namespace

double Bound::input(const std::string& wanted) const {
    for (const BoundInput& i : inputs) {
        if (i.name == wanted) return i.value;
    }
    throw std::out_of_range("the bound " + name + " has no input " + wanted);
}

Bound chernoff(double rows, double epsilon) {
    check_rows(rows);
    check_epsilon(epsilon);
    return finished({.name = "chernoff",
                     .formula = "P{|R_emp − R| ≥ ε} ≤ 2 exp(−2mε²)",
                     .inputs = {{"m", rows}, {"ε", epsilon}},
                     .value = 2 * std::exp(-2 * rows * epsilon * epsilon),
                     .about = "probability that training and test error of one function, chosen "
                              "before the data were seen, differ by ε"});
}

Bound chernoff_two_samples(double rows, double epsilon) {
    check_rows(rows);
    check_epsilon(epsilon);
    return finished({.name = "chernoff-two-samples",
                     .formula = "P{|R_emp − R'_emp| ≥ ε} ≤ 4 exp(−mε²/2)",
                     .inputs = {{"m", rows}, {"ε", epsilon}},
                     .value = 4 * std::exp(-rows * epsilon * epsilon / 2),
                     .about = "probability that the errors of one function on two samples of m "
                              "rows differ by ε"});
}

Bound chernoff_risk(const RiskSample& s) {
    check(s);
    return risk("chernoff", "R ≤ R_emp + √(ln(2/δ) / 2m)", s,
                std::sqrt(std::log(2 / s.delta) / (2 * s.rows)), {}, one_function);
}

Bound union_bound(double functions, double rows, double epsilon) {
    check_functions(functions);
    check_rows(rows);
    check_epsilon(epsilon);
    return finished({.name = "union",
                     .formula = "P{sup (R − R_emp) > ε} ≤ 2n exp(−2mε²)",
                     .inputs = {{"n", functions}, {"m", rows}, {"ε", epsilon}},
                     .value = 2 * functions * std::exp(-2 * rows * epsilon * epsilon),
                     .about = "probability that one of n functions errs by ε more than on the "
                              "training rows"});
}

Bound union_risk(const RiskSample& s, double functions) {
    check(s);
    check_functions(functions);
    return risk("union", "R ≤ R_emp + √(ln(2n/δ) / 2m)", s,
                std::sqrt(std::log(2 * functions / s.delta) / (2 * s.rows)), {{"n", functions}},
                "error of whichever of n functions was chosen with the data");
}

double growth_function(double dimension, double rows) {
    check_dimension(dimension);
    check_rows(rows);
    if (rows <= dimension) return rows * std::numbers::ln2;
    return std::min(rows * std::numbers::ln2, dimension * (std::log(rows / dimension) + 1));
}

double sauer_shattering(double dimension, double rows) {
    check_dimension(dimension);
    check_rows(rows);
    return log_binomial_sum(std::floor(rows), std::ceil(dimension));
}

double half_space_shattering(double columns, double rows, bool bias) {
    require_range("columns", columns, columns >= 1, "at least 1");
    check_rows(rows);
    const double parameters = columns + (bias ? 1 : 0);
    return std::min(rows * std::numbers::ln2,
                    std::numbers::ln2 + log_binomial_sum(rows - 1, parameters - 1));
}

Bound shattering_bound(double log_shattering, double rows, double epsilon) {
    check_log_shattering(log_shattering);
    check_rows(rows);
    check_epsilon(epsilon);
    const bool allowed = rows * epsilon * epsilon >= 2;
    return finished(
        {.name = "vc-shattering",
         .formula = "P{sup (R − R_emp) > ε} ≤ 4 N(F,2m) exp(−mε²/8)",
         .inputs = {{"ln N", log_shattering}, {"m", rows}, {"ε", epsilon}},
         .value = allowed ? 4 * std::exp(log_shattering - rows * epsilon * epsilon / 8) : infinity,
         .about = "probability that a function of the class errs by ε more than on the "
                  "training rows; needs mε² ≥ 2"});
}

Bound shattering_risk(const RiskSample& s, double log_shattering) {
    check(s);
    check_log_shattering(log_shattering);
    // The distance is at least √(8 ln 4 / m), so that mε² >= 2 as Lemma 1 asks.
    return risk("vc-shattering", "R ≤ R_emp + √(8/m (ln N(F,2m) + ln(4/δ)))", s,
                std::sqrt(8 / s.rows * (log_shattering + std::log(4 / s.delta))),
                {{"ln N", log_shattering}}, "error of any function of the class");
}

Bound vc_risk(const RiskSample& s, double dimension) {
    check(s);
    check_dimension(dimension);
    const double distance = s.rows > dimension
                                ? std::sqrt(squared_confidence_term(dimension, s.rows, s.delta))
                                : infinity;
    return risk("vc-dimension", "R ≤ R_emp + √((h(log(2m/h) + 1) − log(δ/4)) / m)", s, distance,
                {{"h", dimension}}, "error of any function of the class; needs m > h");
}

double half_space_dimension(double columns, bool bias) {
    require_range("columns", columns, columns >= 1, "at least 1");
    return columns + (bias ? 1 : 0);
}

Bound margin_dimension(double radius, double lambda, bool bias, double columns) {
    require_range("R", radius, radius >= 0, "0 or greater");
    require_range("Λ", lambda, lambda >= 0, "0 or greater");
    require_range("columns", columns, columns >= 0, "0 (not known) or greater");
    const double product = radius * radius * lambda * lambda;
    const double capped = columns > 0 ? std::min(product, columns) : product;
    Bound b{.name = "margin-dimension",
            .formula = bias ? "h ≤ min(R²Λ², N) + 1" : "h ≤ min(R²Λ², N)",
            .inputs = {{"R", radius}, {"Λ", lambda}},
            .value = capped + (bias ? 1 : 0),
            .about = bias ? "VC dimension of planes with ‖w‖ ≤ Λ on points in a sphere of radius R"
                          : "VC dimension of planes through the origin with ‖w‖ ≤ Λ on points in a "
                            "sphere of radius R around it"};
    if (columns > 0) b.inputs.push_back({"N", columns});
    return b;
}

Bound margin_error(double rows, double norm, double margin) {
    check_rows(rows);
    require_range("X", norm, norm >= 0, "0 or greater");
    require_range("δ", margin, margin > 0, "greater than 0: the plane must separate the rows");
    return finished({.name = "margin-error",
                     .formula = "E[error] ≤ (1/P) X²/δ²",
                     .inputs = {{"P", rows}, {"X", norm}, {"δ", margin}},
                     .value = norm * norm / (margin * margin) / rows,
                     .about = "expected error of the optimal plane through the origin of "
                              "separable rows (Sompolinsky 2017, equation 1)"});
}

Bound support_share(double rows, double support_vectors, bool essential) {
    check_rows(rows);
    require_range("#SV", support_vectors, support_vectors >= 0 && support_vectors <= rows,
                  "from 0 to the number of rows");
    return finished({.name = essential ? "essential-support" : "support-vectors",
                     .formula = essential ? "E[error] ≤ K/m" : "E[error] ≤ #SV/m",
                     .inputs = {{"m", rows}, {essential ? "K" : "#SV", support_vectors}},
                     .value = support_vectors / rows,
                     .about = essential ? "expected error of a machine trained on m − 1 rows; K "
                                          "counts the support vectors of every expansion "
                                          "(Sompolinsky 2017, equation 29)"
                                        : "expected error of a machine trained on m − 1 rows"});
}

Bound radius_margin(double rows, double radius, double norm, bool bias) {
    check_rows(rows);
    require_range("R", radius, radius >= 0, "0 or greater");
    require_range("‖w‖", norm, norm >= 0, "0 or greater");
    return finished({.name = "radius-margin",
                     .formula = "E[error] ≤ (1/m) R²‖w‖²",
                     .inputs = {{"m", rows}, {"R", radius}, {"‖w‖", norm}},
                     .value = radius * radius * norm * norm / rows,
                     .estimate = bias,
                     .about = bias ? "expected error of a machine trained on m − 1 separable rows; "
                                     "with a bias four times the value is guaranteed"
                                   : "expected error of a machine trained on m − 1 separable "
                                     "rows"});
}

Bound single_class_bound(double rows, double margin, double slack, double delta) {
    check_rows(rows);
    check_delta(delta);
    require_range("γ̂", margin, margin > 0, "greater than 0");
    require_range("D", slack, slack >= 0, "0 or greater");
    constexpr double c = 103;
    constexpr double c1 = 16 * c * c;
    constexpr double c2 = std::numbers::ln2 / (4 * c * c);
    const double cover = c2 * margin * margin * rows;
    double value = infinity;
    double k = infinity;
    if (cover > 1) {
        const double outside =
            slack > 0 ? 2 * slack / margin *
                            std::log2(std::numbers::e * ((2 * rows - 1) * margin / (2 * slack) + 1))
                      : 0;
        k = c1 * std::log2(cover) / (margin * margin) + outside + 2;
        value = 2 / rows * (k + std::log2(rows * rows / (2 * delta)));
    }
    Bound b =
        finished({.name = "single-class",
                  .formula = "P{outside R_{w,ρ−γ}} ≤ (2/m)(k + log₂(m²/2δ))",
                  .inputs = {{"m", rows}, {"γ̂", margin}, {"D", slack}, {"δ", delta}},
                  .value = value,
                  .confidence = 1 - delta,
                  .about = "probability that a new row falls outside the region widened by "
                           "γ (Schölkopf 2004, theorem 5: c₁ = 16c², c₂ = ln 2/(4c²), c = 103)"});
    b.inputs.push_back({"k", k});
    return b;
}

SamplePlan rows_for_chernoff(double epsilon, double delta) {
    check_epsilon(epsilon);
    check_delta(delta);
    return {.name = "chernoff",
            .formula = "m ≥ ln(2/δ) / 2ε²",
            .inputs = {{"ε", epsilon}, {"δ", delta}},
            .rows = std::ceil(std::log(2 / delta) / (2 * epsilon * epsilon))};
}

SamplePlan rows_for_union(double functions, double epsilon, double delta) {
    check_functions(functions);
    check_epsilon(epsilon);
    check_delta(delta);
    return {.name = "union",
            .formula = "m ≥ ln(2n/δ) / 2ε²",
            .inputs = {{"n", functions}, {"ε", epsilon}, {"δ", delta}},
            .rows = std::ceil(std::log(2 * functions / delta) / (2 * epsilon * epsilon))};
}

SamplePlan rows_for_shattering(double dimension, double epsilon, double delta) {
    check_dimension(dimension);
    check_epsilon(epsilon);
    check_delta(delta);
    const auto distance = [&](double m) {
        return std::sqrt(8 / m * (growth_function(dimension, 2 * m) + std::log(4 / delta)));
    };
    return {.name = "vc-shattering",
            .formula = "√(8/m (h(ln(2m/h) + 1) + ln(4/δ))) ≤ ε",
            .inputs = {{"h", dimension}, {"ε", epsilon}, {"δ", delta}},
            .rows = fewest_rows(std::ceil(dimension / 2) + 1, epsilon, distance)};
}

SamplePlan rows_for_vc(double dimension, double epsilon, double delta) {
    check_dimension(dimension);
    check_epsilon(epsilon);
    check_delta(delta);
    const auto distance = [&](double m) {
        return std::sqrt(squared_confidence_term(dimension, m, delta));
    };
    return {.name = "vc-dimension",
            .formula = "√((h(log(2m/h) + 1) − log(δ/4)) / m) ≤ ε",
            .inputs = {{"h", dimension}, {"ε", epsilon}, {"δ", delta}},
            .rows = fewest_rows(std::floor(dimension) + 1, epsilon, distance)};
}

}  // namespace mercer
