#include "mercer/base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "mercer/base/detail/archive.hpp"
#include "mercer/base/detail/deflate.hpp"
#include "mercer/base/error.hpp"

namespace mercer {
namespace {

[[noreturn]] void refuse(const std::string& name, int error) {
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

/// Straight to a file descriptor, a megabyte at a time.
class DescriptorOutput : public Output {
   public:
    DescriptorOutput(int descriptor, const std::string& name)
        : descriptor_(descriptor), name_(name) {}

    void write(std::string_view bytes) override {
        if (buffer_.size() + bytes.size() > block) flush();
        if (bytes.size() >= block) {
            send(bytes);
        } else {
            buffer_.append(bytes);
        }
    }
    void flush() {
        send(buffer_);
        buffer_.clear();
    }

   private:
    static constexpr std::size_t block = std::size_t{1} << 20;

    void send(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) {
                throw std::runtime_error(name_ + ": writing failed: " + std::strerror(errno));
            }
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
    }

    int descriptor_;
    const std::string& name_;
    std::string buffer_;
};

using AddFilter = int (*)(archive*);

AddFilter filter_for(std::string_view path) {
    if (path.ends_with(".bz2")) return MERCER_ARCHIVE(archive_write_add_filter_bzip2);
    if (path.ends_with(".xz")) return MERCER_ARCHIVE(archive_write_add_filter_xz);
    if (path.ends_with(".zst")) return MERCER_ARCHIVE(archive_write_add_filter_zstd);
    return nullptr;
}

/// Compresses on the way to another output.
class PackedOutput : public Output {
   public:
    PackedOutput(Output& target, AddFilter filter, const std::string& name)
        : target_(target),
          name_(name),
          packer_(MERCER_ARCHIVE(archive_write_new)(), MERCER_ARCHIVE(archive_write_free)) {
        if (!packer_) throw std::bad_alloc();
        MERCER_ARCHIVE(archive_write_set_format_raw)(packer_.get());
        check(filter(packer_.get()));
        MERCER_ARCHIVE(archive_write_set_bytes_in_last_block)(packer_.get(), 1);
        check(MERCER_ARCHIVE(archive_write_open)(packer_.get(), this, nullptr, &PackedOutput::pass,
                                                 nullptr));
        const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(
            MERCER_ARCHIVE(archive_entry_new)(), MERCER_ARCHIVE(archive_entry_free));
        MERCER_ARCHIVE(archive_entry_set_pathname)(entry.get(), "data");
        MERCER_ARCHIVE(archive_entry_set_filetype)(entry.get(), AE_IFREG);
        check(MERCER_ARCHIVE(archive_write_header)(packer_.get(), entry.get()));
    }

    void write(std::string_view bytes) override {
        while (!bytes.empty()) {
            const la_ssize_t count =
                MERCER_ARCHIVE(archive_write_data)(packer_.get(), bytes.data(), bytes.size());
            if (count <= 0) check(ARCHIVE_FATAL);
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
    }
    void finish() { check(MERCER_ARCHIVE(archive_write_close)(packer_.get())); }

   private:
    static la_ssize_t pass(archive*, void* self, const void* bytes, std::size_t size) {
        auto& output = *static_cast<PackedOutput*>(self);
        // While an error is on its way the archive still wants to close itself: let it.
        if (output.error_) return static_cast<la_ssize_t>(size);
        try {
            output.target_.write({static_cast<const char*>(bytes), size});
            return static_cast<la_ssize_t>(size);
        } catch (...) {
            output.error_ = std::current_exception();
            return -1;
        }
    }
    void check(int status) {
        if (error_) std::rethrow_exception(error_);
        if (status == ARCHIVE_OK || status == ARCHIVE_WARN) return;
        const char* reason = MERCER_ARCHIVE(archive_error_string)(packer_.get());
        throw std::runtime_error(
            name_ + ": compression failed: " + (reason != nullptr ? reason : "unknown reason"));
    }

    Output& target_;
    const std::string& name_;
    std::exception_ptr error_{};
    std::unique_ptr<archive, int (*)(archive*)> packer_;
};

void write_to(int descriptor, const std::string& path, const std::string& name,
              const std::function<void(Output&)>& writer) {
    DescriptorOutput plain(descriptor, name);
    if (path.ends_with(".gz")) {
        GzipOutput packed(plain);
        writer(packed);
        packed.finish();
    } else if (const AddFilter filter = filter_for(path)) {
        PackedOutput packed(plain, filter, name);
        writer(packed);
        packed.finish();
    } else {
        writer(plain);
    }
    plain.flush();
}

/// A file under a name of its own, removed unless it is kept.
class TemporaryFile {
   public:
    TemporaryFile(const std::string& target, const std::string& name) : path_(target + ".XXXXXX") {
        descriptor_ = mkostemp(path_.data(), O_CLOEXEC);
        if (descriptor_ < 0) refuse(name, errno);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        if (descriptor_ >= 0) close(descriptor_);
        if (!kept_) unlink(path_.c_str());
    }
    int descriptor() const { return descriptor_; }

    void keep_as(const std::string& target, mode_t mode, const std::string& name) {
        fchmod(descriptor_, mode);
        const int closed = close(std::exchange(descriptor_, -1));
        if (closed != 0 || rename(path_.c_str(), target.c_str()) != 0) {
            throw std::runtime_error(name + ": writing failed: " + std::strerror(errno));
        }
        kept_ = true;
    }

   private:
    std::string path_;
    int descriptor_ = -1;
    bool kept_ = false;
};

/// The mode a new file would get. Reading the mask means setting it, for an instant.
mode_t new_file_mode() {
    const mode_t mask = umask(022);
    umask(mask);
    return static_cast<mode_t>(0666 & ~mask);
}

}  // namespace

void write_whole(const std::string& path, const std::function<void(Output&)>& writer) {
    if (path == "-") return write_to(STDOUT_FILENO, path, "standard output", writer);
    struct stat status {};
    const bool exists = stat(path.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) refuse(path, EISDIR);
    if (exists && !S_ISREG(status.st_mode)) {
        const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
        if (descriptor < 0) refuse(path, errno);
        const auto closer = [](const int* number) { close(*number); };
        const std::unique_ptr<const int, decltype(closer)> closing(&descriptor, closer);
        return write_to(descriptor, path, path, writer);
    }
    // A link keeps pointing at the file: the file it points at is the one replaced.
    std::string target = path;
    if (exists) {
        std::error_code ignored;
        const auto real = std::filesystem::canonical(path, ignored);
        if (!ignored) target = real.string();
        if (access(target.c_str(), W_OK) != 0) refuse(path, errno);
    }
    TemporaryFile temporary(target, path);
    write_to(temporary.descriptor(), path, path, writer);
    temporary.keep_as(target, exists ? status.st_mode & 07777U : new_file_mode(), path);
}

}  // namespace mercer
