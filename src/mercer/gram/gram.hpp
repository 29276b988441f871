// Blocks of the Gram matrix K_ij = k(x_i, z_j) of any kernel on dense or sparse rows.
//
//   Gram<float> gram(Kernel::parse("rbf(gamma=0.5) + linear"), data.x);
//   Matrix<float> k(gram.size(), gram.size());
//   gram.matrix(k.view());                          // the whole of it
//   auto test = gram.prepare(more.x);
//   gram.block(test, gram.reference(), out);        // test rows against training rows
//
// The expression is compiled once (gram/detail/plan.hpp); rows are prepared once
// (gram/detail/points.hpp); a block is then cut into tiles that fit the second-level cache, each
// filled by matrix products and turned into kernel values by one pass of vector instructions.
// Values do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/operator.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer MERCER_API {

/// A kernel settled on data: rules (gamma=scale) become numbers, names of columns become positions.
/// What every engine made of this kernel and these rows works with; the kernel itself when nothing
/// waits for data. `names` are those of the columns, or empty. A model inside (fisher(gmm)) is
/// fitted to the rows; one for each class (top) needs the rows' `classes`, counted from 0. Throws
/// InvalidInput when the kernel asks for columns, or classes, that are not there.
Kernel resolve(const Kernel& kernel, const Rows& rows, std::span<const std::string> names = {},
               std::span<const std::int32_t> classes = {});

/// True when a model inside waits for rows with classes, not for rows alone.
bool waits_for_classes(const Kernel& kernel);

template <class T>
class Gram;

/// Rows prepared for one Gram engine. A value; copies share everything.
template <class T>
class Points {
   public:
    Points() = default;
    std::size_t size() const;

    struct Data;

   private:
    friend class Gram<T>;
    explicit Points(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
    std::shared_ptr<const Data> data_;
};

/// Which part of a product is computed where several processes share it: strips of columns in turn.
struct Turn {
    std::size_t number = 0;  ///< of this one
    std::size_t count = 1;   ///< how many there are
};

/// One kernel on one reference sample, usually the training set. The sample settles what the kernel
/// leaves open: gamma=scale, column names, the centre of mass for center(k).
/// T is the precision of the values: float (about 1e-6 relative) or double (about 1e-14).
template <class T>
class Gram {
   public:
    /// Throws InvalidInput when the kernel does not fit the rows. `names` are the columns' names,
    /// for kernels that use them.
    Gram(const Kernel& kernel, const Rows& reference, std::span<const std::string> names = {},
         const Progress& progress = {});

    /// The kernel with everything resolved.
    const Kernel& kernel() const;
    std::size_t size() const;     ///< rows of the reference sample
    std::size_t columns() const;  ///< columns of its rows
    const Points<T>& reference() const;
    /// Whether the kernel reads products of the rows as they are and nothing else, so that sums of
    /// its values over rows cost no more than the rows.
    bool is_plain() const;

    /// Other rows, made ready once and used in many blocks. They must have as many columns as the
    /// reference, or fewer (the missing ones count as 0).
    Points<T> prepare(const Rows& rows) const;
    /// Some of the points, in the order given. `as_columns` keeps them usable as the second
    /// argument of `block`; without it they are cheaper and only good as the first.
    Points<T> select(const Points<T>& points, std::span<const std::size_t> positions,
                     bool as_columns = true) const;
    /// The same for points that will meet only others selected from the same ones, by this
    /// function: leaves out what these never need of each other.
    Points<T> select_among(const Points<T>& points, std::span<const std::size_t> positions,
                           bool as_columns = true) const;

    /// An order of some points in which near ones stand together, as positions in `which`, where
    /// the kernel is nothing between most others: `add_product` then skips most of them. Empty
    /// where that is not so.
    std::vector<std::size_t> near_order(const Points<T>& points,
                                        const Columns& which = Columns::all()) const;
    /// Whether `add_product` skips most pairs of these points, in the order that they have.
    bool is_local(const Points<T>& points) const;

    /// out(i, j) = k(x_i, z_j) for all i and j.
    void block(const Points<T>& x, const Points<T>& z, MatrixView<T> out) const;
    /// The same for points of which most pairs are out of reach (`is_local`), with the column of
    /// z_j at places[j]: values that count as 0 in `add_product` are 0. Returns how many were
    /// computed.
    std::uint64_t near_block(const Points<T>& x, const Points<T>& z,
                             std::span<const std::size_t> places, MatrixView<T> out) const;
    /// The same as `block` with a place of its own for each row: out[i][j] = k(x_i, z_j).
    void rows_to(const Points<T>& x, const Points<T>& z, std::span<T* const> out) const;
    /// A part of `block`, on the calling thread: out(i, j) = k(x_{first_x + i}, z_{first_z + j}).
    /// `first_z` is a multiple of `window_step`.
    void window(const Points<T>& x, std::size_t first_x, const Points<T>& z, std::size_t first_z,
                MatrixView<T> out) const;
    static constexpr std::size_t window_step = 64;
    /// sums[j] += Σ_i weights[i] k(x_i, z_j), without a row being stored anywhere. Values of k that
    /// are nothing beside k(x, x) (less than 2⁻⁴⁰ of it, in double precision 2⁻⁵³, of kernels that
    /// fall off with the distance) count as 0, and blocks of them are not computed. Returns how
    /// many values were.
    std::uint64_t add_product(const Points<T>& x, const Points<T>& z,
                              std::span<const double> weights, std::span<double> sums) const;
    /// The same of some of the points: sums[j] += Σ_r weights[r] k(x_i, z_j), i = which[r]. Of the
    /// columns only those whose turn it is, in strips of `strip()`; kernels whose products cost
    /// next to nothing (`linear` and others with few features) take no turns.
    std::uint64_t add_product(const Points<T>& x, std::span<const std::size_t> which,
                              const Points<T>& z, std::span<const double> weights,
                              std::span<double> sums, Turn turn = {}) const;
    /// Rows with k(x_i, x_j) = φ_i·φ_j of some of the points, for linear kernels and others whose
    /// features can be written down; nothing for all others.
    std::optional<ExplicitRows<T>> explicit_rows(const Points<T>& x, const Columns& which) const;
    /// out[i] = k(x_i, x_i).
    void diagonal(const Points<T>& x, std::span<double> out) const;
    /// The symmetric matrix of the reference sample, each pair computed once. Throws Cancelled when
    /// `progress` says so.
    void matrix(MatrixView<T> out, const Progress& progress = {}) const;
    /// Rows `first` … of that matrix, to the same bits: all of its columns, where the matrix itself
    /// takes too much memory. `first` is a multiple of `strip()`, and out.rows no more than that.
    void matrix_rows(std::size_t first, MatrixView<T> out) const;
    std::size_t strip() const;

   private:
    struct State;
    Points<T> gathered(const Points<T>& points, std::span<const std::size_t> positions,
                       bool as_columns, bool among) const;
    std::shared_ptr<const State> state_;
};

extern template class Gram<float>;
extern template class Gram<double>;

}  // namespace mercer
