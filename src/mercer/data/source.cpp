#include "mercer/data/source.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include "mercer/base/detail/archive.hpp"
#include "mercer/base/detail/deflate.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/detail/memory.hpp"

namespace mercer {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

/// A file descriptor that closes itself; standard input is left open.
class Descriptor {
   public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ > STDIN_FILENO) close(number_);
    }
    int number() const { return number_; }

   private:
    int number_;
};

[[noreturn]] void fail(const std::string& name, const std::string& message) {
    throw InvalidInput(Location{.file = name}, message);
}

[[noreturn]] void fail_errno(const std::string& name, int error) {
    switch (error) {
        case ENOENT: fail(name, "no such file; check the name and the folder");
        case ENOTDIR: fail(name, "no such file: a part of this path is not a folder");
        case EISDIR: fail(name, "is a directory; name a file inside it");
        case EACCES:
        case EPERM: fail(name, "no permission to read it; see its owner and mode with ls -l");
        default: fail(name, std::string("cannot be read: ") + std::strerror(error));
    }
}

int open_source(const std::string& path) {
    if (path == "-") return STDIN_FILENO;
    const int number = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (number < 0) fail_errno(path, errno);
    return number;
}

std::size_t read_some(int descriptor, char* out, std::size_t room, const std::string& name) {
    for (;;) {
        const ssize_t count = ::read(descriptor, out, room);
        if (count >= 0) return static_cast<std::size_t>(count);
        if (errno != EINTR) fail_errno(name, errno);
    }
}

void report(const Progress& progress, double fraction) {
    if (!keep_going(progress, {.task = "reading", .fraction = fraction})) throw Cancelled();
}

bool is_gzip(std::string_view bytes) {
    return bytes.starts_with("\x1f\x8b");
}

/// True for bytes that a compressed file other than gzip's may begin with. For all others the
/// library that unpacks them is not even opened.
bool may_be_packed(std::string_view bytes) {
    using namespace std::string_view_literals;
    for (const std::string_view beginning :
         {"BZh"sv, "LZIP"sv, "\xfd\x37\x7a\x58\x5a\0"sv, "\x28\xb5\x2f\xfd"sv, "\x04\x22\x4d\x18"sv,
          "\x1f\x9d"sv}) {
        if (bytes.starts_with(beginning)) return true;
    }
    // Old lzma: settings, the size of the dictionary, and a length that is not known or not huge.
    return bytes.starts_with("\x5d\0\0"sv) && bytes.size() > 12 &&
           (bytes.substr(5, 8) == std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff", 8) ||
            bytes.substr(10, 3) == "\0\0\0"sv);
}

using Archive = std::unique_ptr<archive, int (*)(archive*)>;

/// An unpacker that takes one compressed file of unknown name. The filters that would start
/// another program (lrzip, grzip, lzop) are left out: a file must not decide what runs.
Archive new_unpacker() {
    Archive unpacker(MERCER_ARCHIVE(archive_read_new)(), MERCER_ARCHIVE(archive_read_free));
    if (!unpacker) throw std::bad_alloc();
    for (const auto add : {MERCER_ARCHIVE(archive_read_support_filter_gzip),
                           MERCER_ARCHIVE(archive_read_support_filter_bzip2),
                           MERCER_ARCHIVE(archive_read_support_filter_xz),
                           MERCER_ARCHIVE(archive_read_support_filter_zstd),
                           MERCER_ARCHIVE(archive_read_support_filter_lz4),
                           MERCER_ARCHIVE(archive_read_support_filter_lzma),
                           MERCER_ARCHIVE(archive_read_support_filter_lzip),
                           MERCER_ARCHIVE(archive_read_support_filter_compress),
                           MERCER_ARCHIVE(archive_read_support_format_raw),
                           MERCER_ARCHIVE(archive_read_support_format_empty)}) {
        add(unpacker.get());
    }
    return unpacker;
}

[[noreturn]] void fail_unpacking(archive* unpacker, const std::string& name) {
    const char* reason = MERCER_ARCHIVE(archive_error_string)(unpacker);
    fail(name, std::string("compressed data is damaged or cut short (") +
                   (reason != nullptr ? reason : "unknown reason") + "); fetch the file again");
}

/// A compressed file: who is told, and how much of it is behind.
struct Packed {
    const std::string& name;
    const Progress& progress;
    std::function<std::size_t()> taken;  ///< bytes of it so far
    std::size_t size = 0;                ///< all of them; 0 when not known

    /// After each piece that was unpacked.
    void grown_to(std::size_t bytes) const {
        const std::size_t behind = taken();
        check_allowance(name, static_cast<double>(bytes), std::max(behind, size),
                        "what is packed in it");
        const auto whole = static_cast<double>(size);
        report(progress, size == 0 ? -1.0 : std::min(1.0, static_cast<double>(behind) / whole));
    }
};

/// Everything an opened unpacker yields.
Content drain(archive* unpacker, const Packed& packed) {
    Content content;
    archive_entry* entry = nullptr;
    const int status = MERCER_ARCHIVE(archive_read_next_header)(unpacker, &entry);
    if (status == ARCHIVE_EOF) return content;
    if (status != ARCHIVE_OK) fail_unpacking(unpacker, packed.name);
    for (;;) {
        if (content.room() < block_bytes) content.reserve(content.view().size() + 8 * block_bytes);
        const la_ssize_t count =
            MERCER_ARCHIVE(archive_read_data)(unpacker, content.end(), block_bytes);
        if (count < 0) fail_unpacking(unpacker, packed.name);
        if (count == 0) return content;
        content.grow_by(static_cast<std::size_t>(count));
        packed.grown_to(content.view().size());
    }
}

/// What the unpacker calls back for: first the bytes already looked at, then the rest of the file.
struct Feed {
    int descriptor;
    std::string_view head;
    const std::string& name;
    std::size_t size;  ///< of the compressed file; 0 when not known
    std::size_t taken = 0;
    std::string buffer = std::string(block_bytes, '\0');
    std::exception_ptr error{};

    static la_ssize_t next(archive*, void* self, const void** out) {
        Feed& feed = *static_cast<Feed*>(self);
        try {
            std::string_view bytes = std::exchange(feed.head, {});
            if (bytes.empty()) {
                const std::size_t count =
                    read_some(feed.descriptor, feed.buffer.data(), feed.buffer.size(), feed.name);
                bytes = {feed.buffer.data(), count};
            }
            feed.taken += bytes.size();
            *out = bytes.data();
            return static_cast<la_ssize_t>(bytes.size());
        } catch (...) {
            feed.error = std::current_exception();
            return -1;
        }
    }
};

/// A gzip file. `next` gives its bytes piece by piece, none at the end.
Content unpack_gzip(const std::function<std::string_view()>& next, const Packed& packed) try {
    Inflater inflater(Inflater::Form::gzip);
    Content content;
    for (std::string_view piece = next(); !piece.empty(); piece = next()) {
        inflater.feed(piece);
        for (;;) {
            if (content.room() < block_bytes) {
                content.reserve(content.view().size() + 8 * block_bytes);
            }
            const std::size_t count = inflater.take(content.end(), block_bytes);
            if (count == 0) break;
            content.grow_by(count);
            packed.grown_to(content.view().size());
        }
    }
    if (!inflater.finished()) throw std::runtime_error("it ends too early");
    return content;
} catch (const InvalidInput&) {
    throw;
} catch (const Cancelled&) {
    throw;
} catch (const std::runtime_error& error) {
    fail(packed.name, std::string("compressed data is damaged or cut short (") + error.what() +
                          "); fetch the file again");
}

Content unpack_stream(int descriptor, std::string_view head, std::size_t size,
                      const std::string& name, const Progress& progress) {
    Feed feed{.descriptor = descriptor, .head = head, .name = name, .size = size};
    const Packed packed{
        .name = name, .progress = progress, .taken = [&] { return feed.taken; }, .size = size};
    if (is_gzip(head)) {
        const auto next = [&] {
            const void* bytes = nullptr;
            const la_ssize_t count = Feed::next(nullptr, &feed, &bytes);
            if (count < 0) std::rethrow_exception(feed.error);
            return std::string_view(static_cast<const char*>(bytes),
                                    static_cast<std::size_t>(count));
        };
        return unpack_gzip(next, packed);
    }
    const Archive unpacker = new_unpacker();
    try {
        if (MERCER_ARCHIVE(archive_read_open)(unpacker.get(), &feed, nullptr, Feed::next,
                                              nullptr) != ARCHIVE_OK) {
            fail_unpacking(unpacker.get(), name);
        }
        return drain(unpacker.get(), packed);
    } catch (const InvalidInput&) {
        if (feed.error) std::rethrow_exception(feed.error);
        throw;
    }
}

/// Bytes at a place, however many calls it takes. Reading rather than mapping files, because a
/// mapped file that another program shortens would end this one.
void fetch_bytes(int descriptor, std::size_t offset, char* out, std::size_t count,
                 const std::string& name) {
    while (count > 0) {
        const ssize_t got = pread(descriptor, out, count, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail_errno(name, errno);
        if (got == 0) fail(name, "became shorter while it was read; try again");
        offset += static_cast<std::size_t>(got);
        out += got;
        count -= static_cast<std::size_t>(got);
    }
}

/// The rest of a regular file whose size is known: all threads fetch pieces of it.
void fetch_rest(int descriptor, std::size_t size, Content& content, const std::string& name) {
    const std::size_t first = content.view().size();
    content.reserve(size);
    char* out = content.end();
    parallel_ranges(size - first, 4 * block_bytes, [&](std::size_t begin, std::size_t end) {
        fetch_bytes(descriptor, first + begin, out + begin, end - begin, name);
    });
    content.grow_by(size - first);
}

Content load_unchecked(const std::string& path, const std::string& name, const Progress& progress) {
    const Descriptor source(open_source(path));
    struct stat status {};
    if (fstat(source.number(), &status) != 0) fail_errno(name, errno);
    if (S_ISDIR(status.st_mode)) fail_errno(name, EISDIR);
    const bool regular = S_ISREG(status.st_mode) && lseek(source.number(), 0, SEEK_CUR) == 0;
    const std::size_t size = regular ? static_cast<std::size_t>(status.st_size) : 0;
    report(progress, 0);

    Content content;
    content.reserve(std::max(block_bytes, size));
    // A pipe may hand over one byte at a time, and the content must be known before going on.
    constexpr std::size_t head_bytes = std::size_t{1} << 16;
    while (content.view().size() < head_bytes) {
        const std::size_t wanted = head_bytes - content.view().size();
        const std::size_t count = read_some(source.number(), content.end(), wanted, name);
        if (count == 0) break;
        content.grow_by(count);
    }
    if (is_compressed(content.view())) {
        return unpack_stream(source.number(), content.view(), size, name, progress);
    }
    if (size > content.view().size()) {
        fetch_rest(source.number(), size, content, name);
        return content;
    }
    if (regular && size == content.view().size() && size != 0) return content;
    for (;;) {
        if (content.room() < block_bytes) content.reserve(content.view().size() + 8 * block_bytes);
        const std::size_t count = read_some(source.number(), content.end(), block_bytes, name);
        if (count == 0) return content;
        content.grow_by(count);
        report(progress, -1);
    }
}

}  // namespace

Content::Content(Content&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

Content& Content::operator=(Content&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
}

Content::~Content() {
    if (data_ != nullptr) munmap(data_, capacity_);
}

void Content::reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    constexpr std::size_t huge_page = std::size_t{1} << 21;
    const std::size_t limit = memory_limit();
    if (capacity > limit) throw std::bad_alloc();
    // Half as much again each time; pages are moved, not copied, and unused ones cost nothing.
    capacity = std::min(std::max(capacity, capacity_ + capacity_ / 2), limit);
    capacity = (capacity + huge_page - 1) / huge_page * huge_page;
    void* memory = data_ == nullptr ? mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                    : mremap(data_, capacity_, capacity, MREMAP_MAYMOVE);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, capacity, MADV_HUGEPAGE);  // a hint; small pages do as well, only slower
    data_ = static_cast<char*>(memory);
    capacity_ = capacity;
}

void Content::append(std::string_view bytes) {
    if (bytes.empty()) return;
    if (room() < bytes.size()) reserve(size_ + bytes.size());
    std::memcpy(end(), bytes.data(), bytes.size());
    size_ += bytes.size();
}

std::optional<PlainFile> PlainFile::open(const std::string& path) {
    // Asked before it is opened: to open and close a pipe would cut off whoever writes to it.
    struct stat status {};
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    PlainFile file;
    file.path_ = path;
    file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file.descriptor_ < 0 || fstat(file.descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
        return std::nullopt;
    }
    file.size_ = static_cast<std::size_t>(status.st_size);
    file.head_.resize(std::min(file.size_, std::size_t{1} << 16));
    file.fetch(0, file.head_.data(), file.head_.size());
    if (is_compressed(file.head_)) return std::nullopt;
    return file;
}

PlainFile::PlainFile(PlainFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      head_(std::move(other.head_)) {}

PlainFile::~PlainFile() {
    if (descriptor_ >= 0) close(descriptor_);
}

void PlainFile::fetch(std::size_t offset, char* out, std::size_t count) const {
    fetch_bytes(descriptor_, offset, out, count, path_);
}

bool is_compressed(std::string_view bytes) {
    if (bytes.size() < 4) return false;
    if (is_gzip(bytes)) return true;
    if (!may_be_packed(bytes)) return false;
    const Archive unpacker = new_unpacker();
    const std::string_view head = bytes.substr(0, std::size_t{1} << 16);
    // Opening already fails when the first block of a compressed file is damaged.
    if (MERCER_ARCHIVE(archive_read_open_memory)(unpacker.get(), head.data(), head.size()) !=
        ARCHIVE_OK) {
        return true;
    }
    return MERCER_ARCHIVE(archive_filter_code)(unpacker.get(), 0) != ARCHIVE_FILTER_NONE;
}

Content unpack(std::string_view bytes, const std::string& name, const Progress& progress) {
    try {
        const Packed packed{
            .name = name, .progress = progress, .taken = [size = bytes.size()] { return size; }};
        if (is_gzip(bytes)) {
            return unpack_gzip([&] { return std::exchange(bytes, {}); }, packed);
        }
        const Archive unpacker = new_unpacker();
        if (MERCER_ARCHIVE(archive_read_open_memory)(unpacker.get(), bytes.data(), bytes.size()) !=
            ARCHIVE_OK) {
            fail_unpacking(unpacker.get(), name);
        }
        return drain(unpacker.get(), packed);
    } catch (const std::bad_alloc&) {
        fail_memory(name);
    }
}

Content read_bytes(const std::string& path, const Progress& progress) {
    const std::string name = path == "-" ? "standard input" : path;
    try {
        return load_unchecked(path, name, progress);
    } catch (const std::bad_alloc&) {
        fail_memory(name);
    }
}

}  // namespace mercer
