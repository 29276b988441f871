// A machine's settings described by pointers to the members that hold them, so that name, range,
// default and help cannot drift from the structure itself.
//
//   const Describe<ToySettings> settings = [] {
//       Describe<ToySettings> d;
//       d.add(&ToySettings::width, "width", "how far a row is seen", Range::above(0)).tunable =
//       true; d.add(&ToySettings::bias, "bias", "learn a constant too"); return d;
//   }();
//   add_machine(settings.entry({.task = new_task("toy"), .name = "toy", .about = "…"},
//                              [](ToySettings s) { return Toy(std::move(s)); }));
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/words.hpp"
#include "mercer/learn/registry.hpp"

namespace mercer MERCER_API {

/// Throws InvalidSetting: the task has no setting of that name; there are these.
[[noreturn]] void refuse_setting(const std::string& task, const std::string& name,
                                 const std::vector<std::string>& known);

/// The settings of one machine; `S` has a member `common` and a default for everything.
template <class S>
class Describe {
   public:
    using Put = std::function<void(S&, const SettingValue&)>;
    using Get = std::function<SettingValue(const S&)>;

    explicit Describe(S defaults = {}) : defaults_(std::move(defaults)) {}

    /// A member that holds what a SettingValue can hold. What the setting is called on the command
    /// line, and whether a search may move it, is said of the result.
    template <class T>
    requires std::constructible_from<SettingValue, T> Setting& add(T S::*member, std::string name,
                                                                   std::string about,
                                                                   Range range = {}) {
        return add(
            std::move(name), std::move(about),
            [member](S& s, const SettingValue& v) { s.*member = std::get<T>(v); },
            [member](const S& s) { return SettingValue(s.*member); }, std::move(range));
    }
    /// One of several words.
    template <class E, std::size_t n>
    Setting& add(E S::*member, const Words<E, n>& words, std::string name, std::string about) {
        Setting& setting = add(
            name, std::move(about),
            [member, words, name](S& s, const SettingValue& v) {
                s.*member = words.value(std::get<std::string>(v), name);
            },
            [member, words](const S& s) {
                return SettingValue(std::string(words.word(s.*member)));
            });
        setting.words = words.words();
        return setting;
    }
    /// Anything else that can be written as one.
    Setting& add(std::string name, std::string about, Put put, Get get, Range range = {}) {
        fields_.push_back({{.name = std::move(name),
                            .about = std::move(about),
                            .fallback = get(defaults_),
                            .range = std::move(range)},
                           std::move(put),
                           std::move(get)});
        return fields_.back().setting;
    }

    /// The defaults with these values put in. Throws InvalidSetting.
    S filled(const std::string& task, FitSettings common, const SettingValues& values) const {
        S settings = defaults_;
        settings.common = std::move(common);
        for (const auto& [name, value] : values) {
            const Field* field = find(name);
            if (!field) refuse_setting(task, name, names());
            field->put(settings, field->setting.read(value));
        }
        return settings;
    }

    /// Throws InvalidSetting for a number out of range.
    void check(const S& settings) const {
        for (const Field& field : fields_) field.setting.check(field.get(settings));
    }

    /// Every setting by name and value.
    std::string text(const S& settings) const {
        std::string all;
        for (const Field& field : fields_) {
            all += field.setting.name + '=' + value_text(field.get(settings)) + ' ';
        }
        return all;
    }

    /// The entry with its settings and how to make the machine of them.
    template <class Make>
    MachineEntry entry(MachineEntry entry, Make make) const {
        for (const Field& field : fields_) entry.settings.push_back(field.setting);
        entry.make = [own = *this, name = entry.name, make](const FitSettings& common,
                                                            const SettingValues& values) {
            S settings = own.filled(name, common, values);
            own.check(settings);
            return Machine(make(std::move(settings)));
        };
        return entry;
    }

   private:
    struct Field {
        Setting setting;
        Put put;
        Get get;
    };
    const Field* find(const std::string& name) const {
        for (const Field& field : fields_) {
            if (field.setting.name == name) return &field;
        }
        return nullptr;
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const Field& field : fields_) all.push_back(field.setting.name);
        return all;
    }

    S defaults_;
    std::vector<Field> fields_{};
};

}  // namespace mercer
