#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "mercer/base/detail/deflate.hpp"
#include "mercer/data/formats/detail/zip.hpp"

namespace mercer::formats {
namespace {

constexpr std::uint64_t least_64 = 0xFFFFFFFF;  // what 32 bits say where zip64 says it
constexpr std::size_t local_bytes = 30;
constexpr std::size_t central_bytes = 46;
constexpr std::size_t end_bytes = 22;
constexpr std::size_t locator_bytes = 20;
constexpr std::size_t end_64_bytes = 56;
constexpr std::size_t longest_comment = 65535;

[[noreturn]] void fail_zip(const char* reason) {
    throw std::runtime_error(reason);
}

/// Numbers at places of the archive, the lowest byte first; throws beyond its end.
class ZipBytes {
   public:
    explicit ZipBytes(std::string_view bytes) : bytes_(bytes) {}

    std::uint64_t number(std::uint64_t at, std::size_t width) const {
        const std::string_view piece = part(at, width);
        std::uint64_t value = 0;
        for (std::size_t b = width; b-- > 0;) {
            value = (value << 8U) | static_cast<unsigned char>(piece[b]);
        }
        return value;
    }
    std::string_view part(std::uint64_t at, std::uint64_t size) const {
        if (at > bytes_.size() || size > bytes_.size() - at) fail_zip("it ends too early");
        return bytes_.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
    }
    bool has(std::uint64_t at, std::string_view signature) const {
        return at <= bytes_.size() &&
               bytes_.substr(static_cast<std::size_t>(at)).starts_with(signature);
    }

   private:
    std::string_view bytes_;
};

/// Sizes and place of an entry that did not fit in 32 bits: in their order, only those that did
/// not.
void read_zip64(const ZipBytes& bytes, std::uint64_t at, std::uint64_t size, ZipEntry& entry) {
    const std::uint64_t end = at + size;
    while (at + 4 <= end) {
        const std::uint64_t kind = bytes.number(at, 2);
        const std::uint64_t length = bytes.number(at + 2, 2);
        if (kind == 1) {
            std::uint64_t place = at + 4;
            for (std::uint64_t* field : {&entry.size, &entry.packed, &entry.at}) {
                if (*field != least_64 || place + 8 > at + 4 + length) continue;
                *field = bytes.number(place, 8);
                place += 8;
            }
        }
        at += 4 + length;
    }
}

struct Directory {
    std::uint64_t at = 0;
    std::uint64_t count = 0;
};

Directory find_directory(std::string_view archive) {
    const ZipBytes bytes(archive);
    if (archive.size() < end_bytes) fail_zip("it ends too early");
    const std::size_t last = archive.size() - end_bytes;
    const std::size_t first = last > longest_comment ? last - longest_comment : 0;
    for (std::size_t at = last + 1; at-- > first;) {
        if (!bytes.has(at, "PK\5\6")) continue;
        if (at + end_bytes + bytes.number(at + 20, 2) > archive.size()) continue;
        Directory found{.at = bytes.number(at + 16, 4), .count = bytes.number(at + 10, 2)};
        if (at >= locator_bytes && bytes.has(at - locator_bytes, "PK\6\7")) {
            const std::uint64_t own = bytes.number(at - locator_bytes + 8, 8);
            if (!bytes.has(own, "PK\6\6")) fail_zip("its zip64 directory is not where it says");
            found = {.at = bytes.number(own + 48, 8), .count = bytes.number(own + 32, 8)};
        }
        return found;
    }
    fail_zip("it has no directory: cut short?");
}

void put(std::string& out, std::uint64_t value, std::size_t width) {
    for (std::size_t b = 0; b < width; ++b) {
        out += static_cast<char>(static_cast<unsigned char>((value >> (8 * b)) & 0xFFU));
    }
}

/// From the version needed to the date: what a local header and the directory have in common. Zip's
/// calendar begins in 1980; one date for all keeps equal content equal.
void put_common(std::string& out, bool large) {
    put(out, large ? 45 : 20, 2);
    put(out, 8, 2);  // the check sum follows the data
    put(out, 0, 2);  // stored
    put(out, 0, 2);
    put(out, (1U << 5U) | 1U, 2);  // 1980-01-01
}

}  // namespace

std::vector<ZipEntry> zip_directory(std::string_view archive) {
    const ZipBytes bytes(archive);
    const Directory directory = find_directory(archive);
    std::vector<ZipEntry> listed;
    std::uint64_t at = directory.at;
    for (std::uint64_t i = 0; i < directory.count; ++i) {
        if (!bytes.has(at, "PK\1\2")) fail_zip("its directory is damaged");
        ZipEntry entry{.method = static_cast<unsigned>(bytes.number(at + 10, 2)),
                       .crc = static_cast<std::uint32_t>(bytes.number(at + 16, 4)),
                       .packed = bytes.number(at + 20, 4),
                       .size = bytes.number(at + 24, 4),
                       .at = bytes.number(at + 42, 4),
                       .encrypted = (bytes.number(at + 8, 2) & 1U) != 0};
        const std::uint64_t name = bytes.number(at + 28, 2);
        const std::uint64_t extra = bytes.number(at + 30, 2);
        const std::uint64_t comment = bytes.number(at + 32, 2);
        entry.name = bytes.part(at + central_bytes, name);
        bytes.part(at + central_bytes + name, extra);
        read_zip64(bytes, at + central_bytes + name, extra, entry);
        listed.push_back(std::move(entry));
        at += central_bytes + name + extra + comment;
    }
    return listed;
}

Unzipped unzip(std::string_view archive, const ZipEntry& entry,
               const std::function<void()>& go_on) {
    constexpr std::size_t block = std::size_t{1} << 20;
    const ZipBytes bytes(archive);
    if (entry.encrypted) fail_zip("it is encrypted");
    if (!bytes.has(entry.at, "PK\3\4")) fail_zip("an entry is not where the directory says");
    const std::uint64_t start =
        entry.at + local_bytes + bytes.number(entry.at + 26, 2) + bytes.number(entry.at + 28, 2);
    const std::string_view packed = bytes.part(start, entry.packed);
    Unzipped found;
    Content& content = found.own;
    if (entry.method == 0) {
        found.bytes = packed;
    } else if (entry.method == 8) {
        Inflater inflater(Inflater::Form::raw);
        inflater.feed(packed);
        for (;;) {
            if (content.room() < block) content.reserve(content.view().size() + 2 * block);
            const std::size_t count = inflater.take(content.end(), block);
            if (count == 0) break;
            content.grow_by(count);
            if (content.view().size() > entry.size) fail_zip("an entry is longer than it says");
            go_on();
        }
        if (!inflater.finished()) fail_zip("an entry is cut short");
        found.bytes = content.view();
    } else {
        fail_zip("an entry is compressed in a way that NumPy does not use");
    }
    if (found.bytes.size() != entry.size) fail_zip("an entry has another size than it says");
    if (crc32_of(0, found.bytes) != entry.crc) fail_zip("a check sum is wrong");
    return found;
}

void ZipWriter::send(const std::string& bytes) {
    output_.write(bytes);
    written_ += bytes.size();
}

void ZipWriter::begin(const std::string& name, std::size_t size) {
    end_entry();
    entries_.push_back({.name = name, .packed = size, .size = 0, .at = written_});
    const bool large = size >= least_64;
    std::string head = "PK\3\4";
    put_common(head, large);
    put(head, 0, 4);  // the check sum
    put(head, large ? least_64 : size, 4);
    put(head, large ? least_64 : size, 4);
    put(head, name.size(), 2);
    put(head, large ? 20 : 0, 2);
    head += name;
    if (large) {
        put(head, 1, 2);
        put(head, 16, 2);
        put(head, size, 8);
        put(head, size, 8);
    }
    send(head);
    open_ = true;
}

void ZipWriter::write(std::string_view bytes) {
    ZipEntry& entry = entries_.back();
    entry.crc = crc32_of(entry.crc, bytes);
    entry.size += bytes.size();
    output_.write(bytes);
    written_ += bytes.size();
}

void ZipWriter::end_entry() {
    if (!open_) return;
    open_ = false;
    const ZipEntry& entry = entries_.back();
    if (entry.size != entry.packed) fail_zip("an entry got another number of bytes than it said");
    std::string tail = "PK\7\10";
    const std::size_t width = entry.size >= least_64 ? 8 : 4;
    put(tail, entry.crc, 4);
    put(tail, entry.packed, width);
    put(tail, entry.size, width);
    send(tail);
}

void ZipWriter::finish() {
    end_entry();
    const std::uint64_t start = written_;
    for (const ZipEntry& entry : entries_) {
        const bool large = entry.size >= least_64 || entry.at >= least_64;
        std::string line = "PK\1\2";
        put(line, (3U << 8U) | 45U, 2);  // made on Unix
        put_common(line, large);
        put(line, entry.crc, 4);
        put(line, large ? least_64 : entry.packed, 4);
        put(line, large ? least_64 : entry.size, 4);
        put(line, entry.name.size(), 2);
        put(line, large ? 28 : 0, 2);
        put(line, 0, 6);                  // no comment, one disk, a binary file
        put(line, 0100644ULL << 16U, 4);  // a plain file that its owner may write
        put(line, large ? least_64 : entry.at, 4);
        line += entry.name;
        if (large) {
            put(line, 1, 2);
            put(line, 24, 2);
            put(line, entry.size, 8);
            put(line, entry.packed, 8);
            put(line, entry.at, 8);
        }
        send(line);
    }
    const std::uint64_t size = written_ - start;
    const std::uint64_t end_64 = written_;
    std::string end;
    const bool large = start >= least_64;
    if (large) {
        end = "PK\6\6";
        put(end, end_64_bytes - 12, 8);
        put(end, (3U << 8U) | 45U, 2);
        put(end, 45, 2);
        put(end, 0, 8);
        put(end, entries_.size(), 8);
        put(end, entries_.size(), 8);
        put(end, size, 8);
        put(end, start, 8);
        end += "PK\6\7";
        put(end, 0, 4);
        put(end, end_64, 8);
        put(end, 1, 4);
    }
    end += "PK\5\6";
    put(end, 0, 4);
    put(end, entries_.size(), 2);
    put(end, entries_.size(), 2);
    put(end, large ? least_64 : size, 4);
    put(end, large ? least_64 : start, 4);
    put(end, 0, 2);
    send(end);
}

}  // namespace mercer::formats
