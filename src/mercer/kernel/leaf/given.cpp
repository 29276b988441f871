// Leaves whose values are given rather than computed: a number, a matrix, a formula of one row, a
// function of the program.
#include <algorithm>
#include <map>
#include <mutex>

#include "mercer/base/detail/scanner.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using namespace leaves;

struct Registered {
    PairFunction function;
    bool known_pd = false;
};
struct Registry {
    std::mutex mutex;
    std::map<std::string, Registered> entries;
};
Registry& registry() {
    static Registry instance;
    return instance;
}

}  // namespace

// ---- the same number for every pair

const Leaf& constant_leaf() {
    static const Leaf leaf{
        .entry = {.kind = KernelKind::constant,
                  .name = "constant",
                  .formula = "value",
                  .about = "written as a number: linear + 1",
                  // A constant without a value is a slip.
                  .parameters = {any("value", {}, {})}},
        .reads = PairNumber::nothing,
        .value = [](const KernelNode& k, double) { return k.value; },
        .slopes =
            [](const KernelNode& k, Numbers, const LeafSlopes& out) {
                std::ranges::fill(out.value, k.value);
                std::ranges::fill(out.by_number, 0.0);
            },
        .parameter_slope = [](const KernelNode&, const std::string&, Numbers,
                              Out out) { std::ranges::fill(out, 1.0); },
        .judge = [](const KernelNode& k, const Assumptions&) { return judge_constant(k.value); },
        .enclose = [](const KernelNode& k, Interval) { return Interval(k.value); },
    };
    return leaf;
}

Kernel make_constant(double value) {
    if (!std::isfinite(value)) {
        throw InvalidInput("a constant kernel must be a finite number, found " +
                           format_number(value));
    }
    // Adding 0 turns -0 into 0, which would print as "-0".
    return make_node(
        {.kind = KernelKind::constant, .leaf = &constant_leaf(), .value = value + 0.0});
}

Kernel constant(double value) {
    return make_constant(value);
}

// ---- rows of a Gram matrix

const Leaf& precomputed_leaf() {
    static const Leaf leaf{
        .entry = {.kind = KernelKind::precomputed,
                  .name = "precomputed",
                  .formula = "K[x, z]",
                  .about = "the rows are rows of a Gram matrix"},
        .row_value = [](const KernelNode&, Row, Row) -> double {
            throw InvalidInput(
                "precomputed has no value at two rows: its values are the entries of a given Gram "
                "matrix, looked up by row number");
        },
        .judge =
            [](const KernelNode&, const Assumptions&) {
                return Finding::unknown(
                    "a given matrix says nothing before it is seen; test its eigenvalues");
            },
    };
    return leaf;
}

Kernel precomputed() {
    return make_leaf(precomputed_leaf(), {});
}

// ---- f(x) f(z)

const Leaf& outer_leaf() {
    static const Leaf leaf{
        .entry = {.kind = KernelKind::outer,
                  .name = "outer",
                  .formula = "f(x) f(z)",
                  .about = "outer(1 + x0^2), any formula of one row"},
        .row_value =
            [](const KernelNode& k, Row x, Row z) {
                const Formula& f = k.formulas.front();
                return formula_value(f, x) * formula_value(f, z);
            },
        .judge =
            [](const KernelNode&, const Assumptions&) {
                return Finding::positive(
                    "f(x) f(z) is a dot product of one feature (Ralescu 2016 theorem 1.4)");
            },
        .dimension =
            [](const KernelNode&, std::size_t) {
                return FeatureDimension::at_most(FeatureCount(1), "the one feature f(x)");
            },
    };
    return leaf;
}

Kernel outer(const Formula& f) {
    return make_node({.kind = KernelKind::outer, .leaf = &outer_leaf(), .formulas = {f}});
}

// ---- functions registered by the program

const Leaf& user_leaf() {
    static const Leaf leaf{
        .entry = {.kind = KernelKind::user,
                  .name = "user",
                  .formula = "f(x, z)",
                  .about = "user(name), a function registered by the program"},
        .row_value = [](const KernelNode& k, Row x, Row z) { return k.function(x, z); },
        .judge =
            [](const KernelNode& k, const Assumptions&) {
                if (k.known_pd) {
                    return Finding::positive("declared positive definite by whoever wrote it");
                }
                return Finding::unknown(
                    "a program's function, not declared positive definite; test it on data");
            },
    };
    return leaf;
}

Kernel make_user(const std::string& name) {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    const auto found = r.entries.find(name);
    if (found == r.entries.end()) {
        throw InvalidInput("no function is registered under " + quoted(name) +
                           "; the program that knows it must register it first");
    }
    return make_node({.kind = KernelKind::user,
                      .leaf = &user_leaf(),
                      .name = name,
                      .function = found->second.function,
                      .known_pd = found->second.known_pd});
}

Kernel function(const std::string& name, PairFunction f, bool known_pd) {
    if (!is_plain_word(name)) {
        throw InvalidInput("a kernel function needs a plain word as its name, found " +
                           quoted(name));
    }
    if (!f) throw InvalidInput("the kernel function " + quoted(name) + " is empty");
    Registry& r = registry();
    {
        // Registering a name again replaces it for later use; kernels already built keep theirs.
        const std::lock_guard lock(r.mutex);
        r.entries.insert_or_assign(name, Registered{f, known_pd});
    }
    return make_node({.kind = KernelKind::user,
                      .leaf = &user_leaf(),
                      .name = name,
                      .function = std::move(f),
                      .known_pd = known_pd});
}

}  // namespace mercer
