// The operator that remembers rows. Two ways of use are told apart by Keep: a store that several
// problems share holds whole rows, whatever columns one of them wants; the store of one problem
// follows its solver, holds only what will be wanted again, and only the columns still in play.
#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "mercer/base/detail/row_sums.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/gram/detail/operators.hpp"

namespace mercer {
namespace {

constexpr std::size_t absent = std::numeric_limits<std::size_t>::max();
constexpr std::size_t elsewhere = absent - 1;  ///< kept by a partner

bool ascending(std::span<const std::size_t> columns) {
    return std::ranges::adjacent_find(columns, std::ranges::greater_equal()) == columns.end();
}

std::size_t own_count(const ColumnShares& shares, std::size_t columns) {
    return shares.is_alone() ? columns : shares.own(Columns::all()).columns.size();
}

}  // namespace

template <class T>
CachedOperator<T>::CachedOperator(std::shared_ptr<const SymmetricOperator<T>> inner,
                                  std::size_t budget_bytes, Keep keep, const Partners* partners)
    : inner_(std::move(inner)),
      keep_(keep),
      shares_(partners, inner_->size()),
      cache_(inner_->size(), own_count(shares_, inner_->size()), budget_bytes, inner_->size()) {
    note_places(Columns::all());
}

template <class T>
void CachedOperator<T>::diagonal(std::span<double> diagonal) const {
    inner_->diagonal(diagonal);
    evaluations_ += size();
}

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

/// Where the columns of this process are in the rows kept, which have them all.
template <class T>
std::vector<std::size_t> CachedOperator<T>::places_of(const Columns& own) const {
    std::vector<std::size_t> places(own.some().begin(), own.some().end());
    if (place_.empty()) return places;
    for (std::size_t& place : places) place = place_[place];
    return places;
}

/// The rows of the cache have these columns from now on.
template <class T>
void CachedOperator<T>::note_places(const Columns& kept) const {
    place_.clear();
    own_kept_.reset();
    if (kept.is_all() && shares_.is_alone()) return;
    place_.assign(size(), absent);
    const std::size_t count = kept.size(size());
    for (std::size_t c = 0; c < count; ++c) place_[kept[c]] = elsewhere;
    own_kept_ = shares_.is_alone() ? std::vector(kept.some().begin(), kept.some().end())
                                   : shares_.own(kept).columns;
    for (std::size_t c = 0; c < own_kept_->size(); ++c) place_[(*own_kept_)[c]] = c;
}

/// Makes the rows of the cache those of just these columns.
template <class T>
void CachedOperator<T>::lay_out(std::span<const std::size_t> columns) const {
    if (are_kept(columns)) return;
    const std::vector<std::size_t> own = shares_.is_alone()
                                             ? std::vector(columns.begin(), columns.end())
                                             : shares_.own(columns).columns;
    if (holds(columns)) {
        cache_.narrow(places_of(own), columns.size());
    } else {
        cache_.reset(own.size(), columns.size());
    }
    columns_.emplace(columns.begin(), columns.end());
    note_places(columns);
}

/// Makes the rows of the cache whole again, which empties it.
template <class T>
void CachedOperator<T>::make_whole() const {
    if (is_whole()) return;
    cache_.reset(own_count(shares_, size()), size());
    columns_.reset();
    note_places(Columns::all());
}

/// Computes rows into their slots; a row that could not be computed is not kept.
template <class T>
void CachedOperator<T>::fetch(std::span<const std::size_t> missing,
                              std::span<T* const> places) const {
    if (missing.empty()) return;
    try {
        inner_->rows_to(missing, own_kept(), places);
        evaluations_ += missing.size() * (is_whole() ? size() : columns_->size());
    } catch (...) {
        for (const std::size_t row : missing) cache_.forget(row);
        throw;
    }
}

template <class T>
void CachedOperator<T>::rows(std::span<const std::size_t> which, MatrixView<T> out) const {
    if (shares_.is_alone()) return own_rows(which, out);
    Matrix<T> own(which.size(), shares_.own(Columns::all()).columns.size());
    own_rows(which, own.view());
    shares_.join(Columns::all(), std::as_const(own).view(), out);
}

template <class T>
void CachedOperator<T>::own_rows(std::span<const std::size_t> which, MatrixView<T> out) const {
    std::vector<std::size_t> missing;
    std::vector<T*> places;
    for (std::size_t r = 0; r < which.size(); ++r) {
        const std::span<const T> row = is_whole() ? cache_.find(which[r]) : std::span<const T>();
        if (row.empty()) {
            missing.push_back(which[r]);
            places.push_back(out.row(r).data());
        } else {
            std::copy_n(row.begin(), out.columns, out.row(r).begin());
        }
    }
    if (missing.empty()) return;
    if (shares_.is_alone()) {
        inner_->rows_to(missing, Columns::all(), places);
    } else {
        inner_->rows_to(missing, shares_.own(Columns::all()).columns, places);
    }
    evaluations_ += missing.size() * size();
    if (keep_ != Keep::everything) return;
    for (std::size_t m = 0; m < missing.size(); ++m) {
        std::copy_n(places[m], out.columns, cache_.insert(missing[m]).begin());
    }
}

template <class T>
void CachedOperator<T>::tile(std::span<const std::size_t> which,
                             std::span<const std::size_t> columns, MatrixView<T> out) const {
    if (shares_.is_alone()) return own_tile(which, {columns, columns}, out);
    const std::vector<std::size_t> some = shares_.own(columns).columns;
    Matrix<T> own(which.size(), some.size());
    own_tile(which, {columns, some}, own.view());
    shares_.join(columns, std::as_const(own).view(), out);
}

template <class T>
void CachedOperator<T>::own_tile(std::span<const std::size_t> which, const Request& columns,
                                 MatrixView<T> out) const {
    const bool held = holds(columns.asked);
    const std::vector<std::size_t> elements =
        held ? places_of(columns.own) : std::vector<std::size_t>();
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
        inner_->rows_to(missing, columns.own, places);
        evaluations_ += missing.size() * columns.asked.size(size());
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
                                 const Request& columns, std::span<double> sums) const {
    if (rows.empty()) return;
    if (are_kept(columns.asked)) {
        add_weighted_rows_in_parallel<T>(rows, weights, sums);
        return;
    }
    const std::size_t whole = is_whole() ? size() : columns_->size();
    add_weighted_columns<T>(rows, cache_.row_length(), weights, places_of(columns.own), sums,
                            whole_rows_are_quicker(columns.asked.size(size()), whole));
}

template <class T>
void CachedOperator<T>::add_rows(std::span<const std::size_t> which,
                                 std::span<const double> weights, const Columns& columns,
                                 const Announcement& again, std::span<double> sums) const {
    if (which.empty() || sums.empty()) return;
    // Whole rows serve any columns; they are cut only when the space for them has run out.
    if (keep_ != Keep::everything && again && !(holds(columns) && !cache_.is_full())) {
        if (columns.is_all()) {
            make_whole();
        } else if (ascending(columns.some())) {
            lay_out(columns.some());
        }
    }
    if (shares_.is_alone()) return add_own(which, weights, {columns, columns}, again, sums);
    const OwnColumns own = shares_.own(columns);
    Matrix<double> part(1, own.columns.size());
    for (std::size_t c = 0; c < own.places.size(); ++c) part(0, c) = sums[own.places[c]];
    add_own(which, weights, {columns, own.columns}, again, part.row(0));
    shares_.join(columns, std::as_const(part).view(),
                 MatrixView<double>(sums.data(), 1, sums.size()));
}

template <class T>
void CachedOperator<T>::add_own(std::span<const std::size_t> which, std::span<const double> weights,
                                const Request& columns, const Announcement& again,
                                std::span<double> sums) const {
    const bool all = keep_ == Keep::everything;
    const bool held = holds(columns.asked);
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
        if (passing.empty()) continue;
        inner_->add_rows(passing, passing_weights, columns.own, std::nullopt, sums);
        evaluations_ += passing.size() * columns.asked.size(size());
    }
}

template class CachedOperator<float>;
template class CachedOperator<double>;

}  // namespace mercer
