// What the page shows of a run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/learn/online/adatron.hpp"
#include "mercer/learn/online/perceptron.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "studio/workbench.hpp"

namespace mercer::studio {
namespace {

/// Numbers that are drawn need few digits.
Json brief(double value) {
    if (!std::isfinite(value)) return {};
    return std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr);
}

/// The part of the plane that the rows reach, with some room, and the means of all columns.
struct Window {
    double left = INFINITY, right = -INFINITY, bottom = INFINITY, top = -INFINITY;
    std::vector<double> base{};

    Window(const Dataset& data, std::size_t first, std::size_t second) : base(data.columns(), 0) {
        std::vector<double> row(data.columns());
        for (std::size_t i = 0; i < data.size(); ++i) {
            data.x.copy_row(i, row);
            for (std::size_t j = 0; j < row.size(); ++j) {
                base[j] += row[j] / static_cast<double>(data.size());
            }
            left = std::min(left, row[first]);
            right = std::max(right, row[first]);
            bottom = std::min(bottom, row[second]);
            top = std::max(top, row[second]);
        }
        widen(left, right);
        widen(bottom, top);
    }
    static void widen(double& low, double& high) {
        const double room = high > low ? 0.12 * (high - low) : 1;
        low -= room;
        high += room;
    }
    Rows nodes(std::size_t first, std::size_t second, std::size_t size) const {
        std::vector<double> values;
        std::vector<double> row = base;
        const auto part = [&](std::size_t k) {
            return static_cast<double>(k) / static_cast<double>(size - 1);
        };
        for (std::size_t i = 0; i < size; ++i) {
            row[second] = bottom + (top - bottom) * part(i);
            for (std::size_t j = 0; j < size; ++j) {
                row[first] = left + (right - left) * part(j);
                values.insert(values.end(), row.begin(), row.end());
            }
        }
        return Rows::dense(std::move(values), base.size());
    }
    Json json() const {
        return {{"left", left}, {"right", right}, {"bottom", bottom}, {"top", top}};
    }
};

Json curve_of(const TrainedRun& run) {
    const Dataset& data = run.table->data;
    std::vector<double> x(data.size());
    for (std::size_t i = 0; i < x.size(); ++i) data.x.copy_row(i, {&x[i], 1});
    const auto [low, high] = std::ranges::minmax(x);
    std::vector<double> places(240);
    for (std::size_t k = 0; k < places.size(); ++k) {
        places[k] = low + (high - low) * static_cast<double>(k) / 239.0;
    }
    const std::vector<double> values = run.model->predict(Rows::dense(places, 1));
    return {{"kind", "curve"},
            {"x", places},
            {"y", values},
            {"tube", number_of(run.model->report().epsilon)},
            {"support", run.model->origins()}};
}

void require_rows(const TrainedRun& run) {
    if (!run.table) {
        throw InvalidInput("there are no rows with the columns of this model; load them first");
    }
}

/// The row's position among the points of the expansion, or their number.
std::size_t place_in(const Model& model, std::size_t row) {
    const auto& origins = model.origins();
    return static_cast<std::size_t>(std::ranges::find(origins, row) - origins.begin());
}

Json nearest_points(const Model& model, const Dataset& data, std::size_t row) {
    const std::size_t one[]{row};
    const Rows scaled = model.scaling().apply(rows_for(model, data.x.select(one)));
    const Gram<double> gram(model.expansion().kernel, model.expansion().points);
    const Points<double> x = gram.prepare(scaled);
    Matrix<double> k(1, gram.size());
    gram.block(x, gram.reference(), k.view());
    std::vector<double> own(1);
    std::vector<double> theirs(gram.size());
    gram.diagonal(x, own);
    gram.diagonal(gram.reference(), theirs);
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t j = 0; j < gram.size(); ++j) {
        order.emplace_back(std::max(0.0, own[0] + theirs[j] - 2 * k(0, j)), j);
    }
    std::ranges::sort(order);
    Json list = Json::array();
    for (const auto& [distance2, j] : order) {
        if (list.size() == 5) break;
        const bool known = j < model.origins().size();
        if (known && model.origins()[j] == row) continue;
        list.push_back({{"row", known ? Json(model.origins()[j]) : Json()},
                        {"distance", brief(std::sqrt(distance2))},
                        {"kernel", brief(k(0, j))}});
    }
    return list;
}

/// A field of a table: quoted where it has to be.
std::string table_field(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string result = "\"";
    for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + '"';
}

}  // namespace

std::string csv_of(const Dataset& data) {
    if (!data.x.objects().empty() || data.columns() == 0) {
        throw InvalidInput("only rows of numbers are written as a table here; keep the file");
    }
    std::string text;
    for (std::size_t j = 0; j < data.columns(); ++j) {
        text += j == 0 ? "" : ",";
        text += j < data.feature_names.size() ? table_field(data.feature_names[j])
                                              : fmt::format("x{}", j);
    }
    if (!data.y.empty()) text += ",label";
    text += '\n';
    std::vector<double> row(data.columns());
    for (std::size_t i = 0; i < data.size(); ++i) {
        data.x.copy_row(i, row);
        for (std::size_t j = 0; j < row.size(); ++j)
            text += (j == 0 ? "" : ",") + format_number(row[j]);
        if (!data.y.empty()) text += ',' + table_field(data.y.text(i));
        text += '\n';
    }
    return text;
}

Json summary_of(const TrainedRun& run) {
    const Model& model = *run.model;
    const Report r = model.report();
    Json settings = Json::object();
    for (const auto& [name, value] : run.recipe.settings) settings[name] = value;
    return {
        {"id", run.id},
        {"source", run.source},
        {"task", task_name(model.task())},
        {"kernel", model.expansion().kernel.text()},
        {"asked", run.recipe.kernel},
        {"scale", run.recipe.scale},
        {"settings", settings},
        {"table", run.table ? Json(run.table->number) : Json()},
        {"data", run.table ? Json(run.table->name) : Json()},
        {"status", describe(r.status)},
        {"support", model.points()},
        {"bracketed", r.is_bracketed()},
        {"primal", number_of(r.primal)},
        {"dual", number_of(r.dual)},
        {"gap", number_of(r.relative_gap)},
        {"violation", number_of(r.kkt_violation)},
        {"margin", number_of(r.margin)},
        {"seconds", number_of(r.seconds)},
        {"verified", run.verified.is_null() ? Json() : Json(run.verified.value("holds", false))}};
}

Json view_of(const TrainedRun& run, std::size_t first, std::size_t second, std::size_t size) {
    require_rows(run);
    const Model& model = *run.model;
    if (has_no_machine(model.report().status)) return {{"kind", "none"}};
    if (model.columns() == 1 && is_regressor(model.task())) return curve_of(run);
    const Dataset& data = run.table->data;
    // Planes of very wide rows would take gigabytes.
    if (model.columns() < 2 || model.columns() > 2000) return {{"kind", "none"}};
    first = std::min(first, model.columns() - 1);
    second = std::min(second, model.columns() - 1);
    const Window window(data, first, second);
    const Matrix<double> f = model.decision(window.nodes(first, second, size));
    Json json = window.json();
    json["size"] = size;
    json["support"] = model.origins();
    Json values = Json::array();
    if (is_classifier(model.task()) && f.columns() != 1) {
        json["kind"] = "classes";
        for (const double c : model.classify(f.view())) values.push_back(c);
    } else {
        const bool two = is_classifier(model.task());
        json["kind"] = two ? "two" : is_regressor(model.task()) ? "values" : "region";
        json["margin"] = two && is_svm(model.task());
        for (std::size_t i = 0; i < f.rows(); ++i) values.push_back(brief(f(i, 0)));
    }
    json["values"] = std::move(values);
    return json;
}

Json point_of(const TrainedRun& run, std::size_t row) {
    require_rows(run);
    const Model& model = *run.model;
    const Dataset& data = run.table->data;
    if (row >= data.size()) throw InvalidInput(fmt::format("there is no row {}", row + 1));
    const std::size_t one[]{row};
    const Rows x = data.x.select(one);
    const Matrix<double> f = model.decision(x);
    std::vector<double> values(data.columns());
    data.x.copy_row(row, values);
    Json json{{"row", row}, {"values", values}, {"label", data.y.empty() ? "" : data.y.text(row)}};
    Json decisions = Json::array();
    for (const double value : f.values()) decisions.push_back(brief(value));
    json["decision"] = decisions;
    json["predicted"] = model.predict_labels(x).text(0);
    const std::size_t place = place_in(model, row);
    Json alpha = Json::array();
    if (place < model.expansion().size()) {
        for (std::size_t c = 0; c < model.expansion().outputs(); ++c) {
            alpha.push_back(brief(std::abs(model.expansion().coefficients(c, place))));
        }
    }
    json["alpha"] = alpha;
    json["parts"] = parts_of(data, row);
    if (is_svm(model.task()) && is_classifier(model.task()) && f.columns() == 1 &&
        !data.y.empty()) {
        const double sign = data.y.text(row) == model.class_names()[0] ? 1 : -1;
        json["slack"] = brief(std::max(0.0, 1 - sign * f(0, 0)));
    } else if ((model.task() == Task::svr || model.task() == Task::nu_svr) && !data.y.empty()) {
        json["slack"] =
            brief(std::max(0.0, std::abs(data.y.values[row] - f(0, 0)) - model.report().epsilon));
    }
    try {
        json["nearest"] = nearest_points(model, data, row);
    } catch (const InvalidInput& error) {
        json["nearest"] = Json::array();
    }
    return json;
}

Json lecture_of(const Json& asked) {
    const auto& x = asked.at("x");
    const auto& y = asked.at("y");
    if (!x.is_array() || x.size() != y.size() || x.size() < 2 || x.size() > 300) {
        throw InvalidInput("a lecture has 2 to 300 points of two classes");
    }
    Dataset data;
    std::vector<double> values;
    for (std::size_t i = 0; i < x.size(); ++i) {
        values.insert(values.end(), {x[i].at(0).get<double>(), x[i].at(1).get<double>()});
        data.y.values.push_back(y[i].get<int>() > 0 ? 1 : -1);
    }
    data.x = Rows::dense(std::move(values), 2);
    const auto step = asked.at("step").get<std::size_t>();
    if (step < 1 || step > 100000) throw InvalidInput("steps count from 1 to 100000");
    const std::string method = asked.at("method").get<std::string>();
    const FitSettings common{.kernel = Kernel::parse(asked.at("kernel").get<std::string>())};
    const double C = asked.value("C", 10.0);
    Model model;
    Json moved = Json::array();
    if (method == "perceptron") {
        model = perceptron({.common = common, .passes = step}).fit(data);
    } else if (method == "adatron") {
        model = adatron({.common = common, .C = C, .passes = step}).fit(data);
    } else if (method == "smo") {
        SvmSettings settings{
            .common = common, .C = C, .iteration_limit = step, .method = DualMethod::smo};
        settings.trace = [&](const FitStep& s) { moved = {s.step.row[0], s.step.row[1]}; };
        model = Svm(settings).fit(data);
    } else {
        throw InvalidInput("lectures are of perceptron, adatron and smo, not " +
                           mercer::quoted(method));
    }
    const Report r = model.report();
    Json alphas = Json::array();
    for (std::size_t i = 0; i < data.size(); ++i) {
        const std::size_t place = place_in(model, i);
        alphas.push_back(place < model.expansion().size()
                             ? brief(std::abs(model.expansion().coefficients(0, place)))
                             : Json(0));
    }
    const TrainedRun run{.table = std::make_shared<const Table>(Table{.data = data}),
                         .model = model};
    Json json = view_of(run, 0, 1, 70);
    json["alpha"] = alphas;
    json["moved"] = moved;
    json["dual"] = number_of(r.dual);
    json["primal"] = number_of(r.primal);
    json["norm"] = number_of(std::sqrt(r.squared_norm));
    json["margin_size"] = number_of(r.margin);
    json["violation"] = number_of(r.kkt_violation);
    json["mistakes"] =
        r.figures.contains("last_mistakes") ? Json(r.figures.at("last_mistakes")) : Json();
    json["finished"] = r.status == FitStatus::converged;
    return json;
}

Json projection_of(const Table& table, const std::string& kernel, std::size_t most) {
    // Some hundred rows settle the components; all rows shown are put on them.
    const auto sample = shown_rows(table.data.size(), 600);
    const auto shown = shown_rows(table.data.size(), most);
    const Dataset few = table.data.select(sample);
    const Model model =
        kernel_pca({.common = {.kernel = Kernel::parse(kernel)}, .components = 2}).fit(few);
    const Matrix<double> f = model.decision(table.data.x.select(shown));
    Json x = Json::array(), y = Json::array();
    for (std::size_t i = 0; i < f.rows(); ++i) {
        x.push_back(brief(f(i, 0)));
        y.push_back(f.columns() > 1 ? brief(f(i, 1)) : Json(0));
    }
    return {{"x", x}, {"y", y}};
}

}  // namespace mercer::studio
