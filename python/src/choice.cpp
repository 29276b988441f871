// Which machine, which rows, which columns: structural risk, equal settings, queries, importance,
// calibration, comparison, and Mercer's condition on data.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "common/labels.hpp"
#include "common/settings.hpp"
#include "machines.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/select/features.hpp"
#include "mercer/select/judge.hpp"
#include "mercer/select/structure.hpp"
#include "mercer/theory/margin.hpp"
#include "mercer/theory/mercer_test.hpp"
#include "mercer/theory/radius_margin.hpp"

namespace mercer::python {
namespace {

Dataset told_data(const Model& model, const Rows& x, const Numbers& y) {
    Dataset data;
    data.x = x;
    data.y = labels_of(model, y);
    return data;
}

Dataset plain_data(const Rows& x, const Numbers& y) {
    Dataset data;
    data.x = x;
    data.y.values = copy_of(y);
    return data;
}

nb::dict structural_risk(const std::string& family, const std::vector<double>& values,
                         const Kernel& kernel, nb::dict given, const Rows& x, const Numbers& y,
                         nb::object callback) {
    const Settings s(std::move(given));
    StructureSettings settings;
    settings.family = family_named(family);
    settings.values = values;
    settings.svm.common.kernel = kernel;
    settings.svm.C = s.number("C", settings.svm.C);
    settings.gamma = s.number("gamma", settings.gamma);
    settings.delta = s.number("delta", settings.delta);
    settings.folds = s.count("folds", settings.folds);
    settings.seed = s.count("seed", settings.seed);
    s.check("structural risk");
    const Dataset data = plain_data(x, y);
    StructureChoice choice;
    const std::function<void(const Progress&)> job = [&](const Progress& progress) {
        settings.progress = progress;
        choice = minimise_structural_risk(settings, data);
    };
    run_beside(job, std::move(callback));
    nb::list levels;
    for (const StructureLevel& level : choice.levels) {
        nb::dict d;
        d["value"] = level.value;
        d["dimension"] = level.dimension;
        d["training_error"] = level.training_error;
        d["confidence_term"] = level.confidence_term;
        d["bound"] = level.bound.value;
        d["cv_error"] = level.cv_error;
        d["status"] = level.status;
        levels.append(d);
    }
    nb::dict result;
    result["levels"] = levels;
    result["by_bound"] = choice.by_bound;
    result["by_cross_validation"] = choice.by_cross_validation;
    return result;
}

nb::list equivalents(const Model& model) {
    nb::list list;
    for (const SoftMargin& s : equivalent_settings(model)) {
        list.append(nb::make_tuple(s.name, s.nu, s.C, s.rho));
    }
    return list;
}

nb::tuple rows_and_scores(const std::vector<Query>& queries) {
    std::vector<std::int64_t> rows;
    std::vector<double> scores;
    for (const Query& query : queries) {
        rows.push_back(static_cast<std::int64_t>(query.row));
        scores.push_back(query.score);
    }
    return nb::make_tuple(give(std::move(rows)), give(std::move(scores)));
}

nb::tuple query_nearest(const Model& model, const Rows& pool, std::size_t count) {
    std::vector<Query> found;
    run_beside(
        [&](const Progress& progress) { found = query_simple(model, pool, count, progress); });
    return rows_and_scores(found);
}

nb::tuple query_halving(const Kernel& kernel, nb::dict values, const Rows& x, const Numbers& y,
                        const Rows& pool, std::size_t count, std::size_t shortlist) {
    const Settings s(values);
    const FitSettings common = common_of(s, kernel);
    const SvmSettings settings = svm_settings_of(Task::svc, common, s, values);
    const Dataset labelled = plain_data(x, y);
    std::vector<Query> found;
    run_beside([&](const Progress& progress) {
        found = query_max_min(settings, labelled, pool, count, shortlist, progress);
    });
    return rows_and_scores(found);
}

nb::tuple importance(const Model& model, const Rows& x, const Numbers& y,
                     const std::string& measure, std::size_t repeats, std::size_t seed) {
    ImportanceSettings settings;
    if (!measure.empty()) settings.measure = measure_named(measure);
    settings.repeats = repeats;
    settings.seed = seed;
    const Dataset data = told_data(model, x, y);
    std::vector<Importance> found;
    run_beside([&](const Progress& progress) {
        settings.progress = progress;
        found = permutation_importance(model, data, settings);
    });
    std::vector<double> drop, deviation;
    for (const Importance& column : found) {
        drop.push_back(column.drop);
        deviation.push_back(column.deviation);
    }
    return nb::make_tuple(give(std::move(drop)), give(std::move(deviation)));
}

Model calibrated(const Model& model, const Rows& x, const Numbers& y, const std::string& method) {
    const CalibrationMethod how = calibration_named(method);
    const Dataset data = told_data(model, x, y);
    std::optional<Model> sure;
    run_beside([&](const Progress&) { sure = calibrate(model, data, how); });
    return std::move(*sure);
}

/// Predictions and the truth as numbers, or as positions of classes.
nb::dict comparison(const Numbers& first, const Numbers& second, const Numbers& truth,
                    bool numbers) {
    const Comparison c = compare({.values = copy_of(first)}, {.values = copy_of(second)},
                                 {.values = copy_of(truth)}, numbers);
    nb::dict d;
    d["rows"] = c.rows;
    d["first"] = c.first;
    d["second"] = c.second;
    d["only_first"] = c.only_first;
    d["only_second"] = c.only_second;
    d["p_value"] = c.p_value;
    d["sign_p_value"] = c.sign_p_value;
    d["difference"] = c.difference;
    d["test"] = c.test;
    return d;
}

nb::dict condition(const Kernel& kernel, const Rows& x, const std::vector<std::string>& names,
                   std::size_t most, std::size_t seed) {
    MercerTestSettings settings{.max_rows = most, .seed = seed};
    MercerTest t;
    run_beside([&](const Progress& progress) {
        settings.progress = progress;
        t = mercer_test(kernel, x, names, settings);
    });
    nb::dict d;
    d["kernel"] = t.kernel.text();
    d["rows"] = give(std::vector<std::int64_t>(t.rows.begin(), t.rows.end()));
    d["smallest"] = t.smallest;
    d["largest"] = t.largest;
    d["tolerance"] = t.tolerance;
    d["effective_rank"] = t.effective_rank;
    d["numerical_rank"] = t.numerical_rank;
    d["eigenvalues"] = give(std::move(t.values));
    d["asymmetry"] = t.asymmetry;
    d["cauchy_schwarz_broken"] = t.cauchy_schwarz_broken;
    d["indefinite"] = t.indefinite;
    d["witness"] = give(std::move(t.witness));
    d["witness_value"] = t.witness_value;
    d["conditionally_indefinite"] = t.conditionally_indefinite;
    return d;
}

nb::dict radius_margin(const Kernel& kernel, double C, const Rows& x, const Numbers& y,
                       nb::object callback) {
    const Dataset data = plain_data(x, y);
    RadiusMarginChoice choice;
    const std::function<void(const Progress&)> job = [&](const Progress& progress) {
        choice = minimise_radius_margin(kernel, C, data, std::size_t{1} << 32, progress);
    };
    run_beside(job, std::move(callback));
    nb::dict d;
    d["kernel"] = choice.kernel.text();
    d["C"] = choice.C;
    d["before"] = choice.before;
    d["after"] = choice.after;
    d["status"] = choice.status;
    return d;
}

}  // namespace

void bind_choice(nb::module_& m) {
    m.def("structural_risk", &structural_risk, nb::arg("family"), nb::arg("values"),
          nb::arg("kernel"), nb::arg("settings"), nb::arg("x"), nb::arg("y"),
          nb::arg("callback").none());
    m.def("equivalent_settings", &equivalents);
    m.def("query_nearest", &query_nearest);
    m.def("query_halving", &query_halving);
    m.def("permutation_importance", &importance);
    m.def("calibrated", &calibrated);
    m.def("compare", &comparison);
    m.def("mercer_test", &condition);
    m.def("radius_margin", &radius_margin, nb::arg("kernel"), nb::arg("C"), nb::arg("x"),
          nb::arg("y"), nb::arg("callback").none());
}

}  // namespace mercer::python
