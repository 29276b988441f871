// mercer depend, mercer answer: outputs of any kind from inputs of any kind.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/learn/components/dependency.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DependCommand {
    std::string outputs;
    std::string model;
    std::string kernel = "rbf(gamma=scale)";
    std::string kernel_y;
    std::string scale = "none";
    std::size_t memory = usual_memory();
    DependencySettings settings{};
};

void run_depend(const DependCommand& c, const InputOptions& input, const Session& session) {
    if (session.json && c.model == "-") {
        throw InvalidInput("the model and --json cannot both go to standard output; name a file");
    }
    DependencySettings s = c.settings;
    s.common.kernel = Kernel::parse(c.kernel);
    s.common.scaling = ScalingRule::parse(c.scale);
    s.common.memory_bytes = c.memory << 20;
    s.common.progress = progress_line(session);
    s.output_kernel = Kernel::parse(c.kernel_y.empty() ? c.kernel : c.kernel_y);
    const Dataset x = read_side(input, input.path, session);
    const Dataset y = read_side(input, c.outputs, session);
    const Model model = dependency(s).fit(x, y);
    clear_progress_line();
    {
        const InterruptLater later(c.model);
        save(model, c.model);
    }
    const double explained = companion_of(model)->report().figures.at("explained");
    const double lambda = model.trained().numbers.at("lambda");
    Json json{{"x", input.path},
              {"y", c.outputs},
              {"rows", model.report().rows},
              {"kernel_x", model.expansion().kernel.text()},
              {"kernel_y", companion_of(model)->expansion().kernel.text()},
              {"components", model.expansion().outputs()},
              {"output_explained", explained},
              {"lambda", lambda},
              {"model", c.model}};
    if (session.json) {
        print_json(json);
        return;
    }
    std::string text = line("data", fmt::format("{} to {}, {}", input.path, c.outputs,
                                                counted(model.report().rows, "pair")));
    text += line("kernel x", model.expansion().kernel.text());
    text += line("kernel y", companion_of(model)->expansion().kernel.text());
    text += line("outputs", fmt::format("{}, {} of the variance",
                                        counted(model.expansion().outputs(), "component"),
                                        percent(explained)));
    text += line("lambda", fmt::format("{}", lambda));
    text += line("model", c.model);
    fmt::print(c.model == "-" ? stderr : stdout, "{}", text);
}

struct AnswerCommand {
    std::string model;
    std::string candidates;
    std::string positions;
    std::string method;
    std::size_t iterations = 200;
};

void write_positions(const NearestOutputs& found, const std::string& path) {
    const InterruptLater later(path);
    write_whole(path, [&](Output& out) {
        for (const std::size_t p : found.positions) out.write(fmt::format("{}\n", p));
    });
}

void run_answer(const AnswerCommand& c, InputOptions input, const OutputOptions& output,
                const Session& session) {
    check_output(output, session);
    if (input.read.label.empty()) input.read.label = "none";
    auto [model, data] = read_model_and_data(c.model, input, session);
    const Dependency map(model);
    const Progress progress = progress_line(session);
    Json report{{"model", c.model}};
    double mean = 0;
    const auto rows = static_cast<double>(data.size());
    const auto average = [&mean, rows](double value) { mean += value / rows; };
    Dataset answers;
    if (!c.method.empty()) {
        PreimageSettings settings;
        settings.method = preimage_method_named(c.method);
        settings.iterations = c.iterations;
        settings.progress = progress;
        const std::vector<Preimage> found = map.preimages(data.x, settings);
        for (const Preimage& p : found) average(p.squared_distance);
        answers.x = preimage_rows(found);
    } else {
        const Rows candidates = c.candidates.empty() ? map.outputs().model().expansion().points
                                                     : read_side(input, c.candidates, session).x;
        const NearestOutputs found = map.nearest(data.x, candidates, progress);
        for (const double d : found.squared_distance) average(d);
        answers.x = candidates.select(found.positions);
        report["candidates"] = candidates.size();
        if (!c.positions.empty()) write_positions(found, c.positions);
    }
    clear_progress_line();
    answers.y = data.y;
    report["mean_squared_distance"] = mean;
    write_data(answers, output, session, report);
}

}  // namespace

void add_depend(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "depend", "learn outputs of any kind from inputs of any kind",
        "  mercer depend upper.csv lower.csv halves.mercer --kernel 'rbf(gamma=0.01)' "
        "--components 64\n"
        "  mercer depend x.csv gram.csv m.mercer --kernel-y precomputed     # strings, graphs, …\n"
        "  mercer answer halves.mercer new-upper.csv -o new-lower.csv\n"
        "Row i of the outputs belongs to row i of the inputs; no column is taken for a label\n"
        "unless --label says so. docs/machines/dependency.md says more.");
    const auto o = std::make_shared<DependCommand>();
    const auto input = add_input(command, session, "rows of inputs, X");
    add_file(command, session, "OUTPUTS", o->outputs, FileUse::input,
             "rows of outputs, Y, in the same order")
        ->required();
    add_file(command, session, "MODEL", o->model, FileUse::model, "file for the model")->required();
    command.add_option("--kernel", o->kernel, "the expression for inputs [rbf(gamma=scale)]")
        ->type_name("EXPR");
    command.add_option("--kernel-y", o->kernel_y, "that for outputs [as for inputs]")
        ->type_name("EXPR");
    command.add_option("--scale", o->scale, "scale the inputs [none]")->type_name("RULE");
    add_count(command, "--components", o->settings.components, 0, 1'000'000,
              "kernel principal components of the outputs, 0: all [64]");
    CLI::Option* const lambda =
        command.add_option("--lambda", o->settings.lambda, "of the ridge from inputs [1]")
            ->type_name("X");
    const CLI::Option* const path =
        command
            .add_option("--lambda-path", o->settings.path,
                        "several, the one of the least leave-one-out error is kept")
            ->delimiter(',')
            ->type_name("X,X,…");
    only(session, lambda, without(path, "the path has all values that are tried"));
    add_count(command, "--memory", o->memory, 1, std::size_t{1} << 24,
              "MiB for kernel values [1024]");
    command.callback([&session, o, input] {
        session.action = [&session, o, input] { run_depend(*o, *input, session); };
    });
}

void add_answer(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "answer", "outputs for new inputs, by a model of 'depend'",
        "  mercer answer halves.mercer new-upper.csv -o new-lower.csv\n"
        "  mercer answer halves.mercer new-upper.csv --preimage best -o made.csv\n"
        "  mercer answer m.mercer new.csv --candidates gram.csv --positions which.txt -o out.csv\n"
        "An answer is the candidate whose image is nearest to what the model predicts (by default\n"
        "one of the outputs it was trained on), or with --preimage a row made for it.");
    const auto o = std::make_shared<AnswerCommand>();
    const auto input = add_model_and_input(command, session, o->model);
    CLI::Option* const candidates =
        add_file(command, session, "--candidates", o->candidates, FileUse::input,
                 "rows of outputs to choose from [those of the training]");
    CLI::Option* const positions =
        add_file(command, session, "--positions", o->positions, FileUse::data,
                 "also write which candidate it is, counted from 0, one per line");
    const CLI::Option* const preimage =
        command
            .add_option("--preimage", o->method,
                        "make an output: best, fixed-point, gradient, distance or regression")
            ->type_name("WORD");
    only(session, {candidates, positions},
         without(preimage, "a pre-image is made, not chosen among some"));
    only(session,
         only(session,
              add_count(command, "--iterations", o->iterations, 1, 1'000'000,
                        "of a pre-image, at most [200]"),
              with({preimage})),
         for_words(preimage, o->method, {"best", "fixed-point", "gradient"}));
    const auto output = add_output(command, session);
    command.callback([&session, o, input, output] {
        session.action = [&session, o, input, output] { run_answer(*o, *input, *output, session); };
    });
}

}  // namespace mercer::cli
