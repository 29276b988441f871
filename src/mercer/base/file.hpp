// Files out: whole or not at all.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "mercer/base/export.hpp"

namespace mercer MERCER_API {

/// Where bytes go. Buffered; throws when the bytes cannot be taken.
class Output {
   public:
    virtual ~Output() = default;
    virtual void write(std::string_view bytes) = 0;

   protected:
    Output() = default;
    Output(const Output&) = default;
    Output& operator=(const Output&) = default;
};

/// Calls `writer` and puts what it writes into the file `path`. The bytes go to a temporary name
/// in the same folder, which takes the place of `path` only when all is written: an old file stays
/// as it was when the writer throws or the disk is full. A suffix .gz, .bz2, .xz or .zst
/// compresses.
/// "-" is standard output, and what is no regular file (a pipe, a device) is written to directly.
///
/// Throws InvalidInput when the place cannot be written to, std::runtime_error when writing fails.
void write_whole(const std::string& path, const std::function<void(Output&)>& writer);

}  // namespace mercer
