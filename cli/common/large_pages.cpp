// Memory of the program: what is large lies on huge pages where the system has them. A page is
// fetched and cleared when it is first touched, and 512 small ones cost more than twice what a huge
// one does; a store of a gigabyte otherwise takes as long to touch as to compute. Stores made by
// the library itself ask for them (base/detail/buffer.hpp); here it is every large vector.
// Sanitizers have a family of these functions of their own, of which none can be replaced alone:
// memory of their `new` would come back to our `delete`.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

void prefer_huge_pages(void* memory, std::size_t bytes) {
    constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
    const auto first = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
    const auto last = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / page * page;
    if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace

void* operator new(std::size_t bytes) {
    constexpr std::size_t large = std::size_t{4} << 20;
    for (;;) {
        if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) {
            if (bytes >= large) prefer_huge_pages(memory, bytes);
            return memory;
        }
        const std::new_handler handler = std::get_new_handler();
        if (handler == nullptr) throw std::bad_alloc();
        handler();
    }
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
#endif
