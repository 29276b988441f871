// Parquet, where the plugin that reads it was built (src/plugins/parquet.cpp); else such files are
// refused with the ways out.
#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "mercer/base/detail/library.hpp"
#include "mercer/data/arrow.hpp"
#include "mercer/data/arrow/detail/abi.hpp"
#include "mercer/data/detail/parquet_plugin.h"
#include "mercer/data/formats/detail/input.hpp"

namespace mercer::formats {
namespace {

constexpr const char* ways_out =
    "give it to Python, whose machines take pyarrow's readers (docs/python.md), or write it as "
    "CSV: "
    "python3 -c \"import pandas; pandas.read_parquet('FILE').to_csv('FILE.csv', index=False)\"";

/// Beside the library, or wherever the loader looks.
MercerParquetOpen open_parquet_plugin(const Input& input) {
    Dl_info info{};
    std::string beside;
    if (dladdr(reinterpret_cast<const void*>(&open_parquet_plugin), &info) != 0 && info.dli_fname) {
        const auto folder = std::filesystem::path(info.dli_fname).parent_path();
        beside = (folder / MERCER_PARQUET_LIBRARY).string();
    }
    try {
        const Library plugin({beside.c_str(), MERCER_PARQUET_LIBRARY}, "Parquet");
        return plugin.function<MercerParquetOpen>("mercer_parquet_open");
    } catch (const std::runtime_error&) {
        fail(input,
             "found a Parquet file, which this copy of Mercer was built without Arrow to read; " +
                 std::string(ways_out));
    }
}

Dataset read_parquet(const Input& input) {
    const MercerParquetOpen open = open_parquet_plugin(input);
    if (input.path.empty()) {
        fail(input,
             "found a Parquet file, which is read from its end: name it instead of sending it");
    }
    std::array<char, 400> why{};
    ArrowArrayStream stream{};
    if (open(mercer_parquet_version, input.path.c_str(), &stream, why.data(), why.size()) != 0) {
        fail(input, "found a Parquet file that cannot be read: " + std::string(why.data()));
    }
    return read_arrow(stream, input.name, input.options);
}

std::optional<Dataset> read_large_parquet(const Input& input, const PlainFile&) {
    return read_parquet(input);
}

}  // namespace

Format parquet() {
    return {
        .name = "parquet",
        .title = "Parquet",
        .about = "columns of numbers, and a label, where Mercer was built with Arrow",
        .kind = Format::Kind::bytes,
        .recognise =
            [](const Input& input) {
                const bool so = input.bytes.starts_with("PAR1");
                return Match{.certainty = so ? Certainty::certain : Certainty::none};
            },
        .remedy = ways_out,
        .read = read_parquet,
        .read_pieces = read_large_parquet,
        .uses = {.label = true,
                 .text_labels = true,
                 .missing = true,
                 .weight_column = true,
                 .leave_out = true},
        .keeps = {.labels = false, .weights = false},
    };
}

}  // namespace mercer::formats
