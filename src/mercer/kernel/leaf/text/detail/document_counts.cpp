#include "mercer/kernel/leaf/text/detail/document_counts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "mercer/base/detail/scanner.hpp"
#include "mercer/base/text.hpp"

namespace mercer::leaves {
namespace {

constexpr std::string_view digits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t code_length = 7;
constexpr std::uint64_t codes = 62ULL * 62 * 62 * 62 * 62 * 62 * 62;  // 3.5e12
/// A quarter of what a kernel's text may hold: words, and pairs of words, and more beside them.
constexpr std::size_t most_kept = Scanner::longest_text / 4 / code_length;
constexpr double most_texts = 4294967295;

// The tables of what was learnt: {{N, n of all others}}, and a row {code, n} each, codes ascending.
constexpr const char* totals = "totals";
constexpr const char* kept = "kept";

std::uint64_t code_of(std::uint64_t identity) {
    return identity % codes;
}

std::string code_text(std::uint64_t code) {
    std::string text(code_length, '0');
    for (std::size_t k = code_length; k-- > 0; code /= digits.size()) {
        text[k] = digits[code % digits.size()];
    }
    return text;
}

/// In how many texts, and which codes do.
using Groups = std::map<double, std::vector<std::uint64_t>>;

std::shared_ptr<const Learnt> learnt_of(double texts, double others, const Groups& groups) {
    std::vector<std::pair<double, double>> rows;
    for (const auto& [count, members] : groups) {
        for (const std::uint64_t code : members) rows.emplace_back(code, count);
    }
    std::ranges::sort(rows);
    // Two features with one code: the more frequent of them, as whichever it is comes to that.
    const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    std::ranges::reverse(rows);
    rows.erase(std::unique(rows.begin(), rows.end(), same), rows.end());
    std::ranges::reverse(rows);
    Matrix<double> table(rows.size(), 2);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        table(i, 0) = rows[i].first;
        table(i, 1) = rows[i].second;
    }
    Matrix<double> both(1, 2);
    both(0, 0) = texts;
    both(0, 1) = others;
    Learnt learnt;
    learnt.tables.emplace_back(totals, std::move(both));
    learnt.tables.emplace_back(kept, std::move(table));
    return std::make_shared<const Learnt>(std::move(learnt));
}

double texts_at(Scanner& in, double low, double high, const std::string& what) {
    const std::size_t where = in.position();
    if (!in.at_number()) in.fail("expected " + what + ", found " + in.found());
    const double value = in.number();
    if (value >= low && value <= high && value == std::trunc(value)) return value;
    in.fail_at(where, what + " must be a whole number from " + format_number(low) + " to " +
                          format_number(high) + ", found " + format_number(value));
}

std::vector<std::uint64_t> codes_at(Scanner& in) {
    const std::size_t where = in.position();
    if (!in.at_quote()) in.fail("expected the features in double quotes, found " + in.found());
    const std::string text = in.quoted_name();
    std::vector<std::uint64_t> result;
    bool good = text.size() % code_length == 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::size_t digit = digits.find(text[i]);
        good = good && digit < digits.size();
        if (i % code_length == 0) result.push_back(0);
        result.back() = result.back() * digits.size() + digit;
    }
    const bool ascending =
        std::adjacent_find(result.begin(), result.end(), std::greater_equal<>()) == result.end();
    if (!good || !ascending) {
        in.fail_at(where,
                   "features are seven letters or digits each, in the order of the characters");
    }
    return result;
}

}  // namespace

std::shared_ptr<const Learnt> learn_frequencies(const DocumentCounts& counts, std::size_t texts) {
    std::map<std::uint32_t, std::size_t> how_many;
    for (const auto& [identity, count] : counts) ++how_many[count];
    std::uint32_t others = 1;
    std::size_t room = most_kept;
    for (auto at = how_many.rbegin(); at != how_many.rend(); ++at) {
        if (at->second > room) {
            others = std::max(others, at->first);
            break;
        }
        room -= at->second;
    }
    Groups groups;
    for (const auto& [identity, count] : counts) {
        if (count > others) groups[count].push_back(code_of(identity));
    }
    return learnt_of(static_cast<double>(texts), others, groups);
}

void weigh_features(const Learnt& learnt, Features& features) {
    const Matrix<double>& both = *learnt.find(totals);
    const Matrix<double>& table = *learnt.find(kept);
    for (Feature& feature : features) {
        const auto code = static_cast<double>(code_of(feature.identity));
        std::size_t first = 0;
        for (std::size_t left = table.rows(); left > 0;) {
            const std::size_t half = left / 2;
            const bool below = table(first + half, 0) < code;
            first = below ? first + half + 1 : first;
            left = below ? left - half - 1 : half;
        }
        const bool known = first < table.rows() && table(first, 0) == code;
        const double count = known ? table(first, 1) : both(0, 1);
        feature.value *= 1 + std::log((1 + both(0, 0)) / (1 + count));
    }
}

std::shared_ptr<const Learnt> read_frequencies(Scanner& in) {
    in.expect('[', "to open what was learnt of the texts");
    const double texts = texts_at(in, 1, most_texts, "the number of texts");
    in.expect(',', "before in how many texts the features stand that are not listed");
    const double others = texts_at(in, 1, texts, "in how many texts features stand");
    Groups groups;
    double last = others;
    while (in.accept(',')) {
        last = texts_at(in, last + 1, texts, "in how many texts the next features stand");
        in.expect(',', "before the features that do");
        groups[last] = codes_at(in);
    }
    in.expect(']', "to close what was learnt of the texts");
    return learnt_of(texts, others, groups);
}

std::string frequencies_text(const Learnt& learnt) {
    const Matrix<double>& both = *learnt.find(totals);
    const Matrix<double>& table = *learnt.find(kept);
    Groups groups;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        groups[table(i, 1)].push_back(static_cast<std::uint64_t>(table(i, 0)));
    }
    std::string text = "[" + format_number(both(0, 0)) + ", " + format_number(both(0, 1));
    for (const auto& [count, members] : groups) {
        text += ", " + format_number(count) + ", \"";
        for (const std::uint64_t code : members) text += code_text(code);
        text += "\"";
    }
    return text + "]";
}

}  // namespace mercer::leaves
