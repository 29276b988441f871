// mercer transform: the components of rows that a model has learnt (kernel PCA and its kin).
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/learn/components/kernel_pca.hpp"

namespace mercer::cli {
namespace {

struct TransformCommand {
    std::string model;
    std::size_t components = 0;
    bool whiten = false;
    bool score = false;
};

/// Projections on the first components, and what they leave of each row.
struct Projected {
    Matrix<double> values;
    std::vector<double> scores{};
    std::vector<double> eigenvalues{};
};

Projected project(const TransformCommand& c, const Model& model, const Rows& x,
                  const Progress& progress) {
    if (model.task() != Task::kpca) {
        if (c.whiten || c.score) {
            throw InvalidInput(
                fmt::format("{}: --whiten and --score are for kernel PCA (kpca, kha)", c.model));
        }
        return {.values = model.decision(x, progress)};
    }
    const PrincipalComponents components(model);
    Projected result{.values = components.project(x, progress),
                     .eigenvalues = components.eigenvalues()};
    if (c.score) {
        result.scores =
            components.reconstruction_errors(x, result.values.view(), c.components, progress);
    }
    if (c.whiten) components.whiten(result.values.view());
    return result;
}

void run(const TransformCommand& c, const InputOptions& input, const OutputOptions& output,
         const Session& session) {
    check_output(output, session);
    auto [model, data] = read_model_and_data(c.model, input, session);
    if (!is_projection(model.task())) {
        throw InvalidInput(
            fmt::format("{}: a model of task {} has no components; train one with "
                        "--task kpca or kha, or by cca, ica or depend",
                        c.model, task_name(model.task())));
    }
    if (c.components > model.expansion().outputs()) {
        throw InvalidInput(fmt::format("--components {}: the model has {}", c.components,
                                       model.expansion().outputs()));
    }
    const Projected found = project(c, model, data.x, progress_line(session));
    clear_progress_line();
    const std::size_t kept = c.components > 0 ? c.components : found.values.columns();
    const std::size_t features = kept + (c.score ? 1 : 0);
    std::vector<double> values;
    values.reserve(data.size() * features);
    for (std::size_t i = 0; i < data.size(); ++i) {
        const auto row = found.values.row(i);
        values.insert(values.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(kept));
        if (c.score) values.push_back(found.scores[i]);
    }
    const bool full = data.x.is_double() || model.double_precision();
    data.x = Rows::dense(std::move(values), features);
    if (!full) data.x = data.x.to_float();
    data.feature_names.clear();
    for (std::size_t j = 0; j < kept; ++j) {
        data.feature_names.push_back(fmt::format("component_{}", j + 1));
    }
    if (c.score) data.feature_names.emplace_back("score");
    nlohmann::ordered_json report{{"model", c.model}, {"features", features}};
    if (!found.eigenvalues.empty()) report["eigenvalues"] = found.eigenvalues;
    write_data(data, output, session, report);
}

}  // namespace

void add_transform(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "transform", "the components of rows that a model has learnt",
        "  mercer train train.csv pca.mercer --task kpca --components 16\n"
        "  mercer transform pca.mercer test.csv -o features.csv\n"
        "For models of kernel PCA (kpca, kha), cca, ica and depend. --score adds what the\n"
        "components leave of each row, its squared distance from them in feature space.");
    const auto o = std::make_shared<TransformCommand>();
    const auto input = add_model_and_input(command, session, o->model);
    add_count(command, "--components", o->components, 1, 1'000'000, "only the first so many [all]");
    command.add_flag("--whiten", o->whiten, "each divided by its deviation on the sample");
    command.add_flag("--score", o->score, "also the squared distance from the components");
    const auto output = add_output(command, session);
    command.callback([&session, o, input, output] {
        session.action = [&session, o, input, output] { run(*o, *input, *output, session); };
    });
}

}  // namespace mercer::cli
