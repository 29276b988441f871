// Settings of support vector machines as Python gives them.
#pragma once

#include "common/settings.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer::python {

/// A support vector machine: its settings by name, class weights by the classes' positions, the
/// widths of its tube and where to begin.
SvmSettings svm_settings_of(Task task, const FitSettings& common, const Settings& s,
                            const nanobind::dict& settings);

}  // namespace mercer::python
