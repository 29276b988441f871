// Made-up bytes as two trees in brackets, with a byte 0 between them: a kernel on trees may refuse
// them with InvalidInput and nothing else, and has one value for both orders.
#include <cmath>

#include "mercer/kernel/detail/leaf.hpp"
#include "reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = mercer::fuzz::view_of(data, size);
    const std::size_t end = std::min(bytes.find('\0'), bytes.size());
    const mercer::Object x = bytes.substr(0, end);
    const mercer::Object z = bytes.substr(std::min(end + 1, bytes.size()));
    for (const char* text : {"subtree", "subset_tree(decay=0.4)", "partial_tree(decay=0.4)"}) {
        const mercer::Kernel kernel = mercer::Kernel::parse(text);
        try {
            const double value = mercer::object_value(kernel.node(), x, z);
            const double turned = mercer::object_value(kernel.node(), z, x);
            if (value != turned && !(std::isnan(value) && std::isnan(turned))) std::abort();
        } catch (const mercer::InvalidInput&) {
            // The expected answer to nearly everything.
        }
    }
    return 0;
}
