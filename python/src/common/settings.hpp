// A Python dict of settings read into the structures of the machines.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "mercer/learn/machine.hpp"
#include "mercer/learn/registry.hpp"

namespace mercer::python {

/// Values by name, each with what holds where the name is absent or None. It notes what it is asked
/// for: `check`, when all was asked, refuses names that nobody asked for.
class Settings {
   public:
    explicit Settings(nanobind::dict values) : values_(std::move(values)) {}

    template <class T>
    T get(const char* name, T fallback) const {
        known_.emplace_back(name);
        if (!values_.contains(name)) return fallback;
        const nanobind::object value = values_[name];
        if (value.is_none()) return fallback;
        T result;
        if (!nanobind::try_cast<T>(value, result)) refuse(name, kind_of<T>(), value);
        return result;
    }
    double number(const char* name, double fallback) const { return get(name, fallback); }
    bool flag(const char* name, bool fallback) const { return get(name, fallback); }
    std::size_t count(const char* name, std::size_t fallback) const { return get(name, fallback); }
    std::string text(const char* name, std::string fallback = {}) const {
        return get(name, std::move(fallback));
    }

    /// Throws InvalidInput for a name that was not asked for, with those that were; `what` is what
    /// the settings are of: "the task svc".
    void check(const std::string& what) const;

    const std::vector<std::string>& asked() const { return known_; }

   private:
    template <class T>
    static const char* kind_of() {
        if (std::is_same_v<T, bool>) return "True or False";
        if (std::is_same_v<T, double>) return "a number";
        if (std::is_same_v<T, std::size_t>) return "a whole number, 0 or more";
        if (std::is_same_v<T, std::string>) return "text";
        return "a list";
    }
    [[noreturn]] static void refuse(const char* name, const char* kind, nanobind::object value);

    nanobind::dict values_;
    mutable std::vector<std::string> known_;
};

/// All that is left, as the library takes it; `known` settings of the binding's own are left out.
SettingValues values_of(const nanobind::dict& settings, const std::vector<std::string>& known);

/// What every machine is told alike.
inline FitSettings common_of(const Settings& s, const Kernel& kernel) {
    FitSettings common;
    common.kernel = kernel;
    common.target_scale = target_scale_named(s.text("target_scale", "auto"));
    common.seed = s.count("seed", common.seed);
    common.time_limit = s.number("time_limit", common.time_limit);
    common.memory_bytes = s.count("memory_bytes", common.memory_bytes);
    common.double_precision = s.flag("double_precision", common.double_precision);
    return common;
}

}  // namespace mercer::python
