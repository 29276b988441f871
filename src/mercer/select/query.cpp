#include "mercer/select/features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/learn/calibration.hpp"

namespace mercer {
namespace {

void keep_first(std::vector<Query>& queries, std::size_t count, bool largest) {
    std::ranges::stable_sort(queries, [&](const Query& a, const Query& b) {
        return largest ? a.score > b.score : a.score < b.score;
    });
    queries.resize(std::min(count, queries.size()));
}

}  // namespace

std::vector<Query> query_simple(const Model& model, const Rows& pool, std::size_t count,
                                const Progress& progress) {
    if (!is_classifier(model.task())) {
        throw InvalidInput(
            "rows are chosen by how sure a classifier is of them; this is a model "
            "of the task " +
            task_name(model.task()));
    }
    if (pool.size() == 0) throw InvalidInput("the pool has no rows to choose from");
    const Matrix<double> f = model.decision(pool, progress);
    const Matrix<double> scores = class_scores(model, f.view());
    std::vector<Query> queries;
    for (std::size_t i = 0; i < pool.size(); ++i) {
        double best = -std::numeric_limits<double>::infinity();
        double next = best;
        for (const double s : scores.row(i)) {
            next = std::max(next, std::min(best, s));
            best = std::max(best, s);
        }
        queries.push_back({.row = i, .score = best - next});
    }
    keep_first(queries, count, false);
    return queries;
}

std::vector<Query> query_max_min(const SvmSettings& settings, const Dataset& labelled,
                                 const Rows& pool, std::size_t count, std::size_t shortlist,
                                 const Progress& progress) {
    if (settings.task != Task::svc) {
        throw InvalidInput("the MaxMin margin is that of svc, not " + task_name(settings.task));
    }
    if (labelled.y.empty() || classes_of(labelled.y).count() != 2) {
        throw InvalidInput("the MaxMin margin needs labelled rows of two classes");
    }
    const Model model = Svm(settings).fit(labelled);
    std::vector<Query> queries = query_simple(model, pool, shortlist > 0 ? shortlist : pool.size());
    std::vector<double> answers = labelled.y.values;
    std::ranges::sort(answers);
    answers.erase(std::unique(answers.begin(), answers.end()), answers.end());
    SvmSettings own = settings;
    own.common.progress = {};
    constexpr std::size_t batch = 16;
    for (std::size_t first = 0; first < queries.size(); first += batch) {
        const std::size_t last = std::min(first + batch, queries.size());
        parallel_for(last - first, [&](std::size_t k) {
            Query& q = queries[first + k];
            Dataset with = labelled;
            with.x = concatenate(labelled.x, pool.select(std::vector{q.row}));
            if (!with.weights.empty()) with.weights.push_back(1);
            q.score = std::numeric_limits<double>::infinity();
            for (const double answer : answers) {
                with.y.values = labelled.y.values;
                with.y.values.push_back(answer);
                q.score = std::min(q.score, Svm(own).fit(with).report().margin);
            }
        });
        const double done = static_cast<double>(last) / static_cast<double>(queries.size());
        if (!keep_going(progress, {.task = "margins", .fraction = done})) throw Cancelled();
    }
    keep_first(queries, count, true);
    return queries;
}

}  // namespace mercer
