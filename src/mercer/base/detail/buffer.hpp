// Memory for big stores of numbers.
#pragma once

#include <cstddef>
#include <utility>

namespace mercer {

/// Bytes taken straight from the system: touched only when used, on huge pages where the system has
/// them (page faults of a fresh multi-gigabyte store otherwise cost as much as the kernel values
/// put into it). What they hold at first is not specified. Throws std::bad_alloc.
class LargeBuffer {
   public:
    LargeBuffer() = default;
    explicit LargeBuffer(std::size_t bytes);
    ~LargeBuffer();
    LargeBuffer(LargeBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          bytes_(std::exchange(other.bytes_, 0)),
          room_(std::exchange(other.room_, 0)) {}
    LargeBuffer& operator=(LargeBuffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        std::swap(room_, other.room_);
        return *this;
    }

    std::size_t bytes() const { return bytes_; }
    template <class T>
    T* as() const {
        return static_cast<T*>(data_);
    }

   private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t room_ = 0;  ///< bytes really held
};

/// While one lives, buffers given up are kept for the next ones that fit them, whose pages then
/// need not be fetched and cleared again: for work that makes many stores one after another. When
/// the last one ends all goes back to the system. Without one the first 16 MiB of two buffers at
/// most are kept, for the next small work.
class KeepBuffers {
   public:
    KeepBuffers();
    ~KeepBuffers();
    KeepBuffers(const KeepBuffers&) = delete;
    KeepBuffers& operator=(const KeepBuffers&) = delete;
};

}  // namespace mercer
