// Kernels on trees against what their definitions say, and the reader of bracketed trees.
#include <bit>
#include <functional>
#include <map>
#include <memory>

#include "kernel/structures/support.hpp"
#include "mercer/kernel/leaf/tree/detail/trees.hpp"

namespace mercer::test {
namespace {

/// A tree of the test's own.
struct Branch {
    std::string label;
    std::vector<Branch> below{};

    std::string text() const {
        if (below.empty()) return label;
        std::string result = "(" + label;
        for (const Branch& b : below) result += " " + b.text();
        return result + ")";
    }
    void all(std::vector<const Branch*>& nodes) const {
        nodes.push_back(this);
        for (const Branch& b : below) b.all(nodes);
    }
};

Branch random_branch(Random& random, int height) {
    Branch branch{std::string(1, "ab"[random.below(2)])};
    if (height == 0) return branch;
    for (std::size_t k = random.below(4); k > 0; --k) {
        branch.below.push_back(random_branch(random, height - 1));
    }
    return branch;
}

struct Sample {
    explicit Sample(std::uint64_t seed, int height = 3, std::size_t count = 12) {
        Random random(seed);
        for (std::size_t i = 0; i < count; ++i) {
            trees.push_back(random_branch(random, height));
            texts.push_back(trees.back().text());
        }
    }
    std::vector<Branch> trees{};
    std::vector<std::string> texts{};
};

/// Σ over pairs of nodes of C, against the leaf's value.
void expect_sum(const std::string& kernel, const Sample& sample,
                const std::function<double(const Branch&, const Branch&)>& c) {
    SCOPED_TRACE(kernel);
    for (std::size_t i = 0; i < sample.trees.size(); ++i) {
        for (std::size_t j = 0; j < sample.trees.size(); ++j) {
            std::vector<const Branch*> of_x, of_z;
            sample.trees[i].all(of_x);
            sample.trees[j].all(of_z);
            double want = 0;
            for (const Branch* v : of_x) {
                for (const Branch* w : of_z) want += c(*v, *w);
            }
            EXPECT_NEAR(text_value(kernel, sample.texts[i], sample.texts[j]), want,
                        1e-12 * std::max(1.0, want))
                << sample.texts[i] << " and " << sample.texts[j];
        }
    }
    expect_kernel(kernel, objects_of(sample.texts));
}

TEST(Subtree, CountsNodesWithTheSameTreeBelow) {
    const Sample sample(1);
    expect_sum("subtree", sample,
               [](const Branch& v, const Branch& w) { return v.text() == w.text() ? 1.0 : 0.0; });
    expect_sum("subtree(decay=0.5)", sample, [](const Branch& v, const Branch& w) {
        std::vector<const Branch*> nodes;
        v.all(nodes);
        return v.text() == w.text() ? std::pow(0.5, static_cast<double>(nodes.size())) : 0.0;
    });
}

/// The parts of a tree that hang at this node, cut at whole rules: text → number of rules in it.
std::vector<std::pair<std::string, int>> parts_at(const Branch& node) {
    std::vector<std::pair<std::string, int>> parts{{"(" + node.label, 1}};
    for (const Branch& b : node.below) {
        // a leaf stays; another node is cut or goes on
        std::vector<std::pair<std::string, int>> ways{
            {b.below.empty() ? "." + b.label : b.label, 0}};
        if (!b.below.empty()) {
            for (const auto& way : parts_at(b)) ways.push_back(way);
        }
        std::vector<std::pair<std::string, int>> longer;
        for (const auto& [text, rules] : parts) {
            for (const auto& [more, further] : ways) {
                longer.emplace_back(text + " " + more, rules + further);
            }
        }
        parts = std::move(longer);
    }
    for (auto& part : parts) part.first += ")";
    return parts;
}

TEST(SubsetTree, CountsPartsCutAtWholeRules) {
    const Sample sample(2, 2, 14);
    for (const double decay : {0.4, 1.0}) {
        expect_sum("subset_tree(decay=" + std::to_string(decay) + ")", sample,
                   [&](const Branch& v, const Branch& w) {
                       if (v.below.empty() || w.below.empty()) return 0.0;
                       double sum = 0;
                       const auto others = parts_at(w);
                       for (const auto& [text, rules] : parts_at(v)) {
                           for (const auto& other : others) {
                               if (other.first == text) sum += std::pow(decay, rules);
                           }
                       }
                       return sum;
                   });
    }
    // The noun phrase "the dog" of Collins and Duffy has six parts.
    EXPECT_NEAR(text_value("subset_tree(decay=1)", "(NP (D the) (N dog))", "(NP (D the) (N dog))"),
                6, 1e-12);
}

double partial(const Branch& v, const Branch& w, double decay, double mu) {
    if (v.label != w.label) return 0;
    double sum = decay * decay;
    for (unsigned a = 1; a < 1U << v.below.size(); ++a) {
        for (unsigned b = 1; b < 1U << w.below.size(); ++b) {
            if (std::popcount(a) != std::popcount(b)) continue;
            const auto span = [](unsigned mask) {
                return static_cast<double>(std::bit_width(mask)) - 1 - std::countr_zero(mask);
            };
            double term = std::pow(decay, span(a) + span(b));
            unsigned rest = b;
            for (std::size_t i = 0; i < v.below.size(); ++i) {
                if ((a >> i & 1U) == 0) continue;
                const auto j = static_cast<std::size_t>(std::countr_zero(rest));
                rest &= rest - 1;
                term *= partial(v.below[i], w.below[j], decay, mu);
            }
            sum += term;
        }
    }
    return mu * sum;
}

TEST(PartialTree, WeighsAllCommonParts) {
    const Sample sample(3);
    expect_sum("partial_tree", sample,
               [](const Branch& v, const Branch& w) { return partial(v, w, 0.4, 0.4); });
    expect_sum("partial_tree(decay=0.7, mu=0.3)", sample,
               [](const Branch& v, const Branch& w) { return partial(v, w, 0.7, 0.3); });
}

TEST(Trees, AreReadAsWritten) {
    EXPECT_EQ(text_value("subtree", "( (S (NP cat)))", "(  (S(NP\n cat)\t) )"), 4);
    EXPECT_EQ(text_value("subtree", "(a)", "a"), 1);
    EXPECT_EQ(text_value("subtree", "", "a"), 0);
    EXPECT_EQ(text_value("subset_tree", "", ""), 0);
    const auto complaint_about = [](const char* text) {
        return complaint([&] { leaves::parse_tree(text); });
    };
    EXPECT_EQ(complaint_about("(S (NP cat)"),
              "tree: position 12: a bracket is not closed in '(S (NP cat)'; trees are written as "
              "(S (NP (N cat)) (VP sleeps))");
    EXPECT_NE(complaint_about("a)").find("position 2: a bracket is closed"), std::string::npos);
    EXPECT_NE(complaint_about("(a) b").find("position 5: expected nothing"), std::string::npos);
}

TEST(Trees, OfAnyShapeAreSafe) {
    const std::string deep = std::string(90000, '(') + "x" + std::string(90000, ')');
    EXPECT_GT(text_value("subtree", deep, deep), 0);
    EXPECT_GT(text_value("partial_tree", "(a" + std::string(3000, ' ') + "b)", "(a b)"), 0);
    EXPECT_NE(complaint([] { leaves::parse_tree(std::string(200000, '(')); }).find("too deep"),
              std::string::npos);
    std::string wide = "(a";
    for (int i = 0; i < 20000; ++i) wide += " b";
    wide += ")";
    EXPECT_NE(complaint([&] { text_value("partial_tree", wide, wide); }).find("pairs of nodes"),
              std::string::npos);
    std::string many = "(a";
    for (int i = 0; i < 1000000; ++i) many += " b";
    EXPECT_NE(complaint([&] { leaves::parse_tree(many + ")"); }).find("1000000 nodes"),
              std::string::npos);
    std::string tall;
    for (int i = 0; i < 2000; ++i) tall += "(a (b c) (b c) ";
    tall += "c" + std::string(2000, ')');
    EXPECT_NE(complaint([&] { text_value("subset_tree(decay=1)", tall, tall); }).find("beyond"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer::test
