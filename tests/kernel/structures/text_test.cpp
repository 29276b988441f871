// Kernels on texts against what their definitions say, written down as plainly as possible.
#include <array>
#include <bit>
#include <functional>
#include <map>
#include <set>

#include "kernel/structures/support.hpp"
#include "mercer/base/detail/simd.hpp"
#include "mercer/kernel/detail/object_sum.hpp"

namespace mercer::test {
namespace {

using Reference = std::function<double(std::string_view, std::string_view)>;

void expect_values(const std::string& kernel, const std::vector<std::string>& texts,
                   const Reference& reference, double tolerance = 1e-12) {
    SCOPED_TRACE(kernel);
    for (const std::string& x : texts) {
        for (const std::string& z : texts) {
            const double want = reference(x, z);
            EXPECT_NEAR(text_value(kernel, x, z), want, tolerance * std::max(1.0, std::fabs(want)))
                << x << " and " << z;
        }
    }
}

/// All words over an alphabet.
std::vector<std::string> all_words(std::string_view alphabet, std::size_t length) {
    std::vector<std::string> words{""};
    for (std::size_t k = 0; k < length; ++k) {
        std::vector<std::string> longer;
        for (const std::string& word : words) {
            for (const char c : alphabet) longer.push_back(word + c);
        }
        words = std::move(longer);
    }
    return words;
}
std::vector<std::string> kmers(std::string_view text, std::size_t k) {
    std::vector<std::string> result;
    for (std::size_t i = 0; i + k <= text.size(); ++i) result.emplace_back(text.substr(i, k));
    return result;
}
std::size_t differing(std::string_view a, std::string_view b) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
    return count;
}

TEST(Spectrum, CountsSharedKmers) {
    const auto texts = random_texts(1, 12, 20, "AC");
    for (const std::size_t k : {1U, 3U, 9U}) {
        const std::string kernel = "spectrum(k=" + std::to_string(k) + ")";
        expect_values(kernel, texts, [&](auto x, auto z) {
            double sum = 0;
            for (const auto& a : kmers(x, k)) {
                for (const auto& b : kmers(z, k)) sum += a == b ? 1 : 0;
            }
            return sum;
        });
        expect_kernel(kernel, objects_of(texts));
    }
    EXPECT_EQ(text_value("spectrum(k=2, alphabet=dna)", "acGtN", "ACGUNN"), 3);
    EXPECT_EQ(text_value("spectrum(k=2, alphabet=dna, strand=both)", "AA", "TT"), 2);
    EXPECT_EQ(text_value("spectrum(k=2, from=1, to=3)", "xaby", "zabz"), 1);
}

TEST(Words, CountsSharedRunsOfWords) {
    EXPECT_EQ(text_value("words", "The cat, the DOG.", "a cat; the 3 dogs"), 1 + 2);
    EXPECT_EQ(text_value("words(lowercase=false)", "The cat, the DOG.", "a cat; the dog"), 2);
    EXPECT_EQ(text_value("words(n=2)", "the cat sat on the cat", "the cat. Sat"), 2 + 1);
    EXPECT_EQ(text_value("words(binary=true)", "a a a b", "a a c"), 1);
    EXPECT_EQ(text_value("words", "na\xc3\xafve", "NA\xc3\xafVE"), 1);
    EXPECT_EQ(text_value("words", "ab", "a b"), 0);
    EXPECT_EQ(text_value("words(n=2)", "ab c", "a bc"), 0);
    EXPECT_EQ(text_value("words(n=2)", "a b", "a c"), 0);
    EXPECT_EQ(text_value("words(n=2)", "a b", "b a"), 0);
    const auto texts = random_texts(2, 12, 40, "ab ,");
    expect_kernel("words", objects_of(texts));
    expect_kernel("words(n=2, binary=true)", objects_of(texts));
}

TEST(Mismatch, IsTheInnerProductOverAllWords) {
    const auto texts = random_texts(3, 10, 14, "ABC");
    for (const auto& form : {std::pair{3, 0}, {3, 1}, {4, 1}, {4, 2}, {2, 1}}) {
        const int k = form.first;
        const int m = form.second;
        const auto words = all_words("ABC", static_cast<std::size_t>(k));
        const auto near = [&](std::string_view text, const std::string& word) {
            double count = 0;
            for (const auto& kmer : kmers(text, word.size())) {
                count += differing(kmer, word) <= static_cast<std::size_t>(m) ? 1 : 0;
            }
            return count;
        };
        const std::string kernel =
            "mismatch(k=" + std::to_string(k) + ", m=" + std::to_string(m) + ", letters=3)";
        expect_values(kernel, texts, [&](auto x, auto z) {
            double sum = 0;
            for (const auto& word : words) sum += near(x, word) * near(z, word);
            return sum;
        });
        expect_kernel(kernel, objects_of(texts));
    }
    EXPECT_NE(complaint([] { text_value("mismatch(letters=2)", "ABC", "A"); }).find("3 different"),
              std::string::npos);
    EXPECT_NE(complaint([] { Kernel::parse("mismatch(k=2, m=2)"); }).find("less than k"),
              std::string::npos);
    // with dna, a word with another letter in it is none
    EXPECT_EQ(text_value("mismatch(k=2, m=1, alphabet=dna)", "ACNGT", "ACNGTN"),
              text_value("mismatch(k=2, m=1, alphabet=dna)", "AC", "AC") +
                  text_value("mismatch(k=2, m=1, alphabet=dna)", "GT", "GT") +
                  2 * text_value("mismatch(k=2, m=1, alphabet=dna)", "AC", "GT"));
}

TEST(Gapped, CountsWordsWithOpenPlaces) {
    const auto texts = random_texts(4, 10, 100, "ACGT");
    for (const auto& form : {std::pair{4, 2}, {10, 4}, {5, 0}}) {
        const int g = form.first;
        const int m = form.second;
        const std::string kernel =
            "gapped(g=" + std::to_string(g) + ", m=" + std::to_string(m) + ")";
        // the same words with the same places open, told by a mask of m bits
        const auto features = [g, m](std::string_view text) {
            std::map<std::string, double> counts;
            for (const std::string& word : kmers(text, static_cast<std::size_t>(g))) {
                for (unsigned mask = 0; mask < 1U << static_cast<unsigned>(g); ++mask) {
                    if (std::popcount(mask) != m) continue;
                    std::string open = word;
                    for (std::size_t i = 0; i < open.size(); ++i) {
                        if ((mask >> i & 1U) != 0) open[i] = '.';
                    }
                    counts[open] += 1;
                }
            }
            return counts;
        };
        std::map<std::string, std::map<std::string, double>, std::less<>> known;
        for (const std::string& text : texts) known[text] = features(text);
        expect_values(kernel, texts, [&](auto x, auto z) {
            const auto& other = known.find(z)->second;
            double sum = 0;
            for (const auto& [word, count] : known.find(x)->second) {
                const auto found = other.find(word);
                if (found != other.end()) sum += count * found->second;
            }
            return sum;
        });
        expect_kernel(kernel, objects_of(texts));
    }
}

TEST(WeightedDegree, SumsRunsOfMatches) {
    auto texts = random_texts(5, 8, 200, "ACGT");
    texts.push_back(texts[0] + texts[1]);
    texts.push_back("G" + texts[2]);
    for (const auto& [degree, shift] :
         {std::pair{1, 0}, {3, 0}, {20, 0}, {3, 2}, {5, 70}, {2, 300}}) {
        const auto runs = [d = degree](std::string_view x, std::string_view z) {
            double sum = 0;
            for (int j = 1; j <= d; ++j) {
                const auto k = static_cast<std::size_t>(j);
                for (std::size_t i = 0; i + k <= std::min(x.size(), z.size()); ++i) {
                    if (x.substr(i, k) != z.substr(i, k)) continue;
                    sum += 2.0 * (d - j + 1) / (static_cast<double>(d) * (d + 1));
                }
            }
            return sum;
        };
        const std::string kernel =
            "wd(degree=" + std::to_string(degree) + ", shift=" + std::to_string(shift) + ")";
        expect_values(kernel, texts, [&, s = static_cast<std::size_t>(shift)](auto x, auto z) {
            double sum = runs(x, z);
            for (std::size_t k = 1; k <= s; ++k) {
                const double weight = 1 / (2.0 * static_cast<double>(k + 1));
                if (k <= x.size()) sum += weight * runs(x.substr(k), z);
                if (k <= z.size()) sum += weight * runs(x, z.substr(k));
            }
            return sum;
        });
        expect_kernel(kernel, objects_of(texts));
    }
    EXPECT_EQ(text_value("wd(degree=1, alphabet=dna)", "ACNN", "aGnN"), 1);
    EXPECT_EQ(text_value("wd(degree=1)", "ACNN", "AGNN"), 3);
    EXPECT_EQ(text_value("wd(degree=1)", "\xff", "\xff"), 1);
}

/// Σ_r w_r k(x_r, z) as one function, against the sum over pairs.
TEST(WeightedDegree, SumsAsOneFunction) {
    struct Trial {
        const char* kernel;
        const char* letters;
        std::size_t longest;
    };
    for (const Trial& trial :
         {Trial{"wd(degree=20)", "ACGT", 40}, Trial{"wd(degree=3, shift=4)", "ACGT", 30},
          Trial{"wd(degree=20, shift=2, alphabet=dna)", "ACGTN", 50},
          Trial{"wd(degree=70)", "ab", 120},
          Trial{"wd(degree=12)", "abcdefghijklmnopqrstuvwxyz", 9},
          Trial{"wd(degree=1, from=2, to=7)", "abc", 10}, Trial{"wd(degree=33)", "a", 60}}) {
        const Kernel kernel = Kernel::parse(trial.kernel);
        const KernelNode& node = kernel.node();
        const auto x_texts = random_texts(1, 60, trial.longest, trial.letters);
        auto z_texts = random_texts(2, 30, trial.longest, trial.letters);
        z_texts.push_back("a letter that the others do not have: ?");
        z_texts.push_back(x_texts[0]);
        const auto x = node.leaf->prepare(node, objects_of(x_texts));
        const auto z = node.leaf->prepare(node, objects_of(z_texts));
        ASSERT_TRUE(has_sums(node));
        std::vector<std::uint32_t> which, columns;
        std::vector<double> weights;
        for (std::uint32_t r = 0; r < x_texts.size(); r += 2) {
            which.push_back(r);
            weights.push_back(std::sin(1.0 + r));
        }
        for (std::uint32_t c = 0; c < z_texts.size(); ++c) columns.push_back(c);
        std::vector<double> found(columns.size(), 0.25), row(columns.size());
        std::vector<double> expected(columns.size(), 0.25), size(columns.size());
        dynamic_cast<const SummedPairs&>(*x).sum(which, weights, 1000)->add(*z, columns, found);
        for (std::size_t k = 0; k < which.size(); ++k) {
            x->row(which[k], *z, columns, row);
            for (std::size_t c = 0; c < row.size(); ++c) {
                expected[c] += weights[k] * row[c];
                size[c] += std::abs(weights[k] * row[c]);
            }
        }
        for (std::size_t c = 0; c < row.size(); ++c) {
            EXPECT_NEAR(found[c], expected[c], 1e-13 * (1 + size[c])) << trial.kernel << ", " << c;
        }
    }
}

TEST(LocalityImproved, SumsWindowsOfMatches) {
    const auto texts = random_texts(6, 10, 30, "AC");
    for (const auto& [window, d1, d2] : {std::array{0, 1, 1}, {2, 2, 1}, {3, 3, 2}}) {
        const std::string kernel = "locality_improved(window=" + std::to_string(window) +
                                   ", d1=" + std::to_string(d1) + ", d2=" + std::to_string(d2) +
                                   ")";
        expect_values(kernel, texts, [&, l = window, a = d1, b = d2](auto x, auto z) {
            const int length = static_cast<int>(std::min(x.size(), z.size()));
            double sum = 0;
            for (int p = 0; p < length; ++p) {
                double match = 0;
                for (int j = -l; j <= l; ++j) {
                    const auto at = static_cast<std::size_t>(p + j);
                    if (p + j < 0 || p + j >= length || x[at] != z[at]) continue;
                    match += (l + 1.0 - std::abs(j)) / ((l + 1.0) * (l + 1.0));
                }
                sum += std::pow(match, a);
            }
            return std::pow(sum, b);
        });
        expect_kernel(kernel, objects_of(texts));
    }
}

/// Every choice of `length` places in a text: the word there, and how many letters it spans.
void choices(std::string_view text, std::size_t length,
             const std::function<void(const std::string&, double)>& each) {
    for (unsigned mask = 1; mask < 1U << text.size(); ++mask) {
        if (std::popcount(mask) != static_cast<int>(length)) continue;
        std::string word;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if ((mask >> i & 1U) != 0) word += text[i];
        }
        each(word, static_cast<double>(std::bit_width(mask)) - std::countr_zero(mask));
    }
}

TEST(Subsequence, WeighsAllCommonSubsequences) {
    const auto texts = random_texts(7, 11, 10, "abc");
    const auto exactly = [](std::string_view x, std::string_view z, std::size_t length,
                            double decay) {
        std::map<std::string, double> of_x, of_z;
        choices(x, length, [&](const auto& u, double span) { of_x[u] += std::pow(decay, span); });
        choices(z, length, [&](const auto& u, double span) { of_z[u] += std::pow(decay, span); });
        double sum = 0;
        for (const auto& [u, weight] : of_x) sum += weight * of_z[u];
        return sum;
    };
    for (const std::size_t length : {1U, 2U, 4U, 6U}) {
        for (const double decay : {0.5, 1.0}) {
            const std::string parameters =
                "length=" + std::to_string(length) + ", decay=" + std::to_string(decay);
            expect_values("subsequence(" + parameters + ")", texts,
                          [&](auto x, auto z) { return exactly(x, z, length, decay); });
            expect_values("subsequence(" + parameters + ", up_to=true)", texts,
                          [&](auto x, auto z) {
                              double sum = 0;
                              for (std::size_t p = 1; p <= length; ++p) {
                                  sum += exactly(x, z, p, decay);
                              }
                              return sum;
                          });
            expect_kernel("subsequence(" + parameters + ")", objects_of(texts));
        }
    }
    // k("cat", "car") of Lodhi et al. is decay^4, k("cat", "cat") 2 decay^4 + decay^6
    EXPECT_NEAR(text_value("subsequence(length=2)", "cat", "car"), std::pow(0.5, 4), 1e-15);
    EXPECT_NEAR(text_value("subsequence(length=2)", "cat", "cat"),
                2 * std::pow(0.5, 4) + std::pow(0.5, 6), 1e-15);
}

/// The sum over all chains of pairs (i, j), one behind another in both texts; `gap` weighs what is
/// left out between two pairs, before the first and behind the last.
double chains(std::string_view x, std::string_view z, const std::function<double(char, char)>& pair,
              const std::function<double(std::size_t)>& gap, bool whole) {
    const auto ends = [&](std::size_t n, std::size_t m) { return whole ? gap(n) * gap(m) : 1.0; };
    double sum = ends(x.size(), z.size());
    // from(i, j): chains whose last pair so far is (i, j), up to their ends
    const std::function<double(std::size_t, std::size_t)> from = [&](std::size_t i, std::size_t j) {
        double rest = ends(x.size() - 1 - i, z.size() - 1 - j);
        for (std::size_t a = i + 1; a < x.size(); ++a) {
            for (std::size_t b = j + 1; b < z.size(); ++b) {
                rest += gap(a - i - 1) * gap(b - j - 1) * from(a, b);
            }
        }
        return pair(x[i], z[j]) * rest;
    };
    for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t j = 0; j < z.size(); ++j) sum += ends(i, j) * from(i, j);
    }
    return sum;
}

double normalised(const Reference& k, std::string_view x, std::string_view z) {
    return k(x, z) / std::sqrt(k(x, x) * k(z, z));
}

TEST(LocalAlignment, SumsOverAllLocalAlignments) {
    const auto texts = random_texts(8, 11, 7, "abc");
    const Reference sum = [](std::string_view x, std::string_view z) {
        return chains(
            x, z, [](char a, char b) { return std::exp(0.5 * (a == b ? 1.5 : -0.7)); },
            [](std::size_t n) {
                return n == 0 ? 1 : std::exp(-0.5 * (2 + 0.3 * static_cast<double>(n - 1)));
            },
            false);
    };
    const std::string kernel =
        "local_alignment(beta=0.5, match=1.5, mismatch=-0.7, open=2, extend=0.3)";
    expect_values(kernel, texts, [&](auto x, auto z) { return normalised(sum, x, z); });
    expect_kernel(kernel, objects_of(texts));
}

TEST(DynamicAlignment, IsTheProbabilityOfAPairModel) {
    const auto texts = random_texts(9, 11, 7, "abc");
    const Reference sum = [](std::string_view x, std::string_view z) {
        return std::pow(1 / 3.0, static_cast<double>(x.size() + z.size())) *
               chains(
                   x, z, [](char a, char b) { return 9 * (a == b ? 0.8 / 3 : 0.2 / 6); },
                   [](std::size_t n) {
                       return n == 0 ? 0.7 : 0.3 * 0.6 * std::pow(0.4, static_cast<double>(n - 1));
                   },
                   true);
    };
    const std::string kernel = "dynamic_alignment(same=0.8, letters=3, open=0.3, extend=0.4)";
    expect_values(kernel, texts, [&](auto x, auto z) { return normalised(sum, x, z); });
    expect_kernel(kernel, objects_of(texts));
    EXPECT_EQ(definiteness(Kernel::parse("dynamic_alignment(same=0.1, letters=4)")).definite,
              Definite::unknown);
}

TEST(Alignments, NeitherOverflowNorUnderflow) {
    Random random(10);
    const std::string x = random_text(random, 1000, "ACGT");
    const std::string z = x.substr(0, 500) + x.substr(501);
    for (const char* kernel : {"local_alignment(beta=2)", "dynamic_alignment(open=0.01)"}) {
        EXPECT_EQ(text_value(kernel, x, x), 1) << kernel;
        EXPECT_GT(text_value(kernel, x, z), 1e-6) << kernel;
        EXPECT_LT(text_value(kernel, x, z), 1) << kernel;
    }
}

TEST(TextKernels, AreTheSameAtEveryVectorLevel) {
    auto texts = random_texts(11, 6, 90, "ACGT");
    texts.push_back(random_texts(12, 1, 700, "ACGTN")[0] + texts[0]);
    for (const char* kernel :
         {"wd(degree=3)", "wd(degree=3, shift=2, alphabet=dna)", "mismatch(k=3, letters=5)",
          "gapped(g=5, m=2)", "subsequence(length=3)", "subsequence(length=8)", "local_alignment",
          "dynamic_alignment"}) {
        for (const std::string& x : texts) {
            for (const std::string& z : texts) {
                const double want = text_value(kernel, x, z);
                for (const std::string& level : simd_levels()) {
                    use_simd_level(level);
                    EXPECT_NEAR(text_value(kernel, x, z), want, 1e-12 * std::max(want, 1.0))
                        << kernel << " at " << level;
                }
                use_simd_level("");
            }
        }
    }
}

}  // namespace
}  // namespace mercer::test
