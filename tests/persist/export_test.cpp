// Models as C source: compiled by the C compiler of the system with all warnings, and run on the
// rows that the file itself brings. ONNX is judged by onnxruntime, in tests/peers/test_export.py.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/data/table/detail/cells.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/learn/multi_label.hpp"
#include "mercer/learn/online/perceptron.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/persist/export/detail/compile.hpp"
#include "mercer/persist/model_file.hpp"
#include "persist/support.hpp"

namespace mercer::testing {
namespace {

#define MERCER_NEEDS_CC() \
    if (!has_program("cc")) GTEST_SKIP() << "there is no C compiler cc; it comes with gcc"

std::string c_of(const Model& model, bool single = false) {
    return export_to_memory(model, {.format = "c", .name = "machine", .single_precision = single});
}

/// Compiles the source as strictly as people do and runs its own test.
Outcome compile_and_test(const std::string& source) {
    const Folder folder;
    const std::string file = folder.file("machine.c");
    std::ofstream(file) << source;
    const Outcome compiled =
        run("cc -std=c99 -pedantic -Wall -Wextra -Werror -c " + in_quotes(file) + " -o " +
            in_quotes(folder.file("machine.o")) +
            " 2>&1 && cc -std=c99 -pedantic -Wall -Wextra -Werror -DMERCER_TEST " +
            in_quotes(file) + " -o " + in_quotes(folder.file("machine")) + " -lm 2>&1");
    if (compiled.code != 0) return compiled;
    return run(in_quotes(folder.file("machine")) + " 2>&1");
}

void expect_passes(const Model& model, const std::string& what) {
    for (const bool single : {false, true}) {
        const Outcome outcome = compile_and_test(c_of(model, single));
        EXPECT_EQ(outcome.code, 0) << what << (single ? " single\n" : "\n") << outcome.output;
    }
}

/// Entries from 0 on, so that kernels of histograms have a value.
Rows positive_rows(std::size_t rows, std::size_t columns) {
    Random random(5);
    std::vector<double> values(rows * columns);
    for (double& v : values) v = random.uniform() < 0.2 ? 0 : random.uniform(0, 2);
    return Rows::dense(std::move(values), columns);
}

class ExportedKernel : public ::testing::TestWithParam<const char*> {};

TEST_P(ExportedKernel, CSaysWhatTheModelSays) {
    MERCER_NEEDS_CC();
    Random random(3);
    const Kernel kernel = Kernel::parse(GetParam());
    for (const Task task : {Task::svc, Task::svr}) {
        ModelParts parts = random_model(
            random, {.task = task, .kernel = kernel, .points = 9, .columns = 4, .classes = 3});
        parts.expansion.points = positive_rows(9, 4);
        if (is_centered(kernel)) parts.expansion.reference = positive_rows(7, 4);
        if (task == Task::svr) parts.expansion.self = -0.5;
        expect_passes(Model(std::move(parts)), GetParam());
    }
}

INSTANTIATE_TEST_SUITE_P(
    Zoo, ExportedKernel,
    ::testing::Values(
        "linear", "2*linear + 1", "polynomial(degree=3, gamma=0.5, coef0=1)", "rbf(gamma=0.7)",
        "laplacian(gamma=0.4)", "laplacian(gamma=0.4, norm=2)", "sigmoid(gamma=0.1, coef0=-0.2)",
        "matern(nu=0.5, length=2)", "matern(nu=1.5)", "matern(nu=2.5, length=0.7)",
        "rational_quadratic(alpha=0.8, length=1.2)", "periodic(period=1.3, length=2)",
        "chi2(gamma=0.5)", "additive_chi2", "intersection", "anova(gamma=0.3, degree=2)",
        "inverse_multiquadric", "ball(radius=1.5)", "exponential_dot(gamma=0.2)",
        "negative_distance", "bilinear([[2,1,0,0],[1,2,0,0],[0,0,1,0],[0,0,0,3]])",
        "outer(1 + x0^2 - sin(x1)*norm) + rbf(gamma=0.2)", "rbf(gamma=0.7)[0:2]*linear[2,3] + 0.5",
        "normalize(polynomial(degree=2))", "center(rbf(gamma=0.7))",
        "normalize(center(rbf(gamma=0.7)))", "exp(0.2*linear)", "(linear + 1)^3",
        "map(rbf(gamma=0.2), max(x0, x1), tan(x2/4), |x3|^1.5, 2)",
        "rbf_of(polynomial(degree=2), gamma=0.01)"));

TEST(Export, ScalingClassesAndProbabilitiesGoWithTheModel) {
    MERCER_NEEDS_CC();
    const Dataset data = read("@iris");
    for (const char* scale : {"none", "standard", "minmax(-1,1)", "minmax(1,2)", "unit", "1/3"}) {
        for (const MultiClass way : {MultiClass::one_vs_one, MultiClass::one_vs_rest}) {
            SvmSettings settings{.C = 3};
            settings.common.kernel = rbf({.gamma = 0.5});
            settings.common.scaling = ScalingRule::parse(scale);
            settings.multi_class = way;
            const Model model = Svm(settings).fit(data);
            const std::string what = std::string(scale) + " " + multi_class_words.word(way).data();
            for (const CalibrationMethod method :
                 {CalibrationMethod::platt, CalibrationMethod::isotonic,
                  CalibrationMethod::temperature}) {
                const std::string source = c_of(calibrate(model, data, method));
                EXPECT_NE(source.find("setosa"), std::string::npos);
                const Outcome outcome = compile_and_test(source);
                EXPECT_EQ(outcome.code, 0) << what << "\n" << outcome.output;
            }
        }
    }
}

// Sparse points, and a model that has none.
TEST(Export, SparseAndEmptyExpansions) {
    MERCER_NEEDS_CC();
    Random random(6);
    for (const Kernel& kernel : {linear(), rbf({.gamma = 0.3})}) {
        expect_passes(Model(random_model(random, {.kernel = kernel, .rows = {.sparse = true}})),
                      "sparse " + kernel.text());
        ModelParts none = random_model(random, {.kernel = kernel, .points = 0});
        none.expansion.points = Rows();
        // Nothing to try it with inside: that it compiles is what can be asked.
        const std::string source = c_of(Model(std::move(none)));
        EXPECT_EQ(compile_and_test(source + "\nint main(void) { return 0; }\n").code, 0);
    }
}

// The test inside the file must be able to fail.
TEST(Export, TheTestInsideSeesAWrongNumber) {
    MERCER_NEEDS_CC();
    Random random(8);
    const Model model{random_model(random, {.kernel = rbf({.gamma = 0.3})})};
    std::string source = c_of(model);
    EXPECT_EQ(compile_and_test(source).code, 0);
    const std::size_t at = source.find("exp(");
    ASSERT_NE(at, std::string::npos);
    source.replace(at, 4, "cos(");
    EXPECT_NE(compile_and_test(source).output.find("instead of"), std::string::npos);
}

void expect_refused(const Model& model, const std::string& part) {
    for (const char* format : {"onnx", "c"}) {
        try {
            export_to_memory(model, {.format = format});
            ADD_FAILURE() << "no refusal of " << part;
        } catch (const InvalidInput& error) {
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
        }
    }
}

TEST(Export, NamesWhatItHasNoOperationsFor) {
    Random random(4);
    const auto with = [&](const Kernel& kernel) {
        return Model(random_model(random, {.kernel = kernel}));
    };
    expect_refused(with(function("export_test", [](auto x, auto z) { return x[0] * z[0]; })),
                   "'user'");
    expect_refused(with(precomputed()), "'precomputed'");
    expect_refused(with(sets(linear(), 2)), "'sets'");
    expect_refused(with(Kernel::parse("gak(sigma=1)")), "gak");
    const Dataset data = read("@iris");
    PerceptronSettings voted;
    voted.variant = PerceptronVariant::voted;
    expect_refused(Perceptron(voted).fit(data), "perceptron");
}

/// Two columns of dates, one with hours and gaps, and what they tell.
Model model_of_dates(const std::string& hours) {
    Random random(9);
    std::string text = "day,seen,y\n";
    for (std::size_t i = 0; i < 60; ++i) {
        const auto two = [](std::size_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
        const std::size_t year = 1895 + 4 * random.below(36), month = 1 + random.below(12);
        text +=
            std::to_string(year + i % 4) + "-" + two(month) + "-" + two(1 + random.below(28)) + ",";
        if (i % 7 != 0) {
            text += "2020-02-" + two(1 + i % 29);
            if (!hours.empty()) text += " " + two(random.below(24)) + hours;
        }
        text += "," + std::to_string(month) + ".5\n";
    }
    const Table table = table_from_text(text);
    const auto columns = plan_columns(table, {.label = "y"});
    RidgeSettings settings;
    settings.common.kernel = rbf({.gamma = 0.3});
    return Ridge(settings).fit(columns->dataset(table));
}

TEST(Export, DatesOfTablesGoWithTheModel) {
    MERCER_NEEDS_CC();
    expect_passes(model_of_dates(""), "dates");
    const Model with_hours = model_of_dates(":30");
    const Outcome outcome = compile_and_test(c_of(with_hours));
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_NE(c_of(with_hours).find("days since 1970-01-01"), std::string::npos);
    try {
        c_of(with_hours, true);
        ADD_FAILURE() << "hours in single precision";
    } catch (const InvalidInput& error) {
        EXPECT_NE(std::string(error.what()).find("`precision=single`"), std::string::npos)
            << error.what();
    }
}

/// What a program of single numbers makes of a row of one.
std::vector<double> carried_out(const exports::Program& program, double x) {
    using exports::Op;
    std::vector<double> at;
    std::vector<double> result;
    for (const exports::Operation& o : program.operations()) {
        const auto of = [&](std::size_t i) { return at[o.of[i].at]; };
        double v = 0;
        switch (o.op) {
            case Op::input: v = x; break;
            case Op::constant: v = o.numbers.at(0); break;
            case Op::sin: v = std::sin(of(0)); break;
            case Op::cos: v = std::cos(of(0)); break;
            case Op::floor: v = std::floor(of(0)); break;
            case Op::add: v = of(0) + of(1); break;
            case Op::subtract: v = of(0) - of(1); break;
            case Op::multiply: v = of(0) * of(1); break;
            case Op::divide: v = of(0) / of(1); break;
            case Op::at_most: v = of(0) <= of(1); break;
            case Op::above: v = of(0) > of(1); break;
            case Op::choose: v = of(0) != 0 ? of(1) : of(2); break;
            case Op::stack:
                for (const exports::Value& part : o.of) result.push_back(at[part.at]);
                break;
            default: ADD_FAILURE() << "the operation " << exports::name_of(o.op);
        }
        at.push_back(v);
    }
    return result;
}

// The calendar of the operations is that of the recipe, over eras and leap years.
TEST(Export, CalendarIsThatOfTheRecipe) {
    exports::Program program(1);
    std::vector<exports::Value> parts;
    exports::compile_date_parts(program, program.input(), true, parts);
    program.result = program.stack(parts);
    std::vector<double> days;
    for (const long long year :
         {1599, 1600, 1700, 1899, 1900, 1970, 1999, 2000, 2004, 2023, 2400}) {
        for (const int month : {1, 2, 3, 12}) {
            for (const int day : {1, 28}) {
                for (const double hour : {0.0, 0.5, 0.75}) {
                    days.push_back(hour +
                                   static_cast<double>(tables::days_from_civil(year, month, day)));
                }
                days.push_back(static_cast<double>(tables::days_from_civil(year, month, day) + 1));
            }
        }
    }
    const auto columns = std::make_shared<const TableColumns>(
        std::vector<TableColumn>{{.name = "d", .kind = ColumnKind::date, .has_time = true}},
        ColumnRoles{}, false, false, std::vector<std::string>{});
    const Recipe recipe(columns, {Recipe::Fitted{}});
    const Rows expected = recipe.apply(Rows::dense(std::vector<double>(days), 1));
    std::vector<double> row(expected.columns());
    for (std::size_t i = 0; i < days.size(); ++i) {
        expected.copy_row(i, row);
        const std::vector<double> found = carried_out(program, days[i]);
        ASSERT_EQ(found.size() + 1, row.size());
        for (std::size_t j = 0; j < found.size(); ++j) {
            EXPECT_NEAR(found[j], row[j + 1], 1e-6) << "part " << j << " of day " << days[i];
        }
    }
}

TEST(Export, TellsFormatsByTheEndingOfTheFile) {
    Random random(4);
    const Folder folder;
    const Model model{random_model(random, {.kernel = rbf({.gamma = 0.3})})};
    for (const ExportFormat& format : export_formats()) {
        const std::string path = folder.file("m" + format.ending);
        export_model(model, path);
        std::ifstream in(path, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(in), {}};
        EXPECT_EQ(bytes, export_to_memory(model, {.format = format.name}));
    }
    EXPECT_THROW(export_model(model, folder.file("m.txt")), InvalidInput);
    EXPECT_THROW(export_model(model, folder.file("m.c"), {.name = "int"}), InvalidInput);
    EXPECT_THROW(export_model(model, folder.file("m.c"), {.name = "a b"}), InvalidInput);
    EXPECT_THROW(export_to_memory(model, {.format = "pmml"}), InvalidInput);
}

// Names of classes and columns come from files: none of them ends a comment or a string.
TEST(Export, HostileNamesStayNames) {
    MERCER_NEEDS_CC();
    Random random(4);
    ModelParts parts = random_model(random, {.kernel = rbf({.gamma = 0.3})});
    parts.class_values.clear();
    parts.class_names = {"\"; exit(1); //", "*/ ?\?/\n\\ \xc3\xa9"};
    parts.feature_names = {"*/ int x; ?\?/", "/*", "a\nb", "\\"};
    const Outcome outcome = compile_and_test(c_of(Model(std::move(parts))));
    EXPECT_EQ(outcome.code, 0) << outcome.output;
}

}  // namespace
}  // namespace mercer::testing
