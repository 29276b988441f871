#include "mercer/data/detail/byte_source.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/data/detail/memory.hpp"
#include "mercer/data/detail/read_file.hpp"

namespace mercer {
namespace {

constexpr std::size_t kept_in_memory = std::size_t{64} << 20;
constexpr std::size_t looked_at = std::size_t{1} << 16;
constexpr std::size_t packed_piece = std::size_t{1} << 20;

}  // namespace

RawBytes::RawBytes(const std::string& path, std::string folder)
    : name_(path == "-" ? "standard input" : path),
      folder_(std::move(folder)),
      descriptor_(open_source(path)) {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) fail_reading(name_, errno);
    if (S_ISDIR(status.st_mode)) fail_reading(name_, EISDIR);
    if (S_ISREG(status.st_mode) && lseek(descriptor_, 0, SEEK_CUR) == 0) {
        size_ = static_cast<std::size_t>(status.st_size);
    }
}

RawBytes::~RawBytes() {
    if (descriptor_ > STDIN_FILENO) close(descriptor_);
}

std::size_t RawBytes::read(char* out, std::size_t room) {
    if (size_ > 0) {
        const std::size_t count = std::min(room, size_ - std::min(offset_, size_));
        fetch_bytes(descriptor_, offset_, out, count, name_);
        offset_ += count;
        return count;
    }
    std::size_t count = std::min(room, kept_.size() - offset_);
    if (count > 0) {
        kept_.fetch(offset_, {out, count});
    } else {
        count = read_some(descriptor_, out, room, name_);
        kept_.append({out, count});
        if (kept_.size() > kept_in_memory) kept_.spill(folder_, name_);
    }
    offset_ += count;
    return count;
}

ByteSource::ByteSource(const std::string& path, std::string folder)
    : raw_(path, std::move(folder)) {
    // A pipe may hand over one byte at a time, and the content must be known before going on.
    const auto fill = [&](auto& from) {
        head_.resize(looked_at);
        std::size_t size = 0;
        while (size < looked_at) {
            const std::size_t count = from.read(head_.data() + size, looked_at - size);
            if (count == 0) break;
            size += count;
        }
        head_.resize(size);
    };
    fill(raw_);
    packed_ = is_compressed(head_);
    begin();
    if (!packed_) return;
    fill(*this);
    begin();
}

void ByteSource::begin() {
    raw_.rewind();
    unpacked_ = 0;
    if (!packed_) return;
    buffer_.resize(packed_piece);
    std::string first(64, '\0');  // of the packed bytes, to know them by
    first.resize(raw_.read(first.data(), first.size()));
    raw_.rewind();
    unpacker_.emplace(
        first,
        [this] {
            return std::string_view(buffer_.data(), raw_.read(buffer_.data(), buffer_.size()));
        },
        raw_.name());
}

void ByteSource::rewind() {
    begin();
}

std::size_t ByteSource::read(char* out, std::size_t room) {
    if (!packed_) return raw_.read(out, room);
    const std::size_t count = unpacker_->read(out, room);
    unpacked_ += count;
    check_growth(raw_.name(), unpacked_, std::max(raw_.taken(), raw_.size()));
    return count;
}

double ByteSource::fraction() const {
    if (raw_.size() == 0) return -1;
    return static_cast<double>(raw_.taken()) / static_cast<double>(raw_.size());
}

Content ByteSource::content(const Progress& progress) {
    rewind();
    Content all;
    for (;;) {
        if (!keep_going(progress, {.task = "reading", .fraction = fraction()})) throw Cancelled();
        if (all.room() < packed_piece) all.reserve(all.view().size() + 8 * packed_piece);
        const std::size_t count = read(all.end(), packed_piece);
        if (count == 0) return all;
        all.grow_by(count);
    }
}

}  // namespace mercer
