// Made-up bytes as the text of a kernel: the parser may refuse them with InvalidInput and nothing
// else, and what it reads must print as a text that reads back as the same kernel.
#include "mercer/kernel/definiteness.hpp"
#include "mercer/kernel/kernel.hpp"
#include "reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto kernel = mercer::Kernel::parse(mercer::fuzz::view_of(data, size));
        if (mercer::Kernel::parse(kernel.text()) != kernel) std::abort();
        mercer::definiteness(kernel);
    } catch (const mercer::InvalidInput&) {
        // The expected answer to nearly everything.
    }
    return 0;
}
