// svm-predict: LIBSVM's program, on this library.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cli/common/files.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/output.hpp"
#include "cli/libsvm/libsvm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/select/cross_validation.hpp"

namespace mercer::cli {
namespace {

struct PredictOrder {
    bool probability = false;
    bool quiet = false;
    std::string test{};
    std::string model{};
    std::string output{};
};

PredictOrder read_predict_order(const std::vector<std::string>& words) {
    LibsvmArguments arguments(words);
    PredictOrder order;
    for (std::string option; !(option = arguments.next_option()).empty();) {
        switch (option.size() < 2 ? '?' : option[1]) {
            case 'b': order.probability = arguments.flag(); break;
            case 'q': order.quiet = true; break;
            default: throw LibsvmUsage{"Unknown option: " + option};
        }
    }
    const std::vector<std::string> files = arguments.files();
    if (files.size() < 3) throw LibsvmUsage{};
    order.test = files[0];
    order.model = files[1];
    order.output = files[2];
    return order;
}

/// The rows of a precomputed matrix without their numbers, and no wider than the model looks.
Rows matrix_rows(const Rows& rows, std::size_t columns) {
    std::vector<std::size_t> kept;
    for (std::size_t j = 1; j < std::min(rows.columns(), columns + 1); ++j) kept.push_back(j);
    return rows.select_columns(kept);
}

struct Input {
    Model model;
    Dataset data;
};

Input read_both(const PredictOrder& order) {
    check_opens(order.test, "input file");
    check_opens(order.model, "model file");
    check_files({{"test_file", order.test, FileUse::input},
                 {"model_file", order.model, FileUse::input},
                 {"output_file", order.output, FileUse::data}});
    Input input;
    try {
        input.model = read_model(order.model);
    } catch (const InvalidInput& error) {
        throw LibsvmFailure{fmt::format("can't open model file {}\n{}", order.model, error.what())};
    }
    const bool is_matrix = input.model.expansion().kernel == precomputed();
    input.data = read_libsvm_data(order.test, is_matrix ? 0 : 1);
    if (is_matrix) {
        input.data.x = matrix_rows(input.data.x, input.model.columns());
    } else if (input.data.columns() > input.model.columns()) {
        // Features that no support vector has still count in the distance to them.
        input.model = read_model(order.model, input.data.columns());
    }
    input.data.x = as_wide_as(input.model, input.data.x);
    return input;
}

/// Labels of classes by the largest probability, with the probabilities, as LIBSVM writes them.
std::string with_probabilities(const Model& model, const Rows& x, Labels& labels) {
    const Matrix<double> probabilities = model.probabilities(x);
    std::string text = "label normal outlier\n";
    if (is_classifier(model.task())) {
        labels = model.labels_of(likeliest(model, probabilities.view()));
        text = "labels";
        for (const double value : model.class_values()) text += fmt::format(" {:g}", value);
        text += '\n';
    } else {  // one-class: by the decision, as LIBSVM
        labels = model.predict_labels(x);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
        text += fmt::format("{:g}", labels.values[i]);
        for (const double p : probabilities.row(i)) text += fmt::format(" {:g}", p);
        text += '\n';
    }
    return text;
}

std::string without_probabilities(const Model& model, const Rows& x, Labels& labels) {
    labels = model.predict_labels(x);
    std::string text;
    for (const double value : labels.values) text += fmt::format("{:.17g}\n", value);
    return text;
}

void print_score(const Model& model, const Labels& predicted, const Labels& truth) {
    const Score s = score(model.task(), predicted, truth);
    if (is_regressor(model.task())) {
        say("Mean squared error = {:g} (regression)\n", s.mean_squared_error);
        say("Squared correlation coefficient = {:g} (regression)\n", s.squared_correlation);
        return;
    }
    const auto total = static_cast<double>(truth.size());
    say("Accuracy = {:g}% ({:.0f}/{}) (classification)\n", 100 * s.accuracy, s.accuracy * total,
        truth.size());
}

}  // namespace

int svm_predict(const std::vector<std::string>& words) {
    const PredictOrder order = read_predict_order(words);
    const auto [model, data] = read_both(order);
    const bool probable = !sigmoids_of(model.extras()).empty() || has_probabilities(model);
    if (order.probability && !probable) {
        throw LibsvmFailure{"Model does not support probability estimates"};
    }
    if (!order.quiet && probable && !order.probability) {
        say("Model supports probability estimates, but disabled in prediction.\n");
    }
    if (is_classifier(model.task()) && model.class_values().empty()) {
        throw LibsvmFailure{"ERROR: the classes of this model are names; use 'mercer predict'"};
    }
    if (!order.quiet && order.probability && is_regressor(model.task())) {
        say("Prob. model for test data: target value = predicted value + z,\n"
            "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma={:g}\n",
            sigmoids_of(model.extras())[0].a);
    }
    Labels predicted;
    const std::string text = order.probability && has_probabilities(model)
                                 ? with_probabilities(model, data.x, predicted)
                                 : without_probabilities(model, data.x, predicted);
    try {
        const InterruptLater later(order.output);
        write_whole(order.output, [&](Output& out) { out.write(text); });
    } catch (const InvalidInput& error) {
        throw LibsvmFailure{
            fmt::format("can't open output file {}\n{}", order.output, error.what())};
    }
    if (!order.quiet) print_score(model, predicted, data.y);
    return 0;
}

}  // namespace mercer::cli
