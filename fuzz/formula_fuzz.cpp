// Made-up bytes as a formula: what is read must print as a text that reads back as the same, and
// has the same value.
#include <bit>
#include <cmath>
#include <vector>

#include "mercer/base/formula.hpp"
#include "reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto formula = mercer::Formula::parse(mercer::fuzz::view_of(data, size));
        const auto again = mercer::Formula::parse(formula.text());
        if (!(formula == again)) std::abort();
        if (formula.has_names() || formula.columns_needed() > 1000) return 0;
        std::vector<double> row(formula.columns_needed());
        for (std::size_t j = 0; j < row.size(); ++j) row[j] = 0.5 + static_cast<double>(j);
        const double a = formula(row), b = again(row);
        const bool same = std::isnan(a)
                              ? std::isnan(b)
                              : std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
        if (!same) std::abort();
    } catch (const mercer::InvalidInput&) {
        // The expected answer to nearly everything.
    }
    return 0;
}
