// What a kernel Hebbian stream holds, for the .cpp files of this room. Everything is in the
// coordinates of the dictionary's span: φ(x) = L⁻¹ k(dictionary, x).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mercer/gram/gram.hpp"
#include "mercer/learn/components/hebbian.hpp"
#include "mercer/learn/components/kernel_pca.hpp"

namespace mercer {

struct HebbianStream::State {
    HebbianSettings settings;
    std::size_t columns = 0;
    std::size_t seen = 0;
    std::size_t updates = 0;
    double total = 0;    ///< weight seen
    double lengths = 0;  ///< Σ w k(x, x)
    double missed = 0;   ///< Σ w (k(x, x) − ‖φ(x)‖²)
    std::vector<std::string> names{};

    // While the window fills.
    std::vector<double> window{};
    std::vector<double> window_weights{};

    // From then on.
    Scaling scaling{};
    Rows dictionary{};
    std::optional<Gram<double>> gram{};
    Matrix<double> pivot_factor{};
    std::vector<double> mean{};
    Matrix<double> w{};              ///< components × dictionary, in the coordinates of φ
    std::vector<double> variance{};  ///< along each
    Matrix<double> drift{};          ///< mean of the updates before η

    /// The settings must have been checked.
    explicit State(HebbianSettings s) : settings(std::move(s)) {}

    bool settled() const { return gram.has_value(); }

    void take(const Rows& rows, std::span<const double> weights);

    /// Chooses the dictionary and begins with random orthonormal components.
    void settle();

    /// φ of some rows (unscaled), with what the dictionary misses of them.
    Matrix<double> features(const Rows& rows, std::span<double> lengths_out) const;

    void learn_all(const Rows& rows, std::span<const double> weights);

    /// One update from one batch.
    void learn(const Rows& rows, std::span<const double> weights);

    /// (φ − mean) √(w / Σw), so that products of columns are averages.
    void centre(Matrix<double>& phi, std::span<const double> weights, double sum) const;

    /// E[y φ'] − LT(E[y y']) w: the direction of Sanger's rule, averaged; E[y yᵢ] to `spread`.
    Matrix<double> direction(const Matrix<double>& phi, Matrix<double>& spread) const;

    void step(const Matrix<double>& phi);

    /// Calls use(φ, squared lengths, weights) for block after block of rows.
    template <class Use>
    void each_block(const Rows& rows, std::span<const double> weights, const Use& use) const;

    /// Mean, lengths, variances and drift over all rows instead of those on the way.
    void measure(const Rows& rows, std::span<const double> weights);

    /// The components as an expansion over the dictionary: f(x) = w·(L⁻¹ k(x) − mean).
    void expand(const Matrix<double>& basis, ModelParts& model, Components& found) const;

    ModelParts model() const;
};

}  // namespace mercer
