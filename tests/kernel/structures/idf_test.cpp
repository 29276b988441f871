// Words weighed by in how many texts of training they stand, against the definition.
#include <map>
#include <set>
#include <sstream>

#include "kernel/structures/support.hpp"
#include "mercer/base/detail/scanner.hpp"
#include "mercer/base/error.hpp"

namespace mercer::test {
namespace {

Kernel settled_words(const std::string& text, const std::vector<std::string>& texts) {
    const KernelNode node = Kernel::parse(text).node();
    EXPECT_TRUE(waits_for_data(node));
    return Kernel(
        std::make_shared<const KernelNode>(node.leaf->settle(node, objects_of(texts), {})));
}

using Counts = std::map<std::string, double>;
Counts words_in(const std::string& text, std::size_t n) {
    std::vector<std::string> words;
    std::istringstream in(text);
    for (std::string word; in >> word;) words.push_back(word);
    Counts counts;
    for (std::size_t i = 0; i + n <= words.size(); ++i) {
        std::string run;
        for (std::size_t k = 0; k < n; ++k) run += words[i + k] + " ";
        ++counts[run];
    }
    return counts;
}

TEST(Idf, ValuesAreTheDefinition) {
    const auto texts = random_texts(3, 15, 40, "ab c ");
    std::vector<std::string> more = random_texts(4, 5, 40, "ab c ");
    more.emplace_back("a strange word and a b");
    for (const std::size_t n : {1U, 2U}) {
        for (const bool binary : {false, true}) {
            const Kernel kernel = settled_words("words(n=" + std::to_string(n) + ", binary=" +
                                                    (binary ? "true" : "false") + ", idf=true)",
                                                texts);
            SCOPED_TRACE(kernel.text());
            Counts standing;
            for (const auto& text : texts) {
                for (const auto& [run, ignored] : words_in(text, n)) ++standing[run];
            }
            const auto weight = [&](const std::string& run) {
                const double seen = std::max(1.0, standing[run]);
                return 1 + std::log((1.0 + static_cast<double>(texts.size())) / (1 + seen));
            };
            for (const auto& x : texts) {
                for (const auto& z : more) {
                    double want = 0;
                    const Counts other = words_in(z, n);
                    for (const auto& [run, count] : words_in(x, n)) {
                        const auto found = other.find(run);
                        if (found == other.end()) continue;
                        const double times = binary ? 1 : count * found->second;
                        want += times * weight(run) * weight(run);
                    }
                    const double value =
                        object_value(kernel.node(), std::string_view(x), std::string_view(z));
                    EXPECT_NEAR(value, want, 1e-12 * (1 + want)) << x << " and " << z;
                }
            }
        }
    }
}

TEST(Idf, WhatIsLearntIsPartOfTheText) {
    const auto texts = random_texts(5, 20, 40, "ab c ");
    const Kernel kernel = settled_words("words(idf=true)", texts);
    EXPECT_FALSE(kernel.needs_data());
    EXPECT_EQ(Kernel::parse(kernel.text()), kernel);
    EXPECT_EQ(Kernel::parse("words(idf=true)").text(), "words(idf=true)");
    EXPECT_EQ(Kernel::parse("0.5*" + kernel.text() + " + words").text(),
              "0.5*" + kernel.text() + " + words");
    expect_kernel(kernel.text(), objects_of(texts));
    const auto others = random_texts(6, 20, 40, "ab c ");
    EXPECT_NE(settled_words("words(idf=true)", others), kernel);
    // Weights are no counts: nothing may spell them out as such.
    EXPECT_FALSE(
        is_counts_in_common(Kernel::parse("map(intersection, " + kernel.text() + ")").node()));
    EXPECT_TRUE(is_counts_in_common(Kernel::parse("map(intersection, words)").node()));
}

/// Words in one text only are not kept; of very many words the rare ones count alike.
TEST(Idf, TheTextStaysShort) {
    std::vector<std::string> texts(4);
    for (std::size_t word = 0; word < 90000; ++word) {
        const std::string name = " w" + std::to_string(word);
        for (std::size_t text = 0; text < 1 + word % 3; ++text) texts[text] += name;
    }
    const Kernel kernel = settled_words("words(idf=true)", texts);
    EXPECT_LT(kernel.text().size(), Scanner::longest_text / 3);
    EXPECT_EQ(Kernel::parse(kernel.text()), kernel);
    const auto weight = [&](std::string_view word) {
        return std::sqrt(object_value(kernel.node(), word, word));
    };
    // 60000 words stand in two texts or three, and are too many for those in two.
    EXPECT_NEAR(weight("w2"), 1 + std::log(5.0 / 4), 1e-12);
    EXPECT_NEAR(weight("w1"), 1 + std::log(5.0 / 3), 1e-12);
    EXPECT_NEAR(weight("w0"), 1 + std::log(5.0 / 3), 1e-12);
    EXPECT_NEAR(weight("never"), 1 + std::log(5.0 / 3), 1e-12);
}

template <class Call>
void expect_refusal(Call call, const std::string& why) {
    try {
        call();
        ADD_FAILURE() << "not refused: " << why;
    } catch (const InvalidInput& problem) {
        EXPECT_NE(std::string(problem.what()).find(why), std::string::npos) << problem.what();
    }
}

TEST(Idf, MistakesAreShown) {
    const auto refused = [](const std::string& text, const std::string& why) {
        expect_refusal([&] { Kernel::parse(text); }, why);
    };
    refused("words(idf=maybe)", "false or true");
    refused("words(binary=[3, 1])", "false or true");
    refused("words(idf=[])", "expected the number of texts");
    refused("words(idf=[3.5, 1])", "from 1 to 4294967295, found 3.5");
    refused("words(idf=[3])", "expected ','");
    refused("words(idf=[3, 4])", "from 1 to 3, found 4");
    refused("words(idf=[3, 1, 1, \"0000000\"])", "from 2 to 3, found 1");
    refused("words(idf=[3, 1, 2, \"000000\"])", "seven letters or digits");
    refused("words(idf=[3, 1, 2, \"000000!\"])", "seven letters or digits");
    refused("words(idf=[3, 1, 2, \"\"])", "must not be empty");
    refused("words(idf=[3, 1, 2, \"00000010000000\"])", "in the order");
    refused("words(idf=[3, 1, 2, \"0000000\"", "to close");
    expect_refusal([] { settled_words("words(n=3, idf=true)", {"a b", "c"}); }, "nothing to learn");
    EXPECT_THROW(text_value("words(idf=true)", "a", "b"), InvalidInput);
}

}  // namespace
}  // namespace mercer::test
