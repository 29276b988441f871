#include "cli/common/uses.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/common/session.hpp"
#include "mercer/base/error.hpp"

namespace mercer::cli {
namespace {

[[noreturn]] void refuse(const CLI::Option& option, const std::string& now,
                         const std::string& wanted) {
    throw InvalidInput(fmt::format("{} has no meaning {}; {}", spelled(option), now, wanted));
}

}  // namespace

std::string spelled(const CLI::Option& option) {
    // One letter where there is one: -C, not --cost.
    if (!option.get_snames().empty()) return "-" + option.get_snames()[0];
    if (!option.get_lnames().empty()) return "--" + option.get_lnames().back();
    return option.get_name();
}

std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += i == 0 ? "" : i + 1 == words.size() ? " and " : ", ";
        text += words[i];
    }
    return text;
}

Condition for_words(const CLI::Option* choice, const std::string& value,
                    std::vector<std::string> words, const std::string& remark) {
    std::string wanted = fmt::format("it belongs to {}{}", listed(words), remark);
    return {.holds =
                [&value, words = std::move(words)] {
                    return std::ranges::find(words, value) != words.end();
                },
            .now = [choice, &value] { return fmt::format("for {} {}", spelled(*choice), value); },
            .wanted = std::move(wanted),
            .choice = choice};
}

Condition with(std::vector<const CLI::Option*> others) {
    std::vector<std::string> names;
    for (const CLI::Option* other : others) names.push_back(spelled(*other));
    return {.holds =
                [others] {
                    return std::ranges::any_of(
                        others, [](const CLI::Option* other) { return other->count() > 0; });
                },
            .now = [names] { return fmt::format("without {}", fmt::join(names, " or ")); },
            .wanted = "it belongs to " + listed(names)};
}

Condition without(const CLI::Option* other, const std::string& why) {
    return {.holds = [other] { return other->count() == 0; },
            .now = [other] { return "with " + spelled(*other); },
            .wanted = why};
}

Condition when(std::function<bool()> holds, const std::string& now, const std::string& wanted) {
    return {.holds = std::move(holds), .now = [now] { return now; }, .wanted = wanted};
}

CLI::Option* only(Session& session, CLI::Option* option, Condition condition) {
    session.uses.push_back({option, std::move(condition)});
    return option;
}

void only(Session& session, const std::vector<CLI::Option*>& options, const Condition& condition) {
    for (CLI::Option* option : options) only(session, option, condition);
}

void check_uses(const std::vector<Use>& uses) {
    for (const Use& use : uses) {
        if (use.option->count() > 0 && !use.condition.holds()) {
            refuse(*use.option, use.condition.now(), use.condition.wanted);
        }
    }
}

void refuse_given(const Session& session, const std::string& option, const std::string& now,
                  const std::string& wanted) {
    const CLI::Option* found = session.command->get_option(option);
    if (found->count() > 0) refuse(*found, now, wanted);
}

void hide_unused(const Session& session, const CLI::Option* choice) {
    for (const Use& use : session.uses) {
        if (use.condition.choice != choice || use.condition.holds()) continue;
        use.option->group("");
    }
}

}  // namespace mercer::cli
