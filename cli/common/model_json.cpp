// Models and their certificates for programs to read.
#include "cli/common/cell_output.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/kernel/definiteness.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/convexity.hpp"

namespace mercer::cli {

namespace {

using Json = nlohmann::ordered_json;

void null_if_infinite(Json& item) {
    if (item.is_number_float()) item = json_number(item.get<double>());
    if (!item.is_structured()) return;
    for (Json& part : item) null_if_infinite(part);
}

}  // namespace

Json json_of(const Report& r) {
    Json json{{"name", r.name},
              {"status", describe(r.status)},
              {"converged", r.status == FitStatus::converged},
              {"primal", r.primal},
              {"dual", r.dual},
              {"gap", r.gap},
              {"relative_gap", r.relative_gap},
              {"kkt_violation", r.kkt_violation},
              {"infeasibility", r.infeasibility},
              {"margin", r.margin},
              {"squared_norm", r.squared_norm},
              {"bias", r.bias},
              {"rho", r.rho},
              {"epsilon", r.epsilon},
              {"radius", r.radius},
              {"rows", r.rows},
              {"support_vectors", r.support_vectors()},
              {"free_support_vectors", r.free_support_vectors},
              {"bounded_support_vectors", r.bounded_support_vectors},
              {"margin_errors", r.margin_errors},
              {"iterations", r.iterations},
              {"kernel_evaluations", r.kernel_evaluations},
              {"seconds", r.seconds > 0 ? Json(r.seconds) : Json()}};
    if (r.convexity != Convexity::not_asked) {
        json["certifies"] = r.is_bracketed() ? "optimum" : "stationary point";
        json["convexity"] = describe(r.convexity);
    }
    if (r.curvature_error > 0) {
        json["least_curvature"] = r.least_curvature;
        json["curvature_error"] = r.curvature_error;
    }
    if (!r.figures.empty()) json["figures"] = r.figures;
    if (!r.history.empty()) json["history"] = r.history;
    if (r.nu > 0) {
        json["nu_property"] = {{"nu", r.nu},
                               {"fraction_errors", r.fraction_errors},
                               {"fraction_support", r.fraction_support}};
    }
    if (has_no_machine(r.status)) {
        json["margin_bound"] = r.margin_bound;
        json["hull_distance"] = r.hull_distance;
        json["hull_weights"] = r.hull_weights;
    }
    // A machine that was stopped may have no bound yet, and figures are only told.
    for (Json& item : json) null_if_infinite(item);
    return json;
}

Json json_of(const Model& model) {
    const TrainedWith& t = model.trained();
    Json parts = Json::array();
    for (const Report& report : model.reports()) parts.push_back(json_of(report));
    Json json{{"task", task_name(model.task())},
              {"kernel", model.expansion().kernel.text()},
              {"definite", describe(definiteness(model.expansion().kernel).definite)},
              {"scaling", model.scaling().rule().text()},
              {"columns", model.columns()},
              {"support_vectors", model.points()},
              {"outputs", output_names(model)},
              {"trained",
               {{"C", t.C},
                {"nu", t.nu},
                {"epsilon", t.epsilon},
                {"tolerance", t.tolerance},
                {"bias", t.bias},
                {"tube", t.tube},
                {"tube_given", t.tube_given},
                {"class_weights", t.class_weights},
                {"numbers", t.numbers}}},
              {"precision", model.double_precision() ? "double" : "single"},
              {"probability", has_probabilities(model)}};
    if (is_classifier(model.task())) {
        json["multi_class"] = model.multi_class() == MultiClass::one_vs_one ? "ovo" : "ovr";
        json["classes"] = model.class_names();
        const std::vector<std::size_t> points = points_by_class(model);
        if (!points.empty()) json["support_vectors_by_class"] = points;
    }
    for (const auto& [name, array] : model.extras().arrays()) {
        json["arrays"][name] = {array->rows(), array->columns()};
    }
    const Cells* const cells = cells_of(model);
    if (cells) json["cells"] = json_of(*cells);
    if (!model.feature_names().empty()) json["features"] = model.feature_names();
    if (!model.reports().empty()) {
        json["certificate"] = json_of(model.report());
        if (model.report().is_bracketed() && model.trained().numbers.contains("centres")) {
            json["certificate"]["certifies"] = "optimum in the span";
        }
        if (model.report().is_bracketed() && cells) {
            json["certificate"]["certifies"] = "optimum of each cell";
        }
        json["parts"] = std::move(parts);
    }
    return json;
}

}  // namespace mercer::cli
