#include "mercer/learn/groups/kmeans.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"

namespace mercer {
namespace {

/// What one start came to.
struct Grouping {
    std::vector<std::size_t> cluster{};  ///< of each row
    double objective = std::numeric_limits<double>::infinity();
    std::vector<double> history{};
    std::size_t refilled = 0;
    std::vector<double> square{};  ///< ‖μ‖² of each cluster
    std::vector<double> weight{};
    FitStatus status = FitStatus::iteration_limit;
};

template <class T>
class Search {
   public:
    Search(const KMeansSettings& settings, const Run& run, const Sample& sample,
           const SymmetricOperator<T>& op)
        : settings_(settings),
          run_(run),
          sample_(sample),
          op_(op),
          n_(sample.size()),
          k_(settings.clusters),
          diagonal_(n_),
          block_(std::min<std::size_t>(n_, 128), n_),
          sums_(k_, n_),
          weight_(k_),
          square_(k_) {
        op.diagonal(diagonal_);
    }

    Grouping start(std::size_t number) {
        Random random(settings_.common.seed, number);
        Grouping g;
        g.cluster = seed(random);
        add_all(g.cluster);
        try {
            improve(number, g);
        } catch (const Cancelled&) {  // the groups measured last are whole
            g.status = FitStatus::cancelled;
        }
        return g;
    }

   private:
    /// Moves rows to their nearest centres until none moves. Whenever it throws Cancelled, square
    /// and weight of `g` are those of its clusters.
    void improve(std::size_t number, Grouping& g) {
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
                if (exact) return;
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
        if (!exact) add_all(g.cluster);
        measure(g);
        std::vector<double> own(n_);
        nearest(g.cluster, own);
        g.objective = std::min(g.objective, total(own));
        g.history.push_back(g.objective);
    }

    double distance(std::size_t i, std::size_t c) const {
        return diagonal_[i] - 2 * sums_(c, i) / weight_[c] + square_[c];
    }

    double total(std::span<const double> own) const {
        double sum = 0;
        for (std::size_t i = 0; i < n_; ++i) sum += sample_.weight(i) * own[i];
        return sum;
    }

    /// k-means++: the next centre is a row drawn by its squared distance from the centres so far.
    std::vector<std::size_t> seed(Random& random) {
        std::vector<double> chance(n_);
        for (std::size_t i = 0; i < n_; ++i) chance[i] = sample_.weight(i);
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
                const double d = std::max(
                    0.0, diagonal_[i] - 2 * static_cast<double>(row[i]) + diagonal_[centre]);
                if (d < closest[i]) {
                    closest[i] = d;
                    cluster[i] = c;
                }
                chance[i] = sample_.weight(i) * closest[i];
            }
        }
        // A centre is of its own cluster, whatever rounding says of its distance.
        for (std::size_t c = 0; c < k_; ++c) cluster[chosen[c]] = c;
        return cluster;
    }

    std::size_t draw(const std::vector<double>& chance, const std::vector<std::size_t>& chosen,
                     Random& random) const {
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
    template <class Change>
    void each_row(std::span<const std::size_t> which, Change&& change) {
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

    void add_all(const std::vector<std::size_t>& cluster) {
        std::ranges::fill(sums_.values(), 0.0);
        std::vector<std::size_t> all(n_);
        std::iota(all.begin(), all.end(), std::size_t{0});
        each_row(all, [&](std::size_t j, const auto& add) { add(cluster[j], sample_.weight(j)); });
    }

    void move(const std::vector<std::size_t>& from, const std::vector<std::size_t>& to) {
        std::vector<std::size_t> moved;
        for (std::size_t i = 0; i < n_; ++i) {
            if (from[i] != to[i]) moved.push_back(i);
        }
        each_row(moved, [&](std::size_t j, const auto& add) {
            add(to[j], sample_.weight(j));
            add(from[j], -sample_.weight(j));
        });
    }

    void ask() const {
        if (!keep_going(settings_.common.progress, {"training", -1})) throw Cancelled();
    }

    /// Weight and ‖μ‖² of each cluster.
    void measure(Grouping& g) {
        const std::vector<std::size_t>& cluster = g.cluster;
        std::ranges::fill(weight_, 0.0);
        std::ranges::fill(square_, 0.0);
        for (std::size_t i = 0; i < n_; ++i) {
            weight_[cluster[i]] += sample_.weight(i);
            square_[cluster[i]] += sample_.weight(i) * sums_(cluster[i], i);
        }
        for (std::size_t c = 0; c < k_; ++c) square_[c] /= weight_[c] * weight_[c];
        g.square = square_;
        g.weight = weight_;
    }

    /// The nearest centre of each row, its own when another is only as near; `own` gets the
    /// distances to the present ones.
    std::vector<std::size_t> nearest(const std::vector<std::size_t>& cluster,
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
    void refill(std::vector<std::size_t>& next, const std::vector<double>& own,
                std::size_t& refilled) const {
        std::vector<std::size_t> count(k_, 0);
        for (const std::size_t c : next) ++count[c];
        for (std::size_t c = 0; c < k_; ++c) {
            if (count[c] > 0) continue;
            std::size_t farthest = n_;
            double most = -std::numeric_limits<double>::infinity();
            for (std::size_t i = 0; i < n_; ++i) {
                const double d = sample_.weight(i) * std::min(own[i], distance(i, next[i]));
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

    bool may_go_on(std::size_t number, std::size_t pass, Grouping& g) {
        const double done = (static_cast<double>(number) +
                             static_cast<double>(pass) / static_cast<double>(settings_.passes)) /
                            static_cast<double>(settings_.starts);
        const std::string detail = "start " + std::to_string(number + 1) + "  pass " +
                                   std::to_string(pass + 1) + "  objective " +
                                   std::to_string(g.objective);
        if (run_.goes_on({"training", done, detail})) return true;
        g.status = fit_status(run_);
        return false;
    }

    const KMeansSettings& settings_;
    Run run_;
    const Sample& sample_;
    const SymmetricOperator<T>& op_;
    std::size_t n_;
    std::size_t k_;
    std::vector<double> diagonal_;
    Matrix<T> block_;
    Matrix<double> sums_;  ///< clusters × rows: Σ_{j in c} w_j k(x_j, x_i)
    std::vector<double> weight_;
    std::vector<double> square_;
};

/// With a linear kernel a centre is a point of input space.
void collapse(Expansion& e) {
    Expansion raw = e;
    raw.kernel = linear();
    Matrix<double> centres = weight_vectors(raw);  // of 2 μ
    for (double& v : centres.values()) v /= 2;
    e.points = Rows::dense(std::move(centres.values()), e.points.columns());
    e.coefficients = Matrix<double>(e.outputs(), e.outputs());
    for (std::size_t c = 0; c < e.outputs(); ++c) e.coefficients(c, c) = 2;
}

template <class T>
void train(const KMeansSettings& s, const Sample& sample, ModelParts& model) {
    const Run run = s.common.run();
    const auto gram =
        make_gram<T>(s.common.kernel, sample.x, sample.data.feature_names, s.common.progress);
    const auto op = make_operator(gram, {.reuse = Reuse::whole,
                                         .memory_bytes = s.common.memory_bytes,
                                         .progress = s.common.progress});
    Search<T> search(s, run, sample, *op);
    Grouping best;
    std::size_t best_start = 0;
    std::size_t passes = 0;
    FitStatus status = FitStatus::converged;
    for (std::size_t number = 0; number < s.starts; ++number) {
        Grouping g;
        try {
            g = search.start(number);
        } catch (const Cancelled&) {
            if (best.cluster.empty()) throw;
            status = FitStatus::cancelled;
            break;
        }
        passes += g.history.size();
        const bool stop = g.status == FitStatus::cancelled || g.status == FitStatus::time_limit;
        if (stop) status = g.status;
        if (best.cluster.empty() || g.objective < best.objective) {
            best = std::move(g);
            best_start = number;
        }
        if (stop) break;
    }
    std::vector<double> square = best.square;
    const std::vector<double>& weight = best.weight;
    Matrix<double> coefficients(s.clusters, sample.size());
    for (std::size_t i = 0; i < sample.size(); ++i) {
        coefficients(best.cluster[i], i) = 2 * sample.weight(i) / weight[best.cluster[i]];
    }
    Matrix<double> sizes(s.clusters, 1);
    for (std::size_t c = 0; c < s.clusters; ++c) {
        sizes(c, 0) = weight[c];
        square[c] = -square[c];
    }
    set_expansion(model, sample, gram.kernel(), coefficients, std::move(square), -1);
    constexpr std::size_t most_centre_bytes = std::size_t{1} << 28;
    if (is_linear(gram.kernel()) &&
        sample.x.columns() <= most_centre_bytes / sizeof(double) / s.clusters) {
        collapse(model.expansion);
        model.origins.clear();
    }
    add_table(model, "sizes", std::move(sizes));
    Report report;
    report.status = status == FitStatus::converged ? best.status : status;
    report.rows = sample.size();
    report.primal = best.objective;
    report.free_support_vectors = model.expansion.size();
    report.iterations = passes;
    report.kernel_evaluations = op->evaluations();
    report.figures["objective"] = best.objective;
    report.figures["passes"] = static_cast<double>(best.history.size());
    report.figures["start"] = static_cast<double>(best_start);
    report.figures["refilled"] = static_cast<double>(best.refilled);
    report.history = std::move(best.history);
    report.seconds = run.seconds();
    model.reports = {std::move(report)};
}

}  // namespace

namespace {

const Describe<KMeansSettings>& kmeans_settings() {
    static const auto settings = [] {
        using S = KMeansSettings;
        Describe<S> d;
        d.add(&S::clusters, "clusters", "how many groups", Range::at_least(1));
        d.add(&S::starts, "starts", "the best of so many is kept", Range::at_least(1));
        d.add(&S::passes, "passes", "over the data, at most", Range::at_least(1));
        return d;
    }();
    return settings;
}

Model learn(const KMeansSettings& settings, const Dataset& data) {
    const KMeansSettings& s = settings;
    kmeans_settings().check(s);
    const Sample sample = take_sample(Task::kmeans, data, s.common);
    if (s.clusters > sample.size()) {
        throw InvalidInput("clusters = " + std::to_string(s.clusters) + " must be at most " +
                           std::to_string(sample.size()) + ", the number of rows");
    }
    ModelParts model = begin_model(Task::kmeans, sample, s.common);
    model.trained.numbers["clusters"] = static_cast<double>(s.clusters);
    model.trained.numbers["starts"] = static_cast<double>(s.starts);
    if (s.common.double_precision) {
        train<double>(s, sample, model);
    } else {
        train<float>(s, sample, model);
    }
    return Model(std::move(model));
}

}  // namespace

Model KMeans::fit(const Dataset& data) const {
    return patient_fit(task(), settings_, data, learn);
}

MachineEntry kmeans_entry() {
    return kmeans_settings().entry({.task = Task::kmeans,
                                    .name = "k-means",
                                    .family = "groups",
                                    .learns = Learns::groups,
                                    .about = "groups about means in feature space"},
                                   kmeans);
}

}  // namespace mercer
