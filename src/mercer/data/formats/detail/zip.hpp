// Zip archives, as far as NumPy's .npz files use them: stored or deflated, of any size (zip64),
// with check sums. The layout is that of PKWARE's APPNOTE 6.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/file.hpp"
#include "mercer/data/source.hpp"

namespace mercer::formats {

struct ZipEntry {
    std::string name{};
    unsigned method = 0;  ///< 0 stored, 8 deflated
    std::uint32_t crc = 0;
    std::uint64_t packed = 0;  ///< bytes in the archive
    std::uint64_t size = 0;    ///< bytes unpacked
    std::uint64_t at = 0;      ///< of its own header
    bool encrypted = false;
};

/// The entries, by the directory at the end: an archive cut short is then noticed. Throws
/// std::runtime_error with the reason for bytes that are no archive.
std::vector<ZipEntry> zip_directory(std::string_view archive);

/// The bytes of an entry: a part of the archive, where they are stored as they are, or its own.
struct Unzipped {
    std::string_view bytes{};
    Content own{};
};

/// An entry unpacked, which the archive must outlive. `go_on` is asked every now and then. Throws
/// std::runtime_error with the reason for damaged bytes.
Unzipped unzip(std::string_view archive, const ZipEntry& entry, const std::function<void()>& go_on);

/// A zip archive whose entries are stored as they are, as numpy.savez does.
class ZipWriter {
   public:
    explicit ZipWriter(Output& output) : output_(output) {}

    void add(const std::string& name, const std::string& content) {
        begin(name, content.size());
        write(content);
    }
    /// An entry of so many bytes, which `write` then gets.
    void begin(const std::string& name, std::size_t size);
    void write(std::string_view bytes);
    void finish();

   private:
    void end_entry();
    void send(const std::string& bytes);

    Output& output_;
    std::vector<ZipEntry> entries_{};
    std::uint64_t written_ = 0;
    bool open_ = false;
};

}  // namespace mercer::formats
