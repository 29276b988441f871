// svm-train: LIBSVM's program, on this library.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include "cli/common/files.hpp"
#include "cli/common/interrupt.hpp"
#include "cli/common/output.hpp"
#include "cli/common/tell.hpp"
#include "cli/libsvm/libsvm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/select/cross_validation.hpp"
#include "mercer/select/metrics.hpp"

namespace mercer::cli {
namespace {

constexpr int precomputed_type = 4;
/// A matrix with more rows has more entries than any machine holds.
constexpr std::size_t most_precomputed_rows = std::size_t{1} << 22;

struct TrainOrder {
    int type = 0;
    int kernel = 2;
    int degree = 3;
    double gamma = 0;  // 0: 1 / features
    double coef0 = 0;
    std::map<int, double> weights{};
    int folds = 0;
    bool quiet = false;
    SvmSettings settings{};
    std::string input{};
    std::string model{};
};

std::string default_model(const std::string& input) {
    return input.substr(input.rfind('/') + 1) + ".model";
}

void read_option(const std::string& option, LibsvmArguments& arguments, TrainOrder& order) {
    SvmSettings& s = order.settings;
    switch (option.size() < 2 ? '?' : option[1]) {
        case 's': order.type = arguments.whole(); break;
        case 't': order.kernel = arguments.whole(); break;
        case 'd': order.degree = arguments.whole(); break;
        case 'g': order.gamma = arguments.number(); break;
        case 'r': order.coef0 = arguments.number(); break;
        case 'n': s.nu = arguments.number(); break;
        case 'm': {
            const double megabytes = arguments.number();
            if (!(megabytes > 0)) throw LibsvmFailure{"ERROR: cache_size <= 0"};
            s.common.memory_bytes =
                static_cast<std::size_t>(std::clamp(megabytes, 1.0, 1e7) * 1048576);
            break;
        }
        case 'c': s.C = arguments.number(); break;
        case 'e': s.tolerance = arguments.number(); break;
        case 'p': s.epsilon = arguments.number(); break;
        case 'h': s.shrinking = arguments.flag(); break;
        case 'b': s.probability = arguments.flag(); break;
        case 'q': order.quiet = true; break;
        case 'v':
            order.folds = arguments.whole();
            if (order.folds < 2) throw LibsvmUsage{"n-fold cross validation: n must >= 2"};
            break;
        case 'w': {
            const auto label = parse_number(option.substr(2));
            if (!label) throw LibsvmUsage{"Unknown option: " + option};
            auto& weight = order.weights.emplace(static_cast<int>(*label), 1.0).first->second;
            weight *= arguments.number();
            break;
        }
        default: throw LibsvmUsage{"Unknown option: " + option};
    }
}

void check(const TrainOrder& order) {
    constexpr Task tasks[] = {Task::svc, Task::nu_svc, Task::one_class, Task::svr, Task::nu_svr};
    const auto refuse = [](bool wrong, const char* message) {
        if (wrong) throw LibsvmFailure{std::string("ERROR: ") + message};
    };
    refuse(order.type < 0 || order.type > 4, "unknown svm type");
    refuse(order.kernel < 0 || order.kernel > 4, "unknown kernel type");
    const Task task = tasks[order.type];
    const SvmSettings& s = order.settings;
    refuse(order.gamma < 0, "gamma < 0");
    refuse(order.kernel == 1 && order.degree < 0, "degree of polynomial kernel < 0");
    refuse(!(s.tolerance > 0), "eps <= 0");
    refuse((task == Task::svc || is_regressor(task)) && !(s.C > 0), "C <= 0");
    refuse(task != Task::svc && task != Task::svr && !(s.nu > 0 && s.nu <= 1), "nu <= 0 or nu > 1");
    refuse(task == Task::svr && s.epsilon < 0, "p < 0");
}

TrainOrder read_train_order(const std::vector<std::string>& words) {
    LibsvmArguments arguments(words);
    TrainOrder order;
    for (std::string option; !(option = arguments.next_option()).empty();) {
        read_option(option, arguments, order);
    }
    const std::vector<std::string> files = arguments.files();
    if (files.empty()) throw LibsvmUsage{};
    order.input = files[0];
    order.model = files.size() > 1 ? files[1] : default_model(files[0]);
    return order;
}

Kernel kernel_of(const TrainOrder& order, std::size_t columns) {
    const double gamma =
        order.gamma > 0 ? order.gamma : 1 / static_cast<double>(std::max<std::size_t>(columns, 1));
    switch (order.kernel) {
        case 0: return linear();
        case 1: return polynomial({.degree = order.degree, .gamma = gamma, .coef0 = order.coef0});
        case 2: return rbf({.gamma = gamma});
        case 3: return sigmoid({.gamma = gamma, .coef0 = order.coef0});
        default: return precomputed();
    }
}

/// Rows "0:number 1:k 2:k …" turned into rows of a Gram matrix that know their numbers, so that
/// lines may stand in any order or be some of many.
Rows numbered_rows(const Rows& rows) {
    const auto fail = [](const char* message) {
        throw LibsvmFailure{std::string("Wrong input format: ") + message};
    };
    const std::size_t columns = rows.columns() - std::min<std::size_t>(rows.columns(), 1);
    if (columns > most_precomputed_rows) fail("the matrix has too many columns");
    std::vector<std::size_t> serials;
    std::vector<double> row(rows.columns());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows.copy_row(i, row);
        const double serial = row.empty() ? 0 : row[0];
        if (serial == 0) fail("first column must be 0:sample_serial_number");
        if (!(serial >= 1 && serial <= static_cast<double>(columns)) ||
            serial != std::floor(serial)) {
            fail("sample_serial_number out of range");
        }
        serials.push_back(static_cast<std::size_t>(serial) - 1);
    }
    // A row has a number by being selected from where it stands: each is put at its place in a
    // matrix whose other rows are empty.
    std::vector<std::size_t> place(*std::ranges::max_element(serials) + 1, rows.size());
    for (std::size_t i = 0; i < serials.size(); ++i) {
        if (place[serials[i]] != rows.size()) fail("a sample_serial_number is given twice");
        place[serials[i]] = i;
    }
    std::vector<std::size_t> starts{0};
    std::vector<std::uint32_t> index;
    std::vector<double> values;
    for (const std::size_t i : place) {
        if (i < rows.size()) rows.copy_row(i, row);
        for (std::size_t j = 1; i < rows.size() && j < row.size(); ++j) {
            if (row[j] == 0) continue;
            index.push_back(static_cast<std::uint32_t>(j - 1));
            values.push_back(row[j]);
        }
        starts.push_back(index.size());
    }
    const Rows placed =
        Rows::sparse(std::move(starts), std::move(index), std::move(values), columns)
            .select(serials);
    return rows.is_sparse() ? placed : placed.to_dense();
}

/// LIBSVM's classes: whole numbers in the order they first appear, except that of -1 and 1 the 1
/// comes first. The data gets their positions as labels.
std::vector<double> order_classes(Dataset& data) {
    std::vector<double> order;
    std::map<double, double> position;
    for (double& y : data.y.values) {
        y = std::trunc(y);
        if (position.emplace(y, static_cast<double>(order.size())).second) order.push_back(y);
    }
    if (order.size() == 2 && order[0] == -1 && order[1] == 1) {
        std::swap(order[0], order[1]);
        std::swap(position[-1], position[1]);
    }
    for (double& y : data.y.values) y = position[y];
    return order;
}

void set_weights(const TrainOrder& order, const std::vector<double>& classes,
                 SvmSettings& settings) {
    for (const auto& [label, weight] : order.weights) {
        const auto found = std::ranges::find(classes, static_cast<double>(label));
        if (found == classes.end()) {
            tell("WARNING: class label {} specified in weight is not found\n", label);
        } else if (settings.task == Task::svc) {
            settings.class_weights[std::to_string(found - classes.begin())] = weight;
        }
    }
}

/// What LIBSVM prints of each problem it solves.
void print_reports(const Model& model, const TrainOrder& order) {
    for (std::size_t part = 0; part < model.reports().size(); ++part) {
        const Report& r = model.reports()[part];
        double sum = 0;
        for (const double beta : model.expansion().coefficients.row(part)) sum += std::abs(beta);
        say("*\noptimization finished, #iter = {}\n", r.iterations);
        const bool even = order.weights.empty();
        if (model.task() == Task::svr || (model.task() == Task::svc && even)) {
            say("nu = {:f}\n", sum / (model.trained().C * static_cast<double>(r.rows)));
        }
        if (model.task() == Task::nu_svc) say("C = {:f}\n", 1 / r.rho);
        if (model.task() == Task::nu_svr) say("epsilon = {:f}\n", r.epsilon);
        // LIBSVM minimises; a nu-SVC it prints as the C-SVC with C = 1/rho that it equals, of
        // which only the norm is left.
        const double objective = model.task() == Task::nu_svc ? r.squared_norm / 2 : -r.dual;
        const double rho = model.task() == Task::one_class ? r.rho : -r.bias;
        say("obj = {:f}, rho = {:f}\n", objective, rho == 0 ? 0 : rho);
        say("nSV = {}, nBSV = {}\n", r.support_vectors(), r.bounded_support_vectors);
    }
    if (is_classifier(model.task())) say("Total nSV = {}\n", model.expansion().size());
}

void cross_validate(const TrainOrder& order, const SvmSettings& settings, const Dataset& data) {
    auto folds = static_cast<std::size_t>(order.folds);
    if (folds > data.size()) {
        folds = data.size();
        tell(
            "WARNING: # folds > # data. Will use # folds = # data instead (i.e., "
            "leave-one-out cross validation)\n");
    }
    const Score score = mercer::cross_validate(settings, data, folds).score;
    if (is_regressor(settings.task)) {
        say("Cross Validation Mean squared error = {:g}\n", score.mean_squared_error);
        say("Cross Validation Squared correlation coefficient = {:g}\n", score.squared_correlation);
    } else {
        say("Cross Validation Accuracy = {:g}%\n", 100 * score.accuracy);
    }
}

/// The noise of a regression, which LIBSVM keeps where classes have their sigmoids.
void add_noise(const TrainOrder& order, SvmSettings settings, const Dataset& data,
               ModelParts& model) {
    settings.probability = false;
    const double sigma = laplace_scale(
        mercer::cross_validate(settings, data, std::min<std::size_t>(5, data.size())).predictions,
        data.y);
    model.extras.set(Calibration({{.a = sigma, .b = 0}}));
    if (order.quiet) return;
    say("Prob. model for test data: target value = predicted value + z,\n"
        "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma= {:g}\n",
        sigma);
}

int train(const TrainOrder& order, const SvmSettings& settings, const Dataset& data,
          const std::vector<double>& classes, const StopOnInterrupt& stop) {
    ModelParts parts = Svm(settings).fit(data).parts();
    for (std::size_t c = 0; c < classes.size(); ++c) {
        parts.class_values[c] = classes[c];
        parts.class_names[c] = format_number(classes[c]);
    }
    if (settings.probability && is_regressor(settings.task)) {
        add_noise(order, settings, data, parts);
    }
    const Model model(std::move(parts));
    if (settings.probability && settings.task == Task::one_class && !has_probabilities(model)) {
        tell(
            "WARNING: number of positive or negative decision values <5; too few to do a "
            "probability estimation.\n");
    }
    if (!order.quiet) print_reports(model, order);
    const FitStatus status = model.report().status;
    if (status != FitStatus::converged) {
        tell("WARNING: not converged: {}\n", describe(status));
    }
    try {
        const InterruptLater later(order.model);
        export_libsvm(model, order.model);
    } catch (const InvalidInput& error) {
        throw LibsvmFailure{
            fmt::format("can't save model to file {}\n{}", order.model, error.what())};
    }
    return stop.requested() ? 130 : 0;
}

}  // namespace

int svm_train(const std::vector<std::string>& words) {
    const TrainOrder order = read_train_order(words);
    const bool is_matrix = order.kernel == precomputed_type;
    check_opens(order.input, "input file");
    check_files({{"training_set_file", order.input, FileUse::input},
                 {"model_file", order.folds > 0 ? "" : order.model, FileUse::model}});
    Dataset data = read_libsvm_data(order.input, is_matrix ? 0 : 1);
    check(order);
    if (is_matrix) data.x = numbered_rows(data.x);
    SvmSettings settings = order.settings;
    constexpr Task tasks[] = {Task::svc, Task::nu_svc, Task::one_class, Task::svr, Task::nu_svr};
    settings.task = tasks[order.type];
    settings.common.kernel = kernel_of(order, data.columns());
    std::vector<double> classes;
    if (is_classifier(settings.task)) {
        classes = order_classes(data);
        if (classes.size() == 1) {
            throw LibsvmFailure{
                fmt::format("ERROR: training data in only one class, {}: there is "
                            "nothing to tell apart; -s 2 learns a single class",
                            format_number(classes[0]))};
        }
        set_weights(order, classes, settings);
    }
    const StopOnInterrupt stop;
    settings.common.progress = [&stop](const Moment&) { return !stop.requested(); };
    if (order.folds > 0) {
        settings.probability = false;
        cross_validate(order, settings, data);
        return stop.requested() ? 130 : 0;
    }
    return train(order, settings, data, classes, stop);
}

}  // namespace mercer::cli
