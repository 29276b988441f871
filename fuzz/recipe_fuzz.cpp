// Made-up bytes as the recipe of a model of a table.
#include "mercer/data/recipe.hpp"
#include "reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto recipe = mercer::Recipe::from_json(mercer::fuzz::view_of(data, size), "fuzz");
        if (mercer::Recipe::from_json(recipe.json(), "again").json() != recipe.json()) std::abort();
    } catch (const mercer::InvalidInput&) {
        // The expected answer to nearly everything.
    }
    return 0;
}
