// Mercer's condition tried on data (000 §2.2): is Σ a_i a_j k(x_i, x_j) ever negative?
//
//   const MercerTest test = mercer_test(Kernel::parse("sigmoid(gamma=1)"), data.x);
//   test.smallest, test.largest;       // extreme eigenvalues of the Gram matrix
//   test.witness;                      // when it is indefinite: a with a'Ka < 0
//
// A sample can refute definiteness, never prove it; the proof by rule is kernel/definiteness.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer MERCER_API {

struct MercerTestSettings {
    /// At most so many rows are used, drawn without repetition; 0: all. Whatever is refuted on some
    /// rows is refuted on all of them, because their Gram matrix is a principal submatrix.
    std::size_t max_rows = 1000;
    std::uint64_t seed = 1;
    Progress progress{};
};

struct MercerTest {
    Kernel kernel = linear();       ///< with everything resolved from the data
    std::vector<std::size_t> rows;  ///< positions of the rows used, ascending
    double smallest = 0;            ///< eigenvalues of K over these rows
    double largest = 0;
    /// Eigenvalues within this of 0 cannot be told from 0: rows × machine epsilon × the largest
    /// magnitude.
    double tolerance = 0;
    double trace = 0;
    /// (Σ |λ|)² / Σ λ²: how many equal eigenvalues would spread as wide. Where only the extreme
    /// eigenvalues are known the trace stands for the first sum, which is the same for a definite
    /// kernel.
    double effective_rank = 0;
    std::vector<double> values;      ///< all eigenvalues, descending; empty for large samples
    std::size_t numerical_rank = 0;  ///< of those, how many exceed the tolerance in magnitude
    bool converged = true;           ///< false when Lanczos stopped early

    /// Largest |k(x,z) − k(z,x)| over pairs of at most 256 of the rows, relative to the largest
    /// |k|. Every kernel of the library has 0 up to rounding; a function of the caller's may not,
    /// and is then no kernel, whatever the eigenvalues of its symmetric part say.
    double asymmetry = 0;
    bool asymmetric = false;  ///< beyond what rounding can do
    /// Pairs among those rows with k(x,z)² > k(x,x) k(z,z): the Cauchy–Schwarz inequality broken,
    /// the shortest proof there is that k is no dot product.
    std::size_t cauchy_schwarz_broken = 0;

    bool indefinite = false;      ///< smallest < −tolerance
    std::vector<double> witness;  ///< then: one number for each row used, length 1
    double witness_value = 0;     ///< a'Ka, summed anew from the entries of K

    /// The same for vectors with Σ a_i = 0, looked at only when `indefinite`: a conditionally
    /// positive definite kernel has smallest_centered >= −tolerance.
    double smallest_centered = 0;
    bool conditionally_indefinite = false;
};

/// Throws InvalidInput when there are fewer than one row or the kernel does not fit the rows.
MercerTest mercer_test(const Kernel& kernel, const Rows& rows,
                       std::span<const std::string> names = {},
                       const MercerTestSettings& settings = {});

}  // namespace mercer
