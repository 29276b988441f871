// The operator that remembers rows. Two ways of use are told apart by Keep: a store that several
// problems share holds whole rows, whatever columns one of them wants; the store of one problem
// follows its solver, holds only what will be wanted again, and only the columns still in play.
#include <algorithm>
#include <functional>
#include <limits>

#include "mercer/base/detail/row_sums.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/gram/detail/operators.hpp"

namespace mercer {
namespace {

constexpr std::size_t absent = std::numeric_limits<std::size_t>::max();

bool ascending(std::span<const std::size_t> columns) {
    return std::ranges::adjacent_find(columns, std::ranges::greater_equal()) == columns.end();
}

}  // namespace

template <class T>
CachedOperator<T>::CachedOperator(std::shared_ptr<const SymmetricOperator<T>> inner,
                                  std::size_t budget_bytes, Keep keep)
    : inner_(std::move(inner)), keep_(keep), cache_(inner_->size(), inner_->size(), budget_bytes) {}

/// True when the rows kept have just these columns.
template <class T>
bool CachedOperator<T>::are_kept(const Columns& columns) const {
    if (is_whole() || columns.is_all()) return is_whole() == columns.is_all();
    return std::ranges::equal(columns.some(), *columns_);
}

/// True when the rows kept have all of these columns.
template <class T>
bool CachedOperator<T>::holds(const Columns& columns) const {
    if (is_whole()) return true;
    return !columns.is_all() &&
           std::ranges::all_of(columns.some(), [&](std::size_t c) { return place_[c] != absent; });
}

/// Makes the rows of the cache those of just these columns.
template <class T>
void CachedOperator<T>::lay_out(std::span<const std::size_t> columns) const {
    if (are_kept(columns)) return;
    if (holds(columns)) {
        std::vector<std::size_t> places(columns.begin(), columns.end());
        if (!is_whole()) {
            for (std::size_t& place : places) place = place_[place];
        }
        cache_.narrow(places);
    } else {
        cache_.reset(columns.size());
    }
    columns_.emplace(columns.begin(), columns.end());
    place_.assign(size(), absent);
    for (std::size_t c = 0; c < columns.size(); ++c) place_[columns[c]] = c;
}

/// Makes the rows of the cache whole again, which empties it.
template <class T>
void CachedOperator<T>::make_whole() const {
    if (is_whole()) return;
    cache_.reset(size());
    columns_.reset();
    place_.clear();
}

/// Computes rows into their slots; a row that could not be computed is not kept.
template <class T>
void CachedOperator<T>::fetch(std::span<const std::size_t> missing,
                              std::span<T* const> places) const {
    if (missing.empty()) return;
    try {
        inner_->rows_to(missing, kept_columns(), places);
    } catch (...) {
        for (const std::size_t row : missing) cache_.forget(row);
        throw;
    }
}

template <class T>
void CachedOperator<T>::rows(std::span<const std::size_t> which, MatrixView<T> out) const {
    std::vector<std::size_t> missing;
    std::vector<T*> places;
    for (std::size_t r = 0; r < which.size(); ++r) {
        const std::span<const T> row = is_whole() ? cache_.find(which[r]) : std::span<const T>();
        if (row.empty()) {
            missing.push_back(which[r]);
            places.push_back(out.row(r).data());
        } else {
            std::ranges::copy(row, out.row(r).begin());
        }
    }
    if (missing.empty()) return;
    inner_->rows_to(missing, Columns::all(), places);
    if (keep_ != Keep::everything) return;
    for (std::size_t m = 0; m < missing.size(); ++m) {
        std::copy_n(places[m], size(), cache_.insert(missing[m]).begin());
    }
}

template <class T>
void CachedOperator<T>::tile(std::span<const std::size_t> which,
                             std::span<const std::size_t> columns, MatrixView<T> out) const {
    std::vector<std::size_t> elements(columns.begin(), columns.end());
    const bool held = holds(columns);
    if (held && !is_whole()) {
        for (std::size_t& element : elements) element = place_[element];
    }
    // What a store of all rows keeps it keeps for good, so whole rows: others will want other
    // columns of them.
    const bool all = keep_ == Keep::everything && cache_.slots() == size();
    std::vector<const T*> kept(which.size(), nullptr);
    std::vector<std::size_t> missing;
    std::vector<T*> places;
    for (std::size_t r = 0; r < which.size(); ++r) {
        if (held) kept[r] = cache_.find(which[r]).data();
        if (kept[r] != nullptr) continue;
        missing.push_back(which[r]);
        places.push_back(all ? cache_.insert(which[r]).data() : out.row(r).data());
        if (all) kept[r] = places.back();  // and found there when the same row is asked for again
    }
    if (all) {
        fetch(missing, places);
    } else if (!missing.empty()) {
        inner_->rows_to(missing, columns, places);
    }
    parallel_ranges(which.size(), 64, [&](std::size_t first, std::size_t last) {
        for (std::size_t r = first; r < last; ++r) {
            if (kept[r] == nullptr) continue;
            for (std::size_t c = 0; c < elements.size(); ++c) out(r, c) = kept[r][elements[c]];
        }
    });
}

template <class T>
void CachedOperator<T>::add_kept(std::span<const T* const> rows, std::span<const double> weights,
                                 const Columns& columns, std::span<double> sums) const {
    if (rows.empty()) return;
    if (are_kept(columns)) {
        add_weighted_rows_in_parallel<T>(rows, weights, sums);
        return;
    }
    std::vector<std::size_t> elements(columns.some().begin(), columns.some().end());
    if (!is_whole()) {
        for (std::size_t& element : elements) element = place_[element];
    }
    add_weighted_columns<T>(rows, cache_.row_length(), weights, elements, sums);
}

template <class T>
void CachedOperator<T>::add_rows(std::span<const std::size_t> which,
                                 std::span<const double> weights, const Columns& columns,
                                 const Announcement& again, std::span<double> sums) const {
    if (which.empty() || sums.empty()) return;
    const bool all = keep_ == Keep::everything;
    // Whole rows serve any columns; they are cut only when the space for them has run out.
    if (!all && again && !(holds(columns) && !cache_.is_full())) {
        if (columns.is_all()) {
            make_whole();
        } else if (ascending(columns.some())) {
            lay_out(columns.some());
        }
    }
    const bool held = holds(columns);
    // Rows in use together must not push each other out.
    const std::size_t most = cache_.slots();
    for (std::size_t first = 0; first < which.size(); first += most) {
        const std::size_t last = std::min(first + most, which.size());
        std::vector<const T*> kept;
        std::vector<double> kept_weights, passing_weights;
        std::vector<std::size_t> missing, passing;
        std::vector<T*> places;
        for (std::size_t r = first; r < last; ++r) {
            const T* row = held ? cache_.find(which[r]).data() : nullptr;
            if (row == nullptr && held && (all || (again && (*again)[r] != 0))) {
                missing.push_back(which[r]);
                places.push_back(cache_.insert(which[r]).data());
                row = places.back();
            }
            if (row != nullptr) {
                kept.push_back(row);
                kept_weights.push_back(weights[r]);
            } else {
                passing.push_back(which[r]);
                passing_weights.push_back(weights[r]);
            }
        }
        fetch(missing, places);
        add_kept(kept, kept_weights, columns, sums);
        for (std::size_t r = first; !all && again && r < last; ++r) {
            if ((*again)[r] == 0) cache_.mark_dispensable(which[r]);
        }
        if (!passing.empty())
            inner_->add_rows(passing, passing_weights, columns, std::nullopt, sums);
    }
}

template class CachedOperator<float>;
template class CachedOperator<double>;

}  // namespace mercer
