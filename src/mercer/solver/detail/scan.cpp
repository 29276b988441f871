#include "mercer/solver/detail/scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/solver/detail/scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "mercer/base/detail/simd_targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr double endless = std::numeric_limits<double>::infinity();
constexpr std::size_t most_lanes = 8;

/// Vectors of a kind D of doubles from arrays that have an element for each variable.
template <class D, bool kAll>
struct Reader {
    using Places = hn::RebindToSigned<D>;
    using Single = hn::Rebind<float, D>;

    const std::size_t* some;

    HWY_INLINE std::size_t at(std::size_t k) const { return kAll ? k : some[k]; }
    HWY_INLINE hn::Vec<Places> places(const std::size_t* from) const {
        return hn::LoadU(Places(), reinterpret_cast<const std::int64_t*>(from));
    }
    HWY_INLINE hn::Vec<D> operator()(const double* from, std::size_t k) const {
        if constexpr (kAll) {
            return hn::LoadU(D(), from + k);
        } else {
            return hn::GatherIndex(D(), from, places(some + k));
        }
    }
    /// Elements of an array of floats.
    HWY_INLINE hn::Vec<D> operator()(const float* from, std::size_t k) const {
        if constexpr (kAll) {
            return hn::PromoteTo(D(), hn::LoadU(Single(), from + k));
        } else {
            HWY_ALIGN float few[most_lanes];
            for (std::size_t l = 0; l < hn::Lanes(D()); ++l) few[l] = from[some[k + l]];
            return hn::PromoteTo(D(), hn::LoadU(Single(), few));
        }
    }
    /// Elements of an array by the rows of the variables.
    HWY_INLINE hn::Vec<D> by_row(const double* from, const std::size_t* row, std::size_t k) const {
        if constexpr (kAll) {
            return hn::GatherIndex(D(), from, places(row + k));
        } else {
            HWY_ALIGN std::size_t rows[most_lanes];
            for (std::size_t l = 0; l < hn::Lanes(D()); ++l) rows[l] = row[some[k + l]];
            return hn::GatherIndex(D(), from, places(rows));
        }
    }
    HWY_INLINE void write(hn::Vec<D> v, double* to, std::size_t k) const {
        if constexpr (kAll) {
            hn::StoreU(v, D(), to + k);
        } else {
            HWY_ALIGN double few[most_lanes];
            hn::StoreU(v, D(), few);
            for (std::size_t l = 0; l < hn::Lanes(D()); ++l) to[some[k + l]] = few[l];
        }
    }
    HWY_INLINE void write(hn::Vec<D> v, float* to, std::size_t k) const {
        const auto single = hn::DemoteTo(Single(), v);
        if constexpr (kAll) {
            hn::StoreU(single, Single(), to + k);
        } else {
            HWY_ALIGN float few[most_lanes];
            hn::StoreU(single, Single(), few);
            for (std::size_t l = 0; l < hn::Lanes(D()); ++l) to[some[k + l]] = few[l];
        }
    }
};

using Wide = hn::CappedTag<double, most_lanes>;
using One = hn::CappedTag<double, 1>;

/// body(reader, k) for whole vectors of the range, then one by one.
template <bool kAll, class Body>
HWY_INLINE void each(const ScanRange& range, Body&& body) {
    const std::size_t lanes = hn::Lanes(Wide());
    std::size_t k = range.first;
    for (; k + lanes <= range.last; k += lanes) body(Wide(), Reader<Wide, kAll>{range.some}, k);
    for (; k < range.last; ++k) body(One(), Reader<One, kAll>{range.some}, k);
}

template <bool kAll>
void gradient_over(const ScanRange& range, const GradientParts& parts, double* gradient) {
    each<kAll>(range, [&](auto, const auto& read, std::size_t k) HWY_ATTR {
        const auto v = read.by_row(parts.v, parts.row, k);
        read.write(hn::MulAdd(read(parts.sign, k), v, read(parts.p, k)), gradient, k);
    });
}

template <bool kAll>
GroupExtremes extremes_over(const ScanRange& range, const double* gradient, const float* up,
                            const float* down) {
    const Wide wide;
    auto least = hn::Set(wide, endless), largest = hn::Set(wide, -endless);
    auto sum = hn::Zero(wide), count = hn::Zero(wide);
    GroupExtremes rest{endless, -endless};
    const std::size_t lanes = hn::Lanes(wide);
    std::size_t k = range.first;
    const Reader<Wide, kAll> read{range.some};
    for (; k + lanes <= range.last; k += lanes) {
        const auto g = read(gradient, k), no_up = read(up, k), no_down = read(down, k);
        least = hn::Min(least, hn::Add(g, no_up));
        largest = hn::Max(largest, hn::Sub(g, no_down));
        const auto free = hn::Eq(hn::Add(no_up, no_down), hn::Zero(wide));
        sum = hn::Add(sum, hn::IfThenElseZero(free, g));
        count = hn::Add(count, hn::IfThenElseZero(free, hn::Set(wide, 1.0)));
    }
    for (; k < range.last; ++k) {
        const std::size_t i = read.at(k);
        if (up[i] == 0) rest.least_growing = std::min(rest.least_growing, gradient[i]);
        if (down[i] == 0) rest.largest_falling = std::max(rest.largest_falling, gradient[i]);
        if (up[i] == 0 && down[i] == 0) {
            rest.free_sum += gradient[i];
            rest.free_count += 1;
        }
    }
    return {std::min(rest.least_growing, hn::GetLane(hn::MinOfLanes(wide, least))),
            std::max(rest.largest_falling, hn::GetLane(hn::MaxOfLanes(wide, largest))),
            rest.free_sum + hn::GetLane(hn::SumOfLanes(wide, sum)),
            rest.free_count + hn::GetLane(hn::SumOfLanes(wide, count))};
}

/// Writes the scores above 0 of variables not yet taken, with these, from `to` on; returns what
/// follows them. Every place is written and only some are kept: a branch would be guessed wrong
/// half of the time.
template <bool kAll, class D>
HWY_INLINE Violator* append(D d, const ScanRange& range, std::size_t k, hn::Vec<D> score,
                            std::span<const char> taken, Violator* to) {
    if (hn::AllFalse(d, hn::Gt(score, hn::Zero(d)))) return to;
    HWY_ALIGN double scores[most_lanes];
    hn::StoreU(score, d, scores);
    for (std::size_t l = 0; l < hn::Lanes(d); ++l) {
        const std::size_t i = kAll ? k + l : range.some[k + l];
        *to = {scores[l], i};
        to +=
            static_cast<std::ptrdiff_t>(scores[l] > 0) & static_cast<std::ptrdiff_t>(taken[i] == 0);
    }
    return to;
}

template <bool kAll>
void violators_over(const ScanRange& range, std::span<const double> gradient, const ShutWays& shut,
                    std::span<const char> taken, double above, double below,
                    std::vector<Violator>& grow, std::vector<Violator>& fall) {
    const std::size_t grown = grow.size(), fallen = fall.size();
    const std::size_t room = range.last - range.first + 1;  // one more is written than is kept
    grow.resize(grown + room);
    fall.resize(fallen + room);
    Violator* to_grow = grow.data() + grown;
    Violator* to_fall = fall.data() + fallen;
    each<kAll>(range, [&](auto d, const auto& read, std::size_t k) HWY_ATTR {
        const auto g = read(gradient.data(), k);
        const auto up = hn::Sub(hn::Sub(hn::Set(d, above), g), read(shut.up.data(), k));
        const auto down = hn::Sub(hn::Sub(g, hn::Set(d, below)), read(shut.down.data(), k));
        to_grow = append<kAll>(d, range, k, up, taken, to_grow);
        to_fall = append<kAll>(d, range, k, down, taken, to_fall);
    });
    grow.resize(static_cast<std::size_t>(to_grow - grow.data()));
    fall.resize(static_cast<std::size_t>(to_fall - fall.data()));
}

template <bool kAll>
std::size_t quiet_over(const ScanRange& range, std::span<const double> gradient,
                       const ShutWays& shut, double low, double high, float rounds, float* quiet) {
    std::size_t fewer = 0;
    each<kAll>(range, [&](auto d, const auto& read, std::size_t k) HWY_ATTR {
        const auto zero = hn::Zero(d);
        const auto g = read(gradient.data(), k);
        const auto no_up = read(shut.up.data(), k), no_down = read(shut.down.data(), k);
        const auto falls_not = hn::And(hn::Gt(no_down, zero), hn::Gt(g, hn::Set(d, high)));
        const auto grows_not = hn::And(hn::Gt(no_up, zero), hn::Lt(g, hn::Set(d, low)));
        const auto neither = hn::And(hn::Gt(no_up, zero), hn::Gt(no_down, zero));
        const auto stuck = hn::Or(neither, hn::Or(falls_not, grows_not));
        const auto more = hn::Add(read(quiet, k), hn::Set(d, 1.0));
        const auto counted = hn::IfThenElseZero(stuck, more);
        read.write(counted, quiet, k);
        fewer += hn::CountTrue(d, hn::Lt(counted, hn::Set(d, static_cast<double>(rounds))));
    });
    return fewer;
}

template <bool kAll>
double gap_over(const ScanRange& range, const double* gradient, const double* u,
                const double* lower, const double* upper, double multiplier) {
    const auto part = [&](auto d, const auto& read, std::size_t k) HWY_ATTR {
        const auto rho = hn::Sub(read(gradient, k), hn::Set(d, multiplier));
        const auto at = read(u, k);
        const auto room = hn::IfThenElse(hn::Gt(rho, hn::Zero(d)), hn::Sub(at, read(lower, k)),
                                         hn::Sub(read(upper, k), at));
        const auto none = hn::Eq(hn::Min(hn::Abs(rho), room), hn::Zero(d));
        return hn::IfThenZeroElse(none, hn::Mul(hn::Abs(rho), room));
    };
    const Wide wide;
    const std::size_t lanes = hn::Lanes(wide);
    auto sum = hn::Zero(wide);
    std::size_t k = range.first;
    for (; k + lanes <= range.last; k += lanes) {
        sum = hn::Add(sum, part(wide, Reader<Wide, kAll>{range.some}, k));
    }
    double all = hn::GetLane(hn::SumOfLanes(wide, sum));
    for (; k < range.last; ++k) {
        all += hn::GetLane(part(One(), Reader<One, kAll>{range.some}, k));
    }
    return all;
}

void gradient_all(const ScanRange& range, const GradientParts& parts, double* gradient) {
    range.some == nullptr ? gradient_over<true>(range, parts, gradient)
                          : gradient_over<false>(range, parts, gradient);
}
GroupExtremes extremes_all(const ScanRange& range, const double* gradient, const float* up,
                           const float* down) {
    return range.some == nullptr ? extremes_over<true>(range, gradient, up, down)
                                 : extremes_over<false>(range, gradient, up, down);
}
void violators_all(const ScanRange& range, std::span<const double> gradient, const ShutWays& shut,
                   std::span<const char> taken, double above, double below,
                   std::vector<Violator>& grow, std::vector<Violator>& fall) {
    range.some == nullptr
        ? violators_over<true>(range, gradient, shut, taken, above, below, grow, fall)
        : violators_over<false>(range, gradient, shut, taken, above, below, grow, fall);
}
std::size_t quiet_all(const ScanRange& range, std::span<const double> gradient,
                      const ShutWays& shut, double low, double high, float rounds, float* quiet) {
    return range.some == nullptr
               ? quiet_over<true>(range, gradient, shut, low, high, rounds, quiet)
               : quiet_over<false>(range, gradient, shut, low, high, rounds, quiet);
}
double gap_all(const ScanRange& range, const double* gradient, const double* u, const double* lower,
               const double* upper, double multiplier) {
    return range.some == nullptr ? gap_over<true>(range, gradient, u, lower, upper, multiplier)
                                 : gap_over<false>(range, gradient, u, lower, upper, multiplier);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mercer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer {
namespace {

MERCER_SIMD_EXPORT(gradient_all);
MERCER_SIMD_EXPORT(extremes_all);
MERCER_SIMD_EXPORT(violators_all);
MERCER_SIMD_EXPORT(quiet_all);
MERCER_SIMD_EXPORT(gap_all);

}  // namespace

void scan_gradient(const ScanRange& range, const GradientParts& parts, std::span<double> gradient) {
    MERCER_SIMD(gradient_all)(range, parts, gradient.data());
}

GroupExtremes scan_extremes(const ScanRange& range, std::span<const double> gradient,
                            const ShutWays& shut) {
    return MERCER_SIMD(extremes_all)(range, gradient.data(), shut.up.data(), shut.down.data());
}

void scan_violators(const ScanRange& range, std::span<const double> gradient, const ShutWays& shut,
                    std::span<const char> taken, double above, double below,
                    std::vector<Violator>& grow, std::vector<Violator>& fall) {
    MERCER_SIMD(violators_all)(range, gradient, shut, taken, above, below, grow, fall);
}

std::size_t scan_quiet(const ScanRange& range, std::span<const double> gradient,
                       const ShutWays& shut, double low, double high, float rounds,
                       std::span<float> quiet) {
    return MERCER_SIMD(quiet_all)(range, gradient, shut, low, high, rounds, quiet.data());
}

std::vector<std::size_t> marked(std::span<const char> marks) {
    std::vector<std::size_t> places;
    std::size_t i = 0;
    // Eight at a time, the first of them in the lowest byte: most are 0.
    for (std::uint64_t eight; i + sizeof eight <= marks.size(); i += sizeof eight) {
        std::memcpy(&eight, marks.data() + i, sizeof eight);
        if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
        for (; eight != 0; eight &= eight - 1) {
            places.push_back(i + static_cast<std::size_t>(std::countr_zero(eight)) / 8);
        }
    }
    for (; i < marks.size(); ++i) {
        if (marks[i] != 0) places.push_back(i);
    }
    return places;
}

double scan_gap(const ScanRange& range, std::span<const double> gradient, std::span<const double> u,
                std::span<const double> lower, std::span<const double> upper, double multiplier) {
    return MERCER_SIMD(gap_all)(range, gradient.data(), u.data(), lower.data(), upper.data(),
                                multiplier);
}

void keep_best(std::vector<Violator>& list, std::size_t count) {
    if (list.size() <= count) return;
    // What is far below the best is sorted out by a count of scores in bins.
    constexpr std::size_t bins = 64;
    if (list.size() > 4 * count) {
        double best = 0;
        for (const Violator& c : list) best = std::max(best, c.score);
        const double scale = static_cast<double>(bins - 1) / best;
        const auto bin = [scale](const Violator& c) {
            return static_cast<std::size_t>(c.score * scale);
        };
        std::array<std::uint32_t, bins> number{};
        if (scale < std::numeric_limits<double>::infinity()) {
            for (const Violator& c : list) ++number[bin(c)];
            std::size_t least = bins, above = 0;
            while (above < count) above += number[--least];
            std::size_t kept = 0;
            for (std::size_t k = 0; k < list.size(); ++k) {
                const Violator c = list[k];
                list[kept] = c;
                kept += bin(c) >= least ? 1 : 0;
            }
            list.resize(kept);
        }
    }
    if (list.size() <= count) return;
    std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count), list.end());
    list.resize(count);
}

}  // namespace mercer
#endif  // HWY_ONCE
