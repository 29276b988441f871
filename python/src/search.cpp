// The search for settings and kernel parameters: mercer/_select/search.py is its face.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "common/labels.hpp"
#include "machines.hpp"
#include "mercer/base/error.hpp"
#include "mercer/data/scaling.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/select/automatic.hpp"
#include "mercer/select/search.hpp"

namespace mercer::python {
namespace {

SearchMethod search_method_named(const std::string& name) {
    if (name == "grid") return SearchMethod::grid;
    if (name == "random") return SearchMethod::random;
    if (name == "halving") return SearchMethod::halving;
    if (name == "bayesian") return SearchMethod::bayesian;
    throw InvalidInput("method = '" + name + "' must be grid, random, halving or bayesian");
}

/// Folds are drawn, or `keys` name that of each row ("given") or its group ("grouped").
FoldRule fold_rule_of(const Settings& s) {
    FoldRule rule;
    const std::string kind = s.text("folding", "auto");
    rule.kind = kind == "stratified" ? FoldKind::stratified
                : kind == "plain"    ? FoldKind::plain
                : kind == "grouped"  ? FoldKind::grouped
                : kind == "given"    ? FoldKind::given
                                     : FoldKind::automatic;
    rule.folds = s.count("folds", rule.folds);
    rule.repeats = s.count("repeats", rule.repeats);
    rule.seed = s.count("seed", rule.seed);
    rule.keys = s.get("keys", rule.keys);
    return rule;
}

SearchSettings search_settings_of(const Settings& s) {
    SearchSettings settings;
    settings.method = search_method_named(s.text("method", "grid"));
    settings.points = s.count("points", settings.points);
    settings.folds = fold_rule_of(s);
    const std::string measure = s.text("measure");
    if (!measure.empty()) settings.measure = measure_named(measure);
    settings.positive = s.text("positive");
    settings.one_standard_error = s.flag("one_standard_error", false);
    settings.seed = s.count("seed", settings.seed);
    settings.journal = s.text("journal");
    settings.share = s.flag("share", true);
    s.check("the search");
    return settings;
}

SearchTask searched_task(Task task, const nb::dict& values, const std::string& kernel) {
    const Settings s(values);
    // The kernel may have placeholders and is given to the search as text.
    FitSettings common = common_of(s, Kernel::parse("linear"));
    // Learnt anew from the rows of each fold.
    const std::string scaling = s.text("scaling", "");
    if (!scaling.empty()) common.scaling = ScalingRule::parse(scaling);
    std::optional<Nystroem> how;
    const std::string approximation = s.text("approximate", "");
    if (!approximation.empty()) how = Nystroem::parse(approximation);
    if (is_svm(task)) {
        return svm_search_task(svm_settings_of(task, common, s, values), kernel, how);
    }
    return search_task(machine_entry(task), common, values_of(values, s.asked()), kernel, how);
}

nb::dict dict_of(const SearchSpace& space, const SearchResult& result) {
    const std::size_t points = result.points.size();
    Matrix<double> values(points, space.axes().size());
    Matrix<double> scores(points, result.folds);
    std::vector<double> mean, deviation, seconds;
    std::vector<std::string> status, kernels;
    for (std::size_t i = 0; i < points; ++i) {
        const SearchPoint& point = result.points[i];
        for (std::size_t j = 0; j < values.columns(); ++j) values(i, j) = point.values[j];
        for (std::size_t f = 0; f < scores.columns(); ++f) {
            scores(i, f) = f < point.scores.size() ? point.scores[f]
                                                   : std::numeric_limits<double>::quiet_NaN();
        }
        mean.push_back(point.mean);
        deviation.push_back(point.deviation);
        seconds.push_back(point.seconds);
        status.push_back(point.status);
        kernels.push_back(space.kernel(point.values).text());
    }
    nb::dict d;
    std::vector<std::string> axes;
    for (const Axis& axis : space.axes()) axes.push_back(axis.name);
    d["axes"] = axes;
    d["values"] = give(std::move(values));
    d["scores"] = give(std::move(scores));
    d["mean"] = give(std::move(mean));
    d["deviation"] = give(std::move(deviation));
    d["seconds"] = give(std::move(seconds));
    d["status"] = status;
    d["kernels"] = kernels;
    d["measure"] = measure_name(result.measure);
    d["larger_is_better"] = larger_is_better(result.measure);
    d["best"] = result.best ? nb::cast(*result.best) : nb::none();
    d["shared"] = result.shared;
    d["cancelled"] = result.cancelled;
    d["taken"] = result.taken;
    return d;
}

/// `axes` as --grid has them; none: the search that is done where nobody says. `y` are numbers, or
/// positions of classes.
nb::dict tune(const std::string& task, const std::string& kernel, const nb::dict& machine,
              const std::vector<std::string>& axes, const nb::dict& how, const Rows& x,
              const Numbers& y, const std::vector<std::string>& names, nb::object callback) {
    Dataset data;
    data.x = x;
    data.y.values = copy_of(y);
    data.feature_names = names;
    SearchSettings settings = search_settings_of(Settings(how));
    const SearchTask searched = searched_task(task_named(task), machine, kernel);
    std::vector<Axis> grid;
    for (const std::string& text : axes) grid.push_back(Axis::parse(text));
    std::optional<FoundSettings> found;
    const std::function<void(const Progress&)> job = [&](const Progress& progress) {
        settings.progress = progress;
        if (grid.empty()) {
            found = default_search(searched, data, {.search = settings});
            return;
        }
        found = FoundSettings{.space = SearchSpace(searched, grid, data)};
        found->result = search(found->space, data, settings);
    };
    run_beside(job, std::move(callback));
    nb::dict d = dict_of(found->space, found->result);
    d["remarks"] = found->remarks;
    return d;
}

nb::dict dict_of(const CellSearch& found) {
    const std::size_t cells = found.cells.size();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    Matrix<double> values(cells, found.axes.size());
    std::vector<double> scores;
    std::vector<std::int64_t> rows;
    for (std::size_t k = 0; k < cells; ++k) {
        const CellChoice& cell = found.cells[k];
        for (std::size_t a = 0; a < found.axes.size(); ++a) {
            values(k, a) = a < cell.values.size() ? cell.values[a] : nan;
        }
        scores.push_back(cell.score);
        rows.push_back(static_cast<std::int64_t>(cell.rows));
    }
    nb::dict d;
    d["axes"] = found.axes;
    d["values"] = give(std::move(values));
    d["scores"] = give(std::move(scores));
    d["rows"] = give(std::move(rows));
    d["measure"] = measure_name(found.measure);
    d["larger_is_better"] = larger_is_better(found.measure);
    d["score"] = found.score;
    d["folds"] = found.folds;
    return d;
}

/// A search in each cell: the model, whose classes have the names `classes` or are the numbers
/// `class_values`, and what was chosen.
nb::tuple tune_cells(const std::string& task_text, const std::string& kernel,
                     const nb::dict& machine, const std::vector<std::string>& axes,
                     const nb::dict& how, const Rows& x, const Numbers& y,
                     const std::vector<std::string>& names, const std::vector<std::string>& classes,
                     const std::vector<double>& class_values, nb::object callback) {
    Dataset data;
    data.x = x;
    data.y.values = copy_of(y);
    data.feature_names = names;
    const SearchSettings settings = search_settings_of(Settings(how));
    const Task task = task_named(task_text);
    const Settings s(machine);
    const FitSettings common = common_of(s, Kernel::parse("linear"));
    const CellRule rule = CellRule::parse(s.text("approximate", ""));
    const CellTask searched =
        is_svm(task) ? svm_cell_task(svm_settings_of(task, common, s, machine), data)
                     : machine_cell_task(machine_entry(task), values_of(machine, s.asked()));
    std::vector<Axis> grid;
    for (const std::string& text : axes) grid.push_back(Axis::parse(text));
    CellSearch found;
    const std::function<void(const Progress&)> job = [&](const Progress& progress) {
        FitSettings own = common;
        own.progress = progress;
        found = search_cells(searched, own, kernel, grid, data, rule, settings);
    };
    run_beside(job, std::move(callback));
    ModelParts model = found.model.parts();
    model.expansion.points = model.expansion.points.owned();
    if (classes.size() + class_values.size() == model.classes()) {
        name_classes(model, classes, class_values);
    }
    return nb::make_tuple(Model(std::move(model)), dict_of(found));
}

}  // namespace

void bind_search(nb::module_& m) {
    m.def("tune_cells", &tune_cells, nb::arg("task"), nb::arg("kernel"), nb::arg("machine"),
          nb::arg("axes"), nb::arg("how"), nb::arg("x"), nb::arg("y"), nb::arg("names"),
          nb::arg("classes"), nb::arg("class_values"), nb::arg("callback").none());
    m.def("tune", &tune, nb::arg("task"), nb::arg("kernel"), nb::arg("machine"), nb::arg("axes"),
          nb::arg("how"), nb::arg("x"), nb::arg("y"), nb::arg("names"), nb::arg("callback").none());
    m.def(
        "axis_values", [](const std::string& axis) { return Axis::parse(axis).values; },
        nb::arg("axis"), "The values of an axis such as C=0.1:1000:log5");
}

}  // namespace mercer::python
