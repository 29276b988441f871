#include "mercer/base/buffer.hpp"

#include <sys/mman.h>

#include <new>

namespace mercer {

LargeBuffer::LargeBuffer(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) {
        data_ = nullptr;
        throw std::bad_alloc();
    }
    madvise(data_, bytes, MADV_HUGEPAGE);  // a wish: without huge pages all is only slower
}

LargeBuffer::~LargeBuffer() {
    if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace mercer
