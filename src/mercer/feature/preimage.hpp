// Pre-images (001, "Kernel PCA Denoising" and ref 53): for a vector Ψ = Σ α_i Φ(x_i) of feature
// space the input z whose image is nearest,
//
//     minimise  ‖β Φ(z) − Ψ‖²   over z, with β = 1, or over z and β.
//
//   const Preimage p = preimage(target);                    // any FeatureVector
//   p.z; p.squared_distance;                                // and how near its image comes
//
//   const PreimageFinder finder(kernel, points);            // many targets over the same points
//   std::vector<Preimage> all = finder.find(coefficients.view(), starts);
//
// With β free, β = <Ψ, Φ(z)> / k(z, z), what is minimised is ‖Ψ‖² − <Ψ, Φ(z)>² / k(z, z): the step
// of a reduced set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/feature/geometry.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer MERCER_API {

enum class PreimageMethod {
    /// z ← Σ α_i k(x_i, z) x_i / Σ α_i k(x_i, z) (Mika and others 1999), for Gaussian kernels. A
    /// denominator that vanishes sends it to another start; the best point on the way is kept.
    fixed_point,
    /// L-BFGS on the distance itself, from the best start: every kernel with a derivative.
    gradient,
    /// From the distances to the nearest points of the expansion (Kwok and Tsang 2004): those in
    /// feature space turned into distances in input space, by the kernel's formula where it is
    /// Gaussian and else by the proportion found among the neighbours; then the point that has
    /// them.
    distance,
    /// A ridge regression learnt from the points themselves, from Φ(x_i) to x_i (Bakır, Weston and
    /// Schölkopf 2004), in the coordinates <Φ(x_i), ·>.
    regression,
    /// Every one that the kernel allows, the last being gradient from the best of the others.
    /// (With a linear kernel every vector is an image: all methods give the exact pre-image.)
    best,
};
/// "fixed-point", "gradient", "distance", "regression", "best"; and back, throwing InvalidInput.
std::string_view preimage_method_name(PreimageMethod method);
PreimageMethod preimage_method_named(std::string_view name);

struct PreimageSettings {
    PreimageMethod method = PreimageMethod::best;
    bool free_factor = false;      ///< β free
    std::size_t starts = 3;        ///< iterative methods: the start given, then nearest points
    std::size_t iterations = 200;  ///< at most, each start
    double tolerance = 1e-8;       ///< stop when z moves less, relative to its length
    std::size_t neighbours = 10;   ///< distance
    double lambda = 1e-3;          ///< regression: relative to the mean of k(x, x)
    std::size_t landmarks = 2000;  ///< regression: points used at most, drawn by the seed
    std::uint64_t seed = 1;
    Progress progress{};  ///< throws Cancelled
};

struct Preimage {
    std::vector<double> z{};
    double factor = 1;            ///< β
    double squared_distance = 0;  ///< ‖β Φ(z) − Ψ‖², computed in double precision at the end
    PreimageMethod method = PreimageMethod::best;  ///< the one that found it
    std::size_t iterations = 0;                    ///< of that one
    bool converged = true;  ///< false: stopped at the limit, or every denominator vanished
};

/// Pre-images of targets over one set of points, found many at a time. A value; copies share what
/// is prepared.
class PreimageFinder {
   public:
    /// Throws InvalidInput when the kernel has no value without a sample (as FeatureVector), when
    /// the points are not finite or have none, and when the method cannot be used with the kernel.
    PreimageFinder(const Kernel& kernel, const Rows& points, PreimageSettings settings = {});

    /// One pre-image for each row of `coefficients` (targets × points). `starts` has a first guess
    /// for each target (the noisy rows when denoising), or no rows at all.
    std::vector<Preimage> find(MatrixView<const double> coefficients,
                               const Rows& starts = {}) const;

    /// ‖β Φ(z) − Ψ‖² of any z, row t of `z` for target t.
    std::vector<Preimage> judge(MatrixView<const double> coefficients, const Rows& z) const;

    struct State;

   private:
    std::shared_ptr<const State> state_;
};

/// The pre-image of one vector; `start` may be empty.
Preimage preimage(const FeatureVector& target, const PreimageSettings& settings = {},
                  std::span<const double> start = {});

/// The z of many as dense rows.
Rows preimage_rows(std::span<const Preimage> preimages);

}  // namespace mercer
