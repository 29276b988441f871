// mercer show: all a model file says about itself.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/cells/cells.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Names the columns were trained under, as far as they fit a line.
std::string features_text(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t j = 0; j < names.size(); ++j) {
        const std::string next = (j == 0 ? "" : ", ") + names[j];
        if (text.size() + next.size() > 70) {
            return text + fmt::format(", … {} more", names.size() - j);
        }
        text += next;
    }
    return text;
}

std::string weights_text(const Model& model) {
    std::string text;
    for (std::size_t c = 0; c < model.trained().class_weights.size(); ++c) {
        const double weight = model.trained().class_weights[c];
        if (weight == 1) continue;
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", model.class_names()[c],
                            format_number(weight));
    }
    return text;
}

/// The features that count most, output by output.
std::vector<std::vector<FeatureWeight>> features_of(const Model& model, std::size_t count) {
    std::vector<std::vector<FeatureWeight>> all;
    for (std::size_t c = 0; count > 0 && c < model.expansion().outputs(); ++c) {
        all.push_back(heaviest_features(model.expansion(), c, count, model.feature_names()));
    }
    if (count > 0 && (all.empty() || all.front().empty())) {
        throw InvalidInput("--features: the kernel " +
                           mercer::quoted(model.expansion().kernel.text(), 80) +
                           " has no features that can be listed; linear, spectrum and words have");
    }
    return all;
}

/// Whether w can be written down: of a linear machine whose file does not claim absurdly many
/// columns.
bool has_plane(const Model& model) {
    return is_linear(model.expansion().kernel) && model.expansion().self == 0 && !cells_of(model) &&
           model.columns() <= 1'000'000;
}

/// w of a linear machine, as far as it fits a line; --json has all of it.
std::string plane_text(const Model& model, const std::vector<std::string>& outputs) {
    if (!has_plane(model)) return {};
    const Matrix<double> w = weight_vectors(model.expansion());
    std::string text;
    for (std::size_t c = 0; c < std::min<std::size_t>(w.rows(), 10); ++c) {
        std::string numbers;
        for (std::size_t j = 0; j < w.columns(); ++j) {
            if (numbers.size() > 60) {
                numbers += fmt::format(", … {} more", w.columns() - j);
                break;
            }
            numbers += fmt::format("{}{:.6g}", j == 0 ? "" : ", ", w(c, j));
        }
        const std::string of = w.rows() == 1 ? "" : outputs[c] + ": ";
        text +=
            line("w", fmt::format("{}({}), bias {:.6g}", of, numbers, model.expansion().bias[c]));
    }
    return text;
}

/// A support vector and its coefficient in one output.
struct Multiplier {
    double value = 0;
    std::size_t point = 0;
};

/// The largest coefficients of an output, by size.
std::vector<Multiplier> multipliers_of(const Model& model, std::size_t output, std::size_t count) {
    std::vector<Multiplier> found;
    for (std::size_t i = 0; i < model.expansion().size(); ++i) {
        const double value = model.expansion().coefficients(output, i);
        if (value != 0) found.push_back({value, i});
    }
    std::ranges::stable_sort(found, std::greater<>{},
                             [](const Multiplier& m) { return std::abs(m.value); });
    if (found.size() > count) found.resize(count);
    return found;
}

/// The row of the training data that a point was, from 1, or its place where that is not known.
std::size_t row_of(const Model& model, std::size_t point) {
    return (point < model.origins().size() ? model.origins()[point] : point) + 1;
}

std::string multipliers_text(const Model& model, std::size_t count,
                             const std::vector<std::string>& outputs) {
    std::string text;
    for (std::size_t c = 0; count > 0 && c < model.expansion().outputs(); ++c) {
        text += fmt::format("\n{:>14}  {} of {}\n", "coefficient",
                            model.origins().empty() ? "point" : "row", outputs[c]);
        for (const Multiplier& m : multipliers_of(model, c, count)) {
            text += fmt::format("{:>14.8g}  {}\n", m.value, row_of(model, m.point));
        }
    }
    return text;
}

void add_coefficients(const Model& model, std::size_t count,
                      const std::vector<std::string>& outputs, Json& json) {
    if (has_plane(model)) {
        const Matrix<double> w = weight_vectors(model.expansion());
        for (std::size_t c = 0; c < w.rows(); ++c) {
            json["w"][outputs[c]] = std::vector<double>(w.row(c).begin(), w.row(c).end());
        }
    }
    for (std::size_t c = 0; count > 0 && c < model.expansion().outputs(); ++c) {
        Json list = Json::array();
        for (const Multiplier& m : multipliers_of(model, c, count)) {
            list.push_back({{"row", row_of(model, m.point)}, {"coefficient", m.value}});
        }
        json["coefficients"][outputs[c]] = std::move(list);
    }
}

void run(const std::string& path, std::size_t count, std::size_t alphas, const Session& session) {
    const Model model = read_model(path);
    if (count > 0) require_one_machine(model, "--features: a list of features");
    if (alphas > 0) require_one_machine(model, "--alpha: a list of coefficients");
    const auto features = features_of(model, count);
    const std::vector<std::string> outputs = output_names(model);
    if (session.json) {
        Json json{{"model", path}};
        json.update(cli::json_of(model));
        for (std::size_t c = 0; c < features.size(); ++c) {
            Json list = Json::array();
            for (const FeatureWeight& f : features[c]) {
                list.push_back({{"name", f.name}, {"weight", f.weight}});
            }
            json["heaviest_features"][outputs[c]] = std::move(list);
        }
        add_coefficients(model, alphas, outputs, json);
        print_json(json);
        return;
    }
    std::string text = line("model", path) + describe_machine(model);
    if (!model.feature_names().empty())
        text += line("features", features_text(model.feature_names()));
    if (const std::string weights = weights_text(model); !weights.empty()) {
        text += line("weights", weights);
    }
    text += describe_certificate(model) + describe_parts(model) + plane_text(model, outputs) +
            multipliers_text(model, alphas, outputs);
    for (std::size_t c = 0; c < features.size(); ++c) {
        text += fmt::format("\n{:>12}  feature of {}\n", "weight", outputs[c]);
        for (const FeatureWeight& f : features[c]) {
            text += fmt::format("{:>12.6g}  {}\n", f.weight, f.name);
        }
    }
    say("{}", text);
}

}  // namespace

void add_show(CLI::App& program, Session& session) {
    CLI::App& command = add_command(program, "show", "describe a model file",
                                    "  mercer show digits.mercer\n"
                                    "  mercer show heart.model --json | jq .kernel\n"
                                    "  mercer show spam.mercer --features 20\n"
                                    "  mercer show heart.mercer --alpha 10");
    const auto path = std::make_shared<std::string>();
    const auto count = std::make_shared<std::size_t>(0);
    const auto alphas = std::make_shared<std::size_t>(0);
    add_file(command, session, "MODEL", *path, FileUse::input,
             "model file of this program or of LIBSVM")
        ->required();
    add_count(command, "--features", *count, 1, 1'000'000,
              "also the N features that count most: columns, k-mers, words");
    add_count(
        command, "--alpha", *alphas, 1, 100'000'000,
        "also the N largest coefficients of the expansion (α, with its sign), and their rows");
    command.callback([&session, path, count, alphas] {
        session.action = [&session, path, count, alphas] { run(*path, *count, *alphas, session); };
    });
}

}  // namespace mercer::cli
