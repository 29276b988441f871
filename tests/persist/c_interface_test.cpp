// The functions for C: the same answers, and codes with words instead of exceptions.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "mercer/data/read.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/mercer.h"
#include "mercer/persist/model_file.hpp"
#include "mercer/version.hpp"
#include "persist/support.hpp"

namespace mercer::testing {
namespace {

struct Freed {
    mercer_model* model = nullptr;
    Freed() = default;
    Freed(const Freed&) = delete;
    Freed& operator=(const Freed&) = delete;
    ~Freed() { mercer_free(model); }
};

Model iris_model() {
    SvmSettings settings{.C = 3};
    settings.common.kernel = rbf({.gamma = 0.5});
    settings.probability = true;
    return Svm(settings).fit(read("@iris"));
}

TEST(CInterface, AnswersAsTheModelDoes) {
    const Folder folder;
    const Model model = iris_model();
    const std::string path = folder.file("iris.mercer");
    save(model, path);
    Freed own;
    ASSERT_EQ(mercer_load(path.c_str(), &own.model), MERCER_OK) << mercer_error();
    EXPECT_EQ(mercer_columns(own.model), 4U);
    EXPECT_EQ(mercer_classes(own.model), 3U);
    EXPECT_EQ(mercer_scores_per_row(own.model), 3U);
    EXPECT_EQ(mercer_probabilities_per_row(own.model), 3U);
    EXPECT_STREQ(mercer_class_name(own.model, 1), "versicolor");
    EXPECT_EQ(mercer_class_name(own.model, 3), nullptr);
    EXPECT_NE(std::string(mercer_describe(own.model)).find("kernel rbf(gamma=0.5)"),
              std::string::npos);
    EXPECT_STREQ(mercer_version(), version);
    const Rows x = read("@iris").x.to_double();
    std::vector<double> rows(x.size() * 4), answers(x.size()), scores(3 * x.size()),
        p(3 * x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x.copy_row(i, std::span(rows).subspan(4 * i, 4));
    ASSERT_EQ(mercer_predict(own.model, rows.data(), x.size(), 4, answers.data()), MERCER_OK);
    ASSERT_EQ(mercer_scores(own.model, rows.data(), x.size(), 4, scores.data()), MERCER_OK);
    ASSERT_EQ(mercer_probabilities(own.model, rows.data(), x.size(), 4, p.data()), MERCER_OK);
    EXPECT_EQ(answers, model.predict(x));
    EXPECT_EQ(scores, model.decision(x).values());
    EXPECT_EQ(p, model.probabilities(x).values());
    EXPECT_EQ(mercer_predict(own.model, nullptr, 0, 4, nullptr), MERCER_OK);
}

TEST(CInterface, SaysWhatIsWrongAndThrowsNothing) {
    const Folder folder;
    Freed own;
    EXPECT_EQ(mercer_load(folder.file("absent.mercer").c_str(), &own.model), MERCER_BAD_INPUT);
    EXPECT_NE(std::string(mercer_error()).find("absent.mercer"), std::string::npos);
    EXPECT_EQ(own.model, nullptr);
    EXPECT_EQ(mercer_load(nullptr, &own.model), MERCER_BAD_INPUT);
    EXPECT_EQ(mercer_load("x", nullptr), MERCER_BAD_INPUT);
    EXPECT_EQ(mercer_load_memory("hello", 5, &own.model), MERCER_BAD_INPUT);
    EXPECT_EQ(mercer_load_memory(nullptr, 0, &own.model), MERCER_BAD_INPUT);
    const std::string bytes = save_to_memory(iris_model());
    ASSERT_EQ(mercer_load_memory(bytes.data(), bytes.size(), &own.model), MERCER_OK);
    double row[5] = {1, 2, 3, 4, 5}, answer = 7;
    EXPECT_EQ(mercer_predict(own.model, row, 1, 5, &answer), MERCER_BAD_INPUT);
    EXPECT_NE(std::string(mercer_error()).find("5 columns"), std::string::npos) << mercer_error();
    EXPECT_EQ(answer, 7);
    EXPECT_EQ(mercer_predict(nullptr, row, 1, 4, &answer), MERCER_BAD_INPUT);
    EXPECT_EQ(mercer_predict(own.model, nullptr, 1, 4, &answer), MERCER_BAD_INPUT);
    row[2] = NAN;
    EXPECT_EQ(mercer_predict(own.model, row, 1, 4, &answer), MERCER_BAD_INPUT);
    // Another thread has words of its own.
    std::string other = "?";
    std::thread([&] { other = mercer_error(); }).join();
    EXPECT_EQ(other, "");
    mercer_free(nullptr);
    EXPECT_EQ(mercer_columns(nullptr), 0U);
    EXPECT_STREQ(mercer_describe(nullptr), "");
}

// Whatever a file holds, it is refused or it is a model.
TEST(CInterface, DamagedFilesAreRefused) {
    Random random(2);
    const std::string bytes = save_to_memory(iris_model());
    for (int trial = 0; trial < 300; ++trial) {
        std::string damaged =
            bytes.substr(0, trial % 3 == 0 ? random.below(bytes.size()) : bytes.size());
        for (std::size_t i = 0; i < 1 + random.below(4) && !damaged.empty(); ++i) {
            damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
        }
        Freed own;
        const int code = mercer_load_memory(damaged.data(), damaged.size(), &own.model);
        EXPECT_EQ(own.model == nullptr, code != MERCER_OK);
        EXPECT_EQ(code, damaged == bytes ? MERCER_OK : MERCER_BAD_INPUT);
    }
}

}  // namespace
}  // namespace mercer::testing
