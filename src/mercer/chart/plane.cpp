#include "mercer/chart/detail/plane.hpp"

#include <algorithm>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/learn/model.hpp"

namespace mercer::chart {

Plane::Plane(const Model& model, const Dataset& data, const PlaneSettings& settings)
    : first(settings.first), second(settings.second), base(model.columns(), 0.0) {
    const std::size_t columns = model.columns();
    if (data.size() == 0) throw InvalidInput("there are no rows to draw");
    if (first >= columns || second >= columns || first == second) {
        throw InvalidInput("columns " + std::to_string(first + 1) + " and " +
                           std::to_string(second + 1) + " span no plane: the model has " +
                           std::to_string(columns) + "; give `plane=1,2` or the like");
    }
    if (settings.resolution < 2 || settings.resolution > 1000) {
        throw InvalidInput("a picture has 2 to 1000 nodes along a side, not " +
                           std::to_string(settings.resolution));
    }
    const Rows rows = rows_for(model, data.x);
    std::vector<double> row(rows.columns());
    left = bottom = INFINITY;
    right = top = -INFINITY;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows.copy_row(i, row);
        for (std::size_t j = 0; j < columns; ++j) {
            base[j] += row[j] / static_cast<double>(rows.size());
        }
        left = std::min(left, row[first]);
        right = std::max(right, row[first]);
        bottom = std::min(bottom, row[second]);
        top = std::max(top, row[second]);
    }
    const auto widen = [](double& low, double& high) {
        const double room = high > low ? 0.12 * (high - low) : 0.5 * std::max(1.0, std::abs(low));
        low -= room;
        high += room;
    };
    widen(left, right);
    widen(bottom, top);
}

Rows Plane::nodes(std::size_t resolution) const {
    std::vector<double> values;
    values.reserve(resolution * resolution * base.size());
    std::vector<double> row = base;
    const auto last = static_cast<double>(resolution - 1);
    for (std::size_t i = 0; i < resolution; ++i) {
        row[second] = bottom + (top - bottom) * static_cast<double>(i) / last;
        for (std::size_t j = 0; j < resolution; ++j) {
            row[first] = left + (right - left) * static_cast<double>(j) / last;
            values.insert(values.end(), row.begin(), row.end());
        }
    }
    return Rows::dense(std::move(values), base.size());
}

Matrix<double> as_square(const Matrix<double>& values, std::size_t column, std::size_t resolution) {
    Matrix<double> square(resolution, resolution);
    for (std::size_t k = 0; k < square.values().size(); ++k) {
        square.values()[k] = values(k, column);
    }
    return square;
}

std::string column_label(const std::vector<std::string>& names, std::size_t column) {
    if (column < names.size()) return names[column];
    return "column " + std::to_string(column + 1);
}

std::vector<std::size_t> thinned_rows(std::size_t count, std::size_t most) {
    const std::size_t step = (count + most - 1) / std::max<std::size_t>(most, 1);
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < count; i += std::max<std::size_t>(step, 1)) rows.push_back(i);
    return rows;
}

Matrix<double> support_points(const Model& model, std::size_t rows) {
    const Rows& points = model.expansion().points;
    if (!is_svm(model.task()) || points.size() >= rows || points.columns() == 0 ||
        model.scaling().rule().kind == ScalingRule::Kind::unit) {
        return {};
    }
    const Rows back = model.scaling().undo(points.to_double());
    Matrix<double> result(back.size(), back.columns());
    for (std::size_t i = 0; i < back.size(); ++i) back.copy_row(i, result.row(i));
    return result;
}

GridField decision_field(const Model& model, const Dataset& around, std::size_t output,
                         const PlaneSettings& settings) {
    const Plane plane(model, around, settings);
    const Matrix<double> values =
        model.decision(plane.nodes(settings.resolution), settings.progress);
    if (output >= values.columns()) {
        throw InvalidInput("the model has " + std::to_string(values.columns()) +
                           " outputs, there is no number " + std::to_string(output + 1));
    }
    return plane.field(as_square(values, output, settings.resolution));
}

}  // namespace mercer::chart
