// Geometry in feature space (002 §1, 001): everything that can be said of points there from kernel
// values alone, in double precision.
//
//   const FeatureVector centre = centre_of_mass(rbf({.gamma = 0.5}), data.x);
//   norm(centre);                                        // ‖Φ̄‖
//   distances(centre, test.x);                           // ‖Φ(x) − Φ̄‖ for each row
//   const FeatureVector a = image(k, x), b = image(k, z);
//   distance(a, 2.0 * b - centre);
//
// The smallest enclosing sphere is a machine: `sphere` in learn/svm/svm.hpp.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/feature/expansion.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer MERCER_API {

/// A linear combination of images, P = Σ p_i Φ(x_i). A value.
class FeatureVector {
   public:
    /// Throws InvalidInput unless there is one coefficient a row, all numbers are finite and the
    /// kernel is settled: rules such as gamma=scale resolved, and neither center(…), whose origin
    /// is the sample's centre (subtract `centre_of_mass` instead), nor precomputed.
    FeatureVector(Kernel kernel, Rows points, std::vector<double> coefficients);

    const Kernel& kernel() const { return kernel_; }
    const Rows& points() const { return points_; }
    const std::vector<double>& coefficients() const { return coefficients_; }
    std::size_t size() const { return coefficients_.size(); }

    /// <P, Φ(x)> for each row of x.
    std::vector<double> with_images(const Rows& x) const;

    FeatureVector& operator+=(const FeatureVector& other);
    FeatureVector& operator-=(const FeatureVector& other);
    FeatureVector& operator*=(double factor);

   private:
    Kernel kernel_;
    Rows points_;
    std::vector<double> coefficients_;
};

/// Sums need equal kernels, else InvalidInput. Points are put together, not compared.
FeatureVector operator+(FeatureVector a, const FeatureVector& b);
FeatureVector operator-(FeatureVector a, const FeatureVector& b);
FeatureVector operator*(double factor, FeatureVector a);
FeatureVector operator*(FeatureVector a, double factor);

/// <P, Q> = Σ Σ p_i q_j k(x_i, z_j) (002, equation 1).
double inner(const FeatureVector& a, const FeatureVector& b);
/// (002 prints ‖P‖ where ‖P‖² is meant; this is the root.)
double norm(const FeatureVector& a);
double distance(const FeatureVector& a, const FeatureVector& b);

/// Φ(x).
FeatureVector image(const Kernel& kernel, std::span<const double> x);
/// Σ w_i Φ(x_i) / Σ w_i, the point with the least sum of squared distances (002, equation 3).
/// Weights may be empty: all 1. A rule of the kernel is resolved on the rows.
FeatureVector centre_of_mass(const Kernel& kernel, const Rows& rows,
                             std::span<const double> weights = {});
/// w of one output of a trained machine.
FeatureVector weight_vector(const Expansion& expansion, std::size_t output = 0);

/// ‖Φ(x) − P‖ for each row of x, = √(k(x,x) − 2 <P, Φ(x)> + ‖P‖²).
std::vector<double> distances(const FeatureVector& p, const Rows& x);
/// k(x, x) for each row.
std::vector<double> squared_lengths(const Kernel& kernel, const Rows& x);
/// The mean squared distance of the images from their centre of mass, 1/n Σ k(x_i,x_i) − ‖Φ̄‖².
double variance(const Kernel& kernel, const Rows& rows);

/// Equation (4) of 002 for matrices that are there already: the Gram matrix of a sample about its
/// own centre of mass, in place; and k(test rows, sample) about the sample's, with the sample's
/// matrix as it was before. `center(k)` does the same to a kernel.
void center_gram(MatrixView<double> gram);
void center_gram(MatrixView<double> test, MatrixView<const double> sample_gram);

}  // namespace mercer
