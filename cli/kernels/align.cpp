// mercer align: how well kernels agree with labels, and kernels combined or moved to agree better.
#include <fmt/format.h>

#include <string>

#include "cli/commands.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "cli/machines/tune_gradient.hpp"
#include "mercer/base/error.hpp"
#include "mercer/theory/alignment.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct AlignCommand {
    std::vector<std::string> kernels{};
    std::string combine = "no";
    std::string scale = "none";
    bool optimise = false;
    bool gradient = false;
    bool numbers = false;
    bool as_given = false;
    std::size_t memory = 1024;
    CombinationSettings settings{};
};

Json json_of(const KernelCombination& c) {
    return {{"weights", c.weights},       {"shares", c.shares},
            {"kernel", c.kernel.text()},  {"objective", c.objective},
            {"gap", json_number(c.gap)},  {"relative_gap", json_number(c.relative_gap)},
            {"iterations", c.iterations}, {"converged", c.converged}};
}

/// One kernel: its alignment and what else was asked for.
Json align_one(const AlignCommand& c, const Kernel& kernel, const Dataset& data, bool talk,
               const Progress& progress) {
    const std::size_t bytes = c.memory << 20;
    const Alignment a = kernel_alignment(kernel, data, c.numbers, bytes, progress);
    clear_progress_line();
    Json json{{"kernel", kernel.text()}, {"alignment", a.plain}, {"centred", a.centred}};
    if (talk) say("{:<10.5f}{:<10.5f}{}\n", a.centred, a.plain, kernel.text());
    if (c.gradient) {
        const AlignmentGradient g = alignment_gradient(kernel, data, true, c.numbers, bytes);
        Json slopes = Json::array();
        for (std::size_t p = 0; p < g.gradient.size(); ++p) {
            slopes.push_back({{"name", g.parameters[p].name},
                              {"part", g.parameters[p].part},
                              {"value", g.parameters[p].value},
                              {"slope", g.gradient[p]}});
            if (talk) {
                say("{:<20}slope {:.5g} in {} = {:.6g} of {}\n", "", g.gradient[p],
                    g.parameters[p].name, g.parameters[p].value, g.parameters[p].part);
            }
        }
        json["gradient"] = std::move(slopes);
    }
    if (c.optimise) {
        const AlignedKernel best = align_parameters(kernel, data, c.numbers, bytes, progress);
        clear_progress_line();
        json["best"] = {{"kernel", best.kernel.text()},
                        {"centred", best.after},
                        {"evaluations", best.evaluations},
                        {"status", best.status},
                        {"at_limit", parameter_names(best.at_limit)}};
        if (talk) {
            say("{:<10.5f}{:<10}{}\n{:<20}{}, {}{}\n", best.after, "(moved)", best.kernel.text(),
                "", best.status, counted(best.evaluations, "evaluation"),
                limit_text(parameter_names(best.at_limit)));
        }
    }
    return json;
}

void run(const AlignCommand& c, const InputOptions& input, const Session& session) {
    if (c.kernels.empty()) throw InvalidInput("give at least one --kernel");
    Dataset data = read_input(input, session);
    data.x = apply_scaling(Scaling::fit(ScalingRule::parse(c.scale), data.x), data.x, session);
    const Progress progress = progress_line(session);
    std::vector<Kernel> kernels;
    for (const std::string& text : c.kernels) kernels.push_back(Kernel::parse(text));
    const bool talk = !session.json;
    if (talk) say("{:<10}{:<10}{}\n", "centred", "alignment", "kernel");
    Json list = Json::array();
    for (const Kernel& kernel : kernels) list.push_back(align_one(c, kernel, data, talk, progress));
    Json json{{"input", input.path}, {"rows", data.size()}, {"kernels", std::move(list)}};
    if (c.combine != "no") {
        CombinationSettings settings = c.settings;
        settings.memory_bytes = c.memory << 20;
        settings.normalise = !c.as_given;
        settings.progress = progress;
        const bool by_margin = c.combine == "margin";
        const KernelCombination found = by_margin ? combine_by_margin(kernels, data, settings)
                                                  : combine_by_alignment(kernels, data, settings);
        clear_progress_line();
        json["combination"] = json_of(found);
        if (talk) {
            say("{}{}{}",
                line("combined",
                     fmt::format("by {}: {} {:.6g}, relative gap {:.2g}, {}{}", c.combine,
                                 by_margin ? "primal" : "centred alignment", found.objective,
                                 found.relative_gap, counted(found.iterations, "iteration"),
                                 found.converged ? "" : ", not converged")),
                line("shares", fmt::format("{:.4g}", fmt::join(found.shares, ", "))),
                line("kernel", found.kernel.text()));
        }
    }
    if (session.json) print_json(json);
}

}  // namespace

void add_align(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "align", "how well kernels agree with labels; kernels combined to agree better",
        "  mercer align heart.csv --scale standard --kernel linear --kernel 'rbf(gamma=0.1)'\n"
        "  mercer align heart.csv --scale standard --kernel 'rbf(gamma=1)' --gradient --optimise\n"
        "  mercer align heart.csv --scale standard --kernel linear --kernel 'rbf(gamma=0.1)' "
        "--combine margin -C 10\n"
        "The kernel printed last can be given to train. docs/tuning.md says more.");
    const auto options = std::make_shared<AlignCommand>();
    const auto input = add_input(command, session);
    command.add_option("--kernel", options->kernels, "the expression; repeatable")
        ->type_name("EXPR")
        ->allow_extra_args(false);
    const CLI::Option* const combine =
        add_choice(command, session, "--combine", options->combine, {"no", "alignment", "margin"},
                   "learn weights of the kernels' sum by alignment or by the margin");
    only(session,
         command.add_option("-C,--cost", options->settings.C, "margin: penalty of errors [1]")
             ->type_name("X"),
         for_words(combine, options->combine, {"margin"}));
    only(session,
         {command
              .add_option("--tol", options->settings.tolerance,
                          "--combine: relative gap to stop at [0.001]")
              ->type_name("X"),
          command.add_flag("--as-given", options->as_given,
                           "--combine: do not divide kernels by their mean k(x,x) before")},
         for_words(combine, options->combine, {"alignment", "margin"}));
    command.add_flag("--gradient", options->gradient, "also the slope in each parameter");
    command.add_flag("--optimise", options->optimise, "also move the parameters to the best");
    command.add_flag("--numbers", options->numbers, "labels are targets of a regression");
    command.add_option("--scale", options->scale, "scale features: standard, minmax, … [none]")
        ->type_name("RULE");
    add_count(command, "--memory", options->memory, 1, std::size_t{1} << 24,
              "MiB for kernel values [1024]");
    command.callback([&session, options, input] {
        session.action = [&session, options, input] { run(*options, *input, session); };
    });
}

}  // namespace mercer::cli
