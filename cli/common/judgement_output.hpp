// Judgements as judge, learn and train print them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "mercer/select/judge.hpp"

namespace mercer::cli {

std::string describe_judgement(const Judgement& j);
nlohmann::ordered_json json_of(const Judgement& j);

}  // namespace mercer::cli
