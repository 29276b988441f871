// The words of an enumeration, written down once and read in both directions.
//
//   constexpr Words pass_orders{std::pair{PassOrder::given, "given"},
//                               std::pair{PassOrder::shuffled, "shuffled"}};
//   pass_orders.word(PassOrder::given);             // "given"
//   pass_orders.value("given", "order");            // throws for words that are none of them
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"

namespace mercer MERCER_API {

/// "a", "a or b", "a, b or c".
std::string one_of(const std::vector<std::string>& words);

/// Throws InvalidInput "what = 'word' must be a, b or c", with the nearest of them.
[[noreturn]] void refuse_word(std::string_view what, std::string_view word,
                              const std::vector<std::string>& known);

template <class E, std::size_t n>
struct Words {
    std::array<std::pair<E, std::string_view>, n> list;

    template <class... Pairs>
    constexpr explicit Words(Pairs... pairs) : list{std::pair<E, std::string_view>(pairs)...} {}

    std::vector<std::string> words() const {
        std::vector<std::string> all;
        for (const auto& [value, word] : list) all.emplace_back(word);
        return all;
    }
    constexpr std::string_view word(E value) const {
        for (const auto& [own, word] : list) {
            if (own == value) return word;
        }
        return {};
    }
    constexpr std::optional<E> find(std::string_view word) const {
        for (const auto& [value, own] : list) {
            if (own == word) return value;
        }
        return std::nullopt;
    }
    /// `what` is what the word was given for.
    E value(std::string_view word, std::string_view what) const {
        if (const auto found = find(word)) return *found;
        refuse_word(what, word, words());
    }
};
template <class E, class... More>
Words(std::pair<E, const char*>, More...) -> Words<E, 1 + sizeof...(More)>;

}  // namespace mercer
