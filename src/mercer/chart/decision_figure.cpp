// What a model makes of a plane, or of a line.
#include <algorithm>
#include <array>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/chart/detail/number.hpp"
#include "mercer/chart/detail/plane.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"

namespace mercer::chart {
namespace {

constexpr Stroke boundary_line{.colour = ink, .width = 1.8};
constexpr Stroke margin{.colour = ink, .width = 1.1, .dashed = true};

/// Everything the parts of a figure ask for.
struct Scene {
    const Model& model;
    const Dataset& data;
    const PlaneSettings& settings;
    Plane plane;
    Panel& panel;

    /// Some columns of the rows, thinned.
    void points(std::span<const std::size_t> rows, Dots style) const {
        std::vector<double> row(data.columns());
        for (const std::size_t i : rows) {
            data.x.copy_row(i, row);
            const auto value = [&](std::size_t c) { return c < row.size() ? row[c] : 0; };
            style.x.push_back(value(plane.first));
            style.y.push_back(value(plane.second));
        }
        panel.add(std::move(style));
    }
    void support() const {
        const Matrix<double> found = support_points(model, data.size());
        if (found.rows() == 0) return;
        Dots rings{.name = std::to_string(found.rows()) + " support vectors",
                   .colour = ink,
                   .shape = Shape::ring,
                   .size = 5.2};
        for (std::size_t i = 0; i < found.rows(); ++i) {
            rings.x.push_back(found(i, plane.first));
            rings.y.push_back(found(i, plane.second));
        }
        panel.add(std::move(rings));
    }
    Rows nodes() const { return plane.nodes(settings.resolution); }
    GridField field(const Matrix<double>& values, std::size_t column = 0) const {
        return plane.field(as_square(values, column, settings.resolution));
    }
};

/// Rows of each class, thinned together.
void add_classes(const Scene& scene) {
    const auto rows = thinned_rows(scene.data.size(), scene.settings.most_points);
    if (scene.data.y.empty()) {
        scene.points(rows, {.colour = ink, .size = 2.4});
        return;
    }
    const std::vector<std::string>& names = scene.model.class_names();
    constexpr std::array<Shape, 4> shapes{Shape::circle, Shape::square, Shape::triangle,
                                          Shape::diamond};
    for (std::size_t c = 0; c < names.size(); ++c) {
        std::vector<std::size_t> members;
        for (const std::size_t i : rows) {
            const bool same = scene.model.class_values().empty()
                                  ? scene.data.y.text(i) == names[c]
                                  : scene.data.y.values[i] == scene.model.class_values()[c];
            if (same) members.push_back(i);
        }
        scene.points(
            members,
            {.name = names[c], .colour = colour(c), .shape = shapes[c % shapes.size()], .size = 3});
    }
}

/// Where each of these numbers holds, in its own tint.
void add_numbered_regions(const Scene& scene, const std::vector<double>& numbers,
                          std::size_t count) {
    for (std::size_t c = 0; c < count; ++c) {
        Matrix<double> inside(numbers.size(), 1);
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            inside(k, 0) = numbers[k] == static_cast<double>(c) ? 1 : 0;
        }
        // The first lies under all; the others are painted where they hold.
        const Colour under = c == 0 ? tint(0) : Colour{0, 0, 0, 0};
        scene.panel.add(
            Fill{.field = scene.field(inside), .levels = {0.5}, .colours = {under, tint(c)}});
    }
}

void add_class_regions(const Scene& scene) {
    const Model& model = scene.model;
    const Rows nodes = scene.nodes();
    const Matrix<double> values = model.decision(nodes, scene.settings.progress);
    const std::size_t classes = model.class_names().size();
    if (classes == 2 && values.columns() == 1) {
        const GridField field = scene.field(values);  // positive: the first class
        scene.panel.add(Fill{.field = field, .levels = {0}, .colours = {tint(1), tint(0)}});
        if (is_svm(model.task())) {
            Stroke style = margin;
            scene.panel.add(Level{.field = field, .value = 1, .name = "margin", .style = style});
            scene.panel.add(Level{.field = field, .value = -1, .style = style});
        }
        scene.panel.add(
            Level{.field = field, .value = 0, .name = "border", .style = boundary_line});
        return;
    }
    add_numbered_regions(scene, model.classify(values.view()), classes);
}

/// Even steps over what the values reach.
std::vector<double> even_levels(const GridField& field, std::size_t count) {
    const auto [low, high] = std::ranges::minmax(field.values.values());
    std::vector<double> levels;
    for (std::size_t k = 1; k < count && high > low; ++k) {
        levels.push_back(low + (high - low) * static_cast<double>(k) / static_cast<double>(count));
    }
    return levels;
}

Fill ramp_fill(const GridField& field, Ramp ramp, const std::string& name) {
    Fill fill{.field = field, .levels = even_levels(field, 12), .name = name};
    for (std::size_t k = 0; k <= fill.levels.size(); ++k) {
        const double t =
            (static_cast<double>(k) + 0.5) / static_cast<double>(fill.levels.size() + 1);
        fill.colours.push_back(colour(ramp, t));
    }
    return fill;
}

void add_one_class(const Scene& scene) {
    const GridField field =
        scene.field(scene.model.decision(scene.nodes(), scene.settings.progress));
    scene.panel.add(ramp_fill(field, Ramp::blues, "f"));
    scene.panel.add(Level{.field = field,
                          .value = 0,
                          .name = "edge of the region",
                          .style = {.colour = {178, 24, 43}, .width = 2}});
    const std::vector<double> side = scene.model.predict(scene.data.x, scene.settings.progress);
    std::vector<std::size_t> inside;
    std::vector<std::size_t> outside;
    for (const std::size_t i : thinned_rows(scene.data.size(), scene.settings.most_points)) {
        (side[i] > 0 ? inside : outside).push_back(i);
    }
    scene.points(inside, {.name = "inside", .colour = ink, .size = 2.2});
    scene.points(outside,
                 {.name = "outside", .colour = {178, 24, 43}, .shape = Shape::cross, .size = 3});
}

std::string title_of(const Model& model) {
    return task_name(model.task()) + ", " + model.expansion().kernel.text();
}

Panel& begin_panel(Drawing& figure, const Model& model, const PlaneSettings& settings) {
    Panel& panel = figure.panel();
    panel.x.label = column_label(model.feature_names(), settings.first);
    panel.y.label = column_label(model.feature_names(), settings.second);
    return panel;
}

void add_components(Drawing& figure, const Model& model, const Dataset& data,
                    const PlaneSettings& settings) {
    const Plane plane(model, data, settings);
    const Matrix<double> values =
        model.decision(plane.nodes(settings.resolution), settings.progress);
    const auto rows = thinned_rows(data.size(), settings.most_points);
    for (std::size_t c = 0; c < std::min<std::size_t>(values.columns(), 6); ++c) {
        Panel& panel = begin_panel(figure, model, settings);
        panel.title = "component " + std::to_string(c + 1);
        panel.width = panel.height = 260;
        const Scene scene{model, data, settings, plane, panel};
        Fill fill = ramp_fill(scene.field(values, c), Ramp::diverging, " ");
        panel.add(fill);
        scene.points(rows, {.colour = ink, .size = 1.8});
    }
}

/// A regression on one column.
void add_curve(Drawing& figure, const Model& model, const Dataset& data,
               const PlaneSettings& settings) {
    Panel& panel = figure.panel();
    panel.width = 520;
    panel.x.label = column_label(model.feature_names(), 0);
    panel.y.label = model.roles().label_name.empty() ? "target" : model.roles().label_name;
    std::vector<double> x(data.size());
    for (std::size_t i = 0; i < data.size(); ++i) data.x.copy_row(i, {&x[i], 1});
    const auto [low, high] = std::ranges::minmax(x);
    Line line{.name = task_name(model.task()), .style = {.width = 2}};
    constexpr std::size_t count = 400;
    for (std::size_t k = 0; k < count; ++k) {
        line.x.push_back(low + (high - low) * static_cast<double>(k) / (count - 1));
    }
    const Rows places = Rows::dense(line.x, 1);
    line.y = model.predict(places, settings.progress);
    const auto band = [&](const std::vector<double>& width, const std::string& name) {
        Band tube{.x = line.x, .name = name};
        for (std::size_t k = 0; k < count; ++k) {
            tube.low.push_back(line.y[k] - width[k]);
            tube.high.push_back(line.y[k] + width[k]);
        }
        panel.add(std::move(tube));
    };
    const double epsilon = model.report().epsilon;
    if (model.task() == Task::gp) {
        std::vector<double> deviation = predictive_deviation(model, places);
        for (double& d : deviation) d *= 2;
        band(deviation, "two deviations");
    } else if (epsilon > 0 && model.trained().tube.empty() && !model.trained().tube_given) {
        band(std::vector<double>(count, epsilon), "tube, ε = " + short_number(epsilon));
    }
    panel.add(line);
    if (!data.y.empty()) {
        Dots rows{.name = "rows", .colour = {90, 90, 90}, .size = 2.2};
        for (const std::size_t i : thinned_rows(data.size(), settings.most_points)) {
            rows.x.push_back(x[i]);
            rows.y.push_back(data.y.values[i]);
        }
        panel.add(std::move(rows));
        if (is_svm(model.task()) && model.origins().size() < data.size()) {
            Dots rings{.name = std::to_string(model.origins().size()) + " support vectors",
                       .colour = ink,
                       .shape = Shape::ring,
                       .size = 4.8};
            for (const std::size_t i : model.origins()) {
                if (i >= data.size()) continue;
                rings.x.push_back(x[i]);
                rings.y.push_back(data.y.values[i]);
            }
            panel.add(std::move(rings));
        }
    }
}

}  // namespace

Drawing decision_figure(const Model& model, const Dataset& data, const PlaneSettings& settings) {
    if (model.columns() == 0) {
        throw InvalidInput("the model's rows have no columns of numbers to draw a plane of");
    }
    Drawing figure{.title = title_of(model)};
    if (is_regressor(model.task()) && model.columns() == 1) {
        add_curve(figure, model, data, settings);
        return figure;
    }
    if (is_projection(model.task())) {
        add_components(figure, model, data, settings);
        return figure;
    }
    Panel& panel = begin_panel(figure, model, settings);
    panel.width = panel.height = 380;
    const Scene scene{model, data, settings, Plane(model, data, settings), panel};
    if (model.columns() > 2) panel.title = "the other columns at their means";
    if (is_classifier(model.task())) {
        add_class_regions(scene);
        add_classes(scene);
    } else if (is_regressor(model.task())) {
        const Matrix<double> values = model.decision(scene.nodes(), settings.progress);
        panel.add(ramp_fill(scene.field(values), Ramp::viridis, "f"));
        scene.points(thinned_rows(data.size(), settings.most_points), {.colour = ink, .size = 2.2});
    } else if (is_clustering(model.task())) {
        const std::vector<double> groups = model.predict(scene.nodes(), settings.progress);
        const double last = groups.empty() ? 0 : std::ranges::max(groups);
        add_numbered_regions(scene, groups, static_cast<std::size_t>(last) + 1);
        scene.points(thinned_rows(data.size(), settings.most_points), {.colour = ink, .size = 2.2});
    } else {
        add_one_class(scene);
    }
    scene.support();
    return figure;
}

}  // namespace mercer::chart
