// A support vector machine behind the face that all machines share (learn/machine.hpp).
//
//   const Machine machine = svm_machine({.task = Task::svc, .kernel = rbf(), .C = 10});
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "mercer/base/export.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer MERCER_API {

class SvmMachine {
   public:
    explicit SvmMachine(SvmSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return settings_.task; }
    Model fit(const Dataset& data) const { return Svm(settings_).fit(data); }
    /// Widths of a tube given one a row go with their rows.
    SvmMachine for_rows(std::span<const std::size_t> rows) const {
        if (settings_.tube_values.empty()) return *this;
        SvmSettings own = settings_;
        own.tube_values.clear();
        for (const std::size_t i : rows) own.tube_values.push_back(settings_.tube_values[i]);
        return SvmMachine(std::move(own));
    }

   private:
    SvmSettings settings_;
};
inline Machine svm_machine(SvmSettings settings) {
    return Machine(SvmMachine(std::move(settings)));
}

}  // namespace mercer
