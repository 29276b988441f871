// Nested quantile regions (001, multi-dimensional quantiles): for several shares at once a region
// that holds so much of the sample, each inside the next.
//
// One-class machines of different ν need not be nested, since each has a plane of its own. Here all
// planes share one normal vector [Glazer, Lindenbaum and Markovitch 2013]: with ν_j = 1 − share_j
//
//     min (q/2)‖w‖² + Σ_j [ 1/(ν_j m) Σ_i ξ_ij − ρ_j ],  <w, Φ(x_i)> >= ρ_j − ξ_ij,  ξ_ij >= 0
//
// so that the regions <w, Φ(x)> >= ρ_j are nested whatever the kernel and the data, and each keeps
// its ν-property: at most ν_j of the rows are outside.
//
//   Model model = regions({.common = {.kernel = rbf({.gamma = 1.0})}, .shares = {0.5, 0.9}})
//                     .fit(data);
//   model.predict(test.x);                            // 0.5, 0.9, or -1 where it is in neither
//   model.extras().find<NestedLevels>()->levels;
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/learn/extra.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

inline constexpr Task regions_task = new_task("regions");

struct RegionSettings {
    FitSettings common{};
    std::vector<double> shares{0.5, 0.75, 0.95};  ///< of the rows, inside at least
    double tolerance = 1e-3;                      ///< on the relative gap
};

/// One report: primal, dual and gap where the kernel is positive definite (learn/convexity.hpp),
/// and the figure levels. The decision value is positive inside the largest region.
class Regions {
   public:
    explicit Regions(RegionSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return regions_task; }
    const RegionSettings& settings() const { return settings_; }
    /// Rows count by their weights. Throws InvalidInput unless there are 1 to 100 shares, all
    /// different and between 0 and 1, and for kernel matrices beyond common.memory_bytes.
    Model fit(const Dataset& data) const;

   private:
    RegionSettings settings_;
};
inline Regions regions(RegionSettings settings = {}) {
    return Regions(std::move(settings));
}

/// The report of a model by its numbers and its data alone, in double precision: primal value, dual
/// value, and whether its coefficients are a point of the dual; figures inside_1, inside_2, … are
/// the shares of the rows in the regions. Throws InvalidInput when it is no model of this data.
Report recompute_regions(const Model& model, const Dataset& data, const Progress& progress = {});

/// One row a region, the smallest first: its share; the least decision value inside; the share of
/// the training rows inside.
struct NestedLevels final : ArrayExtra<NestedLevels> {
    Matrix<double> levels{};

    NestedLevels() = default;
    explicit NestedLevels(Matrix<double> table) : levels(std::move(table)) {}
    template <class Self, class Visit>
    static void arrays(Self& self, Visit&& visit) {
        visit("regions", self.levels);
    }
    void check(const ModelParts& model, const std::string& place) const override;
    /// The share of the smallest region that each row lies in; −1 for rows in none.
    std::optional<std::vector<double>> answers(const Model& model, const Rows& x,
                                               const Progress& progress) const override;
};

}  // namespace mercer
