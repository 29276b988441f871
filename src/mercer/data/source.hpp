// Bytes in: from files, pipes and memory, unpacked when they are compressed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "mercer/base/error.hpp"
#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"

namespace mercer MERCER_API {

/// Bytes in memory of their own. Movable, not copyable.
class Content {
   public:
    Content() = default;
    Content(Content&& other) noexcept;
    Content& operator=(Content&& other) noexcept;
    ~Content();

    std::string_view view() const { return {data_, size_}; }

    /// Room for at least `capacity` bytes. Throws std::bad_alloc when that is more than the memory
    /// limit: the system would lend it, and end the process when it is used.
    void reserve(std::size_t capacity);
    void append(std::string_view bytes);

    /// For filling in place: the free room, and how much of it has been used.
    char* end() { return data_ + size_; }
    std::size_t room() const { return capacity_ - size_; }
    void grow_by(std::size_t bytes) { size_ += bytes; }

   private:
    char* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

/// Bytes of memory this process may have: those of the machine, or fewer where a limit of the
/// process or its control group (a container, a batch job) says so.
std::size_t physical_memory();

/// Bytes that reading may take; by default three quarters of physical_memory(), and of a single
/// file 64 MiB and 100 times its size: a file of some kilobytes that unpacks to gigabytes, or
/// claims that many columns, is refused. With a limit of one's own (or MERCER_MEMORY_LIMIT in the
/// environment, in MiB) that alone counts. 0 goes back to the default.
std::size_t memory_limit();
void set_memory_limit(std::size_t bytes);

/// The folder of temporary files for rows that memory is not to hold: the one wanted, else that of
/// TMPDIR in the environment, else /var/tmp, or /tmp where there is none. Programs that end in
/// whatever way leave nothing there.
std::string spool_folder(const std::string& wanted = "");
/// Thrown where such a file cannot be made, or cannot take all: no mistake of the data.
class NoRoom : public InvalidInput {
   public:
    using InvalidInput::InvalidInput;
};
/// Whether files of this folder take memory rather than a disk (tmpfs).
bool lies_in_memory(const std::string& folder);

/// The content of a file ("-": standard input), unpacked if it is compressed. Throws InvalidInput
/// for what is absent, a directory, not permitted, damaged, or larger than memory.
Content read_bytes(const std::string& path, const Progress& progress = {});

/// A regular file that is not compressed, to be read at any place by any thread.
class PlainFile {
   public:
    /// Nothing when it is something else, or cannot be opened: read_bytes() then says what is
    /// wrong.
    static std::optional<PlainFile> open(const std::string& path);
    PlainFile(PlainFile&& other) noexcept;
    PlainFile& operator=(PlainFile&&) = delete;
    ~PlainFile();

    std::size_t size() const { return size_; }
    std::string_view head() const { return head_; }  ///< the first bytes
    int descriptor() const { return descriptor_; }   ///< to be looked at, not to be moved

    /// Bytes [offset, offset + count) into `out`; throws InvalidInput when they are not there.
    void fetch(std::size_t offset, char* out, std::size_t count) const;

   private:
    PlainFile() = default;

    std::string path_;
    int descriptor_ = -1;
    std::size_t size_ = 0;
    std::string head_;
};

/// True when the bytes begin like a compressed file.
bool is_compressed(std::string_view bytes);

/// Unpacks bytes for which is_compressed holds; `name` is for messages.
Content unpack(std::string_view bytes, const std::string& name, const Progress& progress = {});

}  // namespace mercer
