// Trained models: what estimators read off them and predict with.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "common/labels.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/theory/certificate_check.hpp"

namespace mercer::python {
namespace {

nb::dict report_dict(const Report& r) {
    nb::dict d;
    d["name"] = r.name;
    d["status"] = describe(r.status);
    d["converged"] = r.status == FitStatus::converged;
    const bool asked = r.convexity != Convexity::not_asked;
    d["certifies"] = !asked ? "nothing" : r.is_bracketed() ? "optimum" : "stationary point";
    d["convexity"] = describe(r.convexity);
    d["least_curvature"] = r.least_curvature;
    d["curvature_error"] = r.curvature_error;
    d["primal"] = r.primal;
    d["dual"] = r.dual;
    d["gap"] = r.gap;
    d["relative_gap"] = r.relative_gap;
    d["kkt_violation"] = r.kkt_violation;
    d["infeasibility"] = r.infeasibility;
    d["margin"] = r.margin;
    d["squared_norm"] = r.squared_norm;
    d["bias"] = r.bias;
    d["rho"] = r.rho;
    d["epsilon"] = r.epsilon;
    d["radius"] = r.radius;
    d["rows"] = r.rows;
    d["free_support_vectors"] = r.free_support_vectors;
    d["bounded_support_vectors"] = r.bounded_support_vectors;
    d["margin_errors"] = r.margin_errors;
    d["nu"] = r.nu;
    d["fraction_errors"] = r.fraction_errors;
    d["fraction_support"] = r.fraction_support;
    d["iterations"] = r.iterations;
    d["kernel_evaluations"] = r.kernel_evaluations;
    d["seconds"] = r.seconds;
    if (has_no_machine(r.status)) {
        d["hull_weights"] = give(std::vector<double>(r.hull_weights));
        d["hull_distance"] = r.hull_distance;
        d["margin_bound"] = r.margin_bound;
    }
    d["figures"] = nb::cast(r.figures);
    d["history"] = give(std::vector<double>(r.history));
    return d;
}

/// Whether these rows are answered before a thread that could be told to stop would have begun.
bool at_once(const Predictor& predictor, const Rows& x) {
    constexpr std::size_t few = 1 << 20;  // products: well below a millisecond
    const std::size_t columns = x.columns() + 1;
    const std::size_t points = predictor.model().points() + 1;
    return x.object_names().empty() && x.size() <= few / columns / points;
}

nb::object decision(const Predictor& predictor, const Rows& x) {
    Matrix<double> out;
    if (at_once(predictor, x)) {
        const nb::gil_scoped_release free;
        out = predictor.decision(x);
    } else {
        run_beside([&](const Progress& progress) { out = predictor.decision(x, progress); });
    }
    return nb::cast(give(std::move(out)));
}

nb::object probabilities(const Predictor& predictor, const Rows& x) {
    Matrix<double> out;
    if (at_once(predictor, x)) {
        const nb::gil_scoped_release free;
        out = predictor.probabilities(x);
    } else {
        run_beside([&](const Progress& progress) { out = predictor.probabilities(x, progress); });
    }
    return nb::cast(give(std::move(out)));
}

nb::object deviation(const Model& model, const Rows& x, bool with_noise) {
    std::vector<double> out;
    run_beside([&](const Progress& progress) {
        out = predictive_deviation(model, x, with_noise, progress);
    });
    return nb::cast(give(std::move(out)));
}

nb::object classify(const Model& model, const Table& decisions) {
    const MatrixView<const double> view(decisions.data(), decisions.shape(0), decisions.shape(1));
    return nb::cast(give(model.classify(view)));
}

nb::object sets_of(const Model& model, const Table& decisions) {
    const MatrixView<const double> view(decisions.data(), decisions.shape(0), decisions.shape(1));
    return nb::cast(give(model.sets_of(view)));
}

nb::bytes to_bytes(const Model& model) {
    const std::string bytes = save_to_memory(model);
    return nb::bytes(bytes.data(), bytes.size());
}

Model from_bytes(const nb::bytes& bytes) {
    return load_from_memory({bytes.c_str(), bytes.size()}, "pickled model");
}

nb::dict arrays_dict(const Model& model) {
    nb::dict result;
    for (const auto& [name, matrix] : model.extras().arrays()) {
        result[name.c_str()] = give(Matrix(*matrix));
    }
    return result;
}

/// Platt's sigmoids, a row (a, b) for each output; none without probabilities.
Matrix<double> sigmoids_of_model(const Model& model) {
    const std::span<const Sigmoid> sigmoids = sigmoids_of(model.extras());
    Matrix<double> table(sigmoids.size(), 2);
    for (std::size_t i = 0; i < sigmoids.size(); ++i) {
        table(i, 0) = sigmoids[i].a;
        table(i, 1) = sigmoids[i].b;
    }
    return table;
}

/// Numbers it was trained with, as estimators call them.
nb::dict trained_dict(const Model& model) {
    nb::dict result;
    result["C"] = model.trained().C;
    result["nu"] = model.trained().nu;
    result["epsilon"] = model.trained().epsilon;
    result["tol"] = model.trained().tolerance;
    return result;
}

nb::list reports_list(const Model& model) {
    nb::list result;
    for (const Report& report : model.reports()) result.append(report_dict(report));
    return result;
}

/// One dict a cell; empty for models that are not of cells.
nb::list cells_list(const Model& model) {
    nb::list result;
    const Cells* const cells = cells_of(model);
    for (std::size_t k = 0; cells && k < cells->all.size(); ++k) {
        const Cell& cell = cells->all[k];
        nb::dict d;
        d["state"] = std::string(cell_state_words.word(cell.state));
        d["rows"] = cell.rows;
        if (cell.model) {
            d["kernel"] = cell.model->expansion().kernel.text();
            d["C"] = cell.model->trained().C;
            d["support_vectors"] = cell.model->expansion().size();
            d["report"] = report_dict(cell.model->report());
        }
        result.append(d);
    }
    return result;
}

/// The training data as the model knows it: `y` are numbers, or positions of classes.
Dataset training_data(const Model& model, const Rows& x, const std::optional<Numbers>& y,
                      const std::optional<Numbers>& weights) {
    Dataset data;
    data.x = x;
    if (y) data.y = labels_of(model, *y);
    if (weights) data.weights = copy_of(*weights);
    return data;
}

/// The certificate recomputed, one dict a problem.
nb::list check(const Model& model, const Rows& x, const std::optional<Numbers>& y,
               const std::optional<Numbers>& weights, bool rigorous) {
    const Dataset data = training_data(model, x, y, weights);
    std::vector<CheckedReport> checks;
    run_beside([&](const Progress& progress) {
        checks = check_certificate(model, data, progress);
        if (rigorous) add_proofs(checks, model, data, progress);
    });
    nb::list result;
    for (const CheckedReport& c : checks) {
        nb::dict d;
        d["claimed"] = report_dict(c.claimed);
        d["found"] = report_dict(c.found);
        d["broken"] = nb::cast(c.broken);
        d["proved"] = nb::none();
        if (c.proved) d["proved"] = nb::make_tuple(c.proved->low, c.proved->high);
        result.append(d);
    }
    return result;
}

}  // namespace

void bind_model(nb::module_& m) {
    nb::class_<Model>(m, "Model", "A trained machine.")
        .def_prop_ro("task", [](const Model& model) { return task_name(model.task()); })
        .def_prop_ro("kernel", [](const Model& model) { return model.expansion().kernel; })
        .def_prop_ro("columns", [](const Model& model) { return model.columns(); })
        .def_prop_ro("feature_names", [](const Model& model) { return model.feature_names(); })
        .def_prop_ro("has_probabilities",
                     [](const Model& model) { return has_probabilities(model); })
        .def_prop_ro(
            "one_vs_rest",
            [](const Model& model) { return model.multi_class() == MultiClass::one_vs_rest; })
        .def("trained", &trained_dict)
        .def_prop_ro("class_names", [](const Model& model) { return model.class_names(); })
        .def_prop_ro("target_names", [](const Model& model) { return model.target_names(); })
        .def_prop_ro("class_values", [](const Model& model) { return model.class_values(); })
        .def_prop_ro(
            "origins",
            [](const Model& model) {
                return give(
                    std::vector<std::int64_t>(model.origins().begin(), model.origins().end()));
            },
            nb::rv_policy::move)
        .def_prop_ro(
            "coefficients",
            [](const Model& model) { return give(Matrix(model.expansion().coefficients)); },
            nb::rv_policy::move)
        .def_prop_ro(
            "bias", [](const Model& model) { return give(std::vector(model.expansion().bias)); },
            nb::rv_policy::move)
        .def_prop_ro("size", [](const Model& model) { return model.points(); })
        .def_prop_ro("double_precision",
                     [](const Model& model) { return model.double_precision(); })
        .def("points", [](const Model& model) { return rows_to_arrays(model.expansion().points); })
        .def_prop_ro("objects",
                     [](const Model& model) {
                         nb::dict kinds;
                         for (const ObjectName& object : model.expansion().points.object_names()) {
                             const bool text = object.kind == ObjectKind::text;
                             kinds[nb::str(object.name.c_str())] = text ? "texts"
                                                                   : object.kind == ObjectKind::node
                                                                       ? "nodes"
                                                                       : "graphs";
                         }
                         return kinds;
                     })
        .def("texts", [](const Model& model) { return texts_of(model.expansion().points); })
        .def("arrays", &arrays_dict)
        .def_prop_ro(
            "sigmoids", [](const Model& model) { return give(sigmoids_of_model(model)); },
            nb::rv_policy::move)
        .def("report",
             [](const Model& model) {
                 const Report report = model.report();
                 nb::dict d = report_dict(report);
                 if (report.is_bracketed() && model.trained().numbers.contains("centres")) {
                     d["certifies"] = "optimum in the span";
                 }
                 if (report.is_bracketed() && cells_of(model)) {
                     d["certifies"] = "optimum of each cell";
                 }
                 return d;
             })
        .def("reports", &reports_list)
        .def("cells", &cells_list)
        .def("check", &check, nb::arg("x"), nb::arg("y").none(), nb::arg("weights").none(),
             nb::arg("rigorous"))
        .def("decision",
             [](const Model& model, const Rows& x) { return decision(Predictor(model), x); })
        .def("classify", &classify)
        .def("sets_of", &sets_of)
        .def("probabilities",
             [](const Model& model, const Rows& x) { return probabilities(Predictor(model), x); })
        .def("deviation", &deviation)
        .def("to_bytes", &to_bytes)
        .def_static("from_bytes", &from_bytes)
        .def("save", [](const Model& model, const std::string& path) { save(model, path); })
        .def_static("load", [](const std::string& path) { return load(path); });
    nb::class_<Predictor>(m, "Predictor",
                          "A model as it is now, made ready to predict from any thread.")
        .def(nb::init<Model>())
        .def("decision", &decision)
        .def("probabilities", &probabilities);
}

}  // namespace mercer::python
