// The value of the dual that a trained model reaches, from its coefficients alone and in double
// precision, so that machines of different programs can be compared by one measure:
//
//     dual_objective MODEL DATA C EPSILON NU
//
// MODEL is a file of LIBSVM or of this library, DATA the training set. With β the signed
// coefficients of a problem (LIBSVM's sv_coef) the values, all to be maximised, are
//
//     svc          Σ|β_i| − ½ β'Kβ                     summed over the pairs of classes   (001)
//     svr          Σ y_i β_i − ε Σ|β_i| − ½ β'Kβ                                         (001)
//     one-class    −½ β'Kβ, with β scaled to Σ β_i = ν n                                 (004)
//
// A value may only be compared where β is feasible, so the worst breach of 0 <= |β_i| <= C (1 for
// one-class) and of Σ β_i = 0 is printed with it, relative to C.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "../best_seconds.hpp"
#include "mercer/data/read.hpp"
#include "mercer/feature/expansion.hpp"
#include "mercer/persist/model_file.hpp"

namespace {

using namespace mercer;

struct Settings {
    double C;
    double epsilon;
    double nu;
};

struct Outcome {
    double objective = 0;
    double infeasibility = 0;
};

Model read_model(const std::string& path, std::size_t columns) {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) throw std::runtime_error(path + ": cannot be opened");
    char start[16] = {};
    const std::size_t count = std::fread(start, 1, sizeof start, file);
    std::fclose(file);
    return is_libsvm_model({start, count}) ? import_libsvm(path, columns) : load(path);
}

bool same_row(const std::vector<double>& a, const std::vector<double>& b) {
    // Model files round: LIBSVM's to 8 digits.
    for (std::size_t k = 0; k < a.size(); ++k) {
        if (std::abs(a[k] - b[k]) > 1e-6 * (1 + std::abs(a[k]))) return false;
    }
    return true;
}

/// The target of each support vector: that of the row it is. All programs write them in the order
/// of the rows, so the search for the next begins where the last was found.
std::vector<double> targets_of(const Model& model, const Dataset& data) {
    const Rows points = model.expansion().points.widened(data.columns());
    std::vector<double> targets;
    std::vector<double> point(points.columns());
    std::vector<double> row(data.columns());
    std::size_t next = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        points.copy_row(i, point);
        std::size_t tried = 0;
        for (; tried < data.size(); ++tried, next = (next + 1) % data.size()) {
            data.x.copy_row(next, row);
            if (same_row(row, point)) break;
        }
        if (tried == data.size()) {
            throw std::runtime_error("support vector " + std::to_string(i + 1) +
                                     " is no row of the data");
        }
        targets.push_back(data.y.values[next]);
        next = (next + 1) % data.size();
    }
    return targets;
}

/// β'Kβ of every output: f = Kβ by the engine that predicts, in double, then β'f.
std::vector<double> quadratic_forms(Expansion expansion) {
    expansion.points = expansion.points.to_double();
    std::ranges::fill(expansion.bias, 0.0);
    const Matrix<double> f = Evaluator(expansion, true)(expansion.points);
    std::vector<double> forms(expansion.outputs(), 0.0);
    for (std::size_t c = 0; c < forms.size(); ++c) {
        for (std::size_t i = 0; i < expansion.size(); ++i) {
            forms[c] += expansion.coefficients(c, i) * f(i, c);
        }
    }
    return forms;
}

Outcome evaluate(const Model& model, const Dataset& data, const Settings& settings) {
    Expansion e = model.expansion();
    const bool one_class = model.task() == Task::one_class;
    if (one_class) {
        double sum = 0;
        for (const double beta : e.coefficients.values()) sum += beta;
        const double factor = settings.nu * static_cast<double>(data.size()) / sum;
        for (double& beta : e.coefficients.values()) beta *= factor;
    }
    const std::vector<double> targets =
        model.task() == Task::svr ? targets_of(model, data) : std::vector<double>();
    const std::vector<double> forms = quadratic_forms(e);
    const double upper = one_class ? 1 : settings.C;
    Outcome outcome;
    for (std::size_t c = 0; c < e.outputs(); ++c) {
        double sum = 0;
        outcome.objective -= forms[c] / 2;
        for (std::size_t i = 0; i < e.size(); ++i) {
            const double beta = e.coefficients(c, i);
            sum += beta;
            const double breach =
                one_class ? std::max(-beta, beta - upper) : std::abs(beta) - upper;
            outcome.infeasibility = std::max(outcome.infeasibility, breach / upper);
            if (model.task() == Task::svc) outcome.objective += std::abs(beta);
            if (model.task() == Task::svr) {
                outcome.objective += targets[i] * beta - settings.epsilon * std::abs(beta);
            }
        }
        if (!one_class) {
            outcome.infeasibility = std::max(outcome.infeasibility, std::abs(sum) / upper);
        }
    }
    return outcome;
}

int run(int argc, char** argv) {
    if (argc != 6) {
        std::fprintf(stderr, "usage: dual_objective MODEL DATA C EPSILON NU\n");
        return 2;
    }
    const Settings settings{std::atof(argv[3]), std::atof(argv[4]), std::atof(argv[5])};
    ReadOptions options;
    options.format = "libsvm";
    options.double_precision = true;
    const Dataset data = read(argv[2], options);
    const Model model = read_model(argv[1], data.columns());
    if (model.task() != Task::svc && model.task() != Task::svr && model.task() != Task::one_class) {
        throw std::runtime_error("models of the task " + task_name(model.task()) +
                                 " have no value");
    }
    const Outcome outcome = evaluate(model, data, settings);
    std::printf(
        "{\"objective\": %.17g, \"infeasibility\": %.3g, \"support_vectors\": %zu, "
        "\"problems\": %zu}\n",
        outcome.objective, outcome.infeasibility, model.expansion().size(),
        model.expansion().outputs());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return mercer::bench::exit_code_of("dual_objective", run, argc, argv);
}
