#include "mercer/solver/detail/state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/solver/detail/certificate.hpp"

namespace mercer {
namespace {

constexpr std::size_t variable_grain = 8192;
/// Of the matrix, summed at the start between two looks at the clock: a fraction of a second.
constexpr std::size_t start_entries = std::size_t{1} << 27;

}  // namespace

template <class T>
DualState<T>::DualState(const SymmetricOperator<T>& k, const CanonicalDual& form,
                        const DualSettings& settings)
    : k_(k),
      form_(form),
      settings_(settings),
      gradient_(form.variables),
      active_(form.variables),
      quiet_(form.variables),
      change_(form.rows),
      touched_(form.rows),
      row_bound_(form.rows) {
    shut_.up.resize(form.variables);
    shut_.down.resize(form.variables);
    std::iota(active_.begin(), active_.end(), std::size_t{0});
    active_rows_ = rows_of(active_);
    note_members();
    for (std::size_t i = 0; i < form.variables; ++i) {
        double& bound = row_bound_[form.row[i]];
        bound = std::max({bound, form.upper[i], -form.lower[i]});
    }
}

template <class T>
std::vector<std::size_t> DualState<T>::rows_of(std::span<const std::size_t> variables) const {
    std::vector<char> seen(form_.rows, 0);
    for (const std::size_t i : variables) seen[form_.row[i]] = 1;
    return marked(seen);
}

/// sums_ = Σ_r weight_r K(which_r, columns).
template <class T>
void DualState<T>::add_product(std::span<const std::size_t> which, std::span<const double> weight,
                               const Columns& columns, const Announcement& again) {
    sums_.assign(columns.size(form_.rows), 0.0);
    k_.add_rows(which, weight, columns, again, sums_);
    asked += which.size() * sums_.size();
    for (std::size_t j = 0; j < sums_.size(); ++j) {
        if (std::isfinite(sums_[j])) continue;
        throw InvalidInput("operator: row " + std::to_string(columns[j]) +
                           " has an entry that is not finite, or so large that sums overflow; "
                           "scale the data or choose other kernel parameters");
    }
}

template <class T>
void DualState<T>::start(std::vector<double> u) {
    u_ = std::move(u);
    v_.assign(form_.rows, 0.0);
    rebuild_beta();
    note_all_ways();
    sum_start();
    activate_every_variable();
}

template <class T>
void DualState<T>::start(std::vector<double> u, std::vector<double> v) {
    u_ = std::move(u);
    v_ = std::move(v);
    rebuild_beta();
    note_all_ways();
    rebuild_objective();
}

template <class T>
void DualState<T>::note_ways(std::size_t i) {
    constexpr float shut = std::numeric_limits<float>::infinity();
    shut_.up[i] = form_.can_grow(i, u_[i]) ? 0 : shut;
    shut_.down[i] = form_.can_fall(i, u_[i]) ? 0 : shut;
}

template <class T>
void DualState<T>::note_all_ways() {
    for (std::size_t i = 0; i < form_.variables; ++i) note_ways(i);
}

/// Lists the active variables of each group, unless all are of one.
template <class T>
void DualState<T>::note_members() {
    for (auto& list : members_) list.clear();
    const auto other = [&](std::uint8_t group) { return group != form_.group.front(); };
    if (form_.general || std::ranges::none_of(form_.group, other)) return;
    for (const std::size_t i : active_) members_[form_.group[i]].push_back(i);
}

template <class T>
ScanRange DualState<T>::members(std::size_t group) const {
    const auto all_of = [](const std::vector<std::size_t>& list) {
        return ScanRange{list.data(), 0, list.size()};
    };
    if (std::ranges::any_of(members_, [](const auto& list) { return !list.empty(); })) {
        return all_of(members_[group]);
    }
    if (form_.general || form_.variables == 0 || form_.group[0] != group) return {};
    return all_active() ? ScanRange{nullptr, 0, form_.variables} : all_of(active_);
}

template <class T>
void DualState<T>::rebuild_beta() {
    beta_.assign(form_.rows, 0.0);
    for (std::size_t i = 0; i < form_.variables; ++i) beta_[form_.row[i]] += form_.sign[i] * u_[i];
}

template <class T>
void DualState<T>::rebuild_objective() {
    // ½ u'Hu + p'u with u'Hu = β'v.
    double quadratic = 0;
    for (std::size_t r = 0; r < form_.rows; ++r) quadratic += beta_[r] * v_[r];
    double linear = 0;
    for (std::size_t i = 0; i < form_.variables; ++i) linear += form_.p[i] * u_[i];
    objective_ = 0.5 * quadratic + linear;
}

template <class T>
typename DualState<T>::Support DualState<T>::support() const {
    Support found;
    for (std::size_t r = 0; r < form_.rows; ++r) {
        if (beta_[r] == 0) continue;
        found.which.push_back(r);
        found.weight.push_back(beta_[r]);
    }
    return found;
}

template <class T>
void DualState<T>::sum_support(const Columns& columns) {
    const Support all = support();
    add_product(all.which, all.weight, columns, std::nullopt);
}

/// The first sums of a start that has many rows already (ν-machines) may take longer than all that
/// comes after, and until they are there nothing can be handed back.
template <class T>
void DualState<T>::sum_start() {
    const Support all = support();
    const std::size_t most = std::max<std::size_t>(256, start_entries / (form_.rows + 1));
    std::vector<double> sums(form_.rows, 0.0);
    for (std::size_t first = 0; first < all.which.size(); first += most) {
        const bool asks = settings_.cancels_start && first > 0;
        if (asks && report(DualMoment{.seconds = seconds()})) throw Cancelled();
        const std::size_t count = std::min(most, all.which.size() - first);
        add_product(std::span(all.which).subspan(first, count),
                    std::span(all.weight).subspan(first, count), Columns::all(), std::nullopt);
        for (std::size_t r = 0; r < sums.size(); ++r) sums[r] += sums_[r];
    }
    v_ = std::move(sums);
}

template <class T>
void DualState<T>::recompute() {
    rebuild_beta();
    sum_support(Columns::all());
    v_.swap(sums_);
    stale_.clear();
    activate_every_variable();
}

template <class T>
void DualState<T>::activate_every_variable() {
    active_.resize(form_.variables);
    std::iota(active_.begin(), active_.end(), std::size_t{0});
    active_rows_ = rows_of(active_);
    note_members();
    rebuild_objective();
}

template <class T>
bool DualState<T>::audit() {
    rebuild_beta();
    const std::size_t count = std::min<std::size_t>(form_.rows, 256);
    std::vector<std::size_t> sample(count);
    for (std::size_t s = 0; s < count; ++s) sample[s] = s * form_.rows / count;
    sum_support(sample);
    for (std::size_t s = 0; s < count; ++s) {
        if (std::abs(sums_[s] - v_[sample[s]]) > 0.01 * settings_.tolerance) return false;
    }
    return true;
}

template <class T>
void DualState<T>::move(std::span<const std::size_t> which, std::span<const double> values) {
    double linear = 0;
    for (std::size_t k = 0; k < which.size(); ++k) {
        const std::size_t i = which[k];
        const double by = values[k] - u_[i];
        linear += by * form_.p[i];
        touched_[form_.row[i]] = 1;
        change_[form_.row[i]] += form_.sign[i] * by;
    }
    std::vector<std::size_t> rows = marked(touched_);
    std::vector<double> weight;
    std::size_t kept = 0;
    for (const std::size_t r : rows) {
        const double by = change_[r];
        change_[r] = 0;
        touched_[r] = 0;
        if (by == 0) continue;  // the two variables of one row may cancel
        rows[kept++] = r;
        weight.push_back(by);
    }
    rows.resize(kept);
    const bool narrow = active_rows_.size() < form_.rows;
    const std::vector<char> again = wanted_again(rows, weight);
    add_product(rows, weight, narrow ? Columns(active_rows_) : Columns::all(), again);
    // Everything is at hand; from here on nothing can fail.
    std::vector<double> before(kept);
    for (std::size_t k = 0; k < kept; ++k) before[k] = v_[rows[k]];
    for (std::size_t j = 0; j < sums_.size(); ++j) {
        v_[narrow ? active_rows_[j] : j] += sums_[j];
    }
    double quadratic = 0;  // ½ Δβ'(v_before + v_after): the exact change of ½ β'Kβ
    for (std::size_t k = 0; k < kept; ++k) {
        quadratic += 0.5 * weight[k] * (before[k] + v_[rows[k]]);
        beta_[rows[k]] += weight[k];
    }
    for (std::size_t k = 0; k < which.size(); ++k) {
        u_[which[k]] = values[k];
        note_ways(which[k]);
    }
    objective_ += quadratic + linear;
}

/// A row moves again as long as its variable is free. Most bounded support vectors go to their
/// bound once and stay.
template <class T>
std::vector<char> DualState<T>::wanted_again(std::span<const std::size_t> rows,
                                             std::span<const double> change) const {
    std::vector<char> again(rows.size());
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const double after = std::abs(beta_[rows[k]] + change[k]);
        again[k] = after > 0 && after < row_bound_[rows[k]] ? 1 : 0;
    }
    return again;
}

template <class T>
void DualState<T>::keep_active(std::vector<std::size_t> variables) {
    active_ = std::move(variables);
    std::vector<std::size_t> rows = rows_of(active_);
    std::vector<std::size_t> left;
    std::set_difference(active_rows_.begin(), active_rows_.end(), rows.begin(), rows.end(),
                        std::back_inserter(left));
    if (!left.empty()) stale_.push_back({std::move(left), beta_});
    active_rows_ = std::move(rows);
    note_members();
}

template <class T>
void DualState<T>::activate_all() {
    std::vector<std::size_t> which;
    std::vector<double> weight;
    while (!stale_.empty()) {
        const Stale& stale = stale_.back();
        which.clear();
        weight.clear();
        for (std::size_t r = 0; r < form_.rows; ++r) {
            if (beta_[r] == stale.beta[r]) continue;
            which.push_back(r);
            weight.push_back(beta_[r] - stale.beta[r]);
        }
        add_product(which, weight, stale.rows, std::nullopt);
        for (std::size_t j = 0; j < stale.rows.size(); ++j) v_[stale.rows[j]] += sums_[j];
        stale_.pop_back();
    }
    activate_every_variable();
}

template <class T>
void DualState<T>::refresh_gradient() {
    const GradientParts parts{form_.row.data(), form_.sign.data(), form_.p.data(), v_.data()};
    const std::size_t* const some = all_active() ? nullptr : active_.data();
    parallel_ranges(active_.size(), variable_grain, [&](std::size_t first, std::size_t last) {
        scan_gradient({some, first, last}, parts, gradient_);
    });
}

template <class T>
std::uint64_t DualState<T>::steps_left() const {
    std::uint64_t limit = settings_.iteration_limit;
    if (limit == 0) limit = std::max<std::uint64_t>(100'000'000, 1000 * form_.variables);
    return limit - std::min(limit, steps);
}

template <class T>
double DualState<T>::seconds() const {
    return clock_.seconds();
}

template <class T>
bool DualState<T>::out_of_time() const {
    return settings_.time_limit > 0 && seconds() >= settings_.time_limit;
}

template <class T>
std::optional<DualStatus> DualState<T>::report(const Measure& at) {
    DualMoment moment;
    if (settings_.progress) {
        moment.iterations = iterations;
        moment.steps = steps;
        moment.objective = objective_;
        moment.violation = at.violation;
        moment.gap = gap(at);
        moment.support = static_cast<std::size_t>(
            std::count_if(u_.begin(), u_.end(), [](double x) { return x != 0; }));
        moment.active = active_.size();
        moment.seconds = seconds();
    }
    return report(moment);
}

template <class T>
std::optional<DualStatus> DualState<T>::report(const DualMoment& moment) const {
    if (settings_.progress && !settings_.progress(moment)) return DualStatus::cancelled;
    if (out_of_time()) return DualStatus::time_limit;
    if (steps_left() == 0) return DualStatus::iteration_limit;
    return std::nullopt;
}

template <class T>
double DualState<T>::recession_tolerance() const {
    if (settings_.recession_tolerance > 0) return settings_.recession_tolerance;
    return std::max<double>(1e-12, static_cast<double>(std::numeric_limits<T>::epsilon()));
}

template class DualState<float>;
template class DualState<double>;

}  // namespace mercer
