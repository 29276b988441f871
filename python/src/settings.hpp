// A Python dict of settings read into the structures of the machines.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <string>

#include "mercer/learn/machine.hpp"

namespace mercer::python {

/// Values by name, each with what holds where the name is absent or None.
class Settings {
   public:
    explicit Settings(nanobind::dict values) : values_(std::move(values)) {}

    template <class T>
    T get(const char* name, T fallback) const {
        if (!values_.contains(name)) return fallback;
        const nanobind::object value = values_[name];
        return value.is_none() ? fallback : nanobind::cast<T>(value);
    }
    double number(const char* name, double fallback) const { return get(name, fallback); }
    bool flag(const char* name, bool fallback) const { return get(name, fallback); }
    std::size_t count(const char* name, std::size_t fallback) const { return get(name, fallback); }
    std::string text(const char* name, std::string fallback = {}) const {
        return get(name, std::move(fallback));
    }

   private:
    nanobind::dict values_;
};

/// What every machine is told alike.
inline FitSettings common_of(const Settings& s, const Kernel& kernel) {
    FitSettings common;
    common.kernel = kernel;
    common.seed = s.count("seed", common.seed);
    common.time_limit = s.number("time_limit", common.time_limit);
    common.memory_bytes = s.count("memory_bytes", common.memory_bytes);
    common.double_precision = s.flag("double_precision", common.double_precision);
    return common;
}

}  // namespace mercer::python
