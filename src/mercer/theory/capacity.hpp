// Capacity of a class of functions (000, 001): in how many ways it can label points, how well it
// follows random labels, and how short it can be described. As numbers here; measured on data in
// theory/capacity.hpp.
//
//   cover_separation(2 * 30, 30).value;             // ½: twice as many points as dimensions
//   growth_bound(3, 100).value;                     // ln of the ways that are left of 2^100
//   compression_risk({.rows = 1000}, 20).value;     // error of a machine made of 20 rows
//
// Capacity measured on data: how well the functions of a kernel's space follow random labels, and
// in how many ways they can label samples of the rows.
//
//   rademacher_complexity(rbf({.gamma = 0.1}), data.x, {}, {.norm = 2}).estimate;
//   vc_entropy(linear(), data.x, {}, {.sizes = {5, 10, 20}})[2].entropy;
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/theory/bounds.hpp"

namespace mercer MERCER_API {

// ---- Ways to label points. Values are logarithms: `vacuous` where they are all m ln 2.

/// C(p, N)/2^p: the probability that random labels of p points in general position in N dimensions
/// are separated by a plane through the origin (000: Cover 1965), C(p, N) = 2 Σ_{k<N} C(p−1, k).
/// A plane with a bias is one through the origin of N + 1 dimensions. ln C is among the inputs.
/// Throws InvalidInput unless both are at least 1.
Bound cover_separation(double points, double dimensions);

/// G(m) <= h(ln(m/h) + 1) for m > h, m ln 2 up to there (001).
Bound growth_bound(double dimension, double rows);
/// G(m) <= ln Σ_{i<=h} C(m, i) (Sauer 1972), never larger.
Bound sauer_bound(double dimension, double rows);
/// G(m) of half-spaces of R^N exactly, ln C(m, N + 1) with a bias.
Bound half_space_growth(double columns, double rows, bool bias = true);

// ---- Random labels (Bartlett and Mendelson 2002).

/// R <= R_emp + 2R̂ + 3√(ln(2/δ)/2m), where R_emp is the mean of min(1, max(0, 1 − y f(x))), for
/// which the share of rows with y f(x) < 1 may stand, and R̂ the empirical Rademacher complexity of
/// the class, E sup_f (1/m) Σ σ_i f(x_i). Throws InvalidInput unless R̂ >= 0.
Bound rademacher_risk(const RiskSample& sample, double complexity);
/// R̂ <= Λ√(tr K)/m of functions with ‖f‖ <= Λ in the space of a kernel, tr K = Σ k(x_i, x_i).
double rademacher_by_trace(double rows, double trace, double norm);

// ---- Short descriptions (001: minimum description length).

/// R of a function that is made from `support` of the rows alone [Littlestone and Warmuth 1986;
/// Floyd and Warmuth 1995]: with d of them and k errors on the other m − d,
///     R <= (ln C(m, d) + ln(m/δ)) / (m − d)                        for k = 0,
///     R <= k/(m − d) + √((ln C(m, d) + ln(m/δ)) / 2(m − d))        otherwise.
/// sample.empirical is k/(m − d). A support vector machine is the one trained on its support
/// vectors. Throws InvalidInput unless 0 <= support < rows.
Bound compression_risk(const RiskSample& sample, double support);

/// Bits for a plane through the origin of R^N that labels points in a sphere of radius R around it
/// with margin ρ. It may turn by less than Δγ = arcsin(ρ/R) (001), so that in the plane one of
/// ⌊π/Δγ⌋ + 1 directions is enough; in N dimensions one of (1 + 2R/ρ)^N, because so many points of
/// the sphere at most are ρ/R apart. `value` is their logarithm to base 2. Throws InvalidInput
/// unless 0 < margin <= radius and dimensions >= 1.
Bound margin_description(double radius, double margin, double dimensions);
/// R of a function that `bits` describe, in a code fixed before the data were seen:
/// (bits ln 2 + ln(1/δ))/m without errors, R_emp + √((bits ln 2 + ln(1/δ))/2m) otherwise [Blumer,
/// Ehrenfeucht, Haussler and Warmuth 1987].
Bound description_risk(const RiskSample& sample, double bits);

struct RademacherSettings {
    double norm = 1;          ///< Λ: functions with ‖f‖ <= Λ
    std::size_t draws = 200;  ///< of random labels
    std::uint64_t seed = 1;
    std::size_t memory_bytes = std::size_t{1} << 30;  ///< for kernel values
    Progress progress{};
};

/// The empirical Rademacher complexity of {f : ‖f‖ <= Λ}: E sup_f (1/m) Σ σ_i f(x_i) over random
/// signs σ, which is (Λ/m) E √(σ'Kσ).
struct Rademacher {
    std::size_t rows = 0;
    double trace = 0;     ///< Σ k(x_i, x_i)
    double by_trace = 0;  ///< Λ√(tr K)/m, never below it, and above it by √2 at most [Latała and
                          ///< Oleszkiewicz 1994]
    double estimate = 0;   ///< mean over the draws
    double deviation = 0;  ///< standard error of that mean
};
/// Throws InvalidInput for a kernel that is not positive definite on the rows, rows beyond the
/// memory, no rows, norm < 0 and fewer than 2 draws. Throws Cancelled.
Rademacher rademacher_complexity(const Kernel& kernel, const Rows& rows,
                                 std::span<const std::string> names = {},
                                 const RademacherSettings& settings = {});

/// ln of the number of ways in which planes through the origin label these vectors (one a row),
/// exactly: the regions of an arrangement of hyperplanes, counted by deletion and restriction
/// [Zaslavsky 1975]. Vectors need not be in general position; where they are it is ln C(m, N).
/// Nothing where the count would take more than about `budget` multiplications.
std::optional<double> log_labellings(MatrixView<const double> vectors, double budget = 3e7);

struct EntropySettings {
    std::vector<std::size_t> sizes{5, 10, 20};  ///< m, rows a sample
    std::size_t draws = 50;                     ///< samples of each size
    bool bias = true;                           ///< functions f + b
    std::uint64_t seed = 1;
    Progress progress{};
};

/// For samples of m rows drawn from the data without repetition, and N the number of ways in which
/// sgn(f + b), f in the kernel's space, labels one (001).
struct EntropyLevel {
    std::size_t rows = 0;
    double entropy = 0;     ///< H(m): mean of ln N
    double deviation = 0;   ///< its standard error
    double annealed = 0;    ///< ln of the mean of N, not below H
    double growth = 0;      ///< the largest ln N that was seen, not above G(m)
    double most = 0;        ///< m ln 2
    double rank = 0;        ///< mean of the dimensions that the samples span
    std::size_t exact = 0;  ///< samples that were counted; of the others Cover's number for points
                            ///< in general position was taken, which is never too small
};
/// Throws InvalidInput for a kernel that is not positive definite on the rows, sizes outside
/// 1 … rows (and 1000), and no draws. Throws Cancelled.
std::vector<EntropyLevel> vc_entropy(const Kernel& kernel, const Rows& rows,
                                     std::span<const std::string> names = {},
                                     const EntropySettings& settings = {});

}  // namespace mercer
