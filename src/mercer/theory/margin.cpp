#include "mercer/theory/margin.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/feature/geometry.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/cells/cells.hpp"

namespace mercer {
namespace {

/// From f(x) of each row and whether it should be positive.
PlaneMargin measured(std::vector<double> f, const std::vector<bool>& is_positive, double norm,
                     std::string positive) {
    if (!(norm > 0)) throw InvalidInput("w = 0 is no plane: it has no direction");
    PlaneMargin result{.positive = std::move(positive), .norm = norm, .rows = std::move(f)};
    for (std::size_t i = 0; i < result.rows.size(); ++i) {
        if (!is_positive[i]) result.rows[i] = -result.rows[i];
        result.errors += result.rows[i] > 0 ? 0 : 1;
    }
    result.nearest.resize(result.rows.size());
    std::iota(result.nearest.begin(), result.nearest.end(), std::size_t{0});
    std::ranges::stable_sort(result.nearest, {}, [&](std::size_t i) { return result.rows[i]; });
    result.functional = result.rows[result.nearest.front()];
    result.geometric = result.functional / norm;
    return result;
}

void check(const Dataset& data) {
    data.check();
    require_finite(data.x);
    if (data.y.empty()) throw InvalidInput("a margin needs labels, and the data has none");
    if (data.size() == 0) throw InvalidInput("a margin needs rows, and there are none");
}

/// The class with y = +1 when nobody says: of −1 and +1 the latter.
std::size_t usual_positive(const Labels& labels, const Classes& classes) {
    if (labels.are_text()) return classes.names[0] < classes.names[1] ? 1 : 0;
    return *parse_number(classes.names[0]) < *parse_number(classes.names[1]) ? 1 : 0;
}

}  // namespace

PlaneMargin plane_margin(const Hyperplane& plane, const Dataset& data,
                         const std::string& positive) {
    check(data);
    require_numbers_only(data.x, "a plane");
    if (plane.w.size() != data.columns()) {
        throw InvalidInput("the plane has " + std::to_string(plane.w.size()) +
                           " weights, and the rows have " + std::to_string(data.columns()) +
                           " columns; give one a column");
    }
    if (!std::isfinite(plane.b) ||
        !std::ranges::all_of(plane.w, [](double w) { return std::isfinite(w); })) {
        throw InvalidInput("the weights and the bias of a plane must be finite");
    }
    const Classes classes = classes_of(data.y);
    if (classes.count() != 2) {
        throw InvalidInput("a plane tells two classes apart, and the rows have " +
                           std::to_string(classes.count()));
    }
    std::size_t side = usual_positive(data.y, classes);
    if (!positive.empty()) {
        const auto found = std::ranges::find(classes.names, positive);
        if (found == classes.names.end()) {
            throw InvalidInput("there is no class " + quoted(positive) + "; there are " +
                               classes.names[0] + " and " + classes.names[1]);
        }
        side = static_cast<std::size_t>(found - classes.names.begin());
    }
    std::vector<double> f(data.size());
    std::vector<bool> is_positive(data.size());
    std::vector<double> row(data.columns());
    for (std::size_t i = 0; i < data.size(); ++i) {
        data.x.copy_row(i, row);
        f[i] = std::inner_product(row.begin(), row.end(), plane.w.begin(), plane.b);
        is_positive[i] = static_cast<std::size_t>(classes.index[i]) == side;
    }
    const double norm =
        std::sqrt(std::inner_product(plane.w.begin(), plane.w.end(), plane.w.begin(), 0.0));
    return measured(std::move(f), is_positive, norm, classes.names[side]);
}

PlaneMargin plane_margin(const Model& model, const Dataset& data) {
    check(data);
    require_one_machine(model, "a margin");
    if (!is_classifier(model.task()) || model.classes() != 2 || model.expansion().outputs() != 1) {
        throw InvalidInput(
            "the margin of a plane is that of a classifier of two classes; this is a model of "
            "the task " +
            task_name(model.task()) + " with " + std::to_string(model.classes()) + " classes");
    }
    const std::vector<std::size_t> positions = class_positions(model, data.y);
    std::vector<bool> is_positive(positions.size());
    for (std::size_t i = 0; i < positions.size(); ++i) is_positive[i] = positions[i] == 0;
    return measured(model.decision(data.x).values(), is_positive,
                    norm(weight_vector(model.expansion())), model.class_names().front());
}

}  // namespace mercer
