#include "mercer/select/detail/column_widths.hpp"

#include <algorithm>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/parameters.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/select/cross_validation.hpp"

namespace mercer {
namespace {

/// Of a target of variance 1. Targets without noise would leave nothing that keeps the matrix of
/// more rows positive definite.
constexpr double least_noise = 1e-6;
constexpr double sum_weight = 0.1;  ///< of a column, where its search begins

Dataset some_rows(const Dataset& data, std::size_t rows, std::uint64_t seed) {
    if (data.size() <= rows) return data;
    const double share = static_cast<double>(rows) / static_cast<double>(data.size());
    return data.select(split_rows(data.size(), share, seed).test);
}

std::optional<ColumnWidths> widths_of_numbers(const Dataset& data, const ColumnWidths& start,
                                              const FitSettings& common, std::size_t steps) {
    try {
        GaussianProcessSettings s;
        s.common = common;
        s.common.kernel = Kernel::parse(start.kernel);
        s.common.target_scale = TargetScale::standard;
        s.noise = start.noise;
        s.optimise = true;
        s.iteration_limit = steps;
        s.keep_factor = false;
        const Model model = gaussian_process(s).fit(data);
        const auto& figures = model.reports().front().figures;
        return ColumnWidths{model.expansion().kernel.text(),
                            std::max(least_noise, figures.at("noise")), figures.at("log_evidence")};
    } catch (const InvalidInput&) {
        return std::nullopt;
    }
}

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

std::optional<ColumnWidths> find_widths(const Dataset& data, bool numbers,
                                        const ColumnWidths& start, const FitSettings& common,
                                        std::size_t rows, std::size_t steps) {
    const Dataset few = some_rows(data, rows, common.seed + 2);
    if (numbers) return widths_of_numbers(few, start, common, steps);
    const Classes classes = classes_of(few.y);
    const std::size_t contrasts = classes.count() == 2 ? 1 : classes.count();
    FitSettings each = common;
    each.time_limit /= static_cast<double>(contrasts);
    std::vector<double> sums;
    ColumnWidths mean{.noise = 0};
    Dataset own = few;
    own.y = {};
    own.y.values.resize(few.size());
    for (std::size_t c = 0; c < contrasts; ++c) {
        for (std::size_t i = 0; i < few.size(); ++i) {
            own.y.values[i] = classes.index[i] == static_cast<std::int32_t>(c) ? 1 : -1;
        }
        const auto found = widths_of_numbers(own, start, each, steps);
        if (!found) return std::nullopt;
        if (contrasts == 1) return found;
        mean.kernel = found->kernel;
        mean.noise += found->noise / static_cast<double>(contrasts);
        mean.evidence += found->evidence;
        const auto values = parameters(Kernel::parse(found->kernel));
        if (sums.empty()) sums.resize(values.size(), 0.0);
        if (values.size() != sums.size()) return std::nullopt;  // a factor became 1 and is gone
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += values[k].value;
    }
    for (double& sum : sums) sum /= static_cast<double>(contrasts);
    mean.kernel = with_parameters(Kernel::parse(mean.kernel), sums).text();
    return mean;
}

}  // namespace mercer
