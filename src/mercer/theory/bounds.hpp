// Bounds on the error that a machine will make, as numbers (000, 001): each answers with its
// formula, what was put in, the value, the probability with which it holds, and whether it says
// anything at all.
//
//   const Bound b = vc_risk({.empirical = 0.02, .rows = 1000, .delta = 0.05}, 3);
//   b.value, b.confidence, b.vacuous;       // 0.19…, 0.95, false
//   rows_for_vc(3, 0.1, 0.05).rows;         // how many bring the confidence term down to 0.1
//
// And every bound that can be computed of a trained machine and its training data:
//
//   for (const MachineBounds& m : model_bounds(model, data, {.delta = 0.05})) {
//       for (const Bound& b : m.bounds) b.name, b.value, b.confidence, b.vacuous;
//   }
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/model.hpp"

namespace mercer MERCER_API {

/// A number that went into a bound.
struct BoundInput {
    std::string name{};
    double value = 0;
};

struct Bound {
    std::string name{};     ///< "chernoff", "radius-margin", …
    std::string formula{};  ///< in the symbols of the inputs
    std::vector<BoundInput> inputs{};
    double value = 0;       ///< of the probability or the error that the formula bounds
    double confidence = 1;  ///< 1 − δ; 1 for probabilities and for expectations over samples
    bool vacuous = false;   ///< says no more than everybody knows: a probability or error >= 1
    bool estimate = false;  ///< an approximation, not a guarantee
    std::string about{};    ///< what is bounded, in words, and under which conditions

    double input(const std::string& name) const;  ///< throws std::out_of_range
};

/// What is known of a sample: the share of errors made on it, how many rows, and the probability
/// with which a bound may fail. Everything below throws InvalidInput unless 0 <= empirical <= 1,
/// rows >= 1 and 0 < delta < 1.
struct RiskSample {
    double empirical = 0;
    double rows = 0;
    double delta = 0.05;
};

// ---- One function chosen before the data were seen (001, Chernoff's bound).

/// P{|R_emp − R| >= ε} <= 2 exp(−2mε²)
Bound chernoff(double rows, double epsilon);
/// P{|R_emp − R'_emp| >= ε} <= 4 exp(−mε²/2), two samples of m rows each
Bound chernoff_two_samples(double rows, double epsilon);
/// R <= R_emp + √(ln(2/δ) / 2m): the first form solved for ε
Bound chernoff_risk(const RiskSample& sample);

// ---- The best of finitely many (001, the union bound); functions >= 1.

/// P{sup (R − R_emp) > ε} <= 2n exp(−2mε²)
Bound union_bound(double functions, double rows, double epsilon);
/// R <= R_emp + √(ln(2n/δ) / 2m)
Bound union_risk(const RiskSample& sample, double functions);

// ---- The best of infinitely many (001, VC type inequalities).

/// ln of the largest number of ways in which functions of VC dimension h can split `rows` points:
/// at most rows·ln 2 up to h points and h(ln(m/h) + 1) beyond (001, the growth function).
double growth_function(double dimension, double rows);
/// The same by Sauer's lemma, ln Σ_{i<=h} C(m, i), which is never larger; dimension is rounded up.
double sauer_shattering(double dimension, double rows);
/// ln of the number of ways in which half-spaces can split points in general position, exactly:
/// 2 Σ_{i<=N} C(m−1, i), and one less in the sum for half-spaces through the origin (Cover 1965).
double half_space_shattering(double columns, double rows, bool bias = true);

/// P{sup (R − R_emp) > ε} <= 4 N(F, 2m) exp(−mε²/8), for mε² >= 2 (Lemma 1).
/// `log_shattering` is ln N(F, 2m).
Bound shattering_bound(double log_shattering, double rows, double epsilon);
/// R <= R_emp + √(8/m (ln N(F, 2m) + ln(4/δ)))
Bound shattering_risk(const RiskSample& sample, double log_shattering);
/// R <= R_emp + φ(h/m, log δ/m) with the confidence term
/// φ = √((h(log(2m/h) + 1) − log(δ/4)) / m); needs m > h, and is vacuous otherwise.
Bound vc_risk(const RiskSample& sample, double dimension);

/// N + 1 for half-spaces of R^N, N for those through the origin.
double half_space_dimension(double columns, bool bias = true);
/// Margin hyperplanes (001, theorem 2): h <= R²Λ² where ‖w‖ <= Λ and the points lie in a sphere of
/// radius R. The theorem is about planes through the origin and a sphere around it; with a bias R
/// may be that of any sphere and h <= min(R²Λ², N) + 1 (Vapnik 1998). columns = 0: not known.
Bound margin_dimension(double radius, double lambda, bool bias, double columns = 0);

// ---- Expected error of the optimal plane, over all samples.

/// (1/P) X²/δ² (000, equation 1): X the largest norm of the vectors of least margin δ.
Bound margin_error(double rows, double norm, double margin);
/// #SV / m (001; 000, equation 29, with essential support vectors only).
Bound support_share(double rows, double support_vectors, bool essential);
/// (1/m) R²‖w‖²; with a bias an estimate, of which four times the value is guaranteed for a
/// separating plane (Vapnik and Chapelle 2000).
Bound radius_margin(double rows, double radius, double norm, bool bias);

// ---- A single class (001, theorem 5).

/// P{x' outside R_{w,ρ−γ}} <= (2/m)(k + log(m²/2δ)),
/// k = c₁ log(c₂ γ̂² m)/γ̂² + (2D/γ̂) log(e((2m−1)γ̂/2D + 1)) + 2,
/// c₁ = 16c², c₂ = ln 2/(4c²), c = 103, logarithms to base 2 (as the ln 2 in c₂ says, and the
/// paper). `margin` is γ̂ = γ/‖w‖ and `slack` D = Σ max(0, ρ − f(x))/‖w‖: D has to be measured in
/// the unit of γ̂, in which 001 prints only the latter. Both count in units of the largest
/// √k(x, x). Where c₂γ̂²m <= 1 the covering numbers behind it say nothing: vacuous.
Bound single_class_bound(double rows, double margin, double slack, double delta);

// ---- The other way round: how many rows are enough.

struct SamplePlan {
    std::string name{};
    std::string formula{};
    std::vector<BoundInput> inputs{};
    double rows = 0;  ///< the fewest for which the bound's distance is at most ε
};
/// All throw InvalidInput unless 0 < ε < 1 and 0 < δ < 1.
SamplePlan rows_for_chernoff(double epsilon, double delta);
SamplePlan rows_for_union(double functions, double epsilon, double delta);
SamplePlan rows_for_shattering(double dimension, double epsilon, double delta);
SamplePlan rows_for_vc(double dimension, double epsilon, double delta);

struct ModelBoundSettings {
    double delta = 0.05;  ///< the probability with which a bound may fail
    /// Single class: γ as a share of ρ, by which the region is widened.
    double widen = 0.5;
    /// Train again without each support vector: exact leave-one-out, essential support vectors.
    bool leave_one_out = true;
    std::size_t memory_bytes = std::size_t{1} << 30;  ///< for kernel values
    Progress progress{};
};

/// One two-class problem of a classifier, or the single class.
struct MachineBounds {
    std::string name{};  ///< "3 vs 8" among several, else empty
    std::size_t rows = 0;
    std::vector<Bound> bounds{};
};

/// For svc, nu-svc and hard: the VC dimension of margin planes with R the smallest sphere's radius,
/// the VC bound with it, and with that of half-spaces for linear kernels; radius-margin; support
/// vectors and the essential among them; leave-one-out exactly, by span, by Jaakkola and Haussler,
/// by ξα; the Rademacher bound over all Λ, sample compression by support vectors, and for linear
/// kernels that separate the bits of the plane. For one-class: theorem 5 of 001. Throws
/// InvalidInput for other tasks, data the model was not trained on, δ outside (0, 1) and a class of
/// a single row. Throws Cancelled.
std::vector<MachineBounds> model_bounds(const Model& model, const Dataset& data,
                                        const ModelBoundSettings& settings = {});

}  // namespace mercer
