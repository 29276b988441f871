// Made-up bytes as documents, one a line (fuzz/reader.hpp).
#include "reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return mercer::fuzz::read_as("lines", mercer::fuzz::view_of(data, size));
}
