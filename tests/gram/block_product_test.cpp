#include "mercer/gram/detail/block_product.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"

namespace mercer {
namespace {

Matrix<double> random_rows(std::size_t rows, std::size_t columns) {
    Random random(5);
    Matrix<double> m(rows, columns);
    for (double& value : m.values()) value = random.normal();
    return m;
}

template <class T>
void expect_product(std::size_t budget, bool stored, double tolerance) {
    const Dataset data = make("moons", {.n = 700, .noise = 0.2});
    const Gram<T> gram(Kernel::parse("rbf(gamma=2) + 0.1*linear"), data.x);
    const GramProduct<T> product(gram, budget);
    EXPECT_EQ(product.is_stored(), stored);
    const Matrix<double> v = random_rows(3, 700);
    Matrix<double> out(3, 700);
    product(v.view(), out.view());
    Matrix<T> k(700, 700);
    gram.matrix(k.view());
    for (std::size_t j = 0; j < 3; ++j) {
        for (std::size_t i = 0; i < 700; ++i) {
            double sum = 0;
            for (std::size_t c = 0; c < 700; ++c) sum += static_cast<double>(k(i, c)) * v(j, c);
            ASSERT_NEAR(out(j, i), sum, tolerance) << j << ' ' << i;
        }
    }
    set_threads(1);
    Matrix<double> again(3, 700);
    product(v.view(), again.view());
    set_threads(0);
    EXPECT_EQ(out.values(), again.values()) << "any number of threads";
}

TEST(GramProduct, IsTheMatrixTimesTheVectors) {
    expect_product<double>(std::size_t{1} << 30, true, 1e-11);
    expect_product<double>(0, false, 1e-11);
    expect_product<float>(std::size_t{1} << 30, true, 2e-4);
    expect_product<float>(0, false, 2e-4);
}

TEST(GramProduct, CanBeStopped) {
    const Dataset data = make("moons", {.n = 300});
    const GramProduct<float> product(Gram<float>(rbf({.gamma = 1.0}), data.x), 0);
    const Matrix<double> v = random_rows(1, 300);
    Matrix<double> out(1, 300);
    EXPECT_THROW(product(v.view(), out.view(), [](const Moment&) { return false; }), Cancelled);
}

}  // namespace
}  // namespace mercer
