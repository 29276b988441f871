// Kernel ridge regression and the evidence of a Gaussian process with its gradient.
//
//   bench_representer                        on made data
//   bench_representer RIDGE.npz GP.npz       on given data, as bench/representer_bench.py does,
//   which
//                                            runs scikit-learn beside it
// Prints one line of JSON: the best of several runs, and figures by which the answers can be
// compared.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "best_seconds.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/read.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/learn/risk/ridge.hpp"

namespace {

using namespace mercer;

Dataset made(std::size_t rows, std::size_t columns) {
    Random random(1);
    std::vector<double> values(rows * columns);
    for (double& value : values) value = random.normal();
    Dataset data;
    for (std::size_t i = 0; i < rows; ++i) {
        data.y.values.push_back(std::sin(values[i * columns]) + 0.1 * random.normal());
    }
    data.x = Rows::dense(std::move(values), columns);
    return data;
}

}  // namespace

int main(int count, char** words) {
    const bool given = count == 3;
    const auto load = [&](int which, std::size_t rows) {
        return given ? read(words[which], {.double_precision = true}) : made(rows, 50);
    };
    const Dataset for_ridge = load(1, 10000);
    const Ridge machine =
        ridge({.common = {.kernel = rbf({.gamma = 0.02}), .memory_bytes = std::size_t{2} << 30},
               .lambda = 1,
               .bias = false});
    Model model;
    const double ridge_seconds = bench::best_seconds([&] { model = machine.fit(for_ridge); }, 3);
    double squares = 0;
    for (const double a : model.expansion().coefficients.values()) squares += a * a;

    const Dataset for_gp = load(2, 2000);
    const GramGradient k(Kernel::parse("2*rbf(sigma=5)"), for_gp.x, {}, std::size_t{1} << 30);
    const double at[] = {2, 5};
    Evidence evidence;
    // Each evaluation at parameters set anew, as a search has it.
    const double gp_seconds =
        bench::best_seconds([&] { evidence = log_evidence(k.with(at), for_gp.y.values, 0.1); }, 9);
    std::printf(
        "{\"threads\": %zu, \"ridge_seconds\": %.4f, \"ridge_norm\": %.12g, "
        "\"gp_seconds\": %.5f, \"log_evidence\": %.12g, \"gradient\": [%.12g, %.12g, "
        "%.12g]}\n",
        threads(), ridge_seconds, std::sqrt(squares), gp_seconds, evidence.value,
        evidence.gradient[0], evidence.gradient[1], evidence.gradient[2]);
    return 0;
}
