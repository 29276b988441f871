#include "mercer/gram/locality/detail/locality.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"

namespace mercer {
namespace {

/// Reads entry (i, k) of some of the rows as packed, which may be bytes alone.
template <class T>
class Entries {
   public:
    Entries(const PackedGroup<T>& rows, const Columns& which)
        : which_(which),
          rows_(which.size(rows.dense.rows)),
          columns_(rows.dense.columns),
          dense_(rows.dense.data),
          bytes_(rows.byte_left.empty() ? nullptr : rows.byte_left.data()),
          unit_(static_cast<T>(rows.unit)) {}

    bool there() const { return columns_ > 0 && (dense_ != nullptr || bytes_ != nullptr); }
    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    T operator()(std::size_t i, std::size_t k) const {
        const std::size_t at = which_[i] * columns_ + k;
        return dense_ != nullptr ? dense_[at] : unit_ * static_cast<T>(bytes_[at]);
    }

   private:
    Columns which_;
    std::size_t rows_;
    std::size_t columns_;
    const T* dense_;
    const std::uint8_t* bytes_;
    T unit_;
};

/// Cuts [first, last) of an order in two, and each part again.
template <class T>
class Cutting {
   public:
    Cutting(const Entries<T>& entries, std::size_t run, double squared_reach,
            std::vector<std::size_t>& order)
        : entries_(entries), run_(run), squared_reach_(squared_reach), order_(order) {}

    void cut(std::size_t first, std::size_t last) {
        while (last - first > run_) {
            const auto [column, mean] = widest(first, last);
            if (column == entries_.columns()) return;  // all alike
            const auto begin = order_.begin();
            const auto middle = static_cast<std::size_t>(
                std::stable_partition(begin + static_cast<std::ptrdiff_t>(first),
                                      begin + static_cast<std::ptrdiff_t>(last),
                                      [&, k = column, at = mean](std::size_t i) {
                                          return static_cast<double>(entries_(i, k)) < at;
                                      }) -
                begin);
            if (middle == first || middle == last) return;  // rounding: nearly alike
            // The smaller part by recursion, so that the stack stays low.
            if (middle - first < last - middle) {
                cut(first, middle);
                first = middle;
            } else {
                cut(middle, last);
                last = middle;
            }
        }
    }

   private:
    struct Cut {
        std::size_t column;
        double mean;
    };

    /// Where to cut, from at most a thousand of the rows: between categories, so that rows of one
    /// are out of reach of the other's, and else where they vary most.
    Cut widest(std::size_t first, std::size_t last) const {
        constexpr std::size_t most = 1024;
        const std::size_t count = std::min(most, last - first);
        const auto each_row = [&](auto&& visit) {
            for (std::size_t s = 0; s < count; ++s) {
                const std::size_t i = order_[first + s * (last - first) / count];
                for (std::size_t k = 0; k < entries_.columns(); ++k) {
                    visit(k, static_cast<double>(entries_(i, k)));
                }
            }
        };
        const auto n = static_cast<double>(count);
        std::vector<Spread> spread(entries_.columns());
        each_row([&](std::size_t k, double x) { spread[k].mean += x / n; });
        each_row([&](std::size_t k, double x) { spread[k].add(x); });
        Cut best{entries_.columns(), 0};
        double widest = 0;
        for (std::size_t k = 0; k < spread.size(); ++k) {
            const double gap = spread[k].above - spread[k].below;
            const double weight = gap * gap >= squared_reach_ / 4 ? 1e6 : 1;
            const double width = weight * spread[k].squares;
            if (width > widest) {
                widest = width;
                best = {k, spread[k].mean};
            }
        }
        return best;
    }

    /// Of one column: squares about the mean, and the values next to it.
    struct Spread {
        double mean = 0;
        double squares = 0;
        double below = -std::numeric_limits<double>::infinity();
        double above = std::numeric_limits<double>::infinity();

        void add(double x) {
            squares += (x - mean) * (x - mean);
            (x < mean ? below : above) = x < mean ? std::max(below, x) : std::min(above, x);
        }
    };

    const Entries<T>& entries_;
    std::size_t run_;
    double squared_reach_;
    std::vector<std::size_t>& order_;
};

template <class T>
Boxes<T> boxes_of(const Entries<T>& entries, std::vector<std::size_t> starts) {
    const std::size_t columns = entries.columns();
    Boxes<T> boxes{.columns = columns, .starts = std::move(starts)};
    boxes.low.resize(boxes.size() * columns);
    boxes.high.resize(boxes.size() * columns);
    parallel_ranges(boxes.size(), 64, [&](std::size_t first, std::size_t last) {
        for (std::size_t box = first; box < last; ++box) {
            T* const low = boxes.low.data() + box * columns;
            T* const high = boxes.high.data() + box * columns;
            const std::size_t begin = boxes.starts[box];
            for (std::size_t k = 0; k < columns; ++k) low[k] = high[k] = entries(begin, k);
            for (std::size_t i = begin + 1; i < boxes.starts[box + 1]; ++i) {
                for (std::size_t k = 0; k < columns; ++k) {
                    const T x = entries(i, k);
                    low[k] = std::min(low[k], x);
                    high[k] = std::max(high[k], x);
                }
            }
        }
    });
    return boxes;
}

}  // namespace

template <class T>
Boxes<T> even_boxes(const PackedGroup<T>& rows, std::size_t run, const Columns& which) {
    const Entries<T> entries(rows, which);
    if (!entries.there() || entries.rows() == 0) return {};
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i < entries.rows(); i += run) starts.push_back(i);
    starts.push_back(entries.rows());
    return boxes_of(entries, std::move(starts));
}

template <class T>
Boxes<T> tight_boxes(const PackedGroup<T>& rows, std::size_t run, double squared_reach) {
    const Entries<T> entries(rows, Columns::all());
    if (!entries.there() || entries.rows() == 0) return {};
    const auto apart = [&](std::size_t i) {
        double sum = 0;
        for (std::size_t k = 0; k < entries.columns(); ++k) {
            const auto gap = static_cast<double>(entries(i, k) - entries(i - 1, k));
            sum += gap * gap;
        }
        return sum;
    };
    std::vector<std::size_t> starts{0};
    for (std::size_t i = 1; i < entries.rows(); ++i) {
        if (i - starts.back() == run || apart(i) >= squared_reach) starts.push_back(i);
    }
    starts.push_back(entries.rows());
    return boxes_of(entries, std::move(starts));
}

template <class T>
bool may_meet(const Boxes<T>& a, std::size_t i, const Boxes<T>& b, std::size_t j,
              double squared_reach) {
    const std::size_t columns = a.columns;
    const T* a_low = a.low.data() + i * columns;
    const T* a_high = a.high.data() + i * columns;
    const T* b_low = b.low.data() + j * columns;
    const T* b_high = b.high.data() + j * columns;
    T sum = 0;
    for (std::size_t k = 0; k < columns; ++k) {
        const T apart = std::max({T{0}, a_low[k] - b_high[k], b_low[k] - a_high[k]});
        sum += apart * apart;
    }
    return static_cast<double>(sum) < squared_reach;
}

namespace {

/// One box around several.
template <class T>
struct Hull {
    std::vector<T> low;
    std::vector<T> high;

    Hull(const Boxes<T>& boxes, std::size_t first, std::size_t last) {
        const auto corner = [&](const std::vector<T>& all, std::size_t box) {
            return std::span(all).subspan(box * boxes.columns, boxes.columns);
        };
        const auto from_low = corner(boxes.low, first), from_high = corner(boxes.high, first);
        low.assign(from_low.begin(), from_low.end());
        high.assign(from_high.begin(), from_high.end());
        for (std::size_t box = first + 1; box < last; ++box) {
            const auto more_low = corner(boxes.low, box), more_high = corner(boxes.high, box);
            for (std::size_t k = 0; k < boxes.columns; ++k) {
                low[k] = std::min(low[k], more_low[k]);
                high[k] = std::max(high[k], more_high[k]);
            }
        }
    }
};

/// The panels [first, last) of a strip that a block may meet, and those between them.
struct PanelRange {
    std::size_t first = 0;
    std::size_t last = 0;

    bool empty() const { return first == last; }
    friend bool operator==(const PanelRange&, const PanelRange&) = default;
};

template <class T>
PanelRange panels_met(const Boxes<T>& blocks, std::size_t block, const BoxedPoints<T>& z,
                      std::size_t strip, double squared_reach) {
    if (!may_meet(blocks, block, z.strips, strip, squared_reach)) return {};
    std::size_t first = strip * z.strip_panels;
    std::size_t last = std::min(first + z.strip_panels, z.panels.size());
    const auto meets = [&](std::size_t panel) {
        return may_meet(blocks, block, z.panels, panel, squared_reach);
    };
    while (first < last && !meets(first)) ++first;
    while (first < last && !meets(last - 1)) --last;
    return first < last ? PanelRange{first, last} : PanelRange{};
}

/// Blocks [first, last) against a range of panels.
template <class T>
NearTile near_tile(const Boxes<T>& blocks, std::size_t first, std::size_t last,
                   const Boxes<T>& panels, PanelRange range) {
    const std::size_t row = blocks.starts[first], column = panels.starts[range.first];
    NearTile tile{.first_row = row,
                  .rows = blocks.starts[last] - row,
                  .first_column = column,
                  .columns = panels.starts[range.last] - column};
    const Hull<T> rows(blocks, first, last);
    const Hull<T> columns(panels, range.first, range.last);
    for (std::size_t k = 0; k < blocks.columns; ++k) {
        const bool same = rows.low[k] == rows.high[k] && columns.low[k] == columns.high[k] &&
                          rows.low[k] == columns.low[k];
        if (!same) tile.varying.push_back(static_cast<std::uint32_t>(k));
    }
    return tile;
}

}  // namespace

template <class T>
std::vector<NearTile> near_tiles(const BoxedPoints<T>& x, const BoxedPoints<T>& z,
                                 std::size_t strip, double squared_reach, std::size_t tile_rows) {
    std::vector<NearTile> tiles;
    const Boxes<T>& blocks = x.blocks;
    const auto met = [&](std::size_t block) {
        return panels_met(blocks, block, z, strip, squared_reach);
    };
    PanelRange range = met(0);
    for (std::size_t block = 0; block < blocks.size();) {
        // Further blocks with the same panels.
        std::size_t end = block + 1;
        PanelRange next = end < blocks.size() ? met(end) : PanelRange{};
        while (end < blocks.size() && next == range &&
               blocks.starts[end + 1] - blocks.starts[block] <= tile_rows) {
            ++end;
            next = end < blocks.size() ? met(end) : PanelRange{};
        }
        if (!range.empty()) {
            tiles.push_back(near_tile(blocks, block, end, z.panels, range));
        }
        block = end;
        range = next;
    }
    return tiles;
}

template <class T>
double meeting_share(const Boxes<T>& boxes, double squared_reach) {
    const std::size_t all = boxes.size();
    if (all == 0) return 1;
    const std::size_t some = std::min<std::size_t>(all, 256);
    std::vector<std::size_t> met(some, 0);
    parallel_for(some, [&](std::size_t s) {
        const std::size_t i = s * all / some;
        for (std::size_t j = 0; j < all; ++j) {
            met[s] += may_meet(boxes, i, boxes, j, squared_reach) ? 1 : 0;
        }
    });
    const auto sum = std::accumulate(met.begin(), met.end(), std::size_t{0});
    return static_cast<double>(sum) / (static_cast<double>(some) * static_cast<double>(all));
}

template <class T>
bool most_are_near(const PackedGroup<T>& rows, double squared_reach, const Columns& which) {
    constexpr int pairs = 400;
    constexpr int most = 160;
    const Entries<T> entries(rows, which);
    if (!entries.there() || entries.rows() == 0) return true;
    Random random(1);
    int near = 0;
    for (int pair = 0; pair < pairs; ++pair) {
        const std::size_t i = random.below(entries.rows()), j = random.below(entries.rows());
        double sum = 0;
        for (std::size_t k = 0; k < entries.columns() && sum < squared_reach; ++k) {
            const double d =
                static_cast<double>(entries(i, k)) - static_cast<double>(entries(j, k));
            sum += d * d;
        }
        near += sum < squared_reach ? 1 : 0;
    }
    return near > most;
}

template <class T>
std::vector<std::size_t> near_order(const PackedGroup<T>& rows, std::size_t run,
                                    double squared_reach, const Columns& which) {
    const Entries<T> entries(rows, which);
    if (!entries.there() || entries.rows() == 0) return {};
    std::vector<std::size_t> order(entries.rows());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Cutting<T>(entries, run, squared_reach, order).cut(0, order.size());
    return order;
}

#define MERCER_FOR_TYPE(T)                                                                      \
    template Boxes<T> even_boxes(const PackedGroup<T>&, std::size_t, const Columns&);           \
    template Boxes<T> tight_boxes(const PackedGroup<T>&, std::size_t, double);                  \
    template bool may_meet(const Boxes<T>&, std::size_t, const Boxes<T>&, std::size_t, double); \
    template std::vector<NearTile> near_tiles(const BoxedPoints<T>&, const BoxedPoints<T>&,     \
                                              std::size_t, double, std::size_t);                \
    template double meeting_share(const Boxes<T>&, double);                                     \
    template bool most_are_near(const PackedGroup<T>&, double, const Columns&);                 \
    template std::vector<std::size_t> near_order(const PackedGroup<T>&, std::size_t, double,    \
                                                 const Columns&);
MERCER_FOR_TYPE(float)
MERCER_FOR_TYPE(double)
#undef MERCER_FOR_TYPE

}  // namespace mercer
