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

namespace mercer MERCER_API {

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
