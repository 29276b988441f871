#include "mercer/select/detail/column_widths.hpp"

#include <algorithm>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/select/cross_validation.hpp"

namespace mercer {
namespace {

/// Of a target of variance 1. Targets without noise would leave nothing that keeps the matrix of
/// more rows positive definite.
constexpr double least_noise = 1e-6;
constexpr double sum_weight = 0.1;  ///< of a column, where its search begins

}  // namespace

std::string ColumnShape::name() const {
    return std::string(kinked ? "Laplacian" : "Gaussian") + ", a width for each column" +
           (with_sum ? ", and their sum" : "");
}

std::string kernel_of_columns(const ColumnShape& shape, std::size_t width) {
    const auto column = [&](double gamma, std::size_t j) {
        return (shape.kinked ? "laplacian(gamma=" : "rbf(gamma=") + format_number(gamma) + ")[" +
               std::to_string(j) + "]";
    };
    std::string kernel = "1";
    for (std::size_t j = 0; j < width; ++j) {
        // Together about what a single kernel of all columns at their usual distance would be.
        kernel += "*" + column(0.5 / static_cast<double>(width), j);
    }
    for (std::size_t j = 0; shape.with_sum && j < width; ++j) {
        kernel += " + " + format_number(sum_weight) + "*" + column(0.5, j);
    }
    return kernel;
}

Dataset as_numbers(const Dataset& data) {
    Dataset numbers = data;
    const Classes classes = classes_of(data.y);
    numbers.y = {};
    for (const std::int32_t c : classes.index) numbers.y.values.push_back(c == 0 ? 1 : -1);
    return numbers;
}

std::optional<ColumnWidths> find_widths(const Dataset& data, const ColumnWidths& start,
                                        const FitSettings& common, std::size_t rows,
                                        std::size_t steps) {
    Dataset few = data;
    if (few.size() > rows) {
        const double share = static_cast<double>(rows) / static_cast<double>(few.size());
        few = data.select(split_rows(few.size(), share, common.seed + 2).test);
    }
    try {
        GaussianProcessSettings s;
        s.common = common;
        s.common.kernel = Kernel::parse(start.kernel);
        s.common.target_scale = TargetScale::standard;
        s.noise = start.noise;
        s.optimise = true;
        s.iteration_limit = steps;
        s.keep_factor = false;
        const Model model = gaussian_process(s).fit(few);
        const auto& figures = model.reports().front().figures;
        return ColumnWidths{model.expansion().kernel.text(),
                            std::max(least_noise, figures.at("noise")), figures.at("log_evidence")};
    } catch (const InvalidInput&) {
        return std::nullopt;
    }
}

}  // namespace mercer
