#include "mercer/select/detail/span_search.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "mercer/base/error.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/learn/detail/centre_span.hpp"
#include "mercer/select/detail/chains.hpp"

namespace mercer {
namespace {

/// Points of one kernel.
struct KernelPoints {
    Kernel kernel = linear();
    std::vector<std::size_t> points{};
};

std::vector<KernelPoints> by_kernel(const Evaluation& e) {
    std::vector<KernelPoints> groups;
    std::map<std::string, std::size_t> found;
    for (std::size_t p = 0; p < e.points.size(); ++p) {
        if (!e.known.empty() && e.known[p]) continue;
        const Kernel kernel = e.space.kernel(e.points[p]);
        const auto [at, fresh] = found.emplace(kernel.text(), groups.size());
        if (fresh) groups.push_back({.kernel = kernel});
        groups[at->second].points.push_back(p);
    }
    return groups;
}

template <class T>
class FeatureSearch {
   public:
    explicit FeatureSearch(const Evaluation& e)
        : e_(e), span_(*e.space.task().span), truth_(e.space.task().task, e.data, e.positive) {}

    bool run() {
        const std::vector<KernelPoints> groups = by_kernel(e_);
        for (const KernelPoints& group : groups) steps_ += group.points.size() * e_.folds.size();
        for (const KernelPoints& group : groups) {
            std::vector<PointScore> scores(group.points.size());
            try {
                if (!evaluate(group, scores)) return false;
            } catch (const Cancelled&) {
                return false;
            } catch (const InvalidInput& error) {  // of the kernel, and so of all its points
                for (PointScore& score : scores) score = {.status = error.what()};
            }
            for (std::size_t k = 0; k < scores.size(); ++k) {
                if (scores[k].status.empty()) scores[k].status = describe(FitStatus::converged);
                e_.done(group.points[k], std::move(scores[k]));
            }
        }
        return true;
    }

   private:
    /// Rows as features, with what belongs to them.
    Dataset data_of(std::span<const std::size_t> rows, const Rows& features) const {
        Dataset own;
        own.x = features;
        own.y = e_.data.y.select(rows);
        for (const std::size_t i : rows) {
            if (!e_.data.weights.empty()) own.weights.push_back(e_.data.weights[i]);
        }
        return own;
    }

    FitSettings settings_of(const Kernel& kernel) const {
        FitSettings own = span_.common;
        own.kernel = kernel;
        return own;
    }

    /// The span of centres among these rows; what settles scaling and kernel are they too.
    struct Span {
        SpanSample sample;
        CentreSpan<T> centres;
    };
    Span span_of(const Kernel& kernel, const Dataset& data) const {
        const FitSettings own = settings_of(kernel);
        SpanSample sample = take_span_sample(e_.space.task().task, data, own);
        CentreSpan<T> centres(sample, own, span_.how);
        return {std::move(sample), std::move(centres)};
    }

    Rows features_of(const Span& span, const Rows& rows) const {
        constexpr std::size_t block_rows = 8192;
        const std::size_t m = span.centres.size();
        std::vector<T> values(rows.size() * m);
        for (std::size_t first = 0; first < rows.size(); first += block_rows) {
            if (!keep_going(span_.common.progress, {"features", -1})) throw Cancelled();
            const std::size_t count = std::min(block_rows, rows.size() - first);
            Rows some = rows.slice(first, count);
            if (span.sample.recipe) some = span.sample.recipe->apply(some);
            const Points<T> points = span.centres.gram().prepare(span.sample.scaling.apply(some));
            span.centres.features(points, {values.data() + first * m, count, m});
        }
        return Rows::dense(std::move(values), m);
    }

    bool evaluate(const KernelPoints& group, std::vector<PointScore>& scores) {
        // Statistics of the rows learnt from must not know those held out.
        const bool each = stores_of(e_) > 1;
        Stopwatch clock;
        std::optional<Rows> all;
        if (!each) all = features_of(span_of(group.kernel, e_.data), e_.data.x);
        double seconds = clock.lap();
        for (const Split& fold : e_.folds) {
            std::optional<Span> own;
            if (each) own.emplace(span_of(group.kernel, e_.data.select(fold.train)));
            const Rows learnt =
                each ? features_of(*own, e_.data.x.select(fold.train)) : all->select(fold.train);
            const Rows held =
                each ? features_of(*own, e_.data.x.select(fold.test)) : all->select(fold.test);
            const Dataset train = data_of(fold.train, learnt);
            seconds += clock.lap();
            for (std::size_t k = 0; k < group.points.size(); ++k) {
                if (!learn(group.points[k], fold, train, held, scores[k])) return false;
            }
            clock.lap();
        }
        for (PointScore& score : scores) {
            score.seconds += seconds / static_cast<double>(scores.size());
        }
        return true;
    }

    /// One point on one fold. A point that fails once is not tried again.
    bool learn(std::size_t point, const Split& fold, const Dataset& train, const Rows& held,
               PointScore& score) {
        ++step_;
        const double done = static_cast<double>(step_) / static_cast<double>(steps_);
        if (e_.progress && !e_.progress(done)) return false;
        if (!score.status.empty() && score.scores.empty() && &fold != &e_.folds.front())
            return true;
        const Stopwatch clock;
        try {
            FitSettings own = settings_of(linear());
            own.scaling = {};
            const Machine machine = span_.make(own, e_.space.settings(e_.points[point]));
            const Model model = machine.for_rows(fold.train).fit(train);
            if (!judge_fold(e_, truth_, model, held, fold, score)) return false;
        } catch (const InvalidSetting& error) {
            throw InvalidInput("no machine can have " + e_.space.text(e_.points[point]) + ": " +
                               error.what());
        } catch (const InvalidInput& error) {
            score.scores.clear();
            score.status = error.what();
        }
        score.seconds += clock.seconds();
        return true;
    }

    const Evaluation& e_;
    const SpanSearch& span_;
    Truth truth_;
    std::size_t steps_ = 0;
    std::size_t step_ = 0;
};

}  // namespace

bool can_share_features(const Evaluation& e) {
    const auto& span = e.space.task().span;
    // All of them, and those of a fold.
    return span && features_fit(2 * e.data.size(), span->how.centres, span->common);
}

bool evaluate_features(const Evaluation& e) {
    return e.space.task().span->common.double_precision ? FeatureSearch<double>(e).run()
                                                        : FeatureSearch<float>(e).run();
}

}  // namespace mercer
