// Numbers that stay in a file and are fetched by the system when they are looked at.
#pragma once

#include <cstddef>
#include <string>

#include "mercer/data/rows.hpp"

namespace mercer {

/// Bytes of a file in the address space; whoever asks `place_of` for rows over them is told.
class Mapping {
   public:
    /// `size` bytes of an open file from `begin` on; `place` says what kind of file it is, and
    /// `name` stands for it in messages. The descriptor may be closed afterwards.
    Mapping(int descriptor, std::size_t begin, std::size_t size, RowPlace place,
            const std::string& name);
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping();

    const char* data() const { return data_; }

   private:
    void* first_ = nullptr;
    std::size_t size_ = 0;
    const char* data_ = nullptr;
};

/// True for rows that are no part of this process's memory.
inline bool is_mapped(const Rows& rows) {
    return place_of(rows) != RowPlace::memory;
}

/// Says that these rows of mapped ones are not looked at for now, so that they take no memory.
void release_rows(const Rows& rows, std::size_t first, std::size_t count);

/// How many rows are looked at together where all are gone over: some 32 MB of them.
std::size_t mapped_block(const Rows& rows);

}  // namespace mercer
