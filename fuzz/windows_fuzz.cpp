// Made-up text read window by window, its rows put into a temporary file, and read at once: both
// must refuse it in the same words, or make the same data of it. The first bytes choose the format,
// the size of a window, how many bytes of rows may be in memory, and what is done with gaps.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "mercer/data/format.hpp"
#include "mercer/data/formats/detail/windows.hpp"
#include "reader.hpp"

namespace {

using namespace mercer;

struct Outcome {
    std::optional<Dataset> data{};
    std::string message{};
};

template <class Body>
Outcome outcome_of(const Body& body) {
    Outcome outcome;
    try {
        outcome.data = body();
    } catch (const InvalidInput& error) {
        outcome.message = error.what();
    }
    return outcome;
}

/// A file that is gone when this is.
class MemoryFile {
   public:
    explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
        const auto size = static_cast<ssize_t>(bytes.size());
        if (descriptor_ < 0 || write(descriptor_, bytes.data(), bytes.size()) != size) std::abort();
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { close(descriptor_); }
    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

   private:
    int descriptor_;
};

bool same_rows(const Rows& a, const Rows& b) {
    if (a.size() != b.size() || a.columns() != b.columns() || a.is_sparse() != b.is_sparse() ||
        a.is_double() != b.is_double() || a.nonzeros() != b.nonzeros()) {
        return false;
    }
    if (a.columns() > 100'000) return true;
    std::vector<double> x(a.columns()), z(a.columns());
    for (std::size_t i = 0; i < a.size(); ++i) {
        a.copy_row(i, x);
        b.copy_row(i, z);
        if (x != z) return false;
    }
    return true;
}

bool same(const Outcome& a, const Outcome& b) {
    if (a.message != b.message || a.data.has_value() != b.data.has_value()) return false;
    if (!a.data) return true;
    return same_rows(a.data->x, b.data->x) && a.data->y.values == b.data->y.values &&
           a.data->y.names == b.data->y.names && a.data->weights == b.data->weights &&
           a.data->feature_names == b.data->feature_names;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 5) return 0;
    constexpr std::array formats{"libsvm", "csv", "tsv", "spaces"};
    const std::string text(reinterpret_cast<const char*>(data + 4), size - 4);
    if (is_compressed(text)) return 0;
    ReadOptions options{.format = formats[data[0] % formats.size()],
                        .text_labels = data[3] >= 128 && data[0] % formats.size() != 0,
                        .longest_line = 512};
    if (data[0] % formats.size() != 0) options.missing = static_cast<MissingValues>(data[3] % 4);
    const MemoryFile file(text);
    const std::string path = file.path();
    const Outcome whole = outcome_of([&] { return read(path, options); });
    options.most_bytes = data[2] + 1U;
    bool left = false;
    const Outcome found = outcome_of([&] {
        ByteSource source(path, spool_folder());
        // What read() looks at before it opens a window: marks of other encodings.
        formats::Input input{source.head(), source.name(), options, path};
        Content copy;
        formats::settle_format(input, copy);
        formats::TextWindows windows(source, options, data[1] % 64 + 1);
        auto read = find_format(options.format, FormatUse::reading).read_windows(windows);
        left = !read;
        if (read) read->check();
        return read ? std::move(*read) : Dataset();
    });
    if (left) return 0;
    // Rows over several lines that are longer than a line may be are refused in other words.
    const bool long_rows = found.message.find("does not end in") != std::string::npos ||
                           found.message.find("found a line of") != std::string::npos ||
                           whole.message.find("found a line of") != std::string::npos;
    if (!long_rows && !same(whole, found)) std::abort();
    return 0;
}
