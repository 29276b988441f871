// Some rows of an array in a file, read or left there.
#pragma once

#include <cstddef>
#include <optional>

#include "mercer/data/formats/detail/input.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/source.hpp"

namespace mercer {

/// The part of an array file (npy) that the options ask for. Nothing for options that look at all
/// of the file: then `read` reads it as usual. The input has its
/// beginning.
std::optional<Dataset> read_array_part(const formats::Input& input, const PlainFile& file);

}  // namespace mercer
