#include "mercer/kernel/leaf/detail/lanes.hpp"

#include <bit>

namespace mercer::leaves {
namespace {

void put(const LaneItem& item, std::size_t lane, std::vector<double>& out) {
    for (std::size_t k = 0; k < item.values.size(); ++k) out[k * lanes + lane] = item.values[k];
}

}  // namespace

LaneItem lane_item(std::vector<double> values, std::size_t width) {
    LaneItem item{.values = std::move(values), .width = width};
    item.size = item.values.size() / width;
    if (item.size > longest_object) {
        throw InvalidInput("an object of length " + std::to_string(item.size) +
                           " is too long for a kernel whose work grows with the product of two "
                           "lengths; it takes at most " +
                           std::to_string(longest_object));
    }
    item.order = hash_number(item.values.size());
    for (const double v : item.values) {
        item.order = hash_together(item.order, std::bit_cast<std::uint64_t>(v));
    }
    return item;
}

LaneItem lane_text(const KernelNode& node, const Object& object) {
    const Alphabet alphabet = alphabet_of(node);
    const auto text = letters(in_window(node, std::get<std::string_view>(object)), alphabet);
    std::vector<double> values(text.begin(), text.end());
    if (alphabet == Alphabet::dna) {
        std::ranges::replace(values, static_cast<double>(no_letter),
                             std::numeric_limits<double>::quiet_NaN());
    }
    return lane_item(std::move(values), 1);
}

LanePair::LanePair(const LaneItem& x, const LaneItem& z, std::size_t at)
    : outer(&x), inner(&z), place(at) {
    if (std::pair(z.size, z.order) < std::pair(x.size, x.order)) std::swap(outer, inner);
}

LaneBlock::LaneBlock(std::span<const LanePair> pairs) {
    width = pairs.front().outer->width;
    for (const LanePair& pair : pairs) {
        rows = std::max(rows, pair.outer->size);
        columns = std::max(columns, pair.inner->size);
    }
    outer.assign(rows * width * lanes, -1);
    inner.assign(columns * width * lanes, -2);
    for (std::size_t l = 0; l < pairs.size(); ++l) {
        put(*pairs[l].outer, l, outer);
        put(*pairs[l].inner, l, inner);
        outer_size[l] = static_cast<double>(pairs[l].outer->size);
        inner_size[l] = static_cast<double>(pairs[l].inner->size);
    }
}

std::vector<LanePair> lane_pairs(const LaneItem& x, const std::vector<LaneItem>& z,
                                 std::span<const std::uint32_t> columns) {
    std::vector<LanePair> pairs;
    pairs.reserve(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) pairs.emplace_back(x, z[columns[c]], c);
    return pairs;
}

double mean_cells(const std::vector<LaneItem>& items) {
    double length = 0;
    for (const LaneItem& item : items) length += static_cast<double>(item.size);
    if (!items.empty()) length /= static_cast<double>(items.size());
    return length * length;
}

}  // namespace mercer::leaves
