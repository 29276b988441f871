// The x_1 … x_n of every formula.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/data/objects.hpp"

namespace mercer MERCER_API {

/// Compressed sparse rows owned by someone else: row i has the entries starts[i] … starts[i+1]-1,
/// with columns strictly increasing.
template <class T>
struct SparseView {
    std::size_t rows = 0;
    std::size_t columns = 0;
    const std::size_t* starts = nullptr;
    const std::uint32_t* index = nullptr;
    const T* value = nullptr;

    std::size_t nonzeros() const { return rows == 0 ? 0 : starts[rows] - starts[0]; }
    std::span<const std::uint32_t> row_index(std::size_t i) const {
        return {index + starts[i], starts[i + 1] - starts[i]};
    }
    std::span<const T> row_value(std::size_t i) const {
        return {value + starts[i], starts[i + 1] - starts[i]};
    }
};

/// Rows of numbers, dense or sparse, in single or double precision; beside the numbers, of which
/// there may be none, each row may have texts and graphs, in named columns. A value: immutable, and
/// cheap to copy because copies share everything.
class Rows {
   public:
    Rows() = default;

    /// Dense rows, one after another. values.size() must be a multiple of columns.
    static Rows dense(std::vector<float> values, std::size_t columns);
    static Rows dense(std::vector<double> values, std::size_t columns);

    /// Sparse rows; starts has one entry more than there are rows. Throws InvalidInput unless
    /// starts ascend and the columns of each row are strictly increasing and below `columns`.
    static Rows sparse(std::vector<std::size_t> starts, std::vector<std::uint32_t> index,
                       std::vector<float> values, std::size_t columns);
    static Rows sparse(std::vector<std::size_t> starts, std::vector<std::uint32_t> index,
                       std::vector<double> values, std::size_t columns);

    /// The same without a copy: rows over numbers that somebody else keeps, unchanged, as long as
    /// `owner` lives. The starts of sparse rows are few and always copied. Selections and
    /// conversions of such rows own their numbers.
    static Rows borrow(MatrixView<const float> values, std::shared_ptr<const void> owner);
    static Rows borrow(MatrixView<const double> values, std::shared_ptr<const void> owner);
    static Rows borrow(std::vector<std::size_t> starts, std::span<const std::uint32_t> index,
                       std::span<const float> values, std::size_t columns,
                       std::shared_ptr<const void> owner);
    static Rows borrow(std::vector<std::size_t> starts, std::span<const std::uint32_t> index,
                       std::span<const double> values, std::size_t columns,
                       std::shared_ptr<const void> owner);

    std::size_t size() const;
    std::size_t columns() const;  ///< of numbers
    bool is_sparse() const;
    bool is_double() const;
    std::size_t nonzeros() const;  ///< stored entries: size × columns when dense
    std::size_t bytes() const;     ///< memory held by the numbers, borrowed ones included

    /// The numbers themselves. Only for the form that is_sparse and is_double say.
    template <class T>
    MatrixView<const T> dense_view() const;
    template <class T>
    SparseView<T> sparse_view() const;

    /// The columns of texts and graphs, each as long as there are rows.
    std::span<const ObjectColumn> objects() const;
    /// The column of this name, or null.
    const ObjectColumn* object(std::string_view name) const;
    std::vector<ObjectName> object_names() const;
    /// The same numbers with these columns of objects in place of any other. Rows without any
    /// numbers become as many as there are objects. Throws InvalidInput when lengths differ or two
    /// columns have one name.
    Rows with_objects(std::vector<ObjectColumn> objects) const;

    /// Row i as full doubles, whatever the form; out.size() == columns().
    void copy_row(std::size_t i, std::span<double> out) const;

    /// Where row i stood in the set it was selected from; i itself for rows never selected. It is
    /// the row's identity for precomputed kernels and for messages.
    std::size_t origin(std::size_t i) const;

    /// The rows at these positions, in this order, repeats allowed. Origins are kept.
    Rows select(std::span<const std::size_t> positions) const;
    /// `count` rows from `first` on. Their numbers are not copied.
    Rows slice(std::size_t first, std::size_t count) const;
    /// The same rows with these origins, one per row.
    Rows with_origins(std::vector<std::size_t> origins) const;
    /// Only these columns of numbers, in this order; objects stay.
    Rows select_columns(std::span<const std::size_t> columns) const;
    /// The same rows with more columns, all zero: test files often lack the last features.
    Rows widened(std::size_t columns) const;

    /// These rows, copied if their numbers were borrowed: for what outlives the lender.
    Rows owned() const;
    Rows to_dense() const;
    Rows to_sparse() const;
    Rows to_float() const;
    Rows to_double() const;

    struct Storage;

   private:
    explicit Rows(std::shared_ptr<const Storage> storage) : storage_(std::move(storage)) {}
    std::shared_ptr<const Storage> storage_;
};

enum class RowPlace {
    memory,
    file,   ///< left in the file they were read from
    spool,  ///< in a temporary file, because memory was not to hold them
};
/// Where the numbers are.
RowPlace place_of(const Rows& rows);
/// Calls body(first, count) for all rows: at once where they are in memory; else for one block
/// after another, each of which is given back, so that they never take much memory.
void for_blocks(const Rows& rows, const std::function<void(std::size_t, std::size_t)>& body);

/// The rows of a, then those of b. Sparse when one of them is, in double precision when one of them
/// is, as wide as the wider; every row's origin is its new place. Both must have the same columns
/// of objects.
Rows concatenate(const Rows& a, const Rows& b);

/// Throws InvalidInput when there are texts or graphs beside the numbers: `what` ("scaling", "the
/// file") can do nothing with them.
void require_numbers_only(const Rows& rows, const std::string& what);

/// Rows given by a program may hold what no reader would let pass: throws InvalidInput that names
/// the first row and column whose value is not finite. A kernel of distances would not notice by
/// itself: the rounding guard max(‖x−z‖², 0) turns NaN into 0.
void require_finite(const Rows& rows);

/// Is single precision enough? The first column in which rounding to float may move a value by more
/// than a 100000th of what the column's values differ by, so that differences between rows are no
/// longer what they were: numbers that vary little around a large value, such as times in seconds.
/// In rows that are float already a column that is constant, but not zero, counts as hurt: what it
/// varied by may be gone.
std::optional<std::size_t> column_hurt_by_single(const Rows& rows);

}  // namespace mercer
