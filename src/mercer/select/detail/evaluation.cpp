#include "mercer/select/detail/evaluation.hpp"

#include <algorithm>

#include "mercer/base/error.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/detail/decide.hpp"

namespace mercer {
namespace {

/// Columns of probabilities moved to where the classes stand among all of them.
Matrix<double> spread_out(const Model& model, const Matrix<double>& own,
                          const std::vector<std::size_t>& place, std::size_t classes) {
    Matrix<double> all(own.rows(), classes);
    for (std::size_t i = 0; i < own.rows(); ++i) {
        for (std::size_t c = 0; c < model.classes(); ++c) all(i, place[c]) = own(i, c);
    }
    return all;
}

}  // namespace

bool judge_fold(const Evaluation& e, const Truth& truth, const Model& model, const Rows& held,
                const Split& fold, PointScore& score, const Progress& progress) {
    const FitStatus status = model.report().status;
    if (status == FitStatus::cancelled) return false;
    Judged judged = truth.judged(model.parts(), model.decision(held, progress), fold.test);
    if (e.measure == Metric::log_loss) {
        std::vector<std::size_t> place;
        for (const std::string& name : model.class_names()) {
            const auto& names = truth.classes().names;
            place.push_back(
                static_cast<std::size_t>(std::ranges::find(names, name) - names.begin()));
        }
        judged.probabilities =
            spread_out(model, model.probabilities(held, progress), place, judged.classes);
    }
    score.scores.push_back(judge(e.measure, judged));
    if (has_no_machine(status)) {
        throw InvalidInput("the rows of some fold have no hard margin: " + describe(status));
    }
    if (score.status.empty() && status != FitStatus::converged) score.status = describe(status);
    return true;
}

namespace {

/// False when told to stop in the middle.
bool evaluate_point(const Evaluation& e, const Truth& truth, std::span<const double> values,
                    double done_before, double share, PointScore& score) {
    const Machine machine = e.space.machine(values);
    for (std::size_t f = 0; f < e.folds.size(); ++f) {
        const double done = static_cast<double>(f) / static_cast<double>(e.folds.size());
        // Some machines learn at once, and it is to judge them that takes long.
        const auto ask = [&](const Moment&) {
            return !e.progress || e.progress(done_before + share * done);
        };
        if (!ask({})) return false;
        const Split& fold = e.folds[f];
        const Model model = machine.for_rows(fold.train).fit(e.data.select(fold.train));
        if (!judge_fold(e, truth, model, e.data.x.select(fold.test), fold, score, ask)) {
            return false;
        }
    }
    if (score.status.empty()) score.status = describe(FitStatus::converged);
    return true;
}

}  // namespace

Truth::Truth(Task task, const Dataset& data, const std::string& positive) : task_(task) {
    if (data.y.empty()) {
        throw InvalidInput("a search is judged by labels, and the data has none");
    }
    if (is_regressor(task)) {
        if (data.y.are_text()) {
            throw InvalidInput("regression needs numbers as targets, and the labels are names");
        }
        values_ = data.y.values;
    } else if (is_classifier(task)) {
        classes_ = classes_of(data.y);
        count_ = classes_.count();
        values_.assign(classes_.index.begin(), classes_.index.end());
    } else {
        if (data.y.are_text()) {
            throw InvalidInput("the task " + task_name(task) +
                               " is judged by labels that are numbers: above 0 is inside");
        }
        count_ = 2;
        for (const double y : data.y.values) values_.push_back(y > 0 ? 1 : 0);
    }
    if (positive.empty()) return;
    if (!is_classifier(task) || count_ != 2) {
        throw InvalidInput("positive is one of two classes, and " +
                           (is_classifier(task) ? "there are " + std::to_string(count_) +
                                                      ": their f1 is the mean over all of them"
                                                : "the task " + task_name(task) + " has none"));
    }
    const auto found = std::ranges::find(classes_.names, positive);
    if (found == classes_.names.end()) {
        throw InvalidInput("positive is " + mercer::quoted(positive) + ", and the classes are " +
                           mercer::quoted(classes_.names[0]) + " and " +
                           mercer::quoted(classes_.names[1]));
    }
    positive_ = static_cast<std::size_t>(found - classes_.names.begin());
}

std::string Truth::positive() const {
    return is_classifier(task_) && count_ == 2 ? classes_.names[positive_] : "";
}

Judged Truth::judged(const ModelParts& model, const Matrix<double>& decisions,
                     std::span<const std::size_t> rows) const {
    Judged judged;
    judged.classes = count_;
    judged.positive = positive_;
    for (const std::size_t i : rows) judged.truth.push_back(values_[i]);
    judged.predicted = classify(model, decisions.view());
    if (is_regressor(task_)) return judged;
    if (!is_classifier(task_)) {
        for (std::size_t i = 0; i < decisions.rows(); ++i) {
            judged.predicted[i] = judged.predicted[i] > 0 ? 1 : 0;
            judged.decision.push_back(decisions(i, 0));
        }
        return judged;
    }
    std::vector<double> place;
    for (const std::string& name : model.class_names) {
        place.push_back(
            static_cast<double>(std::ranges::find(classes_.names, name) - classes_.names.begin()));
    }
    for (double& c : judged.predicted) c = place[static_cast<std::size_t>(c)];
    // Positive decisions mean the first of a pair; scores of pairs ask for the last.
    if (count_ == 2) {
        const bool both = decisions.columns() == 2;
        for (std::size_t i = 0; i < decisions.rows(); ++i) {
            judged.decision.push_back((both ? decisions(i, 1) : 0) - decisions(i, 0));
        }
    }
    return judged;
}

bool evaluate_alone(const Evaluation& e) {
    const Truth truth(e.space.task().task, e.data, e.positive);
    for (std::size_t p = 0; p < e.points.size(); ++p) {
        if (!e.known.empty() && e.known[p]) continue;
        const auto all = static_cast<double>(e.points.size());
        const Stopwatch clock;
        PointScore score;
        try {
            if (!evaluate_point(e, truth, e.points[p], static_cast<double>(p) / all, 1 / all,
                                score)) {
                return false;
            }
        } catch (const InvalidSetting& error) {
            throw InvalidInput("no machine can have " + e.space.text(e.points[p]) + ": " +
                               error.what());
        } catch (const InvalidInput& error) {
            score.scores.clear();
            score.status = error.what();
        } catch (const Cancelled&) {
            return false;
        }
        score.seconds = clock.seconds();
        e.done(p, std::move(score));
    }
    return true;
}

}  // namespace mercer
