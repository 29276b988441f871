// A leaf is one description: kernels that exist in this file alone work everywhere, from text to a
// saved machine, without a line about them elsewhere.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <thread>

#include "expressions.hpp"
#include "mercer/base/error.hpp"
#include "mercer/gram/detail/plan.hpp"
#include "mercer/gram/gradient.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/kernel/definiteness.hpp"
#include "mercer/kernel/detail/leaf_tools.hpp"
#include "mercer/kernel/detail/slope.hpp"
#include "mercer/kernel/parameters.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/theory/detail/kernel_enclosure.hpp"

namespace mercer {
namespace {

using namespace leaves;
using testing::random_rows;
using testing::row_of;

/// 1 / (1 + rate ‖x−z‖²), or width with rate = 1/width².
void cauchy_slopes(const KernelNode& k, Numbers t, const LeafSlopes& out) {
    const double rate = k.parameter("rate");
    map_to(t, out.value, [&](double v) { return 1 / (1 + rate * v); });
    map_to(t, out.by_number, [&](double v) { return -rate / ((1 + rate * v) * (1 + rate * v)); });
}

const Leaf& cauchy() {
    static const Leaf* const leaf = &register_leaf({
        .entry = {.name = "toy_cauchy",
                  .aliases = {"toy_lorentz"},
                  .formula = "1 / (1 + rate |x-z|^2)",
                  .about = "a toy",
                  .parameters = {above_zero("rate", {"r"}, 1.0),
                                 other_form("width", {}, "rate", -2,
                                            [](double v) { return 1 / (v * v); })}},
        .reads = PairNumber::squared,
        .value = [](const KernelNode& k, double t) { return 1 / (1 + k.parameter("rate") * t); },
        .slopes = cauchy_slopes,
        .parameter_slope =
            [](const KernelNode& k, const std::string&, Numbers t, Out out) {
                const double rate = k.parameter("rate");
                map_to(t, out, [&](double v) { return -v / ((1 + rate * v) * (1 + rate * v)); });
            },
        .slope_kernel = [](const Kernel& k) { return -2 * k.node().parameter("rate") * pow(k, 2); },
        .judge =
            [](const KernelNode&, const Assumptions&) {
                return Finding::positive("a mixture of Gaussians of many widths", true);
            },
        .enclose = [](const KernelNode& k,
                      Interval t) { return Interval(1) / (Interval(1) + k.parameter("rate") * t); },
    });
    return *leaf;
}

/// cosh(gamma x·z), of which nothing but the value is told.
const Leaf& cosh_of_dot() {
    static const Leaf* const leaf = &register_leaf({
        .entry = {.name = "toy_cosh",
                  .formula = "cosh(gamma x.z)",
                  .about = "a toy",
                  .parameters = {any("gamma", {}, 0.5, true)}},
        .reads = PairNumber::dot,
        .value = [](const KernelNode& k, double t) { return std::cosh(k.parameter("gamma") * t); },
    });
    return *leaf;
}

/// The number of columns in which two rows agree: a leaf that reads the rows themselves.
const Leaf& matches() {
    static const Leaf* const leaf = &register_leaf({
        .entry = {.name = "toy_matches", .formula = "#{i: xi = zi}", .about = "a toy"},
        .row_value =
            [](const KernelNode&, Row x, Row z) {
                double count = 0;
                for (std::size_t i = 0; i < x.size(); ++i) count += x[i] == z[i] ? 1 : 0;
                return count;
            },
        .judge =
            [](const KernelNode&, const Assumptions&) {
                return Finding::positive("a dot product of indicators of entries");
            },
    });
    return *leaf;
}

class ToyLeaf : public ::testing::Test {
   protected:
    void SetUp() override {
        cauchy();
        cosh_of_dot();
        matches();
    }
};

TEST_F(ToyLeaf, IsReadPrintedAndChecked) {
    EXPECT_EQ(Kernel::parse("toy_lorentz(r=2)").text(), "toy_cauchy(rate=2)");
    EXPECT_EQ(Kernel::parse("0.5*toy_cauchy(3)[0:2] + linear").text(),
              "0.5*toy_cauchy(rate=3)[0:2] + linear");
    EXPECT_EQ(Kernel::parse("toy_cauchy").text(), "toy_cauchy");
    EXPECT_EQ(Kernel::parse("toy_cauchy(width=2)").node().parameter("rate"), 0.25);
    EXPECT_TRUE(Kernel::parse("toy_cosh(gamma=scale)").needs_data());
    for (const char* bad : {"toy_cauchy(rate=-1)", "toy_cauchy(rats=1)", "toy_cauchy(scale)",
                            "toy_cauchy(rate=1, width=2)", "toy_cauch"}) {
        EXPECT_THROW(Kernel::parse(bad), InvalidInput) << bad;
    }
    Leaf again = cauchy();
    EXPECT_THROW(register_leaf(again), InvalidInput) << "a name is taken once";
    again.entry.name = "toy_other";
    again.entry.aliases = {"gaussian"};
    EXPECT_THROW(register_leaf(again), InvalidInput) << "so is an alias";
}

TEST_F(ToyLeaf, OfThreadsThatTakeOneNameOneHasIt) {
    for (int round = 0; round < 40; ++round) {
        Leaf wanted = cauchy();
        wanted.entry.name = "toy_raced_" + std::to_string(round);
        wanted.entry.aliases.clear();
        std::atomic<int> has{0};
        std::atomic<int> waiting{4};
        const auto take = [&] {
            Leaf own = wanted;
            for (--waiting; waiting > 0;) std::this_thread::yield();
            try {
                register_leaf(std::move(own));
                ++has;
            } catch (const InvalidInput&) {
            }
        };
        std::vector<std::thread> threads;
        for (int k = 0; k < 4; ++k) threads.emplace_back(take);
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(has, 1) << wanted.entry.name;
    }
}

TEST_F(ToyLeaf, HasValueSlopesAndReasons) {
    const Kernel k = Kernel::parse("2*toy_cauchy(width=1.25)");
    const std::vector<double> x{0.5, -1, 2};
    const std::vector<double> z{1, 0.25, 1.5};
    const double t = 0.25 + 1.5625 + 0.25;
    EXPECT_DOUBLE_EQ(k(x, z), 2 / (1 + t / 1.5625));
    const PairDerivatives d = derivatives(k, x, z);
    const double step = 1e-6;
    for (std::size_t c = 0; c < x.size(); ++c) {
        std::vector<double> up = x, down = x;
        up[c] += step;
        down[c] -= step;
        EXPECT_NEAR(d.by_input[c], (k(up, z) - k(down, z)) / (2 * step), 1e-8);
    }
    const auto own = parameters(k);
    ASSERT_EQ(own.size(), 2U);
    for (std::size_t p = 0; p < own.size(); ++p) {
        std::vector<double> up, down;
        for (const KernelParameter& one : own) {
            up.push_back(one.value);
            down.push_back(one.value);
        }
        up[p] += step;
        down[p] -= step;
        const double slope =
            (with_parameters(k, up)(x, z) - with_parameters(k, down)(x, z)) / (2 * step);
        EXPECT_NEAR(d.by_parameter[p], slope, 1e-8) << own[p].name;
    }
    const auto terms = slope_terms(k);
    ASSERT_TRUE(terms && terms->size() == 1 && terms->front().difference);
    EXPECT_NEAR(terms->front().slope(x, z) * (x[0] - z[0]), d.by_input[0], 1e-12);

    const Definiteness found = definiteness(k);
    EXPECT_EQ(found.definite, Definite::positive);
    EXPECT_EQ(found.reasons[1].because, "a mixture of Gaussians of many widths");
    EXPECT_EQ(definiteness(Kernel::parse("toy_cauchy^0.5")).definite, Definite::positive);
    EXPECT_EQ(definiteness(Kernel::parse("toy_cosh")).definite, Definite::unknown);

    EXPECT_NO_THROW(require_enclosable(k));
    const Interval held = enclose(k, x, z);
    EXPECT_LE(held.low, k(x, z));
    EXPECT_GE(held.high, k(x, z));
    EXPECT_LT(held.high - held.low, 1e-13);
    EXPECT_THROW(require_enclosable(Kernel::parse("toy_cosh")), InvalidInput);
    EXPECT_THROW(input_gradient(Kernel::parse("toy_cosh"), x, z), InvalidInput);
    EXPECT_THROW(parameter_gradient(Kernel::parse("toy_cosh"), x, z), InvalidInput);
}

template <class T>
void expect_blocks(const Kernel& kernel, const Rows& rows, double tolerance) {
    const Gram<T> gram(kernel, rows);
    Matrix<T> k(rows.size(), rows.size());
    gram.matrix(k.view());
    Matrix<T> block(rows.size(), rows.size());
    gram.block(gram.prepare(rows), gram.reference(), block.view());
    std::vector<double> diagonal(rows.size());
    gram.diagonal(gram.reference(), diagonal);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < rows.size(); ++j) {
            const double value = gram.kernel()(row_of(rows, i), row_of(rows, j));
            const double allowed = tolerance * (1 + std::abs(value));
            ASSERT_NEAR(static_cast<double>(k(i, j)), value, allowed) << kernel.text();
            ASSERT_NEAR(static_cast<double>(block(i, j)), value, allowed) << kernel.text();
            if (i == j) {
                ASSERT_NEAR(diagonal[i], value, allowed) << kernel.text();
            }
        }
    }
}

TEST_F(ToyLeaf, BlocksAreItsValues) {
    for (const char* text :
         {"toy_cauchy(rate=0.1)", "toy_cosh(gamma=0.01)", "toy_cosh(gamma=scale)", "toy_matches",
          "normalize(toy_cauchy + toy_cosh(gamma=0.01))*rbf(gamma=0.01)",
          "toy_cauchy(rate=0.3)[1:4] + toy_matches[0:2]"}) {
        const Kernel kernel = Kernel::parse(text);
        for (const std::size_t columns : {7UL, 80UL}) {  // short rows and long ones
            const Rows dense = random_rows(70, columns, 0.6, 9);
            expect_blocks<float>(kernel, dense, 2e-5);
            expect_blocks<double>(kernel, dense, 1e-12);
            expect_blocks<double>(kernel, dense.to_sparse(), 1e-12);
        }
    }
}

TEST_F(ToyLeaf, GradientsOfWholeMatrices) {
    const Kernel kernel = Kernel::parse("1.5*toy_cauchy(width=2)");
    const Rows rows = random_rows(20, 5, 1, 3);
    const GramGradient gradient(kernel, rows);
    Matrix<double> value(20, 20), by_factor(20, 20), by_width(20, 20);
    const std::array slopes{by_factor.view(), by_width.view()};
    gradient.block(0, 0, value.view(), slopes);
    for (std::size_t i = 0; i < 20; ++i) {
        for (std::size_t j = 0; j < 20; ++j) {
            const auto pair = parameter_gradient(kernel, row_of(rows, i), row_of(rows, j));
            EXPECT_NEAR(by_factor(i, j), pair[0], 1e-12);
            EXPECT_NEAR(by_width(i, j), pair[1], 1e-12);
        }
    }
}

TEST_F(ToyLeaf, MachinesTrainPredictAndAreSaved) {
    const Rows x = random_rows(120, 4, 1, 5);
    Dataset data;
    data.x = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto row = row_of(x, i);
        data.y.values.push_back(row[0] * row[0] + row[1] * row[1] < 0.65 ? 1 : -1);
    }
    for (const char* text : {"toy_cauchy(rate=0.7)", "toy_cosh(gamma=2)"}) {
        const Model model = svc({.kernel = Kernel::parse(text), .C = 100}).fit(data);
        const Model back = load_from_memory(save_to_memory(model));
        EXPECT_EQ(back.expansion().kernel.text(), text);
        const std::vector<double> predicted = Predictor(model).predict(x);
        EXPECT_EQ(Predictor(back).predict(x), predicted);
        EXPECT_EQ(Predictor(back).decision(x).values(), Predictor(model).decision(x).values());
        std::size_t right = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            right += (predicted[i] > 0) == (data.y.values[i] > 0) ? 1U : 0U;
        }
        EXPECT_GT(right, 110U) << text;
    }
}

// The hot path: what is run for every pair of rows.
TEST(FastForms, AreTheFewStepsTheyAlwaysWere) {
    using C = Code;
    const std::vector<std::pair<const char*, std::vector<Code>>> expected{
        {"linear", {C::load}},
        {"rbf(gamma=0.5)", {C::gaussian}},
        {"polynomial(degree=3)", {C::load, C::affine, C::integer_power}},
        {"polynomial(degree=1)", {C::load, C::affine}},
        {"sigmoid", {C::load, C::affine, C::tanh}},
        {"logistic", {C::load, C::affine, C::logistic}},
        {"expdot", {C::load, C::exp}},
        {"ball(1)", {C::distance, C::step}},
        {"negative_distance(2)", {C::distance, C::affine}},
        {"negative_distance(1)", {C::distance, C::power, C::affine}},
        {"inverse_multiquadric", {C::distance, C::affine, C::power}},
        {"matern", {C::distance, C::matern}},
        {"rational_quadratic(0.5)", {C::distance, C::affine, C::power}},
        {"laplacian(gamma=1)", {C::load, C::exp}},
        {"laplacian(gamma=1, norm=2)", {C::distance, C::root, C::exp}},
        {"anova", {C::load}},
        {"periodic", {C::load, C::exp}},
        {"chi2", {C::load, C::exp}},
        {"additive_chi2", {C::load, C::affine}},
        {"intersection", {C::load}},
        {"2*rbf(gamma=1) + linear + 1",
         {C::gaussian, C::affine, C::load, C::add, C::constant, C::add}},
    };
    for (const auto& [text, codes] : expected) {
        const Plan plan = compile(Kernel::parse(text), 100);
        std::vector<Code> found;
        for (const Instruction& step : plan.program) found.push_back(step.code);
        EXPECT_EQ(found, codes) << text;
    }
    // A root or a jump of the distance needs sums of differences; others take the matrix product.
    const auto source = [](const char* text) {
        return compile(Kernel::parse(text), 100).sources.at(0).kind;
    };
    for (const char* steep : {"ball(1)", "negative_distance", "matern12", "laplacian(1, norm=2)"}) {
        EXPECT_EQ(source(steep), SourceKind::squared) << steep;
    }
    for (const char* smooth : {"rbf(1)", "imq", "matern32", "matern52", "rq"}) {
        EXPECT_EQ(source(smooth), SourceKind::dot) << smooth;
    }
}

}  // namespace
}  // namespace mercer
