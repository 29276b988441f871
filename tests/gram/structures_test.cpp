// Texts and graphs in the Gram engine: both doors against the definition.
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/gram/detail/collapse.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/kernel/detail/leaf.hpp"
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

std::vector<std::string> random_texts(std::size_t count, std::size_t longest, unsigned seed,
                                      const std::string& letters = "ACGT") {
    std::mt19937 random(seed);
    std::vector<std::string> texts(count);
    for (std::string& text : texts) {
        const std::size_t length = random() % (longest + 1);
        for (std::size_t i = 0; i < length; ++i) text += letters[random() % letters.size()];
    }
    return texts;
}

Rows text_rows(const std::vector<std::string>& texts, const std::string& name = "sequence") {
    return Rows().with_objects({ObjectColumn::texts(name, texts)});
}

/// k of every pair, by the definition.
Matrix<double> defined(const Kernel& kernel, const Rows& x, const Rows& z) {
    Matrix<double> values(x.size(), z.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t j = 0; j < z.size(); ++j) {
            values(i, j) = evaluate(kernel, x.objects()[0].at(i), z.objects()[0].at(j));
        }
    }
    return values;
}

template <class T>
void expect_near(const Matrix<double>& expected, const Matrix<T>& found, double tolerance) {
    ASSERT_EQ(expected.rows(), found.rows());
    ASSERT_EQ(expected.columns(), found.columns());
    for (std::size_t i = 0; i < found.rows(); ++i) {
        for (std::size_t j = 0; j < found.columns(); ++j) {
            const double e = expected(i, j);
            EXPECT_NEAR(e, static_cast<double>(found(i, j)), tolerance * (1 + std::abs(e)))
                << i << ", " << j;
        }
    }
}

template <class T>
void expect_defined(const Kernel& kernel, const Rows& x, const Rows& more) {
    const double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-12;
    const Gram<T> gram(kernel, x);
    Matrix<T> own(x.size(), x.size());
    gram.matrix(own.view());
    expect_near(defined(gram.kernel(), x, x), own, tolerance);

    const Points<T> others = gram.prepare(more);
    Matrix<T> between(more.size(), x.size());
    gram.block(others, gram.reference(), between.view());
    expect_near(defined(gram.kernel(), more, x), between, tolerance);

    Matrix<T> among(more.size(), more.size());  // features that the reference has not count here
    gram.block(others, others, among.view());
    const Matrix<double> expected = defined(gram.kernel(), more, more);
    expect_near(expected, among, tolerance);
    std::vector<double> diagonal(more.size());
    gram.diagonal(others, diagonal);
    for (std::size_t i = 0; i < more.size(); ++i) {
        EXPECT_NEAR(expected(i, i), diagonal[i], tolerance * (1 + expected(i, i)));
    }

    const std::vector<std::size_t> chosen{2, 0, 5};
    Matrix<T> part(chosen.size(), chosen.size());
    gram.block(gram.select(gram.reference(), chosen, false), gram.select(gram.reference(), chosen),
               part.view());
    expect_near(defined(gram.kernel(), x.select(chosen), x.select(chosen)), part, tolerance);
}

TEST(Structures, ExplicitFeaturesGiveTheDefinition) {
    const Rows x = text_rows(random_texts(40, 30, 1));
    const Rows more = text_rows(random_texts(25, 50, 2, "ACGTN"));
    for (const char* text :
         {"spectrum(k=3)", "normalize(spectrum(k=2))", "spectrum(k=1) + 2*spectrum(k=4)^2",
          "map(intersection, spectrum(k=2))", "map(rbf(gamma=0.05), spectrum(k=3))",
          "rbf_of(spectrum(k=2), gamma=0.01)", "spectrum(k=3, alphabet=dna, strand=both)",
          "spectrum(k=2, from=3, to=20)[sequence]"}) {
        SCOPED_TRACE(text);
        const Kernel kernel = Kernel::parse(text);
        EXPECT_EQ(Kernel::parse(kernel.text()), kernel);
        expect_defined<float>(kernel, x, more);
        expect_defined<double>(kernel, x, more);
    }
}

/// The length of the common beginning: a kernel by pairs, positive definite as it counts equal
/// beginnings.
class CommonBeginnings final : public ObjectPairs {
   public:
    explicit CommonBeginnings(std::span<const Object> objects) {
        for (const Object& object : objects)
            texts_.emplace_back(std::get<std::string_view>(object));
    }
    void row(std::size_t i, const ObjectPairs& z, std::span<const std::uint32_t> columns,
             std::span<double> out) const override {
        const auto& others = static_cast<const CommonBeginnings&>(z).texts_;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const std::string& a = texts_[i];
            const std::string& b = others[columns[c]];
            std::size_t same = 0;
            while (same < std::min(a.size(), b.size()) && a[same] == b[same]) ++same;
            out[c] = static_cast<double>(same);
        }
    }
    double pair_work() const override { return 1e5; }  // so that tiles become small

   private:
    std::vector<std::string> texts_;
};

TEST(Structures, PairsGiveTheDefinition) {
    register_leaf({.entry = {.name = "beginnings", .formula = "letters in common at the beginning"},
                   .objects = ObjectKind::text,
                   .prepare = [](const KernelNode&, std::span<const Object> objects)
                       -> std::unique_ptr<const ObjectPairs> {
                       return std::make_unique<const CommonBeginnings>(objects);
                   }});
    const Rows x = text_rows(random_texts(90, 12, 3, "AC"));
    const Rows more = text_rows(random_texts(70, 12, 4, "AC"));
    for (const char* text : {"beginnings", "normalize(beginnings) + spectrum(k=2)"}) {
        SCOPED_TRACE(text);
        expect_defined<float>(Kernel::parse(text), x, more);
        expect_defined<double>(Kernel::parse(text), x, more);
    }
}

TEST(Structures, MixWithNumbers) {
    const std::vector<std::string> texts = random_texts(20, 15, 5);
    std::vector<double> numbers;
    for (std::size_t i = 0; i < 60; ++i) numbers.push_back(std::sin(static_cast<double>(i)));
    const Rows plain = Rows::dense(numbers, 3);
    const Rows x = plain.with_objects({ObjectColumn::texts("sequence", texts),
                                       ObjectColumn::texts("other", random_texts(20, 9, 6))});
    const Kernel kernel = Kernel::parse(
        "rbf(gamma=1)[0:2] + 0.5*normalize(spectrum(k=3)[sequence])*spectrum(k=1)[other]");
    const Gram<double> gram(kernel, x);
    Matrix<double> all(20, 20);
    gram.matrix(all.view());
    const Kernel first = Kernel::parse("normalize(spectrum(k=3))");
    const Kernel second = Kernel::parse("spectrum(k=1)");
    for (std::size_t i = 0; i < 20; ++i) {
        for (std::size_t j = 0; j < 20; ++j) {
            std::vector<double> a(3);
            std::vector<double> b(3);
            x.copy_row(i, a);
            x.copy_row(j, b);
            const double expected =
                rbf({.gamma = 1.0})(std::span(a).first(2), std::span(b).first(2)) +
                0.5 * evaluate(first, x.objects()[0].at(i), x.objects()[0].at(j)) *
                    evaluate(second, x.objects()[1].at(i), x.objects()[1].at(j));
            EXPECT_NEAR(expected, all(i, j), 1e-12);
        }
    }
}

std::string message_of(const std::string& kernel, const Rows& rows) {
    try {
        const Gram<float> gram(Kernel::parse(kernel), rows);
    } catch (const InvalidInput& error) {
        return error.what();
    }
    return {};
}

TEST(Structures, WhatDoesNotFitIsRefused) {
    const Rows texts = text_rows({"AC", "GT"});
    const Rows two = Rows().with_objects(
        {ObjectColumn::texts("a", {"AC", "GT"}), ObjectColumn::texts("b", {"AC", "GT"})});
    const Rows mixed = Rows::dense(std::vector<double>{1, 2}, 1)
                           .with_objects({ObjectColumn::texts("a", {"x", "y"})});
    EXPECT_NE(message_of("rbf(gamma=1)", texts).find("reads numbers"), std::string::npos);
    EXPECT_NE(message_of("linear", mixed).find("the column 'a' holds text"), std::string::npos);
    EXPECT_NE(message_of("spectrum", two).find("say which of a or b"), std::string::npos);
    EXPECT_NE(message_of("spectrum[a]", two).find("the column 'b' holds text"), std::string::npos);
    EXPECT_NE(message_of("spectrum[c]", two).find("no column 'c'"), std::string::npos);
    EXPECT_NE(message_of("spectrum", Rows::dense(std::vector<double>{1, 2}, 1))
                  .find("there is no column of texts"),
              std::string::npos);
    EXPECT_NE(message_of("linear[a]", mixed).find("reads numbers"), std::string::npos);
    EXPECT_EQ(message_of("linear + spectrum(k=1)", mixed), "");
    EXPECT_THROW(Kernel::parse("spectrum(k=2, strand=both)"), InvalidInput);
    EXPECT_THROW(Kernel::parse("spectrum(alphabet=rna)"), InvalidInput);
    EXPECT_THROW(map(rbf(), linear()), InvalidInput);
}

TEST(Structures, SetsOfVectorsAndOfTextsGiveTheDefinition) {
    std::mt19937 random(8);
    const auto counted = [&](std::size_t rows) {
        std::vector<double> values;
        for (std::size_t i = 0; i < rows; ++i) {
            values.push_back(static_cast<double>(random() % 4));  // 0 too: an empty set
            for (int c = 0; c < 6; ++c) values.push_back(static_cast<double>(random() % 100) / 50);
        }
        return Rows::dense(std::move(values), 7);
    };
    const Rows x = counted(20);
    for (const char* text : {"sets(rbf(gamma=1), width=2, counted=true)",
                             "sets(rbf(gamma=1), width=2, counted=true, mean=true)",
                             "rbf_of(sets(rbf(gamma=1), width=2, counted=true, mean=true))",
                             "sets(gak(sigma=1), width=2, counted=true, mean=true)"}) {
        SCOPED_TRACE(text);
        const Kernel kernel = Kernel::parse(text);
        EXPECT_EQ(Kernel::parse(kernel.text()), kernel);
        const Gram<double> gram(kernel, x);
        Matrix<double> all(20, 20);
        gram.matrix(all.view());
        std::vector<double> a(7);
        std::vector<double> b(7);
        for (std::size_t i = 0; i < 20; ++i) {
            for (std::size_t j = 0; j < 20; ++j) {
                x.copy_row(i, a);
                x.copy_row(j, b);
                EXPECT_NEAR(all(i, j), kernel(a, b), 1e-12);
            }
        }
    }
    const auto parts = [&](std::size_t count, unsigned seed) {
        std::vector<std::string> list = random_texts(count, 20, seed, "AC \n,");
        list[1] = "";
        return text_rows(list);
    };
    for (const char* text :
         {"sets(spectrum(k=2), split=lines)", "sets(spectrum(k=1), split=words, mean=true)",
          "normalize(sets(subsequence(length=2), split=commas))",
          "rbf_of(sets(spectrum(k=1), split=words, mean=true), gamma=0.5)"}) {
        SCOPED_TRACE(text);
        const Kernel kernel = Kernel::parse(text);
        EXPECT_EQ(Kernel::parse(kernel.text()), kernel);
        expect_defined<float>(kernel, parts(30, 9), parts(12, 10));
        expect_defined<double>(kernel, parts(30, 9), parts(12, 10));
    }
    EXPECT_THROW(Kernel::parse("sets(spectrum(k=1), split=words, width=2)"), InvalidInput);
    EXPECT_THROW(Kernel::parse("sets(spectrum(k=1))"), InvalidInput);
    EXPECT_NE(message_of("sets(spectrum(k=1), split=words)", x).find("there is no column of texts"),
              std::string::npos);
}

TEST(Structures, NodesOfOneGraphGiveTheDefinition) {
    std::vector<WeightedEdge> edges;
    std::vector<std::size_t> all;
    for (std::uint32_t v = 0; v < 80; ++v) {
        all.push_back(v);
        if (v % 20 != 0) edges.push_back({v, v - 1, 1.0 + v % 2});
        if (v % 20 > 5) edges.push_back({v, v - 5});
    }
    const Rows x = Rows().with_objects(
        {ObjectColumn::nodes("node", weighted_graph_of(80, edges), std::move(all))});
    std::vector<std::size_t> odd;
    for (std::size_t i = 1; i < 80; i += 2) odd.push_back(i);
    for (const char* text : {"diffusion(beta=0.5)", "normalize(regularized_laplacian(beta=3))",
                             "p_step(a=2, p=3) + 0.5*diffusion(beta=1, laplacian=normalized)"}) {
        SCOPED_TRACE(text);
        expect_defined<float>(Kernel::parse(text), x.select(odd), x);
        expect_defined<double>(Kernel::parse(text), x.select(odd), x);
    }
    const Rows mixed = Rows::dense(std::vector<double>(80, 1.0), 1).with_objects({x.objects()[0]});
    EXPECT_NE(message_of("linear", mixed).find("holds nodes of a graph"), std::string::npos);
    EXPECT_NE(message_of("wl", x).find("there is no column of graphs"), std::string::npos);
    EXPECT_EQ(concatenate(x, x).objects()[0].node(81).node, 1U);
}

TEST(Structures, ModelsInsideAreFittedToWhatTheySee) {
    const std::vector<std::string> texts = random_texts(30, 15, 11);
    std::vector<double> numbers;
    std::mt19937 random(12);
    for (std::size_t i = 0; i < 90; ++i) numbers.push_back(static_cast<double>(random() % 100));
    const Rows x = Rows::dense(numbers, 3).with_objects({ObjectColumn::texts("sequence", texts)});
    std::vector<std::int32_t> classes;
    for (int i = 0; i < 30; ++i) classes.push_back(i % 3 == 0 ? 1 : 0);
    const Kernel kernel = Kernel::parse(
        "normalize(fisher(gmm(components=2))[0:2]) + fisher(hmm(states=2))[sequence]");
    const Kernel found = resolve(kernel, x);
    EXPECT_FALSE(found.needs_data());
    // Columns that the model does not see, and classes, change nothing.
    std::vector<double> other = numbers;
    for (std::size_t i = 2; i < 90; i += 3) other[i] = 0;
    const Rows changed =
        Rows::dense(other, 3).with_objects({ObjectColumn::texts("sequence", texts)});
    EXPECT_EQ(resolve(kernel, changed), found);
    EXPECT_EQ(resolve(kernel, x, {}, classes), found);
    other[0] += 50;
    EXPECT_NE(resolve(kernel,
                      Rows::dense(other, 3).with_objects({ObjectColumn::texts("sequence", texts)})),
              found);
    const Gram<double> gram(kernel, x);
    EXPECT_EQ(gram.kernel(), found);
    Matrix<double> all(30, 30);
    gram.matrix(all.view());
    Matrix<double> again(30, 30);
    Gram<double>(Kernel::parse(found.text()), x).matrix(again.view());
    EXPECT_EQ(all.values(), again.values());

    const Kernel odds = Kernel::parse("top(hmm(states=2))[sequence] + linear");
    EXPECT_TRUE(waits_for_classes(odds));
    EXPECT_FALSE(waits_for_classes(kernel));
    EXPECT_NE(message_of(odds.text(), x).find("waits for labels"), std::string::npos);
    EXPECT_FALSE(resolve(odds, x, {}, classes).needs_data());
    EXPECT_NE(message_of("sets(fisher(gmm), width=3)", Rows::dense(numbers, 3)).find("cannot be"),
              std::string::npos);
    EXPECT_NE(message_of("fisher(hmm)", Rows::dense(numbers, 3)).find("reads texts"),
              std::string::npos);
}

TEST(Structures, RowsOfOtherSetsThatNeverMetAreNotMixedUp) {
    const Gram<float> gram(Kernel::parse("spectrum(k=2)"), text_rows({"AC", "GT"}));
    const Points<float> a = gram.prepare(text_rows({"xyz"}));
    const Points<float> b = gram.prepare(text_rows({"uvw"}));
    Matrix<float> value(1, 1);
    EXPECT_THROW(gram.block(a, b, value.view()), std::logic_error);
}

/// Sums over many rows, which kernels with explicit features take as one function, against the
/// sums of the rows.
template <class T>
void expect_products(const Kernel& kernel, const Rows& x, const Rows& z) {
    SCOPED_TRACE(kernel.text());
    const Gram<T> gram(kernel, x);
    ASSERT_TRUE(collapses(gram.kernel()));
    const Points<T> columns = gram.prepare(z);
    std::vector<double> weights(x.size()), found(z.size(), 0.5), expected(z.size(), 0.5);
    for (std::size_t i = 0; i < x.size(); ++i) weights[i] = std::cos(static_cast<double>(i));
    gram.add_product(gram.reference(), columns, weights, found);
    Matrix<T> block(x.size(), z.size());
    gram.block(gram.reference(), columns, block.view());
    double largest = 0;
    for (std::size_t j = 0; j < z.size(); ++j) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            expected[j] += weights[i] * static_cast<double>(block(i, j));
            largest = std::max(largest, std::abs(static_cast<double>(block(i, j))));
        }
        EXPECT_NEAR(found[j], expected[j],
                    (sizeof(T) == 4 ? 1e-6 : 1e-13) * static_cast<double>(x.size()) * largest);
    }
}

TEST(Collapse, ProductsWithManyRowsAreTheSumsOfTheRows) {
    const Rows x = text_rows(random_texts(900, 60, 5));
    const Rows z = text_rows(random_texts(700, 60, 6, "ACGTN"));
    for (const char* text :
         {"spectrum(k=3)", "normalize(spectrum(k=2))", "wd(degree=6)",
          "normalize(wd(degree=20, alphabet=dna))", "2*normalize(spectrum(k=2) + wd(degree=4)) + 3",
          "map(intersection, spectrum(k=2)) + 0.5*normalize(wd(degree=5, shift=1)[sequence])"}) {
        expect_products<float>(Kernel::parse(text), x, z);
        expect_products<double>(Kernel::parse(text), x, z);
    }
    for (const char* text : {"spectrum(k=3)^2", "normalize(wd(degree=3) + 1)", "mismatch(k=3)",
                             "exp(wd)", "normalize(normalize(wd))", "center(wd)"}) {
        EXPECT_FALSE(collapses(Kernel::parse(text))) << text;
    }
}

/// Where the matrix does not fit into memory a kernel that collapses keeps no rows of it.
TEST(Collapse, OperatorsWithoutRoomGiveTheSameProducts) {
    const Rows x = text_rows(random_texts(300, 40, 7));
    for (const char* text : {"normalize(spectrum(k=3))", "wd(degree=5)"}) {
        const Gram<double> gram(Kernel::parse(text), x);
        const auto stored = make_operator(gram, {.reuse = Reuse::whole});
        const auto none = make_operator(gram, {.reuse = Reuse::marked, .memory_bytes = 1000});
        std::vector<double> weights(x.size()), expected(x.size()), found(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) weights[i] = std::sin(static_cast<double>(i));
        stored->apply(weights, expected);
        none->apply(weights, found);
        for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9) << i;
        std::vector<std::size_t> which(40), columns(100);
        for (std::size_t i = 0; i < which.size(); ++i) which[i] = 3 * i;
        for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = 2 * i + 1;
        const auto first = std::span(weights).first(which.size());
        std::vector<double> a(columns.size(), 0.0), b(columns.size(), 0.0);
        stored->add_rows(which, first, columns, std::nullopt, a);
        none->add_rows(which, first, columns, std::nullopt, b);
        for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-9) << i;
    }
}

}  // namespace
}  // namespace mercer
