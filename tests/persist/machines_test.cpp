// Models of the machines outside the support vector family: saved, damaged, refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mercer/data/samples.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/learn/groups/kmeans.hpp"
#include "mercer/learn/online/adatron.hpp"
#include "mercer/learn/online/perceptron.hpp"
#include "mercer/learn/risk/class_means.hpp"
#include "mercer/learn/risk/regions.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/persist/model_file.hpp"
#include "persist/support.hpp"

namespace mercer::testing {
namespace {

FitSettings common() {
    return {.kernel = rbf({.gamma = 0.5}), .scaling = ScalingRule::parse("standard")};
}

PerceptronSettings voting() {
    PerceptronSettings s{.common = common(), .passes = 2};
    s.variant = PerceptronVariant::voted;
    return s;
}

/// One trained model of each kind, and the data they are tried on.
std::vector<std::pair<std::string, Model>> trained_models() {
    const Dataset iris = embedded("iris");
    const Dataset moons = make("moons", {.n = 40, .noise = 0.3});
    PerceptronSettings averaged{.common = common(), .budget = 10};
    averaged.variant = PerceptronVariant::averaged;
    FitSettings straight = common();
    straight.kernel = linear();
    std::vector<std::pair<std::string, Model>> models;
    models.emplace_back("means of three classes", class_means({.common = common()}).fit(iris));
    models.emplace_back("means of two classes", class_means({.common = common()}).fit(moons));
    models.emplace_back("parzen", parzen({.common = common(), .nu = 0.1}).fit(moons));
    models.emplace_back("budget", perceptron(averaged).fit(moons));
    models.emplace_back("primal", perceptron({.common = straight}).fit(iris));
    models.emplace_back("voted", perceptron(voting()).fit(moons));
    models.emplace_back("voted on three classes", perceptron(voting()).fit(iris));
    models.emplace_back("adatron", adatron({.common = common(), .C = 1}).fit(iris));
    models.emplace_back("groups", kmeans({.common = common(), .clusters = 3}).fit(iris));
    models.emplace_back("components", kernel_pca({.common = common(), .components = 3}).fit(iris));
    models.emplace_back("regions", regions({.common = common(), .shares = {0.3, 0.8}}).fit(moons));
    return models;
}

TEST(MachineFile, EveryMachineComesBackAndPredictsTheSame) {
    for (const auto& [name, model] : trained_models()) {
        SCOPED_TRACE(name);
        const std::string bytes = save_to_memory(model);
        const Model back = load_from_memory(bytes, name);
        expect_same(model, back);
        EXPECT_EQ(save_to_memory(back), bytes);
        Dataset data = model.columns() == 4 ? embedded("iris") : make("moons", {.n = 40});
        EXPECT_EQ(back.decision(data.x).values(), model.decision(data.x).values());
        EXPECT_EQ(back.predict(data.x), model.predict(data.x));
    }
}

TEST(MachineFile, FiguresMayBeInfiniteAndArraysOfAnyShape) {
    ModelParts model = trained_models()[2].second.parts();
    const double infinity = std::numeric_limits<double>::infinity();
    model.reports[0].figures = {{"a", infinity}, {"b-c_9", -0.0}, {"nan", std::nan("")}};
    model.reports[0].history = {1, infinity, -2.5};
    model.trained.numbers = {{"lambda", 0.1}, {"passes", 3}};
    add_table(model, "none", Matrix<double>(0, 5));
    add_table(model, "wide", Matrix<double>(2, 3, 0.25));
    expect_same(Model(model), load_from_memory(save_to_memory(Model(model))));
}

/// Files of programs that knew nothing of these parts have none of them, and are read.
TEST(MachineFile, WhatIsAbsentIsEmpty) {
    const Model model = Svm({.common = {.kernel = rbf({.gamma = 1.0})}})
                            .fit(make("moons", {.n = 30, .noise = 0.2}));
    Parts parts = Parts::of(save_to_memory(model));
    for (const char* word : {"numbers", "figures", "history", "extra."}) {
        EXPECT_EQ(parts.header.dump().find(word), std::string::npos) << word;
    }
    const Model back = load_from_memory(parts.file());
    EXPECT_TRUE(back.trained().numbers.empty());
    EXPECT_TRUE(back.reports()[0].figures.empty());
    EXPECT_TRUE(back.extras().empty());
}

void replace(std::string& text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from << " is not in " << text;
    text.replace(at, from.size(), to);
}

TEST(MachineFile, HostileNamesAndNumbersAreRefused) {
    const Model model = trained_models()[5].second;
    const auto trained = [&](const std::string& from, const std::string& to) {
        return after(model, [&](Parts& p) { replace(p.metadata("trained"), from, to); });
    };
    EXPECT_NE(trained("\"passes\"", "\"Passes\"").find("a-z"), std::string::npos);
    EXPECT_NE(trained("\"passes\"", "\"\"").find("a-z"), std::string::npos);
    EXPECT_NE(trained("\"passes\"", "\"" + std::string(65, 'a') + "\"").find("64"),
              std::string::npos);
    EXPECT_NE(trained("\"passes\":2", "\"passes\":\"inf\"").find("finite"), std::string::npos);
    EXPECT_NE(trained("\"passes\":2", "\"passes\":true"), "");
    EXPECT_NE(trained("\"numbers\":{", "\"numbers\":[{"), "");
    const auto reports = [&](const std::string& from, const std::string& to) {
        return after(model, [&](Parts& p) { replace(p.metadata("reports"), from, to); });
    };
    EXPECT_NE(reports("\"mistakes\"", "\"mis takes\"").find("a figure"), std::string::npos);
    EXPECT_NE(reports("\"figures\":{", "\"figures\":7,\"x\":{").find("object"), std::string::npos);
    EXPECT_NE(reports("\"history\":[", "\"history\":[null,"), "");
    // Arrays: another type, another number of dimensions, a name of the expansion's.
    const auto header = [&](const std::function<void(nlohmann::json&)>& change) {
        return after(model, [&](Parts& p) { change(p.header); });
    };
    EXPECT_NE(header([](nlohmann::json& h) {
                  h["extra.Votes"] = h["extra.votes"];
                  h.erase("extra.votes");
              }),
              "");
    EXPECT_NE(header([](nlohmann::json& h) { h["extra.votes"]["dtype"] = "I64"; }).find("F64"),
              std::string::npos);
    EXPECT_NE(header([](nlohmann::json& h) {
                  const std::size_t rows = h["extra.votes"]["shape"][0];
                  h["extra.votes"]["shape"] = {rows * 5};
              }).find("dimensions"),
              std::string::npos);
    EXPECT_NE(header([](nlohmann::json& h) {
                  const std::size_t rows = h["extra.votes"]["shape"][0];
                  h["extra.votes"]["shape"] = {5, rows};
              }),
              "");
}

TEST(MachineFile, VotesPointAtWhatIsThere) {
    const Model good = trained_models()[5].second;
    const auto with = [&](std::size_t column, double value) {
        ModelParts model = good.parts();
        Votes votes = *model.extras.find<Votes>();
        votes.table(1, column) = value;
        model.extras.set(votes);
        return message_of([&] { save_to_memory(Model(model)); });
    };
    EXPECT_EQ(with(0, 0), "");
    for (const double bad : {-1.0, 0.5, 1e9, 1e300}) EXPECT_NE(with(0, bad), "") << bad;
    for (const double bad : {-2.0, 0.5, 1.0}) EXPECT_NE(with(1, bad), "") << bad;
    EXPECT_NE(with(2, 1), "");
    EXPECT_NE(with(4, -1), "");
    EXPECT_NE(with(3, std::nan("")), "");
    // The same is refused where such a model is made without a file.
    ModelParts model = good.parts();
    Votes votes = *model.extras.find<Votes>();
    votes.table(0, 0) = 1e6;
    model.extras.set(votes);
    EXPECT_NE(message_of([&] { Model(model).decision(make("moons", {.n = 3}).x); }), "");
}

TEST(MachineFile, ComponentsHaveTheirEigenvalues) {
    const Model good = trained_models()[9].second;
    ASSERT_EQ(good.task(), Task::kpca);
    const auto with = [&](const std::string& name, Matrix<double> array) {
        ModelParts model = good.parts();
        Components components = *model.extras.find<Components>();
        Components::arrays(components, [&](const std::string& own, auto& numbers) {
            if (own == name) numbers = array;
        });
        model.extras.set(components);
        return message_of([&] { save_to_memory(Model(model)); });
    };
    EXPECT_NE(with("eigenvalues", Matrix<double>(2, 3, 1.0)).find("eigenvalues"),
              std::string::npos);
    EXPECT_NE(with("eigenvalues", Matrix<double>(3, 3, -1.0)).find("above 0"), std::string::npos);
    EXPECT_NE(with("moments", Matrix<double>(1, 3)).find("above 0"), std::string::npos);
    EXPECT_NE(with("moments", Matrix<double>(3, 1, 1.0)), "");
    EXPECT_NE(with("centre", Matrix<double>(1, 149)), "");
    ModelParts without = good.parts();
    without.extras = {};
    EXPECT_NE(message_of([&] { save_to_memory(Model(without)); }), "");
}

TEST(MachineFile, OneReportForAllOutputsIsForMachinesThatLearnThemTogether) {
    ModelParts groups = trained_models()[8].second.parts();
    EXPECT_EQ(groups.reports.size(), 1U);
    EXPECT_EQ(groups.expansion.outputs(), 3U);
    groups.reports.resize(2);
    EXPECT_NE(message_of([&] { save_to_memory(Model(groups)); }).find("reports"),
              std::string::npos);
    ModelParts svm = Svm({.common = {.kernel = linear()}}).fit(embedded("iris")).parts();
    svm.reports.resize(1);
    EXPECT_NE(message_of([&] { save_to_memory(Model(svm)); }).find("reports"), std::string::npos);
    groups.reports.clear();
    groups.class_names = {"a", "b", "c"};
    EXPECT_NE(
        message_of([&] { save_to_memory(Model(groups)); }).find("a clustering has no class names"),
        std::string::npos);
}

TEST(MachineFile, LibsvmHasNoWordForThem) {
    for (const auto& [name, model] : trained_models()) {
        ModelParts plain = model.parts();
        plain.scaling = Scaling();
        const std::string message = message_of([&] { export_libsvm_to_memory(Model(plain)); });
        EXPECT_NE(message.find("LIBSVM"), std::string::npos) << name << ": " << message;
    }
    ModelParts means = trained_models()[1].second.parts();
    means.scaling = Scaling();
    EXPECT_NE(message_of([&] { export_libsvm_to_memory(Model(means)); }).find("class-means"),
              std::string::npos);
    EXPECT_NE(message_of([&] {
                  recompute_reports(Model(means), make("moons", {.n = 40}));
              }).find("class-means"),
              std::string::npos);
}

TEST(Tasks, EveryNameLeadsBack) {
    std::size_t classifiers = 0, regressors = 0, svms = 0;
    for (int t = 0; t <= static_cast<int>(Task::kmeans); ++t) {
        const auto task = static_cast<Task>(t);
        EXPECT_EQ(task_named(task_name(task)), task);
        classifiers += is_classifier(task) ? 1 : 0;
        regressors += is_regressor(task) ? 1 : 0;
        svms += is_svm(task) ? 1 : 0;
        EXPECT_FALSE(is_classifier(task) && is_regressor(task));
    }
    EXPECT_EQ(classifiers, 8U);
    EXPECT_EQ(regressors, 6U);
    EXPECT_EQ(svms, 7U);
    EXPECT_NE(message_of([] { task_named("kmeans"); }).find("did you mean k-means"),
              std::string::npos);
    EXPECT_NE(message_of([] {
                  Svm({.task = Task::perceptron}).fit(make("moons"));
              }).find("no support vector machine"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer::testing
