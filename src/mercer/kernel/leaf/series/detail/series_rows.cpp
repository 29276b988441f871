#include "mercer/kernel/leaf/series/detail/series_rows.hpp"

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer::leaves {

ParameterForm width_form() {
    return whole("width", {}, 1, 1e6, 1.0);
}
ParameterForm counted_form() {
    return truth("counted");
}

std::span<const double> series_of(const KernelNode& node, const Object& object) {
    auto row = std::get<std::span<const double>>(object);
    const auto width = static_cast<std::size_t>(node.parameter("width"));
    if (node.parameter("counted") == 1) {
        if (row.empty()) throw InvalidInput("a counted series needs its length as first number");
        const double count = row.front();
        row = row.subspan(1);
        const std::size_t most = row.size() / width;
        if (!(count >= 0) || count > static_cast<double>(most) || count != std::floor(count)) {
            throw InvalidInput("a counted series has the length " + format_number(count) +
                               "; it must be a whole number from 0 to " + std::to_string(most) +
                               ", what its row has room for");
        }
        row = row.first(static_cast<std::size_t>(count) * width);
    } else if (row.size() % width != 0) {
        throw InvalidInput("a series of vectors of width " + std::to_string(width) +
                           " cannot be read from a row of " + std::to_string(row.size()) +
                           " numbers; the width must divide it");
    }
    for (const double v : row) {
        if (std::isfinite(v)) continue;
        throw InvalidInput("a series has the value " + format_number(v) +
                           "; it must be finite (counted=true reads series of several lengths)");
    }
    return row;
}

}  // namespace mercer::leaves
