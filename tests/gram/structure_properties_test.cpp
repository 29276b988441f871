// What every kernel on structures promises, over all of them and fifty random samples: the engine
// gives the definition in either precision, the matrix is positive semi-definite where the rule
// says so, and text reads back as itself.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "kernel/structures/support.hpp"
#include "mercer/gram/gram.hpp"

namespace mercer::test {
namespace {

constexpr std::size_t rows_of_a_sample = 8;

std::string random_tree(Random& random, int depth) {
    if (depth == 0 || random.uniform() < 0.2) return std::string(1, "xyz"[random.below(3)]);
    std::string text = "(" + std::string(1, "ABC"[random.below(3)]);
    for (std::size_t k = 1 + random.below(3); k > 0; --k) {
        text += " " + random_tree(random, depth - 1);
    }
    return text + ")";
}

Rows text_sample(Random& random) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < rows_of_a_sample; ++i) {
        texts.push_back(random_text(random, 4 + random.below(12), "ACGT"));
    }
    return Rows().with_objects({ObjectColumn::texts("text", texts)});
}
Rows word_sample(Random& random) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < rows_of_a_sample; ++i) {
        texts.push_back(random_text(random, 4 + random.below(20), "ab c"));
    }
    return Rows().with_objects({ObjectColumn::texts("text", texts)});
}
Rows tree_sample(Random& random) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < rows_of_a_sample; ++i) texts.push_back(random_tree(random, 3));
    return Rows().with_objects({ObjectColumn::texts("tree", texts)});
}
Rows series_sample(Random& random) {
    std::vector<double> values(rows_of_a_sample * 8);
    for (double& v : values) v = random.normal();
    return Rows::dense(std::move(values), 8);
}
Rows graph_sample(Random& random) {
    Graphs graphs;
    for (std::size_t i = 0; i < rows_of_a_sample; ++i) {
        OwnGraph graph = random_graph(random, {.most_nodes = 7, .labels = 2, .attributes = 1});
        while (graph.around.size() < 2) {
            graph = random_graph(random, {.most_nodes = 7, .labels = 2, .attributes = 1});
        }
        graphs.push_back(graph.view());
    }
    return Rows().with_objects({ObjectColumn::graphs("graph", std::move(graphs))});
}
Rows node_sample(Random& random) {
    std::vector<WeightedEdge> edges;
    std::vector<std::size_t> nodes;
    for (std::uint32_t v = 0; v < 20; ++v) {
        for (std::uint32_t w = 0; w < v; ++w) {
            if (random.uniform() < 0.15) edges.push_back({v, w, random.uniform(0.1, 2)});
        }
    }
    for (std::size_t i = 0; i < rows_of_a_sample; ++i) nodes.push_back(random.below(20));
    return Rows().with_objects(
        {ObjectColumn::nodes("node", weighted_graph_of(20, edges), std::move(nodes))});
}

using Sampler = Rows (*)(Random&);
const std::multimap<std::string, Sampler>& cases() {
    static const std::multimap<std::string, Sampler> list{
        {"spectrum(k=2)", text_sample},
        {"spectrum(k=2, alphabet=dna, strand=both)", text_sample},
        {"words(n=2)", word_sample},
        {"words(binary=true)", word_sample},
        {"words(n=2, idf=true)", word_sample},
        {"mismatch(k=3, m=1, alphabet=dna)", text_sample},
        {"gapped(g=4, m=2)", text_sample},
        {"wd(degree=3, shift=2)", text_sample},
        {"locality_improved(window=1, d1=2, d2=2)", text_sample},
        {"subsequence(length=3, decay=0.6, up_to=true)", text_sample},
        {"local_alignment(beta=0.4)", text_sample},
        {"dynamic_alignment(same=0.8)", text_sample},
        {"oligo(k=1, sigma=1.5)", text_sample},
        {"oligo(k=2, sigma=0.3, alphabet=dna)", text_sample},
        {"subtree(decay=0.5)", tree_sample},
        {"subset_tree(decay=0.4)", tree_sample},
        {"partial_tree(decay=0.4, mu=0.5)", tree_sample},
        {"gak(sigma=1, width=2)", series_sample},
        {"signature(level=3, width=2)", series_sample},
        {"wl(iterations=2)", graph_sample},
        {"shortest_path", graph_sample},
        {"graphlet(size=3)", graph_sample},
        {"propagation(iterations=2)", graph_sample},
        {"random_walk(lambda=0.01)", graph_sample},
        {"diffusion(beta=0.7)", node_sample},
        {"diffusion(beta=2, laplacian=normalized)", node_sample},
        {"regularized_laplacian(beta=0.7)", node_sample},
        {"p_step(a=2, p=3)", node_sample},
        {"fisher(gmm(components=2))", series_sample},
        {"fisher(hmm(states=2, iterations=5))", text_sample},
        {"top(gmm(components=2))", series_sample},
        {"top(hmm(states=2, iterations=5))", text_sample},
        {"marginalised(hmm(states=2, iterations=5))", text_sample},
        {"marginalised(hmm(states=2, iterations=5), order=2)", text_sample},
        {"sets(rbf(gamma=1), width=2, mean=true)", series_sample},
        {"sets(spectrum(k=1), split=words, mean=true)", word_sample},
        {"rbf_of(sets(rbf(gamma=1), width=2, mean=true), gamma=0.5)", series_sample},
    };
    return list;
}

Object object_at(const Rows& rows, std::size_t i, std::vector<double>& room) {
    if (!rows.objects().empty()) return rows.objects()[0].at(i);
    room.resize(rows.columns());
    rows.copy_row(i, room);
    return std::span<const double>(room);
}

template <class T>
void expect_matrix(const Kernel& kernel, const Rows& rows, const Matrix<double>& expected,
                   double tolerance) {
    Matrix<T> found(rows.size(), rows.size());
    Gram<T>(kernel, rows).matrix(found.view());
    // |k(x, z)| <= √(k(x,x) k(z,z)): what products of features can be exact to.
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < rows.size(); ++j) {
            const double size = std::sqrt(expected(i, i) * expected(j, j));
            ASSERT_NEAR(static_cast<double>(found(i, j)), expected(i, j), tolerance * (1 + size));
        }
    }
}

TEST(StructureProperties, HoldForFiftySamples) {
    const std::vector<std::int32_t> classes{0, 1, 0, 1, 0, 1, 0, 1};
    for (const auto& [text, sampler] : cases()) {
        SCOPED_TRACE(text);
        for (std::uint64_t sample = 0; sample < 50; ++sample) {
            Random random(sample, 7);
            const Rows rows = sampler(random);
            const Kernel kernel = resolve(Kernel::parse(text), rows, {}, classes);
            ASSERT_EQ(Kernel::parse(kernel.text()).text(), kernel.text());
            Matrix<double> expected(rows.size(), rows.size());
            std::vector<double> a;
            std::vector<double> b;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                for (std::size_t j = 0; j < rows.size(); ++j) {
                    expected(i, j) = evaluate(kernel, object_at(rows, i, a), object_at(rows, j, b));
                }
            }
            expect_matrix<float>(kernel, rows, expected, 1e-6);
            expect_matrix<double>(kernel, rows, expected, 1e-12);
            ASSERT_EQ(definiteness(kernel).definite, Definite::positive);
            ASSERT_GT(relative_least_eigenvalue(expected), -1e-12);
        }
    }
}

TEST(StructureProperties, AreAskedOfEveryKernelOnStructures) {
    std::set<std::string> asked{"tangent_distance"};  // of pictures, and not positive definite
    for (const auto& [text, ignored] : cases()) {
        asked.insert(text.substr(0, text.find('(')));
    }
    for (const Leaf* leaf : built_in_leaves()) {
        const std::string& name = leaf->entry.name;
        EXPECT_TRUE(!is_object_leaf(*leaf) || asked.contains(name)) << name;
    }
}

}  // namespace
}  // namespace mercer::test
