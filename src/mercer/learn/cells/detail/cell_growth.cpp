#include "mercer/learn/cells/detail/cell_growth.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/cells/detail/row_planes.hpp"

namespace mercer {
namespace {

constexpr std::size_t sample_rows = 1024;  ///< that a fork is found on
constexpr std::size_t lloyd_steps = 10;
/// Neither way of a fork gets less than this share of the sample where that can be avoided: what
/// lies far out would else be cut off row by row.
constexpr double least_share = 0.1;
constexpr std::size_t most_pieces =
    64;  ///< that rows are cut into for threads, each of which counts

struct Plane {
    std::vector<double> w{};
    double t = 0;
};

/// The middle of two neighbouring values, such that the first is <= it and the second is not.
double between(double low, double high) {
    const double middle = low + (high - low) / 2;
    return middle < high ? middle : low;
}

/// Two centres among some rows, and the plane between them.
class Fork {
   public:
    Fork(const RowPlanes& rows, std::span<const std::size_t> sample, Random random)
        : rows_(rows), sample_(sample), random_(random) {}

    /// Nothing when no plane tells these rows apart.
    std::optional<Plane> plane() {
        for (std::size_t k = 0; k < sample_.size(); ++k) {
            squares_.push_back(square(sample_[k]));
        }
        std::vector<double> a = row(sample_[random_.below(sample_.size())]);
        std::vector<double> b = row(sample_[drawn_far_from(a)]);
        for (std::size_t step = 0; step < lloyd_steps && improve(a, b); ++step) {
        }
        return cut(a, b);
    }

   private:
    std::vector<double> row(std::size_t i) const {
        std::vector<double> x(rows_.columns(), 0.0);
        rows_.add(i, 1, x);
        return x;
    }
    double square(std::size_t i) const {
        const std::vector<double> x = row(i);
        return std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
    }

    /// By squared distance, as in k-means++ (Arthur and Vassilvitskii 2007).
    std::size_t drawn_far_from(const std::vector<double>& a) {
        const double own = std::inner_product(a.begin(), a.end(), a.begin(), 0.0);
        std::vector<double> sums;
        double sum = 0;
        for (std::size_t k = 0; k < sample_.size(); ++k) {
            sum += std::max(0.0, own + squares_[k] - 2 * rows_.dot(sample_[k], a));
            sums.push_back(sum);
        }
        const double mark = random_.uniform() * sum;
        const auto found = std::ranges::upper_bound(sums, mark);
        return found == sums.end() ? sums.size() - 1
                                   : static_cast<std::size_t>(found - sums.begin());
    }

    /// Both centres to the means of the rows nearer to them; false when nothing changed.
    bool improve(std::vector<double>& a, std::vector<double>& b) const {
        std::vector<double> w(a.size());
        const double t = difference(a, b, w);
        std::vector<double> mean_a(a.size(), 0.0), mean_b(a.size(), 0.0);
        std::size_t count = 0;
        for (const std::size_t i : sample_) {
            const bool first = rows_.dot(i, w) <= t;
            rows_.add(i, 1, first ? mean_a : mean_b);
            count += first ? 1 : 0;
        }
        if (count == 0 || count == sample_.size()) return false;
        for (double& value : mean_a) value /= static_cast<double>(count);
        for (double& value : mean_b) value /= static_cast<double>(sample_.size() - count);
        const bool same = mean_a == a && mean_b == b;
        a = std::move(mean_a);
        b = std::move(mean_b);
        return !same;
    }

    /// w = b − a, and t with w·x <= t where a is nearer.
    static double difference(const std::vector<double>& a, const std::vector<double>& b,
                             std::vector<double>& w) {
        double t = 0;
        for (std::size_t j = 0; j < a.size(); ++j) {
            w[j] = b[j] - a[j];
            t += w[j] * (a[j] + b[j]) / 2;
        }
        return t;
    }

    std::optional<Plane> cut(const std::vector<double>& a, const std::vector<double>& b) const {
        Plane plane{.w = std::vector<double>(a.size())};
        plane.t = difference(a, b, plane.w);
        std::vector<double> p;
        for (const std::size_t i : sample_) p.push_back(rows_.dot(i, plane.w));
        std::ranges::sort(p);
        if (!std::isfinite(p.front()) || !std::isfinite(p.back()) || !std::isfinite(plane.t)) {
            return {};
        }
        const auto below = static_cast<double>(std::ranges::upper_bound(p, plane.t) - p.begin());
        const double share = below / static_cast<double>(p.size());
        if (std::min(share, 1 - share) >= least_share) return plane;
        // The centres move along their line, to where the sample is cut most evenly.
        std::optional<std::size_t> best;
        const auto uneven = [&](std::size_t k) {
            return std::abs(2 * static_cast<double>(k) - static_cast<double>(p.size()));
        };
        for (std::size_t k = 1; k < p.size(); ++k) {
            if (p[k - 1] < p[k] && (!best || uneven(k) < uneven(*best))) best = k;
        }
        if (!best) return {};
        plane.t = between(p[*best - 1], p[*best]);
        return plane;
    }

    const RowPlanes& rows_;
    std::span<const std::size_t> sample_;
    Random random_;
    std::vector<double> squares_{};
};

class Growth {
   public:
    Growth(const Rows& scaled, std::size_t most, std::uint64_t seed, std::size_t memory_bytes,
           const Progress& progress, std::span<const std::size_t> follow)
        : rows_(scaled),
          most_(most),
          seed_(seed),
          memory_bytes_(memory_bytes),
          progress_(progress),
          follow_(follow),
          at_(scaled.size(), 0),
          nodes_{{.rows = scaled.size()}} {
        require_room(static_cast<double>(scaled.size()) / static_cast<double>(most));
    }

    GrownCells run() {
        for (std::size_t first = 0; first < nodes_.size();) {
            const double done = static_cast<double>(first) / static_cast<double>(nodes_.size());
            if (!keep_going(progress_, {"cells", done})) throw Cancelled();
            const std::size_t end = nodes_.size();
            split(first, end);
            first = end;
        }
        return finished();
    }

   private:
    struct Node {
        std::size_t rows = 0;
        Plane plane{};
        std::size_t child = 0;  ///< the first of two; 0: it is a cell
    };

    void require_room(double forks) const {
        const double bytes = forks * static_cast<double>(rows_.columns() + 1) * sizeof(double);
        if (bytes <= static_cast<double>(memory_bytes_)) return;
        throw InvalidInput("the planes between " + std::to_string(static_cast<long>(forks) + 1) +
                           " cells of rows with " + std::to_string(rows_.columns()) +
                           " columns need " + std::to_string((static_cast<long>(bytes) >> 20) + 1) +
                           " MiB; allow more with `memory_bytes`, or cells of more `rows`");
    }

    /// Whether a node has too many rows, and is on the way to what is wanted.
    bool is_open(std::size_t node) const {
        if (nodes_[node].rows <= most_) return false;
        return follow_.empty() ||
               std::ranges::any_of(follow_, [&](std::size_t i) { return at_[i] == node; });
    }

    /// Forks for the nodes of one level that have too many rows.
    void split(std::size_t first, std::size_t end) {
        const std::vector<std::vector<std::size_t>> samples = samples_of(first, end);
        parallel_for(end - first, [&](std::size_t k) {
            if (samples[k].empty()) return;
            Random random(seed_, 0x6365'6c6c'0000'0000 + first + k);
            auto plane = Fork(rows_, samples[k], random).plane();
            if (plane) nodes_[first + k].plane = std::move(*plane);
        });
        for (std::size_t k = first; k < end; ++k) {
            if (samples[k - first].empty()) continue;
            if (nodes_[k].plane.w.empty())
                nodes_[k].plane = plane_beside_equals(k, samples[k - first]);
            if (nodes_[k].plane.w.empty()) continue;
            nodes_[k].child = nodes_.size();
            nodes_.resize(nodes_.size() + 2);
        }
        require_room(static_cast<double>(nodes_.size() / 2));
        move_rows(first, end);
    }

    /// Some rows of each node with too many, evenly spread over them by chance.
    std::vector<std::vector<std::size_t>> samples_of(std::size_t first, std::size_t end) const {
        std::vector<std::vector<std::size_t>> samples(end - first);
        std::vector<std::vector<std::size_t>> wanted(end - first);  // the last comes first
        std::vector<std::size_t> seen(end - first, 0);
        for (std::size_t k = 0; k < end - first; ++k) {
            const std::size_t rows = nodes_[first + k].rows;
            if (!is_open(first + k)) continue;
            Random random(seed_, 0x6365'6c6c'8000'0000 + first + k);
            const std::size_t count = std::min(sample_rows, rows);
            for (std::size_t s = 0; s < count; ++s) {
                const std::size_t from = s * rows / count;
                wanted[k].push_back(from + random.below((s + 1) * rows / count - from));
            }
            std::ranges::reverse(wanted[k]);
        }
        for (std::size_t i = 0; i < at_.size(); ++i) {
            if (at_[i] < first) continue;
            const std::size_t k = at_[i] - first;
            if (wanted[k].empty() || seen[k]++ != wanted[k].back()) continue;
            samples[k].push_back(i);
            wanted[k].pop_back();
        }
        return samples;
    }

    /// Where the sample says nothing because nearly all rows are equal: a plane that leaves those
    /// on one side, and as many as can be of the others beyond it. None when all are equal.
    Plane plane_beside_equals(std::size_t node, const std::vector<std::size_t>& sample) const {
        const std::size_t common = sample.front();
        std::vector<std::size_t> others;
        for (std::size_t i = 0; i < at_.size() && others.size() < sample_rows; ++i) {
            if (at_[i] == node && !rows_.same(i, common)) others.push_back(i);
        }
        if (others.empty()) return {};
        // Towards the mean of the others, at least one of which then lies ahead; else to the first.
        for (const std::size_t count : {others.size(), std::size_t{1}}) {
            Plane plane{.w = std::vector<double>(rows_.columns(), 0.0)};
            for (std::size_t k = 0; k < count; ++k) rows_.add(others[k], 1, plane.w);
            rows_.add(common, -static_cast<double>(count), plane.w);
            const double own = rows_.dot(common, plane.w);
            std::optional<double> next;
            for (std::size_t k = 0; k < count; ++k) {
                const double p = rows_.dot(others[k], plane.w);
                if (std::isfinite(p) && p > own && (!next || p < *next)) next = p;
            }
            if (!next || !std::isfinite(own)) continue;
            plane.t = between(own, *next);
            return plane;
        }
        return {};
    }

    void move_rows(std::size_t first, std::size_t end) {
        const std::size_t pieces = std::min(most_pieces, 1 + at_.size() / 4096);
        std::vector<std::vector<std::size_t>> counts(pieces);
        parallel_for(pieces, [&](std::size_t p) {
            counts[p].assign(nodes_.size() - end, 0);
            const std::size_t last = (p + 1) * at_.size() / pieces;
            for (std::size_t i = p * at_.size() / pieces; i < last; ++i) {
                if (at_[i] < first || nodes_[at_[i]].child == 0) continue;
                const Node& node = nodes_[at_[i]];
                const bool second = !(rows_.dot(i, node.plane.w) <= node.plane.t);
                at_[i] = static_cast<std::uint32_t>(node.child + (second ? 1 : 0));
                ++counts[p][at_[i] - end];
            }
        });
        for (const auto& own : counts) {
            for (std::size_t k = 0; k < own.size(); ++k) nodes_[end + k].rows += own[k];
        }
    }

    GrownCells finished() {
        std::vector<std::int64_t> way(nodes_.size());
        std::int64_t forks = 0, cells = 0;
        for (std::size_t k = 0; k < nodes_.size(); ++k) {
            way[k] = nodes_[k].child > 0 ? forks++ : -1 - cells++;
        }
        Matrix<double> planes(static_cast<std::size_t>(forks), forks > 0 ? rows_.columns() + 1 : 0);
        std::vector<CellTree::Fork> ways;
        for (const Node& node : nodes_) {
            if (node.child == 0) continue;
            const auto row = planes.row(ways.size());
            std::ranges::copy(node.plane.w, row.begin());
            row.back() = node.plane.t;
            ways.push_back({way[node.child], way[node.child + 1]});
        }
        GrownCells grown{.tree = CellTree(std::move(planes), std::move(ways))};
        grown.cell.reserve(at_.size());
        for (const std::uint32_t node : at_) {
            grown.cell.push_back(static_cast<std::uint32_t>(-1 - way[node]));
        }
        return grown;
    }

    RowPlanes rows_;
    std::size_t most_;
    std::uint64_t seed_;
    std::size_t memory_bytes_;
    const Progress& progress_;
    std::span<const std::size_t> follow_;
    std::vector<std::uint32_t> at_;  ///< the node of each row
    std::vector<Node> nodes_;        ///< level by level
};

}  // namespace

GrownCells grow_cells(const Rows& scaled, std::size_t most, std::uint64_t seed,
                      std::size_t memory_bytes, const Progress& progress,
                      std::span<const std::size_t> follow) {
    return Growth(scaled, most, seed, memory_bytes, progress, follow).run();
}

}  // namespace mercer
