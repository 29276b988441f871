#include "mercer/base/detail/temporary_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "mercer/base/error.hpp"

namespace mercer {
namespace {

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

/// ".mercer-0123456789abcdef-": the same for all writers of a target, and short whatever its name.
std::string own_prefix(const std::string& target) {
    const std::size_t slash = target.rfind('/');
    std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
    for (std::size_t i = slash == std::string::npos ? 0 : slash + 1; i < target.size(); ++i) {
        hash = (hash ^ static_cast<unsigned char>(target[i])) * 0x100000001B3;
    }
    char text[32];
    std::snprintf(text, sizeof text, ".mercer-%016llx-", static_cast<unsigned long long>(hash));
    return text;
}

std::string own_path(const std::string& target, const char* end) {
    return folder_of(target) + '/' + own_prefix(target) + end;
}

/// A regular file of ours under this name that nobody holds locked.
bool is_abandoned(int folder, const char* name) {
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return false;
    struct stat status {};
    const bool ours = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                      status.st_uid == geteuid() && flock(file, LOCK_EX | LOCK_NB) == 0;
    close(file);
    return ours;
}

/// Puts `from` in the place of `to`, where something stands, and that in the place of `from`.
bool swap_names(const std::string& from, const std::string& to) {
    struct stat status {};
    if (lstat(to.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return false;
    return renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0;
}

}  // namespace

void refuse_writing(const std::string& name, int error) {
    const Location where{.file = name};
    switch (error) {
        case ENOENT: throw InvalidInput(where, "cannot be written: its folder does not exist");
        case ENOTDIR:
            throw InvalidInput(where, "cannot be written: a part of its path is not a folder");
        case EISDIR: throw InvalidInput(where, "is a directory; name a file inside it");
        case EACCES:
        case EPERM:
        case EROFS: throw InvalidInput(where, "no permission to write it or its folder");
        default: throw InvalidInput(where, std::string("cannot be written: ") + strerror(error));
    }
}

void remove_leftovers(const std::string& target) {
    constexpr std::size_t most_looked_at = 10'000;  // of a folder that is larger, the rest stays
    const auto closer = [](DIR* folder) { closedir(folder); };
    const std::unique_ptr<DIR, decltype(closer)> folder(opendir(folder_of(target).c_str()), closer);
    if (!folder) return;
    const std::string prefix = own_prefix(target);
    std::size_t looked_at = 0;
    for (const dirent* entry = readdir(folder.get());
         entry != nullptr && looked_at < most_looked_at;
         entry = readdir(folder.get()), ++looked_at) {
        if (std::strncmp(entry->d_name, prefix.c_str(), prefix.size()) != 0) continue;
        if (is_abandoned(dirfd(folder.get()), entry->d_name)) {
            unlinkat(dirfd(folder.get()), entry->d_name, 0);
        }
    }
}

void sync_folder_of(const std::string& path) {
    const int folder = open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;  // it may be written to and not read: the system keeps names in time
    fsync(folder);
    close(folder);
}

TemporaryFile::TemporaryFile(std::string target, std::string name)
    : target_(std::move(target)), name_(std::move(name)) {
    remove_leftovers(target_);
    open_nameless();
    if (descriptor_ < 0) open_named();
    if (descriptor_ < 0) refuse_writing(name_, errno);
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : target_(std::move(other.target_)),
      name_(std::move(other.name_)),
      path_(std::exchange(other.path_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      place_(std::exchange(other.place_, Place::beside)) {}

TemporaryFile::~TemporaryFile() {
    // First the name, while the lock tells others that it is ours.
    if (!path_.empty()) unlink(path_.c_str());
    if (descriptor_ >= 0) close(descriptor_);
}

void TemporaryFile::fail() const {
    throw std::runtime_error(name_ + ": writing failed: " + std::strerror(errno));
}

void TemporaryFile::open_nameless() {
    // It gets its name through /proc, which a closed-off process may not have.
    if (access("/proc/self/fd", X_OK) != 0) return;
    descriptor_ = open(folder_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (descriptor_ >= 0) flock(descriptor_, LOCK_EX | LOCK_NB);
}

void TemporaryFile::open_named() {
    for (int attempt = 0; attempt < 100; ++attempt) {
        path_ = own_path(target_, "XXXXXX");
        descriptor_ = mkostemp(path_.data(), O_CLOEXEC);
        if (descriptor_ < 0) {
            path_.clear();
            return;
        }
        flock(descriptor_, LOCK_EX | LOCK_NB);
        struct stat status {};
        if (fstat(descriptor_, &status) != 0 || status.st_nlink > 0) return;
        close(std::exchange(descriptor_, -1));  // it was taken for abandoned before it was locked
    }
    errno = EBUSY;
}

void TemporaryFile::link_as_name() {
    const std::string own = "/proc/self/fd/" + std::to_string(descriptor_);
    for (int attempt = 0; attempt < 100; ++attempt) {
        char end[16];
        std::snprintf(end, sizeof end, "%d-%d", static_cast<int>(getpid()) % 1'000'000, attempt);
        std::string path = own_path(target_, end);
        if (linkat(AT_FDCWD, own.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) {
            path_ = std::move(path);
            return;
        }
        if (errno != EEXIST) break;
    }
    fail();
}

void TemporaryFile::finish(mode_t mode) {
    fchmod(descriptor_, mode);
    // Some file systems have nothing to keep (EINVAL); a full disk may say so only now.
    if (fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP) fail();
}

void TemporaryFile::take_place() {
    if (path_.empty()) {
        const std::string own = "/proc/self/fd/" + std::to_string(descriptor_);
        if (linkat(AT_FDCWD, own.c_str(), AT_FDCWD, target_.c_str(), AT_SYMLINK_FOLLOW) == 0) {
            place_ = Place::new_name;
            return;
        }
        if (errno != EEXIST) fail();
        link_as_name();
    }
    if (swap_names(path_, target_)) {
        place_ = Place::exchanged;
    } else if (rename(path_.c_str(), target_.c_str()) == 0) {
        path_.clear();
        place_ = Place::replaced;
    } else {
        fail();
    }
}

void TemporaryFile::give_back() noexcept {
    if (place_ == Place::exchanged) swap_names(path_, target_);
    if (place_ == Place::new_name) unlink(target_.c_str());
    // What a plain rename has replaced is gone: then the new file is better than none.
    place_ = Place::beside;
}

}  // namespace mercer
