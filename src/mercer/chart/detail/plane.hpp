// A plane through rows of numbers: which part of it is drawn, and the rows of its grid.
#pragma once

#include <string>
#include <vector>

#include "mercer/chart/model_figures.hpp"

namespace mercer::chart {

struct Plane {
    std::size_t first = 0;
    std::size_t second = 1;
    double left = 0, right = 1, bottom = 0, top = 1;
    std::vector<double> base{};  ///< a row: the means of all columns

    /// Throws InvalidInput when the columns are not there or the same.
    Plane(const Model& model, const Dataset& data, const PlaneSettings& settings);

    /// Rows of the nodes, from the lower left, row by row.
    Rows nodes(std::size_t resolution) const;
    GridField field(Matrix<double> values) const {
        return {std::move(values), left, right, bottom, top};
    }
};

/// Column `column` of one output's values at the nodes, as a square.
Matrix<double> as_square(const Matrix<double>& values, std::size_t column, std::size_t resolution);

/// The name of a column, or "column 3".
std::string column_label(const std::vector<std::string>& names, std::size_t column);

/// Every k-th row, at most so many.
std::vector<std::size_t> thinned_rows(std::size_t count, std::size_t most);

/// The points of the expansion where the data has them; empty when there are as many as rows, or
/// when the scaling has no way back.
Matrix<double> support_points(const Model& model, std::size_t rows);

}  // namespace mercer::chart
