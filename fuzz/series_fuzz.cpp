// Made-up bytes as series (.ts) (fuzz/reader.hpp).
#include "reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return mercer::fuzz::read_as("ts", mercer::fuzz::view_of(data, size));
}
