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
#include <vector>

#include "mercer/base/detail/archive.hpp"
#include "mercer/base/detail/deflate.hpp"
#include "mercer/base/detail/temporary_file.hpp"
#include "mercer/base/error.hpp"

namespace mercer {
namespace {

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

/// The mode a new file would get. Reading the mask means setting it, for an instant.
mode_t new_file_mode() {
    const mode_t mask = umask(022);
    umask(mask);
    return static_cast<mode_t>(0666 & ~mask);
}

thread_local FilesTogether* files_together = nullptr;

/// A descriptor that closes itself.
class OpenFile {
   public:
    explicit OpenFile(int number) : number_(number) {}
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() { close(number_); }

   private:
    int number_;
};

}  // namespace

struct FilesTogether::Waiting {
    std::vector<TemporaryFile> files;
};

FilesTogether::FilesTogether(Nested nested) : outer_(files_together) {
    if (outer_ != nullptr && nested == Nested::join) return;
    waiting_ = std::make_unique<Waiting>();
    files_together = this;
}

FilesTogether::~FilesTogether() {
    if (waiting_) files_together = outer_;
}

void FilesTogether::keep() {
    if (!waiting_) return;  // the outer one will
    std::vector<TemporaryFile> files = std::exchange(waiting_->files, {});
    for (std::size_t k = 0; k < files.size(); ++k) {
        try {
            files[k].take_place();
        } catch (...) {
            while (k-- > 0) files[k].give_back();
            throw;
        }
    }
    for (const TemporaryFile& file : files) sync_folder_of(file.target());
}

void write_whole(const std::string& path, const std::function<void(Output&)>& writer) {
    if (path == "-") return write_to(STDOUT_FILENO, path, "standard output", writer);
    struct stat status {};
    const bool exists = stat(path.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) refuse_writing(path, EISDIR);
    if (exists && !S_ISREG(status.st_mode)) {
        const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
        if (descriptor < 0) refuse_writing(path, errno);
        const OpenFile closing(descriptor);
        return write_to(descriptor, path, path, writer);
    }
    // A link keeps pointing at the file: the file it points at is the one replaced.
    std::string target = path;
    if (exists) {
        std::error_code ignored;
        const auto real = std::filesystem::canonical(path, ignored);
        if (!ignored) target = real.string();
        if (access(target.c_str(), W_OK) != 0) refuse_writing(path, errno);
    }
    FilesTogether alone;  // or one of those that wait together already
    TemporaryFile temporary(target, path);
    write_to(temporary.descriptor(), path, path, writer);
    temporary.finish(exists ? status.st_mode & 07777U : new_file_mode());
    files_together->waiting_->files.push_back(std::move(temporary));
    alone.keep();
}

void append_lines(const std::string& path, std::string_view lines) {
    const auto fail = [&] {
        throw std::runtime_error(path + ": writing failed: " + std::strerror(errno));
    };
    struct stat status {};
    const bool exists = stat(path.c_str(), &status) == 0;
    const int descriptor =
        open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (descriptor < 0) fail();
    const OpenFile closing(descriptor);
    const off_t before = lseek(descriptor, 0, SEEK_END);
    try {
        DescriptorOutput output(descriptor, path);
        output.write(lines);
        output.flush();
    } catch (const std::runtime_error&) {
        // Half a line would spoil the next one.
        if (before >= 0 && ftruncate(descriptor, before) != 0) throw;
        throw;
    }
    if (!lines.empty() && fdatasync(descriptor) != 0 && errno != EINVAL && errno != EROFS) fail();
    if (!exists) sync_folder_of(path);
}

}  // namespace mercer
