// Models of cells in files: they come back whole, and neither tree nor numbers let anything
// hostile in.
#include "mercer/learn/cells/cells.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "mercer/base/error.hpp"
#include "mercer/persist/model_file.hpp"
#include "persist/support.hpp"

namespace mercer::testing {
namespace {

TEST(CellsFile, ComesBackAndAnswersTheSame) {
    Random random(3);
    const Rows rows = random_rows(random, 40, 2);
    for (const RowsForm form : {RowsForm{}, RowsForm{.sparse = true}, RowsForm{.twice = true}}) {
        const Model model = cells_model(form);
        ASSERT_GT(cells_of(model)->all.size(), 2U);
        const std::string bytes = save_to_memory(model);
        const Model back = load_from_memory(bytes);
        expect_same(model, back);
        EXPECT_EQ(save_to_memory(back), bytes);
        EXPECT_EQ(back.decision(rows).values(), model.decision(rows).values());
        EXPECT_EQ(back.points(), model.points());
        EXPECT_EQ(back.report().dual, model.report().dual);
    }
}

/// An array of the file, by its name after "cells.".
void put_cell(Parts& parts, const std::string& array, std::size_t item, auto value) {
    std::memcpy(parts.data.data() + parts.begin("cells." + array) + item * sizeof value, &value,
                sizeof value);
}

void exchange(Parts& parts, const std::string& from, const std::string& to) {
    std::string& text = parts.metadata("cells");
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
}

TEST(HostileCellsFile, EveryForgeryIsNamed) {
    const struct {
        const char* what;
        std::function<void(Parts&)> edit;
        const char* message;
    } forgeries[]{
        {"fork to itself", [](Parts& p) { put_cell(p, "forks", 0, std::int64_t{0}); }, "fork"},
        {"fork beyond", [](Parts& p) { put_cell(p, "forks", 1, std::int64_t{1} << 40); }, "fork"},
        {"cell beyond", [](Parts& p) { put_cell(p, "forks", 1, -(std::int64_t{1} << 40)); },
         "fork"},
        {"least number", [](Parts& p) { put_cell(p, "forks", 1, INT64_MIN); }, "fork"},
        {"plane", [](Parts& p) { put_cell(p, "planes", 2, nan); }, "finite"},
        {"coefficient", [](Parts& p) { put_cell(p, "coefficients", 0, nan); }, "finite"},
        {"bias", [](Parts& p) { put_cell(p, "bias", 0, 1 / 0.0); }, "finite"},
        {"origin", [](Parts& p) { put_cell(p, "origins", 0, std::int64_t{-3}); }, "negative"},
        {"point", [](Parts& p) { put_cell(p, "points", 0, static_cast<float>(nan)); }, "finite"},
        {"state", [](Parts& p) { exchange(p, "one-class", "half-class"); }, "state"},
        {"no cells", [](Parts& p) { p.metadata("cells") = "[]"; }, "without an owner"},
        {"no list", [](Parts& p) { p.metadata("cells") = "{}"; }, "cells"},
        {"no JSON", [](Parts& p) { p.metadata("cells") = "[{"; }, "JSON"},
        {"deep", [](Parts& p) { p.metadata("cells") = std::string(100000, '['); }, "deeper"},
        {"kernel", [](Parts& p) { exchange(p, "rbf(gamma=0.5)", "rbf(gama=0.5)"); }, "kernel"},
        {"waiting kernel", [](Parts& p) { exchange(p, "rbf(gamma=0.5)", "rbf(gamma=scale)"); },
         "waits"},
        {"classes", [](Parts& p) { exchange(p, "\"classes\":[", "\"classes\":[77,"); }, "class 77"},
        {"classes twice", [](Parts& p) { exchange(p, "\"classes\":[0,1", "\"classes\":[0,0"); },
         "cell"},
        {"points", [](Parts& p) { exchange(p, "\"points\":", "\"points\":99999999999"); },
         "not left"},
        {"outputs", [](Parts& p) { exchange(p, "\"outputs\":", "\"outputs\":9999999999"); },
         "not left"},
        {"no outputs", [](Parts& p) { exchange(p, "\"outputs\":", "\"outputs\":0,\"o\":"); },
         "cells"},
        {"hull weights", [](Parts& p) { exchange(p, "\"hull_weights\":0", "\"hull_weights\":9"); },
         "hull_weights"},
        {"constant", [](Parts& p) { exchange(p, "\"constant\":[", "\"constant\":[1,"); },
         "neither a machine"},
        {"trained", [](Parts& p) { exchange(p, "\"trained\":{\"C\"", "\"trained\":{\"D\""); }, "C"},
        {"columns", [](Parts& p) { p.metadata("columns") = "3"; }, "columns"},
        {"without the text", [](Parts& p) { p.header["__metadata__"].erase("cells"); },
         "do not belong"},
        {"without the arrays",
         [](Parts& p) {
             p.header["other"] = p.header["cells.planes"];
             p.header.erase("cells.planes");
         },
         "'cells.planes' is missing"},
        {"planes of another type", [](Parts& p) { p.header["cells.planes"]["dtype"] = "I64"; },
         "F64"},
    };
    const std::string original = save_to_memory(cells_model());
    for (const auto& forgery : forgeries) {
        Parts parts = Parts::of(original);
        forgery.edit(parts);
        const std::string message =
            message_of([&] { load_from_memory(parts.file(), "forged.mercer"); });
        EXPECT_NE(message.find(forgery.message), std::string::npos)
            << forgery.what << ": " << message;
        EXPECT_EQ(message.find("forged.mercer"), 0U) << forgery.what << ": " << message;
    }
}

TEST(CellsFile, HasNoPointsBesidesThoseOfItsCells) {
    const Model model = cells_model();
    ModelParts parts = model.parts();
    parts.expansion.points = Rows::dense(std::vector<float>{1, 2}, 2);
    parts.expansion.coefficients = Matrix<double>(parts.expansion.outputs(), 1, 1.0);
    EXPECT_NE(message_of([&] { Model{parts}; }).find("no points besides"), std::string::npos);
    ModelParts other = model.parts();
    other.task = Task::one_class;
    EXPECT_THROW(Model{other}, InvalidInput);
}

TEST(CellsFile, OtherFormatsRefuseIt) {
    const Model model = cells_model();
    EXPECT_NE(message_of([&] { export_libsvm_to_memory(model); }).find("cells"), std::string::npos);
    for (const char* format : {"onnx", "c"}) {
        EXPECT_THROW(export_to_memory(model, {.format = format}), InvalidInput);
    }
}

}  // namespace
}  // namespace mercer::testing
