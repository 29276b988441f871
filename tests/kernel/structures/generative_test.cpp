// Kernels with a generative model inside: scores against finite differences of likelihoods that are
// written out, fitting, and the text of what was fitted.
#include <functional>

#include "kernel/structures/support.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/kernel/leaf/generative/detail/generative.hpp"

namespace mercer::test {
namespace {

using namespace leaves;

Mixture random_mixture(Random& random, std::size_t parts, std::size_t d) {
    Mixture m{std::vector<double>(parts), Matrix<double>(parts, d), Matrix<double>(parts, d)};
    double sum = 0;
    for (double& w : m.weights) sum += w = random.uniform(0.2, 1);
    for (double& w : m.weights) w /= sum;
    for (double& v : m.means.values()) v = random.normal();
    for (double& v : m.variances.values()) v = random.uniform(0.3, 2);
    return m;
}

double mixture_log(const Mixture& m, std::span<const double> x) {
    double p = 0;
    for (std::size_t k = 0; k < m.weights.size(); ++k) {
        double density = m.weights[k];
        for (std::size_t c = 0; c < x.size(); ++c) {
            const double gap = x[c] - m.means(k, c);
            density *= std::exp(-gap * gap / (2 * m.variances(k, c))) /
                       std::sqrt(2 * std::numbers::pi * m.variances(k, c));
        }
        p += density;
    }
    return std::log(p);
}

double slope_of(const std::function<double(double)>& f) {
    const double h = 1e-5;
    return (f(h) - f(-h)) / (2 * h);
}

/// Multiplies one chance by e^step and makes all sum to what they did.
void shift(std::span<double> chances, std::size_t which, double step) {
    double before = 0;
    double after = 0;
    for (const double c : chances) before += c;
    chances[which] *= std::exp(step);
    for (const double c : chances) after += c;
    for (double& c : chances) c *= before / after;
}

TEST(GaussianMixture, ScoresAreSlopesOfTheLogLikelihood) {
    Random random(1);
    const Mixture m = random_mixture(random, 3, 2);
    for (int trial = 0; trial < 10; ++trial) {
        const std::vector<double> x{random.normal(), random.normal()};
        std::vector<double> slopes;
        EXPECT_NEAR(m.score(x, slopes), mixture_log(m, x), 1e-12);
        ASSERT_EQ(slopes.size(), 3U * 5);
        for (std::size_t k = 0; k < 3; ++k) {
            EXPECT_NEAR(slopes[k], slope_of([&](double h) {
                            Mixture other = m;
                            shift(other.weights, k, h);
                            return mixture_log(other, x);
                        }),
                        1e-8);
            for (std::size_t c = 0; c < 2; ++c) {
                EXPECT_NEAR(slopes[3 + k * 2 + c], slope_of([&](double h) {
                                Mixture other = m;
                                other.means(k, c) += h;
                                return mixture_log(other, x);
                            }),
                            1e-8);
                EXPECT_NEAR(slopes[9 + k * 2 + c], slope_of([&](double h) {
                                Mixture other = m;
                                const double s = std::sqrt(m.variances(k, c)) + h;
                                other.variances(k, c) = s * s;
                                return mixture_log(other, x);
                            }),
                            1e-8);
            }
        }
    }
}

Markov random_markov(Random& random, std::size_t states, std::size_t letters) {
    Markov m{std::vector<double>(states), Matrix<double>(states, states),
             Matrix<double>(states, letters)};
    const auto fill = [&](std::span<double> chances) {
        double sum = 0;
        for (double& c : chances) sum += c = random.uniform(0.1, 1);
        for (double& c : chances) c /= sum;
    };
    fill(m.initial);
    for (std::size_t i = 0; i < states; ++i) {
        fill(m.transition.row(i));
        fill(m.emission.row(i));
    }
    return m;
}

/// Calls visit(path, chance of the path and the text) for all paths.
void each_path(const Markov& m, const Chain& text,
               const std::function<void(const std::vector<std::size_t>&, double)>& visit) {
    std::vector<std::size_t> path(text.size(), 0);
    for (;;) {
        double p = 1;
        for (std::size_t t = 0; t < text.size(); ++t) {
            p *= t == 0 ? m.initial[path[0]] : m.transition(path[t - 1], path[t]);
            if (text[t] != unknown_letter) p *= m.emission(path[t], text[t]);
        }
        visit(path, p);
        std::size_t t = 0;
        while (t < path.size() && ++path[t] == m.states()) path[t++] = 0;
        if (t == path.size()) return;
    }
}
double markov_log(const Markov& m, const Chain& text) {
    double p = 0;
    each_path(m, text, [&](const auto&, double chance) { p += chance; });
    return std::log(p);
}

TEST(HiddenMarkov, ScoresAreSlopesOfTheLogLikelihood) {
    Random random(2);
    const Markov m = random_markov(random, 2, 3);
    const Chain text{0, 2, unknown_letter, 1, 1, 0};
    std::vector<double> slopes;
    EXPECT_NEAR(markov_score(m, text, slopes), markov_log(m, text), 1e-12);
    ASSERT_EQ(slopes.size(), 2U + 4 + 6);
    std::size_t place = 0;
    const auto expect_slope = [&](const std::function<std::span<double>(Markov&)>& chances,
                                  std::size_t which) {
        EXPECT_NEAR(slopes[place++], slope_of([&](double h) {
                        Markov other = m;
                        shift(chances(other), which, h);
                        return markov_log(other, text);
                    }),
                    1e-8);
    };
    for (std::size_t i = 0; i < 2; ++i) {
        expect_slope([](Markov& o) { return std::span(o.initial); }, i);
    }
    for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t j = 0; j < 2; ++j) {
            expect_slope([i](Markov& o) { return o.transition.row(i); }, j);
        }
    }
    for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t o = 0; o < 3; ++o) {
            expect_slope([i](Markov& other) { return other.emission.row(i); }, o);
        }
    }
}

TEST(HiddenMarkov, ExpectedCountsAreSumsOverPaths) {
    Random random(3);
    const Markov m = random_markov(random, 3, 2);
    const Chain text{0, 1, 1, 0, 1};
    const Expected found = expected_counts(m, text, true);
    double total = 0;
    Matrix<double> emission(3, 2);
    std::vector<double> pairs(36, 0.0);
    each_path(m, text, [&](const std::vector<std::size_t>& path, double p) {
        total += p;
        for (std::size_t t = 0; t < text.size(); ++t) {
            emission(path[t], text[t]) += p;
            if (t == 0) continue;
            pairs[((path[t - 1] * 2 + text[t - 1]) * 3 + path[t]) * 2 + text[t]] += p;
        }
    });
    for (std::size_t k = 0; k < 6; ++k) {
        EXPECT_NEAR(found.emission.values()[k], emission.values()[k] / total, 1e-12);
    }
    for (std::size_t k = 0; k < 36; ++k) EXPECT_NEAR(found.pairs[k], pairs[k] / total, 1e-12);
    EXPECT_EQ(expected_counts(m, {}).log, 0);
}

Points clouds(std::uint64_t seed, std::size_t count) {
    Random random(seed);
    Points rows;
    for (std::size_t i = 0; i < count; ++i) {
        const double side = i % 2 == 0 ? -3 : 3;
        rows.push_back({side + random.normal(), 0.5 * side + random.normal()});
    }
    return rows;
}

Kernel settled(const std::string& text, const std::vector<Object>& objects,
               const std::vector<std::int32_t>& classes = {}) {
    const KernelNode node = Kernel::parse(text).node();
    EXPECT_TRUE(waits_for_data(node));
    return Kernel(std::make_shared<const KernelNode>(node.leaf->settle(node, objects, classes)));
}

TEST(GaussianMixture, FittingFindsTheCloudsForAnyNumberOfThreads) {
    const Points rows = clouds(4, 3000);
    std::vector<std::span<const double>> views(rows.begin(), rows.end());
    const EmSettings settings{.parts = 2};
    const ThreadLimit one(1);
    const Mixture m = fit_mixture(views, settings);
    {
        const ThreadLimit three(3);
        EXPECT_EQ(fit_mixture(views, settings).means.values(), m.means.values());
    }
    EXPECT_NEAR(std::min(m.means(0, 0), m.means(1, 0)), -3, 0.2);
    EXPECT_NEAR(std::max(m.means(0, 1), m.means(1, 1)), 1.5, 0.2);
    EXPECT_NEAR(m.weights[0], 0.5, 0.05);
    for (const double v : m.variances.values()) EXPECT_NEAR(v, 1, 0.2);
    // At the maximum the mean score is 0.
    std::vector<double> sum(10, 0.0);
    for (const auto& row : rows) {
        std::vector<double> slopes;
        m.score(row, slopes);
        for (std::size_t k = 0; k < 10; ++k) sum[k] += slopes[k] / 3000;
    }
    for (const double v : sum) EXPECT_NEAR(v, 0, 1e-3);
}

TEST(HiddenMarkov, FittingRaisesTheLikelihood) {
    Random random(5);
    const Markov truth = random_markov(random, 2, 4);
    std::vector<Chain> texts(40);
    for (Chain& text : texts) {
        for (int t = 0; t < 30; ++t) text.push_back(static_cast<std::uint32_t>(random.below(4)));
    }
    double before = -1e300;
    for (const std::size_t rounds : {1U, 3U, 10U, 50U}) {
        const Markov m = fit_markov(texts, 4, {.parts = 2, .iterations = rounds});
        double log = 0;
        for (const Chain& text : texts) log += expected_counts(m, text).log;
        EXPECT_GE(log, before - 1e-6);
        before = log;
    }
}

void expect_settled(const Kernel& kernel, const std::vector<Object>& objects) {
    SCOPED_TRACE(kernel.text());
    EXPECT_FALSE(kernel.needs_data());
    EXPECT_EQ(Kernel::parse(kernel.text()).text(), kernel.text());
    expect_kernel(kernel.text(), objects);
}

TEST(Generative, WhatIsSettledIsAKernelWithItsNumbersInTheText) {
    const Points rows = clouds(6, 24);
    const std::vector<Object> numbers = objects_of(rows);
    const auto texts = random_texts(7, 24, 12, "ACGT");
    const std::vector<Object> words = objects_of(texts);
    std::vector<std::int32_t> classes;
    for (int i = 0; i < 24; ++i) classes.push_back(i % 2);
    for (const std::string tail : {")", ", information=identity)"}) {
        expect_settled(settled("fisher(gmm(components=2)" + tail, numbers), numbers);
        expect_settled(settled("fisher(hmm(states=2, alphabet=dna)" + tail, words), words);
        expect_settled(settled("top(gmm(components=2, seed=3)" + tail, numbers, classes), numbers);
        expect_settled(settled("top(hmm(states=3, iterations=20)" + tail, words, classes), words);
    }
    expect_settled(settled("marginalised(hmm(states=2))", words), words);
    expect_settled(settled("marginalised(hmm(states=2), order=2)", words), words);
}

TEST(Generative, ValuesAreProductsOfScores) {
    const Points rows = clouds(8, 40);
    const std::vector<Object> objects = objects_of(rows);
    std::vector<std::int32_t> classes;
    for (int i = 0; i < 40; ++i) classes.push_back(i % 2);
    const Kernel plain = settled("fisher(gmm(components=3), information=identity)", objects);
    const Kernel scaled = settled("fisher(gmm(components=3))", objects);
    const Kernel odds = settled("top(gmm(components=2), information=identity)", objects, classes);
    const Mixture m = mixture_of(plain.node(), 0);
    const Mixture a = mixture_of(odds.node(), 0);
    const Mixture b = mixture_of(odds.node(), 1);
    std::vector<std::vector<double>> scores(40);
    std::vector<double> squares(15, 0.0);
    for (std::size_t i = 0; i < 40; ++i) {
        m.score(rows[i], scores[i]);
        for (std::size_t k = 0; k < 15; ++k) squares[k] += scores[i][k] * scores[i][k] / 40;
    }
    for (std::size_t i = 0; i < 5; ++i) {
        for (std::size_t j = 0; j < 5; ++j) {
            double expected = 0;
            double divided = 0;
            for (std::size_t k = 0; k < 15; ++k) {
                expected += scores[i][k] * scores[j][k];
                divided += scores[i][k] * scores[j][k] / squares[k];
            }
            EXPECT_NEAR(evaluate(plain, objects[i], objects[j]), expected,
                        1e-10 * (1 + std::fabs(expected)));
            EXPECT_NEAR(evaluate(scaled, objects[i], objects[j]), divided,
                        1e-10 * (1 + std::fabs(divided)));
            double top = 1;
            for (const std::size_t r : {i, j}) {
                top *= mixture_log(a, rows[r]) - mixture_log(b, rows[r]);
            }
            for (const Mixture* side : {&a, &b}) {
                std::vector<double> u;
                std::vector<double> v;
                side->score(rows[i], u);
                side->score(rows[j], v);
                for (std::size_t k = 0; k < u.size(); ++k) top += u[k] * v[k];
            }
            EXPECT_NEAR(evaluate(odds, objects[i], objects[j]), top, 1e-10 * (1 + std::fabs(top)));
        }
    }
}

TEST(Generative, MistakesAreShown) {
    for (const char* text :
         {"fisher", "fisher()", "fisher(gmm(components=0))", "fisher(gmm(parts=2))",
          "fisher(lda(topics=2))", "marginalised(gmm)", "fisher(gmm, gmm)",
          "fisher(gmm(weights=[1]))", "fisher(gmm(weights=[2], means=[[0]], variances=[[1]]))",
          "fisher(gmm(weights=[1], means=[[0]], variances=[[0]]))",
          "fisher(gmm(weights=[1], means=[[0,1]], variances=[[1]]))",
          "fisher(hmm(letters=[300], initial=[1], transition=[[1]], emission=[[1]]))",
          "top(gmm(weights=[1], means=[[0]], variances=[[1]]))",
          "fisher(gmm(components=2), seed=1, seed=2)"}) {
        EXPECT_THROW(Kernel::parse(text), InvalidInput) << text;
    }
    EXPECT_EQ(Kernel::parse("fisher(model=hmm, states=3)").text(), "fisher(hmm(states=3))");
    EXPECT_EQ(Kernel::parse("fisher(gmm(components=4))").text(), "fisher(gmm)");
    EXPECT_EQ(Kernel::parse("mck(hmm(states=2), order=2)").text(),
              "marginalised(hmm(states=2), order=2)");
    const Points rows = clouds(9, 6);
    const std::vector<Object> objects = objects_of(rows);
    EXPECT_THROW(value("fisher(gmm)", objects[0], objects[1]), InvalidInput);
    EXPECT_THROW(settled("fisher(gmm(components=7))", objects), InvalidInput);
    EXPECT_THROW(settled("top(gmm(components=2))", objects, {0, 1, 2, 0, 1, 2}), InvalidInput);
}

}  // namespace
}  // namespace mercer::test
