#include "mercer/base/error.hpp"

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

}  // namespace mercer
