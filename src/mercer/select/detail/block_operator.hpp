// Some rows and columns of a matrix that is there, as the operator of a solver.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "mercer/base/detail/row_sums.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/operator.hpp"

namespace mercer {

/// A run of places one after another.
struct Stretch {
    std::size_t from = 0;
    std::size_t size = 0;
};

inline std::vector<Stretch> stretches_of(std::span<const std::size_t> places) {
    std::vector<Stretch> result;
    for (const std::size_t p : places) {
        if (!result.empty() && result.back().from + result.back().size == p) {
            ++result.back().size;
        } else {
            result.push_back({p, 1});
        }
    }
    return result;
}

/// K(i, j) = matrix(places[i], places[j]), read where it lies: for places that lie together in long
/// stretches, as those of folds and classes do once rows are in their order.
template <class T>
class BlockOperator final : public SymmetricOperator<T> {
   public:
    /// `matrix` and `places` must live as long as this.
    BlockOperator(MatrixView<const T> matrix, std::span<const std::size_t> places)
        : matrix_(matrix), places_(places), stretches_(stretches_of(places)) {}

    std::size_t size() const override { return places_.size(); }
    void diagonal(std::span<double> diagonal) const override {
        for (std::size_t i = 0; i < size(); ++i) {
            diagonal[i] = static_cast<double>(row(i)[places_[i]]);
        }
    }
    void rows(std::span<const std::size_t> which, MatrixView<T> out) const override {
        for (std::size_t r = 0; r < which.size(); ++r) {
            T* to = out.row(r).data();
            for (const Stretch& s : stretches_)
                to = std::copy_n(row(which[r]) + s.from, s.size, to);
        }
    }
    void tile(std::span<const std::size_t> which, std::span<const std::size_t> columns,
              MatrixView<T> out) const override {
        std::vector<std::uint32_t> at(columns.size());
        for (std::size_t c = 0; c < at.size(); ++c) {
            at[c] = static_cast<std::uint32_t>(places_[columns[c]]);
        }
        // Columns in no order touch nearly every line of a row: the next is fetched in its own.
        const bool most_lines = 16 * columns.size() > size();
        for (std::size_t r = 0; r < which.size(); ++r) {
            if (most_lines && r + 1 < which.size()) ask_for(row(which[r + 1]));
            const T* const from = row(which[r]);
            T* const to = out.row(r).data();
            for (std::size_t c = 0; c < at.size(); ++c) to[c] = from[at[c]];
        }
    }
    void add_rows(std::span<const std::size_t> which, std::span<const double> weights,
                  const Columns& columns, const Announcement&,
                  std::span<double> sums) const override {
        std::vector<const T*> rows(which.size());
        for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = row(which[r]);
        if (columns.is_all()) return add_whole(rows, weights, sums);
        const std::span<const std::size_t> some = columns.some();
        if (8 * some.size() > size()) {  // reading whole rows is quicker than picking columns
            std::vector<double> whole(size(), 0.0);
            add_whole(rows, weights, whole);
            for (std::size_t c = 0; c < some.size(); ++c) sums[c] += whole[some[c]];
            return;
        }
        std::vector<std::size_t> at(some.size());
        for (std::size_t c = 0; c < at.size(); ++c) at[c] = places_[some[c]];
        add_weighted_columns<T>(rows, matrix_.columns, weights, at, sums);
    }
    std::uint64_t evaluations() const override { return 0; }

   private:
    const T* row(std::size_t i) const { return matrix_.row(places_[i]).data(); }

    void ask_for(const T* row) const {
        constexpr std::size_t line = 64 / sizeof(T);
        for (const Stretch& s : stretches_) {
            for (std::size_t k = 0; k < s.size; k += line) __builtin_prefetch(row + s.from + k);
        }
    }

    void add_whole(std::span<const T* const> rows, std::span<const double> weights,
                   std::span<double> sums) const {
        std::size_t done = 0;
        std::vector<const T*> shifted(rows.size());
        for (const Stretch& s : stretches_) {
            for (std::size_t r = 0; r < rows.size(); ++r) shifted[r] = rows[r] + s.from;
            add_weighted_rows_in_parallel<T>(shifted, weights, sums.subspan(done, s.size));
            done += s.size;
        }
    }

    MatrixView<const T> matrix_;
    std::span<const std::size_t> places_;
    std::vector<Stretch> stretches_;
};

}  // namespace mercer
