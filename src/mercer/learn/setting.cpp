#include "mercer/learn/registry.hpp"

#include <algorithm>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/base/words.hpp"

namespace mercer {
namespace {

template <class... F>
struct Visitor : F... {
    using F::operator()...;
};
template <class... F>
Visitor(F...) -> Visitor<F...>;

const char* kind_of(const SettingValue& value) {
    return std::visit(
        Visitor{[](bool) { return "true or false"; },
                [](std::size_t) { return "a whole number, 0 or more"; },
                [](double) { return "a number"; }, [](const std::string&) { return "text"; },
                [](const std::vector<double>&) { return "a list of numbers"; },
                [](const std::vector<std::string>&) { return "a list of names"; }},
        value);
}

bool is_count(double value) {
    return value >= 0 && value < 9e15 && value == std::floor(value);
}

/// The value as the kind of `like`, or one of another kind where it cannot be.
SettingValue converted(const SettingValue& value, const SettingValue& like) {
    if (value.index() == like.index()) return value;
    const auto* count = std::get_if<std::size_t>(&value);
    const auto* number = std::get_if<double>(&value);
    const auto* word = std::get_if<std::string>(&value);
    if (std::holds_alternative<double>(like) && count) return static_cast<double>(*count);
    if (std::holds_alternative<std::size_t>(like) && number && is_count(*number)) {
        return static_cast<std::size_t>(*number);
    }
    if (std::holds_alternative<std::vector<double>>(like)) {
        if (number) return std::vector<double>{*number};
        if (count) return std::vector<double>{static_cast<double>(*count)};
        const auto* none = std::get_if<std::vector<std::string>>(&value);
        if (none && none->empty()) return std::vector<double>{};
    }
    if (std::holds_alternative<std::vector<std::string>>(like)) {
        if (word) return std::vector<std::string>{*word};
        const auto* none = std::get_if<std::vector<double>>(&value);
        if (none && none->empty()) return std::vector<std::string>{};
    }
    return value;
}

}  // namespace

std::string value_text(const SettingValue& value) {
    const auto joined = [](const auto& list, const auto& text) {
        std::string all;
        for (const auto& item : list) all += (all.empty() ? "" : ",") + text(item);
        return all;
    };
    return std::visit(
        Visitor{[](bool on) { return std::string(on ? "true" : "false"); },
                [](std::size_t count) { return std::to_string(count); },
                [](double number) { return format_number(number); },
                [](const std::string& word) { return word; },
                [&](const std::vector<double>& numbers) { return joined(numbers, format_number); },
                [&](const std::vector<std::string>& words) {
                    return joined(words, [](const std::string& word) { return word; });
                }},
        value);
}

bool Range::holds(double value) const {
    return std::isfinite(value) && (low_open ? value > low : value >= low) &&
           (high_open ? value < high : value <= high);
}

std::string Range::text() const {
    if (!words.empty()) return words;
    const bool from = std::isfinite(low);
    const bool to = std::isfinite(high);
    if (!from && !to) return "a finite number";
    if (from && to && !low_open && !high_open) {
        return "between " + format_number(low) + " and " + format_number(high);
    }
    std::string text;
    if (from && low_open) text = "greater than " + format_number(low);
    if (from && !low_open) {
        text = !to && low == 0 ? "0 or greater" : "at least " + format_number(low);
    }
    if (to) {
        text += (from ? " and " : "") + std::string(high_open ? "less than " : "at most ") +
                format_number(high);
    }
    return text;
}

Range Range::above(double low) {
    return {.low = low, .low_open = true};
}
Range Range::at_least(double low) {
    return {.low = low};
}
Range Range::between(double low, double high) {
    return {.low = low, .high = high};
}
Range Range::inside(double low, double high) {
    return {.low = low, .high = high, .low_open = true, .high_open = true};
}

std::string Setting::command_line_flag() const {
    if (flag == "-") return {};
    const auto* on = std::get_if<bool>(&fallback);
    const std::string spellings = !flag.empty() ? flag : on && *on ? "no-" + name : name;
    std::string text;
    for (std::size_t first = 0; first <= spellings.size();) {
        const std::size_t last = std::min(spellings.find(',', first), spellings.size());
        text += text.empty() ? "" : ",";
        text += (last - first == 1 ? "-" : "--") + spellings.substr(first, last - first);
        first = last + 1;
    }
    std::ranges::replace(text, '_', '-');
    return text;
}

void Setting::check(const SettingValue& value) const {
    const auto number = [this](double v) { require_range(name, v, range.holds(v), range.text()); };
    const auto word = [this](const std::string& own) {
        if (words.empty()) return;
        for (const std::string& known : words) {
            if (known == own) return;
        }
        refuse_word(name, own, words);
    };
    std::visit(
        Visitor{[](bool) {}, [&](std::size_t v) { number(static_cast<double>(v)); }, number, word,
                [&](const std::vector<double>& list) {
                    for (const double v : list) number(v);
                },
                [&](const std::vector<std::string>& list) {
                    for (const std::string& own : list) word(own);
                }},
        value);
}

SettingValue Setting::read(const SettingValue& given) const {
    SettingValue value = converted(given, fallback);
    if (value.index() != fallback.index()) {
        const auto* word = std::get_if<std::string>(&given);
        throw WrongKind(name + " = " + (word ? quoted(*word) : value_text(given)) + " must be " +
                        (words.empty() ? kind_of(fallback) : one_of(words)));
    }
    check(value);
    return value;
}

}  // namespace mercer
