// Model files: what is saved comes back, in a layout that others read.
#include "mercer/persist/model_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

#include "mercer/kernel/detail/node.hpp"
#include "mercer/learn/calibration.hpp"
#include "persist/support.hpp"

namespace mercer::testing {
namespace {

TEST(ModelFile, EveryFieldComesBack) {
    for (const auto& [name, model] : sample_models()) {
        SCOPED_TRACE(name);
        const std::string bytes = save_to_memory(model);
        const Model back = load_from_memory(bytes, name);
        expect_same(model, back);
        EXPECT_EQ(save_to_memory(model), bytes) << "equal models must give equal bytes";
        EXPECT_EQ(save_to_memory(back), bytes);
    }
}

TEST(ModelFile, EqualModelsGiveEqualBytesHoweverLongTheyTook) {
    for (const auto& [name, model] : sample_models()) {
        if (model.reports().empty()) continue;
        SCOPED_TRACE(name);
        ModelParts parts_of_slower = model.parts();
        for (Report& r : parts_of_slower.reports) r.seconds += 3.5;
        const Model slower(parts_of_slower);
        EXPECT_EQ(save_to_memory(slower), save_to_memory(model));
        EXPECT_EQ(load_from_memory(save_to_memory(slower)).reports()[0].seconds, 0);
        // Files of earlier programs have the seconds, and keep them.
        Parts parts = Parts::of(save_to_memory(model));
        std::string& reports = parts.metadata("reports");
        const std::size_t at = reports.find("\"seconds\":0");
        ASSERT_NE(at, std::string::npos);
        reports.replace(at, 11, "\"seconds\":3.5");
        EXPECT_EQ(load_from_memory(parts.file()).reports()[0].seconds, 3.5);
    }
}

TEST(ModelFile, ABracketOfAnEarlierProgramIsBelievedByTheKernelsRuleOnly) {
    const auto report_without_field = [](const char* kernel, bool bias) {
        Random random(1);
        ModelParts model = random_model(random, {.kernel = Kernel::parse(kernel)});
        model.trained.bias = bias;
        model.reports.resize(1);
        model.reports[0].primal = 5;
        model.reports[0].dual = 4;
        model.reports[0].gap = 1;
        Parts parts = Parts::of(save_to_memory(Model(model)));
        std::string& text = parts.metadata("reports");
        const std::string field = ",\"convexity\":\"not-asked\"";
        const std::size_t at = text.find(field);
        EXPECT_NE(at, std::string::npos);
        text.erase(at, field.size());
        return load_from_memory(parts.file()).report();
    };
    EXPECT_EQ(report_without_field("rbf(gamma=1)", false).convexity, Convexity::by_rule);
    EXPECT_EQ(report_without_field("rbf(gamma=1)", false).gap, 1);
    EXPECT_EQ(report_without_field("negative_distance", true).convexity, Convexity::by_rule);
    for (const auto& [kernel, bias] :
         {std::pair("negative_distance", false), std::pair("sigmoid(gamma=1, coef0=-1)", true)}) {
        const Report r = report_without_field(kernel, bias);
        EXPECT_EQ(r.convexity, Convexity::unknown) << kernel;
        EXPECT_TRUE(std::isnan(r.gap) && std::isnan(r.primal)) << kernel;
        EXPECT_EQ(r.dual, 4) << kernel;
    }
}

TEST(ModelFile, PrecomputedPointsKeepTheirRowNumbers) {
    for (const auto& [name, model] : sample_models()) {
        if (model.expansion().kernel.node().kind != KernelKind::precomputed) continue;
        for (const bool sparse : {false, true}) {
            ModelParts changed = model.parts();
            if (sparse) changed.expansion.points = changed.expansion.points.to_sparse();
            const Model back = load_from_memory(save_to_memory(Model(changed)));
            for (std::size_t i = 0; i < back.expansion().size(); ++i) {
                EXPECT_EQ(back.expansion().points.origin(i), changed.expansion.points.origin(i));
            }
        }
    }
}

TEST(ModelFile, GoesThroughFilesPackedOrNot) {
    const Folder folder;
    const Model model = sample_models().front().second;
    for (const char* name : {"a.mercer", "a.mercer.gz", "a.mercer.xz"}) {
        const std::string path = folder.file(name);
        save(model, path);
        EXPECT_EQ(save_to_memory(load(path)), save_to_memory(model)) << name;
    }
    EXPECT_EQ(content_of(folder.file("a.mercer")), save_to_memory(model));
}

TEST(ModelFile, IsLaidOutAsSafetensors) {
    for (const auto& [name, model] : sample_models()) {
        SCOPED_TRACE(name);
        const std::string bytes = save_to_memory(model);
        const Parts parts = Parts::of(bytes);
        EXPECT_EQ((bytes.size() - parts.data.size()) % 8, 0U) << "the arrays must be aligned";
        std::vector<std::pair<std::size_t, std::size_t>> places;
        for (const auto& [key, value] : parts.header.items()) {
            if (key == "__metadata__") {
                for (const auto& item : value) EXPECT_TRUE(item.is_string());
                continue;
            }
            const std::size_t width = value["dtype"].get<std::string>().ends_with("64") ? 8 : 4;
            std::size_t size = width;
            for (const std::size_t extent : value["shape"]) size *= extent;
            const std::size_t begin = value["data_offsets"][0];
            const std::size_t end = value["data_offsets"][1];
            EXPECT_EQ(end - begin, size) << key;
            EXPECT_EQ(begin % width, 0U) << key << " is not aligned";
            places.emplace_back(begin, end);
        }
        std::sort(places.begin(), places.end());
        std::size_t next = 0;
        for (const auto& [begin, end] : places) {
            EXPECT_EQ(begin, next) << "a hole or an overlap";
            next = end;
        }
        EXPECT_EQ(next, parts.data.size());
        EXPECT_EQ(parts.header["__metadata__"]["format"], "mercer-model");
    }
}

// The checksum is defined by the document, not by the code: another implementation agrees.
TEST(ModelFile, ChecksumFollowsItsDescription) {
    for (const auto& [name, model] : sample_models()) {
        const Parts parts = Parts::of(save_to_memory(model));
        const Parts again = Parts::of(parts.file());
        EXPECT_EQ(parts.header["__metadata__"]["checksum"],
                  again.header["__metadata__"]["checksum"])
            << name;
    }
}

// A tool that keeps the content but writes the header its own way leaves the model as it was.
TEST(ModelFile, HeaderMayBeWrittenInAnotherOrder) {
    const Model model = sample_models()[1].second;
    const std::string other = Parts::of(save_to_memory(model)).file_as_is();
    ASSERT_NE(other, save_to_memory(model));
    EXPECT_EQ(save_to_memory(load_from_memory(other)), save_to_memory(model));
}

TEST(ModelFile, PythonSafetensorsReadsAndWritesIt) {
    const char* chosen = std::getenv("MERCER_PYTHON");
    const std::string python = chosen != nullptr ? chosen : "python3";
    if (run(python + " -c 'import safetensors.numpy'").code != 0) {
        GTEST_SKIP() << python << " has no safetensors with numpy; MERCER_PYTHON may name one "
                     << "that has";
    }
    const Folder folder;
    const std::string script = folder.file("copy.py", R"(
import sys
from safetensors import safe_open
from safetensors.numpy import save_file
with safe_open(sys.argv[1], "numpy") as f:
    arrays = {name: f.get_tensor(name) for name in f.keys()}
    save_file(arrays, sys.argv[2], f.metadata())
print(arrays["coefficients"].shape[0], arrays["bias"].sum())
)");
    for (const auto& [name, model] : sample_models()) {
        SCOPED_TRACE(name);
        const std::string from = folder.file("from.mercer");
        const std::string to = folder.file("to.mercer");
        save(model, from);
        const Outcome outcome = run(python + " " + in_quotes(script) + " " + from + " " + to);
        ASSERT_EQ(outcome.code, 0) << outcome.output;
        EXPECT_EQ(save_to_memory(load(to)), save_to_memory(model));
        double sum = 0;
        for (const double bias : model.expansion().bias) sum += bias;
        std::size_t outputs = 0;
        double found = 0;
        std::istringstream(outcome.output) >> outputs >> found;
        EXPECT_EQ(outputs, model.expansion().outputs());
        EXPECT_NEAR(found, sum, 1e-9 * (1 + std::abs(sum)));
    }
}

TEST(ModelFile, FunctionOfTheProgramMustBeRegisteredBeforeLoading) {
    Random random(3);
    const Kernel own =
        function("persist_test_kernel",
                 [](std::span<const double> x, std::span<const double> z) { return x[0] * z[0]; });
    const std::string bytes =
        save_to_memory(Model(random_model(random, {.kernel = own + linear()})));
    EXPECT_EQ(load_from_memory(bytes).expansion().kernel.text(), (own + linear()).text());

    Parts parts = Parts::of(bytes);
    parts.metadata("kernel") = "linear + user(persist_test_stranger)";
    const std::string message =
        message_of([&] { load_from_memory(parts.file(), "stranger.mercer"); });
    EXPECT_NE(message.find("stranger.mercer"), std::string::npos) << message;
    EXPECT_NE(message.find("persist_test_stranger"), std::string::npos) << message;
    EXPECT_NE(message.find("register it"), std::string::npos) << message;
}

struct Fault {
    const char* what;
    std::function<void(ModelParts&)> damage;
    const char* message;
};

const std::vector<Fault> faults{
    {"no output", [](ModelParts& m) { m.expansion.bias.clear(); }, "no decision function"},
    {"bias count", [](ModelParts& m) { m.expansion.bias.push_back(1); }, "rows of coefficients"},
    {"coefficients", [](ModelParts& m) { m.expansion.coefficients = Matrix<double>(1, 8); },
     "columns of coefficients"},
    {"nan coefficient", [](ModelParts& m) { m.expansion.coefficients(0, 3) = nan; }, "coefficient"},
    {"inf bias", [](ModelParts& m) { m.expansion.bias[0] = 1 / 0.0; }, "bias"},
    {"nan self", [](ModelParts& m) { m.expansion.self = nan; }, "k(x,x)"},
    {"nan point",
     [](ModelParts& m) {
         std::vector<float> values(36, 1.0F);
         values[20] = static_cast<float>(nan);
         m.expansion.points = Rows::dense(std::move(values), 4);
     },
     "points"},
    {"origins",
     [](ModelParts& m) {
         m.origins = {1, 2};
     },
     "origins"},
    {"reports", [](ModelParts& m) { m.reports.resize(2); }, "reports"},
    {"one class", [](ModelParts& m) { m.class_names.resize(1); }, "at least 2"},
    {"three classes", [](ModelParts& m) { m.class_names.push_back("c"); }, "decision functions"},
    {"twins", [](ModelParts& m) { m.class_names[1] = m.class_names[0]; }, "same name"},
    {"class values", [](ModelParts& m) { m.class_values.push_back(9); }, "class values"},
    {"class weights", [](ModelParts& m) { m.trained.class_weights = {1}; }, "class weights"},
    {"sigmoids",
     [](ModelParts& m) {
         m.extras.set(Calibration({{}, {}}));
     },
     "sigmoids"},
    {"sigmoid nan",
     [](ModelParts& m) {
         m.extras.set(Calibration({{nan, 0}}));
     },
     "sigmoid"},
    {"targets", [](ModelParts& m) { m.target_names = {"y"}; }, "target names"},
    {"feature names",
     [](ModelParts& m) {
         m.feature_names = {"a", "b"};
     },
     "feature names"},
    {"columns", [](ModelParts& m) { m.columns = 5; }, "columns"},
    {"waiting kernel", [](ModelParts& m) { m.expansion.kernel = rbf({.gamma = scale_rule}); },
     "waits for data"},
    {"no reference", [](ModelParts& m) { m.expansion.kernel = center(linear()); }, "centred"},
    {"reference width",
     [](ModelParts& m) {
         m.expansion.kernel = center(linear());
         m.expansion.reference = Rows::dense(std::vector<float>{1, 2}, 2);
     },
     "reference rows"},
    {"classes of a regression", [](ModelParts& m) { m.task = Task::svr; }, "class names"},
    {"one-class with classes", [](ModelParts& m) { m.task = Task::one_class; }, "class names"},
    {"scaling",
     [](ModelParts& m) {
         m.scaling = Scaling::fit(ScalingRule::parse("standard"),
                                  Rows::dense(std::vector<double>{1, 2, 3, 4}, 2));
     },
     "scaled columns"},
};

TEST(ModelFile, ModelsThatDoNotFitTogetherAreNotMade) {
    for (const Fault& fault : faults) {
        Random random(5);
        ModelParts parts = random_model(random, {});
        ASSERT_EQ(message_of([&] { save_to_memory(Model(parts)); }), "");
        fault.damage(parts);
        const std::string message = message_of([&] { Model(parts, "never"); });
        EXPECT_NE(message.find(fault.message), std::string::npos) << fault.what << ": " << message;
        EXPECT_EQ(message.find("never: "), 0U) << message;
    }
}

}  // namespace
}  // namespace mercer::testing
