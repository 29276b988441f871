#include "mercer/learn/groups/detail/kernel_lloyd.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/groups/detail/group_sums.hpp"
#include "mercer/solver/weights/detail/explicit_products.hpp"

namespace mercer {
namespace {

/// What kernel values of single precision are good to.
constexpr double value_precision = 1e-6;

}  // namespace

template <class T>
KernelLloyd<T>::KernelLloyd(const KMeansSettings& settings, const Run& run,
                            std::span<const double> weights, const SymmetricOperator<T>& op,
                            std::optional<ExplicitRows<T>> features, std::optional<Gram<T>> engine)
    : settings_(settings),
      run_(run),
      row_weight_(weights),
      op_(op),
      n_(weights.size()),
      k_(settings.clusters),
      diagonal_(n_),
      sums_(k_, n_),
      weight_(k_),
      square_(k_),
      features_(std::move(features)),
      engine_(std::move(engine)) {
    op.diagonal(diagonal_);
    // 128 rows, and of very many rows fewer: 32 MiB of kernel values are enough for one product.
    constexpr std::size_t most_values = (std::size_t{32} << 20) / sizeof(T);
    const std::size_t rows = std::clamp<std::size_t>(most_values / n_, 16, 128);
    block_ = Matrix<T>(features_ ? 1 : std::min(n_, rows), n_);
    if (features_) means_ = Matrix<double>(k_, features_->columns);
}

template <class T>
Grouping KernelLloyd<T>::start(std::size_t number) {
    Random random(settings_.common.seed, number);
    Grouping g;
    g.cluster = seed(random);
    add_all(g.cluster);
    run_to_end(number, g);
    return g;
}

template <class T>
Grouping KernelLloyd<T>::start_from(std::size_t number, std::span<const std::size_t> rows,
                                    std::span<const std::size_t> groups) {
    std::vector<std::size_t> group_of(n_, k_);
    for (std::size_t r = 0; r < rows.size(); ++r) group_of[rows[r]] = groups[r];
    std::ranges::fill(sums_.values(), 0.0);
    std::ranges::fill(means_.values(), 0.0);
    const auto add_own = [&](std::size_t j, const auto& add) { add(group_of[j], row_weight_[j]); };
    each_row(rows, add_own);
    std::ranges::fill(weight_, 0.0);
    std::ranges::fill(square_, 0.0);
    for (const std::size_t i : rows) {
        weight_[group_of[i]] += row_weight_[i];
        square_[group_of[i]] += row_weight_[i] * sums_(group_of[i], i);
    }
    for (std::size_t c = 0; c < k_; ++c) square_[c] /= weight_[c] * weight_[c];
    // The sums of the rows themselves are there; the others join them where they are nearest.
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < n_; ++i) {
        if (group_of[i] < k_) continue;
        others.push_back(i);
        group_of[i] = 0;
        for (std::size_t c = 1; c < k_; ++c) {
            if (distance(i, c) < distance(i, group_of[i])) group_of[i] = c;
        }
    }
    Grouping g;
    if (engine_) {
        add_all(group_of);  // each pair once, though those with the given rows were had already
    } else {
        each_row(others, add_own);
    }
    g.cluster = std::move(group_of);
    run_to_end(number, g);
    return g;
}

template <class T>
void KernelLloyd<T>::run_to_end(std::size_t number, Grouping& g) {
    try {
        improve(number, g);
    } catch (const Cancelled&) {  // the groups measured last are whole
        g.status = FitStatus::cancelled;
    }
}

/// Moves rows to their nearest centres until none moves. Whenever it throws Cancelled, square
/// and weight of `g` are those of its clusters.
template <class T>
void KernelLloyd<T>::improve(std::size_t number, Grouping& g) {
    bool exact = true;
    std::vector<std::size_t> before = g.cluster;
    for (std::size_t pass = 0; pass < settings_.passes;) {
        measure(g);
        std::vector<double> own(n_);
        std::vector<std::size_t> next = nearest(g.cluster, own);
        const double objective = total(own);
        if (!std::isfinite(objective)) {
            throw InvalidInput("the kernel takes values that are not finite");
        }
        if (!g.history.empty() && objective > g.objective + 1e-7 * std::abs(g.objective)) {
            // Only a kernel that is not positive definite has distances that do this.
            Grouping back = g;
            back.cluster = before;
            add_all(back.cluster);
            measure(back);
            back.status = FitStatus::stalled;
            g = std::move(back);
            return;
        }
        g.objective = std::min(g.objective, objective);
        g.history.push_back(g.objective);
        refill(next, own, g.refilled);
        if (next == g.cluster) {
            g.status = FitStatus::converged;
            if (exact || sums_hold(g)) return;
            // Sums kept up to date by additions are made anew before the end is believed.
            add_all(g.cluster);
            exact = true;
            g.history.pop_back();
            continue;
        }
        if (!may_go_on(number, pass, g)) return;
        move(g.cluster, next);
        exact = false;
        before = std::move(g.cluster);
        g.cluster = std::move(next);
        measure(g);
        ++pass;
    }
    g.status = FitStatus::iteration_limit;
    if (!exact && !sums_hold(g)) add_all(g.cluster);
    measure(g);
    std::vector<double> own(n_);
    nearest(g.cluster, own);
    g.objective = std::min(g.objective, total(own));
    g.history.push_back(g.objective);
}

template <class T>
double KernelLloyd<T>::distance(std::size_t i, std::size_t c) const {
    return diagonal_[i] - 2 * sums_(c, i) / weight_[c] + square_[c];
}

template <class T>
double KernelLloyd<T>::total(std::span<const double> own) const {
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) sum += row_weight_[i] * own[i];
    return sum;
}

/// k-means++: the next centre is a row drawn by its squared distance from the centres so far.
template <class T>
std::vector<std::size_t> KernelLloyd<T>::seed(Random& random) {
    std::vector<double> chance(row_weight_.begin(), row_weight_.end());
    std::vector<double> closest(n_, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> cluster(n_, 0);
    std::vector<std::size_t> chosen;
    for (std::size_t c = 0; c < k_; ++c) {
        const std::size_t centre = draw(chance, chosen, random);
        chosen.push_back(centre);
        ask();
        op_.rows({&centre, 1}, block_.view().block(0, 0, 1, n_));
        const std::span<const T> row = block_.row(0);
        for (std::size_t i = 0; i < n_; ++i) {
            const double d =
                std::max(0.0, diagonal_[i] - 2 * static_cast<double>(row[i]) + diagonal_[centre]);
            if (d < closest[i]) {
                closest[i] = d;
                cluster[i] = c;
            }
            chance[i] = row_weight_[i] * closest[i];
        }
    }
    // A centre is of its own cluster, whatever rounding says of its distance.
    for (std::size_t c = 0; c < k_; ++c) cluster[chosen[c]] = c;
    return cluster;
}

template <class T>
std::size_t KernelLloyd<T>::draw(const std::vector<double>& chance,
                                 const std::vector<std::size_t>& chosen, Random& random) const {
    const auto is_free = [&](std::size_t i) {
        return std::ranges::find(chosen, i) == chosen.end();
    };
    const double sum = std::accumulate(chance.begin(), chance.end(), 0.0);
    double point = random.uniform() * sum;
    for (std::size_t i = 0; i < n_ && sum > 0; ++i) {
        point -= chance[i];
        if (point < 0 && is_free(i)) return i;
    }
    // All rows left coincide with centres: any will do.
    std::size_t i = random.below(n_);
    while (!is_free(i)) i = (i + 1) % n_;
    return i;
}

/// sums(to, ·) += weight K(row, ·) and the like, for the rows of `which`, a block at a time.
template <class T>
template <class Change>
void KernelLloyd<T>::each_row(std::span<const std::size_t> which, Change&& change) {
    if (features_) return each_feature_row(which, change);
    for (std::size_t first = 0; first < which.size(); first += block_.rows()) {
        const std::size_t count = std::min(block_.rows(), which.size() - first);
        ask();
        const auto part = which.subspan(first, count);
        op_.rows(part, block_.view().block(0, 0, count, n_));
        parallel_ranges(n_, 2048, [&](std::size_t begin, std::size_t end) {
            for (std::size_t r = 0; r < count; ++r) {
                const T* const row = block_.row(r).data();
                change(part[r], [&](std::size_t c, double factor) {
                    double* const sum = sums_.row(c).data();
                    for (std::size_t i = begin; i < end; ++i) {
                        sum[i] += factor * static_cast<double>(row[i]);
                    }
                });
            }
        });
    }
}

/// The same through the means: they follow the rows, and the sums are their products with all.
template <class T>
template <class Change>
void KernelLloyd<T>::each_feature_row(std::span<const std::size_t> which, Change&& change) {
    ask();
    const ExplicitRows<T>& rows = *features_;
    for (const std::size_t j : which) {
        const std::size_t begin = rows.is_sparse() ? rows.starts[j] : j * rows.columns;
        const std::size_t end = rows.is_sparse() ? rows.starts[j + 1] : begin + rows.columns;
        change(j, [&](std::size_t c, double factor) {
            double* const mean = means_.row(c).data();
            for (std::size_t a = begin; a < end; ++a) {
                const std::size_t k = rows.is_sparse() ? rows.index[a] : a - begin;
                mean[k] += factor * static_cast<double>(rows.values[a]);
            }
        });
    }
    for (std::size_t c = 0; c < k_; ++c) {
        multiply_rows(rows, std::span<const double>(means_.row(c)), sums_.row(c));
    }
}

template <class T>
void KernelLloyd<T>::add_all(const std::vector<std::size_t>& cluster) {
    if (engine_) {
        evaluations_ += group_sums(
            *engine_, cluster, row_weight_, [this] { ask(); }, sums_.view());
        return;
    }
    std::ranges::fill(sums_.values(), 0.0);
    std::ranges::fill(means_.values(), 0.0);
    std::vector<std::size_t> all(n_);
    std::iota(all.begin(), all.end(), std::size_t{0});
    each_row(all, [&](std::size_t j, const auto& add) { add(cluster[j], row_weight_[j]); });
}

template <class T>
void KernelLloyd<T>::move(const std::vector<std::size_t>& from,
                          const std::vector<std::size_t>& to) {
    std::vector<std::size_t> moved;
    for (std::size_t i = 0; i < n_; ++i) {
        if (from[i] != to[i]) moved.push_back(i);
    }
    each_row(moved, [&](std::size_t j, const auto& add) {
        add(to[j], row_weight_[j]);
        add(from[j], -row_weight_[j]);
    });
}

/// Compares the sums of 256 rows, spread evenly, with fresh ones: those of all would cost as much
/// as the first pass did. By whole rows, as an operator that keeps rows fetches no parts of them.
template <class T>
bool KernelLloyd<T>::sums_hold(const Grouping& g) {
    constexpr std::size_t most = 256;
    if (features_ || n_ < 64 * most) return false;  // computed anew at once
    std::vector<std::size_t> looked_at(most);
    for (std::size_t s = 0; s < most; ++s) looked_at[s] = s * n_ / most;
    const double scale =
        *std::ranges::max_element(diagonal_, {}, [](double d) { return std::abs(d); });
    std::vector<char> holds(most, 0);
    for (std::size_t first = 0; first < most; first += block_.rows()) {
        const std::size_t count = std::min(block_.rows(), most - first);
        ask();
        op_.rows(std::span(looked_at).subspan(first, count), block_.view().block(0, 0, count, n_));
        parallel_for(count, [&](std::size_t r) {
            const std::span<const T> row = block_.row(r);
            std::vector<double> fresh(k_, 0.0);
            for (std::size_t i = 0; i < n_; ++i) {
                fresh[g.cluster[i]] += row_weight_[i] * static_cast<double>(row[i]);
            }
            bool good = true;
            for (std::size_t c = 0; c < k_; ++c) {
                const double off = std::abs(fresh[c] - sums_(c, looked_at[first + r])) / weight_[c];
                good = good && off <= value_precision * std::abs(scale);
            }
            holds[first + r] = good ? 1 : 0;
        });
    }
    return std::ranges::find(holds, 0) == holds.end();
}

template <class T>
void KernelLloyd<T>::ask() const {
    const Moment moment{.task = "training", .fraction = -1, .needs = seconds_to_keep(k_, n_)};
    if (!keep_going(settings_.common.progress, moment)) throw Cancelled();
}

/// Weight and ‖μ‖² of each cluster.
template <class T>
void KernelLloyd<T>::measure(Grouping& g) {
    const std::vector<std::size_t>& cluster = g.cluster;
    std::ranges::fill(weight_, 0.0);
    std::ranges::fill(square_, 0.0);
    for (std::size_t i = 0; i < n_; ++i) {
        weight_[cluster[i]] += row_weight_[i];
        square_[cluster[i]] += row_weight_[i] * sums_(cluster[i], i);
    }
    for (std::size_t c = 0; c < k_; ++c) square_[c] /= weight_[c] * weight_[c];
    g.square = square_;
    g.weight = weight_;
}

/// The nearest centre of each row, its own when another is only as near; `own` gets the
/// distances to the present ones.
template <class T>
std::vector<std::size_t> KernelLloyd<T>::nearest(const std::vector<std::size_t>& cluster,
                                                 std::vector<double>& own) const {
    std::vector<std::size_t> next = cluster;
    parallel_ranges(n_, 1024, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            own[i] = distance(i, cluster[i]);
            // Rounding must not send rows to and fro between centres that are equally near.
            double least = own[i] - 1e-9 * std::abs(diagonal_[i]);
            for (std::size_t c = 0; c < k_; ++c) {
                if (const double d = distance(i, c); d < least) {
                    least = d;
                    next[i] = c;
                }
            }
        }
    });
    return next;
}

/// Every empty cluster gets the row farthest from the centre it has now.
template <class T>
void KernelLloyd<T>::refill(std::vector<std::size_t>& next, const std::vector<double>& own,
                            std::size_t& refilled) const {
    std::vector<std::size_t> count(k_, 0);
    for (const std::size_t c : next) ++count[c];
    for (std::size_t c = 0; c < k_; ++c) {
        if (count[c] > 0) continue;
        std::size_t farthest = n_;
        double most = -std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < n_; ++i) {
            const double d = row_weight_[i] * std::min(own[i], distance(i, next[i]));
            if (count[next[i]] > 1 && d > most) {
                most = d;
                farthest = i;
            }
        }
        --count[next[farthest]];
        next[farthest] = c;
        count[c] = 1;
        ++refilled;
    }
}

template <class T>
bool KernelLloyd<T>::may_go_on(std::size_t number, std::size_t pass, Grouping& g) {
    const double done = (static_cast<double>(number) +
                         static_cast<double>(pass) / static_cast<double>(settings_.passes)) /
                        static_cast<double>(settings_.starts);
    const std::string detail = "start " + std::to_string(number + 1) + "  pass " +
                               std::to_string(pass + 1) + "  objective " +
                               std::to_string(g.objective);
    if (run_.goes_on({.task = "training",
                      .fraction = done,
                      .detail = detail,
                      .needs = seconds_to_keep(k_, n_)})) {
        return true;
    }
    g.status = fit_status(run_);
    return false;
}

template class KernelLloyd<float>;
template class KernelLloyd<double>;

}  // namespace mercer
