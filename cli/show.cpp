// mercer show: all a model file says about itself.
#include <fmt/format.h>

#include <string>

#include "cli/commands.hpp"
#include "cli/model_input.hpp"
#include "cli/model_output.hpp"
#include "cli/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

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

void run(const std::string& path, std::size_t count, const Session& session) {
    const Model model = read_model(path);
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
        print_json(json);
        return;
    }
    std::string text = line("model", path) + describe_machine(model);
    if (!model.feature_names().empty())
        text += line("features", features_text(model.feature_names()));
    if (const std::string weights = weights_text(model); !weights.empty()) {
        text += line("weights", weights);
    }
    text += describe_certificate(model) + describe_parts(model);
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
                                    "  mercer show spam.mercer --features 20");
    const auto path = std::make_shared<std::string>();
    const auto count = std::make_shared<std::size_t>(0);
    add_file(command, session, "MODEL", *path, FileUse::input,
             "model file of this program or of LIBSVM")
        ->required();
    add_count(command, "--features", *count, 1, 1'000'000,
              "also the N features that count most: columns, k-mers, words");
    command.callback([&session, path, count] {
        session.action = [&session, path, count] { run(*path, *count, session); };
    });
}

}  // namespace mercer::cli
