// What is said on standard error beside the results.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace mercer::cli {

/// Text to standard error. That nobody hears it is no failure: it may be closed, or its disk full.
template <class... Arguments>
void tell(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    const std::string text = fmt::format(format, std::forward<Arguments>(arguments)...);
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

}  // namespace mercer::cli
