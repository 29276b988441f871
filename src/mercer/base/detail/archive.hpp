// libarchive, opened when a file compressed by anything but gzip first needs it
// (base/detail/library.hpp says why): it brings along a dozen libraries of its own. For .cpp files:
//  MERCER_ARCHIVE(archive_read_new)()
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include "mercer/base/detail/library.hpp"

namespace mercer {

inline const Library& archive_library() {
    static const Library library(
        {MERCER_LIBARCHIVE_LIBRARY, "libarchive.so.13"},
        "bz2, xz, zstd and other compressed files; install libarchive (Debian: libarchive13), or "
        "use gzip");
    return library;
}

}  // namespace mercer

#define MERCER_ARCHIVE(name) MERCER_LIBRARY_FUNCTION(::mercer::archive_library(), name)
