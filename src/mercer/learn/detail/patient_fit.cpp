#include "mercer/learn/detail/patient_fit.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "mercer/base/text.hpp"

namespace mercer {

std::vector<std::size_t> spread_rows(const Dataset& data, bool classes, std::size_t most) {
    const std::size_t n = data.size();
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (n <= most) return order;
    std::vector<std::size_t> chosen;
    const bool labelled = classes && data.y.size() == n;
    const std::vector<double>& label = data.y.values;
    if (labelled) {
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return label[i]; });
        for (std::size_t k = 0; k < n; ++k) {  // the first of each class, however rare
            if (k == 0 || label[order[k]] != label[order[k - 1]]) chosen.push_back(order[k]);
        }
    }
    // One of each stretch, somewhere in it: rows that come in turns would else all be of one kind.
    for (std::size_t k = 0; k < most; ++k) {
        constexpr double golden = 0.6180339887498949;
        const double within = std::fmod(static_cast<double>(k) * golden, 1.0);
        const std::size_t from = k * n / most, next = (k + 1) * n / most;
        chosen.push_back(
            order[from + static_cast<std::size_t>(within * static_cast<double>(next - from))]);
    }
    std::ranges::sort(chosen);
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    return chosen;
}

FitStatus fit_status(const Run& run) {
    if (!run.is_over()) return FitStatus::converged;
    return run.out_of_time() ? FitStatus::time_limit : FitStatus::cancelled;
}

Model marked_few(const Model& model, const std::vector<std::size_t>& positions, std::size_t given,
                 const Run& run) {
    ModelParts parts = model.parts();
    for (std::size_t& origin : parts.origins) origin = positions[origin];
    if (const Model* companion = companion_of(model)) {
        ModelParts other = companion->parts();
        for (std::size_t& origin : other.origins) origin = positions[origin];
        parts.extras.set(Companion(std::make_shared<const Model>(std::move(other))));
    }
    for (Report& report : parts.reports) {
        report.status = fit_status(run);
        report.figures["rows_given"] = static_cast<double>(given);
    }
    return Model(std::move(parts));
}

Model marked_stopped(const Model& model, const Run& run) {
    if (!run.out_of_time()) return model;
    ModelParts parts = model.parts();
    for (Report& report : parts.reports) {
        if (report.status == FitStatus::cancelled) report.status = FitStatus::time_limit;
    }
    return Model(std::move(parts));
}

double seconds_to_keep(std::size_t outputs, std::size_t points) {
    constexpr double bytes_a_second = 0x1p28;
    return sizeof(double) * static_cast<double>(outputs) * static_cast<double>(points) /
           bytes_a_second;
}

void ask_to_keep(const FitSettings& common, std::size_t outputs, std::size_t points) {
    const Moment moment{
        .task = "training", .fraction = -1, .needs = seconds_to_keep(outputs, points)};
    if (!keep_going(common.progress, moment)) throw Cancelled();
}

void stopped_without_model(const Run& run, double time_limit) {
    if (!run.out_of_time()) throw Cancelled();
    throw InvalidInput("the time limit of " + format_number(time_limit) +
                       " seconds passed before there was a machine; allow more time, or take fewer "
                       "rows");
}

}  // namespace mercer
