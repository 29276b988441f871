// Small data written out by hand, and machines trained closely on it.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <span>
#include <vector>

#include "data/support.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer::testing {

inline Dataset points(const std::vector<std::vector<double>>& rows,
                      const std::vector<double>& labels = {}) {
    std::vector<double> values;
    for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
    Dataset data;
    data.x = Rows::dense(std::move(values), rows.empty() ? 0 : rows.front().size());
    data.y.values = labels;
    return data;
}

/// Labels as the machines see them: y = +1 is the class that comes first, here called 1, and y = −1
/// the class called 2.
inline Dataset labelled(const std::vector<std::vector<double>>& rows,
                        const std::vector<double>& signs) {
    std::vector<double> labels;
    for (const double y : signs) labels.push_back(y > 0 ? 1 : 2);
    return points(rows, labels);
}

inline Dataset with_double_rows(Dataset data) {
    data.x = data.x.to_double();
    return data;
}

/// The rows of the data without one.
inline Dataset without(const Dataset& data, std::size_t row) {
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < data.size(); ++i) {
        if (i != row) kept.push_back(i);
    }
    return data.select(kept);
}

inline FitSettings in_double(const Kernel& kernel) {
    return {.kernel = kernel, .double_precision = true};
}

/// The settings, to be solved in double precision nearly to its end.
inline SvmSettings closely(SvmSettings settings, double tolerance = 1e-8) {
    settings.tolerance = tolerance;
    settings.common.double_precision = true;
    return settings;
}

/// w of a linear machine with one output.
inline std::vector<double> weights_of(const Model& model) {
    const Matrix<double> w = weight_vectors(model.expansion());
    return {w.row(0).begin(), w.row(0).end()};
}

inline double value_at(const Model& model, const std::vector<double>& x) {
    return model.decision(points({x}).x)(0, 0);
}

/// f(x_i) of the first output by the definition: Σ coefficient k(point, x) + self k(x, x) + bias.
inline double by_definition(const Expansion& e, std::span<const double> x, std::size_t output = 0) {
    double sum = e.bias[output] + e.self * e.kernel(x, x);
    std::vector<double> point(e.points.columns());
    for (std::size_t i = 0; i < e.size(); ++i) {
        e.points.copy_row(i, point);
        sum += e.coefficients(output, i) * e.kernel(point, x);
    }
    return sum;
}

/// The decisions of two machines on the same rows.
inline void expect_same_decisions(const Model& a, const Model& b, const Rows& x, double tolerance) {
    const Matrix<double> f = a.decision(x);
    const Matrix<double> g = b.decision(x);
    ASSERT_EQ(f.rows(), g.rows());
    ASSERT_EQ(f.columns(), g.columns());
    for (std::size_t i = 0; i < f.rows(); ++i) {
        for (std::size_t c = 0; c < f.columns(); ++c) {
            ASSERT_NEAR(f(i, c), g(i, c), tolerance) << "row " << i << ", output " << c;
        }
    }
}

}  // namespace mercer::testing
