// mercer query: which rows to label next. mercer spread: labels for all rows from a few.
#include <fmt/format.h>

#include <string>

#include "cli/commands.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/groups/label_spreading.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/select/cross_validation.hpp"
#include "mercer/select/features.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct QueryCommand {
    std::string model{};
    std::string labelled{};
    std::string rule = "simple";
    std::size_t count = 10;
    std::size_t shortlist = 50;
};

/// The settings a two-class model was trained with, for training it again with one row more.
SvmSettings settings_of(const Model& model) {
    require_one_machine(model, "what --rule max-min trains again");
    SvmSettings s{.task = model.task(),
                  .common = {.kernel = model.expansion().kernel},
                  .C = model.trained().C};
    s.bias = model.trained().bias;
    return s;
}

void run_query(const QueryCommand& c, const InputOptions& input, const Session& session) {
    const auto [model, pool] = read_model_and_data(c.model, input, session);
    const Progress progress = progress_line(session);
    std::vector<Query> queries;
    if (c.rule == "simple") {
        queries = query_simple(model, pool.x, c.count, progress);
    } else {
        if (c.labelled.empty()) {
            throw InvalidInput("--rule max-min trains again: name the data with --labelled");
        }
        Dataset known = read_model_and_data(c.model, for_file(input, c.labelled), session).data;
        known.x = model.scaling().apply(known.x);
        queries = query_max_min(settings_of(model), known, model.scaling().apply(pool.x), c.count,
                                c.shortlist, progress);
    }
    clear_progress_line();
    Json list = Json::array();
    for (const Query& q : queries) {
        list.push_back({{"row", q.row + 1}, {"score", json_number(q.score)}});
        if (!session.json) say("{:<10}{:.6g}\n", q.row + 1, q.score);
    }
    if (session.json) {
        print_json({{"model", c.model}, {"rule", c.rule}, {"rows", std::move(list)}});
    }
}

struct SpreadCommand {
    std::string unlabelled{};
    std::string model{};
    std::string kernel = "rbf(gamma=scale)";
    std::string scale = "none";
    std::string output = "-";
    std::size_t memory = usual_memory();
    SpreadSettings settings{};
};

void run_spread(const SpreadCommand& c, const InputOptions& input, const Session& session) {
    const Dataset labelled = read_input(input, session);
    const Dataset rest = read_another(c.unlabelled, labelled, input, session);
    SpreadSettings settings = c.settings;
    settings.common.kernel = Kernel::parse(c.kernel);
    settings.common.scaling = ScalingRule::parse(c.scale);
    settings.common.memory_bytes = c.memory << 20;
    settings.common.progress = progress_line(session);
    const LabelSpread found = spread_labels(settings, labelled, rest.x);
    clear_progress_line();
    const bool to_file = c.output != "-";
    std::string lines;
    Json labels = Json::array();
    for (std::size_t i = 0; i < found.unlabelled.size(); ++i) {
        lines += found.unlabelled.text(i) + '\n';
        labels.push_back(found.unlabelled.text(i));
    }
    if (to_file || !session.json) {
        const InterruptLater later(c.output);
        write_whole(c.output, [&](Output& out) { out.write(lines); });
    }
    Json json{{"labelled", labelled.size()},
              {"unlabelled", rest.size()},
              {"residual", found.residual},
              {"unreached", found.unreached}};
    if (!c.model.empty()) {
        const InterruptLater later(c.model);
        save(found.model, c.model);
        json["model"] = c.model;
    }
    std::string text =
        fmt::format("{} labelled, {} not", counted(labelled.size(), "row"), rest.size());
    if (!rest.y.empty()) {
        const double accuracy = score(Task::svc, found.unlabelled, rest.y).accuracy;
        json["accuracy"] = accuracy;
        text += ", accuracy " + percent(accuracy);
    }
    if (session.json) {
        if (!to_file) json["labels"] = std::move(labels);
        print_json(json);
    } else {
        fmt::print(to_file ? stdout : stderr, "{}\n", text);
    }
}

}  // namespace

void add_query(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "query", "which rows of a pool to label next (active learning)",
        "  mercer query first.mercer pool.csv --count 10\n"
        "  mercer query first.mercer pool.csv --rule max-min --labelled first.csv --count 1\n"
        "Prints the numbers of rows, from 1, with what the rule compares: the lead of the best\n"
        "class over the next (simple, the least first), or the smaller of the margins with either\n"
        "label (max-min, the largest first).");
    const auto options = std::make_shared<QueryCommand>();
    const auto input = add_model_and_input(command, session, options->model);
    const CLI::Option* const rule = add_choice(command, session, "--rule", options->rule,
                                               {"simple", "max-min"}, "how to choose");
    add_count(command, "--count", options->count, 1, 1'000'000'000, "rows to choose [10]");
    only(session,
         {add_file(command, session, "--labelled", options->labelled, FileUse::input,
                   "max-min: data the model was trained on"),
          add_count(command, "--shortlist", options->shortlist, 0, 1'000'000'000,
                    "max-min: try the first so many of simple, 0: all [50]")},
         for_words(rule, options->rule, {"max-min"}));
    command.callback([&session, input, options] {
        session.action = [&session, input, options] { run_query(*options, *input, session); };
    });
}

void add_spread(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "spread", "labels for many rows from a few, over a graph (semi-supervised)",
        "  mercer spread few.csv many.csv --kernel 'rbf(gamma=20)' -o labels.txt\n"
        "  mercer spread few.csv many.csv --save-model spread.mercer    (then: mercer predict)\n"
        "INPUT has the labelled rows, UNLABELLED the others; if these have labels after all, the\n"
        "share that was found is printed.");
    const auto options = std::make_shared<SpreadCommand>();
    const auto input = add_input(command, session);
    add_file(command, session, "UNLABELLED", options->unlabelled, FileUse::input,
             "the rows to find labels for")
        ->required();
    command.add_option("--kernel", options->kernel, "the affinity [rbf(gamma=scale)]")
        ->type_name("EXPR");
    command.add_option("--alpha", options->settings.alpha, "share from the neighbours [0.99]")
        ->type_name("X");
    add_count(command, "--neighbours", options->settings.neighbours, 0, 1'000'000,
              "only the nearest so many of each row, 0: all [0]");
    command.add_option("--scale", options->scale, "scale features: standard, minmax, … [none]")
        ->type_name("RULE");
    add_file(command, session, "-o,--output", options->output, FileUse::data,
             "file to write; - is standard output [-]");
    add_file(command, session, "--save-model", options->model, FileUse::model,
             "file to save the model in, which labels other rows by those of the graph");
    add_count(command, "--memory", options->memory, 1, std::size_t{1} << 24,
              "MiB for the graph [1024]");
    command.callback([&session, input, options] {
        session.action = [&session, input, options] { run_spread(*options, *input, session); };
    });
}

}  // namespace mercer::cli
