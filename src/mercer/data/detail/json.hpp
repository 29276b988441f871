// JSON from outside, parsed without trust. For .cpp files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace mercer {

/// Parses a whole text, in time that grows with its length and no faster. Throws InvalidInput,
/// beginning with `place`, for what is not JSON, nests deeper than `deepest`, or names a member of
/// an object twice.
nlohmann::json parse_json(std::string_view text, int deepest, const std::string& place);

}  // namespace mercer
