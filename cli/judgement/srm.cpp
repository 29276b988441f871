// mercer srm: structural risk minimisation beside cross-validation, in one table.
#include <fmt/format.h>

#include <string>

#include "cli/commands.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/select/structure.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct StructureCommand {
    std::string family = "degree";
    std::vector<double> values{};
    std::string kernel = "rbf(gamma=scale)";
    std::string scale = "none";
    StructureSettings settings{};
};

std::vector<double> usual_values(StructureFamily family) {
    switch (family) {
        case StructureFamily::degree: return {1, 2, 3, 4, 5, 6};
        case StructureFamily::margin: return {0.001, 0.01, 0.1, 1, 10, 100, 1000};
        case StructureFamily::components: break;
    }
    return {1, 2, 4, 8, 16, 32};
}

const char* value_name(StructureFamily family) {
    return family == StructureFamily::margin ? "C"
           : family_name(family) == "degree" ? "degree"
                                             : "components";
}

std::string table_of(const StructureChoice& choice) {
    std::string text =
        fmt::format("{:<12}{:>12}{:>16}{:>12}{:>10}{:>10}\n", value_name(choice.family),
                    "dimension", "training error", "confidence", "bound", "cv error");
    for (std::size_t i = 0; i < choice.levels.size(); ++i) {
        const StructureLevel& l = choice.levels[i];
        std::string marks;
        if (i == choice.by_bound) marks += "  by the bound";
        if (i == choice.by_cross_validation) marks += "  by cross-validation";
        text += fmt::format("{:<12.6g}{:>12.4g}{:>16.4f}{:>12.4f}{:>10.4f}{:>10.4f}{}{}\n", l.value,
                            l.dimension, l.training_error, l.confidence_term, l.bound.value,
                            l.cv_error, l.bound.vacuous ? "  vacuous" : "", marks);
    }
    return text;
}

Json json_of(const StructureChoice& choice) {
    Json levels = Json::array();
    for (const StructureLevel& l : choice.levels) {
        levels.push_back({{"value", l.value},
                          {"dimension", l.dimension},
                          {"training_error", l.training_error},
                          {"confidence_term", l.confidence_term},
                          {"bound", l.bound.value},
                          {"vacuous", l.bound.vacuous},
                          {"cv_error", l.cv_error},
                          {"status", l.status}});
    }
    return {{"family", family_name(choice.family)},
            {"levels", std::move(levels)},
            {"by_bound", choice.levels[choice.by_bound].value},
            {"by_cross_validation", choice.levels[choice.by_cross_validation].value}};
}

void run(const StructureCommand& c, const InputOptions& input, const Session& session) {
    StructureSettings settings = c.settings;
    settings.family = family_named(c.family);
    settings.values = c.values.empty() ? usual_values(settings.family) : c.values;
    settings.svm.common.kernel = Kernel::parse(c.kernel);
    settings.svm.common.scaling = ScalingRule::parse(c.scale);
    settings.progress = progress_line(session);
    const Dataset data = read_input(input, session);
    const StructureChoice choice = minimise_structural_risk(settings, data);
    clear_progress_line();
    if (session.json) {
        Json json{{"input", input.path}, {"rows", data.size()}, {"delta", settings.delta}};
        json.update(json_of(choice));
        print_json(json);
        return;
    }
    say("{}{}",
        line("data", fmt::format("{}, {}, {}", input.path, counted(data.size(), "row"),
                                 counted(data.columns(), "column"))),
        table_of(choice));
}

}  // namespace

void add_structure(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "srm", "structural risk minimisation over a nested family of machines",
        "  mercer srm heart.csv --scale standard --family degree --values 1,2,3,4\n"
        "  mercer srm heart.csv --scale standard --family margin --kernel 'rbf(gamma=0.1)'\n"
        "  mercer srm heart.csv --scale standard --family components --values 1,2,4,8,16\n"
        "One line a level: VC dimension, training error, confidence term, their sum (the bound)\n"
        "and the error of cross-validation. docs/bounds.md says more.");
    const auto options = std::make_shared<StructureCommand>();
    const auto input = add_input(command, session);
    StructureSettings& s = options->settings;
    const CLI::Option* const family =
        add_choice(command, session, "--family", options->family,
                   {"degree", "margin", "components"}, "what grows from level to level");
    const auto of = [&](std::vector<std::string> words, CLI::Option* option) {
        only(session, option, for_words(family, options->family, std::move(words)));
    };
    command.add_option("--values", options->values, "degrees, penalties or numbers of components")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("X,X");
    of({"margin", "components"},
       command
           .add_option("--kernel", options->kernel, "of margin and components [rbf(gamma=scale)]")
           ->type_name("EXPR"));
    of({"degree"},
       command.add_option("--gamma", s.gamma, "degree: (1 + gamma x·z)^d [1]")->type_name("X"));
    of({"degree", "components"},
       command.add_option("-C,--cost", s.svm.C, "degree, components: penalty of errors [1]")
           ->type_name("X"));
    command.add_option("--scale", options->scale, "scale features: standard, minmax, … [none]")
        ->type_name("RULE");
    command.add_option("--delta", s.delta, "probability that some bound fails [0.05]")
        ->type_name("X");
    add_count(command, "--folds", s.folds, 2, 1'000'000'000, "of the cross-validation [5]");
    add_seed(command, s.seed, "of the folds [1]");
    command.callback([&session, options, input] {
        session.action = [&session, options, input] { run(*options, *input, session); };
    });
}

}  // namespace mercer::cli
