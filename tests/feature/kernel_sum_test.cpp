// Sums over the points of an expansion against their definition, whichever way they are taken.
#include "mercer/feature/detail/kernel_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mercer/base/detail/simd.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"

namespace mercer::testing {
namespace {

Rows random_rows(std::size_t count, std::size_t columns, Random& random, bool sparse) {
    std::vector<double> values(count * columns);
    for (double& v : values) v = sparse && random.uniform() < 0.7 ? 0.0 : random.normal();
    const Rows rows = Rows::dense(std::move(values), columns);
    return sparse ? rows.to_sparse() : rows;
}

std::vector<double> row_of(const Rows& rows, std::size_t i) {
    std::vector<double> row(rows.columns());
    rows.copy_row(i, row);
    return row;
}

/// Each point knows one output in `share`.
Expansion expansion_of(const char* kernel, std::size_t points, std::size_t outputs,
                       std::size_t share, bool sparse) {
    Random random(points + outputs);
    Expansion e;
    e.kernel = Kernel::parse(kernel);
    e.points = random_rows(points, 5, random, sparse);
    e.coefficients = Matrix<double>(outputs, points);
    for (std::size_t c = 0; c < outputs; ++c) {
        for (std::size_t p = 0; p < points; ++p) {
            if ((c + p) % share == 0) e.coefficients(c, p) = random.normal();
        }
    }
    e.bias.assign(outputs, 0.0);
    return e;
}

Matrix<double> sums_of(const Expansion& e, const Rows& x) {
    Matrix<double> out(x.size(), e.outputs());
    KernelSum<float>(e).add_to(x, out.view(), {});
    return out;
}

struct Shape {
    std::size_t points, outputs, share;
};

class KernelSums : public ::testing::TestWithParam<Shape> {};

TEST_P(KernelSums, AreThoseOfTheDefinition) {
    const auto [points, outputs, share] = GetParam();
    for (const bool sparse : {false, true}) {
        for (const char* kernel : {"rbf(gamma=0.3)", "polynomial(degree=2)"}) {
            const Expansion e = expansion_of(kernel, points, outputs, share, sparse);
            Random random(7);
            const Rows x = random_rows(70, 5, random, sparse);
            for (const std::string& level : simd_levels()) {
                use_simd_level(level);
                const Matrix<double> sums = sums_of(e, x);
                for (std::size_t i = 0; i < x.size(); i += 23) {
                    for (std::size_t c = 0; c < outputs; ++c) {
                        double sum = 0, size = 0;
                        for (std::size_t p = 0; p < points; ++p) {
                            const double term =
                                e.coefficients(c, p) * e.kernel(row_of(x, i), row_of(e.points, p));
                            sum += term;
                            size += std::abs(term);
                        }
                        ASSERT_NEAR(sums(i, c), sum, 1e-6 * size + 1e-30) << kernel << level;
                    }
                }
            }
            use_simd_level("");
        }
    }
}

TEST_P(KernelSums, OfARowDoNotDependOnTheOthersNorOnThreads) {
    const auto [points, outputs, share] = GetParam();
    if (share == 1 && outputs > 16) return;  // a library's product, which may round as it likes
    for (const bool sparse : {false, true}) {
        const Expansion e = expansion_of("rbf(gamma=0.3)", points, outputs, share, sparse);
        Random random(9);
        const Rows x = random_rows(131, 5, random, sparse);
        const Matrix<double> all = sums_of(e, x);
        {
            const ThreadLimit one(1);
            EXPECT_EQ(sums_of(e, x).values(), all.values());
        }
        for (const std::size_t i : {0U, 63U, 64U, 130U}) {
            const Matrix<double> own = sums_of(e, x.select(std::vector<std::size_t>{i}));
            for (std::size_t c = 0; c < outputs; ++c) EXPECT_EQ(own(0, c), all(i, c)) << i;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, KernelSums,
                         ::testing::Values(Shape{3, 1, 1}, Shape{600, 2, 1}, Shape{40, 3, 2},
                                           Shape{530, 28, 7}, Shape{300, 20, 1},
                                           Shape{1100, 120, 9}));

}  // namespace
}  // namespace mercer::testing
