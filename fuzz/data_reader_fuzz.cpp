// Made-up bytes for readers that have no target of their own (fuzz/reader.hpp; docs/model-format.md
// says how to build and run it). The first byte chooses the format: a tar archive, a table with
// texts, or whichever format recognises the bytes.
#include <array>

#include "reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    constexpr std::array formats{"tar", "csv", ""};
    return mercer::fuzz::read_as(formats[data[0] % formats.size()],
                                 mercer::fuzz::view_of(data + 1, size - 1));
}
