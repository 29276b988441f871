#include "mercer/gram/detail/column_shares.hpp"

#include <algorithm>
#include <numeric>

namespace mercer {
namespace {

/// Columns of a tile of kernel values, and of the panels that it is computed in (gram.cpp,
/// pairwise.hpp): blocks of them lose no speed.
constexpr std::size_t widest_block = 512;
constexpr std::size_t panel = 64;
/// Each should have so many blocks, where there are columns enough.
constexpr std::size_t blocks_each = 8;
/// Bytes of one message, about.
constexpr std::size_t message = std::size_t{1} << 28;

}  // namespace

ColumnShares::ColumnShares(const Partners* partners, std::size_t columns)
    : partners_(partners && partners->count() > 1 ? partners : nullptr), columns_(columns) {
    if (is_alone()) return;
    const std::size_t wanted = columns / (blocks_each * partners_->count());
    block_ = std::clamp(wanted / panel * panel, panel, widest_block);
}

OwnColumns ColumnShares::own(const Columns& columns) const {
    OwnColumns found;
    for (std::size_t c = 0; c < columns.size(columns_); ++c) {
        if (owner(columns[c]) != partners_->number()) continue;
        found.places.push_back(c);
        found.columns.push_back(columns[c]);
    }
    return found;
}

template <class T>
void ColumnShares::join(const Columns& columns, MatrixView<const T> own, MatrixView<T> all) const {
    std::vector<std::size_t> owners(all.columns), widths(partners_->count(), 0);
    for (std::size_t c = 0; c < all.columns; ++c) ++widths[owners[c] = owner(columns[c])];
    const std::size_t most = std::max<std::size_t>(message / sizeof(T) / (all.columns + 1), 1);
    std::vector<T> sent, heard;
    for (std::size_t first = 0; first < all.rows; first += most) {
        const std::size_t rows = std::min(most, all.rows - first);
        sent.clear();
        for (std::size_t r = first; r < first + rows; ++r) {
            sent.insert(sent.end(), own.row(r).begin(), own.row(r).end());
        }
        heard.resize(rows * all.columns);
        std::vector<std::size_t> bytes;
        for (const std::size_t width : widths) bytes.push_back(rows * width * sizeof(T));
        partners_->gather(std::as_bytes(std::span<const T>(sent)), bytes,
                          std::as_writable_bytes(std::span(heard)));
        for (std::size_t r = 0; r < rows; ++r) {
            std::vector<const T*> from;
            const T* begin = heard.data();
            for (const std::size_t width : widths) {
                from.push_back(begin + r * width);
                begin += rows * width;
            }
            const auto to = all.row(first + r);
            for (std::size_t c = 0; c < to.size(); ++c) to[c] = *from[owners[c]]++;
        }
    }
}

template void ColumnShares::join(const Columns&, MatrixView<const float>, MatrixView<float>) const;
template void ColumnShares::join(const Columns&, MatrixView<const double>,
                                 MatrixView<double>) const;

}  // namespace mercer
