// Made-up bytes as a kept scaling, and as the rule of one.
#include "mercer/data/scaling.hpp"
#include "reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = mercer::fuzz::view_of(data, size);
    try {
        mercer::ScalingRule::parse(bytes);
    } catch (const mercer::InvalidInput&) {
        // The expected answer to nearly everything.
    }
    try {
        const auto scaling = mercer::Scaling::from_json(bytes, "fuzz");
        if (mercer::Scaling::from_json(scaling.json(), "again").json() != scaling.json()) {
            std::abort();
        }
    } catch (const mercer::InvalidInput&) {
    }
    return 0;
}
