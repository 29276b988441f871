#include "mercer/base/detail/buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

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
    return piece;
}

bool keep(const Piece& piece) {
    constexpr std::size_t most = 16;
    Shelf& all = shelf();
    const std::lock_guard lock(all.mutex);
    if (all.keepers == 0 || all.pieces.size() >= most) return false;
    all.pieces.push_back(piece);
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
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) {
        data_ = nullptr;
        throw std::bad_alloc();
    }
    madvise(data_, bytes, MADV_HUGEPAGE);  // a wish: without huge pages all is only slower
}

LargeBuffer::~LargeBuffer() {
    if (data_ != nullptr && !keep({data_, room_})) munmap(data_, room_);
}

KeepBuffers::KeepBuffers() {
    const std::lock_guard lock(shelf().mutex);
    ++shelf().keepers;
}

KeepBuffers::~KeepBuffers() {
    Shelf& all = shelf();
    const std::lock_guard lock(all.mutex);
    if (--all.keepers > 0) return;
    for (const Piece& piece : all.pieces) munmap(piece.data, piece.room);
    all.pieces.clear();
}

}  // namespace mercer
