#include "mercer/gram/gram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "expressions.hpp"
#include "mercer/base/detail/simd.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/kernel/detail/node.hpp"

namespace mercer {
namespace {

using testing::byte_rows;
using testing::expressions;
using testing::random_rows;
using testing::row_of;

/// k(x, z) by the formula in double precision, the definition the engine must agree with. Parts
/// that centre are evaluated on the reference sample.
class Definition {
   public:
    Definition(const Kernel& kernel, const Rows& reference) : kernel_(kernel) {
        sample_ = Matrix<double>(reference.size(), reference.columns());
        for (std::size_t i = 0; i < reference.size(); ++i) reference.copy_row(i, sample_.row(i));
    }
    double operator()(std::span<const double> x, std::span<const double> z) const {
        return value(kernel_, x, z);
    }

   private:
    double value(const Kernel& k, std::span<const double> x, std::span<const double> z) const {
        const KernelNode& node = k.node();
        const auto child = [&](std::span<const double> a, std::span<const double> b) {
            return value(node.children[0], a, b);
        };
        switch (node.kind) {
            case KernelKind::center:  // 002, equation (4)
                return child(x, z) - mean(node, x) - mean(node, z) + grand_mean(node);
            case KernelKind::normalize: return child(x, z) / std::sqrt(child(x, x) * child(z, z));
            case KernelKind::rbf_of:
                return std::exp(-node.parameter("gamma") *
                                (child(x, x) + child(z, z) - 2 * child(x, z)));
            default: return k(x, z);
        }
    }

    double mean(const KernelNode& node, std::span<const double> x) const {
        double sum = 0;
        for (std::size_t i = 0; i < sample_.rows(); ++i) {
            sum += value(node.children[0], x, sample_.row(i));
        }
        return sum / static_cast<double>(sample_.rows());
    }
    double grand_mean(const KernelNode& node) const {
        auto [found, fresh] = grand_means_.try_emplace(&node, 0.0);
        if (fresh) {
            for (std::size_t i = 0; i < sample_.rows(); ++i) {
                found->second += mean(node, sample_.row(i)) / static_cast<double>(sample_.rows());
            }
        }
        return found->second;
    }

    Kernel kernel_;
    Matrix<double> sample_;
    mutable std::map<const KernelNode*, double> grand_means_;
};

template <class T>
void expect_agreement(const std::string& text, const Rows& x, const Rows& z, double tolerance) {
    SCOPED_TRACE(text);
    const Gram<T> gram(Kernel::parse(text), z);
    Matrix<T> block(x.size(), z.size());
    gram.block(gram.prepare(x), gram.reference(), block.view());
    const Definition k(gram.kernel(), z);
    const bool cancels =
        text.find("center") != std::string::npos || text.find('-') != std::string::npos;
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto xi = row_of(x, i);
        for (std::size_t j = 0; j < z.size(); ++j) {
            const auto zj = row_of(z, j);
            const double expected = k(xi, zj);
            // Where terms of opposite sign cancel, an error is measured against their size.
            const double scale = std::sqrt(std::abs(k(xi, xi) * k(zj, zj)));
            const double size =
                std::max(std::abs(expected), cancels ? 0.1 * std::max(scale, 1.0) : 0.01 * scale);
            worst = std::max(worst, std::abs(static_cast<double>(block(i, j)) - expected) / size);
        }
    }
    // A difference of large terms that is then divided by another is rounded twice.
    const bool twice = cancels && text.find("normalize") != std::string::npos;
    EXPECT_LE(worst, twice ? 2 * tolerance : tolerance);
}

class EveryExpression : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryExpression, EqualsItsDefinitionOnShortDenseRows) {
    const Rows x = random_rows(37, 9, 0.8, 1);
    const Rows z = random_rows(71, 9, 0.8, 2);
    expect_agreement<float>(GetParam(), x, z, 1e-5);
    expect_agreement<double>(GetParam(), x, z, 1e-12);
}

TEST_P(EveryExpression, EqualsItsDefinitionOnLongDenseRows) {
    const Rows x = random_rows(19, 83, 0.3, 3);
    const Rows z = random_rows(70, 83, 0.3, 4);
    expect_agreement<float>(GetParam(), x, z, 1e-5);
    expect_agreement<double>(GetParam(), x, z, 1e-12);
}

TEST_P(EveryExpression, EqualsItsDefinitionOnSparseRows) {
    const Rows x = random_rows(35, 150, 0.04, 5).to_sparse();
    const Rows z = random_rows(67, 150, 0.04, 6).to_sparse();
    expect_agreement<float>(GetParam(), x, z, 1e-5);
    expect_agreement<double>(GetParam(), x, z, 1e-12);
}

TEST_P(EveryExpression, EqualsItsDefinitionOnBytes) {
    const Rows x = byte_rows(21, 80, 7);
    const Rows z = byte_rows(66, 80, 8);
    expect_agreement<float>(GetParam(), x, z, 1e-5);
}

TEST_P(EveryExpression, AgreesAtEverySimdLevel) {
    const Rows rows = random_rows(70, 12, 0.7, 9);
    Matrix<double> first;
    for (const std::string& level : simd_levels()) {
        use_simd_level(level);
        const Gram<double> gram(Kernel::parse(GetParam()), rows);
        Matrix<double> block(70, 70);
        gram.matrix(block.view());
        if (first.rows() == 0) first = block;
        for (std::size_t i = 0; i < 70 * 70; ++i) {
            ASSERT_NEAR(block.values()[i], first.values()[i],
                        1e-12 * std::max(1.0, std::abs(first.values()[i])))
                << level;
        }
    }
    use_simd_level("");
}

/// Rows of one column: 0, and numbers whose squares reach from 0 to where e^−x² is nothing.
Rows numbers_to(double farthest, std::size_t count) {
    std::vector<float> values{0};
    for (std::size_t i = 0; i < count; ++i) {
        values.push_back(
            static_cast<float>(farthest * static_cast<double>(i) / static_cast<double>(count - 1)));
    }
    return Rows::dense(std::move(values), 1);
}

TEST(SinglePrecision, ExponentialsAreExactToAnUlpAndAHalf) {
    constexpr std::size_t count = 20001;
    for (const std::string& level : simd_levels()) {
        use_simd_level(level);
        for (const bool falls : {true, false}) {
            // To below e^−104, which single precision cannot tell from 0, and to e^88.5.
            const Rows rows = numbers_to(falls ? 10.3 : 9.407, count);
            const Gram<float> gram(Kernel::parse(falls ? "rbf(gamma=1)" : "exp(linear)"), rows);
            Matrix<float> block(2, count + 1);
            const std::vector<std::size_t> first = {0, count};
            gram.block(gram.select(gram.reference(), first, false), gram.reference(), block.view());
            const std::size_t row = falls ? 0 : 1;
            for (std::size_t i = 0; i <= count; ++i) {
                std::vector<double> x(1), z(1);
                rows.copy_row(first[row], x);
                rows.copy_row(i, z);
                const auto a = static_cast<float>(x[0]), b = static_cast<float>(z[0]);
                // What single precision makes of the exponent is not in question here.
                const double exponent = falls ? -double{(a - b) * (a - b)} : double{a * b};
                const double exact = std::exp(exponent);
                const auto got = static_cast<double>(block(row, i));
                if (exponent < -87.3) {
                    ASSERT_EQ(got, 0) << level << ' ' << exponent;
                } else {
                    ASSERT_NEAR(got, exact, 1.5 * 0x1p-23 * exact) << level << ' ' << exponent;
                }
            }
        }
    }
    use_simd_level("");
}

TEST_P(EveryExpression, IsTheSameForAnyNumberOfThreads) {
    const Rows rows = random_rows(600, 10, 0.7, 10);
    Matrix<float> one;
    for (const std::size_t count : {1UL, 2UL, 4UL}) {
        set_threads(count);
        const Gram<float> gram(Kernel::parse(GetParam()), rows);
        Matrix<float> all(600, 600);
        gram.block(gram.reference(), gram.reference(), all.view());
        if (one.rows() == 0) one = all;
        EXPECT_EQ(all.values(), one.values()) << count << " threads";
    }
    set_threads(0);
}

TEST_P(EveryExpression, DiagonalMatrixAndSelectionAreParts) {
    const Rows rows = random_rows(150, 11, 0.7, 11);
    const Gram<double> gram(Kernel::parse(GetParam()), rows);
    Matrix<double> block(150, 150);
    gram.block(gram.reference(), gram.reference(), block.view());
    Matrix<double> matrix(150, 150);
    gram.matrix(matrix.view());
    std::vector<double> diagonal(150);
    gram.diagonal(gram.reference(), diagonal);
    const std::vector<std::size_t> some = {149, 3, 3, 77, 0};
    Matrix<double> rows_only(5, 150);
    gram.block(gram.select(gram.reference(), some, false), gram.reference(), rows_only.view());
    Matrix<double> corner(5, 5);
    const Points<double> chosen = gram.select(gram.reference(), some);
    gram.block(chosen, chosen, corner.view());
    const auto near = [](double a, double b) {
        return std::abs(a - b) <= 1e-12 * (1 + std::abs(b));
    };
    for (std::size_t i = 0; i < 150; ++i) {
        EXPECT_TRUE(near(diagonal[i], block(i, i))) << diagonal[i] << " " << block(i, i);
        for (std::size_t j = 0; j < 150; ++j) {
            ASSERT_TRUE(near(matrix(i, j), block(i, j))) << i << " " << j;
            ASSERT_TRUE(near(block(j, i), block(i, j))) << i << " " << j;
        }
    }
    for (std::size_t r = 0; r < 5; ++r) {
        for (std::size_t j = 0; j < 150; ++j) ASSERT_TRUE(near(rows_only(r, j), block(some[r], j)));
        for (std::size_t c = 0; c < 5; ++c) {
            ASSERT_TRUE(near(corner(r, c), block(some[r], some[c])));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryExpression, ::testing::ValuesIn(expressions()));

TEST(Gram, CentredMatrixHasRowsThatSumToZero) {
    const Rows rows = random_rows(90, 6, 1, 12);
    const Gram<double> gram(Kernel::parse("center(rbf(gamma=2))"), rows);
    Matrix<double> k(90, 90);
    gram.matrix(k.view());
    for (std::size_t i = 0; i < 90; ++i) {
        const auto row = k.row(i);
        EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 0, 1e-12);
    }
}

TEST(Gram, NormalizedKernelHasUnitDiagonalAndZeroForZeroVectors) {
    const Rows rows = Rows::dense(std::vector<double>{3, 4, 0, 0, -1, 2}, 2);
    const Gram<double> gram(Kernel::parse("normalize(linear)"), rows);
    std::vector<double> diagonal(3);
    gram.diagonal(gram.reference(), diagonal);
    EXPECT_NEAR(diagonal[0], 1, 1e-15);
    EXPECT_EQ(diagonal[1], 0);
    EXPECT_NEAR(diagonal[2], 1, 1e-15);
}

TEST(Gram, NormalizeRefusesNegativeLengths) {
    const Rows rows = Rows::dense(std::vector<double>{3, 4, -1, 2}, 2);
    EXPECT_THROW(Gram<double>(normalize(linear() - 30), rows), InvalidInput);
}

TEST(Gram, SetsSumOverTheirMembers) {
    const Rows rows = random_rows(40, 7, 1, 13);
    const Kernel member = Kernel::parse("rbf(gamma=0.7) + linear");
    const Gram<double> gram(sets(member, 2, false),
                            rows.select_columns(std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
    Matrix<double> k(40, 40);
    gram.matrix(k.view());
    for (const std::size_t i : {0UL, 17UL, 39UL}) {
        for (const std::size_t j : {0UL, 3UL, 38UL}) {
            const auto x = row_of(rows, i);
            const auto z = row_of(rows, j);
            double sum = 0;
            for (std::size_t a = 0; a < 3; ++a) {
                for (std::size_t b = 0; b < 3; ++b) {
                    sum += member(std::span(x).subspan(2 * a, 2), std::span(z).subspan(2 * b, 2));
                }
            }
            EXPECT_NEAR(k(i, j), sum, 1e-12);
        }
    }
}

TEST(Gram, CountedSetsIgnoreWhatIsBeyondTheCount) {
    const Rows rows = Rows::dense(std::vector<double>{2, 1, 2, 99, 1, 5, 99, 99, 0, 9, 9, 9}, 4);
    const Gram<double> gram(Kernel::parse("sets(linear, width=1, counted=true)"), rows);
    Matrix<double> k(3, 3);
    gram.matrix(k.view());
    EXPECT_DOUBLE_EQ(k(0, 0), 9);   // (1 + 2)²
    EXPECT_DOUBLE_EQ(k(0, 1), 15);  // (1 + 2) 5
    EXPECT_DOUBLE_EQ(k(2, 2), 0);   // the empty set
    const Rows wrong = Rows::dense(std::vector<double>{7, 1, 2, 3}, 4);
    EXPECT_THROW(gram.prepare(wrong), InvalidInput);
}

TEST(Gram, PrecomputedRowsAreReadByTheOtherRowsOrigin) {
    const Rows rows = Rows::dense(std::vector<double>{4, 1, 2, 1, 5, 3, 2, 3, 6}, 3);
    const Gram<double> gram(precomputed() + 1, rows);
    Matrix<double> k(3, 3);
    gram.matrix(k.view());
    EXPECT_DOUBLE_EQ(k(0, 2), 3);
    const std::vector<std::size_t> fold = {2, 0};
    const Gram<double> part(precomputed(), rows.select(fold));
    Matrix<double> q(2, 2);
    part.matrix(q.view());
    EXPECT_DOUBLE_EQ(q(0, 0), 6);
    EXPECT_DOUBLE_EQ(q(0, 1), 2);
    EXPECT_THROW(Gram<double>(precomputed(), rows.select_columns(std::vector<std::size_t>{0, 1}))
                     .matrix(k.view()),
                 InvalidInput);
}

TEST(Gram, UserFunctionsTakePartInExpressions) {
    const Kernel mine = function("gram_test_overlap", [](auto x, auto z) {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) sum += std::sqrt(x[i] * z[i]);
        return sum;
    });
    const Rows rows = random_rows(70, 5, 1, 14);
    const Gram<double> gram(2 * mine + rbf({.gamma = 1.0}), rows);
    Matrix<double> k(70, 70);
    gram.matrix(k.view());
    const auto x = row_of(rows, 3);
    const auto z = row_of(rows, 69);
    EXPECT_NEAR(k(3, 69), gram.kernel()(x, z), 1e-12);
}

TEST(Gram, BilinearFormUsesItsMatrix) {
    Matrix<double> a(3, 3);
    a.values() = {2, 0.5, 0, 0.5, 1, -0.25, 0, -0.25, 3};
    const Rows rows = random_rows(66, 3, 1, 15);
    const Gram<float> gram(bilinear(a) + linear(), rows);
    Matrix<float> k(66, 66);
    gram.matrix(k.view());
    for (const std::size_t i : {0UL, 20UL, 65UL}) {
        const auto x = row_of(rows, i);
        const auto z = row_of(rows, 31);
        EXPECT_NEAR(k(i, 31), gram.kernel()(x, z), 1e-5);
    }
}

TEST(Gram, FarFromTheOriginDistancesKeepTheirPrecision) {
    // ‖x‖² is about 10⁸ times ‖x−z‖²: without moving the origin nothing would be left in float32.
    Random random(16);
    for (const std::size_t columns : {5UL, 90UL}) {
        std::vector<double> values(80 * columns);
        for (double& value : values) value = 1e4 + random.uniform();
        const Rows rows = Rows::dense(std::move(values), columns);
        expect_agreement<float>("rbf(gamma=0.2)", rows, rows, 2e-5);
    }
}

TEST(Gram, MissingTrailingColumnsCountAsZero) {
    const Gram<double> gram(linear(), random_rows(5, 4, 1, 17));
    const Points<double> narrow = gram.prepare(Rows::dense(std::vector<double>{1, 2}, 2));
    Matrix<double> k(1, 5);
    gram.block(narrow, gram.reference(), k.view());
    const auto z = row_of(random_rows(5, 4, 1, 17), 2);
    EXPECT_NEAR(k(0, 2), z[0] + 2 * z[1], 1e-15);
    EXPECT_THROW(gram.prepare(random_rows(2, 5, 1, 18)), InvalidInput);
}

TEST(Gram, AMillionColumnsOfWhichFewOccurGiveTheValuesOfThoseFew) {
    const std::size_t stride = 1009;  // 1000 columns, and the same spread over a million
    Random random(3);
    std::vector<std::size_t> starts{0};
    std::vector<std::uint32_t> near, far;
    std::vector<float> values;
    for (std::size_t i = 0; i < 70; ++i) {
        for (std::uint32_t c = 0; c < 1000; ++c) {
            if (random.below(50) > 0) continue;
            near.push_back(c);
            far.push_back(static_cast<std::uint32_t>(c * stride));
            values.push_back(static_cast<float>(random.normal()));
        }
        starts.push_back(values.size());
    }
    const Rows few = Rows::sparse(starts, near, values, 1000);
    const Rows many = Rows::sparse(starts, far, values, 1000 * stride);
    for (const char* kernel : {"linear", "rbf(gamma=0.1)"}) {
        const Gram<float> a(Kernel::parse(kernel), few);
        const Gram<float> b(Kernel::parse(kernel), many);
        Matrix<float> all(few.size(), few.size()), same(few.size(), few.size());
        a.block(a.reference(), a.reference(), all.view());
        b.block(b.reference(), b.reference(), same.view());
        EXPECT_EQ(same.values(), all.values()) << kernel;
        // Likewise where other columns occur in the block.
        const std::vector<std::size_t> some{3, 41, 69};
        Matrix<float> part(some.size(), few.size()), other(some.size(), few.size());
        a.block(a.prepare(few.select(some)), a.reference(), part.view());
        b.block(b.prepare(many.select(some)), b.reference(), other.view());
        EXPECT_EQ(other.values(), part.values()) << kernel;
    }
}

TEST(Gram, NegativeEntriesAreRefusedWhereTheFormulaNeedsNone) {
    const Rows rows = Rows::dense(std::vector<double>{1, 2, 0.5, -0.25}, 2);
    try {
        const Gram<double> gram(chi2(1), rows);
        FAIL() << "no exception";
    } catch (const InvalidInput& error) {
        EXPECT_STREQ(error.what(),
                     "the kernel chi2 needs entries >= 0, but row 2 has -0.25 in column 1; scale "
                     "the data to [0, 1] first");
    }
}

/// What one pair of values outside a function's domain makes of every way to ask for it.
template <class T>
void expect_refused(const std::string& text, const Rows& rows, const std::string& what) {
    const auto refused = [&](const auto& ask) {
        try {
            ask(Gram<T>(Kernel::parse(text), rows));
            ADD_FAILURE() << text << ": no exception";
        } catch (const InvalidInput& error) {
            EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
        }
    };
    Matrix<T> k(rows.size(), rows.size());
    refused([&](const Gram<T>& gram) { gram.matrix(k.view()); });
    refused(
        [&](const Gram<T>& gram) { gram.block(gram.prepare(rows), gram.reference(), k.view()); });
    refused([&](const Gram<T>& gram) {
        std::vector<double> sums(rows.size());
        const std::vector<double> weights(rows.size(), 1.0);
        gram.add_product(gram.reference(), gram.reference(), weights, sums);
    });
}

TEST(Gram, PowersOutsideTheirDomainAreAnErrorAndNotNaN) {
    // One pair among many has a negative product, at every place a vector register may hold it.
    for (const std::size_t bad : {1U, 2U, 17U, 36U}) {
        std::vector<double> values(37, 1.0);
        values[bad] = -2;
        const Rows rows = Rows::dense(std::move(values), 1);
        const std::string pair = "between row 1 and row " + std::to_string(bad + 1);
        expect_refused<float>("linear^0.2", rows, pair);
        expect_refused<double>("linear^0.2", rows, pair);
        expect_refused<double>("0.5*linear^0.2 + rbf(gamma=1)", rows, "not a number");
    }
    const Rows zero = Rows::dense(std::vector<double>{1, 0, 2, 3}, 1);
    expect_refused<double>("linear^-1", zero, "infinite");
    // Within the domain nothing is refused, and zeros are fine for positive powers.
    Matrix<double> k(4, 4);
    Gram<double>(Kernel::parse("linear^0.2"), zero).matrix(k.view());
    EXPECT_NEAR(k(2, 3), std::pow(6, 0.2), 1e-14);
    EXPECT_EQ(k(0, 1), 0);
    // The diagonal alone, where it is what fails.
    const Rows mixed = Rows::dense(std::vector<double>{1, 2}, 1);
    const Gram<double> gram(Kernel::parse("(linear - 2)^0.5"), mixed);
    std::vector<double> diagonal(2);
    EXPECT_THROW(gram.diagonal(gram.reference(), diagonal), InvalidInput);
}

TEST(Gram, WhatIsTooLargeForSinglePrecisionIsAnErrorAndNotOne) {
    // ‖x‖² overflows, and inf − inf passed for a distance of 0.
    std::vector<double> values(2 * 70, 1e20);
    values[0] = 3e20;
    const Rows rows = Rows::dense(std::move(values), 70);
    EXPECT_THROW(Gram<float>(polynomial({.degree = 2}), rows), InvalidInput);
    const Gram<double> gram(linear(), rows);
    Matrix<double> k(2, 2);
    gram.matrix(k.view());
    EXPECT_NEAR(k(1, 1), 70e40, 1e30);
    const Rows large = Rows::dense(std::vector<double>{1e10, 1, 2, 3}, 1);
    expect_refused<float>("linear^4", large, "infinite");
}

TEST(Gram, StopsWhenToldTo) {
    const Gram<float> gram(linear(), random_rows(1200, 3, 1, 19));
    Matrix<float> k(1200, 1200);
    int calls = 0;
    const Progress stop = [&](const Moment&) { return ++calls < 2; };
    EXPECT_THROW(gram.matrix(k.view(), stop), Cancelled);
    EXPECT_EQ(calls, 2);
}

TEST(Gram, BytesAndOtherRowsMixWithoutLoss) {
    const Rows images = byte_rows(70, 100, 20);
    const Rows others = random_rows(30, 100, 1, 21);
    expect_agreement<float>("rbf(gamma=0.02) + polynomial(degree=2, gamma=0.01)", others, images,
                            1e-5);
}

/// Rows under a linear kernel are packed at the first block, whoever asks for it first.
TEST(Gram, PlainRowsGiveTheSameSumsBeforeAndAfterABlock) {
    for (const bool sparse : {false, true}) {
        const Rows all =
            sparse ? random_rows(90, 70, 0.2, 22).to_sparse().to_float() : byte_rows(90, 70, 22);
        const Gram<float> gram(Kernel::parse("linear"), all);
        std::vector<std::size_t> odd;
        for (std::size_t i = 1; i < all.size(); i += 2) odd.push_back(i);
        const Points<float> some = gram.select(gram.reference(), odd);
        std::vector<double> weights(all.size(), 0.0), before(odd.size(), 0.0), after = before;
        std::vector<double> of_some;
        for (std::size_t r = 0; r < odd.size(); ++r) {
            of_some.push_back(0.1 * static_cast<double>(r) - 1);
            weights[odd[r]] = of_some[r];
        }
        gram.add_product(gram.reference(), some, weights, before);
        gram.add_product(gram.reference(), odd, some, of_some, after);
        EXPECT_EQ(before, after);
        // Several threads come to the first block at once.
        std::vector<Matrix<float>> blocks(4, Matrix<float>(odd.size(), odd.size()));
        parallel_for(blocks.size(),
                     [&](std::size_t b) { gram.block(some, some, blocks[b].view()); });
        const Definition k(gram.kernel(), all);
        for (std::size_t i = 0; i < odd.size(); ++i) {
            const auto x = row_of(all, odd[i]);
            double sum = 0;
            for (std::size_t j = 0; j < odd.size(); ++j) {
                const double expected = k(row_of(all, odd[j]), x);
                for (const Matrix<float>& block : blocks) {
                    ASSERT_NEAR(block(j, i), expected, 1e-5 * (1 + std::abs(expected)));
                }
                sum += of_some[j] * expected;
            }
            EXPECT_NEAR(before[i], sum, 1e-5 * (1 + std::abs(sum)));
        }
    }
}

/// They are lent where they are the features, and outlive the engine.
TEST(Gram, ExplicitRowsAreTheFeaturesAndStay) {
    for (const char* text : {"linear", "2*linear + 3", "normalize(linear)"}) {
        for (const double share : {0.1, 0.9}) {
            const Rows rows = random_rows(40, 30, share, 23).to_sparse();
            std::optional<ExplicitRows<double>> found;
            Matrix<double> k(rows.size(), rows.size());
            {
                const Gram<double> gram(Kernel::parse(text), rows);
                found = gram.explicit_rows(gram.reference(), Columns::all());
                gram.matrix(k.view());
            }
            ASSERT_TRUE(found);
            EXPECT_EQ(found->is_sparse(), share < 0.3);
            Matrix<double> full(found->size, found->columns);
            for (std::size_t i = 0; i < found->size; ++i) {
                const std::size_t first =
                    found->is_sparse() ? found->starts[i] : i * full.columns();
                const std::size_t last =
                    found->is_sparse() ? found->starts[i + 1] : first + full.columns();
                for (std::size_t a = first; a < last; ++a) {
                    full(i, found->is_sparse() ? found->index[a] : a - first) = found->values[a];
                }
            }
            for (std::size_t i = 0; i < rows.size(); ++i) {
                for (std::size_t j = 0; j < rows.size(); ++j) {
                    double sum = 0;
                    for (std::size_t c = 0; c < full.columns(); ++c) sum += full(i, c) * full(j, c);
                    ASSERT_NEAR(sum, k(i, j), 1e-12 * (1 + std::abs(k(i, j)))) << text;
                }
            }
        }
    }
}

}  // namespace
}  // namespace mercer
