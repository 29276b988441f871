// One row predicted in process, through the C interface: what a call costs beside its kernel
// values. `kernels` counts these, `columns` those of each.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "mercer/data/samples.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/mercer.h"
#include "mercer/persist/model_file.hpp"

namespace {

void one_row(benchmark::State& state, const char* set, const char* kernel) {
    mercer::SvmSettings settings{.C = 10};
    settings.common.kernel = mercer::Kernel::parse(kernel);
    const mercer::Dataset data = mercer::embedded(set);
    const mercer::Model learnt = mercer::svm(settings).fit(data);
    const std::string bytes = mercer::save_to_memory(learnt);
    mercer_model* model = nullptr;
    if (mercer_load_memory(bytes.data(), bytes.size(), &model) != MERCER_OK) {
        state.SkipWithError(mercer_error());
        return;
    }
    std::vector<double> row(data.columns());
    data.x.copy_row(0, row);
    double answer = 0;
    for (auto round : state) {
        if (mercer_predict(model, row.data(), 1, row.size(), &answer) != MERCER_OK) {
            state.SkipWithError(mercer_error());
        }
        benchmark::DoNotOptimize(answer);
    }
    mercer_free(model);
    state.counters["kernels"] = static_cast<double>(learnt.expansion().size());
    state.counters["columns"] = static_cast<double>(data.columns());
}

BENCHMARK_CAPTURE(one_row, linear_of_iris, "iris", "linear");
BENCHMARK_CAPTURE(one_row, gaussian_of_iris, "iris", "rbf(gamma=0.1)");
BENCHMARK_CAPTURE(one_row, gaussian_of_ten_digits, "digits", "rbf(gamma=0.001)");

}  // namespace

BENCHMARK_MAIN();
