// Kernel vector quantisation (001, "Kernel VQ", and ref 66: Tipping and Schölkopf 2001): a codebook
// chosen among the rows so that every row lies within R of a code,
//
//     D(v(x_n), x_n) ≤ R   for all n,
//
// with as few codes as a linear program finds: minimise Σ w_m / c_m over w ≥ 0 subject to
// Σ_m w_m [D(x_m, x_n) ≤ R] ≥ 1 for all n, where c_m counts the rows within R of row m. Rows with
// w_m > 0 are codes; those the others can do without are pruned.
//
//   Codebook book = quantise(data.x, {.radius = 0.2});
//   book.codes.size(); book.largest;                       // never above 0.2
//   Codebook same_size = lbg_codebook(data.x, book.codes.size());
//   Codebook begun_there = lbg_codebook(data.x, book.codes);
//   Model model = vector_quantiser({.radius = 0.2}).fit(data);      // predicts the nearest code
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

struct QuantiserSettings {
    double radius = 0;  ///< R, above 0
    /// D(x, z)² = k(x,x) + k(z,z) − 2 k(x,z), and Gram blocks do the work. Linear: the Euclidean
    /// distance. Conditionally positive definite kernels have such distances too.
    Kernel kernel = linear();
    /// Any other distance, called once a pair of rows.
    PairFunction distance{};
    bool weighted = true;  ///< the 1/c_m of the program; false: plain Σ w_m
    bool prune = true;
    double gap = 1e-3;  ///< columns are generated until the program is optimal up to this
    /// What is not solved after so many (fewer for more than 12 500 rows) is solved by another
    /// method, up to a fiftieth.
    std::size_t simplex_steps = 8000;
    double time_limit = 0;                            ///< seconds for the program; 0: none
    std::size_t memory_bytes = std::size_t{1} << 30;  ///< for lists of neighbours
    Progress progress{};
};

struct Codebook {
    Rows codes{};
    std::vector<std::size_t> chosen{};        ///< the rows they were; empty for means (LBG)
    std::vector<std::size_t> nearest{};       ///< the code of each row
    double radius = 0;                        ///< R; 0 where nothing is promised
    double largest = 0;                       ///< max D(v(x_n), x_n), in double precision
    double root_mean_square = 0;              ///< of D(v(x_n), x_n)
    double objective = 0;                     ///< of the linear program
    double bound = 0;                         ///< no solution of the program is below this
    std::size_t pruned = 0;                   ///< codes of the program that were not needed
    FitStatus status = FitStatus::converged;  ///< of the program; the promise is kept in any case
};

/// Throws InvalidInput for a radius that is not positive, no rows, numbers that are not finite, and
/// neighbourhoods that do not fit the memory; Cancelled when stopped before any codebook is known.
Codebook quantise(const Rows& rows, const QuantiserSettings& settings);

/// A codebook of so many means by the Linde-Buzo-Gray algorithm (k-means), Euclidean: what promises
/// nothing of single rows and minimises the mean.
Codebook lbg_codebook(const Rows& rows, std::size_t size, std::uint64_t seed = 1,
                      const Progress& progress = {});
/// The same from a first codebook on, such as that of `quantise`: no mean is begun at random. Each
/// pass lowers the mean square; what `quantise` promised of single rows is lost.
Codebook lbg_codebook(const Rows& rows, const Rows& first, const Progress& progress = {});

/// The nearest of `codes` by the Euclidean distance for each row, and how far it is.
struct Encoding {
    std::vector<std::size_t> nearest{};
    std::vector<double> distance{};
};
Encoding encode(const Rows& codes, const Rows& rows, const Progress& progress = {});

struct VectorQuantiserSettings {
    FitSettings common{.kernel = linear()};  ///< its kernel measures the distance
    double radius = 0;
    bool prune = true;
};

/// The machine: an expansion with self = −1 and one output a code, f_c(x) = −D(x, v_c)², so that
/// the largest is the nearest, as for k-means. Figures: radius, largest, root_mean_square, pruned.
class VectorQuantiser {
   public:
    explicit VectorQuantiser(VectorQuantiserSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return Task::vq; }
    const VectorQuantiserSettings& settings() const { return settings_; }
    Model fit(const Dataset& data) const;

   private:
    VectorQuantiserSettings settings_;
};
inline VectorQuantiser vector_quantiser(VectorQuantiserSettings settings) {
    return VectorQuantiser(std::move(settings));
}

}  // namespace mercer
