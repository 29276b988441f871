#include "mercer/base/detail/gemm.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "mercer/base/detail/products/byte_products.hpp"
#include "mercer/base/random.hpp"

namespace mercer {
namespace {

template <class A, class B, class C>
void expect_product(std::size_t m, std::size_t n, std::size_t k, double tolerance) {
    Random random(m * 1000 + n * 10 + k);
    Matrix<A> a(m, k);
    Matrix<B> b(n, k);
    const auto draw = [&](auto& matrix) {
        for (auto& value : matrix.values()) {
            using Value = std::remove_reference_t<decltype(value)>;
            using Limits = std::numeric_limits<Value>;
            value = static_cast<Value>(std::is_integral_v<Value>
                                           ? random.uniform(Limits::min(), Limits::max())
                                           : random.normal());
        }
    };
    draw(a);
    draw(b);
    Matrix<C> c(m, n + 3, C{7});
    multiply_transposed(MatrixView<const A>(a.view()), MatrixView<const B>(b.view()),
                        c.view().block(0, 0, m, n));
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::size_t l = 0; l < k; ++l) {
                sum += static_cast<double>(a(i, l)) * static_cast<double>(b(j, l));
            }
            ASSERT_NEAR(static_cast<double>(c(i, j)), sum, tolerance);
        }
        ASSERT_EQ(c(i, n + 2), C{7}) << "wrote beyond its block";
    }
}

TEST(Products, AgreeWithTheSum) {
    for (const std::size_t m : {1UL, 5UL, 64UL}) {
        for (const std::size_t n : {1UL, 33UL, 100UL}) {
            for (const std::size_t k : {1UL, 16UL, 130UL}) {
                expect_product<float, float, float>(m, n, k, 1e-4);
                expect_product<double, double, double>(m, n, k, 1e-11);
            }
        }
    }
}

TEST(Products, OfBytesAreExactWhereOffered) {
    if (!byte_products_pay(784)) GTEST_SKIP() << "products of bytes are x86's alone";
    expect_product<std::uint8_t, std::int8_t, std::int32_t>(33, 70, 784, 0);
    // Every product at its largest: 16-bit intermediate sums would saturate.
    Matrix<std::uint8_t> a(4, 1000, 255);
    Matrix<std::int8_t> b(4, 1000, 127);
    Matrix<std::int32_t> c(4, 4);
    multiply_transposed(MatrixView<const std::uint8_t>(a.view()),
                        MatrixView<const std::int8_t>(b.view()), c.view());
    EXPECT_EQ(c(3, 3), 255 * 127 * 1000);
}

#if defined(__x86_64__)
TEST(Products, OfBytesByOwnCodeAreThoseOfTheLibrary) {
    Random random(3);
    for (const std::size_t m : {1UL, 6UL, 9UL}) {
        for (const std::size_t n : {1UL, 35UL}) {
            for (const std::size_t k : {1UL, 16UL, 33UL, 784UL, 8000UL}) {
                Matrix<std::uint8_t> a(m, k);
                Matrix<std::int8_t> b(n, k);
                for (auto& value : a.values()) value = static_cast<std::uint8_t>(random.below(256));
                for (auto& value : b.values()) {
                    value = static_cast<std::int8_t>(static_cast<int>(random.below(256)) - 128);
                }
                std::ranges::fill(a.row(0), std::uint8_t{255});  // the largest there are
                std::ranges::fill(b.row(0), std::int8_t{-128});
                Matrix<std::int32_t> c(m, n + 3, 7);
                multiply_widened(std::as_const(a).view(), std::as_const(b).view(),
                                 c.view().block(0, 0, m, n));
                for (std::size_t i = 0; i < m; ++i) {
                    for (std::size_t j = 0; j < n; ++j) {
                        std::int32_t sum = 0;
                        for (std::size_t l = 0; l < k; ++l) sum += a(i, l) * b(j, l);
                        ASSERT_EQ(c(i, j), sum) << m << ' ' << n << ' ' << k;
                    }
                    ASSERT_EQ(c(i, n), 7) << "wrote beyond its block";
                }
            }
        }
    }
}
#endif

TEST(Products, UseTheVectorInstructionsTheProcessorHas) {
    if (std::getenv("OPENBLAS_CORETYPE") != nullptr) {
        GTEST_SKIP() << "OPENBLAS_CORETYPE chooses the kernels here";
    }
    EXPECT_TRUE(products_fit_processor()) << product_libraries();
}

// oneDNN keeps numbers below the end of the stack, where the handler of a signal would write.
TEST(Products, SignalsOnAStackOfTheirOwnDoNotDisturb) {
    const std::size_t m = 200, n = 1000, k = 400;
    Random random(5);
    Matrix<float> a(m, k), b(n, k);
    for (float& value : a.values()) value = static_cast<float>(random.normal());
    for (float& value : b.values()) value = static_cast<float>(random.normal());
    const auto product = [&] {
        Matrix<float> c(m, n, 0.0F);
        multiply_transposed(std::as_const(a).view(), std::as_const(b).view(), c.view());
        return std::vector<float>(c.values().begin(), c.values().end());
    };
    const std::vector<float> undisturbed = product();
    struct sigaction action {
    }, before{};
    action.sa_handler = [](int) {
        volatile char some[4096];
        for (char volatile& byte : some) byte = 0x55;
    };
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigaction(SIGALRM, &action, &before);
    itimerval often{};
    often.it_interval.tv_usec = often.it_value.tv_usec = 50;
    setitimer(ITIMER_REAL, &often, nullptr);
    for (int repeat = 0; repeat < 30; ++repeat) EXPECT_EQ(product(), undisturbed);
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before, nullptr);
}

}  // namespace
}  // namespace mercer
