// The steps of training by two points at a time, kept as columns of a table.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <map>
#include <vector>

#include "mercer/learn/svm/svm.hpp"

namespace mercer::python {

class StepTable {
   public:
    /// For SvmSettings::trace; this must outlive the training.
    std::function<void(const FitStep&)> listener();
    /// A dict of arrays, the problems one after another; the names are those of the command line's
    /// table. Problems and rows are counted from 0.
    nanobind::dict columns() const;

   private:
    std::map<std::size_t, std::vector<TwoPointStep>> steps_{};  ///< by problem
};

}  // namespace mercer::python
