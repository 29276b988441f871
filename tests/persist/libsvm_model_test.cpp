// LIBSVM's model files against LIBSVM's own programs.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "mercer/data/read.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/data/write.hpp"
#include "mercer/kernel/detail/node.hpp"
#include "mercer/persist/model_file.hpp"
#include "persist/support.hpp"

namespace mercer::testing {
namespace {

#define MERCER_NEEDS_LIBSVM()                                                              \
    if (!has_program("svm-train") || !has_program("svm-predict"))                          \
    GTEST_SKIP() << "svm-train and svm-predict are not there; they come with the package " \
                 << "libsvm-tools"

std::vector<double> numbers_in(const std::string& path) {
    std::ifstream in(path);
    std::vector<double> result;
    for (double value = 0; in >> value;) result.push_back(value);
    return result;
}

/// Rows as svm-predict reads them; rows of a precomputed matrix begin with "0:number".
void write_rows(const Rows& rows, const std::string& path, bool precomputed) {
    std::ofstream out(path);
    out.precision(17);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        out << 0;
        if (precomputed) out << " 0:" << i + 1;
        std::vector<double> row(rows.columns());
        rows.copy_row(i, row);
        for (std::size_t j = 0; j < row.size(); ++j) {
            if (row[j] != 0 || precomputed) out << ' ' << j + 1 << ':' << row[j];
        }
        out << '\n';
    }
}

/// svm-predict's answers must be those of the formula, except where a decision is a toss-up.
void expect_answers(const std::vector<double>& theirs, const Model& model, const Rows& rows,
                    double tolerance) {
    ASSERT_EQ(theirs.size(), rows.size());
    std::vector<double> row(rows.columns());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows.copy_row(i, row);
        const std::vector<double> values = values_by_formula(model, row);
        const double answer = answer_by_formula(model, values);
        if (is_regressor(model.task())) {
            EXPECT_NEAR(theirs[i], answer, tolerance * (1 + std::abs(answer))) << "row " << i;
            continue;
        }
        const bool clear = std::ranges::all_of(
            values, [tolerance](double value) { return std::abs(value) > tolerance; });
        EXPECT_TRUE(!clear || theirs[i] == answer)
            << "row " << i << ": " << theirs[i] << ", expected " << answer;
    }
}

std::vector<Kernel> libsvm_kernels() {
    return {linear(),
            polynomial({.degree = 3, .gamma = 0.3, .coef0 = 0.7}),
            rbf({.sigma = 1.3}),
            sigmoid({.gamma = 0.2, .coef0 = -0.1}),
            precomputed(),
            -2.5 * (0.5 * rbf({.gamma = 0.4}))};
}

std::vector<ModelForm> exported_forms() {
    std::vector<ModelForm> forms;
    for (const Kernel& kernel : libsvm_kernels()) {
        for (const Task task : {Task::svc, Task::nu_svc, Task::hard_margin, Task::one_class,
                                Task::svr, Task::nu_svr}) {
            for (const std::size_t classes : std::initializer_list<std::size_t>{2, 3, 5}) {
                if (classes > 2 && !is_classifier(task)) continue;
                const bool odd = forms.size() % 2 == 1;
                forms.push_back({.task = task,
                                 .kernel = kernel,
                                 .points = 17,
                                 .columns = 17,
                                 .classes = classes,
                                 .rows = {.sparse = odd, .twice = true}});
            }
        }
    }
    return forms;
}

TEST(LibsvmExport, SvmPredictAgreesWithTheFormula) {
    MERCER_NEEDS_LIBSVM();
    const Folder folder;
    Random random(41);
    const Rows rows = random_rows(random, 40, 17, {.twice = true});
    for (const bool precomputed : {false, true}) {
        write_rows(rows, folder.file(precomputed ? "rows1" : "rows0"), precomputed);
    }
    for (const ModelForm& form : exported_forms()) {
        const Model model(random_model(random, form));
        SCOPED_TRACE(task_name(form.task) + " " + form.kernel.text() + " " +
                     std::to_string(form.classes));
        const bool precomputed = form.kernel.node().kind == KernelKind::precomputed;
        export_libsvm(model, folder.file("model"));
        const Outcome outcome = run("svm-predict " + folder.file(precomputed ? "rows1" : "rows0") +
                                    " " + folder.file("model") + " " + folder.file("out"));
        ASSERT_EQ(outcome.code, 0) << outcome.output;
        expect_answers(numbers_in(folder.file("out")), model, rows, 1e-9);
    }
}

// What was exported reads back as the same function (a factor of the kernel moves into the
// coefficients, and a point of no pair is left out).
TEST(LibsvmExport, ReadsBackAsTheSameFunction) {
    Random random(43);
    for (const ModelForm& form : exported_forms()) {
        const Model model(random_model(random, form));
        const Model back = import_libsvm_from_memory(export_libsvm_to_memory(model));
        EXPECT_EQ(back.class_names(), model.class_names());
        EXPECT_EQ(back.task(), model.task() == Task::hard_margin ? Task::svc : model.task());
        std::vector<double> row(17);
        for (double& value : row) value = random.normal();
        const auto ours = values_by_formula(model, row);
        const auto theirs = values_by_formula(back, row);
        ASSERT_EQ(ours.size(), theirs.size());
        for (std::size_t o = 0; o < ours.size(); ++o) {
            EXPECT_NEAR(ours[o], theirs[o], 1e-12 * (1 + std::abs(ours[o])));
        }
        EXPECT_EQ(message_of([&] { load_from_memory(save_to_memory(back)); }), "");
    }
}

// One point that stands for equal rows of two classes has a coefficient of either sign.
TEST(LibsvmExport, PointOfSeveralClassesIsWrittenOncePerClass) {
    Random random(47);
    ModelParts parts =
        random_model(random, {.points = 1, .columns = 2, .classes = 3, .rows = {.twice = true}});
    for (std::size_t pair = 0; pair < 3; ++pair) {
        parts.expansion.coefficients(pair, 0) = pair == 1 ? -0.5 : 0.25;
    }
    const Model model(parts);
    const std::string text = export_libsvm_to_memory(model);
    EXPECT_NE(text.find("total_sv 3\n"), std::string::npos) << text;
    const Model back = import_libsvm_from_memory(text);
    const std::vector<double> row{0.3, -1};
    EXPECT_EQ(values_by_formula(back, row), values_by_formula(model, row));
}

TEST(LibsvmExport, SinglePrecisionPointsKeepTheirValues) {
    Random random(53);
    const Model model(random_model(random, {}));
    const Model back = import_libsvm_from_memory(export_libsvm_to_memory(model));
    // Lines are grouped by class, even points first; those of no weight are left out.
    std::vector<std::size_t> order;
    for (const std::size_t first : std::initializer_list<std::size_t>{0, 1}) {
        for (std::size_t p = first; p < 9; p += 2) {
            if (model.expansion().coefficients(0, p) != 0) order.push_back(p);
        }
    }
    EXPECT_EQ(full(back.expansion().points.to_float()),
              full(model.expansion().points.select(order)));
}

TEST(LibsvmExport, WidthIsKeptWhenTheLastColumnIsZero) {
    Random random(59);
    ModelParts model = random_model(random, {.rows = {.sparse = true}});
    model.expansion.points = model.expansion.points.widened(9);
    model.columns = 9;
    EXPECT_EQ(import_libsvm_from_memory(export_libsvm_to_memory(Model(model))).columns(), 9U);
}

TEST(LibsvmExport, WhatLibsvmDoesNotKnowIsRefusedWithAWayOut) {
    Random random(61);
    const auto message = [](const Model& model) {
        return message_of([&] { export_libsvm_to_memory(model); });
    };
    const Model sphere(random_model(random, {.task = Task::svdd}));
    EXPECT_NE(message(sphere).find("one-class"), std::string::npos);
    const Model targets(random_model(random, {.task = Task::svr, .outputs = 2}));
    EXPECT_NE(message(targets).find("one model a target"), std::string::npos);
    // Three classes make as many pairs as rests, so the count of outputs tells nothing.
    for (const std::size_t classes : std::initializer_list<std::size_t>{3, 4}) {
        ModelParts rest = random_model(random, {.classes = classes});
        rest.multi_class = MultiClass::one_vs_rest;
        rest.expansion.bias.resize(classes);
        rest.expansion.coefficients = Matrix<double>(classes, 9, 1.0);
        EXPECT_NE(message(Model(rest)).find("one against one"), std::string::npos) << classes;
    }
    const Model kernel(random_model(random, {.kernel = laplacian({.gamma = 1.0})}));
    EXPECT_NE(message(kernel).find("linear, polynomial, rbf, sigmoid"), std::string::npos);
    ModelParts scaled = random_model(random, {});
    scaled.scaling = Scaling::fit(ScalingRule::parse("standard"), scaled.expansion.points);
    EXPECT_NE(message(Model(scaled)).find("scale the data first"), std::string::npos);
    ModelParts fraction = random_model(random, {});
    fraction.class_values[1] = 0.5;
    EXPECT_NE(message(Model(fraction)).find("whole numbers"), std::string::npos);
    ModelParts names = random_model(random, {});
    names.class_values.clear();
    names.class_names = {"no", "yes"};
    EXPECT_NE(export_libsvm_to_memory(Model(names)).find("label 0 1\n"), std::string::npos);
}

/// svm-train's models: import, compare with svm-predict on the same rows, write back byte for byte.
void expect_imported(const Folder& folder, const std::string& data, const Rows& rows,
                     const std::string& options) {
    SCOPED_TRACE(options);
    const std::string path = folder.file("theirs.model");
    const Outcome trained = run("svm-train -q " + options + " " + in_quotes(data) + " " + path);
    ASSERT_EQ(trained.code, 0) << trained.output;
    const Outcome predicted =
        run("svm-predict " + in_quotes(data) + " " + path + " " + folder.file("out"));
    ASSERT_EQ(predicted.code, 0) << predicted.output;
    const Model model = import_libsvm(path, rows.columns());
    expect_answers(numbers_in(folder.file("out")), model, rows, 1e-9);
    EXPECT_TRUE(export_libsvm_to_memory(model) == content_of(path))
        << "written back it is not the same file";
}

TEST(LibsvmImport, SvmTrainsModelsOfRealDataGiveSvmPredictsAnswers) {
    MERCER_NEEDS_LIBSVM();
    MERCER_NEEDS_DATA(heart, "heart/heart_scale");
    const Folder folder;
    const Dataset data = read(heart, {.double_precision = true});
    for (const int type : {0, 1, 2, 3, 4}) {
        for (const int kernel : {0, 1, 2, 3}) {
            const std::string base = "-s " + std::to_string(type) + " -t " + std::to_string(kernel);
            expect_imported(folder, heart, data.x, base);
            if (type != 2) expect_imported(folder, heart, data.x, base + " -g 0.3 -r 0.5 -b 1");
        }
    }
}

TEST(LibsvmImport, ManyClasses) {
    MERCER_NEEDS_LIBSVM();
    const Folder folder;
    const std::string path = folder.file("blobs");
    Dataset data = make("blobs", {.n = 120, .noise = 4, .classes = 5, .columns = 3});
    // Labels that first appear out of order: LIBSVM keeps the order of appearance.
    for (double& label : data.y.values) label = 7 - 3 * label;
    write(data, path);
    const Rows rows = read(path, {.double_precision = true}).x;
    for (const char* options : {"-t 2 -g 0.1", "-t 0", "-s 1 -n 0.3 -t 1 -r 1", "-t 2 -b 1"}) {
        expect_imported(folder, path, rows, options);
    }
}

TEST(LibsvmImport, PrecomputedKernel) {
    MERCER_NEEDS_LIBSVM();
    const Folder folder;
    Random random(67);
    const Rows points = random_rows(random, 30, 3, {.twice = true});
    std::vector<double> matrix;
    std::vector<std::vector<double>> rows = full(points);
    std::ofstream out(folder.file("gram"));
    out.precision(17);
    for (std::size_t i = 0; i < 30; ++i) {
        out << i % 3 << " 0:" << i + 1;
        for (std::size_t j = 0; j < 30; ++j) {
            matrix.push_back(rbf({.gamma = 0.5})(rows[i], rows[j]));
            out << ' ' << j + 1 << ':' << matrix.back();
        }
        out << '\n';
    }
    out.close();
    const Rows gram = Rows::dense(std::move(matrix), 30);
    for (const char* options :
         {"-t 4", "-s 1 -t 4 -n 0.2", "-s 2 -t 4", "-s 3 -t 4", "-s 4 -t 4"}) {
        expect_imported(folder, folder.file("gram"), gram, options);
    }
}

constexpr std::string_view small_model =
    "svm_type c_svc\nkernel_type polynomial\ndegree 2\ngamma 0.5\ncoef0 1\nnr_class 3\n"
    "total_sv 3\nrho 0.5 -0.25 1\nlabel 3 1 2\nprobA 1 2 3\nprobB 4 5 6\nnr_sv 1 1 1\nSV\n"
    "1 0.5 1:0.25 3:-1 \n-1 0.75 2:1 \n-0.5 -0.75 1:1 3:2 \n";

struct Damage {
    std::string from;
    std::string to;
    std::string place;  ///< how the message goes on after the name
    std::string words;
};

const std::vector<Damage> damages{
    {"c_svc", "d_svc", "1:10:", "must be one of c_svc"},
    {"svm_type c_svc\n", "", " ", "'svm_type'"},
    {"polynomial", "anova", "2:13:", "linear, polynomial"},
    {"degree 2", "degree two", "3:8:", "finite number"},
    {"degree 2", "degree 2.5", " ", "whole numbers"},
    {"degree 2", "degree 2 3", " ", "'degree' has 2 numbers"},
    {"gamma 0.5\n", "", " ", "no 'gamma'"},
    {"gamma 0.5", "gamma nan", "4:7:", "finite"},
    {"gamma 0.5", "gama 0.5", "4:1:", "unknown key 'gama'"},
    {"coef0 1", "gamma 1", "5:1:", "twice"},
    {"nr_class 3", "nr_class 1", " ", "at least 2"},
    {"nr_class 3", "nr_class 1000000", " ", "'nr_sv' has 3 numbers, expected 1000000"},
    {"nr_class 3", "nr_class -3", " ", "whole numbers"},
    {"total_sv 3", "total_sv 4", " ", "adds up to 3"},
    {"total_sv 3", "total_sv 99999999999", " ", "total_sv"},
    {"rho 0.5 -0.25 1", "rho 0.5 -0.25", " ", "'rho' has 2 numbers, expected 3"},
    {"label 3 1 2", "label 3 1 3", " ", "same name"},
    {"label 3 1 2", "label 3 1 2.5", " ", "whole numbers"},
    {"probB 4 5 6\n", "", " ", "no 'probB'"},
    {"nr_sv 1 1 1", "nr_sv 1 1 2", " ", "adds up to 4"},
    {"SV\n", "SV x\n", "13:4:", "end of the line"},
    {"SV\n", "\n", "13:1:", "empty line"},
    {"1 0.5 1:0.25", "1 x 1:0.25", "14:3:", "coefficient 2 of 2"},
    {"1 0.5 1:0.25", "1 inf 1:0.25", "14:3:", "finite"},
    {"1:0.25", "0:0.25", "14:7:", "between 1"},
    {"1:0.25", "a:0.25", "14:7:", "an index"},
    {"1:0.25", "1", "14:7:", "index:value"},
    {"1:0.25", "1:", "14:9:", "finite"},
    {"1:0.25", "1:1e999", "14:9:", "finite"},
    {"3:-1", "1:-1", "14:14:", "between 2"},
    {"3:-1", "99999999999:-1", "14:14:", "an index"},
    {"-0.5 -0.75 1:1 3:2 \n", "", "15:", "cut short"},
    {"3:2 \n", "3:2 \n1 1 1:1\n", "17:1:", "end of the file"},
};

TEST(LibsvmImport, EveryMistakeIsNamedWithItsLine) {
    ASSERT_EQ(message_of([] { import_libsvm_from_memory(small_model, "m"); }), "");
    for (const Damage& damage : damages) {
        std::string text(small_model);
        ASSERT_NE(text.find(damage.from), std::string::npos) << damage.from;
        text.replace(text.find(damage.from), damage.from.size(), damage.to);
        const std::string message = message_of([&] { import_libsvm_from_memory(text, "m"); });
        EXPECT_EQ(message.find("m:" + damage.place), 0U) << damage.to << ": " << message;
        EXPECT_NE(message.find(damage.words), std::string::npos) << damage.to << ": " << message;
    }
    EXPECT_NE(message_of([] { import_libsvm_from_memory("", "m"); }).find("empty"),
              std::string::npos);
}

TEST(LibsvmImport, DamagedTextGivesAnErrorOrAModelThatHoldsTogether) {
    Random random(71);
    std::string serials(small_model);
    serials.replace(serials.find("polynomial"), 10, "precomputed");
    serials.replace(serials.find("SV\n"), std::string::npos,
                    "SV\n1 0.5 0:3 \n-1 0.75 0:1 \n-0.5 -0.75 0:7 \n");
    for (const std::string& original : {std::string(small_model), serials}) {
        ASSERT_EQ(message_of([&] { import_libsvm_from_memory(original); }), "");
        for (std::size_t i = 0; i < original.size(); ++i) {
            for (const char replacement : {'\0', '\n', ' ', '9', ':', '-', '\xFF'}) {
                std::string text = original;
                text[i] = replacement;
                if (random.below(4) == 0) text.resize(random.below(text.size()));
                try {
                    const std::string bytes = save_to_memory(import_libsvm_from_memory(text));
                    EXPECT_EQ(save_to_memory(load_from_memory(bytes)), bytes);
                } catch (const InvalidInput&) {
                }
            }
        }
    }
}

// 700 classes in a file of two megabytes would make a matrix of gigabytes.
TEST(LibsvmImport, CoefficientsThatWouldNotFitAreRefused) {
    std::string labels;
    std::string counts;
    for (int c = 0; c < 700; ++c) {
        labels += " " + std::to_string(c);
        counts += " 2";
    }
    std::string rho;
    for (int pair = 0; pair < 700 * 699 / 2; ++pair) rho += " 0";
    const std::string text =
        "svm_type c_svc\nkernel_type linear\nnr_class 700\ntotal_sv 1400\nrho" + rho + "\nlabel" +
        labels + "\nnr_sv" + counts + "\nSV\n";
    const std::string message = message_of([&] { import_libsvm_from_memory(text, "m"); });
    EXPECT_NE(message.find("fit in memory"), std::string::npos) << message;
}

}  // namespace
}  // namespace mercer::testing
