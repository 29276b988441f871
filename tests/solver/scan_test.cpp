#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "mercer/base/detail/simd.hpp"
#include "mercer/base/random.hpp"
#include "mercer/solver/detail/scan.hpp"

namespace mercer {
namespace {

constexpr float shut = std::numeric_limits<float>::infinity();

/// Variables at all kinds of places, and what passes over them should find, one by one.
struct Variables {
    std::size_t n;
    std::vector<std::size_t> row;
    std::vector<double> sign, p, v, u, lower, upper, gradient;
    ShutWays ways;
    std::vector<char> taken;

    explicit Variables(std::size_t count) : n(count), taken(count, 0) {
        Random random(count);
        for (std::size_t i = 0; i < n; ++i) {
            row.push_back(random.below(n));
            sign.push_back(random.below(2) == 0 ? 1 : -1);
            p.push_back(random.uniform() - 0.5);
            v.push_back(4 * random.uniform() - 2);
            lower.push_back(-random.uniform());
            upper.push_back(random.below(9) == 0 ? lower[i] : random.uniform());
            const std::size_t place = random.below(3);
            u.push_back(place == 0   ? lower[i]
                        : place == 1 ? upper[i]
                                     : 0.5 * (lower[i] + upper[i]));
            ways.up.push_back(u[i] < upper[i] ? 0 : shut);
            ways.down.push_back(u[i] > lower[i] ? 0 : shut);
            taken[i] = random.below(5) == 0 ? 1 : 0;
        }
        gradient.resize(n);
        for (std::size_t i = 0; i < n; ++i) gradient[i] = sign[i] * v[row[i]] + p[i];
    }
    bool grows(std::size_t i) const { return u[i] < upper[i]; }
    bool falls(std::size_t i) const { return u[i] > lower[i]; }
};

/// visit(variables, range, those of the range) for all of them and for some, at each level.
template <class Visit>
void each_range(const Visit& visit) {
    for (const std::string& level : simd_levels()) {
        use_simd_level(level);
        for (const std::size_t n : {1U, 7U, 8U, 9U, 64U, 101U, 1000U}) {
            const Variables variables(n);
            std::vector<std::size_t> all(n), some;
            std::iota(all.begin(), all.end(), std::size_t{0});
            for (std::size_t i = 0; i < n; i += 1 + i % 3) some.push_back(i);
            visit(variables, ScanRange{nullptr, 0, n}, all);
            visit(variables, ScanRange{nullptr, n / 3, n},
                  std::vector(all.begin() + static_cast<std::ptrdiff_t>(n / 3), all.end()));
            visit(variables, ScanRange{some.data(), 0, some.size()}, some);
        }
    }
    use_simd_level("");
}

TEST(Scan, WritesGradients) {
    each_range([](const Variables& x, const ScanRange& range, const auto& which) {
        std::vector<double> gradient(x.n, 99.0);
        scan_gradient(range, {x.row.data(), x.sign.data(), x.p.data(), x.v.data()}, gradient);
        for (std::size_t i = 0; i < x.n; ++i) {
            const bool there = std::ranges::find(which, i) != which.end();
            EXPECT_EQ(gradient[i], there ? x.gradient[i] : 99.0);
        }
    });
}

TEST(Scan, FindsExtremesAndTheGap) {
    each_range([](const Variables& x, const ScanRange& range, const auto& which) {
        double least = HUGE_VAL, largest = -HUGE_VAL, sum = 0, count = 0, gap = 0;
        constexpr double multiplier = 0.1;
        for (const std::size_t i : which) {
            if (x.grows(i)) least = std::min(least, x.gradient[i]);
            if (x.falls(i)) largest = std::max(largest, x.gradient[i]);
            if (x.grows(i) && x.falls(i)) {
                sum += x.gradient[i];
                count += 1;
            }
            const double rho = x.gradient[i] - multiplier;
            gap += std::abs(rho) * (rho > 0 ? x.u[i] - x.lower[i] : x.upper[i] - x.u[i]);
        }
        const GroupExtremes found = scan_extremes(range, x.gradient, x.ways);
        EXPECT_EQ(found.least_growing, least);
        EXPECT_EQ(found.largest_falling, largest);
        EXPECT_NEAR(found.free_sum, sum, 1e-12 * (1 + count));
        EXPECT_EQ(found.free_count, count);
        EXPECT_NEAR(scan_gap(range, x.gradient, x.u, x.lower, x.upper, multiplier), gap,
                    1e-12 * (1 + gap));
    });
}

TEST(Scan, LeavesOutWhereNothingIsToBeGained) {
    // An infinite room counts for nothing where nothing pulls there.
    const std::vector<double> gradient(9, 0.5), u(9, 0.0), lower(9, 0.0), upper(9, HUGE_VAL);
    EXPECT_EQ(scan_gap({nullptr, 0, 9}, gradient, u, lower, upper, 0.5), 0);
    EXPECT_EQ(scan_gap({nullptr, 0, 9}, gradient, u, lower, upper, 0.25), 0);
    EXPECT_EQ(scan_gap({nullptr, 0, 9}, gradient, u, lower, upper, 0.75), HUGE_VAL);
}

TEST(Scan, ListsViolatorsThatAreNotTaken) {
    each_range([](const Variables& x, const ScanRange& range, const auto& which) {
        constexpr double above = 0.3, below = -0.2;
        std::vector<Violator> grow{{7, 7}}, fall{{7, 7}};  // appended to
        scan_violators(range, x.gradient, x.ways, x.taken, above, below, grow, fall);
        std::vector<Violator> up{{7, 7}}, down{{7, 7}};
        for (const std::size_t i : which) {
            const double g = x.gradient[i];
            if (x.taken[i] != 0) continue;
            if (x.grows(i) && above - g > 0) up.push_back({above - g, i});
            if (x.falls(i) && g - below > 0) down.push_back({g - below, i});
        }
        const auto expect_equal = [](const std::vector<Violator>& a,
                                     const std::vector<Violator>& b) {
            ASSERT_EQ(a.size(), b.size());
            for (std::size_t k = 0; k < a.size(); ++k) {
                EXPECT_EQ(a[k].index, b[k].index);
                EXPECT_EQ(a[k].score, b[k].score);
            }
        };
        expect_equal(grow, up);
        expect_equal(fall, down);
    });
}

TEST(Scan, CountsHowLongVariablesArePressed) {
    each_range([](const Variables& x, const ScanRange& range, const auto& which) {
        constexpr double low = -0.4, high = 0.2;
        std::vector<float> quiet(x.n, 1);
        const std::size_t fewer = scan_quiet(range, x.gradient, x.ways, low, high, 2, quiet);
        std::size_t stay = 0;
        for (std::size_t i = 0; i < x.n; ++i) {
            const bool there = std::ranges::find(which, i) != which.end();
            const bool pressed = (!x.falls(i) && x.gradient[i] > high) ||
                                 (!x.grows(i) && x.gradient[i] < low) ||
                                 (!x.falls(i) && !x.grows(i));
            EXPECT_EQ(quiet[i], !there ? 1.0F : pressed ? 2.0F : 0.0F);
            stay += there && !pressed ? 1 : 0;
        }
        EXPECT_EQ(fewer, stay);
    });
}

TEST(Scan, KeepsTheBestOfAList) {
    Random random(3);
    for (const std::size_t n : {1U, 5U, 100U, 1000U}) {
        for (const std::size_t count : {1U, 4U, 64U, 999U}) {
            for (const bool alike : {false, true}) {
                std::vector<Violator> list;
                for (std::size_t i = 0; i < n; ++i) {
                    list.push_back({alike ? 1 + static_cast<double>(i % 2) : random.uniform(), i});
                }
                std::vector<Violator> sorted = list;
                std::sort(sorted.begin(), sorted.end());
                sorted.resize(std::min(n, count));
                keep_best(list, count);
                std::sort(list.begin(), list.end());
                ASSERT_EQ(list.size(), sorted.size());
                for (std::size_t k = 0; k < list.size(); ++k) {
                    EXPECT_EQ(list[k].index, sorted[k].index);
                }
            }
        }
    }
}

TEST(Scan, FindsMarks) {
    for (const std::size_t n : {0U, 1U, 7U, 8U, 9U, 100U}) {
        std::vector<char> marks(n, 0);
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < n; i += 1 + i % 4) {
            marks[i] = 1;
            places.push_back(i);
        }
        EXPECT_EQ(marked(marks), places);
    }
}

}  // namespace
}  // namespace mercer
