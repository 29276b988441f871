// Training by two points at a time, step by step, as a table to plot (002 theorem 2).
#pragma once

#include <map>
#include <string>

#include "mercer/learn/svm/svm.hpp"

namespace mercer::cli {

/// Collects the steps while a machine is trained; writes them once it is.
class StepTrace {
   public:
    /// What to hand to training as SvmSettings::trace. This must outlive it.
    std::function<void(const FitStep&)> listener();
    /// CSV under a line of names, the problems one after another: whole or not at all.
    void write(const std::string& path) const;

   private:
    std::map<std::size_t, std::string> lines_{};  ///< by problem
};

}  // namespace mercer::cli
