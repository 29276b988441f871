#include "mercer/gram/row_cache.hpp"

#include <algorithm>

namespace mercer {
namespace {

std::size_t slot_count(std::size_t rows, std::size_t row_bytes, std::size_t budget) {
    return std::clamp<std::size_t>(budget / std::max<std::size_t>(row_bytes, 1), 1,
                                   std::max<std::size_t>(rows, 1));
}

}  // namespace

template <class T>
RowCache<T>::RowCache(std::size_t row_count, std::size_t row_length, std::size_t budget_bytes)
    : length_(row_length),
      buffer_(slot_count(row_count, row_length * sizeof(T), budget_bytes) * row_length * sizeof(T)),
      slot_of_(row_count, none),
      owner_(slot_count(row_count, row_length * sizeof(T), budget_bytes), 0),
      older_(owner_.size(), none),
      newer_(owner_.size(), none) {}

template <class T>
std::span<const T> RowCache<T>::find(std::size_t row) {
    const std::uint32_t s = slot_of_[row];
    if (s == none) {
        ++misses_;
        return {};
    }
    ++hits_;
    unlink(s);
    link_newest(s);
    return slot(s);
}

template <class T>
std::span<T> RowCache<T>::insert(std::size_t row) {
    std::uint32_t s = slot_of_[row];
    if (s == none) {
        if (used_ < owner_.size()) {
            s = used_++;
        } else {
            s = oldest_;
            slot_of_[owner_[s]] = none;
            unlink(s);
        }
        owner_[s] = row;
        slot_of_[row] = s;
    } else {
        unlink(s);
    }
    link_newest(s);
    return slot(s);
}

template <class T>
void RowCache<T>::clear() {
    std::ranges::fill(slot_of_, none);
    newest_ = oldest_ = none;
    used_ = 0;
}

template <class T>
void RowCache<T>::unlink(std::uint32_t s) {
    (newer_[s] != none ? older_[newer_[s]] : newest_) = older_[s];
    (older_[s] != none ? newer_[older_[s]] : oldest_) = newer_[s];
}

template <class T>
void RowCache<T>::link_newest(std::uint32_t s) {
    newer_[s] = none;
    older_[s] = newest_;
    (newest_ != none ? newer_[newest_] : oldest_) = s;
    newest_ = s;
}

template class RowCache<float>;
template class RowCache<double>;

}  // namespace mercer
