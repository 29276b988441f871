#include <cmath>
#include <limits>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/persist/detail/json_text.hpp"

namespace mercer::persist {
namespace {

std::string hexadecimal(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string result;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        result += digits[byte >> 4];
        result += digits[byte & 15];
    }
    return result;
}

/// The value of a digit, or 16.
unsigned digit_value(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
    return 16;
}

std::string from_hexadecimal(const std::string& digits, const std::string& place) {
    std::string result;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
        const unsigned byte = digit_value(digits[i]) * 16 + digit_value(digits[i + 1]);
        if (digit_value(digits[i]) > 15 || digit_value(digits[i + 1]) > 15) break;
        result += static_cast<char>(byte);
    }
    if (digits.size() != 2 * result.size()) {
        throw InvalidInput(place + ": \"bytes\" must be pairs of hexadecimal digits, found " +
                           mercer::quoted(digits));
    }
    return result;
}

[[noreturn]] void wrong_kind(const Json& json, const std::string& wanted,
                             const std::string& place) {
    throw InvalidInput(place + " must be " + wanted + ", found " +
                       (json.is_string() ? mercer::quoted(json.get_ref<const std::string&>())
                                         : std::string(json.type_name())));
}

}  // namespace

std::string json_number(double value) {
    if (std::isnan(value)) return "\"nan\"";
    if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
    // "-0" would be read as the integer 0, without its sign.
    if (value == 0 && std::signbit(value)) return "-0.0";
    return format_number(value);
}

bool is_utf8(std::string_view text) {
    try {
        Json(text).dump();
        return true;
    } catch (const Json::exception&) {
        return false;
    }
}

std::string json_text(std::string_view text) {
    try {
        return Json(text).dump();
    } catch (const Json::exception&) {
        return "{\"bytes\":\"" + hexadecimal(text) + "\"}";
    }
}

void read_json(const Json& json, double& out, const std::string& place) {
    if (json.is_number()) {
        out = json.get<double>();
        return;
    }
    const std::string word = json.is_string() ? json.get<std::string>() : "";
    if (word == "nan") {
        out = std::numeric_limits<double>::quiet_NaN();
    } else if (word == "inf" || word == "-inf") {
        out = (word == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
    } else {
        wrong_kind(json, "a number", place);
    }
}

void read_json(const Json& json, bool& out, const std::string& place) {
    if (!json.is_boolean()) wrong_kind(json, "true or false", place);
    out = json.get<bool>();
}

void read_json(const Json& json, std::string& out, const std::string& place) {
    if (json.is_string()) {
        out = json.get<std::string>();
        return;
    }
    if (!json.is_object()) wrong_kind(json, "a text", place);
    const Json& bytes = member(json, "bytes", place);
    if (!bytes.is_string()) wrong_kind(bytes, "a text", place);
    out = from_hexadecimal(bytes.get_ref<const std::string&>(), place);
}

std::uint64_t read_count(const Json& json, const std::string& place) {
    if (!json.is_number_unsigned()) wrong_kind(json, "a whole number from 0", place);
    return json.get<std::uint64_t>();
}

const Json& array_at(const Json& json, std::string_view place) {
    if (!json.is_array()) wrong_kind(json, "a list", std::string(place));
    return json;
}

const Json& member(const Json& object, const char* name, const std::string& place) {
    if (!object.is_object()) wrong_kind(object, "an object", place);
    const auto found = object.find(name);
    if (found == object.end()) {
        throw InvalidInput(place + " has no member \"" + name + "\"");
    }
    return *found;
}

}  // namespace mercer::persist
