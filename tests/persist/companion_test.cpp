// Models with a companion: both sides come back, and neither lets anything hostile in.
#include <gtest/gtest.h>

#include <memory>

#include "mercer/data/samples.hpp"
#include "mercer/learn/components/cca.hpp"
#include "mercer/learn/components/dependency.hpp"
#include "mercer/persist/model_file.hpp"
#include "persist/support.hpp"

namespace mercer::testing {
namespace {

/// Petals from sepals.
Model sides() {
    const Dataset iris = embedded("iris");
    Dataset x = iris, y = iris;
    const std::vector<std::size_t> first{0, 1}, last{2, 3};
    x.x = iris.x.select_columns(first);
    y.x = iris.x.select_columns(last).to_sparse();
    x.feature_names = {"sepal length", "sepal width"};
    y.feature_names = {"petal length", "petal width"};
    CcaSettings s;
    s.x.kernel = rbf({.gamma = 0.5});
    s.x.scaling = ScalingRule::parse("standard");
    s.y_kernel = polynomial({.degree = 2});
    s.rank = 12;
    return kernel_cca(s).fit(x, y);
}

TEST(CompanionFile, BothSidesComeBackAndEqualModelsGiveEqualBytes) {
    const Model model = sides();
    const std::string bytes = save_to_memory(model);
    const Model back = load_from_memory(bytes);
    expect_same(model, back);
    EXPECT_EQ(save_to_memory(back), bytes);
    EXPECT_TRUE(companion_of(back)->expansion().points.is_sparse());
    EXPECT_EQ(companion_of(back)->feature_names()[1], "petal width");
}

TEST(CompanionFile, HasNoneItself) {
    const Model model = sides();
    ModelParts second = companion_of(model)->parts();
    second.extras.set(Companion(std::make_shared<const Model>(*companion_of(model))));
    ModelParts first = model.parts();
    first.extras.set(Companion(std::make_shared<const Model>(second)));
    EXPECT_NE(message_of([&] { Model{first}; }).find("companion"), std::string::npos);
    // Nor from a file, whatever it is called there.
    const std::string message = after(sides(), [](Parts& p) {
        p.header["companion.companion.bias"] = p.header["companion.bias"];
        p.header.erase("companion.bias");
    });
    EXPECT_NE(message, "");
}

TEST(CompanionFile, IsCheckedLikeAnyModel) {
    const Model model = sides();
    const auto metadata = [&](const std::string& key, const std::string& text) {
        return after(model, [&](Parts& p) { p.metadata(key) = text; });
    };
    EXPECT_NE(metadata("companion.kernel", "rbf(gamma=scale)").find("companion"),
              std::string::npos);
    EXPECT_NE(metadata("companion.task", "nonsense").find("nonsense"), std::string::npos);
    EXPECT_NE(metadata("companion.columns", "7"), "");
    EXPECT_NE(metadata("companion.feature_names", "[\"one\"]"), "");
    EXPECT_NE(after(model, [](Parts& p) { p.header.erase("companion.points.values"); }), "");
    // Metadata without arrays is no companion, nor the other way round.
    EXPECT_NE(after(model,
                    [](Parts& p) {
                        auto& all = p.header["__metadata__"];
                        for (const char* key : {"kernel", "task", "columns"}) {
                            all.erase(std::string("companion.") + key);
                        }
                    }),
              "");
}

}  // namespace
}  // namespace mercer::testing
