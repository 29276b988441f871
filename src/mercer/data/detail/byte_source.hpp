// Bytes of a file, a pipe or standard input, one after another and as often as one likes, without
// all of them in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mercer/data/detail/spool.hpp"
#include "mercer/data/detail/unpack.hpp"
#include "mercer/data/source.hpp"

namespace mercer {

/// The bytes as they are in a file, or come out of a pipe. What a pipe has said is kept, beyond 64
/// MiB in a temporary file, to be said again.
class RawBytes {
   public:
    /// "-" is standard input. Throws InvalidInput for what cannot be read.
    RawBytes(const std::string& path, std::string folder);
    RawBytes(const RawBytes&) = delete;
    RawBytes& operator=(const RawBytes&) = delete;
    ~RawBytes();

    std::size_t read(char* out, std::size_t room);  ///< 0 at the end
    void rewind() { offset_ = 0; }
    std::size_t taken() const { return offset_; }
    std::size_t size() const { return size_; }  ///< 0 when not known
    /// Can be opened again by its name.
    bool is_file() const { return size_ > 0; }
    const std::string& name() const { return name_; }

   private:
    std::string name_;
    std::string folder_;
    int descriptor_ = -1;
    std::size_t size_ = 0;
    std::size_t offset_ = 0;
    Store<char> kept_{};
};

/// The same, unpacked where they are compressed.
class ByteSource {
   public:
    ByteSource(const std::string& path, std::string folder);

    std::size_t read(char* out, std::size_t room);  ///< 0 at the end
    void rewind();
    bool is_packed() const { return packed_; }
    bool is_file() const { return raw_.is_file(); }
    std::size_t file_size() const { return raw_.size(); }
    const std::string& name() const { return raw_.name(); }
    double fraction() const;  ///< read so far; negative when the end is not known
    /// The first bytes, at most 64 KiB.
    std::string_view head() const { return head_; }
    /// All of them, from the beginning.
    Content content(const Progress& progress);

   private:
    void begin();

    RawBytes raw_;
    bool packed_ = false;
    std::string buffer_{};  ///< packed bytes on their way
    std::optional<Unpacker> unpacker_{};
    std::size_t unpacked_ = 0;
    std::string head_{};
};

}  // namespace mercer
