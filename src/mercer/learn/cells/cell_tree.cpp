#include <algorithm>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/cells/detail/row_planes.hpp"

namespace mercer {
namespace {

/// Forks lead on to later ones only, so that no way goes round, and each is led to once.
void check_forks(const std::vector<CellTree::Fork>& forks, const std::string& place) {
    const auto count = static_cast<std::int64_t>(forks.size());
    std::vector<char> fork_seen(forks.size(), 0), cell_seen(forks.size() + 1, 0);
    for (std::int64_t f = 0; f < count; ++f) {
        for (const std::int64_t way : forks[static_cast<std::size_t>(f)]) {
            const bool known = way >= 0 ? way > f && way < count : way >= -1 - count;
            const std::size_t to = static_cast<std::size_t>(way >= 0 ? way : -1 - way);
            if (known && !(way >= 0 ? fork_seen : cell_seen)[to]) {
                (way >= 0 ? fork_seen : cell_seen)[to] = 1;
                continue;
            }
            throw InvalidInput(place + ": fork " + std::to_string(f) + " leads to " +
                               (way >= 0 ? "fork " : "cell ") +
                               (way >= 0 ? std::to_string(way) : std::to_string(-(way + 1))) +
                               ", which is not there, or not for it alone");
        }
    }
}

}  // namespace

CellTree::CellTree(Matrix<double> planes, std::vector<Fork> forks, const std::string& place)
    : planes_(std::move(planes)), forks_(std::move(forks)) {
    if (planes_.rows() != forks_.size() || (!forks_.empty() && planes_.columns() == 0)) {
        throw InvalidInput(place + ": " + std::to_string(planes_.rows()) + " planes for " +
                           std::to_string(forks_.size()) + " forks");
    }
    if (!std::ranges::all_of(planes_.values(), [](double v) { return std::isfinite(v); })) {
        throw InvalidInput(place + ": a plane has a number that is not finite");
    }
    check_forks(forks_, place);
}

std::vector<std::uint32_t> CellTree::place(const Rows& scaled) const {
    std::vector<std::uint32_t> found(scaled.size(), 0);
    if (forks_.empty()) return found;
    if (scaled.columns() + 1 != planes_.columns()) {
        throw InvalidInput("the rows have " + std::to_string(scaled.columns()) +
                           " columns; the planes between cells have " +
                           std::to_string(planes_.columns() - 1));
    }
    const RowPlanes rows(scaled);
    constexpr std::size_t grain = 1024;
    parallel_ranges(scaled.size(), grain, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            std::int64_t at = 0;
            while (at >= 0) {
                const auto f = static_cast<std::size_t>(at);
                const auto plane = planes_.row(f);
                const bool near = rows.dot(i, plane.first(scaled.columns())) <= plane.back();
                at = forks_[f][near ? 0 : 1];
            }
            found[i] = static_cast<std::uint32_t>(-1 - at);
        }
    });
    return found;
}

}  // namespace mercer
