#include "mercer/solver/detail/working_set.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"

namespace mercer {
namespace {

constexpr std::size_t variable_grain = 4096;

/// Violators by the way they want to go: for each group (or all together, when the equalities are
/// general) one list that grows and one that falls.
struct Violators {
    std::array<std::vector<Violator>, 3> grow;
    std::array<std::vector<Violator>, 3> fall;
};

/// Of the groups, each found by itself.
template <class T>
void find_in_groups(const DualState<T>& state, const Measure& measure, std::span<const char> taken,
                    Violators& found) {
    for (std::size_t g = 0; g < 3; ++g) {
        const ScanRange all = state.members(g);
        const double above = g == 0 ? 0 : measure.largest_falling[g];
        const double below = g == 0 ? 0 : measure.least_growing[g];
        struct Lists {
            std::vector<Violator> grow, fall;
        };
        std::vector<Lists> parts((all.last - all.first + variable_grain - 1) / variable_grain);
        parallel_ranges(
            all.last - all.first, variable_grain, [&](std::size_t first, std::size_t last) {
                Lists& lists = parts[first / variable_grain];
                scan_violators({all.some, all.first + first, all.first + last}, state.gradient(),
                               state.shut(), taken, above, below, lists.grow, lists.fall);
            });
        if (parts.size() == 1) {
            found.grow[g] = std::move(parts[0].grow);
            found.fall[g] = std::move(parts[0].fall);
            continue;
        }
        for (const Lists& part : parts) {
            found.grow[g].insert(found.grow[g].end(), part.grow.begin(), part.grow.end());
            found.fall[g].insert(found.fall[g].end(), part.fall.begin(), part.fall.end());
        }
    }
}

template <class T>
Violators violators(const DualState<T>& state, const Measure& measure,
                    std::span<const char> taken) {
    Violators found;
    if (!state.form().general) {
        find_in_groups(state, measure, taken, found);
        return found;
    }
    const CanonicalDual& form = state.form();
    for (const std::size_t i : state.active()) {
        if (taken[i] != 0) continue;
        const double g = state.gradient()[i];
        const double up = form.can_grow(i, state.u()[i]) ? measure.growing(form, i, g) : 0;
        const double down = form.can_fall(i, state.u()[i]) ? measure.falling(form, i, g) : 0;
        if (up > 0) found.grow[form.group[i]].push_back({up, i});
        if (down > 0) found.fall[form.group[i]].push_back({down, i});
    }
    return found;
}

}  // namespace

template <class T>
void mark_most_violating(const DualState<T>& state, const Measure& measure, std::size_t count,
                         std::span<char> marks) {
    Violators lists = violators(state, measure, marks);
    std::size_t groups = 0;
    for (std::size_t g = 0; g < 3; ++g)
        groups += lists.grow[g].empty() && lists.fall[g].empty() ? 0 : 1;
    for (std::size_t k = 0; k < measure.direction.count; ++k) {
        marks[measure.direction.index[k]] = 1;
    }
    for (std::size_t g = 0; g < 3; ++g) {
        const std::size_t share =
            std::max<std::size_t>(2, count / std::max<std::size_t>(groups, 1));
        // A side that is short leaves its places to the other.
        const std::size_t grow = std::max(share / 2, share - std::min(share, lists.fall[g].size()));
        keep_best(lists.grow[g], grow);
        keep_best(lists.fall[g], share - std::min(share, lists.grow[g].size()));
        // A free variable may stand in both lists.
        for (const auto* list : {&lists.grow[g], &lists.fall[g]}) {
            for (const Violator& c : *list) marks[c.index] = 1;
        }
    }
}

template <class T>
void WorkingSet<T>::begin(const CanonicalDual& form) {
    if (form_ != nullptr && taken_.size() != form.variables) forget();
    form_ = &form;
    taken_.assign(form.variables, 0);
}

template <class T>
void WorkingSet<T>::forget() {
    tile_.variable.clear();
    tile_.size = 0;
}

template <class T>
std::vector<std::size_t> WorkingSet<T>::choose(const DualState<T>& state, const Measure& measure,
                                               std::size_t size) {
    if (state.active().size() <= size) return state.active();
    std::vector<char> active(state.all_active() ? 0 : form_->variables, 0);
    if (!active.empty()) {
        for (const std::size_t i : state.active()) active[i] = 1;
    }
    std::vector<std::size_t> chosen, bounded;
    for (const std::size_t i : tile_.variable) {
        if (i == no_variable || (!active.empty() && active[i] == 0)) continue;
        (form_->is_free(i, state.u()[i]) ? chosen : bounded).push_back(i);
    }
    const std::size_t keep = size / 2;
    if (chosen.size() > keep) {
        // More free variables than there is room for: those that are least settled stay.
        std::vector<Violator> scored;
        for (const std::size_t i : chosen) {
            const double g = state.gradient()[i];
            scored.push_back(
                {std::max(measure.growing(*form_, i, g), measure.falling(*form_, i, g)), i});
        }
        keep_best(scored, keep);
        chosen.clear();
        for (const Violator& c : scored) chosen.push_back(c.index);
    }
    for (const std::size_t i : bounded) {
        if (chosen.size() >= keep) break;
        chosen.push_back(i);
    }
    for (const std::size_t i : chosen) taken_[i] = 1;
    mark_most_violating<T>(state, measure, size - chosen.size(), taken_);
    chosen = marked(taken_);
    for (const std::size_t i : chosen) taken_[i] = 0;
    return chosen;
}

/// Puts the newcomers of each group where others have left; false when there is too little room.
template <class T>
bool WorkingSet<T>::place_in_gaps(const std::vector<std::size_t>& chosen) {
    for (const std::size_t i : chosen) taken_[i] = 1;
    std::array<std::vector<std::size_t>, 3> gaps;
    for (std::size_t g = 0; g < 3; ++g) {
        for (std::size_t k = tile_.first[g]; k < tile_.first[g + 1]; ++k) {
            const std::size_t i = tile_.variable[k];
            if (i != no_variable && taken_[i] != 0) {
                taken_[i] = 0;  // has its place already
            } else {
                gaps[g].push_back(k);
            }
        }
    }
    std::array<std::size_t, 3> needed{};
    for (const std::size_t i : chosen) needed[form_->group[i]] += taken_[i] != 0 ? 1 : 0;
    bool fits = true;
    for (std::size_t g = 0; g < 3; ++g) fits = fits && needed[g] <= gaps[g].size();
    if (fits) {
        fresh_.clear();
        for (const auto& places : gaps) {
            for (const std::size_t k : places) tile_.variable[k] = no_variable;
        }
        std::array<std::size_t, 3> next{};
        for (const std::size_t i : chosen) {
            if (taken_[i] == 0) continue;
            const std::size_t g = form_->group[i];
            const std::size_t place = gaps[g][next[g]++];
            tile_.variable[place] = i;
            fresh_.push_back(place);
        }
    }
    for (const std::size_t i : chosen) taken_[i] = 0;
    return fits;
}

/// Begins a new tile: groups one after another, each filled up to whole lanes, with some room for
/// one group to grow at the other's expense.
template <class T>
void WorkingSet<T>::lay_out(const std::vector<std::size_t>& chosen, std::size_t size) {
    std::array<std::size_t, 3> count{};
    for (const std::size_t i : chosen) ++count[form_->group[i]];
    const bool single = std::count(count.begin(), count.end(), std::size_t{0}) == 2;
    tile_.variable.clear();
    fresh_.clear();
    for (std::size_t g = 0; g < 3; ++g) {
        tile_.first[g] = tile_.variable.size();
        for (const std::size_t i : chosen) {
            if (form_->group[i] != g) continue;
            fresh_.push_back(tile_.variable.size());
            tile_.variable.push_back(i);
        }
        const bool may_grow =
            chosen.size() < form_->variables && (count[g] > 0 || g <= form_->equalities);
        const std::size_t room = !may_grow                ? 0
                                 : single && count[g] > 0 ? size - count[g]
                                                          : size / 8;
        tile_.variable.resize(tile_.variable.size() + room, no_variable);
        while (tile_.variable.size() % tile_lanes != 0) tile_.variable.push_back(no_variable);
    }
    tile_.size = tile_.first[3] = tile_.variable.size();
    tile_.stride = odd_stride(tile_.size);
    // What stands there from before is overwritten, or belongs to places without a variable.
    if (tile_.h.size() < tile_.size * tile_.stride) tile_.h.resize(tile_.size * tile_.stride);
}

template <class T>
void WorkingSet<T>::fill_vectors(const DualState<T>& state) {
    const std::size_t q = tile_.size;
    tile_.equalities = form_->equalities;
    for (auto* vector : {&tile_.gradient, &tile_.u, &tile_.lower, &tile_.upper, &tile_.diagonal}) {
        vector->assign(q, 0.0);
    }
    tile_.column.assign(form_->general ? q : 0, {});
    for (std::size_t k = 0; k < q; ++k) {
        const std::size_t i = tile_.variable[k];
        if (i == no_variable) continue;
        tile_.gradient[k] = state.gradient()[i];
        tile_.u[k] = state.u()[i];
        tile_.lower[k] = form_->lower[i];
        tile_.upper[k] = form_->upper[i];
        if (form_->general) tile_.column[k] = form_->column[i];
        const auto diagonal = static_cast<double>(tile_.row(k)[k]);
        if (!std::isfinite(diagonal)) {
            throw InvalidInput("operator: the diagonal entry of row " +
                               std::to_string(form_->row[i]) + " is not finite");
        }
        tile_.diagonal[k] = diagonal;
    }
}

/// Rows and columns of the newcomers. Places without a variable get some row's entries: nothing
/// there can move, so the values do not matter, and the request stays one rectangle.
template <class T>
void WorkingSet<T>::fill_matrix(const SymmetricOperator<T>& k) {
    const std::size_t q = tile_.size;
    const std::size_t fresh = fresh_.size();
    if (fresh == 0) return;
    std::vector<std::size_t> columns(q), which(fresh);
    std::vector<T> sign(q);
    for (std::size_t a = 0; a < q; ++a) {
        const std::size_t i =
            tile_.variable[a] != no_variable ? tile_.variable[a] : tile_.variable[fresh_[0]];
        columns[a] = form_->row[i];
        sign[a] = static_cast<T>(form_->sign[i]);
    }
    for (std::size_t x = 0; x < fresh; ++x) which[x] = columns[fresh_[x]];
    const std::size_t stride = tile_.stride;
    rows_.resize(fresh * stride);
    k.tile(which, columns, MatrixView<T>(rows_.data(), fresh, q, stride));
    parallel_ranges(fresh, 64, [&](std::size_t first, std::size_t last) {
        for (std::size_t x = first; x < last; ++x) {
            T* from = rows_.data() + x * stride;
            T* to = tile_.row(fresh_[x]);
            const T own = sign[fresh_[x]];
            for (std::size_t b = 0; b < q; ++b) to[b] = from[b] *= own * sign[b];
        }
    });
    // Columns of the rows that stay: 16 newcomers at a time, so that the lines they are read from
    // and the line they are written to are still at hand when the next row of the tile comes.
    std::vector<char> is_fresh(q, 0);
    for (const std::size_t place : fresh_) is_fresh[place] = 1;
    std::vector<std::size_t> stay;
    for (std::size_t b = 0; b < q; ++b) {
        if (is_fresh[b] == 0 && tile_.variable[b] != no_variable) stay.push_back(b);
    }
    parallel_ranges(stay.size(), 64, [&](std::size_t first, std::size_t last) {
        for (std::size_t x = 0; x < fresh; x += 16) {
            const std::size_t end = std::min(fresh, x + 16);
            for (const std::size_t b : std::span(stay).subspan(first, last - first)) {
                const T* from = rows_.data() + b;
                T* to = tile_.row(b);
                for (std::size_t y = x; y < end; ++y) to[fresh_[y]] = from[y * stride];
            }
        }
    });
}

template <class T>
void WorkingSet<T>::prepare(const DualState<T>& state, const Measure& measure, std::size_t size) {
    const std::vector<std::size_t> chosen = choose(state, measure, size);
    // A tile that has become far too large for what is left is given up as well.
    const bool suits = chosen.size() <= tile_.size && 2 * chosen.size() + 64 > tile_.size;
    if (!suits || !place_in_gaps(chosen)) lay_out(chosen, size);
    fill_matrix(state.matrix());
    fill_vectors(state);
}

template class WorkingSet<float>;
template class WorkingSet<double>;
template void mark_most_violating<float>(const DualState<float>&, const Measure&, std::size_t,
                                         std::span<char>);
template void mark_most_violating<double>(const DualState<double>&, const Measure&, std::size_t,
                                          std::span<char>);

}  // namespace mercer
