#include "mercer/gram/detail/row_cache.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mercer {
namespace {

std::size_t slot_count(std::size_t rows, std::size_t row_bytes, std::size_t budget) {
    return std::clamp<std::size_t>(budget / std::max<std::size_t>(row_bytes, 1), 1,
                                   std::max<std::size_t>(rows, 1));
}

}  // namespace

template <class T>
RowCache<T>::RowCache(std::size_t row_count, std::size_t row_length, std::size_t budget_bytes,
                      std::size_t whole_length)
    : length_(row_length),
      whole_length_(whole_length > 0 ? whole_length : row_length),
      whole_bytes_(slot_count(row_count, whole_length_ * sizeof(T), budget_bytes) * whole_length_ *
                   sizeof(T)),
      slot_of_(row_count, none) {
    shape(row_length, whole_length);
    make_slots();
}

template <class T>
void RowCache<T>::shape(std::size_t row_length, std::size_t whole_length) {
    // Of a row whose every element is another's there must be something to find.
    length_ = whole_length > 0 ? std::max<std::size_t>(row_length, 1) : row_length;
    whole_length_ = whole_length > 0 ? whole_length : row_length;
}

/// As many as there is room for; those in use stay.
template <class T>
void RowCache<T>::make_slots() {
    const std::size_t count = slot_count(slot_of_.size(), whole_length_ * sizeof(T), whole_bytes_);
    owner_.resize(count, 0);
    older_.resize(count, none);
    newer_.resize(count, none);
    const std::size_t bytes = count * length_ * sizeof(T);
    if (bytes <= buffer_.bytes()) return;
    LargeBuffer larger(bytes);
    if (used_ > 0) std::memcpy(larger.as<T>(), buffer_.as<T>(), used_ * length_ * sizeof(T));
    buffer_ = std::move(larger);
}

template <class T>
std::span<const T> RowCache<T>::find(std::size_t row) {
    const std::uint32_t s = slot_of_[row];
    if (s == none) {
        ++misses_;
        return {};
    }
    ++hits_;
    unlink(s);
    link_between(s, newest_, none);
    return slot(s);
}

template <class T>
std::span<T> RowCache<T>::insert(std::size_t row) {
    std::uint32_t s = slot_of_[row];
    if (s == none) {
        if (!free_.empty()) {
            s = free_.back();
            free_.pop_back();
        } else if (newest_dispensable_ == none && used_ < owner_.size()) {
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
    link_between(s, newest_, none);
    return slot(s);
}

template <class T>
void RowCache<T>::mark_dispensable(std::size_t row) {
    const std::uint32_t s = slot_of_[row];
    if (s == none) return;
    unlink(s);
    const std::uint32_t next = newest_dispensable_;
    link_between(s, next, next != none ? newer_[next] : oldest_);
    newest_dispensable_ = s;
}

template <class T>
void RowCache<T>::forget(std::size_t row) {
    const std::uint32_t s = slot_of_[row];
    if (s == none) return;
    slot_of_[row] = none;
    unlink(s);
    free_.push_back(s);
}

template <class T>
void RowCache<T>::reset(std::size_t row_length, std::size_t whole_length) {
    std::ranges::fill(slot_of_, none);
    free_.clear();
    newest_ = oldest_ = newest_dispensable_ = none;
    used_ = 0;
    shape(row_length, whole_length);
    make_slots();
}

template <class T>
void RowCache<T>::narrow(std::span<const std::size_t> elements, std::size_t whole_length) {
    // Slots move towards the front, each to where nothing is needed any more.
    const std::size_t before = length_;
    shape(elements.size(), whole_length);
    T* const data = buffer_.as<T>();
    for (std::size_t s = 0; s < used_; ++s) {
        const T* from = data + s * before;
        T* to = data + s * length_;
        for (std::size_t e = 0; e < elements.size(); ++e) to[e] = from[elements[e]];
    }
    make_slots();
}

template <class T>
void RowCache<T>::unlink(std::uint32_t s) {
    if (s == newest_dispensable_) newest_dispensable_ = older_[s];
    (newer_[s] != none ? older_[newer_[s]] : newest_) = older_[s];
    (older_[s] != none ? newer_[older_[s]] : oldest_) = newer_[s];
}

/// Into the list between two neighbours, either of which may be none.
template <class T>
void RowCache<T>::link_between(std::uint32_t s, std::uint32_t older, std::uint32_t newer) {
    older_[s] = older;
    newer_[s] = newer;
    (older != none ? newer_[older] : oldest_) = s;
    (newer != none ? older_[newer] : newest_) = s;
}

template class RowCache<float>;
template class RowCache<double>;

}  // namespace mercer
