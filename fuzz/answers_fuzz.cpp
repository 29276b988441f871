// A machine learnt from made-up rows answers the same after it was written and read again, and for
// the same rows held dense or sparse. The first byte chooses the machine, the second the kernel,
// the rest are rows of two numbers and a label.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/persist/model_file.hpp"
#include "reader.hpp"

namespace {

constexpr std::array tasks = {"svc",      "svr",         "one-class", "ridge",      "gp",
                              "logistic", "class-means", "knn",       "perceptron", "k-means"};
constexpr std::array kernels = {"linear", "rbf(gamma=1)", "polynomial(degree=2)",
                                "laplacian(gamma=0.5)", "rbf(gamma=1)[0] + linear[1]"};
constexpr std::size_t most_rows = 40;

double number_from(std::uint8_t byte) {
    return byte < 80 ? 0 : (static_cast<double>(byte) - 168) / 16;
}

mercer::Dataset rows_from(const std::uint8_t* data, std::size_t size) {
    mercer::Dataset made;
    std::vector<double> values;
    for (std::size_t i = 0; i < std::min(size / 3, most_rows); ++i) {
        values.push_back(number_from(data[3 * i]));
        values.push_back(number_from(data[3 * i + 1]));
        made.y.values.push_back(data[3 * i + 2] % 2);
    }
    made.x = mercer::Rows::dense(std::move(values), 2);
    return made;
}

mercer::Model learnt(const char* task, const char* kernel, const mercer::Dataset& data) {
    mercer::FitSettings common{.kernel = mercer::Kernel::parse(kernel), .double_precision = true};
    common.time_limit = 1;
    return mercer::machine_entry(task).make(common, {}).fit(data);
}

std::vector<double> answers(const mercer::Model& model, const mercer::Rows& rows) {
    const mercer::Matrix<double> values = model.decision(rows);
    return {values.values().begin(), values.values().end()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2 + 3 * 4) return 0;
    const mercer::Dataset rows = rows_from(data + 2, size - 2);
    try {
        const mercer::Model model =
            learnt(tasks[data[0] % tasks.size()], kernels[data[1] % kernels.size()], rows);
        const std::vector<double> said = answers(model, rows.x);
        const mercer::Model read = mercer::load_from_memory(mercer::save_to_memory(model));
        if (answers(read, rows.x) != said) std::abort();
        const std::vector<double> sparse = answers(model, rows.x.to_sparse());
        double largest = 1;
        for (const double value : said) largest = std::max(largest, std::abs(value));
        for (std::size_t i = 0; i < said.size(); ++i) {
            if (!(std::abs(sparse[i] - said[i]) <= 1e-9 * largest)) std::abort();
        }
    } catch (const mercer::InvalidInput&) {
        // One class, no rows that differ, …
    }
    return 0;
}
