#include "mercer/feature/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/kernel/detail/leaf.hpp"
#include "mercer/kernel/detail/node.hpp"

namespace mercer {
namespace {

constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
/// Beyond so many points within rounding of one another blocks are believed: they tell nothing
/// apart.
constexpr std::size_t most_doubtful = 2000;

struct Candidate {
    double score = 0;
    std::uint32_t index = 0;

    friend bool operator<(const Candidate& a, const Candidate& b) {
        return a.score != b.score ? a.score < b.score : a.index < b.index;
    }
};

/// How far a value of a block may be off, relative to the values it is made of.
template <class T>
constexpr T doubt = std::is_same_v<T, float> ? T(1e-5) : T(1e-12);

/// The kernel is a function of two rows of numbers that can be evaluated by itself.
bool is_plain(const Kernel& kernel, const Rows& points) {
    return !points.is_sparse() && points.objects().empty() && points.columns() > 0 &&
           !contains_if(kernel.node(), [](const KernelNode& part) {
               return part.kind == KernelKind::center || part.kind == KernelKind::precomputed ||
                      (part.leaf != nullptr && is_object_leaf(*part.leaf));
           });
}

/// The points that can be among the `count` nearest, from one row of a block. A value v of it says
/// that the score lies within doubt (|k(z,z)| + 2 |v|) of k(z,z) − 2 v: whoever's least possible
/// score is above the count-th smallest of the largest possible ones is not among them.
template <class T>
class Sieve {
   public:
    Sieve(std::span<const T> own, std::size_t count) : own_(own), count_(count) {}

    void take(std::span<const T> values, std::uint32_t skip) {
        highest_.clear();
        kept_.clear();
        limit_ = std::numeric_limits<T>::infinity();
        const std::size_t n = values.size();
        for (std::size_t first = 0; first < n; first += step) {
            const std::size_t last = std::min(first + step, n);
            T least = std::numeric_limits<T>::infinity();
            for (std::size_t j = first; j < last; ++j) {
                const T low = low_of(own_[j], values[j]);
                least = low < least ? low : least;
            }
            if (!(least <= limit_)) continue;
            for (std::size_t j = first; j < last; ++j) {
                if (j != skip) offer(static_cast<std::uint32_t>(j), own_[j], values[j]);
            }
        }
        std::erase_if(kept_, [&](const Kept& c) { return c.low > limit_; });
    }

    /// By their scores as the block has them, ascending positions.
    std::vector<Candidate> candidates() const {
        std::vector<Candidate> result;
        result.reserve(kept_.size());
        for (const Kept& c : kept_) result.push_back({static_cast<double>(c.score), c.index});
        return result;
    }

   private:
    static constexpr std::size_t step = 64;
    struct Kept {
        T low;
        T score;
        std::uint32_t index;
    };

    static T low_of(T own, T value) {
        return own - 2 * value - doubt<T> * (std::abs(own) + 2 * std::abs(value));
    }

    void offer(std::uint32_t j, T own, T value) {
        const T low = low_of(own, value);
        if (!(low <= limit_)) return;
        const T score = own - 2 * value;
        kept_.push_back({low, score, j});
        const T high = score + doubt<T> * (std::abs(own) + 2 * std::abs(value));
        if (highest_.size() == count_) {
            if (!(high < limit_)) return;
            std::ranges::pop_heap(highest_);
            highest_.back() = high;
        } else {
            highest_.push_back(high);
        }
        std::ranges::push_heap(highest_);
        if (highest_.size() < count_) return;
        limit_ = highest_.front();
        if (kept_.size() > 8 * count_ + 256) {
            std::erase_if(kept_, [&](const Kept& c) { return c.low > limit_; });
        }
    }

    std::span<const T> own_;
    std::size_t count_;
    T limit_ = 0;
    std::vector<T> highest_{};  ///< a heap of the `count_` smallest
    std::vector<Kept> kept_{};
};

/// One engine with its points made ready, in one precision.
template <class T>
struct Engine {
    Gram<T> gram;
    Points<T> points;
    std::vector<double> own{};  ///< k(z, z)
    std::vector<T> own_rounded{};

    Engine(const Kernel& kernel, const Rows& rows, const Rows& reference,
           std::span<const std::string> names)
        : gram(kernel, reference.size() > 0 ? reference : rows, names),
          points(reference.size() > 0 ? gram.prepare(rows) : gram.reference()),
          own(rows.size()) {
        gram.diagonal(points, own);
        own_rounded.assign(own.begin(), own.end());
    }
};

}  // namespace

struct NeighbourSearch::State {
    Rows points{};
    Rows reference{};
    std::vector<std::string> names{};
    Kernel kernel = linear();
    bool plain = false;
    std::optional<Engine<float>> single{};
    std::optional<Engine<double>> twice{};
    std::vector<double> own{};  ///< k(z, z), by the formula where it is plain
};

namespace {

/// Measures candidates again by the formula and puts the nearest first. False: the block was
/// further off than it may be.
template <class T>
bool measure(const Kernel& kernel, const Rows& points, std::span<const double> own,
             std::span<const double> x, std::vector<double>& z, std::vector<Candidate>& all) {
    z.resize(points.columns());
    for (Candidate& c : all) {
        points.copy_row(c.index, z);
        const double value = kernel(x, z);
        const double score = own[c.index] - 2 * value;
        const double bound = doubt<T> * (std::abs(own[c.index]) + 2 * std::abs(value));
        if (!(std::abs(score - c.score) <= bound)) return false;
        c.score = score;
    }
    return true;
}

void write_nearest(std::vector<Candidate>& all, std::size_t row, Neighbours& out) {
    const std::size_t count = out.count();
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
    for (std::size_t r = 0; r < count; ++r) {
        out.index(row, r) = all[r].index;
        out.score(row, r) = all[r].score;
    }
}

}  // namespace

NeighbourSearch::NeighbourSearch(const Kernel& kernel, const Rows& points, const Rows& reference,
                                 std::span<const std::string> names, bool double_precision) {
    auto state = std::make_shared<State>();
    state->points = points;
    state->reference = reference;
    state->kernel = resolve(kernel, reference.size() > 0 ? reference : points, names);
    state->plain = is_plain(state->kernel, points);
    if (points.size() >= nobody) {
        throw InvalidInput("neighbours are sought among at most 4294967294 points");
    }
    const bool use_single = state->plain && !double_precision && !points.is_double();
    if (use_single) {
        state->single.emplace(state->kernel, points, reference, names);
    } else {
        state->twice.emplace(state->kernel, points, reference, names);
    }
    state->own = use_single ? state->single->own : state->twice->own;
    if (state->plain) {
        parallel_ranges(points.size(), 256, [&](std::size_t first, std::size_t last) {
            std::vector<double> z(points.columns());
            for (std::size_t i = first; i < last; ++i) {
                points.copy_row(i, z);
                state->own[i] = state->kernel(z, z);
            }
        });
    }
    state_ = std::move(state);
}

std::size_t NeighbourSearch::size() const {
    return state_->points.size();
}

const Kernel& NeighbourSearch::kernel() const {
    return state_->kernel;
}

namespace {

/// All points by the formula.
template <class State>
std::vector<Candidate> measure_all(const State& s, std::span<const double> x, std::uint32_t skip,
                                   std::vector<double>& z) {
    std::vector<Candidate> all;
    z.resize(s.points.columns());
    for (std::uint32_t j = 0; j < s.points.size(); ++j) {
        if (j == skip) continue;
        s.points.copy_row(j, z);
        all.push_back({s.own[j] - 2 * s.kernel(x, z), j});
    }
    return all;
}

/// Gives the candidates of row i of the band their true scores. False: that takes blocks in double
/// precision.
template <class T, class State>
bool settle(const State& s, const Rows& band, std::size_t i, std::uint32_t skip,
            std::vector<double>& row, std::vector<double>& z, std::vector<Candidate>& all,
            std::size_t count) {
    constexpr bool last_word = std::is_same_v<T, double>;
    if (all.size() > count + most_doubtful) return last_word;
    band.copy_row(i, row);
    if (measure<T>(s.kernel, s.points, s.own, row, z, all)) return true;
    if (last_word) all = measure_all(s, row, skip, z);
    return last_word;
}

/// The rows at `which` of x. Rows whose block was not to be believed are added to `again`.
template <class T, class State>
void search_band(const State& s, const Engine<T>& engine, const Rows& x,
                 std::span<const std::size_t> which, bool skip_own, Matrix<T>& values,
                 Neighbours& out, std::vector<std::size_t>& again) {
    const std::size_t n = s.points.size();
    const Rows band = x.select(which);
    // Points of the engine know more than their numbers (which row of a matrix they stand for).
    const auto prepared =
        skip_own ? engine.gram.select(engine.points, which, false) : engine.gram.prepare(band);
    engine.gram.block(prepared, engine.points, values.view().block(0, 0, which.size(), n));
    std::vector<unsigned char> failed(which.size(), 0);
    parallel_ranges(which.size(), 4, [&](std::size_t begin, std::size_t end) {
        Sieve<T> sieve(engine.own_rounded, out.count());
        std::vector<double> row(x.columns()), z;
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t skip = skip_own ? static_cast<std::uint32_t>(which[i]) : nobody;
            sieve.take(values.row(i), skip);
            std::vector<Candidate> all = sieve.candidates();
            if (all.size() < out.count()) {
                throw InvalidInput("the kernel " + s.kernel.text() +
                                   " takes values that are not finite");
            }
            if (s.plain && !settle<T>(s, band, i, skip, row, z, all, out.count())) {
                failed[i] = 1;
                continue;
            }
            write_nearest(all, which[i], out);
        }
    });
    for (std::size_t i = 0; i < which.size(); ++i) {
        if (failed[i] != 0) again.push_back(which[i]);
    }
}

template <class T, class State>
std::vector<std::size_t> search_all(const State& s, const Engine<T>& engine, const Rows& x,
                                    std::span<const std::size_t> rows, bool skip_own,
                                    Neighbours& out, const Progress& progress) {
    std::vector<std::size_t> again;
    // A band of rows stays near the processor: some megabytes of values.
    const std::size_t band = std::clamp<std::size_t>(
        (std::size_t{8} << 20) / sizeof(T) / std::max<std::size_t>(s.points.size(), 1), 32, 1024);
    Matrix<T> values(std::min(band, rows.size()), s.points.size());
    for (std::size_t first = 0; first < rows.size(); first += band) {
        const double done = static_cast<double>(first) / static_cast<double>(rows.size());
        if (!keep_going(progress, {"neighbours", done})) throw Cancelled();
        search_band(s, engine, x, rows.subspan(first, std::min(band, rows.size() - first)),
                    skip_own, values, out, again);
    }
    return again;
}

template <class State>
Neighbours search(const State& s, const Rows& x, std::size_t count, bool skip_own,
                  const Progress& progress) {
    const std::size_t there = s.points.size() - (skip_own && s.points.size() > 0 ? 1 : 0);
    if (count == 0 || count > there) {
        throw InvalidInput("neighbours = " + std::to_string(count) + " must be from 1 to " +
                           std::to_string(there) + ", the number of points there are");
    }
    if (x.columns() < s.points.columns()) {
        return search(s, x.widened(s.points.columns()), count, skip_own, progress);
    }
    Neighbours out{.index = Matrix<std::uint32_t>(x.size(), count),
                   .score = Matrix<double>(x.size(), count)};
    std::vector<std::size_t> rows(x.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    if (s.single) rows = search_all(s, *s.single, x, rows, skip_own, out, progress);
    if (rows.empty()) return out;
    std::optional<Engine<double>> own;
    if (!s.twice) own.emplace(s.kernel, s.points, s.reference, s.names);
    search_all(s, own ? *own : *s.twice, x, rows, skip_own, out, progress);
    return out;
}

}  // namespace

Neighbours NeighbourSearch::operator()(const Rows& x, std::size_t count,
                                       const Progress& progress) const {
    return search(*state_, x, count, false, progress);
}

Neighbours NeighbourSearch::among(std::size_t count, const Progress& progress) const {
    return search(*state_, state_->points, count, true, progress);
}

std::vector<double> NeighbourSearch::squared_lengths() const {
    return state_->own;
}

std::vector<double> NeighbourSearch::squared_lengths(const Rows& x) const {
    const State& s = *state_;
    std::vector<double> own(x.size());
    if (s.plain && x.columns() == s.points.columns()) {
        std::vector<double> row(x.columns());
        for (std::size_t i = 0; i < x.size(); ++i) {
            x.copy_row(i, row);
            own[i] = s.kernel(row, row);
        }
        return own;
    }
    const Gram<double> gram =
        make_gram<double>(s.kernel, s.reference.size() > 0 ? s.reference : s.points);
    gram.diagonal(gram.prepare(x), own);
    return own;
}

Matrix<double> squared_distances(const Neighbours& found, std::span<const double> own) {
    Matrix<double> result = found.score;
    for (std::size_t i = 0; i < result.rows(); ++i) {
        for (double& d : result.row(i)) d = std::max(0.0, d + own[i]);
    }
    return result;
}

}  // namespace mercer
