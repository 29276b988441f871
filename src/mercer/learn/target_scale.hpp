// Targets brought to one scale before a regression learns them, and the answers taken back.
//
//     t = (y − shift) / scale        learnt          f_y = shift + scale f_t        answered
//
// A model always answers in the units of y: what was learnt of t is folded into its coefficients
// and its bias. What the settings then mean:
//
//   svr, nu-svr   exactly the machine of y with C · scale and ε · scale, which is how it is solved
//   huber         the machine of y with δ · scale;   quantile: with λ / scale
//   ridge         the same machine whatever the scale; without a bias the shift counts
//   gp            kernel, noise and evidence are those of t; deviations come back times scale
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "mercer/base/export.hpp"
#include "mercer/base/words.hpp"

namespace mercer MERCER_API {

class Model;
struct ModelParts;
enum class Task : std::uint32_t;

enum class TargetScale {
    automatic,  ///< standard where the evidence is maximised, else none
    none,
    center,    ///< less the mean
    standard,  ///< less the mean, by the standard deviation
    minmax,    ///< to 0 … 1
};
constexpr Words target_scale_words{
    std::pair{TargetScale::automatic, "auto"}, std::pair{TargetScale::none, "none"},
    std::pair{TargetScale::center, "center"}, std::pair{TargetScale::standard, "standard"},
    std::pair{TargetScale::minmax, "minmax"}};
/// "auto", "none", "center", "standard", "minmax"; and back, throwing InvalidInput.
std::string target_scale_name(TargetScale rule);
TargetScale target_scale_named(std::string_view name);

struct TargetScaling {
    double shift = 0;
    double scale = 1;  ///< greater than 0; 1 for targets that are all the same

    bool is_identity() const { return shift == 0 && scale == 1; }
};

/// `weights` is empty (all 1) or one per target. `automatic` is none.
TargetScaling fit_target_scale(TargetScale rule, std::span<const double> targets,
                               std::span<const double> weights = {});

/// Throws InvalidInput when a rule is asked for of a task that learns no numbers.
void check_target_scale(TargetScale rule, Task task);

/// Writes the scaling into the numbers a model was trained with, and reads it again; the identity
/// is not written.
void note_target_scaling(ModelParts& model, const TargetScaling& scaling);
TargetScaling target_scaling_of(const Model& model);

/// What makes a support vector regression useless on targets of this deviation.
enum class TargetTrouble {
    none,
    penalty_too_small,  ///< nearly every row pulls as hard as C lets it, and C is far too small
    tube_too_wide,      ///< epsilon spans the targets
};
/// Of a trained svr or nu-svr; none for other tasks.
TargetTrouble target_trouble(const Model& model, double deviation);

}  // namespace mercer
