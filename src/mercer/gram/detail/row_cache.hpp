// The rows of a matrix that were asked for last, within a budget of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "mercer/base/detail/buffer.hpp"

namespace mercer {

/// Slots of one row each. When another needs the place, rows that may be spared give way first, the
/// one spared for longest before the others; then slots not used so far; then the row unused for
/// longest. The memory is reserved at once but touched only as rows come in.
///
/// Rows may be parts of longer ones, of which others hold the rest: then budget and slots are those
/// of the whole rows, and what is reserved here is this part's share.
template <class T>
class RowCache {
   public:
    /// At least one slot, whatever the budget; never more slots than rows. `whole_length`: of the
    /// rows that these are parts of; 0: they are whole.
    RowCache(std::size_t row_count, std::size_t row_length, std::size_t budget_bytes,
             std::size_t whole_length = 0);

    /// The row if it is here (and marks it used), else an empty span.
    std::span<const T> find(std::size_t row);
    /// Room for a row that is not here, to be filled by the caller.
    std::span<T> insert(std::size_t row);
    /// The row, if it is here, will hardly be wanted again: its memory is better used for another
    /// than memory that was never touched.
    void mark_dispensable(std::size_t row);
    /// Forgets a row, such as one that could not be filled.
    void forget(std::size_t row);
    /// Forgets everything; rows are `row_length` long from now on.
    void reset(std::size_t row_length, std::size_t whole_length = 0);
    /// Keeps of each row only these elements (ascending); the room that is left makes more slots.
    void narrow(std::span<const std::size_t> elements, std::size_t whole_length = 0);
    std::size_t row_length() const { return length_; }

    std::size_t slots() const { return owner_.size(); }
    bool is_full() const {
        return used_ == owner_.size() && free_.empty() && newest_dispensable_ == none;
    }
    std::size_t bytes() const { return buffer_.bytes(); }
    std::uint64_t hits() const { return hits_; }
    std::uint64_t misses() const { return misses_; }

   private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    std::span<T> slot(std::uint32_t s) { return {buffer_.as<T>() + s * length_, length_}; }
    void shape(std::size_t row_length, std::size_t whole_length);
    void make_slots();
    void unlink(std::uint32_t s);
    void link_between(std::uint32_t s, std::uint32_t older, std::uint32_t newer);

    std::size_t length_;
    std::size_t whole_length_;
    std::size_t whole_bytes_;  // of the slots, were they for whole rows
    LargeBuffer buffer_{};
    std::vector<std::uint32_t> slot_of_;  // by row
    std::vector<std::size_t> owner_;      // by slot
    std::vector<std::uint32_t> older_;    // by slot: a list from the newest to the oldest, and
                                          // behind them those that may be spared
    std::vector<std::uint32_t> newer_;
    std::vector<std::uint32_t> free_;  // slots given back
    std::uint32_t newest_ = none;
    std::uint32_t oldest_ = none;
    std::uint32_t newest_dispensable_ = none;
    std::uint32_t used_ = 0;
    std::uint64_t hits_ = 0;
    std::uint64_t misses_ = 0;
};

extern template class RowCache<float>;
extern template class RowCache<double>;

}  // namespace mercer
