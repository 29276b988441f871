// The kernel Hebbian algorithm, on data at hand (machines.cpp) and on a stream.
#pragma once

#include "mercer/learn/components/hebbian.hpp"
#include "settings.hpp"

namespace mercer::python {

HebbianSettings hebbian_settings(const Settings& s, const FitSettings& common);

}  // namespace mercer::python
