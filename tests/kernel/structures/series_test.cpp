// Kernels on series against what their definitions say.
#include <functional>

#include "kernel/structures/support.hpp"
#include "mercer/base/detail/simd.hpp"

namespace mercer::test {
namespace {

/// Series of several lengths, counted, in rows of one length.
Points random_series(std::uint64_t seed, std::size_t count, std::size_t longest,
                     std::size_t width) {
    Random random(seed);
    Points rows;
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<double> row(1 + longest * width);
        row[0] = static_cast<double>(1 + random.below(longest));
        for (std::size_t k = 1; k < row.size(); ++k) row[k] = random.normal();
        rows.push_back(row);
    }
    return rows;
}
std::size_t length_of(const std::vector<double>& row) {
    return static_cast<std::size_t>(row[0]);
}

/// Every alignment in time, from both ends: steps of one in either series or in both.
double alignments(const std::vector<double>& x, std::size_t i, const std::vector<double>& z,
                  std::size_t j, std::size_t width, double sigma, double band) {
    double squared = 0;
    for (std::size_t c = 0; c < width; ++c) {
        const double gap = x[1 + i * width + c] - z[1 + j * width + c];
        squared += gap * gap;
    }
    double f = std::exp(-squared / (2 * sigma * sigma));
    const double apart = std::fabs(static_cast<double>(i) - static_cast<double>(j));
    if (band > 0) f *= std::max(0.0, 1 - apart / band);
    const double local = f / (2 - f);
    if (i == 0 && j == 0) return local;
    double sum = 0;
    if (i > 0) sum += alignments(x, i - 1, z, j, width, sigma, band);
    if (j > 0) sum += alignments(x, i, z, j - 1, width, sigma, band);
    if (i > 0 && j > 0) sum += alignments(x, i - 1, z, j - 1, width, sigma, band);
    return local * sum;
}

TEST(GlobalAlignment, SumsOverAllAlignments) {
    for (const std::size_t width : {1U, 2U}) {
        const Points rows = random_series(1, 11, 6, width);
        const auto objects = objects_of(rows);
        for (const double band : {0.0, 3.0}) {
            const std::string kernel = "gak(sigma=1.5, width=" + std::to_string(width) +
                                       ", band=" + std::to_string(static_cast<int>(band)) +
                                       ", counted=true)";
            const auto sum = [&](std::size_t i, std::size_t j) {
                return alignments(rows[i], length_of(rows[i]) - 1, rows[j], length_of(rows[j]) - 1,
                                  width, 1.5, band);
            };
            for (std::size_t i = 0; i < rows.size(); ++i) {
                for (std::size_t j = 0; j < rows.size(); ++j) {
                    EXPECT_NEAR(value(kernel, objects[i], objects[j]),
                                sum(i, j) / std::sqrt(sum(i, i) * sum(j, j)), 1e-12)
                        << kernel << " " << i << " " << j;
                }
            }
            expect_kernel(kernel, objects);
        }
    }
}

TEST(GlobalAlignment, NeitherOverflowsNorUnderflows) {
    Random random(2);
    std::vector<double> x, z, far;
    for (int i = 0; i < 1000; ++i) {
        x.push_back(std::sin(0.01 * i));
        z.push_back(x.back() + 0.001 * random.normal());
        far.push_back(1e3 * random.normal());
    }
    const Points rows{x, z, far};
    const auto objects = objects_of(rows);
    EXPECT_EQ(value("gak", objects[0], objects[0]), 1);
    EXPECT_GT(value("gak(sigma=0.5)", objects[0], objects[1]), 0.5);
    EXPECT_LT(value("gak(sigma=0.5)", objects[0], objects[1]), 1);
    EXPECT_EQ(value("gak", objects[0], objects[2]), 0);
    EXPECT_EQ(value("gak", objects[2], objects[2]), 1);
    const double want = value("gak(sigma=0.5, width=2)", objects[0], objects[1]);
    for (const std::string& level : simd_levels()) {
        use_simd_level(level);
        EXPECT_NEAR(value("gak(sigma=0.5, width=2)", objects[0], objects[1]), want, 1e-10) << level;
    }
    use_simd_level("");
}

/// S_m of a path of straight pieces by summing over all words of steps: a step taken r times in a
/// row counts 1/r!.
double iterated(const std::vector<std::vector<double>>& steps, const std::vector<std::size_t>& word,
                std::size_t letter, std::size_t first, double repeats) {
    if (letter == word.size()) return 1;
    double sum = 0;
    for (std::size_t s = first; s < steps.size(); ++s) {
        const double r = s == first ? repeats + 1 : 1;
        sum += steps[s][word[letter]] / r * iterated(steps, word, letter + 1, s, r);
    }
    return sum;
}

double signature_product(const std::vector<std::vector<double>>& x,
                         const std::vector<std::vector<double>>& z, std::size_t channels,
                         std::size_t level) {
    double sum = 0;
    std::vector<std::vector<std::size_t>> words{{}};
    for (std::size_t m = 0; m <= level; ++m) {
        std::vector<std::vector<std::size_t>> longer;
        for (const auto& word : words) {
            sum += iterated(x, word, 0, 0, 0) * iterated(z, word, 0, 0, 0);
            for (std::size_t c = 0; c < channels; ++c) {
                longer.push_back(word);
                longer.back().push_back(c);
            }
        }
        words = std::move(longer);
    }
    return sum;
}

TEST(Signature, IsTheProductOfIteratedIntegrals) {
    const std::size_t width = 2;
    const Points rows = random_series(3, 10, 5, width);
    const auto objects = objects_of(rows);
    for (const bool time : {false, true}) {
        const auto steps = [&](const std::vector<double>& row) {
            std::vector<std::vector<double>> result;
            for (std::size_t i = 1; i < length_of(row); ++i) {
                result.emplace_back();
                for (std::size_t c = 0; c < width; ++c) {
                    result.back().push_back(row[1 + i * width + c] - row[1 + (i - 1) * width + c]);
                }
                if (time) result.back().push_back(1.0 / static_cast<double>(length_of(row) - 1));
            }
            return result;
        };
        for (const std::size_t level : {1U, 3U, 4U}) {
            const std::string kernel =
                "signature(level=" + std::to_string(level) +
                ", width=2, counted=true, time=" + (time ? "true" : "false") + ")";
            for (const auto& x : rows) {
                for (const auto& z : rows) {
                    const double want = signature_product(steps(x), steps(z), time ? 3 : 2, level);
                    EXPECT_NEAR(value(kernel, Object(std::span<const double>(x)),
                                      Object(std::span<const double>(z))),
                                want, 1e-11 * std::max(1.0, std::fabs(want)));
                }
            }
            expect_kernel(kernel, objects);
        }
    }
}

TEST(Signature, DoesNotSeeTheSpeedOrTheStart) {
    // The same path with a point more on it, and moved.
    const Points rows{{0, 0, 1, 2, 3, 3, 3, 3}, {5, 5, 5.5, 6, 6, 7, 8, 8}};
    const auto objects = objects_of(rows);
    const std::string kernel = "signature(level=4, width=2, time=false)";
    EXPECT_NEAR(value(kernel, objects[0], objects[1]), value(kernel, objects[0], objects[0]), 1e-9);
}

TEST(Series, SayWhatIsWrongWithARow) {
    const auto about = [](const std::string& kernel, std::vector<double> row) {
        return complaint([&] {
            const Object x{std::span<const double>(row)};
            value(kernel, x, x);
        });
    };
    EXPECT_NE(about("gak(width=2)", {1, 2, 3}).find("row of 3 numbers"), std::string::npos);
    EXPECT_NE(about("gak(counted=true)", {4, 2, 3}).find("from 0 to 2"), std::string::npos);
    EXPECT_NE(about("signature(counted=true)", {1.5, 2, 3}).find("whole number"),
              std::string::npos);
    EXPECT_NE(about("gak(counted=true)", {}).find("first number"), std::string::npos);
    EXPECT_NE(about("gak", {1, NAN}).find("finite"), std::string::npos);
    EXPECT_NE(complaint([] { Kernel::parse("signature(level=20, width=2)"); }).find("2^20"),
              std::string::npos);
    EXPECT_EQ(about("gak(counted=true)", {0, 1}), "accepted");
}

}  // namespace
}  // namespace mercer::test
