#include "cli/common/setting_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/common/uses.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer::cli {
namespace {

/// "[0.5]", or nothing for what is off or empty.
std::string shown(const Setting& setting) {
    if (std::holds_alternative<bool>(setting.fallback)) return {};
    const std::string text = value_text(setting.fallback);
    return text.empty() ? text : fmt::format(" [{}]", text);
}

/// A flag that turns off what is on by default says what is left out.
std::string meaning(const Setting& setting) {
    const auto* on = std::get_if<bool>(&setting.fallback);
    const std::string choice =
        setting.words.empty() ? "" : fmt::format(": {}", fmt::join(setting.words, ", "));
    return in_flags((on && *on ? "do not " : "") + setting.about + choice);
}

/// "svc, svr: penalty of errors [1]; adatron: … [1]": each meaning once, with those who have it.
std::string help_of(const SettingFlag& flag) {
    struct Meaning {
        std::string text;
        std::vector<std::string> tasks;
    };
    std::vector<Meaning> all;
    for (const auto& [machine, setting] : flag.users) {
        const std::string text = meaning(*setting) + shown(*setting);
        auto same = std::ranges::find(all, text, &Meaning::text);
        if (same == all.end()) same = all.insert(all.end(), {text, {}});
        same->tasks.push_back(machine->name);
    }
    std::string help;
    for (const auto& [text, tasks] : all) {
        const bool many = all.size() == 1 && tasks.size() > 6;
        help += (help.empty() ? "" : "; ") +
                (many ? text : fmt::format("{}: {}", fmt::join(tasks, ", "), text));
    }
    return help;
}

CLI::Option* option_for(SettingFlag& flag, CLI::App& command, Session& session) {
    const Setting& setting = *flag.users.front().setting;
    const std::string help = help_of(flag);
    const auto with_name = [&](CLI::Option* option, const char* usual) {
        return option->type_name(setting.placeholder.empty() ? usual : setting.placeholder);
    };
    if (std::holds_alternative<bool>(setting.fallback)) {
        return command.add_flag(flag.names, flag.on, help);
    }
    if (std::holds_alternative<std::size_t>(setting.fallback)) {
        return with_name(command.add_option(flag.names, flag.count, help)->check(whole_number()),
                         "N");
    }
    if (std::holds_alternative<double>(setting.fallback)) {
        return with_name(command.add_option(flag.names, flag.number, help), "X");
    }
    if (!setting.words.empty()) {
        CLI::Option* option =
            add_choice(command, session, flag.names, flag.word, setting.words, "");
        return option->description(help);
    }
    if (std::holds_alternative<std::string>(setting.fallback)) {
        return with_name(command.add_option(flag.names, flag.word, help), "TEXT");
    }
    CLI::Option* option = std::holds_alternative<std::vector<double>>(setting.fallback)
                              ? command.add_option(flag.names, flag.numbers, help)
                              : command.add_option(flag.names, flag.words, help);
    if (setting.placeholder.find(',') != std::string::npos) option->delimiter(',');
    return with_name(option->allow_extra_args(false), "X");
}

/// What is said besides of options that a task has no use for.
std::string remark_on(const SettingFlag& flag) {
    return flag.names == "--epsilon" ? " (nu-svr finds it by itself)" : "";
}

}  // namespace

std::vector<std::string> trained_tasks() {
    std::vector<std::string> names;
    for (const MachineEntry* machine : machines()) {
        if (machine->command.empty()) names.push_back(machine->name);
    }
    return names;
}

SettingValue SettingFlag::value() const {
    const SettingValue& kind = users.front().setting->fallback;
    if (const auto* fallback = std::get_if<bool>(&kind)) return on != *fallback;
    if (std::holds_alternative<std::size_t>(kind)) return count;
    if (std::holds_alternative<double>(kind)) return number;
    if (std::holds_alternative<std::string>(kind)) return word;
    if (std::holds_alternative<std::vector<double>>(kind)) return numbers;
    return words;
}

const Setting* SettingFlag::of(const MachineEntry& machine) const {
    const auto found = std::ranges::find(users, &machine, &User::machine);
    return found == users.end() ? nullptr : found->setting;
}

void SettingFlags::add(CLI::App& command, Session& session) {
    for (const MachineEntry* machine : machines()) {
        if (!machine->command.empty()) continue;
        for (const Setting& setting : machine->settings) {
            const std::string names = setting.command_line_flag();
            if (names.empty()) continue;
            auto same = std::ranges::find(flags_, names, &SettingFlag::names);
            if (same == flags_.end()) {
                flags_.emplace_back().names = names;
                same = std::prev(flags_.end());
            }
            same->users.push_back({machine, &setting});
        }
    }
    for (SettingFlag& flag : flags_) {
        flag.option = option_for(flag, command, session);
        const auto& [machine, setting] = flag.users.front();
        if (setting->of_solver) {
            flag.option->group("Training");
        } else if (machine->family != "svm") {
            flag.option->group("Other machines");
        }
    }
}

void SettingFlags::declare_uses(Session& session, const CLI::Option* choice,
                                const std::string& task) const {
    for (const SettingFlag& flag : flags_) {
        std::vector<std::string> names;
        for (const auto& user : flag.users) names.push_back(user.machine->name);
        only(session, flag.option, for_words(choice, task, names, remark_on(flag)));
    }
}

void SettingFlags::show_as_of(const MachineEntry& machine) const {
    for (const SettingFlag& flag : flags_) {
        if (const Setting* setting = flag.of(machine)) {
            flag.option->description(meaning(*setting) + shown(*setting));
            flag.option->group(setting->of_solver ? "Training" : "Options");
        }
    }
}

bool SettingFlags::given(const std::string& name) const {
    return std::ranges::any_of(flags_, [&](const SettingFlag& flag) {
        return flag.option->check_name(name) && flag.is_given();
    });
}

std::string SettingFlags::word(const std::string& name) const {
    const auto found = std::ranges::find_if(
        flags_, [&](const SettingFlag& flag) { return flag.option->check_name(name); });
    return found == flags_.end() ? "" : found->word;
}

SettingValues SettingFlags::values(const MachineEntry& machine) const {
    SettingValues values;
    for (const SettingFlag& flag : flags_) {
        const Setting* setting = flag.of(machine);
        if (setting && flag.is_given()) values[setting->name] = flag.value();
    }
    for (const auto& [name, value] : found_) {
        if (machine.find(name)) values[name] = value;
    }
    return values;
}

void SettingFlags::require(const MachineEntry& machine) const {
    for (const SettingFlag& flag : flags_) {
        const Setting* setting = flag.of(machine);
        if (!setting || flag.is_given() || found_.contains(setting->name)) continue;
        const auto* fallback = std::get_if<double>(&setting->fallback);
        if (!fallback || setting->range.holds(*fallback)) continue;
        throw InvalidSetting(fmt::format("--task {} needs {}, {}: {}", machine.name,
                                         spelled(*flag.option), setting->range.text(),
                                         setting->about));
    }
}

std::string SettingFlags::in_flags(const MachineEntry& machine, const std::string& message) const {
    for (const SettingFlag& flag : flags_) {
        const Setting* setting = flag.of(machine);
        if (!setting || !flag.is_given()) continue;
        const std::string start = setting->name + " = ";
        if (message.starts_with(start)) {
            return spelled(*flag.option) + ' ' + message.substr(start.size());
        }
    }
    return message;
}

}  // namespace mercer::cli
