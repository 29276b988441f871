// The options of `train` and `tune` that are settings of machines, read off the registry: which
// there are, what they take, what they mean to which task.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "cli/common/session.hpp"
#include "mercer/learn/registry.hpp"

namespace mercer::cli {

/// One option, which may be a setting of several machines, by other names and with other defaults.
struct SettingFlag {
    struct User {
        const MachineEntry* machine;
        const Setting* setting;
    };
    std::string names{};  ///< "-C,--cost"
    std::vector<User> users{};
    CLI::Option* option = nullptr;

    // What the command line gives, by its kind.
    bool on = false;
    std::size_t count = 0;
    double number = 0;
    std::string word{};
    std::vector<double> numbers{};
    std::vector<std::string> words{};

    bool is_given() const { return option->count() > 0; }
    SettingValue value() const;
    const Setting* of(const MachineEntry& machine) const;
};

class SettingFlags {
   public:
    /// Adds the options of all machines that `mercer train` trains.
    void add(CLI::App& command, Session& session);
    /// Refuses options without meaning for the task chosen; `task` is what --task is read into.
    void declare_uses(Session& session, const CLI::Option* choice, const std::string& task) const;
    /// Help shows what the settings mean to this machine, and its own defaults.
    void show_as_of(const MachineEntry& machine) const;

    bool given(const std::string& name) const;
    /// The text given for an option; empty without.
    std::string word(const std::string& name) const;
    /// A setting that a search has found takes the place of what was given.
    void set(const std::string& setting, SettingValue value) { found_[setting] = std::move(value); }
    /// Those given that the machine takes, by the names of its settings.
    SettingValues values(const MachineEntry& machine) const;
    /// Throws InvalidSetting when one that has no usable default was not given.
    void require(const MachineEntry& machine) const;
    /// The message of a setting in the words of the command line: "lambda = -1 must …" becomes
    /// "--lambda -1 must …".
    std::string in_flags(const MachineEntry& machine, const std::string& message) const;

   private:
    std::deque<SettingFlag> flags_{};
    SettingValues found_{};
};

/// The names of the tasks that `mercer train` trains.
std::vector<std::string> trained_tasks();

}  // namespace mercer::cli
