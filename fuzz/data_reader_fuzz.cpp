// Feeds made-up bytes to the readers of data: docs/model-format.md says how to build and run it. A
// reader may refuse with InvalidInput and nothing else. What it accepts must be a data set whose
// parts are as many as its rows.
//
// The first byte chooses the format: FASTA, documents in lines, a tar archive, series (.ts), a
// table with texts, whichever format recognises the bytes, or the files of a TU folder, one after
// another with a byte 0 between them.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "mercer/base/error.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/summary.hpp"

namespace {

void check(const mercer::Dataset& data) {
    if (!data.y.empty() && data.y.size() != data.size()) std::abort();
    for (const mercer::ObjectColumn& column : data.x.objects()) {
        if (column.size() != data.size()) std::abort();
    }
    mercer::summarize(data);
}

/// The bytes as the files of a folder of graphs.
void read_graphs(std::string_view bytes) {
    namespace fs = std::filesystem;
    std::string name = (fs::temp_directory_path() / "mercer-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    constexpr std::array endings{"A",           "graph_indicator", "graph_labels",
                                 "node_labels", "edge_labels",     "node_attributes"};
    for (const char* ending : endings) {
        const std::size_t end = std::min(bytes.find('\0'), bytes.size());
        std::ofstream(fs::path(name) / ("F_" + std::string(ending) + ".txt"), std::ios::binary)
            << bytes.substr(0, end);
        bytes.remove_prefix(std::min(end + 1, bytes.size()));
        if (bytes.empty()) break;
    }
    try {
        check(mercer::read(name));
    } catch (...) {
        fs::remove_all(name);
        throw;
    }
    fs::remove_all(name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    constexpr std::array formats{"fasta", "lines", "tar", "ts", "csv", ""};
    const std::size_t which = data[0] % (formats.size() + 1);
    try {
        if (which == formats.size()) {
            read_graphs(bytes);
        } else {
            mercer::ReadOptions options;
            options.format = formats[which];
            check(mercer::read_text(std::string(bytes), "fuzz", options));
        }
    } catch (const mercer::InvalidInput&) {
        // The expected answer to nearly everything.
    }
    return 0;
}
