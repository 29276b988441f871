#include "mercer/data/detail/spool.hpp"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "mercer/data/source.hpp"

namespace mercer {
namespace {

/// A file of this folder that nobody can find; −1 with errno.
int open_nameless(const std::string& folder) {
    const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
    std::string path = folder + "/mercer-spool-XXXXXX";
    const int named = mkostemp(path.data(), O_CLOEXEC);
    if (named >= 0) unlink(path.c_str());
    return named;
}

std::string in_megabytes(std::size_t bytes) {
    return std::to_string((bytes + 999'999) / 1'000'000) + " MB";
}

}  // namespace

std::string spool_folder(const std::string& wanted) {
    if (!wanted.empty()) return wanted;
    const char* const told = std::getenv("TMPDIR");
    if (told != nullptr && *told != '\0') return told;
    // What is large belongs there rather than in /tmp, which may lie in memory.
    return access("/var/tmp", W_OK | X_OK) == 0 ? "/var/tmp" : "/tmp";
}

bool lies_in_memory(const std::string& folder) {
    constexpr auto tmpfs = 0x01021994, ramfs = static_cast<int>(0x858458f6);
    struct statfs status {};
    if (statfs(folder.c_str(), &status) != 0) return false;
    const auto type = static_cast<int>(status.f_type);
    return type == tmpfs || type == ramfs;
}

Spool::Spool(std::string folder, std::string name)
    : folder_(std::move(folder)), name_(std::move(name)), descriptor_(open_nameless(folder_)) {
    if (descriptor_ >= 0) return;
    throw NoRoom(Location{.file = name_},
                 "its rows are more than memory may hold, and no temporary file can be made "
                 "in " +
                     folder_ + " (" + std::strerror(errno) +
                     "); name another folder by `spool`, or allow more by `memory_bytes`");
}

Spool::Spool(Spool&& other) noexcept
    : folder_(std::move(other.folder_)),
      name_(std::move(other.name_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

Spool::~Spool() {
    if (descriptor_ >= 0) close(descriptor_);
}

void Spool::fail(int error) const {
    const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    const std::string why = full ? "there is no more room in " + folder_
                                 : folder_ + " takes no more (" + std::strerror(error) + ")";
    throw NoRoom(Location{.file = name_},
                 "its rows are put into a temporary file because memory is not to hold them, "
                 "and after " +
                     in_megabytes(size_) + " " + why +
                     "; name another folder by `spool`, or allow more by `memory_bytes`");
}

void Spool::append(const void* bytes, std::size_t size) {
    const char* from = static_cast<const char*>(bytes);
    while (size > 0) {
        const ssize_t written = ::write(descriptor_, from, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(errno);
        from += written;
        size -= static_cast<std::size_t>(written);
        size_ += static_cast<std::size_t>(written);
    }
}

void Spool::fetch(std::size_t offset, void* out, std::size_t size) const {
    char* to = static_cast<char*>(out);
    while (size > 0) {
        const ssize_t got = pread(descriptor_, to, size, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) fail(got == 0 ? EIO : errno);
        to += got;
        offset += static_cast<std::size_t>(got);
        size -= static_cast<std::size_t>(got);
    }
}

void Spool::replace(std::size_t offset, const void* bytes, std::size_t size) {
    const char* from = static_cast<const char*>(bytes);
    while (size > 0) {
        const ssize_t written = pwrite(descriptor_, from, size, static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(errno);
        from += written;
        offset += static_cast<std::size_t>(written);
        size -= static_cast<std::size_t>(written);
    }
}

std::shared_ptr<const Mapping> Spool::map() const {
    return std::make_shared<const Mapping>(descriptor_, 0, size_, RowPlace::spool, name_);
}

}  // namespace mercer
