#include "mercer/select/detail/shared_search.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>

#include "mercer/base/detail/buffer.hpp"
#include "mercer/base/detail/row_sums.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/svm/detail/fit_plan.hpp"
#include "mercer/select/detail/block_operator.hpp"
#include "mercer/select/detail/chains.hpp"
#include "mercer/select/detail/distance_store.hpp"
#include "mercer/solver/detail/path.hpp"

namespace mercer {
namespace {

/// Rows from which on a problem is asked now and then whether it should stop.
constexpr std::size_t large_problem = 10'000;

/// One problem of one fold: its rows as places in the store.
struct Problem {
    std::size_t fold = 0;
    std::size_t number = 0;             ///< among those of the fold
    std::vector<std::size_t> places{};  ///< of its rows
    Subproblem base{};                  ///< with C = 1
};

/// A held-out row: where it lies, and which of its fold it is.
struct Held {
    std::size_t place = 0;
    std::size_t row = 0;
};

template <class T>
class SharedSearch {
   public:
    explicit SharedSearch(const Evaluation& e)
        : e_(e), budget_(budget_of(e)), truth_(e.space.task().task, e.data, e.positive) {
        order_rows();
        plan_problems();
        chains_ = make_chains(e_, truth_);
        for (const auto& chain : chains_) steps_ += chain->points.size() * problems_.size();
        make_stores();
        spare_.reserve(budget_.at_once);  // so that to give one back cannot fail
    }

    bool run() {
        const KeepBuffers keep_buffers;
        const std::size_t stores = stores_.size();
        const std::size_t units = chains_.size() * stores;
        const std::size_t n = e_.data.size();
        // Enough problems that no thread waits for the last, and no more memory than that takes:
        // touching new pages costs more than the exponentials written to them.
        const std::size_t enough = threads() == 1 ? 1 : 8 * threads();
        const std::size_t each = std::max<std::size_t>(problems_.size() / stores, 1);
        const std::size_t together =
            std::clamp<std::size_t>((enough + each - 1) / each, 1,
                                    std::min(budget_.kernels, std::max<std::size_t>(units, 1)));
        std::vector<LargeBuffer> matrices;
        for (std::size_t k = 0; k < together; ++k) matrices.emplace_back(n * n * sizeof(T));
        for (std::size_t first = 0; first < units && !stopped_; first += together) {
            const std::size_t count = std::min(together, units - first);
            std::vector<Work> work;
            for (std::size_t k = 0; k < count; ++k) {
                Chain& chain = *chains_[(first + k) / stores];
                const std::size_t store = (first + k) % stores;
                const MatrixView<T> matrix(matrices[k].template as<T>(), n, n);
                prepare(chain);
                stores_[store].fill(chain.kernel, matrix);
                for (std::size_t p = 0; p < problems_.size(); ++p) {
                    if (stores == 1 || problems_[p].fold == store) {
                        work.push_back({&chain, &problems_[p], p, matrix});
                    }
                }
            }
            // The largest first: none is left for one thread alone to finish.
            std::ranges::stable_sort(work, std::ranges::greater(),
                                     [](const Work& w) { return w.problem->places.size(); });
            parallel_for(
                work.size(), [&](std::size_t w) { solve_all(work[w]); }, budget_.at_once);
        }
        return !stopped_;
    }

   private:
    struct Work {
        Chain* chain;
        const Problem* problem;
        std::size_t number;
        MatrixView<T> matrix;
    };
    /// Rows by class and by fold of the first drawing, so that those of a problem lie together.
    void order_rows() {
        const std::size_t n = e_.data.size();
        std::vector<std::size_t> fold(n, 0);
        for (std::size_t f = e_.folds.size(); f-- > 0;) {
            for (const std::size_t i : e_.folds[f].test) fold[i] = f;
        }
        order_.resize(n);
        std::iota(order_.begin(), order_.end(), 0);
        const auto& index = truth_.classes().index;
        std::ranges::stable_sort(order_, {}, [&](std::size_t i) {
            return std::pair(index.empty() ? 0 : index[i], fold[i]);
        });
        place_.resize(n);
        for (std::size_t k = 0; k < n; ++k) place_[order_[k]] = k;
    }

    void plan_problems() {
        shells_.resize(e_.folds.size());
        held_.resize(e_.folds.size());
        for (std::size_t f = 0; f < e_.folds.size(); ++f) {
            const Split& fold = e_.folds[f];
            // In the order of their places, so that what is read of the matrix lies together.
            std::vector<std::size_t> train = fold.train;
            std::ranges::sort(train, {}, [&](std::size_t i) { return place_[i]; });
            SvmSettings settings = e_.space.task().svm.value();
            settings.C = 1;
            settings.common.kernel = linear();
            settings.common.scaling = {};  // of rows that only their labels are asked of
            if (!settings.tube_values.empty()) {
                std::vector<double> own;
                for (const std::size_t i : train) own.push_back(settings.tube_values[i]);
                settings.tube_values = std::move(own);
            }
            FitPlan plan = plan_fit(settings, e_.data.select(train), {});
            shells_[f].task = settings.task;
            shells_[f].multi_class = settings.multi_class;
            shells_[f].class_names = plan.sample.classes.names;
            for (std::size_t p = 0; p < plan.parts.size(); ++p) {
                Part& part = plan.parts[p];
                Problem problem{.fold = f, .number = p, .base = std::move(part.problem)};
                for (std::size_t i = 0; i < problem.base.size(); ++i) {
                    const std::size_t row = plan.sample.kept[part.rows[i]];
                    problem.places.push_back(place_[train[row]]);
                }
                problems_.push_back(std::move(problem));
            }
            held_[f].resize(fold.test.size());
            for (std::size_t r = 0; r < fold.test.size(); ++r) {
                held_[f][r] = {.place = place_[fold.test[r]], .row = r};
            }
            std::ranges::sort(held_[f], {}, &Held::place);
            outputs_.push_back(plan.parts.size());
        }
    }

    void make_stores() {
        const ScalingRule& rule = e_.space.task().scaling;
        for (std::size_t s = 0; s < stores_of(e_); ++s) {
            const bool own = e_.data.table || scaling_sees_rows(rule);
            Rows learnt = own ? e_.data.x.select(e_.folds[s].train) : e_.data.x;
            Rows all = e_.data.x.select(order_);
            std::vector<std::string> names = e_.data.feature_names;
            if (e_.data.table) {
                const Recipe recipe = Recipe::fit(e_.data.table, learnt);
                learnt = recipe.apply(learnt);
                all = recipe.apply(all);
                names = recipe.names();
            }
            const Scaling scaling = Scaling::fit(rule, learnt);
            stores_.emplace_back(scaling.apply(all), names, budget_.distances);
        }
    }

    /// Room for the results of a chain whose turn has come.
    void prepare(Chain& chain) const {
        if (!chain.parts.empty()) return;
        chain.left = problems_.size();
        chain.parts.assign(chain.points.size(), std::vector<Solved>(problems_.size()));
        chain.decisions.resize(chain.points.size());
        for (auto& folds : chain.decisions) {
            for (std::size_t f = 0; f < e_.folds.size(); ++f) {
                folds.emplace_back(held_[f].size(), outputs_[f]);
            }
        }
    }

    /// The rows and columns of a problem out of the matrix of all.
    static void copy_block(MatrixView<T> matrix, const std::vector<std::size_t>& places, T* to) {
        const auto pieces = stretches_of(places);
        parallel_for(places.size(), [&](std::size_t r) {
            const T* const row = matrix.row(places[r]).data();
            T* out = to + r * places.size();
            for (const Stretch& piece : pieces) {
                out = std::copy_n(row + piece.from, piece.size, out);
            }
        });
    }

    /// A path of those that have ended, whose memory has been touched, or a new one.
    class PathLoan {
       public:
        PathLoan(SharedSearch& search, const SymmetricOperator<T>& k) : search_(search) {
            {
                const std::lock_guard one_at_a_time(search.mutex_);
                if (!search.spare_.empty()) {
                    path_ = std::move(search.spare_.back());
                    search.spare_.pop_back();
                }
            }
            if (path_) {
                path_->begin(k);
            } else {
                path_ = std::make_unique<DualPath<T>>(k);
            }
        }
        ~PathLoan() {
            const std::lock_guard one_at_a_time(search_.mutex_);
            search_.spare_.push_back(std::move(path_));
        }
        PathLoan(const PathLoan&) = delete;
        PathLoan& operator=(const PathLoan&) = delete;
        DualPath<T>& operator*() const { return *path_; }
        DualPath<T>* operator->() const { return path_.get(); }

       private:
        SharedSearch& search_;
        std::unique_ptr<DualPath<T>> path_{};
    };

    void solve_all(const Work& work) {
        if (stopped_) return;
        Chain& chain = *work.chain;
        const Problem& problem = *work.problem;
        const std::size_t m = problem.places.size();
        // Rows of a further drawing of folds lie scattered: those are gathered first.
        const bool scattered = 64 * stretches_of(problem.places).size() > m;
        LargeBuffer buffer;
        std::vector<std::size_t> own(scattered ? m : 0);
        std::iota(own.begin(), own.end(), std::size_t{0});
        if (scattered) {
            // All of one size, so that the pages of one serve the next (base/detail/buffer.hpp).
            buffer = LargeBuffer(most_learnt_ * most_learnt_ * sizeof(T));
            copy_block(work.matrix, problem.places, buffer.template as<T>());
        }
        const BlockOperator<T> block = scattered
                                           ? BlockOperator<T>({buffer.template as<T>(), m, m}, own)
                                           : BlockOperator<T>(work.matrix, problem.places);
        const PathLoan path(*this, block);
        bool inside = false;  // no α is at its upper bound, so that a larger box changes nothing
        std::vector<Learned> learned(chain.points.size());
        for (std::size_t k = 0; k < chain.points.size(); ++k) {
            const Stopwatch clock;
            Solved& part = chain.parts[k][work.number];
            try {
                if (!chain.refused[k].empty()) throw InvalidInput(chain.refused[k]);
                const bool settled =
                    inside && k > 0 && chain.along_c(k) && chain.settings[k].task != Task::nu_svr;
                learned[k] = settled ? learned[k - 1] : solve_one(work, *path, k, part, inside);
            } catch (const InvalidInput& error) {
                part.status = error.what();
                part.failed = true;
                path->forget();
                inside = false;
            }
            part.seconds = clock.seconds();
            report_step();
            if (stopped_) return;
        }
        decide(work, learned);
        if (--chain.left == 0) finish(chain);
    }

    Learned solve_one(const Work& work, DualPath<T>& path, std::size_t k, Solved& part,
                      bool& inside) {
        const Chain& chain = *work.chain;
        const SvmSettings& s = chain.settings[k];
        Subproblem problem = work.problem->base;
        const bool penalised = is_penalised(s);
        for (double& bound : problem.bound) bound *= penalised ? s.C : 1;
        problem.nu = s.nu;
        problem.epsilon = s.epsilon;
        // All multiples of α up to the ratio of the boxes are feasible.
        const bool follows = k > 0 && path.has_start() && chain.along_c(k);
        double multiple =
            follows ? std::min(s.C / chain.settings[k - 1].C, path.best_multiple()) : 0;
        DualSettings dual{.tolerance = s.tolerance,
                          .relative_gap = s.relative_gap,
                          .iteration_limit = s.iteration_limit,
                          .method = s.method,
                          .shrinking = s.shrinking};
        // Entries that only have to be read make small working sets the quicker ones.
        if (k == 0 && problem.size() >= 2048 && problem.size() <= 8192) dual.working_set = 256;
        // Small problems are over before anybody could wish to stop them, and a listener costs a
        // look at the gap in every iteration.
        if (problem.size() >= large_problem) {
            dual.progress = [this](const DualMoment&) { return !stopped_.load(); };
        }
        const DualProblem program = make_dual(problem);
        if (!path.has_start() && s.task == Task::svc) {
            path.begin_at_bounds(program);
            multiple = path.has_start() ? 1 : 0;
        }
        DualSolution solution = path.solve(program, dual, multiple);
        if (solution.infeasibility) throw InvalidInput(solution.infeasibility->explanation);
        if (solution.status != DualStatus::converged) part.status = describe(solution.status);
        inside = penalised && solution.status == DualStatus::converged;
        for (std::size_t i = 0; i < program.size(); ++i) {
            inside = inside && solution.alpha[i] < program.upper[i];
        }
        return interpret(problem, solution);
    }

    /// f of the held-out rows, from the rows of the matrix that carry coefficients: some of those
    /// at a time, which stay in cache while the sums of all points take them in.
    void decide(const Work& work, const std::vector<Learned>& learned) {
        constexpr std::size_t band = 64;
        const std::size_t f = work.problem->fold;
        std::vector<std::size_t> places(held_[f].size());
        std::ranges::transform(held_[f], places.begin(), &Held::place);
        const auto pieces = stretches_of(places);
        const std::size_t m = work.problem->places.size();
        Matrix<double> sums(learned.size(), held_[f].size());
        for (std::size_t k = 0; k < learned.size(); ++k) {
            std::ranges::fill(sums.row(k), learned[k].bias);
        }
        const auto repeats = [&](std::size_t k) {
            return k > 0 && learned[k].beta == learned[k - 1].beta;
        };
        std::vector<std::size_t> distinct;
        for (std::size_t k = 0; k < learned.size(); ++k) {
            if (!repeats(k)) distinct.push_back(k);
        }
        std::vector<const T*> rows;
        std::vector<double> weights;
        for (std::size_t first = 0; first < m; first += band) {
            for (const std::size_t k : distinct) {
                std::size_t r = 0;
                for (const Stretch& piece : pieces) {
                    rows.clear();
                    weights.clear();
                    for (std::size_t i = first; i < std::min(m, first + band); ++i) {
                        if (learned[k].beta.empty() || learned[k].beta[i] == 0) continue;
                        rows.push_back(work.matrix.row(work.problem->places[i]).data() +
                                       piece.from);
                        weights.push_back(learned[k].beta[i]);
                    }
                    add_weighted_rows<T>(rows, weights, sums.row(k).subspan(r, piece.size));
                    r += piece.size;
                }
            }
        }
        for (std::size_t k = 0; k < learned.size(); ++k) {
            if (repeats(k)) std::ranges::copy(sums.row(k - 1), sums.row(k).begin());
            Matrix<double>& out = work.chain->decisions[k][f];
            for (std::size_t r = 0; r < out.rows(); ++r) {
                out(held_[f][r].row, work.problem->number) = sums(k, r);
            }
        }
    }

    void report_step() {
        const std::lock_guard one_at_a_time(mutex_);
        ++step_;
        const double fraction = static_cast<double>(step_) / static_cast<double>(steps_);
        // Whoever listens is called from the thread that began the search (base/progress.hpp).
        if (std::this_thread::get_id() != own_thread_) return;
        if (e_.progress && !e_.progress(fraction)) stopped_ = true;
    }

    /// All problems of a kernel are solved: the scores of its points.
    void finish(Chain& chain) {
        for (std::size_t k = 0; k < chain.points.size(); ++k) {
            const Stopwatch clock;
            PointScore score;
            bool failed = false;
            for (const Solved& part : chain.parts[k]) {
                score.seconds += part.seconds;
                if (score.status.empty()) score.status = part.status;
                failed = failed || part.failed;
            }
            for (std::size_t f = 0; !failed && f < e_.folds.size(); ++f) {
                score.scores.push_back(
                    judge(e_.measure,
                          truth_.judged(shells_[f], chain.decisions[k][f], e_.folds[f].test)));
            }
            if (score.status.empty()) score.status = describe(FitStatus::converged);
            score.seconds += clock.seconds();
            const std::lock_guard one_at_a_time(mutex_);
            e_.done(chain.points[k], std::move(score));
        }
        chain.decisions.clear();
        chain.parts.clear();
    }

    const Evaluation& e_;
    std::size_t most_learnt_ = most_learnt(e_);
    SearchBudget budget_;
    Truth truth_;
    std::vector<std::size_t> order_{};       ///< the row at each place
    std::vector<std::size_t> place_{};       ///< and back
    std::vector<std::vector<Held>> held_{};  ///< each fold's held-out rows, by their places
    std::vector<ModelParts> shells_{};       ///< one a fold: what decisions need to be read
    std::vector<std::size_t> outputs_{};
    std::vector<Problem> problems_{};
    std::vector<std::unique_ptr<Chain>> chains_{};
    std::vector<DistanceStore<T>> stores_{};
    std::size_t steps_ = 0;
    std::size_t step_ = 0;
    std::mutex mutex_{};
    std::vector<std::unique_ptr<DualPath<T>>> spare_{};
    std::thread::id own_thread_ = std::this_thread::get_id();
    std::atomic<bool> stopped_{false};
};

}  // namespace

bool can_share(const Evaluation& e) {
    const auto& svm = e.space.task().svm;
    if (!svm || svm->probability || svm->common.time_limit > 0 || e.points.empty()) return false;
    if (e.space.task().span) return false;  // it would be a search of all rows
    // Folds whose targets are scaled by themselves have settings of their own.
    if (svm->common.target_scale == TargetScale::standard ||
        svm->common.target_scale == TargetScale::minmax) {
        return false;
    }
    switch (svm->task) {
        case Task::svc:
        case Task::nu_svc:
        case Task::svr:
        case Task::nu_svr:
        case Task::one_class: break;
        default: return false;
    }
    const auto centred = [&](const std::vector<double>& p) {
        const Kernel kernel = e.space.kernel(p);
        return is_centered(kernel) || kernel.needs_data();
    };
    return budget_of(e).possible && std::ranges::none_of(e.points, centred);
}

bool evaluate_shared(const Evaluation& e) {
    return e.space.task().svm->common.double_precision ? SharedSearch<double>(e).run()
                                                       : SharedSearch<float>(e).run();
}

}  // namespace mercer
