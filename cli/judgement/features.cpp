// mercer features: which columns matter.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/select/features.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct FeaturesCommand {
    std::string model{};
    std::string method = "elimination";
    std::string kernel = "linear";
    std::string scale = "none";
    std::string score{};
    std::uint64_t seed = 1;
    EliminationSettings elimination{};
    ImportanceSettings importance{};
};

std::string column_name(const Dataset& data, std::size_t j) {
    return j < data.feature_names.size() ? data.feature_names[j] : std::to_string(j + 1);
}

/// What both ways of leaving columns out find: `selected` is empty where all of them are ranked.
struct Ranked {
    std::vector<std::size_t> ranking{};
    std::vector<std::size_t> selected{};
    std::vector<double> scale{};
    std::vector<EliminationRound> rounds{};
};

Ranked ranked(const FeaturesCommand& c, const Dataset& data, const Session& session) {
    EliminationSettings settings = c.elimination;
    settings.svm.common.kernel = Kernel::parse(c.kernel);
    settings.svm.common.scaling = ScalingRule::parse(c.scale);
    settings.seed = c.seed;
    settings.progress = progress_line(session);
    if (c.method == "elimination") {
        Elimination e = eliminate_features(settings, data);
        return {.ranking = std::move(e.ranking), .rounds = std::move(e.rounds)};
    }
    ZeroNorm z = zero_norm_features({.svm = settings.svm,
                                     .keep = settings.keep,
                                     .folds = settings.folds,
                                     .seed = settings.seed,
                                     .progress = settings.progress},
                                    data);
    return {std::move(z.ranking), std::move(z.selected), std::move(z.scale), std::move(z.rounds)};
}

void eliminate(const FeaturesCommand& c, const InputOptions& input, const Session& session) {
    const Dataset data = read_input(input, session);
    const Ranked e = ranked(c, data, session);
    clear_progress_line();
    Json rounds = Json::array();
    std::string text = fmt::format("{:<10}{:>18}{:>12}\n", "features", "training accuracy",
                                   c.elimination.folds > 0 ? "cv accuracy" : "");
    for (const EliminationRound& r : e.rounds) {
        rounds.push_back({{"features", r.features},
                          {"training_accuracy", r.training_accuracy},
                          {"cv_accuracy", r.cv_accuracy ? Json(*r.cv_accuracy) : Json()}});
        text += fmt::format("{:<10}{:>18.4f}{:>12}\n", r.features, r.training_accuracy,
                            r.cv_accuracy ? fmt::format("{:.4f}", *r.cv_accuracy) : "");
    }
    std::vector<std::string> names;
    for (const std::size_t j : e.ranking) names.push_back(column_name(data, j));
    std::vector<std::string> selected;
    for (const std::size_t j : e.selected) {
        selected.push_back(fmt::format("{} ({:.3g})", column_name(data, j), e.scale[j]));
    }
    if (session.json) {
        Json json{{"input", input.path}, {"method", c.method}, {"ranking", names}};
        if (!selected.empty()) {
            json["selected"] = Json::array();
            for (std::size_t k = 0; k < e.selected.size(); ++k) {
                json["selected"].push_back(
                    {{"column", names[k]}, {"scale", e.scale[e.selected[k]]}});
            }
        }
        json["rounds"] = std::move(rounds);
        print_json(json);
        return;
    }
    if (!selected.empty()) text += line("selected", fmt::format("{}", fmt::join(selected, ", ")));
    say("{}{}", text, line("ranking", fmt::format("{}", fmt::join(names, ", "))));
}

void shuffle(const FeaturesCommand& c, const InputOptions& input, const Session& session) {
    const auto [model, data] = read_model_and_data(c.model, input, session);
    ImportanceSettings settings = c.importance;
    settings.seed = c.seed;
    if (!c.score.empty()) settings.measure = measure_named(c.score);
    settings.progress = progress_line(session);
    const std::vector<Importance> all = permutation_importance(model, data, settings);
    clear_progress_line();
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](std::size_t j) { return all[j].drop; });
    Json list = Json::array();
    std::string text = fmt::format("{:<24}{:>12}{:>12}\n", "column", "drop", "deviation");
    for (const std::size_t j : order) {
        list.push_back({{"column", column_name(data, j)},
                        {"drop", all[j].drop},
                        {"deviation", all[j].deviation}});
        text += fmt::format("{:<24}{:>12.5f}{:>12.5f}\n", column_name(data, j), all[j].drop,
                            all[j].deviation);
    }
    if (session.json) {
        print_json({{"model", c.model}, {"input", input.path}, {"importance", std::move(list)}});
    } else {
        say("{}", text);
    }
}

}  // namespace

void add_features(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "features", "which columns matter: by elimination, or by shuffling for a model",
        "  mercer features heart.csv --scale standard --folds 5          (recursive elimination)\n"
        "  mercer features heart.csv --scale standard --method zero-norm (rescaled until few are "
        "left)\n"
        "  mercer features heart.csv --kernel 'rbf(gamma=0.05)' --scale standard --keep 3\n"
        "  mercer features test.csv --model heart.mercer                 (permutation importance)");
    const auto options = std::make_shared<FeaturesCommand>();
    const auto input = add_input(command, session);
    EliminationSettings& e = options->elimination;
    const CLI::Option* const model =
        add_file(command, session, "--model", options->model, FileUse::input,
                 "shuffle each column and see what this loses");
    CLI::Option* const folds = add_count(command, "--folds", e.folds, 2, 1'000'000'000,
                                         "elimination: cross-validate every round");
    CLI::Option* const method =
        add_choice(command, session, "--method", options->method, {"elimination", "zero-norm"},
                   "one after another, or rescaled by a linear machine [elimination]");
    CLI::Option* const share =
        command
            .add_option("--share", e.share, "elimination: of the columns, taken away at once [one]")
            ->type_name("X");
    only(session,
         {command.add_option("--kernel", options->kernel, "elimination: of the machine [linear]")
              ->type_name("EXPR"),
          command.add_option("-C,--cost", e.svm.C, "elimination: penalty of errors [1]")
              ->type_name("X"),
          command.add_option("--scale", options->scale, "elimination: scale features [none]")
              ->type_name("RULE"),
          add_count(command, "--keep", e.keep, 1, 100'000,
                    "elimination: stop at so many columns [1]"),
          share, folds, method},
         without(model, "it belongs to elimination, and a model is only looked at by shuffling"));
    only(session, share, for_words(method, options->method, {"elimination"}));
    CLI::Option* const score = command
                                   .add_option("--score", options->score,
                                               "shuffling: accuracy, f1, mse, … [accuracy; mse]")
                                   ->type_name("WORD");
    only(session,
         {add_count(command, "--repeats", options->importance.repeats, 1, 10'000,
                    "shuffling: so many times [5]"),
          command
              .add_option("--positive", options->importance.positive,
                          "shuffling: f1 of two classes, of this one [the last by name]")
              ->type_name("CLASS"),
          score},
         with({model}));
    only(session, command.get_option("--positive"), for_words(score, options->score, {"f1"}));
    only(session, add_seed(command, options->seed, "of shuffles and folds [1]"),
         with({model, folds}));
    command.callback([&session, options, input] {
        session.action = [&session, options, input] {
            (options->model.empty() ? eliminate : shuffle)(*options, *input, session);
        };
    });
}

}  // namespace mercer::cli
