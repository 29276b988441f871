// Tables with columns of several kinds, what is learnt from them, and judgements.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <optional>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "common/labels.hpp"
#include "common/settings.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/select/automatic.hpp"
#include "mercer/select/judge.hpp"

namespace mercer::python {
namespace {

mercer::Table table_from(const std::vector<std::string>& names,
                         const std::vector<std::vector<std::string>>& columns) {
    std::vector<Texts> cells(columns.size());
    for (std::size_t j = 0; j < columns.size(); ++j) {
        for (const std::string& cell : columns[j]) cells[j].push_back(cell);
    }
    return table_of(names, std::move(cells), "the table");
}

nb::list profile_list(const mercer::Table& table) {
    nb::list result;
    for (const ColumnProfile& p : profile(table)) {
        nb::dict d;
        d["name"] = p.name;
        d["kind"] = std::string(column_kinds.word(p.kind));
        d["missing"] = p.missing;
        d["distinct"] = p.distinct;
        d["examples"] = p.examples;
        d["odd"] = p.odd;
        d["odd_cell"] = p.odd_cell;
        result.append(d);
    }
    return result;
}

ColumnWishes wishes_from(const std::string& label,
                         const std::vector<std::pair<std::string, std::string>>& kinds,
                         const std::vector<std::string>& drop,
                         const std::vector<std::string>& identifiers) {
    ColumnWishes wishes{.label = label, .drop = drop, .identifiers = identifiers};
    for (const auto& [name, kind] : kinds) {
        wishes.kinds.emplace_back(name, column_kinds.value(kind, "kind"));
    }
    return wishes;
}

nb::dict judgement_dict(const Judgement& j) {
    nb::dict d;
    d["rows"] = j.rows;
    if (j.numbers) {
        d["rmse"] = j.rmse;
        d["rmse_interval"] = nb::make_tuple(j.rmse_interval.low, j.rmse_interval.high);
        d["rmse_again"] = nb::make_tuple(j.rmse_again.low, j.rmse_again.high);
        d["mae"] = j.mae;
        d["r2"] = j.r2;
        d["baseline_rmse"] = j.baseline_rmse;
        d["baseline_mae"] = j.baseline_mae;
        if (j.coverage) d["coverage"] = *j.coverage;
        return d;
    }
    d["accuracy"] = j.accuracy;
    d["accuracy_interval"] = nb::make_tuple(j.accuracy_interval.low, j.accuracy_interval.high);
    d["accuracy_again"] = nb::make_tuple(j.accuracy_again.low, j.accuracy_again.high);
    d["balanced_accuracy"] = j.balanced_accuracy;
    d["macro_f1"] = j.macro_f1;
    d["baseline"] = j.baseline;
    d["majority"] = j.majority;
    d["confusion"] = give(Matrix<double>(j.confusion));
    nb::list classes;
    for (const ClassJudgement& c : j.classes) {
        nb::dict one;
        one["name"] = c.name;
        one["rows"] = c.rows;
        one["precision"] = c.precision;
        one["recall"] = c.recall;
        one["f1"] = c.f1;
        classes.append(one);
    }
    d["classes"] = classes;
    if (!j.positive.empty()) {
        d["positive"] = j.positive;
        d["roc_area"] = j.roc_area;
        d["average_precision"] = j.average_precision;
    }
    if (j.probabilities) {
        d["log_loss"] = j.probabilities->log_loss;
        d["brier"] = j.probabilities->brier;
        d["expected_error"] = j.probabilities->expected_error;
    }
    return d;
}

nb::list candidates_list(const LearnResult& r) {
    nb::list result;
    for (const Candidate& c : r.candidates) {
        nb::dict d;
        d["name"] = c.name;
        d["task"] = task_name(c.task);
        d["kernel"] = c.kernel;
        d["settings"] = nb::cast(c.settings);
        d["points"] = c.points;
        d["rows"] = c.rows;
        d["score"] = c.score;
        d["deviation"] = c.deviation;
        d["status"] = c.status;
        result.append(d);
    }
    return result;
}

nb::list curve_list(const LearnResult& r) {
    nb::list result;
    for (const CurveSize& c : r.curve) {
        nb::dict d;
        d["rows"] = c.rows;
        d["draws"] = c.draws;
        d["error"] = c.error;
        d["deviation"] = c.deviation;
        result.append(d);
    }
    return result;
}

nb::list effects_list(const LearnResult& r) {
    nb::list result;
    for (const ColumnEffect& e : r.effects) {
        nb::dict d;
        d["column"] = e.column;
        d["places"] = e.places;
        d["levels"] = e.levels;
        d["lines"] = e.lines;
        d["means"] = give(Matrix<double>(e.means));
        result.append(d);
    }
    return result;
}

nb::list drift_list(const LearnResult& r) {
    nb::list result;
    for (const ColumnDrift& c : r.drift) {
        nb::dict d;
        d["column"] = c.column;
        d["test"] = c.test;
        d["distance"] = c.distance;
        d["p_value"] = c.p_value;
        d["differs"] = c.differs;
        result.append(d);
    }
    return result;
}

nb::dict result_dict(const LearnResult& r) {
    nb::dict d;
    d["learning_curve"] = curve_list(r);
    d["importance"] = nb::cast(r.importance);
    d["effects"] = effects_list(r);
    d["drift"] = drift_list(r);
    d["target"] = r.numbers ? "numbers" : "classes";
    d["candidates"] = candidates_list(r);
    d["chosen"] = r.chosen;
    d["judgement"] = judgement_dict(r.judgement);
    d["rows_set_aside"] = r.split.test.size();
    d["on_all_rows"] = r.on_all_rows;
    d["verified"] = r.verified;
    d["verification"] = r.verification;
    d["predict_seconds"] = r.predict_seconds;
    d["seconds"] = r.seconds;
    d["warnings"] = r.warnings;
    d["remarks"] = r.remarks;
    return d;
}

/// (model, what came of it)
nb::tuple learn(const mercer::Table& table, const std::string& label,
                const std::vector<std::pair<std::string, std::string>>& kinds,
                const std::vector<std::string>& drop, const std::vector<std::string>& identifiers,
                const std::vector<std::string>& groups, nb::dict values) {
    const Settings s(std::move(values));
    LearnSettings settings{.groups = groups};
    settings.seconds = s.number("time", settings.seconds);
    settings.test = s.number("test", settings.test);
    settings.by_time = s.flag("by_time", settings.by_time);
    settings.seed = s.count("seed", 1);
    const std::string predict = s.text("predict", "auto");
    constexpr Words targets{std::pair{Target::automatic, "auto"},
                            std::pair{Target::classes, "classes"},
                            std::pair{Target::numbers, "numbers"}};
    settings.target = targets.value(predict, "predict");
    s.check("learn");
    const Dataset data =
        plan_columns(table, wishes_from(label, kinds, drop, identifiers))->dataset(table);
    std::optional<LearnResult> result;
    run_beside([&](const Progress& progress) {
        LearnSettings own = settings;
        own.progress = progress;
        result = learn_table(data, own);
    });
    return nb::make_tuple(result->model, result_dict(*result));
}

/// (rows, labels as numbers or None, names of classes)
nb::tuple rows_for_model(const Model& model, const mercer::Table& table, const std::string& label) {
    if (!model.recipe()) throw InvalidInput("the model was not learnt from a table");
    Dataset data = model.recipe()->columns().dataset(table, label);
    nb::object y = nb::none();
    if (!data.y.empty()) y = nb::cast(give(std::vector<double>(data.y.values)));
    std::vector<std::string> sentences = remarks(table, data);
    for (std::string& sentence : far_remarks(*model.recipe(), data.x)) {
        sentences.push_back(std::move(sentence));
    }
    return nb::make_tuple(data.x, y, data.y.names, sentences);
}

nb::dict judge_rows(const Model& model, const Rows& x, const Numbers& y,
                    const std::vector<std::string>& names, const std::string& positive) {
    Dataset data;
    data.x = x;
    data.y = names.empty() ? labels_of(model, y) : Labels{.values = copy_of(y), .names = names};
    std::optional<Judgement> judgement;
    run_beside([&](const Progress& progress) {
        judgement = judge(model, data, {.positive = positive, .progress = progress});
    });
    return judgement_dict(*judgement);
}

}  // namespace

void bind_tables(nb::module_& m) {
    nb::class_<mercer::Table>(m, "Table", "The cells of a table.")
        .def_prop_ro("rows", [](const mercer::Table& table) { return table.rows(); })
        .def_prop_ro("names", [](const mercer::Table& table) { return table.names; });
    m.def("table_from", &table_from);
    m.def("read_table", [](const std::string& path) { return read_table(path); });
    m.def("profile", &profile_list);
    m.def("learn_table", &learn);
    m.def("rows_for_model", &rows_for_model);
    m.def("has_recipe", [](const Model& model) { return model.recipe() != nullptr; });
    m.def("judge_rows", &judge_rows);
}

}  // namespace mercer::python
