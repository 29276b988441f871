// The written forms of a scaling: the rule as a word on a command line, the fitted map as JSON.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/detail/json.hpp"
#include "mercer/data/scaling.hpp"

namespace mercer {
namespace {

using Json = nlohmann::json;
using Kind = ScalingRule::Kind;

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// The two numbers of "(a,b)", or nothing.
std::optional<std::pair<double, double>> pair_of(std::string_view text) {
    if (text.size() < 2 || text.front() != '(' || text.back() != ')') return {};
    text = text.substr(1, text.size() - 2);
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos) return {};
    const auto first = parse_number(trimmed(text.substr(0, comma)));
    const auto second = parse_number(trimmed(text.substr(comma + 1)));
    if (!first || !second) return {};
    return std::pair(*first, *second);
}

constexpr std::pair<Kind, const char*> kind_names[] = {
    {Kind::none, "none"}, {Kind::standard, "standard"}, {Kind::minmax, "minmax"},
    {Kind::unit, "unit"}, {Kind::factor, "factor"},
};

const char* name_of(Kind kind) {
    for (const auto& [value, name] : kind_names) {
        if (value == kind) return name;
    }
    return "none";
}

/// A member of the JSON object, or InvalidInput that names it.
const Json& member(const Json& object, const char* name, Json::value_t type,
                   const std::string& place) {
    const auto found = object.find(name);
    const bool number = type == Json::value_t::number_float;
    if (found == object.end() || (number ? !found->is_number() : found->type() != type)) {
        throw InvalidInput(place + ": member \"" + name + "\" must be of type " +
                           Json(type).type_name() + "; is this a scaling that was saved?");
    }
    return *found;
}

std::vector<double> numbers_of(const Json& object, const char* name, bool non_negative,
                               const std::string& place) {
    const Json& list = member(object, name, Json::value_t::array, place);
    std::vector<double> result;
    result.reserve(list.size());
    for (const Json& item : list) {
        const double value = item.is_number() ? item.get<double>() : std::nan("");
        if (!std::isfinite(value) || (non_negative && value < 0)) {
            throw InvalidInput(place + ": \"" + name + "\"[" + std::to_string(result.size()) +
                               "] must be a finite number" +
                               (non_negative ? " that is not negative" : ""));
        }
        result.push_back(value);
    }
    return result;
}

}  // namespace

ScalingRule ScalingRule::parse(std::string_view text) {
    const std::string_view word = trimmed(text);
    ScalingRule rule;
    if (word == "none") return rule;
    if (word == "standard") {
        rule.kind = Kind::standard;
        return rule;
    }
    if (word == "unit") {
        rule.kind = Kind::unit;
        return rule;
    }
    if (word == "minmax") {
        rule.kind = Kind::minmax;
        return rule;
    }
    if (word.starts_with("minmax")) {
        if (const auto range = pair_of(trimmed(word.substr(6)))) {
            rule.kind = Kind::minmax;
            std::tie(rule.low, rule.high) = *range;
            rule.check("scaling " + quoted(word));
            return rule;
        }
    }
    const std::size_t slash = word.find('/');
    const auto above = parse_number(trimmed(word.substr(0, slash)));
    const auto below = slash == std::string_view::npos
                           ? std::optional(1.0)
                           : parse_number(trimmed(word.substr(slash + 1)));
    if (above && below) {
        rule.kind = Kind::factor;
        rule.factor = *above / *below;
        rule.check("scaling " + quoted(word));
        return rule;
    }
    throw InvalidInput("scaling " + quoted(word) +
                       " is not known; use none, standard, minmax, minmax(-1,1), unit, or a number "
                       "or ratio such as 1/255");
}

std::string ScalingRule::text() const {
    if (kind == Kind::factor) return format_number(factor);
    if (kind == Kind::minmax && !(low == 0 && high == 1)) {
        return "minmax(" + format_number(low) + "," + format_number(high) + ")";
    }
    return name_of(kind);
}

void ScalingRule::check(const std::string& place) const {
    if (kind == Kind::minmax &&
        !(std::isfinite(low) && std::isfinite(high) && low < high && std::isfinite(high - low))) {
        throw InvalidInput(place + ": the range (" + format_number(low) + ", " +
                           format_number(high) + ") must be two finite numbers, the smaller first");
    }
    if (kind == Kind::factor && !(std::isfinite(factor) && factor != 0)) {
        throw InvalidInput(place + ": the factor " + format_number(factor) +
                           " must be a finite number other than 0");
    }
}

std::string Scaling::json() const {
    Json result{{"format", "mercer scaling"}, {"version", 1}, {"kind", name_of(rule_.kind)}};
    if (rule_.kind == Kind::minmax) {
        result["low"] = rule_.low;
        result["high"] = rule_.high;
    }
    if (rule_.kind == Kind::factor) result["factor"] = rule_.factor;
    if (rule_.kind == Kind::minmax || rule_.kind == Kind::standard) {
        result["center"] = center_;
        result["spread"] = spread_;
    }
    return result.dump(1) + "\n";
}

Scaling Scaling::from_json(std::string_view text, const std::string& place) {
    const Json object = parse_json(text, 3, place);
    if (!object.is_object()) throw InvalidInput(place + ": a JSON object is expected");
    const auto word = [&](const char* name) {
        return member(object, name, Json::value_t::string, place).get<std::string>();
    };
    const auto number = [&](const char* name) {
        return member(object, name, Json::value_t::number_float, place).get<double>();
    };
    if (word("format") != "mercer scaling" || number("version") != 1) {
        throw InvalidInput(place + ": expected format \"mercer scaling\" version 1, found " +
                           mercer::quoted(word("format")) + " version " +
                           format_number(number("version")));
    }
    const std::string kind = word("kind");
    const auto* const known = std::find_if(std::begin(kind_names), std::end(kind_names),
                                           [&](const auto& entry) { return entry.second == kind; });
    if (known == std::end(kind_names)) {
        throw InvalidInput(place + ": kind " + mercer::quoted(kind) +
                           " is not one of none, standard, minmax, unit, factor");
    }
    Scaling result;
    result.rule_.kind = known->first;
    if (result.rule_.kind == Kind::minmax) {
        result.rule_.low = number("low");
        result.rule_.high = number("high");
    }
    if (result.rule_.kind == Kind::factor) result.rule_.factor = number("factor");
    result.rule_.check(place);
    if (result.rule_.kind == Kind::minmax || result.rule_.kind == Kind::standard) {
        result.center_ = numbers_of(object, "center", false, place);
        result.spread_ = numbers_of(object, "spread", true, place);
        if (result.center_.empty() || result.center_.size() != result.spread_.size()) {
            throw InvalidInput(place + ": \"center\" has " + std::to_string(result.center_.size()) +
                               " numbers and \"spread\" " + std::to_string(result.spread_.size()) +
                               "; they must have the same number, at least one");
        }
    }
    return result;
}

}  // namespace mercer
