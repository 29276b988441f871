// Kernel k-means (003, discussion): groups whose centres are means in feature space.
//
//   Model model = kmeans({.common = {.kernel = rbf({.gamma = 0.5})}, .clusters = 3}).fit(data);
//   std::vector<double> nearest = model.predict(data.x);          // 0, 1 or 2
//   model.report().history;                                       // the objective, never rising
#pragma once

#include <cstddef>

#include "mercer/base/export.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

struct KMeansSettings {
    FitSettings common{};
    std::size_t clusters = 8;
    std::size_t starts = 4;    ///< the best of so many is kept
    std::size_t passes = 300;  ///< at most, each start
};

/// Minimises J = Σ_i w_i ‖Φ(x_i) − μ_c(i)‖² by Lloyd's two steps, begun by k-means++ [Arthur and
/// Vassilvitskii 2007] with distances in feature space. A centre without rows takes the row that is
/// farthest from its own, which only lowers J. With a linear kernel this is ordinary k-means.
///
/// The model is an expansion with self = −1 and one output a centre, f_c(x) = −‖Φ(x) − μ_c‖², so
/// the largest is the nearest. Kernel values are stored when they fit `memory_bytes`; otherwise
/// those of the rows that move are computed again, a block of rows at a time, and where there are
/// many rows the starts are tried on some of them, drawn evenly, and the best goes on with all.
/// Linear kernels need none: means are kept as vectors.
///
/// The report has J as `primal`, its course as history, and the figures `objective`, `passes`,
/// `start` (the best one, from 0) and `refilled` (centres that had lost their rows). The array
/// "sizes" holds the weight of each cluster.
class KMeans {
   public:
    explicit KMeans(KMeansSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return Task::kmeans; }
    const KMeansSettings& settings() const { return settings_; }
    Model fit(const Dataset& data) const;
    /// Centres in the span of some rows (`approximate`), by passes over all of them; J is then that
    /// of the kernel itself over such centres, and starts are tried on some rows.
    Model fit_in_span(const Dataset& data, MatrixView<const double> targets,
                      const Nystroem& how) const;

   private:
    KMeansSettings settings_;
};
inline KMeans kmeans(KMeansSettings settings = {}) {
    return KMeans(std::move(settings));
}

}  // namespace mercer
