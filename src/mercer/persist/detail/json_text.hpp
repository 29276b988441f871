// JSON as model files use it: numbers that read back as the same, texts of any bytes, and a reader
// that trusts nothing. For the .cpp files of this room only.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/data/detail/json.hpp"

namespace mercer::persist {

using Json = nlohmann::json;

/// The shortest decimal that reads back as this double; "nan", "inf" and "-inf" in quotes, because
/// JSON has no numbers for them.
std::string json_number(double value);

/// The text in quotes; when it is not UTF-8, which JSON must be, {"bytes": "hexadecimal digits"}.
std::string json_text(std::string_view text);
bool is_utf8(std::string_view text);

inline std::string json_value(double value) {
    return json_number(value);
}
inline std::string json_value(bool value) {
    return value ? "true" : "false";
}
inline std::string json_value(const std::string& value) {
    return json_text(value);
}
template <std::unsigned_integral T>
requires(!std::same_as<T, bool>) std::string json_value(T value) {
    return std::to_string(value);
}

template <class T>
std::string json_list(const std::vector<T>& values) {
    std::string result = "[";
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0) result += ',';
        result += json_value(values[i]);
    }
    return result + "]";
}

using mercer::parse_json;

/// The values back. Each throws InvalidInput, beginning with `place`, for a value of another kind.
void read_json(const Json& json, double& out, const std::string& place);
void read_json(const Json& json, bool& out, const std::string& place);
void read_json(const Json& json, std::string& out, const std::string& place);
std::uint64_t read_count(const Json& json, const std::string& place);
template <std::unsigned_integral T>
requires(!std::same_as<T, bool>) void read_json(const Json& json, T& out,
                                                const std::string& place) {
    static_assert(sizeof(T) == sizeof(std::uint64_t));
    out = static_cast<T>(read_count(json, place));
}

/// The items of an array, or InvalidInput.
const Json& array_at(const Json& json, std::string_view place);

template <class T>
void read_json(const Json& json, std::vector<T>& out, const std::string& place) {
    out.clear();
    out.reserve(array_at(json, place).size());
    for (const Json& item : json) {
        T value{};
        read_json(item, value, place + "[" + std::to_string(out.size()) + "]");
        out.push_back(std::move(value));
    }
}

/// The member of an object, or InvalidInput that names it.
const Json& member(const Json& object, const char* name, const std::string& place);

}  // namespace mercer::persist
