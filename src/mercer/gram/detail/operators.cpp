#include "mercer/gram/detail/operators.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "mercer/base/detail/row_sums.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/gram/detail/collapse.hpp"
#include "mercer/gram/locality/detail/local_operator.hpp"
#include "mercer/gram/operators.hpp"

// The attribute once more: function templates take their visibility from where they are defined.
namespace mercer MERCER_API {
namespace {

template <class T>
void copy_columns(std::span<const T> row, std::span<const std::size_t> columns, std::span<T> out) {
    for (std::size_t c = 0; c < columns.size(); ++c) out[c] = row[columns[c]];
}

}  // namespace

// ---- GramOperator

template <class T>
void GramOperator<T>::diagonal(std::span<double> diagonal) const {
    gram_.diagonal(points_, diagonal);
    evaluations_ += size();
}

template <class T>
void GramOperator<T>::rows(std::span<const std::size_t> which, MatrixView<T> out) const {
    gram_.block(gram_.select_among(points_, which, false), points_, out);
    evaluations_ += which.size() * size();
}

template <class T>
void GramOperator<T>::tile(std::span<const std::size_t> which, std::span<const std::size_t> columns,
                           MatrixView<T> out) const {
    gram_.block(gram_.select_among(points_, which, false), gram_.select_among(points_, columns),
                out);
    evaluations_ += which.size() * columns.size();
}

template <class T>
const Points<T>& GramOperator<T>::columns_of(const Columns& columns) const {
    if (columns.is_all()) return points_;
    const std::span<const std::size_t> some = columns.some();
    auto found = std::ranges::find_if(
        selections_, [&](const Selection& s) { return std::ranges::equal(some, s.columns); });
    if (found == selections_.end()) {
        --found;
        *found = {.columns = {some.begin(), some.end()},
                  .points = gram_.select_among(points_, some)};
    }
    std::rotate(selections_.begin(), found, found + 1);
    return selections_.front().points;
}

template <class T>
void GramOperator<T>::rows_to(std::span<const std::size_t> which, const Columns& columns,
                              std::span<T* const> out) const {
    if (which.empty() || columns.size(size()) == 0) return;
    const Points<T>& z = columns_of(columns);
    gram_.rows_to(gram_.select_among(points_, which, false), z, out);
    evaluations_ += which.size() * z.size();
}

template <class T>
void GramOperator<T>::add_rows(std::span<const std::size_t> which, std::span<const double> weights,
                               const Columns& columns, const Announcement&,
                               std::span<double> sums) const {
    if (which.empty() || sums.empty()) return;
    const Points<T>& z = columns_of(columns);
    evaluations_ += gram_.add_product(points_, which, z, weights, sums);
}

/// In weight space where the kernel has explicit features.
template <class T>
void GramOperator<T>::apply(std::span<const double> x, std::span<double> y) const {
    if (!collapses(gram_.kernel())) return SymmetricOperator<T>::apply(x, y);
    std::ranges::fill(y, 0.0);
    gram_.add_product(points_, points_, x, y);
    evaluations_ += size();
}

// ---- StoredOperator

template <class T>
StoredOperator<T>::StoredOperator(const Gram<T>& gram, const Progress& progress)
    : size_(gram.size()), buffer_(size_ * size_ * sizeof(T)) {
    gram.matrix({buffer_.as<T>(), size_, size_}, progress);
    evaluations_ = std::uint64_t{size_} * (size_ + 1) / 2;
}

template <class T>
StoredOperator<T>::StoredOperator(MatrixView<const T> matrix)
    : size_(matrix.rows), buffer_(matrix.rows * matrix.columns * sizeof(T)) {
    if (matrix.rows != matrix.columns) {
        throw InvalidInput("a Gram matrix must be square, not " + std::to_string(matrix.rows) +
                           " × " + std::to_string(matrix.columns));
    }
    T* to = buffer_.as<T>();
    for (std::size_t i = 0; i < size_; ++i) {
        for (std::size_t j = 0; j < size_; ++j) {
            const auto a = static_cast<double>(matrix(i, j));
            const auto b = static_cast<double>(matrix(j, i));
            const auto place = [&] {
                return "element (" + std::to_string(i + 1) + ", " + std::to_string(j + 1) + ")";
            };
            if (!std::isfinite(a)) throw InvalidInput(place() + " of the matrix is not finite");
            if (std::abs(a - b) > 1e-5 * std::max({std::abs(a), std::abs(b), 1e-30})) {
                throw InvalidInput("a Gram matrix must be symmetric, but " + place() + " is " +
                                   format_number(a) + " and its mirror image " + format_number(b));
            }
            to[i * size_ + j] = static_cast<T>((a + b) / 2);
        }
    }
}

template <class T>
void StoredOperator<T>::diagonal(std::span<double> diagonal) const {
    for (std::size_t i = 0; i < size_; ++i) diagonal[i] = static_cast<double>(matrix()(i, i));
}

template <class T>
void StoredOperator<T>::rows(std::span<const std::size_t> which, MatrixView<T> out) const {
    parallel_for(which.size(), [&](std::size_t r) {
        std::ranges::copy(matrix().row(which[r]), out.row(r).begin());
    });
}

template <class T>
void StoredOperator<T>::tile(std::span<const std::size_t> which,
                             std::span<const std::size_t> columns, MatrixView<T> out) const {
    parallel_for(which.size(),
                 [&](std::size_t r) { copy_columns(matrix().row(which[r]), columns, out.row(r)); });
}

template <class T>
void StoredOperator<T>::add_rows(std::span<const std::size_t> which,
                                 std::span<const double> weights, const Columns& columns,
                                 const Announcement&, std::span<double> sums) const {
    std::vector<const T*> pointers(which.size());
    for (std::size_t r = 0; r < which.size(); ++r) pointers[r] = matrix().row(which[r]).data();
    if (columns.is_all()) {
        add_weighted_rows_in_parallel<T>(pointers, weights, sums);
    } else {
        add_weighted_columns<T>(pointers, size_, weights, columns.some(), sums);
    }
}

// ---- SubsetOperator

template <class T>
SubsetOperator<T>::SubsetOperator(std::shared_ptr<const SymmetricOperator<T>> inner,
                                  std::vector<std::size_t> positions)
    : inner_(std::move(inner)), positions_(std::move(positions)) {
    for (const std::size_t p : positions_) {
        if (p >= inner_->size()) {
            throw InvalidInput("position " + std::to_string(p) + " is beyond the " +
                               std::to_string(inner_->size()) + " rows of the matrix");
        }
    }
}

template <class T>
std::vector<std::size_t> SubsetOperator<T>::translate(std::span<const std::size_t> which) const {
    std::vector<std::size_t> result(which.size());
    std::ranges::transform(which, result.begin(), [&](std::size_t i) { return positions_[i]; });
    return result;
}

template <class T>
void SubsetOperator<T>::diagonal(std::span<double> diagonal) const {
    std::vector<double> whole(inner_->size());
    inner_->diagonal(whole);
    for (std::size_t i = 0; i < positions_.size(); ++i) diagonal[i] = whole[positions_[i]];
}

template <class T>
void SubsetOperator<T>::rows(std::span<const std::size_t> which, MatrixView<T> out) const {
    inner_->tile(translate(which), positions_, out);
}

template <class T>
void SubsetOperator<T>::tile(std::span<const std::size_t> which,
                             std::span<const std::size_t> columns, MatrixView<T> out) const {
    inner_->tile(translate(which), translate(columns), out);
}

template <class T>
void SubsetOperator<T>::add_rows(std::span<const std::size_t> which,
                                 std::span<const double> weights, const Columns& columns,
                                 const Announcement& again, std::span<double> sums) const {
    const auto inner_columns = columns.is_all() ? positions_ : translate(columns.some());
    inner_->add_rows(translate(which), weights, inner_columns, again, sums);
}

// ----

template <class T>
Gram<T> make_gram(const Kernel& kernel, const Rows& rows, std::span<const std::string> names,
                  const Progress& progress) {
    return Gram<T>(kernel, rows, names, progress);
}

template <class T>
SharedOperator<T> make_operator(const Gram<T>& gram, const Points<T>& points,
                                const OperatorRequest& request) {
    auto computed = std::make_shared<GramOperator<T>>(gram, points, request.partners);
    if (request.reuse == Reuse::none) return computed;
    // What sums over rows cost next to nothing for need not be kept, unless all of it can.
    constexpr std::size_t few_rows = 512;
    const std::size_t n = points.size();
    if (n >= few_rows && gram.is_plain()) return computed;
    const bool cheap = collapses(gram.kernel());
    if (n > 0 && n > request.memory_bytes / sizeof(T) / n && cheap) return computed;
    // Likewise where most values are nothing, so that a row costs less to compute than to read
    // whole.
    if (gram.is_local(points)) {
        return std::make_shared<LocalOperator<T>>(gram, points, request.partners);
    }
    return std::make_shared<CachedOperator<T>>(
        std::move(computed), request.memory_bytes,
        request.reuse == Reuse::marked ? Keep::marked : Keep::everything,
        cheap ? nullptr : request.partners);
}

template <class T>
SharedOperator<T> make_operator(const Gram<T>& gram, const OperatorRequest& request) {
    const std::size_t n = gram.size();
    if (request.reuse == Reuse::whole && n > 0 && n <= request.memory_bytes / sizeof(T) / n) {
        return std::make_shared<StoredOperator<T>>(gram, request.progress);
    }
    return make_operator(gram, gram.reference(), request);
}

template <class T>
SharedOperator<T> sub_operator(SharedOperator<T> whole, std::vector<std::size_t> positions) {
    return std::make_shared<SubsetOperator<T>>(std::move(whole), std::move(positions));
}

template <class T>
SharedOperator<T> matrix_operator(MatrixView<const T> matrix) {
    return std::make_shared<StoredOperator<T>>(matrix);
}

template class GramOperator<float>;
template class GramOperator<double>;
template class StoredOperator<float>;
template class StoredOperator<double>;
template class SubsetOperator<float>;
template class SubsetOperator<double>;
template Gram<float> make_gram(const Kernel&, const Rows&, std::span<const std::string>,
                               const Progress&);
template Gram<double> make_gram(const Kernel&, const Rows&, std::span<const std::string>,
                                const Progress&);
template SharedOperator<float> make_operator(const Gram<float>&, const OperatorRequest&);
template SharedOperator<float> make_operator(const Gram<float>&, const Points<float>&,
                                             const OperatorRequest&);
template SharedOperator<float> sub_operator(SharedOperator<float>, std::vector<std::size_t>);
template SharedOperator<float> matrix_operator(MatrixView<const float>);
template SharedOperator<double> make_operator(const Gram<double>&, const OperatorRequest&);
template SharedOperator<double> make_operator(const Gram<double>&, const Points<double>&,
                                              const OperatorRequest&);
template SharedOperator<double> sub_operator(SharedOperator<double>, std::vector<std::size_t>);
template SharedOperator<double> matrix_operator(MatrixView<const double>);

}  // namespace mercer
