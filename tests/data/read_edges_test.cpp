// Graphs as lists of edges: rows are nodes, in the order of their names.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "data/support.hpp"
#include "mercer/base/error.hpp"
#include "mercer/data/format.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/summary.hpp"

namespace mercer {
namespace {

using testing::message_of;

Dataset edges(const std::string& text, ReadOptions options = {}) {
    options.format = "edges";
    return read_text(text, "graph", options);
}

std::vector<std::size_t> nodes_of(const Dataset& data) {
    return data.x.objects()[0].own_nodes();
}

TEST(ReadEdges, RowsAreNodesInTheOrderOfTheirNames) {
    const Dataset data = edges("# a comment\nx10 x2\nx2,x1,0.5\n\nx10\tx2 2\nalone\n");
    ASSERT_EQ(data.size(), 4U);  // alone, x1, x2, x10
    EXPECT_TRUE(data.y.empty());
    EXPECT_EQ(data.x.object_names(), (std::vector<ObjectName>{{"node", ObjectKind::node}}));
    const GraphView graph = data.x.objects()[0].node(0).graph;
    EXPECT_EQ(graph.nodes, 4U);
    EXPECT_EQ(graph.ends(), 4U);
    EXPECT_TRUE(graph.neighbours_of(0).empty());
    ASSERT_EQ(graph.neighbours_of(2).size(), 2U);
    EXPECT_EQ(graph.neighbours_of(2)[1], 3U);
    EXPECT_EQ(graph.weights[graph.starts[2]], 0.5);
    EXPECT_EQ(graph.weights[graph.starts[2] + 1], 3);  // an edge twice: 1 + 2
    const Dataset other = edges("alone\nx1 x2 0.5\nx2 x10 3\n");
    EXPECT_EQ(other.x.objects()[0].shared_graph(), data.x.objects()[0].shared_graph());
    EXPECT_EQ(summarize(data).objects[0].edges, 2U);
    EXPECT_EQ(summarize(data).duplicates, 0U);
}

TEST(ReadEdges, LabelledNodesAreTheRowsUnlessLabelsAreNotWanted) {
    const std::string text = "1 2\n2 3\n3 4\n4: right side\n1: left\n2:\n";
    const Dataset data = edges(text);
    EXPECT_EQ(nodes_of(data), (std::vector<std::size_t>{0, 3}));
    EXPECT_EQ(data.y.text(0), "left");
    EXPECT_EQ(data.y.text(1), "right side");
    const Dataset all = edges(text, {.label = "none"});
    EXPECT_EQ(all.size(), 4U);
    EXPECT_TRUE(all.y.empty());
    EXPECT_EQ(edges("1 2\n1: 0.5\n2: -1\n").y.values, (std::vector<double>{0.5, -1}));
    EXPECT_TRUE(edges("1 2\n1: 0\n2: 1\n", {.text_labels = true}).y.are_text());
    const Dataset chosen = all.select(std::vector<std::size_t>{2, 2, 0});
    EXPECT_EQ(nodes_of(chosen), (std::vector<std::size_t>{2, 2, 0}));
    EXPECT_EQ(summarize(chosen).duplicates, 1U);
}

TEST(ReadEdges, TheNameTellsTheFormat) {
    EXPECT_EQ(read_text("1 2\n2 3\n", "web.edges").x.objects().size(), 1U);
    EXPECT_EQ(read_text("1 2\n2 3\n", "web.edgelist.gz").x.objects().size(), 1U);
    EXPECT_TRUE(read_text("1 2\n2 3\n", "web.txt").x.objects().empty());
}

TEST(ReadEdges, MistakesNameTheirPlace) {
    const auto wrong = [](const std::string& text) { return message_of([&] { edges(text); }); };
    EXPECT_NE(wrong("a b\na b zero\n").find("graph:2:5: found 'zero', expected a finite weight"),
              std::string::npos);
    EXPECT_NE(wrong("a b -1\n").find("above 0"), std::string::npos);
    EXPECT_NE(wrong("a b inf\n").find("above 0"), std::string::npos);
    EXPECT_NE(wrong("a b 1 c\n").find("found 'c'"), std::string::npos);
    EXPECT_NE(wrong("a b\n: 3\n").find("the name of a node"), std::string::npos);
    EXPECT_NE(wrong("a: 1\na: 2\n").find("has a label already"), std::string::npos);
    EXPECT_NE(wrong("# nothing\n").find("holds no edges"), std::string::npos);
    EXPECT_NE(wrong("a: 1\nb: c\n").find("graph:"), std::string::npos);
}

TEST(ReadEdges, AnyBytesAreReadOrRefused) {
    std::mt19937 random(1);
    const std::string letters("ab:#\t ,;1.-e\n\r\xff%", 17);
    for (int round = 0; round < 2000; ++round) {
        std::string text;
        for (std::size_t i = random() % 60; i > 0; --i) text += letters[random() % letters.size()];
        try {
            const Dataset data = edges(text + "\n");
            data.check();
            data.x.objects()[0].shared_graph().check();
        } catch (const InvalidInput&) {
        }
    }
}

}  // namespace
}  // namespace mercer
