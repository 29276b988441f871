// A kernel settled on data: rules (gamma=scale) become numbers, names of columns become positions.
#pragma once

#include <span>
#include <string>

#include "mercer/base/export.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer MERCER_API {

/// What every engine made of this kernel and these rows works with; the kernel itself when nothing
/// waits for data. `names` are those of the columns, or empty. Throws InvalidInput when the kernel
/// asks for columns that are not there.
Kernel resolve(const Kernel& kernel, const Rows& rows, std::span<const std::string> names = {});

}  // namespace mercer
