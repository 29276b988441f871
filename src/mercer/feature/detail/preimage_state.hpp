// What the methods of feature/preimage.hpp share.
#pragma once

#include <optional>
#include <vector>

#include "mercer/feature/preimage.hpp"
#include "mercer/gram/detail/block_product.hpp"
#include "mercer/gram/gram.hpp"

namespace mercer {

/// ∂k(x_i, z)/∂z of all points, as the Gram engine computes it (kernel/detail/slope.hpp).
struct SlopeEngine {
    Gram<double> gram;
    bool difference = false;  ///< times z − x_i; otherwise times x_i
};

/// Ridge regression from <Φ(x_l), ·> over the landmarks to inputs.
struct LearntInverse {
    std::vector<std::size_t> landmarks{};
    Matrix<double> weights{};  ///< landmarks × columns
};

struct PreimageFinder::State {
    State(const Kernel& resolved, const Rows& rows, PreimageSettings chosen);

    PreimageSettings settings;
    Kernel kernel;
    Gram<double> gram;
    Matrix<double> x;               ///< the points, dense
    std::vector<double> diagonal;   ///< k(x_i, x_i)
    std::optional<double> gamma{};  ///< of a Gaussian kernel
    bool differentiable = false;
    std::optional<std::vector<SlopeEngine>> slopes{};  ///< nothing: pair by pair
    std::optional<LearntInverse> inverse{};            ///< nothing: not wanted, or not to be had

    std::size_t size() const { return x.rows(); }
    std::size_t columns() const { return x.columns(); }
};

/// Some targets Ψ_t, with what is known of them.
struct PreimageTargets {
    MatrixView<const double> coefficients;  ///< targets × points
    Matrix<double> with_points;             ///< <Ψ_t, Φ(x_i)>
    std::vector<double> squares;            ///< ‖Ψ_t‖²

    std::size_t size() const { return coefficients.rows; }
};

/// Where the value <Ψ, Φ(z)> and k(z, z) are known: β and the squared distance.
void judge_at(double with_target, double self, double square, bool free_factor, Preimage& p);

/// Squared distances of one z for each target, in double precision.
void judge_all(const PreimageFinder::State& s, const PreimageTargets& targets,
               std::vector<Preimage>& found);

/// Replaces `best` where `other` comes nearer.
void keep_better(std::vector<Preimage>& best, std::vector<Preimage> other);

/// The points in whose images the target lies nearest, nearest first.
std::vector<std::size_t> nearest_points(const PreimageFinder::State& s,
                                        const PreimageTargets& targets, std::size_t t,
                                        std::size_t count);

/// The start given, then the points nearest to the target: number `which` of them, one a target.
Matrix<double> starts_of(const PreimageFinder::State& s, const PreimageTargets& targets,
                         const Matrix<double>& given, std::size_t which);

/// The methods. `starts` has a row for each target, or none.
std::vector<Preimage> fixed_point(const PreimageFinder::State& s, const PreimageTargets& targets,
                                  const Matrix<double>& starts);
/// From the given points alone, one a target.
std::vector<Preimage> descend(const PreimageFinder::State& s, const PreimageTargets& targets,
                              const Matrix<double>& from);
std::vector<Preimage> by_distances(const PreimageFinder::State& s, const PreimageTargets& targets);
std::vector<Preimage> by_regression(const PreimageFinder::State& s, const PreimageTargets& targets);

/// Nothing when the kernel's matrix is not positive definite.
std::optional<LearntInverse> learn_inverse(const PreimageFinder::State& s);

}  // namespace mercer
