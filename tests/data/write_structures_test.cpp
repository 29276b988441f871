// Graphs and nodes of a graph, written and read back.
#include <gtest/gtest.h>

#include "data/support.hpp"
#include "mercer/base/error.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/write.hpp"

namespace mercer {
namespace {

using testing::Folder;

Dataset some_graphs(bool labelled) {
    Graphs graphs;
    const std::vector<Edge> ring{{0, 1, 3}, {1, 2, 4}, {2, 0, -5}};
    const std::vector<Edge> path{{0, 1, 7}};
    const auto labels = [&](std::vector<std::int64_t> values) {
        return labelled ? values : std::vector<std::int64_t>();
    };
    const auto numbers = [&](std::vector<double> values) {
        return labelled ? values : std::vector<double>();
    };
    graphs.push_back(
        graph_of(3, ring, labelled, labels({1, 2, -3}), numbers({.5, 1, 2, 3, 4, 1e-9})).view(0));
    graphs.push_back(graph_of(0, {}, labelled).view(0));
    graphs.push_back(graph_of(2, path, labelled, labels({2, 2}), numbers({7, 8, 9, 0.1})).view(0));
    Dataset data;
    data.x = Rows().with_objects({ObjectColumn::graphs("graph", graphs)});
    data.y.values = {1, -1, 0.25};
    return data;
}

TEST(WriteGraphs, ReadBackEqual) {
    for (const bool labelled : {true, false}) {
        const Folder folder;
        const Dataset data = some_graphs(labelled);
        write(data, folder.file("some"), {.format = "tu"});
        const Dataset back = read(folder.file("some"));
        EXPECT_EQ(back.x.objects()[0].own_graphs(), data.x.objects()[0].own_graphs());
        EXPECT_EQ(back.y.values, data.y.values);
        EXPECT_EQ(folder.count(), 1U);  // nothing else is left
        // What is there is not written over, and what cannot be told apart is refused.
        EXPECT_THROW(write(data, folder.file("some"), {.format = "tu"}), InvalidInput);
        const std::vector<std::size_t> last_is_empty{0, 1};
        EXPECT_THROW(write(data.select(last_is_empty), folder.file("other"), {.format = "tu"}),
                     InvalidInput);
        EXPECT_EQ(folder.count(), 1U);
        const std::vector<std::size_t> two{2, 0};
        write(data.select(two), folder.file("two.tu"));
        EXPECT_EQ(read(folder.file("two.tu")).x.objects()[0].own_graphs(),
                  data.x.select(two).objects()[0].own_graphs());
    }
}

TEST(WriteNodes, ReadBackEqual) {
    const Folder folder;
    const std::string path = folder.file(
        "club.edges", "anna bert\nbert carl 2.5\ndora\nanna: dark red\ncarl: blue\nbert: blue\n");
    const Dataset data = read(path);
    ASSERT_EQ(data.size(), 3U);
    const std::string copy = folder.file("copy.edges");
    const std::vector<std::size_t> two{0, 2};
    for (const Dataset& part : {data, data.select(two)}) {
        write(part, copy);
        const Dataset back = read(copy);
        EXPECT_EQ(back.x.objects()[0].shared_graph(), data.x.objects()[0].shared_graph());
        EXPECT_EQ(back.x.objects()[0].own_nodes(), part.x.objects()[0].own_nodes());
        for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(back.y.text(i), part.y.text(i));
    }
    Dataset all = read(path, {.label = "none"});
    write(all, copy);
    EXPECT_EQ(read(copy).x.objects()[0].own_nodes(), all.x.objects()[0].own_nodes());
    EXPECT_THROW(write(all.select(two), copy), InvalidInput);  // which nodes is told by labels
    const std::vector<std::size_t> turned{2, 0};
    EXPECT_THROW(write(data.select(turned), copy), InvalidInput);
    EXPECT_EQ(read(copy).size(), 4U);  // and the file is as it was
}

}  // namespace
}  // namespace mercer
