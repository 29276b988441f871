#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "mercer/chart/detail/contour.hpp"

namespace mercer::chart {
namespace {

/// A grid with the value of interest subtracted. Missing values count as below.
class Shifted {
   public:
    Shifted(const GridField& field, double value) : field_(field), value_(value) {}

    std::size_t rows() const { return field_.values.rows(); }
    std::size_t columns() const { return field_.values.columns(); }
    double operator()(std::size_t i, std::size_t j) const {
        const double f = field_.values(i, j);
        return std::isfinite(f) ? f - value_ : -1;
    }
    Place place(std::size_t i, std::size_t j) const {
        const auto part = [](std::size_t k, std::size_t count) {
            return static_cast<double>(k) / static_cast<double>(count - 1);
        };
        return {field_.left + (field_.right - field_.left) * part(j, columns()),
                field_.bottom + (field_.top - field_.bottom) * part(i, rows())};
    }
    /// Where the edge between two nodes of different sign is crossed.
    Place crossing(std::size_t i, std::size_t j, std::size_t k, std::size_t l) const {
        const double a = (*this)(i, j);
        const double b = (*this)(k, l);
        const double t = a / (a - b);
        const Place p = place(i, j);
        const Place q = place(k, l);
        return {p.x + t * (q.x - p.x), p.y + t * (q.y - p.y)};
    }

   private:
    const GridField& field_;
    double value_;
};

struct Corner {
    std::size_t row;
    std::size_t column;
};

/// The corners of a cell, against the clock from the lower left.
std::array<Corner, 4> corners(std::size_t i, std::size_t j) {
    return {{{i, j}, {i, j + 1}, {i + 1, j + 1}, {i + 1, j}}};
}

double mean_of(const Shifted& f, const std::array<Corner, 4>& corner) {
    double sum = 0;
    for (const Corner c : corner) sum += f(c.row, c.column);
    return sum / 4;
}

/// What of a cell lies above, as one polygon or, in a saddle whose middle lies below, two.
void add_part(const Shifted& f, std::size_t i, std::size_t j, std::vector<Path>& polygons) {
    const auto corner = corners(i, j);
    const auto above = [&](std::size_t k) { return f(corner[k].row, corner[k].column) >= 0; };
    const auto crossing = [&](std::size_t k, std::size_t l) {
        return f.crossing(corner[k].row, corner[k].column, corner[l].row, corner[l].column);
    };
    const bool saddle = above(0) == above(2) && above(1) == above(3) && above(0) != above(1);
    if (saddle && mean_of(f, corner) < 0) {
        for (std::size_t k = above(0) ? 0 : 1; k < 4; k += 2) {
            polygons.push_back({crossing(k, (k + 3) % 4), f.place(corner[k].row, corner[k].column),
                                crossing(k, (k + 1) % 4)});
        }
        return;
    }
    Path polygon;
    for (std::size_t k = 0; k < 4; ++k) {
        const std::size_t next = (k + 1) % 4;
        if (above(k)) polygon.push_back(f.place(corner[k].row, corner[k].column));
        if (above(k) != above(next)) polygon.push_back(crossing(k, next));
    }
    if (polygon.size() >= 3) polygons.push_back(std::move(polygon));
}

/// Joins pieces that share an end, by the number of the edge it lies on.
class Chains {
   public:
    void add(std::size_t from, Place a, std::size_t to, Place b) {
        const std::size_t piece = pieces_.size();
        pieces_.push_back({{from, to}, {a, b}, false});
        ends_[from].push_back(piece);
        ends_[to].push_back(piece);
    }

    std::vector<Path> joined() {
        std::vector<Path> paths;
        // Open curves first, from an end that nothing else shares; what is left is closed.
        for (const bool open : {true, false}) {
            for (std::size_t p = 0; p < pieces_.size(); ++p) {
                for (std::size_t side = 0; side < 2 && !pieces_[p].used; ++side) {
                    if (open && ends_[pieces_[p].edges[side]].size() != 1) continue;
                    paths.push_back(follow(p, side));
                }
            }
        }
        return paths;
    }

   private:
    struct Piece {
        std::array<std::size_t, 2> edges;
        std::array<Place, 2> places;
        bool used;
    };

    Path follow(std::size_t p, std::size_t side) {
        Path path{pieces_[p].places[side]};
        for (bool more = true; more;) {
            pieces_[p].used = true;
            path.push_back(pieces_[p].places[1 - side]);
            const std::size_t edge = pieces_[p].edges[1 - side];
            more = false;
            for (const std::size_t next : ends_[edge]) {
                if (pieces_[next].used) continue;
                side = pieces_[next].edges[0] == edge ? 0 : 1;
                p = next;
                more = true;
                break;
            }
        }
        return path;
    }

    std::vector<Piece> pieces_;
    std::unordered_map<std::size_t, std::vector<std::size_t>> ends_;
};

}  // namespace

std::vector<Path> level_lines(const GridField& field, double value) {
    const Shifted f(field, value);
    Chains chains;
    // Edge 2k begins at node k and goes right, edge 2k + 1 goes up.
    const auto edge = [&](Corner a, Corner b) {
        const Corner first = a.row + a.column < b.row + b.column ? a : b;
        return 2 * (first.row * f.columns() + first.column) + (a.row == b.row ? 0 : 1);
    };
    for (std::size_t i = 0; i + 1 < f.rows(); ++i) {
        for (std::size_t j = 0; j + 1 < f.columns(); ++j) {
            const auto corner = corners(i, j);
            std::vector<std::pair<std::size_t, Place>> crossings;
            for (std::size_t k = 0; k < 4; ++k) {
                const Corner a = corner[k];
                const Corner b = corner[(k + 1) % 4];
                if ((f(a.row, a.column) >= 0) == (f(b.row, b.column) >= 0)) continue;
                crossings.emplace_back(edge(a, b), f.crossing(a.row, a.column, b.row, b.column));
            }
            // Of a saddle the first corner and its opposite are cut off where the mean is not with
            // them.
            if (crossings.size() == 4 && (mean_of(f, corner) >= 0) != (f(i, j) >= 0)) {
                std::rotate(crossings.begin(), crossings.begin() + 3, crossings.end());
            }
            for (std::size_t k = 0; k + 1 < crossings.size(); k += 2) {
                chains.add(crossings[k].first, crossings[k].second, crossings[k + 1].first,
                           crossings[k + 1].second);
            }
        }
    }
    return chains.joined();
}

std::vector<Path> region_above(const GridField& field, double value) {
    const Shifted f(field, value);
    std::vector<Path> polygons;
    for (std::size_t i = 0; i + 1 < f.rows(); ++i) {
        std::size_t begun = 0;  // of a run of full cells
        std::size_t length = 0;
        const auto finish = [&] {
            if (length == 0) return;
            const Place low = f.place(i, begun);
            const Place high = f.place(i + 1, begun + length);
            polygons.push_back({low, {high.x, low.y}, high, {low.x, high.y}});
            length = 0;
        };
        for (std::size_t j = 0; j + 1 < f.columns(); ++j) {
            const bool full = std::ranges::all_of(
                corners(i, j), [&](Corner c) { return f(c.row, c.column) >= 0; });
            if (full) {
                if (length++ == 0) begun = j;
                continue;
            }
            finish();
            add_part(f, i, j, polygons);
        }
        finish();
    }
    return polygons;
}

}  // namespace mercer::chart
