// Kernel k-means in the span of some rows, by passes over all of them. With the features φ(x) of
// the span (learn/detail/centre_span.hpp) and centres μ_c of the span,
//
//     ‖Φ(x) − μ_c‖² = k(x, x) − 2 φ(x)·μ_c + ‖μ_c‖²
//
// under the kernel itself, and among the points of the span Σ w_i ‖Φ(x_i) − μ‖² is least at the
// mean of the φ(x_i). So Lloyd's two steps on φ lower J under k, over centres of the span.
#include "mercer/learn/groups/detail/kmeans_span.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/dist/detail/one_rank.hpp"
#include "mercer/feature/expansion.hpp"
#include "mercer/learn/detail/centre_span.hpp"
#include "mercer/learn/passes/detail/span_products.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/linear/detail/incomplete_cholesky.hpp"

namespace mercer {
namespace {

/// Starts are tried on so many rows, which all ranks have.
std::vector<std::size_t> rows_of_starts(std::size_t rows, const KMeansSettings& settings) {
    constexpr std::size_t few = 4096, many = 16'384;
    const std::size_t count = std::max(std::clamp(100 * settings.clusters, few, many),
                                       std::min(rows, 2 * settings.clusters));
    std::vector<std::size_t> all(rows);
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (count >= rows) return all;
    Random(settings.common.seed, 2).shuffle(std::span(all));
    all.resize(count);
    std::ranges::sort(all);
    return all;
}

/// A row that lies far from its centre.
struct FarRow {
    double distance = 0;
    double weight = 0;
    std::uint64_t place = 0;  ///< among the rows of all ranks
    std::uint64_t cluster = 0;
};

class SpanLloyd {
   public:
    SpanLloyd(const KMeansSettings& settings, const Run& run, const SpanSample& sample,
              const CentreSpan<float>& span)
        : settings_(settings),
          run_(run),
          sample_(sample),
          span_(span),
          products_(span, sample, settings.common.progress),
          cluster_(sample.size(), settings.clusters),
          distance_(sample.size()) {}

    SpanGrouping solve() {
        Checkpoint checkpoint(sample_.leaves, fingerprint());
        if (const auto state = checkpoint.load()) {
            take_up(*state);
        } else {
            found_.means = first_means();
        }
        Matrix<double> next = found_.means;
        try {
            while (pass(next)) {
                if (found_.history.size() >= settings_.passes) {
                    found_.status = FitStatus::iteration_limit;
                    break;
                }
                checkpoint.save(state(next));
                if (!run_.goes_on({"groups", -1})) throw Cancelled();
            }
        } catch (const Cancelled&) {  // the centres measured last are whole
            if (found_.history.empty()) throw;
            found_.status = FitStatus::cancelled;
        }
        return std::move(found_);
    }

   private:
    std::size_t clusters() const { return settings_.clusters; }
    std::size_t centres() const { return span_.size(); }
    Communicator& ranks() const { return sample_.leaves.ranks(); }

    std::string fingerprint() const {
        const double weights = sample_.leaves.sum([&](std::size_t i) { return sample_.weight(i); });
        const std::vector<double> numbers{weights, static_cast<double>(clusters()),
                                          static_cast<double>(settings_.starts),
                                          static_cast<double>(settings_.common.seed)};
        return products_.fingerprint() + " groups " +
               fingerprint_of({numbers.data(), 1, numbers.size()});
    }
    CheckpointState state(const Matrix<double>& next) const {
        CheckpointState now{.numbers = {found_.starts_passes, static_cast<double>(found_.start),
                                        static_cast<double>(found_.refilled)},
                            .by_rows = true,
                            .rows = {cluster_.begin(), cluster_.end()}};
        now.numbers.insert(now.numbers.end(), next.values().begin(), next.values().end());
        now.numbers.insert(now.numbers.end(), found_.history.begin(), found_.history.end());
        return now;
    }
    void take_up(const CheckpointState& state) {
        const std::size_t size = clusters() * centres();
        if (state.numbers.size() < 3 + size || state.rows.size() != cluster_.size()) {
            throw InvalidInput("the checkpoint does not have the numbers of this machine");
        }
        found_.starts_passes = state.numbers[0];
        found_.start = static_cast<std::size_t>(state.numbers[1]);
        found_.refilled = static_cast<std::size_t>(state.numbers[2]);
        const auto means = state.numbers.begin() + 3;
        found_.means = Matrix<double>(clusters(), centres());
        std::copy_n(means, size, found_.means.values().begin());
        found_.history.assign(means + static_cast<std::ptrdiff_t>(size), state.numbers.end());
        for (std::size_t i = 0; i < cluster_.size(); ++i) {
            cluster_[i] = static_cast<std::size_t>(state.rows[i]);
        }
    }

    /// The centres of the best start, on the features of some rows.
    Matrix<double> first_means() {
        const auto places = rows_of_starts(sample_.leaves.rows(), settings_);
        const Rows rows = sample_.gather(places);
        std::vector<float> features(rows.size() * centres());
        span_.features(span_.gram().prepare(rows), {features.data(), rows.size(), centres()});
        bool stopped = false;
        KMeansSettings own = settings_;
        own.common.kernel = linear();
        own.common.scaling = {};
        own.common.double_precision = false;
        own.common.time_limit = 0;
        own.common.progress = [&](const Moment& moment) {
            stopped = stopped || !keep_going(settings_.common.progress, moment);
            return !stopped;
        };
        Dataset data;
        data.x = Rows::dense(std::move(features), centres());
        std::vector<double> weights;
        for (std::size_t i = 0; i < sample_.size(); ++i) weights.push_back(sample_.weight(i));
        data.weights = sample_.leaves.gather(weights, places);
        const Model model = alone(kmeans(own), data);
        if (stopped) throw Cancelled();
        found_.starts_passes = static_cast<double>(model.report().iterations);
        found_.start = static_cast<std::size_t>(model.report().figures.at("start"));
        Matrix<double> means = weight_vectors(model.expansion());  // 2 μ
        for (double& value : means.values()) value /= 2;
        ranks().broadcast(std::span(means.values()));
        return means;
    }

    /// What every rank does by itself.
    static Model alone(const KMeans& machine, const Dataset& data) {
        const std::unique_ptr<Communicator> one = one_rank();
        const SpreadOver here(*one);
        return machine.fit(data);
    }

    /// Joins each row to the nearest of these centres, which then become the means of their rows.
    /// False once nothing moves any more.
    bool pass(Matrix<double>& means) {
        const std::size_t k = clusters(), m = centres();
        Matrix<double> beta = means;
        backward_solve(span_.factor(), beta.view());
        std::vector<double> squares;
        for (std::size_t c = 0; c < k; ++c) squares.push_back(dot(means.row(c), means.row(c)));
        std::vector<double> totals(k * m + k + 2);  // Σ w k_i and Σ w of each; J; rows that moved
        sample_.leaves.sum(
            [&](std::size_t begin, std::size_t end, std::span<double> total) {
                products_.kernel_blocks(begin, end,
                                        [&](std::size_t first, const Points<float>& points,
                                            MatrixView<const float> values) {
                                            add_block(first, points, values, beta, squares, total);
                                        });
            },
            totals);
        const double objective = totals[k * m + k];
        if (!std::isfinite(objective)) {
            throw InvalidInput("the kernel takes values that are not finite");
        }
        const bool lower = found_.history.empty() || objective < found_.history.back();
        found_.means = means;
        found_.sizes.assign(totals.begin() + static_cast<std::ptrdiff_t>(k * m),
                            totals.begin() + static_cast<std::ptrdiff_t>(k * m + k));
        found_.history.push_back(lower ? objective : found_.history.back());
        const bool refilled = refill(totals);
        char goes_on = refilled || (totals.back() > 0 && lower) ? 1 : 0;
        ranks().broadcast(std::span(&goes_on, 1));
        if (goes_on == 0) return false;
        for (std::size_t c = 0; c < k; ++c) {
            const double weight = totals[k * m + c];
            for (std::size_t j = 0; weight > 0 && j < m; ++j) {
                means(c, j) = totals[c * m + j] / weight;
            }
            if (weight > 0) forward_solve(span_.factor(), means.view().block(c, 0, 1, m));
        }
        ranks().broadcast(std::span(means.values()));
        return true;
    }

    void add_block(std::size_t first, const Points<float>& points, MatrixView<const float> values,
                   const Matrix<double>& beta, std::span<const double> squares,
                   std::span<double> total) {
        const std::size_t k = clusters(), m = centres(), count = values.rows;
        std::vector<double> own(count);
        span_.gram().diagonal(points, own);
        std::vector<double> moved(count, 0.0);
        constexpr std::size_t rows_at_once = 256;
        parallel_ranges(count, rows_at_once, [&](std::size_t from, std::size_t to) {
            Matrix<double> exact(to - from, m), scores(to - from, k);
            for (std::size_t i = from; i < to; ++i) {
                std::ranges::copy(values.row(i), exact.row(i - from).begin());
            }
            multiply_transposed(std::as_const(exact).view(), beta.view(), scores.view());
            for (std::size_t i = from; i < to; ++i) {
                std::size_t best = 0;
                const auto off = [&](std::size_t c) {
                    return squares[c] - 2 * scores(i - from, c);
                };
                for (std::size_t c = 1; c < k; ++c) {
                    if (off(c) < off(best)) best = c;
                }
                moved[i] = cluster_[first + i] == best ? 0 : 1;
                cluster_[first + i] = best;
                distance_[first + i] = std::max(own[i] + off(best), 0.0);
            }
        });
        parallel_ranges(m, 64, [&](std::size_t from, std::size_t to) {
            for (std::size_t i = 0; i < count; ++i) {
                double* const sum = total.data() + cluster_[first + i] * m;
                const double weight = sample_.weight(first + i);
                for (std::size_t j = from; j < to; ++j) {
                    sum[j] += weight * static_cast<double>(values(i, j));
                }
            }
        });
        for (std::size_t i = 0; i < count; ++i) {
            const double weight = sample_.weight(first + i);
            total[k * m + cluster_[first + i]] += weight;
            total[k * m + k] += weight * distance_[first + i];
            total[k * m + k + 1] += moved[i];
        }
    }

    /// A centre without rows takes the one that is farthest from its own, which only lowers J.
    bool refill(std::vector<double>& totals) {
        const std::size_t k = clusters(), m = centres();
        std::vector<std::size_t> empty;
        for (std::size_t c = 0; c < k; ++c) {
            if (!(totals[k * m + c] > 0)) empty.push_back(c);
        }
        if (empty.empty()) return false;
        const std::vector<FarRow> far = farthest(empty.size());
        const std::size_t before_all = found_.refilled;
        for (std::size_t e = 0; e < std::min(empty.size(), far.size()); ++e) {
            const FarRow& row = far[e];
            double& left = totals[k * m + row.cluster];
            if (!(left > row.weight) || !(row.distance > 0)) continue;  // it has its centre alone
            const std::size_t place = row.place;
            const Rows rows = sample_.gather({&place, 1});
            Matrix<float> values(1, m);
            span_.gram().block(span_.gram().prepare(rows), span_.gram().reference(), values.view());
            for (std::size_t j = 0; j < m; ++j) {
                const double part = row.weight * static_cast<double>(values(0, j));
                totals[row.cluster * m + j] -= part;
                totals[empty[e] * m + j] = part;
            }
            left -= row.weight;
            totals[k * m + empty[e]] = row.weight;
            ++found_.refilled;
            const std::size_t before = sample_.leaves.before();
            if (place >= before && place < before + cluster_.size()) {
                cluster_[place - before] = empty[e];
            }
        }
        return found_.refilled > before_all;
    }

    /// So many rows of all ranks, or as many as there are, the farthest first.
    std::vector<FarRow> farthest(std::size_t count) const {
        const auto nearer = [](const FarRow& a, const FarRow& b) {
            return a.distance > b.distance || (a.distance == b.distance && a.place < b.place);
        };
        std::vector<FarRow> own;
        for (std::size_t i = 0; i < cluster_.size(); ++i) {
            own.push_back(
                {distance_[i], sample_.weight(i), sample_.leaves.before() + i, cluster_[i]});
            if (own.size() < 4 * count + 1024) continue;
            std::ranges::sort(own, nearer);
            own.resize(count);
        }
        std::ranges::sort(own, nearer);
        own.resize(std::min(count, own.size()));
        std::vector<FarRow> all = ranks().all_gather(std::span<const FarRow>(own));
        std::ranges::sort(all, nearer);
        all.resize(std::min(count, all.size()));
        return all;
    }

    const KMeansSettings& settings_;
    const Run& run_;
    const SpanSample& sample_;
    const CentreSpan<float>& span_;
    SpanProducts products_;
    std::vector<std::size_t> cluster_;  ///< of each row of this rank; as many as clusters: none
    std::vector<double> distance_;      ///< ‖Φ(x_i) − μ‖² of its own
    SpanGrouping found_{};
};

}  // namespace

SpanGrouping group_in_span(const KMeansSettings& settings, const Run& run, const SpanSample& sample,
                           const CentreSpan<float>& span) {
    return SpanLloyd(settings, run, sample, span).solve();
}

}  // namespace mercer
