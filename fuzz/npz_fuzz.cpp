// Made-up bytes as NumPy's archive (fuzz/reader.hpp).
#include "reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return mercer::fuzz::read_as("npz", mercer::fuzz::view_of(data, size));
}
