#include "mercer/gram/detail/row_pairs.hpp"

#include <algorithm>
#include <string>

#include "mercer/base/error.hpp"

namespace mercer {
namespace {

/// Rows of up to so many numbers are written out once, larger ones whenever they are asked for.
constexpr std::size_t most_numbers = std::size_t{1} << 24;

class RowPairs final : public ObjectPairs {
   public:
    RowPairs(const Kernel& leaf, const Rows& rows) : leaf_(leaf), rows_(rows) {
        if (rows.size() * rows.columns() > most_numbers) return;
        numbers_ = Matrix<double>(rows.size(), rows.columns());
        for (std::size_t i = 0; i < rows.size(); ++i) rows.copy_row(i, numbers_.row(i));
    }

    void row(std::size_t i, const ObjectPairs& z, std::span<const std::uint32_t> columns,
             std::span<double> out) const override {
        const auto& other = static_cast<const RowPairs&>(z);
        const KernelNode& node = leaf_.node();
        std::vector<double> own;
        std::vector<double> others;
        const std::span<const double> x = numbers(i, own);
        for (std::size_t c = 0; c < columns.size(); ++c) {
            out[c] = node.leaf->row_value(node, x, other.numbers(columns[c], others));
        }
    }
    double pair_work() const override { return 50 + 2 * static_cast<double>(rows_.columns()); }

   private:
    std::span<const double> numbers(std::size_t i, std::vector<double>& buffer) const {
        if (numbers_.rows() > 0 || rows_.columns() == 0) return numbers_.row(i);
        buffer.resize(rows_.columns());
        rows_.copy_row(i, buffer);
        return buffer;
    }

    Kernel leaf_;
    Rows rows_;
    Matrix<double> numbers_{};
};

/// Entries are picked where they lie, so that a pair costs nothing but itself.
class GivenPairs final : public ObjectPairs {
   public:
    explicit GivenPairs(const Rows& rows) : rows_(rows) {}

    void row(std::size_t i, const ObjectPairs& z, std::span<const std::uint32_t> columns,
             std::span<double> out) const override {
        const Rows& others = static_cast<const GivenPairs&>(z).rows_;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const std::size_t column = others.origin(columns[c]);
            if (column >= rows_.columns()) {
                throw InvalidInput(
                    "a precomputed kernel needs one column for each training row: row " +
                    std::to_string(column + 1) + " has no column among the " +
                    std::to_string(rows_.columns()) + " given");
            }
            out[c] = rows_.is_double() ? entry<double>(i, column) : entry<float>(i, column);
        }
    }
    double pair_work() const override { return 2; }

   private:
    template <class T>
    double entry(std::size_t i, std::size_t column) const {
        if (!rows_.is_sparse()) return static_cast<double>(rows_.dense_view<T>()(i, column));
        const SparseView<T> view = rows_.sparse_view<T>();
        const auto index = view.row_index(i);
        const auto place = std::ranges::lower_bound(index, column);
        if (place == index.end() || *place != column) return 0;
        return static_cast<double>(
            view.row_value(i)[static_cast<std::size_t>(place - index.begin())]);
    }

    Rows rows_;
};

}  // namespace

std::unique_ptr<const ObjectPairs> row_pairs(const Kernel& leaf, const Rows& rows) {
    return std::make_unique<RowPairs>(leaf, rows);
}

std::unique_ptr<const ObjectPairs> given_pairs(const Rows& rows) {
    return std::make_unique<GivenPairs>(rows);
}

}  // namespace mercer
