// The same kernel values by every way there is: blocks of the Gram matrix in single and double
// precision, dense and sparse rows, each level of vector instructions, against the formula.
// The first bytes are the numbers of five rows of three columns; the rest is the kernel's text.
#include <cmath>
#include <cstdlib>
#include <vector>

#include "mercer/base/detail/simd.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/kernel/kernel.hpp"
#include "reader.hpp"

namespace {

constexpr std::size_t rows_of = 5, columns_of = 3;

/// Small whole numbers and halves, many of them 0, so that all ways are near each other.
std::vector<double> numbers_from(const std::uint8_t* data) {
    std::vector<double> values(rows_of * columns_of);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = data[i] < 100 ? 0 : (static_cast<double>(data[i] % 16) - 8) / 4;
    }
    return values;
}

template <class T>
std::vector<double> block_of(const mercer::Kernel& kernel, const mercer::Rows& rows) {
    const mercer::Gram<T> gram(kernel, rows);
    mercer::Matrix<T> out(rows.size(), rows.size());
    gram.block(gram.reference(), gram.reference(), out.view());
    return {out.values().begin(), out.values().end()};
}

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted,
                 double tolerance) {
    double size = 1;
    for (const double value : wanted) size = std::max(size, std::abs(value));
    if (!std::isfinite(size) || size > 1e12) return;  // of no use to anyone, in any precision
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!(std::abs(found[i] - wanted[i]) <= tolerance * size)) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size <= rows_of * columns_of || size > 400) return 0;
    const std::vector<double> values = numbers_from(data);
    const std::string_view text =
        mercer::fuzz::view_of(data + rows_of * columns_of, size - rows_of * columns_of);
    try {
        const mercer::Rows rows = mercer::Rows::dense(std::vector<double>(values), columns_of);
        const mercer::Kernel kernel = mercer::resolve(mercer::Kernel::parse(text), rows);
        std::vector<double> wanted;
        for (std::size_t i = 0; i < rows_of; ++i) {
            for (std::size_t j = 0; j < rows_of; ++j) {
                const std::span<const double> all(values);
                wanted.push_back(kernel(all.subspan(i * columns_of, columns_of),
                                        all.subspan(j * columns_of, columns_of)));
            }
        }
        expect_near(block_of<double>(kernel, rows), wanted, 1e-9);
        expect_near(block_of<double>(kernel, rows.to_sparse()), wanted, 1e-9);
        for (const std::string& level : mercer::simd_levels()) {
            mercer::use_simd_level(level);
            expect_near(block_of<float>(kernel, rows.to_float()), wanted, 2e-3);
            expect_near(block_of<double>(kernel, rows), wanted, 1e-9);
        }
        mercer::use_simd_level("");
    } catch (const mercer::InvalidInput&) {
        mercer::use_simd_level("");
    }
    return 0;
}
