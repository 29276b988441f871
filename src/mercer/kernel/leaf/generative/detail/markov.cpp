#include "mercer/kernel/leaf/generative/detail/markov.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"

namespace mercer::leaves {
namespace {

/// Added to every count, so that nothing is impossible.
constexpr double smoothing = 0.01;
constexpr std::size_t grain = 16;  // texts whose counts are added together

double emission_of(const Markov& m, std::size_t state, std::uint32_t letter) {
    return letter == unknown_letter ? 1 : m.emission(state, letter);
}

/// forward(t, i): chance of state i at t given the letters up to t; scale[t]: chance of letter t
/// given those before.
double run_forward(const Markov& m, const Chain& text, Matrix<double>& forward,
                   std::vector<double>& scale) {
    const std::size_t s = m.states();
    double log = 0;
    for (std::size_t t = 0; t < text.size(); ++t) {
        double sum = 0;
        for (std::size_t j = 0; j < s; ++j) {
            double reach = t == 0 ? m.initial[j] : 0;
            for (std::size_t i = 0; t > 0 && i < s; ++i) {
                reach += forward(t - 1, i) * m.transition(i, j);
            }
            sum += forward(t, j) = reach * emission_of(m, j, text[t]);
        }
        scale[t] = sum;
        for (std::size_t j = 0; j < s; ++j) forward(t, j) /= sum;
        log += std::log(sum);
    }
    return log;
}

void run_backward(const Markov& m, const Chain& text, const std::vector<double>& scale,
                  Matrix<double>& backward) {
    const std::size_t s = m.states();
    std::ranges::fill(backward.row(text.size() - 1), 1.0);
    for (std::size_t t = text.size() - 1; t-- > 0;) {
        for (std::size_t i = 0; i < s; ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < s; ++j) {
                sum += m.transition(i, j) * emission_of(m, j, text[t + 1]) * backward(t + 1, j);
            }
            backward(t, i) = sum / scale[t + 1];
        }
    }
}

void normalise(std::span<double> chances) {
    double sum = 0;
    for (const double chance : chances) sum += chance;
    for (double& chance : chances) chance /= sum;
}

void add(Expected& to, const Expected& from) {
    to.log += from.log;
    for (std::size_t k = 0; k < to.initial.size(); ++k) to.initial[k] += from.initial[k];
    const auto table = [](Matrix<double>& a, const Matrix<double>& b) {
        for (std::size_t k = 0; k < a.values().size(); ++k) a.values()[k] += b.values()[k];
    };
    table(to.transition, from.transition);
    table(to.emission, from.emission);
}

Expected nothing(const Markov& m) {
    return {.initial = std::vector<double>(m.states(), 0.0),
            .transition = Matrix<double>(m.states(), m.states()),
            .emission = Matrix<double>(m.states(), m.letters())};
}

}  // namespace

Expected expected_counts(const Markov& m, const Chain& text, bool with_pairs) {
    const std::size_t s = m.states();
    const std::size_t a = m.letters();
    Expected result = nothing(m);
    if (with_pairs) result.pairs.assign(s * a * s * a, 0.0);
    if (text.empty()) return result;
    Matrix<double> forward(text.size(), s);
    Matrix<double> backward(text.size(), s);
    std::vector<double> scale(text.size());
    result.log = run_forward(m, text, forward, scale);
    run_backward(m, text, scale, backward);
    for (std::size_t t = 0; t < text.size(); ++t) {
        for (std::size_t i = 0; i < s; ++i) {
            const double here = forward(t, i) * backward(t, i);
            if (t == 0) result.initial[i] = here;
            if (text[t] != unknown_letter) result.emission(i, text[t]) += here;
            if (t + 1 == text.size()) continue;
            for (std::size_t j = 0; j < s; ++j) {
                const double both = forward(t, i) * m.transition(i, j) *
                                    emission_of(m, j, text[t + 1]) * backward(t + 1, j) /
                                    scale[t + 1];
                result.transition(i, j) += both;
                const bool known = text[t] != unknown_letter && text[t + 1] != unknown_letter;
                if (with_pairs && known) {
                    result.pairs[((i * a + text[t]) * s + j) * a + text[t + 1]] += both;
                }
            }
        }
    }
    return result;
}

double markov_score(const Markov& m, const Chain& text, std::vector<double>& slopes) {
    const Expected found = expected_counts(m, text);
    slopes.clear();
    const auto less_expected = [&](std::span<const double> counts,
                                   std::span<const double> chances) {
        double total = 0;
        double whole = 0;
        for (const double count : counts) total += count;
        for (const double chance : chances) whole += chance;
        for (std::size_t k = 0; k < counts.size(); ++k) {
            slopes.push_back(counts[k] - total * chances[k] / whole);
        }
    };
    less_expected(found.initial, m.initial);
    for (std::size_t i = 0; i < m.states(); ++i) {
        less_expected(found.transition.row(i), m.transition.row(i));
    }
    for (std::size_t i = 0; i < m.states(); ++i) {
        less_expected(found.emission.row(i), m.emission.row(i));
    }
    return found.log;
}

Markov fit_markov(const std::vector<Chain>& texts, std::size_t letters,
                  const EmSettings& settings) {
    const std::size_t s = settings.parts;
    Markov m{std::vector<double>(s), Matrix<double>(s, s), Matrix<double>(s, letters)};
    std::vector<double> often(letters, smoothing);
    for (const Chain& text : texts) {
        for (const std::uint32_t letter : text) {
            if (letter != unknown_letter) often[letter] += 1;
        }
    }
    Random random(settings.seed);
    for (double& chance : m.initial) chance = random.uniform(0.5, 1.5);
    for (double& chance : m.transition.values()) chance = random.uniform(0.5, 1.5);
    for (std::size_t i = 0; i < s; ++i) {
        for (std::size_t o = 0; o < letters; ++o) {
            m.emission(i, o) = often[o] * random.uniform(0.5, 1.5);
        }
    }
    const auto normalise_all = [&] {
        normalise(m.initial);
        for (std::size_t i = 0; i < s; ++i) {
            normalise(m.transition.row(i));
            normalise(m.emission.row(i));
        }
    };
    normalise_all();
    double before = -std::numeric_limits<double>::infinity();
    for (std::size_t round = 0; round < settings.iterations; ++round) {
        std::vector<Expected> pieces((texts.size() + grain - 1) / grain);
        parallel_ranges(texts.size(), grain, [&](std::size_t first, std::size_t last) {
            Expected sums = nothing(m);
            for (std::size_t i = first; i < last; ++i) add(sums, expected_counts(m, texts[i]));
            pieces[first / grain] = std::move(sums);
        });
        Expected all = nothing(m);
        for (const Expected& piece : pieces) add(all, piece);
        const auto smoothed = [](std::span<double> to, std::span<const double> counts) {
            for (std::size_t k = 0; k < to.size(); ++k) to[k] = counts[k] + smoothing;
        };
        smoothed(m.initial, all.initial);
        smoothed(m.transition.values(), all.transition.values());
        smoothed(m.emission.values(), all.emission.values());
        normalise_all();
        if (all.log - before <= 1e-7 * std::fabs(all.log)) break;
        before = all.log;
    }
    return m;
}

}  // namespace mercer::leaves
