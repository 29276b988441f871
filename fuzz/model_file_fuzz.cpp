// Feeds made-up bytes to the readers of model files; docs/model-format.md says how to build and run
// it. A reader may refuse with InvalidInput and nothing else. What it accepts must be a model that
// can be written and read again to the same bytes.
//
// The first byte chooses the reader: a model file as it is, a model file whose checksum is put
// right first (a fuzzer does not find checksums by itself), or LIBSVM's text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "mercer/base/error.hpp"
#include "mercer/persist/detail/container.hpp"
#include "mercer/persist/model_file.hpp"

namespace {

/// The same content with the checksum it should have.
std::string sealed(std::string_view bytes) {
    mercer::persist::Container container = mercer::persist::read_container(bytes, "fuzz");
    container.metadata["checksum"] = mercer::persist::checksum_of(container);
    std::string result = mercer::persist::header_bytes(container, "fuzz");
    for (const auto& tensor : container.tensors) result += tensor.bytes;
    return result;
}

void check(const mercer::Model& model) {
    const std::string once = mercer::save_to_memory(model);
    if (mercer::save_to_memory(mercer::load_from_memory(once)) != once) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    try {
        switch (data[0] % 3) {
            case 0: check(mercer::load_from_memory(bytes, "fuzz")); break;
            case 1: check(mercer::load_from_memory(sealed(bytes), "fuzz")); break;
            default: check(mercer::import_libsvm_from_memory(bytes, "fuzz"));
        }
    } catch (const mercer::InvalidInput&) {
        // The expected answer to nearly everything.
    }
    return 0;
}
