// mercer show: all a model file says about itself.
#include <fmt/format.h>

#include <string>

#include "cli/commands.hpp"
#include "cli/model_input.hpp"
#include "cli/model_output.hpp"
#include "cli/output.hpp"
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
    for (std::size_t c = 0; c < model.trained.class_weights.size(); ++c) {
        const double weight = model.trained.class_weights[c];
        if (weight == 1) continue;
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", model.class_names[c],
                            format_number(weight));
    }
    return text;
}

void run(const std::string& path, const Session& session) {
    const Model model = read_model(path);
    if (session.json) {
        Json json{{"model", path}};
        json.update(json_of(model));
        print_json(json);
        return;
    }
    std::string text = line("model", path) + describe_machine(model);
    if (!model.feature_names.empty()) text += line("features", features_text(model.feature_names));
    if (const std::string weights = weights_text(model); !weights.empty()) {
        text += line("weights", weights);
    }
    text += describe_certificate(model) + describe_parts(model);
    say("{}", text);
}

}  // namespace

void add_show(CLI::App& program, Session& session) {
    CLI::App& command = add_command(program, "show", "describe a model file",
                                    "  mercer show digits.mercer\n"
                                    "  mercer show heart.model --json | jq .kernel");
    const auto path = std::make_shared<std::string>();
    add_file(command, session, "MODEL", *path, FileUse::input,
             "model file of this program or of LIBSVM")
        ->required();
    command.callback(
        [&session, path] { session.action = [&session, path] { run(*path, session); }; });
}

}  // namespace mercer::cli
