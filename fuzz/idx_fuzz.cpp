// Made-up bytes as an idx file (fuzz/reader.hpp).
#include "reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return mercer::fuzz::read_as("idx", mercer::fuzz::view_of(data, size));
}
