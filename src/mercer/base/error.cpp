#include "mercer/base/error.hpp"

#include <cmath>

#include "mercer/base/text.hpp"

namespace mercer {

std::string Location::text() const {
    std::string result = file;
    for (const std::size_t number : {line, column}) {
        if (number == 0) break;
        if (!result.empty()) result += ':';
        result += std::to_string(number);
    }
    return result;
}

void require_range(const std::string& name, double value, bool fine, const std::string& range) {
    if (fine && std::isfinite(value)) return;
    throw InvalidSetting(name + " = " + format_number(value) + " must be " + range);
}

}  // namespace mercer
