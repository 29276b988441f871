#include "mercer/learn/cells/detail/row_planes.hpp"

#include <algorithm>
#include <array>

namespace mercer {
namespace {

/// Column j is summed in lane j mod 8, so that columns left out because they are zero change
/// nothing.
constexpr std::size_t lanes = 8;
using Lanes = std::array<double, lanes>;

double sum_of(const Lanes& s) {
    return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

template <class T>
double dense_dot(const T* x, std::span<const double> w) {
    Lanes sums{};
    std::size_t j = 0;
    for (; j + lanes <= w.size(); j += lanes) {
        for (std::size_t k = 0; k < lanes; ++k) {
            sums[k] += static_cast<double>(x[j + k]) * w[j + k];
        }
    }
    for (std::size_t k = 0; j < w.size(); ++j, ++k) sums[k] += static_cast<double>(x[j]) * w[j];
    return sum_of(sums);
}

template <class T>
double sparse_dot(std::span<const std::uint32_t> index, std::span<const T> value,
                  std::span<const double> w) {
    Lanes sums{};
    for (std::size_t e = 0; e < index.size(); ++e) {
        sums[index[e] % lanes] += static_cast<double>(value[e]) * w[index[e]];
    }
    return sum_of(sums);
}

}  // namespace

RowPlanes::RowPlanes(const Rows& rows)
    : size_(rows.size()),
      columns_(rows.columns()),
      sparse_(rows.is_sparse()),
      double_(rows.is_double()) {
    if (size_ == 0) return;
    if (sparse_ && double_) sparse_double_ = rows.sparse_view<double>();
    if (sparse_ && !double_) sparse_float_ = rows.sparse_view<float>();
    if (!sparse_ && double_) dense_double_ = rows.dense_view<double>();
    if (!sparse_ && !double_) dense_float_ = rows.dense_view<float>();
}

template <class Visit>
auto RowPlanes::with_form(const Visit& visit) const {
    if (sparse_) return double_ ? visit(sparse_double_) : visit(sparse_float_);
    return double_ ? visit(dense_double_) : visit(dense_float_);
}

double RowPlanes::dot(std::size_t i, std::span<const double> w) const {
    return with_form([&](const auto& rows) {
        if constexpr (requires { rows.row_index(i); }) {
            return sparse_dot(rows.row_index(i), rows.row_value(i), w);
        } else {
            return dense_dot(rows.row(i).data(), w);
        }
    });
}

void RowPlanes::add(std::size_t i, double factor, std::span<double> sum) const {
    with_form([&](const auto& rows) {
        if constexpr (requires { rows.row_index(i); }) {
            const auto index = rows.row_index(i);
            const auto value = rows.row_value(i);
            for (std::size_t e = 0; e < index.size(); ++e) {
                sum[index[e]] += factor * static_cast<double>(value[e]);
            }
        } else {
            const auto row = rows.row(i);
            for (std::size_t j = 0; j < row.size(); ++j) {
                sum[j] += factor * static_cast<double>(row[j]);
            }
        }
    });
}

bool RowPlanes::same(std::size_t i, std::size_t j) const {
    return with_form([&](const auto& rows) {
        if constexpr (requires { rows.row_index(i); }) {
            return std::ranges::equal(rows.row_index(i), rows.row_index(j)) &&
                   std::ranges::equal(rows.row_value(i), rows.row_value(j));
        } else {
            return std::ranges::equal(rows.row(i), rows.row(j));
        }
    });
}

}  // namespace mercer
