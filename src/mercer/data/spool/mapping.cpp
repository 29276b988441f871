#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>

#include "mercer/base/error.hpp"
#include "mercer/data/detail/mapping.hpp"

namespace mercer {
namespace {

struct Stretch {
    std::size_t size = 0;
    RowPlace place = RowPlace::file;
};

/// Where files are in the address space, by their first byte.
struct Mappings {
    std::mutex lock;
    std::map<std::uintptr_t, Stretch> stretches;
};

Mappings& mappings() {
    static Mappings all;
    return all;
}

RowPlace place_of(const void* data) {
    const auto place = reinterpret_cast<std::uintptr_t>(data);
    const std::scoped_lock hold(mappings().lock);
    auto found = mappings().stretches.upper_bound(place);
    if (found == mappings().stretches.begin()) return RowPlace::memory;
    --found;
    const bool inside = place < found->first + found->second.size;
    return inside ? found->second.place : RowPlace::memory;
}

/// Whoever lends rows may have put one part of them into memory: what lies there would be lost.
void release_numbers(const void* first, std::size_t bytes) {
    if (place_of(first) == RowPlace::memory) return;
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(first);
    const std::uintptr_t end = begin + bytes;
    // Pages at the ends are shared with rows beside these, and are few.
    const std::uintptr_t from = (begin + page - 1) / page * page;
    if (end / page * page <= from) return;
    madvise(reinterpret_cast<void*>(from), end / page * page - from, MADV_DONTNEED);
}

template <class T>
void release_as(const Rows& rows, std::size_t first, std::size_t count) {
    if (!rows.is_sparse()) {
        const MatrixView<const T> view = rows.dense_view<T>();
        return release_numbers(view.data + first * view.columns, count * view.columns * sizeof(T));
    }
    const SparseView<T> view = rows.sparse_view<T>();
    const std::size_t begin = view.starts[first];
    const std::size_t entries = view.starts[first + count] - begin;
    release_numbers(view.value + begin, entries * sizeof(T));
    release_numbers(view.index + begin, entries * sizeof(std::uint32_t));
}

template <class T>
const void* numbers_of(const Rows& rows) {
    return rows.is_sparse() ? rows.sparse_view<T>().value : rows.dense_view<T>().data;
}

}  // namespace

Mapping::Mapping(int descriptor, std::size_t begin, std::size_t size, RowPlace place,
                 const std::string& name) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t before = begin % page;
    size_ = before + size;
    first_ =
        mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, static_cast<off_t>(begin - before));
    if (first_ == MAP_FAILED) {
        throw InvalidInput(Location{.file = name}, "cannot be mapped into memory");
    }
    data_ = static_cast<const char*>(first_) + before;
    const std::scoped_lock hold(mappings().lock);
    mappings().stretches[reinterpret_cast<std::uintptr_t>(first_)] = {size_, place};
}

Mapping::~Mapping() {
    {
        const std::scoped_lock hold(mappings().lock);
        mappings().stretches.erase(reinterpret_cast<std::uintptr_t>(first_));
    }
    munmap(first_, size_);
}

RowPlace place_of(const Rows& rows) {
    if (rows.nonzeros() == 0) return RowPlace::memory;
    return place_of(rows.is_double() ? numbers_of<double>(rows) : numbers_of<float>(rows));
}

std::size_t mapped_block(const Rows& rows) {
    constexpr std::size_t block_bytes = std::size_t{1} << 25, most = std::size_t{1} << 16;
    const std::size_t row_bytes = rows.nonzeros() / std::max<std::size_t>(rows.size(), 1) *
                                  (rows.is_sparse()   ? 8
                                   : rows.is_double() ? 8
                                                      : 4);
    return std::clamp<std::size_t>(block_bytes / std::max<std::size_t>(row_bytes, 1), 256, most);
}

void for_blocks(const Rows& rows, const std::function<void(std::size_t, std::size_t)>& body) {
    if (!is_mapped(rows)) return body(0, rows.size());
    const std::size_t block = mapped_block(rows);
    for (std::size_t first = 0; first < rows.size(); first += block) {
        const std::size_t count = std::min(block, rows.size() - first);
        body(first, count);
        release_rows(rows, first, count);
    }
}

void release_rows(const Rows& rows, std::size_t first, std::size_t count) {
    if (count == 0 || !is_mapped(rows)) return;
    rows.is_double() ? release_as<double>(rows, first, count)
                     : release_as<float>(rows, first, count);
}

}  // namespace mercer
