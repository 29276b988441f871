// What 'mercer plan' and 'mercer train --approximate auto' say of a plan.
#pragma once

#include <nlohmann/json.hpp>

#include "mercer/select/automatic.hpp"

namespace mercer::cli {

nlohmann::ordered_json plan_json(const TrainingPlan& plan);

}  // namespace mercer::cli
