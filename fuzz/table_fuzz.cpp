// Made-up bytes as a table as people have them: any separator, any kind of column.
#include "mercer/data/recipe.hpp"
#include "reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto table = mercer::table_from_text(mercer::fuzz::view_of(data, size), "fuzz");
        mercer::profile(table);
    } catch (const mercer::InvalidInput&) {
        // The expected answer to nearly everything.
    }
    return 0;
}
