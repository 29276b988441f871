// Made-up bytes as a file of codes. The first byte says whether its checksum is put right first: a
// fuzzer does not find checksums by itself.
#include <cstring>

#include "mercer/persist/code_file.hpp"
#include "mercer/persist/detail/checksum.hpp"
#include "reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    std::string bytes(mercer::fuzz::view_of(data + 1, size - 1));
    if (data[0] % 2 == 1 && bytes.size() > 16) {
        mercer::persist::Checksum sum;
        sum.add(std::string_view(bytes).substr(16));
        const std::uint32_t value = sum.value();
        std::memcpy(bytes.data() + 12, &value, sizeof value);
    }
    try {
        const auto file = mercer::codes_from_memory(bytes, "fuzz");
        if (file.index.size() > 10'000) return 0;
        const std::string once = mercer::codes_to_memory(file);
        if (mercer::codes_to_memory(mercer::codes_from_memory(once)) != once) std::abort();
    } catch (const mercer::InvalidInput&) {
        // The expected answer to nearly everything.
    }
    return 0;
}
