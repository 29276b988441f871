// Made-up bytes as the files of a TU folder of graphs, one after another with a byte 0 between them
// (fuzz/reader.hpp).
#include <array>
#include <filesystem>
#include <fstream>

#include "reader.hpp"

namespace {

namespace fs = std::filesystem;

/// A folder that is gone when this is.
struct Folder {
    std::string name = (fs::temp_directory_path() / "mercer-fuzz-XXXXXX").string();

    Folder() {
        if (mkdtemp(name.data()) == nullptr) std::abort();
    }
    ~Folder() { fs::remove_all(name); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view bytes = mercer::fuzz::view_of(data, size);
    const Folder folder;
    for (const char* what : {"A", "graph_indicator", "graph_labels", "node_labels", "edge_labels",
                             "node_attributes"}) {
        const std::size_t end = std::min(bytes.find('\0'), bytes.size());
        std::ofstream(fs::path(folder.name) / ("F_" + std::string(what) + ".txt"), std::ios::binary)
            << bytes.substr(0, end);
        bytes.remove_prefix(std::min(end + 1, bytes.size()));
        if (bytes.empty()) break;
    }
    try {
        mercer::fuzz::check(mercer::read(folder.name));
    } catch (const mercer::InvalidInput&) {
        // The expected answer to nearly everything.
    }
    return 0;
}
