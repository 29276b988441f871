#include "mercer/base/detail/buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define MERCER_WATCHED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MERCER_WATCHED
#endif
#endif
#ifdef MERCER_WATCHED
#include <sanitizer/asan_interface.h>
#endif

namespace mercer {
namespace {

struct Piece {
    void* data;
    std::size_t room;
};

struct Shelf {
    std::mutex mutex;
    std::size_t keepers = 0;
    std::vector<Piece> pieces;
};

Shelf& shelf() {
    static Shelf instance;
    return instance;
}

/// Bytes of a piece that stay in memory while nobody asks for pieces to be kept.
[[maybe_unused]] constexpr std::size_t kept_at_rest = std::size_t{1} << 24;

#ifdef MERCER_WATCHED
// The sanitizer of addresses sees nothing of memory that comes straight from the system. It is
// given pieces of its own heap, whose ends it knows, and told which of them nobody may look at.
void* fetch(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    void* data = nullptr;
    return posix_memalign(&data, page, bytes) == 0 ? data : nullptr;
}
void give_back(const Piece& piece) {
    std::free(piece.data);
}
void allow(const Piece& piece, std::size_t bytes) {
    __asan_poison_memory_region(piece.data, piece.room);
    __asan_unpoison_memory_region(piece.data, bytes);
}
void rest(const Piece&) {}
#else
/// Null where there is no more.
void* fetch(std::size_t bytes) {
    void* const data =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return nullptr;
    madvise(data, bytes, MADV_HUGEPAGE);  // a wish: without huge pages all is only slower
    return data;
}
void give_back(const Piece& piece) {
    munmap(piece.data, piece.room);
}
/// From now on so many of its bytes are in use.
void allow(const Piece&, std::size_t) {}
/// Leaves the system all but what small work would touch again.
void rest(const Piece& piece) {
    if (piece.room <= kept_at_rest) return;
    madvise(static_cast<std::byte*>(piece.data) + kept_at_rest, piece.room - kept_at_rest,
            MADV_DONTNEED);
}
#endif

/// The smallest piece kept that has the room, unless it is more than twice what is wanted.
Piece take(std::size_t bytes) {
    Shelf& all = shelf();
    const std::lock_guard lock(all.mutex);
    auto best = all.pieces.end();
    for (auto it = all.pieces.begin(); it != all.pieces.end(); ++it) {
        if (it->room < bytes || it->room / 2 > bytes) continue;
        if (best == all.pieces.end() || it->room < best->room) best = it;
    }
    if (best == all.pieces.end()) return {nullptr, 0};
    const Piece piece = *best;
    all.pieces.erase(best);
    allow(piece, bytes);
    return piece;
}

bool keep(const Piece& piece) {
    constexpr std::size_t most = 16, most_at_rest = 2;
    Shelf& all = shelf();
    const std::lock_guard lock(all.mutex);
    if (all.pieces.size() >= (all.keepers > 0 ? most : most_at_rest)) return false;
    if (all.keepers == 0) rest(piece);
    all.pieces.push_back(piece);
    allow(piece, 0);
    return true;
}

}  // namespace

LargeBuffer::LargeBuffer(std::size_t bytes) : bytes_(bytes), room_(bytes) {
    if (bytes == 0) return;
    if (const Piece piece = take(bytes); piece.data != nullptr) {
        data_ = piece.data;
        room_ = piece.room;
        return;
    }
    data_ = fetch(bytes);
    if (data_ == nullptr) throw std::bad_alloc();
}

LargeBuffer::~LargeBuffer() {
    if (data_ != nullptr && !keep({data_, room_})) give_back({data_, room_});
}

KeepBuffers::KeepBuffers() {
    const std::lock_guard lock(shelf().mutex);
    ++shelf().keepers;
}

KeepBuffers::~KeepBuffers() {
    Shelf& all = shelf();
    const std::lock_guard lock(all.mutex);
    if (--all.keepers > 0) return;
    for (const Piece& piece : all.pieces) give_back(piece);
    all.pieces.clear();
}

}  // namespace mercer
