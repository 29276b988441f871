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

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/detail/memory.hpp"
#include "mercer/data/detail/read_file.hpp"
#include "mercer/data/detail/unpack.hpp"

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

void report(const Progress& progress, double fraction) {
    if (!keep_going(progress, {.task = "reading", .fraction = fraction})) throw Cancelled();
}

/// Everything that is packed in `size` bytes, or an unknown number of them (0); `taken` says how
/// many of them are behind.
Content drain(Unpacker unpacker, const std::string& name, std::size_t size,
              const std::function<std::size_t()>& taken, const Progress& progress) {
    Content content;
    for (;;) {
        if (content.room() < block_bytes) content.reserve(content.view().size() + 8 * block_bytes);
        const std::size_t count = unpacker.read(content.end(), block_bytes);
        if (count == 0) return content;
        content.grow_by(count);
        check_allowance(name, static_cast<double>(content.view().size()), std::max(taken(), size),
                        "what is packed in it");
        const auto behind = static_cast<double>(taken());
        report(progress, size == 0 ? -1.0 : std::min(1.0, behind / static_cast<double>(size)));
    }
}

/// The bytes that were looked at already, then the rest of the file.
Content unpack_stream(int descriptor, std::string_view head, std::size_t size,
                      const std::string& name, const Progress& progress) {
    std::size_t taken = 0;
    std::string buffer(block_bytes, '\0');
    std::string_view first = head;
    const auto next = [&] {
        std::string_view bytes = std::exchange(first, {});
        if (bytes.empty()) {
            bytes = {buffer.data(), read_some(descriptor, buffer.data(), buffer.size(), name)};
        }
        taken += bytes.size();
        return bytes;
    };
    return drain(
        Unpacker(head, next, name), name, size, [&] { return taken; }, progress);
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
    if (fstat(source.number(), &status) != 0) fail_reading(name, errno);
    if (S_ISDIR(status.st_mode)) fail_reading(name, EISDIR);
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

void fail_reading(const std::string& name, int error) {
    const auto fail = [&](const std::string& message) {
        throw InvalidInput(Location{.file = name}, message);
    };
    switch (error) {
        case ENOENT: fail("no such file; check the name and the folder"); break;
        case ENOTDIR: fail("no such file: a part of this path is not a folder"); break;
        case EISDIR: fail("is a directory; name a file inside it"); break;
        case EACCES:
        case EPERM: fail("no permission to read it; see its owner and mode with ls -l"); break;
        default: break;
    }
    throw InvalidInput(Location{.file = name},
                       std::string("cannot be read: ") + std::strerror(error));
}

int open_source(const std::string& path) {
    if (path == "-") return STDIN_FILENO;
    const int number = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (number < 0) fail_reading(path, errno);
    return number;
}

std::size_t read_some(int descriptor, char* out, std::size_t room, const std::string& name) {
    for (;;) {
        const ssize_t count = ::read(descriptor, out, room);
        if (count >= 0) return static_cast<std::size_t>(count);
        if (errno != EINTR) fail_reading(name, errno);
    }
}

void fetch_bytes(int descriptor, std::size_t offset, char* out, std::size_t count,
                 const std::string& name) {
    while (count > 0) {
        const ssize_t got = pread(descriptor, out, count, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail_reading(name, errno);
        if (got == 0) {
            throw InvalidInput(Location{.file = name},
                               "became shorter while it was read; try again");
        }
        offset += static_cast<std::size_t>(got);
        out += got;
        count -= static_cast<std::size_t>(got);
    }
}

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
    // A hint, where there is more than one to fill: touching a byte of a huge page clears all of
    // it, which takes longer than a small file does to be read.
    if (capacity > huge_page) madvise(memory, capacity, MADV_HUGEPAGE);
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

Content unpack(std::string_view bytes, const std::string& name, const Progress& progress) {
    const std::size_t size = bytes.size();
    std::string_view rest = bytes;
    try {
        return drain(
            Unpacker(
                bytes, [&] { return std::exchange(rest, {}); }, name),
            name, 0, [size] { return size; }, progress);
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
