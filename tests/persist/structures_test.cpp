// Models of texts and graphs: saved, loaded, and predicting by one weight a feature.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/feature/expansion.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer {
namespace {

Dataset random_texts(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::string> texts(count);
    std::vector<double> numbers;
    Dataset data;
    for (std::size_t i = 0; i < count; ++i) {
        const bool positive = i % 2 == 0;
        for (int k = 0; k < 30; ++k) texts[i] += "ACGT"[random() % 4];
        if (positive) texts[i].replace(10, 4, "TATA");
        data.y.values.push_back(positive ? 1 : -1);
        numbers.push_back(static_cast<double>(random() % 100) / 100);
    }
    data.x = Rows::dense(numbers, 1).with_objects({ObjectColumn::texts("sequence", texts)});
    return data;
}

Model trained(const std::string& kernel, const Dataset& data) {
    SvmSettings settings;
    settings.common.kernel = Kernel::parse(kernel);
    return svm(settings).fit(data);
}

TEST(TextModels, AreTheSameAfterAFile) {
    const Dataset data = random_texts(60, 1);
    const Dataset more = random_texts(40, 2);
    for (const char* kernel :
         {"spectrum(k=3)[sequence] + linear", "linear[0] + 0.5*normalize(spectrum(k=2)[sequence])",
          "center(spectrum(k=2)) + rbf(gamma=1)"}) {
        SCOPED_TRACE(kernel);
        const Model model = trained(kernel, data);
        const Model back = load_from_memory(save_to_memory(model), "memory");
        EXPECT_EQ(back.expansion().kernel, model.expansion().kernel);
        EXPECT_EQ(back.known_columns().objects, data.x.object_names());
        const Matrix<double> before = model.decision(more.x);
        EXPECT_EQ(before.values(), back.decision(more.x).values());
        EXPECT_EQ(save_to_memory(back), save_to_memory(model));
    }
    EXPECT_THROW(trained("spectrum(k=3)", data).decision(Rows::dense(std::vector<double>{1}, 1)),
                 InvalidInput);
}

/// Two groups of nodes with a few edges between them, of which some nodes have labels.
Dataset two_groups() {
    std::mt19937 random(7);
    std::vector<WeightedEdge> edges;
    for (std::uint32_t v = 0; v < 60; ++v) {
        for (std::uint32_t w = 0; w < v; ++w) {
            const bool same = v % 2 == w % 2;
            if (random() % 100 < (same ? 20U : 2U)) edges.push_back({v, w, same ? 1.5 : 1.0});
        }
    }
    Dataset data;
    std::vector<std::size_t> nodes;
    for (std::size_t v = 0; v < 60; ++v) {
        nodes.push_back(v);
        data.y.values.push_back(v % 2 == 0 ? 1 : -1);
    }
    data.x = Rows().with_objects(
        {ObjectColumn::nodes("node", weighted_graph_of(60, edges), std::move(nodes))});
    return data;
}

TEST(NodeModels, LearnFromFewLabelsAndAreTheSameAfterAFile) {
    const Dataset all = two_groups();
    const std::vector<std::size_t> few{0, 1, 10, 11, 24, 33};
    for (const char* kernel :
         {"normalize(diffusion(beta=3, laplacian=normalized))",
          "normalize(regularized_laplacian(beta=1))", "normalize(p_step(a=2, p=8))"}) {
        SCOPED_TRACE(kernel);
        const Model model = trained(kernel, all.select(few));
        const std::string file = save_to_memory(model);
        const Model back = load_from_memory(file, "memory");
        EXPECT_EQ(model.decision(all.x).values(), back.decision(all.x).values());
        EXPECT_EQ(save_to_memory(back), file);
        const Labels found = back.predict_labels(all.x);
        std::size_t right = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            right += found.values[i] == all.y.values[i] ? 1 : 0;
        }
        EXPECT_GE(right, 50U);  // guessing: 30 of 60
    }
    std::mt19937 random(8);
    const std::string good = save_to_memory(trained("diffusion(beta=0.3)", all.select(few)));
    for (int round = 0; round < 200; ++round) {
        std::string bad = good;
        bad[random() % bad.size()] = static_cast<char>(random());
        if (bad == good) continue;
        EXPECT_THROW(load_from_memory(bad, "memory"), InvalidInput);
    }
}

TEST(GenerativeModels, AreFittedToTheRowsOfTrainingAndKeptInTheFile) {
    const Dataset data = random_texts(60, 9);
    const Dataset more = random_texts(40, 10);
    for (const char* kernel :
         {"normalize(fisher(hmm(states=2, iterations=20))[sequence]) + linear",
          "normalize(top(hmm(states=2, iterations=20))[sequence]) + linear",
          "normalize(words(idf=true)[sequence]) + linear",
          "fisher(gmm(components=2))[0] + marginalised(hmm(states=2, iterations=20))[sequence]"}) {
        SCOPED_TRACE(kernel);
        const Model model = trained(kernel, data);
        EXPECT_FALSE(model.expansion().kernel.needs_data());
        const Model back = load_from_memory(save_to_memory(model), "memory");
        EXPECT_EQ(back.expansion().kernel, model.expansion().kernel);
        EXPECT_EQ(model.decision(more.x).values(), back.decision(more.x).values());
        // Other rows, another model: what is left out of training takes no part in it.
        std::vector<std::size_t> half;
        for (std::size_t i = 0; i < 30; ++i) half.push_back(i);
        EXPECT_NE(trained(kernel, data.select(half)).expansion().kernel, model.expansion().kernel);
    }
    SvmSettings settings;
    settings.task = Task::svr;
    settings.common.kernel = Kernel::parse("top(hmm(states=2))[sequence] + linear");
    EXPECT_THROW(svm(settings).fit(data), InvalidInput);
}

/// One number of the arrays of objects changed at a time: an error or a model, never a crash.
TEST(TextModels, DamageIsNoticed) {
    const std::string good = save_to_memory(trained("spectrum(k=3) + linear", random_texts(20, 3)));
    std::mt19937 random(4);
    for (int round = 0; round < 300; ++round) {
        std::string bad = good;
        bad[random() % bad.size()] = static_cast<char>(random());
        if (bad == good) continue;
        EXPECT_THROW(load_from_memory(bad, "memory"), InvalidInput);
    }
}

TEST(TextModels, CollapsedWeightsGiveTheSum) {
    const Dataset data = random_texts(50, 5);
    const Dataset more = random_texts(30, 6);
    Rows texts = Rows().with_objects({data.x.objects()[0]});
    Rows others = Rows().with_objects({more.x.objects()[0]});
    for (const char* text : {"spectrum(k=3)", "2*normalize(spectrum(k=2)) - 0.5*spectrum(k=1) + 3",
                             "normalize(2*spectrum(k=4)[sequence])",
                             "3*normalize(map(intersection, spectrum(k=2)))"}) {
        SCOPED_TRACE(text);
        Expansion e;
        e.kernel = Kernel::parse(text).resolve({}, {}, texts.object_names());
        e.points = texts;
        e.coefficients = Matrix<double>(2, texts.size());
        for (std::size_t i = 0; i < texts.size(); ++i) {
            e.coefficients(0, i) = std::sin(static_cast<double>(i));
            e.coefficients(1, i) = std::cos(3 * static_cast<double>(i));
        }
        e.bias = {0.5, -1};
        const Matrix<double> found = Evaluator(e)(others);
        for (std::size_t j = 0; j < others.size(); ++j) {
            for (std::size_t c = 0; c < 2; ++c) {
                double sum = e.bias[c];
                for (std::size_t i = 0; i < texts.size(); ++i) {
                    sum += e.coefficients(c, i) *
                           evaluate(e.kernel, texts.objects()[0].at(i), others.objects()[0].at(j));
                }
                EXPECT_NEAR(found(j, c), sum, 1e-10 * (1 + std::abs(sum)));
            }
        }
    }
}

TEST(TextModels, TheHeaviestFeaturesAreNamed) {
    const Dataset data = random_texts(80, 7);
    const Model model = trained("spectrum(k=4)[sequence] + 0.000001*linear", data);
    EXPECT_TRUE(heaviest_features(model.expansion(), 0, 3).empty());  // linear has no part in it
    Dataset texts = data;
    texts.x = Rows().with_objects({data.x.objects()[0]});
    const Model plain = trained("spectrum(k=4)", texts);
    const auto found = heaviest_features(plain.expansion(), 0, 3);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].name, "TATA");
    EXPECT_GE(std::abs(found[0].weight), std::abs(found[1].weight));
    // The weight is what one more of this k-mer adds to the decision.
    const auto at = [&](const std::string& text) {
        return plain.decision(Rows().with_objects({ObjectColumn::texts("sequence", {text})}))(0, 0);
    };
    EXPECT_NEAR(at("TATA") - at(""), found[0].weight, 1e-9);
}

TEST(GraphModels, AreTheSameAfterAFile) {
    Graphs graphs;
    for (std::uint32_t g = 0; g < 12; ++g) {
        std::vector<Edge> edges;
        for (std::uint32_t v = 0; v + 1 < 4 + g; ++v) edges.push_back({v, v + 1, v % 2});
        std::vector<std::int64_t> labels;
        std::vector<double> values;
        for (std::uint32_t v = 0; v < 4 + g; ++v) {
            labels.push_back(v % 3);
            values.push_back(v);
        }
        graphs.push_back(graph_of(4 + g, edges, true, labels, values).view(0));
    }
    Expansion e;
    e.points = Rows().with_objects({ObjectColumn::graphs("graph", graphs)});
    ModelParts model;
    model.task = Task::svc;
    model.class_names = {"-1", "1"};
    model.class_values = {-1, 1};
    model.expansion.points = e.points;
    model.expansion.kernel = constant(1);
    model.expansion.coefficients = Matrix<double>(1, 12);
    model.expansion.bias = {0.25};
    const Model back = load_from_memory(save_to_memory(Model(model)), "memory");
    const GraphView before = e.points.objects()[0].graph(7);
    const GraphView after = back.expansion().points.objects()[0].graph(7);
    ASSERT_EQ(before.nodes, after.nodes);
    ASSERT_EQ(before.ends(), after.ends());
    for (std::size_t v = 0; v < before.nodes; ++v) {
        EXPECT_EQ(before.node_labels[v], after.node_labels[v]);
        EXPECT_EQ(before.attributes_of(v)[0], after.attributes_of(v)[0]);
        for (std::size_t k = 0; k < before.neighbours_of(v).size(); ++k) {
            EXPECT_EQ(before.neighbours_of(v)[k], after.neighbours_of(v)[k]);
            EXPECT_EQ(before.edge_labels[before.starts[v] + k],
                      after.edge_labels[after.starts[v] + k]);
        }
    }
}

}  // namespace
}  // namespace mercer
