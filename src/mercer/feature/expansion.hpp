// What every machine learns (the representer theorem, 001):
//
//     f_c(x) = Σ_i coefficients(c, i) k(x_i, x) + self k(x, x) + bias_c
//
// One type, so that there is one engine to predict with, one format to save, one way to compress
// and one geometry to compare in.
#pragma once

#include <cstddef>
#include <memory>
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

struct Expansion {
    Kernel kernel = linear();       ///< resolved
    Rows points{};                  ///< the x_i, each once
    Matrix<double> coefficients{};  ///< outputs × points
    std::vector<double> bias{};     ///< one per output
    double self = 0;                ///< weight of k(x, x); −1 for spheres, 0 otherwise
    Rows reference{};  ///< the sample a kernel with center(…) is centred on, else empty

    std::size_t outputs() const { return bias.size(); }
    std::size_t size() const { return points.size(); }
};

/// Of kernels that read nothing but entries of a matrix given as rows (precomputed): the columns of
/// the expansion's points, ascending. Of others, which read all columns, nothing.
std::optional<std::vector<std::size_t>> columns_read(const Expansion& expansion);

/// True when the kernel is a non-negative multiple of x·z, so that f_c(x) = w_c·x + bias_c.
bool is_linear(const Kernel& kernel);
/// The w_c as dense rows, for kernels that are linear.
Matrix<double> weight_vectors(const Expansion& expansion);

/// A feature and its weight in one output.
struct FeatureWeight {
    std::string name{};
    double weight = 0;
};
/// The features that count most in an output, by the size of their weights: k-mers or words of
/// kernels on texts that have them, columns of linear kernels (under `names`, or as "column 3"). Of
/// a sum of kernels each part has its own. Empty for kernels whose features cannot be listed.
std::vector<FeatureWeight> heaviest_features(const Expansion& expansion, std::size_t output,
                                             std::size_t count,
                                             std::span<const std::string> names = {});

/// Evaluates an expansion on many rows. The points are prepared once; linear kernels are collapsed
/// to their w. Safe to use from several threads.
class Evaluator {
   public:
    /// `double_precision` computes kernel values in double; otherwise they are float, sums double.
    explicit Evaluator(const Expansion& expansion, bool double_precision = false);

    /// One row of values f_1(x) … f_outputs(x) for each row of x. Throws Cancelled.
    Matrix<double> operator()(const Rows& x, const Progress& progress = {}) const;

   private:
    struct State;
    std::shared_ptr<const State> state_;
};

/// True when some part of the kernel is centred on a sample, which then belongs to the expansion.
bool is_centered(const Kernel& kernel);

}  // namespace mercer
