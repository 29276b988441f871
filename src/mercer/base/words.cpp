#include "mercer/base/words.hpp"

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer {

std::string one_of(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    }
    return text;
}

void refuse_word(std::string_view what, std::string_view word,
                 const std::vector<std::string>& known) {
    const auto near = nearest_word(std::string(word), known);
    throw InvalidSetting(std::string(what) + " = " + quoted(word) + " must be " + one_of(known) +
                         (near ? "; did you mean " + *near + "?" : ""));
}

}  // namespace mercer
