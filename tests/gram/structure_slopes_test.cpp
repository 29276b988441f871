// Kernels on structures in GramGradient: values as in the engine, slopes against differences.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "mercer/base/error.hpp"
#include "mercer/gram/gradient.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/kernel/parameters.hpp"

namespace mercer {
namespace {

Rows texts(std::size_t count) {
    std::mt19937 random(1);
    std::vector<std::string> list(count);
    for (std::string& text : list) {
        const std::size_t length = 3 + random() % 12;
        for (std::size_t i = 0; i < length; ++i) text += "ACGT"[random() % 4];
    }
    return Rows().with_objects({ObjectColumn::texts("sequence", list)});
}

Rows numbers(std::size_t count, std::size_t columns) {
    std::mt19937 random(2);
    std::vector<double> values(count * columns);
    for (double& v : values) v = static_cast<double>(random() % 1000) / 500 - 1;
    return Rows::dense(std::move(values), columns);
}

Rows graphs(std::size_t count) {
    std::mt19937 random(3);
    Graphs all;
    for (std::size_t g = 0; g < count; ++g) {
        std::vector<Edge> edges;
        std::vector<std::int64_t> labels;
        for (std::uint32_t v = 0; v < 6; ++v) {
            labels.push_back(static_cast<std::int64_t>(random() % 2));
            for (std::uint32_t w = 0; w < v; ++w) {
                if (random() % 3 == 0) edges.push_back({v, w});
            }
        }
        all.push_back(graph_of(6, edges, false, labels).view(0));
    }
    return Rows().with_objects({ObjectColumn::graphs("graph", std::move(all))});
}

Rows nodes(std::size_t count) {
    std::vector<WeightedEdge> edges;
    std::vector<std::size_t> all;
    for (std::uint32_t v = 0; v < count; ++v) {
        all.push_back(v);
        if (v > 0) edges.push_back({v, v - 1, 1 + v % 3 * 0.5});
        if (v > 3) edges.push_back({v, v / 2, 0.7});
    }
    return Rows().with_objects(
        {ObjectColumn::nodes("node", weighted_graph_of(count, edges), std::move(all))});
}

Matrix<double> matrix_of(const Kernel& kernel, const Rows& rows) {
    Matrix<double> k(rows.size(), rows.size());
    Gram<double>(kernel, rows).matrix(k.view());
    return k;
}

void expect_slopes(const std::string& text, const Rows& rows) {
    SCOPED_TRACE(text);
    const GramGradient g(Kernel::parse(text), rows);
    const std::size_t size = rows.size();
    const std::size_t count = g.parameters().size();
    ASSERT_GT(count, 0U);
    Matrix<double> value(size, size);
    std::vector<Matrix<double>> slopes(count, Matrix<double>(size, size));
    std::vector<MatrixView<double>> views;
    for (auto& slope : slopes) views.push_back(slope.view());
    g.block(0, 0, value.view(), views);
    const Matrix<double> expected = matrix_of(g.kernel(), rows);
    std::vector<double> at;
    for (const KernelParameter& p : g.parameters()) at.push_back(p.value);
    for (std::size_t p = 0; p < count; ++p) {
        const double h = 1e-5 * at[p];
        std::vector<double> up = at;
        std::vector<double> down = at;
        up[p] += h;
        down[p] -= h;
        const Matrix<double> above = matrix_of(with_parameters(g.kernel(), up), rows);
        const Matrix<double> below = matrix_of(with_parameters(g.kernel(), down), rows);
        for (std::size_t e = 0; e < size * size; ++e) {
            const double difference = (above.values()[e] - below.values()[e]) / (2 * h);
            EXPECT_NEAR(slopes[p].values()[e], difference, 1e-6 * (1 + std::fabs(difference)))
                << g.parameters()[p].name << " " << e;
            EXPECT_NEAR(value.values()[e], expected.values()[e],
                        1e-12 * (1 + std::fabs(expected.values()[e])));
        }
    }
}

TEST(StructureSlopes, AreDifferencesOfValues) {
    const Rows some = texts(7);
    expect_slopes("subsequence(length=3, decay=0.4)", some);
    expect_slopes("normalize(subsequence(length=4, decay=0.7, up_to=true))", some);
    expect_slopes("subsequence(length=1, decay=0.7)", some);
    expect_slopes("oligo(k=2, sigma=1.7)", some);
    expect_slopes("gak(sigma=0.8)", numbers(6, 9));
    expect_slopes("2*gak(sigma=1.5, width=2, band=3) + rbf(gamma=0.3)", numbers(6, 8));
    expect_slopes("random_walk(lambda=0.01)", graphs(6));
    expect_slopes("normalize(random_walk(lambda=0.02))", graphs(6));
    expect_slopes("diffusion(beta=0.6)", nodes(12));
    expect_slopes("diffusion(beta=2, laplacian=normalized)", nodes(12));
    expect_slopes("normalize(regularized_laplacian(beta=0.6))", nodes(12));
    expect_slopes("p_step(a=2.5, p=3)", nodes(12));
    expect_slopes("rbf_of(sets(rbf(gamma=0.7), width=3, mean=true), gamma=0.5)", numbers(5, 9));
    expect_slopes("sets(subsequence(length=2, decay=0.4), split=words, mean=true)", some);
}

TEST(StructureSlopes, OfMixturesWithNumbers) {
    const Rows mixed = numbers(7, 2).with_objects({texts(7).objects()[0], nodes(7).objects()[0]});
    expect_slopes("rbf(gamma=0.5)*subsequence(length=2, decay=0.4) + 0.5*diffusion(beta=0.3)[node]",
                  mixed);
}

TEST(StructureSlopes, OfTwoRowsByThePair) {
    const Rows rows = numbers(2, 6);
    std::vector<double> x(6);
    std::vector<double> z(6);
    rows.copy_row(0, x);
    rows.copy_row(1, z);
    const auto at = [&](double sigma) {
        return Kernel::parse("gak(sigma=" + std::to_string(sigma) + ")")(x, z);
    };
    const auto slope = parameter_gradient(Kernel::parse("gak(sigma=0.9)"), x, z);
    ASSERT_EQ(slope.size(), 1U);
    EXPECT_NEAR(slope[0], (at(0.9001) - at(0.8999)) / 0.0002, 1e-6);
}

TEST(StructureSlopes, ThatAreNotThereAreRefused) {
    const GramGradient g(Kernel::parse("local_alignment(beta=0.5)"), texts(3));
    Matrix<double> value(3, 3);
    g.matrix(value.view());
    Matrix<double> weights(3, 3);
    EXPECT_THROW(g.contract(weights.view()), InvalidInput);
}

}  // namespace
}  // namespace mercer
