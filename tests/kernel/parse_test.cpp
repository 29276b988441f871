// The text syntax: what it means, that it prints back exactly, and what mistakes are told.
#include <gtest/gtest.h>

#include <set>

#include "kernel/support.hpp"
#include "mercer/kernel/detail/node.hpp"

namespace mercer {
namespace {

using test::complaint;

const std::pair<const char*, const char*> normal_forms[] = {
    {"rbf", "rbf"},
    {"rbf()", "rbf"},
    {"gaussian(sigma=1)", "rbf(sigma=1)"},
    {"rbf(lengthscale=1)", "rbf(sigma=1)"},
    {"rbf(0.5)", "rbf(gamma=0.5)"},
    {"rbf(gamma=scale)", "rbf(gamma=scale)"},
    {"rbf(auto)", "rbf(gamma=auto)"},
    {"rbf(gamma=1/784)", "rbf(gamma=0.0012755102040816326)"},
    {"rbf(gamma=2^-3)", "rbf(gamma=0.125)"},
    {"poly(2)", "polynomial(degree=2)"},
    {"poly(d=2, c=1, s=0.5)", "polynomial(degree=2, gamma=0.5, coef0=1)"},
    {"poly(offset=1, scale=2)", "polynomial(gamma=2, coef0=1)"},
    {"tanh(kappa=2, delta=1)", "sigmoid(gamma=2, delta=1)"},
    {"sigmoid(theta=-1)", "sigmoid(coef0=-1)"},
    {"exponential_dot(2)", "expdot(gamma=2)"},
    {"imq(2)", "inverse_multiquadric(c=2)"},
    {"rq(alpha=2, l=3)", "rational_quadratic(alpha=2, length=3)"},
    {"matern(1.5)", "matern(nu=1.5)"},
    {"matern12", "matern(nu=0.5)"},
    {"matern52(length=2)", "matern(nu=2.5, length=2)"},
    {"ball(1)", "ball(radius=1)"},
    {"power(1.5)", "negative_distance(beta=1.5)"},
    {"histogram_intersection", "intersection"},
    {"periodic(2*pi)", "periodic(period=6.283185307179586)"},
    {"normalise(centre(linear))", "normalize(center(linear))"},
    {"0.3*rbf", "0.3*rbf"},
    {"rbf*0.3", "0.3*rbf"},
    {"rbf/2", "0.5*rbf"},
    {"2*6/3*rbf", "4*rbf"},
    {"-rbf", "-rbf"},
    {"--rbf", "rbf"},
    {"2*(3*rbf)", "6*rbf"},
    {"2*(0.5*rbf)", "1*rbf"},
    {"rbf*2*linear*-3", "-6*rbf*linear"},
    {"linear + 1", "linear + 1"},
    {"1 + linear - 2", "1 + linear - 2"},
    {"1 + 2 + linear + 3 + 4", "3 + linear + 7"},
    {"linear + -2*rbf", "linear - 2*rbf"},
    {"linear - -rbf", "linear + rbf"},
    {"linear - (rbf + 1)", "linear - (rbf + 1)"},
    {"(linear + rbf) + 1", "linear + rbf + 1"},
    {"(linear*rbf)*poly", "linear*rbf*polynomial"},
    {"(linear + 1)*rbf", "(linear + 1)*rbf"},
    {"linear^2*rbf", "linear^2*rbf"},
    {"(linear*rbf)^2", "(linear*rbf)^2"},
    {"(linear^2)^0.5", "(linear^2)^0.5"},
    {"linear^(1/2)", "linear^0.5"},
    {"linear^-1", "linear^-1"},
    {"-linear^2", "-linear^2"},
    {"2^3", "8"},
    {"-2^2", "-4"},
    {"constant(2)", "2"},
    {"rbf[0:10]", "rbf[0:10]"},
    {"rbf[:10]", "rbf[0:10]"},
    {"rbf[ 3 , 5:7, age, \"sepal length\", 9: ]", "rbf[3,5:7,age,\"sepal length\",9:]"},
    {"rbf[3:4]", "rbf[3]"},
    {"rbf[\"3\"]", "rbf[\"3\"]"},
    {"rbf[\"a\\\"b\\\\\"]", "rbf[\"a\\\"b\\\\\"]"},
    {"0.3*rbf[0:3]^2", "0.3*rbf[0:3]^2"},
    {"(0.3*rbf)[0:3]", "(0.3*rbf)[0:3]"},
    {"(rbf[2:8])[0:3]", "rbf[2:8][0:3]"},
    {"(rbf + linear)[0:3]", "(rbf + linear)[0:3]"},
    {"exp(rbf + 1)", "exp(rbf + 1)"},
    {"rbf_of(linear)", "rbf_of(linear)"},
    {"rbf_of(linear + 1, 2)", "rbf_of(linear + 1, gamma=2)"},
    {"map(rbf, x0^2, (x0*x1))", "map(rbf, x0^2, x0*x1)"},
    {"sets(rbf, 3)", "sets(rbf, width=3)"},
    {"sets(rbf, counted=true, width=3)", "sets(rbf, width=3, counted=true)"},
    {"sets(rbf, width=3, counted=false)", "sets(rbf, width=3)"},
    {"outer(1 + |x0|)", "outer(1 + abs(x0))"},
    {"bilinear([[1, -0], [0, 2e0]])", "bilinear([[1,0],[0,2]])"},
    {"precomputed", "precomputed"},
    {" rbf\n+\tlinear ", "rbf + linear"},
};

TEST(KernelText, PrintsTheNormalForm) {
    for (const auto& [text, expected] : normal_forms) {
        EXPECT_EQ(Kernel::parse(text).text(), expected) << text;
        EXPECT_EQ(Kernel::parse(expected).text(), expected) << text;
    }
}

TEST(KernelText, PrecedenceIsThatOfMathematics) {
    const std::vector<double> x = {0.5, 2};
    const std::vector<double> z = {3, -0.25};  // x·z = 1, x0 z0 = 1.5
    EXPECT_EQ(Kernel::parse("2*linear^2")(x, z), 2);
    EXPECT_EQ(Kernel::parse("-2*linear[0]^2")(x, z), -4.5);
    EXPECT_EQ(Kernel::parse("1 - linear - 1")(x, z), -1);
    EXPECT_EQ(Kernel::parse("1 - (linear - 1)")(x, z), 1);
    EXPECT_EQ(Kernel::parse("3*linear[0] + 2*linear*linear/4")(x, z), 5);
    EXPECT_EQ(Kernel::parse("(1 + linear)^2*2")(x, z), 8);
}

TEST(KernelText, BuiltInProgramsAndReadFromTextAreOne) {
    EXPECT_EQ((rbf({.gamma = 0.5}) + 0.3 * polynomial({.degree = 2})[columns(0, 10)]).text(),
              "rbf(gamma=0.5) + 0.3*polynomial(degree=2)[0:10]");
    EXPECT_EQ(polynomial({.degree = 3}).text(), "polynomial");
    EXPECT_EQ((constant(2) * rbf()).text(), "2*rbf");
    EXPECT_EQ((constant(1) + (constant(2) + rbf())).text(), "3 + rbf");
    EXPECT_EQ((rbf() - 1).text(), "rbf - 1");
    EXPECT_EQ((1 + rbf()).text(), "1 + rbf");
    EXPECT_EQ(pow(constant(3), 2).text(), "9");
    EXPECT_EQ(constant(-0.0).text(), "0");
    EXPECT_EQ(rbf({.gamma = auto_rule}).text(), "rbf(gamma=auto)");
    EXPECT_EQ(sets(linear(), 3, true).text(), "sets(linear, width=3, counted=true)");
    EXPECT_NE(rbf({.sigma = 1.0}), rbf({.gamma = 0.5}));  // equal functions, other expressions
}

// ---- Any tree prints to a text that reads back to the same text and the same function.

double random_number(Random& random) {
    const double choices[] = {0, 1, -1, 2, 0.5, -0.3, 1e-5, 1e5};
    return random.below(2) == 0 ? choices[random.below(8)] : random.normal();
}

Kernel random_leaf(Random& random) {
    const double scale = std::exp(random.normal());
    switch (random.below(14)) {
        case 0: return linear();
        case 1:
            return polynomial(
                {.degree = static_cast<int>(random.below(4)), .coef0 = random_number(random)});
        case 2: return rbf({.sigma = scale});
        case 3: return rbf({.gamma = scale});
        case 4: return sigmoid({.gamma = random_number(random)});
        case 5: return matern({.nu = 2.5, .length = scale});
        case 6: return constant(random_number(random));
        case 7: return laplacian({.gamma = scale, .norm = 2});
        case 8: return anova({.gamma = scale});
        case 9: return outer(Formula::parse("x0 - \"odd name\""));
        case 10: return logistic({.beta = random_number(random)});
        case 11: return ball(scale);
        case 12: return inverse_multiquadric(scale);
        default: return periodic({.period = scale});
    }
}

Kernel random_kernel(Random& random, int depth) {
    if (depth == 0) return random_leaf(random);
    // Named, because the order in which a compiler works out both sides of + is its own.
    const Kernel a = random_kernel(random, depth - 1);
    const Kernel b = random_kernel(random, depth - 1);
    const double number = random_number(random);
    const std::size_t first = random.below(2);
    const std::size_t last = 2 + random.below(2);
    switch (random.below(13)) {
        case 0: return a + b;
        case 1: return a - b;
        case 2: return a * b;
        case 3: return number * a;
        case 4: return a + number;
        case 5: return pow(a, static_cast<double>(random.below(4)));
        case 6: return exp(a);
        case 7: return a[columns(first, last)];
        case 8: return a[ColumnSet{{{0, 1}, {2, ColumnSet::to_the_end}, {0, 0, "odd name"}}}];
        case 9: return map(a, {Formula::parse("x0^2"), Formula::parse("-x1 + 1")});
        case 10: return rbf_of(a, {.width = 3.0});
        case 11: return normalize(a);
        default: return sets(a, 2);
    }
}

void insert_names(const KernelNode& node, std::set<std::string>& names) {
    names.insert(node.entry().name);
    for (const Kernel& child : node.children) insert_names(child.node(), names);
}

TEST(KernelText, RandomTreesPrintBackExactly) {
    Random random(31);
    std::set<std::string> names;
    int built = 0;
    for (int i = 0; i < 5000; ++i) {
        std::optional<Kernel> k;
        try {
            k = random_kernel(random, 1 + static_cast<int>(random.below(5)));
        } catch (const InvalidInput&) {
            continue;  // a power of a constant may overflow, and is refused
        }
        ++built;
        insert_names(k->node(), names);
        const std::string text = k->text();
        ASSERT_EQ(Kernel::parse(text).text(), text);
        ASSERT_EQ(Kernel::parse(text).node().nodes, k->node().nodes) << text;
        ASSERT_EQ(Kernel::parse(text).node().depth, k->node().depth) << text;
    }
    EXPECT_GT(built, 4500);
    EXPECT_GT(names.size(), 22u);
}

TEST(KernelText, RandomTreesKeepTheirValues) {
    Random random(32);
    int compared = 0;
    for (int i = 0; i < 2000; ++i) {
        try {
            const Kernel k = random_kernel(random, 3);
            const test::Points p = test::random_points(random, 2, 4);
            const double a = k(p[0], p[1]);
            const double b = Kernel::parse(k.text())(p[0], p[1]);
            ASSERT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << k.text();
            ++compared;
        } catch (const InvalidInput&) {
            continue;  // names without data, columns that are not there, powers without a value
        }
    }
    EXPECT_GT(compared, 300);
}

TEST(KernelTable, HasEveryKindAndEachNameOnce) {
    std::set<KernelKind> kinds;
    std::set<std::string> names;
    for (const KernelEntry* entry : kernel_table()) {
        const bool fresh = kinds.insert(entry->kind).second;
        EXPECT_TRUE(fresh || entry->kind == KernelKind::leaf) << entry->name;
        EXPECT_TRUE(names.insert(entry->name).second) << entry->name;
        for (const auto& alias : entry->aliases) EXPECT_TRUE(names.insert(alias).second) << alias;
        std::set<std::string> parameters;
        for (const ParameterForm& form : entry->parameters) {
            EXPECT_TRUE(parameters.insert(form.name).second) << form.name;
            for (const auto& alias : form.aliases) EXPECT_TRUE(parameters.insert(alias).second);
        }
    }
    EXPECT_EQ(kinds.size(), static_cast<std::size_t>(KernelKind::sets) + 1);
}

TEST(KernelTable, EveryFormConvertsToTheCanonicalParameter) {
    EXPECT_EQ(rbf({.sigma = 2.0}).node().parameter("gamma"), 0.125);
    EXPECT_EQ(rbf({.c = 4.0}).node().parameter("gamma"), 0.25);
    EXPECT_EQ(rbf({.width = 4.0}).node().parameter("gamma"), 0.0625);
    EXPECT_EQ(laplacian({.sigma = 4.0}).node().parameter("gamma"), 0.25);
    EXPECT_EQ(Kernel::parse("sigmoid(delta=3)").node().parameter("coef0"), -3);
    EXPECT_EQ(polynomial().node().parameter("degree"), 3);
    EXPECT_EQ(rbf_of(linear(), {}).node().parameter("gamma"), 1);
    EXPECT_THROW(rbf().node().parameter("gamma"), InvalidInput);
    EXPECT_THROW(linear().node().parameter("gamma"), InvalidInput);
}

TEST(KernelParameters, AreCheckedInProgramsToo) {
    EXPECT_EQ(complaint([] { rbf({.gamma = -1.0}); }),
              "gamma of rbf must be a number >= 0, found -1");
    EXPECT_EQ(complaint([] { rbf({.gamma = 1.0, .sigma = 1.0}); }),
              "rbf: gamma and sigma both set gamma; give one of them");
    EXPECT_EQ(complaint([] { polynomial({.degree = -1}); }),
              "degree of polynomial must be a whole number from 0 to 1000, found -1");
    EXPECT_EQ(complaint([] { matern({.nu = 2}); }),
              "nu of matern must be 0.5, 1.5 or 2.5, found 2");
    EXPECT_EQ(complaint([] { laplacian({.norm = 3}); }),
              "norm of laplacian must be a whole number from 1 to 2, found 3");
    EXPECT_EQ(complaint([] { rbf_of(linear(), {.gamma = scale_rule}); }),
              "gamma of rbf_of cannot be scale; give a number >= 0");
    EXPECT_EQ(complaint([] { constant(std::nan("")); }),
              "a constant kernel must be a finite number, found nan");
    EXPECT_EQ(complaint([] { std::nan("") * linear(); }),
              "the factor of a kernel must be a finite number, found nan");
    EXPECT_EQ(complaint([] { sets(linear(), 0); }),
              "width of sets must be a whole number from 1 to 1e+09, found 0");
    EXPECT_EQ(complaint([] { map(linear(), {}); }), "map needs at least one formula, found none");
    EXPECT_EQ(complaint([] { bilinear(Matrix<double>(2, 3)); }),
              "the matrix of bilinear must be square, found 2 rows and 3 columns");
    EXPECT_NE(complaint([] { sets(center(linear()), 2); }).find("center(sets"), std::string::npos);
}

TEST(KernelParameters, TreesAreBoundedHoweverTheyAreBuilt) {
    Kernel deep = linear();
    EXPECT_NE(complaint([&] {
                  while (true) deep = exp(deep);
              }).find("at most"),
              std::string::npos);
    Kernel wide = exp(linear());  // doubles with every step
    EXPECT_NE(complaint([&] {
                  while (true) wide = wide * exp(wide);
              }).find("at most"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
