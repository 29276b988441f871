// Feature maps that can be written down: Φ with <Φ(x), Φ(z)> = k(x, z), or as near as a sample
// allows, so that a linear method on Φ(x) is a kernel method on x.
//
//   MonomialMap lift(2, {.degree = 2});               // (1 + x·z)², 004
//   Matrix<double> features = lift(data.x);
//   FeatureMap map = eigen_map(rbf({.gamma = 0.5}), landmarks, 50);
//   Matrix<double> train = map(data.x), test_too = map(test.x);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/feature/expansion.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer MERCER_API {

/// (coef0 + gamma x·z)^degree, as `polynomial`.
struct MonomialParameters {
    int degree = 2;
    double gamma = 1;
    double coef0 = 1;  ///< 0: monomials of the full degree only, as in 003
};

/// The explicit map of a polynomial kernel: all monomials x^a = Π x_i^{a_i} up to the degree, each
/// times √(multinomial × coef0^(degree − |a|) × gamma^|a|) (000, 002, 003, 004). Of d columns it
/// makes (d + degree choose degree) features.
class MonomialMap {
   public:
    /// Throws InvalidInput for parameters below 0, degree 0, or more than a million features.
    MonomialMap(std::size_t columns, const MonomialParameters& parameters);

    /// The monomials of degrees lowest … degree as they are, without factors: 003's x ↦ (x, x²).
    static MonomialMap plain(std::size_t columns, int degree, int lowest = 0);
    /// The series of exp(gamma x·z) = Σ (gamma x·z)^n / n! (000, equation 9) cut after `degree`:
    /// its features x^a √(gamma^|a| / Π a_i!).
    static MonomialMap exponential(std::size_t columns, int degree, double gamma = 1);

    std::size_t columns() const { return columns_; }
    std::size_t features() const { return factor_.size(); }
    /// "1", "x0", "x0*x1", "x1^2".
    std::string name(std::size_t feature) const;
    double factor(std::size_t feature) const { return factor_[feature]; }

    /// One row of features for each row of x. Throws InvalidInput for rows of other width.
    Matrix<double> operator()(const Rows& x) const;
    std::vector<double> operator()(std::span<const double> x) const;

   private:
    explicit MonomialMap(std::size_t columns) : columns_(columns) {}
    /// Appends all monomials of one degree, each with weight(exponents).
    template <class Weight>
    void add_degree(int degree, Weight&& weight);

    std::size_t columns_;
    /// Feature f is the product of the columns parts_[starts_[f]] … parts_[starts_[f+1]−1], repeats
    /// standing for powers.
    std::vector<std::size_t> starts_{0};
    std::vector<std::size_t> parts_{};
    std::vector<double> factor_{};
};

/// A map through a sample: Φ(x) = A (k(x_1, x), …, k(x_m, x))'.
class FeatureMap {
   public:
    FeatureMap(Expansion expansion, std::vector<double> eigenvalues);

    std::size_t features() const { return expansion_.outputs(); }
    const Kernel& kernel() const { return expansion_.kernel; }
    /// Eigenvalues of the sample's Gram matrix that the map kept, descending; empty for the plain
    /// empirical map.
    const std::vector<double>& eigenvalues() const { return eigenvalues_; }
    /// The map as an expansion with one output a feature.
    const Expansion& expansion() const { return expansion_; }

    /// One row of features for each row of x, in double precision. Throws Cancelled.
    Matrix<double> operator()(const Rows& x, const Progress& progress = {}) const;

   private:
    Expansion expansion_;
    std::vector<double> eigenvalues_;
};

/// The empirical kernel map x ↦ (k(x_1, x), …, k(x_m, x)) (001).
FeatureMap empirical_map(const Kernel& kernel, const Rows& sample,
                         std::span<const std::string> names = {});

/// The whitened map K^(−1/2) (k(x_1, x), …, k(x_m, x))', for which <Φ(x_i), Φ(x_j)> = k(x_i, x_j)
/// exactly on the sample (001). Directions whose eigenvalue is 0 up to rounding are left out of the
/// inverse. Throws InvalidInput when K has a negative eigenvalue: no map can do it then (repair the
/// matrix with feature/spectral.hpp).
FeatureMap whitened_map(const Kernel& kernel, const Rows& sample,
                        std::span<const std::string> names = {}, const Progress& progress = {});

/// The same in the coordinates of the eigenvectors, D^(−1/2) U' (k(x_1, x), …)', the leading
/// `components` of them (0: all): Mercer's eigenfunctions √λ_j ψ_j(x), estimated on the sample and
/// carried to any x by Nyström's formula. On the sample it is exact with all components; on fewer
/// it is the best approximation of that rank.
FeatureMap eigen_map(const Kernel& kernel, const Rows& sample, std::size_t components = 0,
                     std::span<const std::string> names = {}, const Progress& progress = {});

/// Some rows drawn without repetition, ascending, to be the sample of a map; all when count is 0 or
/// not less than there are.
Rows draw_landmarks(const Rows& rows, std::size_t count, std::uint64_t seed = 1);

}  // namespace mercer
