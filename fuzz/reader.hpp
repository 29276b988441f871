// What the targets share that feed made-up bytes to the reader of one format: it may refuse with
// InvalidInput and nothing else, and what it accepts must be a data set whose parts are as many as
// its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "mercer/base/error.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/summary.hpp"

namespace mercer::fuzz {

inline std::string_view view_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

inline void check(const Dataset& data) {
    if (!data.y.empty() && data.y.size() != data.size()) std::abort();
    for (const ObjectColumn& column : data.x.objects()) {
        if (column.size() != data.size()) std::abort();
    }
    if (data.columns() < 100'000) summarize(data);  // more take long and say nothing new
}

/// The bytes as a file of this format.
inline int read_as(const char* format, std::string_view bytes) {
    ReadOptions options;
    options.format = format;
    try {
        check(read_text(std::string(bytes), "fuzz", options));
    } catch (const InvalidInput&) {
        // The expected answer to nearly everything.
    }
    return 0;
}

}  // namespace mercer::fuzz
