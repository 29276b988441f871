// Models that have been through a file predict what they did before.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "mercer/data/read.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/persist/model_file.hpp"
#include "persist/support.hpp"

namespace mercer::testing {
namespace {

TEST(SavedModel, DecidesBitForBitAsBefore) {
    Random random(73);
    for (const auto& [name, model] : sample_models()) {
        if (model.columns() == 0) continue;
        SCOPED_TRACE(name);
        const Model back = load_from_memory(save_to_memory(model));
        const Rows rows = random_rows(random, 20, model.columns(), {.twice = true});
        EXPECT_EQ(model.decision(rows).values(), back.decision(rows).values());
    }
}

/// The file as it was before targets were scaled, columns had roles, reports said what their
/// bracket rests on, and tubes given row by row had a word of their own.
std::string of_an_earlier_program(const std::string& file) {
    Parts parts = Parts::of(file);
    nlohmann::json& metadata = parts.header["__metadata__"];
    for (const std::string prefix : {"", "companion."}) {
        if (!metadata.contains(prefix + "trained")) continue;
        metadata.erase(prefix + "roles");
        nlohmann::json trained = nlohmann::json::parse(parts.metadata(prefix + "trained"));
        if (trained["tube_given"] == true) trained["tube"] = "column";
        trained.erase("tube_given");
        if (trained.contains("numbers")) {
            trained["numbers"].erase("target_shift");
            trained["numbers"].erase("target_scale");
        }
        parts.metadata(prefix + "trained") = trained.dump();
        nlohmann::json reports = nlohmann::json::parse(parts.metadata(prefix + "reports"));
        for (nlohmann::json& report : reports) {
            for (const char* word :
                 {"convexity", "least_curvature", "curvature_error", "margin_bound"}) {
                report.erase(word);
            }
        }
        parts.metadata(prefix + "reports") = reports.dump();
    }
    return parts.file();
}

TEST(SavedModel, FilesOfEarlierProgramsPredictTheSame) {
    Random random(74);
    std::vector<std::pair<std::string, Model>> models = sample_models();
    const Dataset sinc = make("sinc", {.n = 60});
    Dataset iris = read("@iris");
    iris.roles.label = 4;
    iris.roles.label_name = "kind";
    models.emplace_back("classes", svc({.C = 5}).fit(iris));
    SvmSettings svr{.task = Task::svr, .common = {.target_scale = TargetScale::standard}};
    models.emplace_back("svr", Svm(svr).fit(sinc));
    GaussianProcessSettings gp;
    gp.common.target_scale = TargetScale::center;  // keeps deviations in the target's units
    models.emplace_back("gp", gaussian_process(gp).fit(sinc));
    for (const auto& [name, model] : models) {
        if (model.columns() == 0 || cells_of(model)) continue;  // earlier programs had no cells
        SCOPED_TRACE(name);
        const std::string old = of_an_earlier_program(save_to_memory(model));
        for (const char* word : {"roles", "convexity", "target_shift", "tube_given"}) {
            ASSERT_EQ(old.find(word), std::string::npos) << word;
        }
        const Model back = load_from_memory(old, name);
        const Rows rows = random_rows(random, 20, model.columns(), {.twice = true});
        EXPECT_EQ(model.decision(rows).values(), back.decision(rows).values());
        if (model.trained().tube != "column") {  // which the word of old could not be told from
            EXPECT_EQ(model.trained().tube_given, back.trained().tube_given);
        }
        if (model.task() == Task::gp && name == "gp") {
            EXPECT_EQ(predictive_deviation(model, rows, true),
                      predictive_deviation(back, rows, true));
        }
        if (is_classifier(model.task())) {
            const Labels before = model.predict_labels(rows);
            const Labels after = back.predict_labels(rows);
            EXPECT_EQ(before.values, after.values);
            EXPECT_EQ(before.names, after.names);
        }
        // Saved again it says what the program now knows, and is the same machine.
        const Model again = load_from_memory(save_to_memory(back));
        EXPECT_EQ(again.decision(rows).values(), model.decision(rows).values());
    }
}

TEST(SavedModel, OneAgainstTheRestKeepsItsProbabilities) {
    const Dataset blobs = make("blobs", {.n = 120, .classes = 4});
    SvmSettings settings;
    settings.multi_class = MultiClass::one_vs_rest;
    settings.probability = true;
    const Model model = Svm(settings).fit(blobs);
    const Model back = load_from_memory(save_to_memory(model));
    EXPECT_EQ(model.probabilities(blobs.x).values(), back.probabilities(blobs.x).values());
}

TEST(SavedModel, TrainedModelsComeBackWhole) {
    const Dataset iris = read("@iris");
    for (const Task task : {Task::svc, Task::nu_svc, Task::one_class, Task::svdd}) {
        SCOPED_TRACE(task_name(task));
        SvmSettings settings;
        settings.task = task;
        settings.nu = 0.3;
        if (task == Task::svdd) settings.C = 0;
        settings.common.kernel = rbf({.gamma = scale_rule});
        settings.common.scaling = ScalingRule::parse("standard");
        const Model model = Svm(settings).fit(iris);
        const Model back = load_from_memory(save_to_memory(model));
        expect_same(model, back);
        EXPECT_EQ(model.predict_labels(iris.x).values, back.predict_labels(iris.x).values);
    }
}

TEST(SavedModel, RowsOfAMatrixKeepOnlyTheEntriesTheModelReads) {
    const Dataset blobs = make("blobs", {.n = 600, .noise = 0.5, .classes = 2});
    const Gram<float> gram(rbf({.gamma = 0.5}), blobs.x);
    Matrix<float> k(600, 600);
    gram.matrix(k.view());
    Dataset matrix;
    matrix.x = Rows::dense(k.values(), 600);
    matrix.y = blobs.y;
    const Model model = svc({.kernel = precomputed()}).fit(matrix);
    const std::size_t n = model.expansion().size();
    ASSERT_LT(n, 150U);
    const std::string bytes = save_to_memory(model);
    EXPECT_LT(bytes.size(), 8 * n * n + 30'000) << "not points × rows numbers";
    const Model back = load_from_memory(bytes);
    EXPECT_EQ(model.decision(matrix.x).values(), back.decision(matrix.x).values());
    EXPECT_EQ(save_to_memory(back), bytes);
    // The certificate can still be checked against the matrix.
    const std::vector<Report> found = recompute_reports(back, matrix);
    EXPECT_NEAR(found[0].dual, model.reports()[0].dual, 1e-4 * model.reports()[0].dual);
    // A file of earlier programs has the whole rows, and predicts the same.
    ModelParts whole = model.parts();
    whole.expansion.points = back.expansion().points.to_dense();
    EXPECT_EQ(Model(whole).decision(matrix.x).values(), model.decision(matrix.x).values());
}

TEST(SavedModel, ATubeNamedColumnIsNoColumnOfNumbers) {
    Dataset data = make("sinc", {.n = 60});
    data.feature_names = {"column"};
    SvmSettings settings{.task = Task::nu_svr, .common = {.kernel = rbf({.gamma = 1.0})}};
    settings.tube = Formula::parse("column^2 + 1");
    const Model formula = Svm(settings).fit(data);
    settings.tube = Formula::parse("|column|");
    const Model named = Svm(settings).fit(data);
    EXPECT_FALSE(named.trained().tube_given);
    settings.tube.reset();
    settings.tube_values.assign(60, 1.5);
    const Model given = Svm(settings).fit(data);
    EXPECT_TRUE(given.trained().tube_given);
    EXPECT_EQ(given.trained().tube, "");
    for (const Model& model : {formula, named}) {
        recompute_reports(load_from_memory(save_to_memory(model)), data);
    }
    const auto refused = [&](const Model& model) {
        return message_of([&] { recompute_reports(model, data); }).find("numbers") !=
               std::string::npos;
    };
    EXPECT_TRUE(refused(load_from_memory(save_to_memory(given))));
    // The formula that is the bare name, which a file of today tells from widths row by row.
    ModelParts bare = formula.parts();
    bare.trained.tube = "column";
    EXPECT_FALSE(load_from_memory(save_to_memory(Model(bare))).trained().tube_given);
    EXPECT_EQ(load_from_memory(save_to_memory(Model(bare))).trained().tube, "column");
    // Files of earlier programs say "column" for such widths, and nothing else.
    Parts parts = Parts::of(save_to_memory(given));
    std::string& trained = parts.metadata("trained");
    const auto change = [&](const std::string& from, const std::string& to) {
        ASSERT_NE(trained.find(from), std::string::npos) << trained;
        trained.replace(trained.find(from), from.size(), to);
    };
    change("\"tube\":\"\"", "\"tube\":\"column\"");
    change("\"tube_given\":true,", "");
    EXPECT_TRUE(refused(load_from_memory(parts.file())));
}

TEST(ImportedModel, PredictsAsSvmPredictDoes) {
    if (!has_program("svm-train") || !has_program("svm-predict")) {
        GTEST_SKIP() << "svm-train and svm-predict are not there; they come with libsvm-tools";
    }
    MERCER_NEEDS_DATA(heart, "heart/heart_scale");
    const Folder folder;
    const Dataset data = read(heart, {.double_precision = true});
    for (const char* options : {"-s 0", "-s 1 -t 1", "-s 2", "-s 3", "-s 4 -t 0", "-s 0 -t 3"}) {
        SCOPED_TRACE(options);
        const std::string model = folder.file("model");
        ASSERT_EQ(
            run("svm-train -q " + std::string(options) + " " + in_quotes(heart) + " " + model).code,
            0);
        ASSERT_EQ(
            run("svm-predict " + in_quotes(heart) + " " + model + " " + folder.file("out")).code,
            0);
        const std::vector<double> ours =
            import_libsvm(model, data.columns()).predict_labels(data.x).values;
        std::ifstream in(folder.file("out"));
        for (std::size_t i = 0; i < ours.size(); ++i) {
            double theirs = 0;
            ASSERT_TRUE(in >> theirs);
            EXPECT_NEAR(ours[i], theirs, 1e-9 * (1 + std::abs(theirs))) << "row " << i;
        }
    }
}

TEST(ExportedModel, SvmPredictAnswersAsTheTrainedModelDoes) {
    if (!has_program("svm-predict")) {
        GTEST_SKIP() << "svm-predict is not there; it comes with libsvm-tools";
    }
    const Folder folder;
    Dataset iris = read("@iris");
    iris.y.names.clear();  // positions instead of names: LIBSVM has numbers only
    std::ofstream rows(folder.file("rows"));
    for (std::size_t i = 0; i < iris.size(); ++i) {
        std::vector<double> row(iris.columns());
        iris.x.copy_row(i, row);
        rows << iris.y.values[i];
        for (std::size_t j = 0; j < row.size(); ++j) rows << ' ' << j + 1 << ':' << row[j];
        rows << '\n';
    }
    rows.close();
    for (const Task task : {Task::svc, Task::nu_svc, Task::one_class}) {
        SCOPED_TRACE(task_name(task));
        SvmSettings settings;
        settings.task = task;
        settings.nu = 0.2;
        settings.common.kernel = rbf({.gamma = 0.5});
        const Model model = Svm(settings).fit(iris);
        export_libsvm(model, folder.file("model"));
        ASSERT_EQ(run("svm-predict " + folder.file("rows") + " " + folder.file("model") + " " +
                      folder.file("out"))
                      .code,
                  0);
        const std::vector<double> ours = model.predict_labels(iris.x).values;
        const Matrix<double> decisions = model.decision(iris.x);
        std::ifstream in(folder.file("out"));
        for (std::size_t i = 0; i < ours.size(); ++i) {
            double theirs = 0;
            ASSERT_TRUE(in >> theirs);
            bool clear = true;
            for (const double value : decisions.row(i)) clear = clear && std::abs(value) > 1e-4;
            EXPECT_TRUE(!clear || ours[i] == theirs)
                << "row " << i << ": " << theirs << ", expected " << ours[i];
        }
    }
}

}  // namespace
}  // namespace mercer::testing
