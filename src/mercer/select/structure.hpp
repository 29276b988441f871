// Structural risk minimisation (001): within a nested family of machines the one whose bound on the
// error, training error plus confidence term, is least; beside it the one that cross-validation
// would choose.
//
//   const StructureChoice c = minimise_structural_risk(
//       {.family = StructureFamily::degree, .values = {1, 2, 3, 4}}, data);
//   c.levels[c.by_bound].bound.value, c.levels[c.by_cross_validation].cv_error;
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/theory/bounds.hpp"

namespace mercer MERCER_API {

enum class StructureFamily {
    degree,  ///< (1 + gamma x·z)^d: planes over C(N+d, d) monomials, so many is h
    margin,  ///< larger and larger C, smaller and smaller margins: h <= min(R²‖w‖², N) + 1
    components,  ///< planes over the leading components of the kernel: h is one more
};
/// "degree", "margin", "components"; and back, throwing InvalidInput.
std::string family_name(StructureFamily family);
StructureFamily family_named(std::string_view name);

struct StructureSettings {
    StructureFamily family = StructureFamily::degree;
    std::vector<double> values{};  ///< degrees, penalties or numbers of components, ascending
    /// Task svc: kernel (margin, components), C (degree, components), scaling, precision. The gamma
    /// of `degree` is that of `gamma` below.
    SvmSettings svm{};
    double gamma = 1;
    double delta = 0.05;     ///< for all levels together: each may fail with delta / levels
    std::size_t folds = 5;   ///< of the cross-validation beside it
    std::uint64_t seed = 1;  ///< of those folds
    Progress progress{};
};

struct StructureLevel {
    double value = 0;           ///< degree, C or number of components
    double dimension = 0;       ///< h
    double training_error = 0;  ///< share of the rows
    double confidence_term = 0;
    Bound bound{};        ///< on the error: their sum
    double cv_error = 0;  ///< share of the rows, each judged by a machine that had not seen it
    std::string status{};
};

struct StructureChoice {
    StructureFamily family = StructureFamily::degree;
    std::vector<StructureLevel> levels{};
    std::size_t by_bound = 0;             ///< the first with the least bound
    std::size_t by_cross_validation = 0;  ///< the first with the least error
};

/// Throws InvalidInput unless the data has two classes, values ascend and fit the family, and delta
/// lies in (0, 1); and for more folds than rows. Throws Cancelled. Where every bound is vacuous the
/// least is still the choice: only its order is then of use.
StructureChoice minimise_structural_risk(const StructureSettings& settings, const Dataset& data);

/// A plane over the leading components of a kernel on the training rows (feature/maps.hpp), as one
/// expansion of the kernel itself.
Machine component_machine(const SvmSettings& settings, std::size_t components);

}  // namespace mercer
