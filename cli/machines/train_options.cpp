#include "cli/machines/train_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/target_scale.hpp"

namespace mercer::cli {
namespace {

/// Options that need another, or rule it out.
void declare_uses(CLI::App& command, Session& session, const TrainOptions& o) {
    const auto option = [&](const char* name) { return command.get_option(name); };
    const auto tasks = [&](const char* name, std::vector<std::string> names) {
        only(session, option(name), for_words(option("--task"), o.task, std::move(names)));
    };
    o.settings.declare_uses(session, option("--task"), o.task);
    std::vector<std::string> regressors, svms;
    for (const MachineEntry* machine : machines()) {
        if (machine->learns == Learns::numbers) regressors.push_back(machine->name);
        if (machine->family == "svm") svms.push_back(machine->name);
    }
    tasks("--target-scale", regressors);
    tasks("--curve", {"adatron"});
    tasks("--trace", svms);
    tasks("--from", svms);
    only(session, option("--cv"),
         when([&o] { return !is_projection(o.machine().task); }, "for projections",
              "components answer no question that could be judged"));
    only(session, option("--cv"),
         when([&o] { return !is_clustering(o.machine().task); }, "for groups",
              "they have no names to compare"));
    only(session, option("--restarts"), with({option("--optimise")}));
    only(session, option("--fix"), with({option("--optimise")}));
    only(session, option("--step-limit"),
         when([&o] { return o.task != "gp" || o.given("--optimise"); }, "for gp without --optimise",
              "there is no search to limit"));
    only(session, option("--trace"),
         when([method = option("--method")] { return method->as<std::string>() == "smo"; },
              "without --method smo", "other methods have no such steps"));
    only(session, option("--trace"),
         without(option("--tube"), "steps move three points in a tube of many widths"));
    only(session, option("--lambda"),
         without(option("--lambda-path"), "the path has all values that are tried"));
}

void add_machine_options(CLI::App& command, Session& session, TrainOptions& o) {
    add_choice(command, session, "--task", o.task, trained_tasks(), "what to learn");
    command.add_option("--kernel", o.kernel, "the expression, docs/kernels.md [rbf(gamma=scale)]")
        ->type_name("EXPR");
    o.settings.add(command, session);
    command.get_option("--tube")->description(
        "nu-svr: shape of the tube, a formula of x0, x1, … or @COLUMN");
    command
        .add_option("--scale", o.scale,
                    "scale features, kept in the model: standard, minmax, minmax(-1,1), unit, or a "
                    "factor such as 1/255 [none]")
        ->type_name("RULE");
    add_choice(command, session, "--target-scale", o.target_scale, target_scale_words.words(),
               "regression: scale the targets, kept in the model; answers are in the target's own "
               "units, and C, epsilon, delta, noise count in the scaled ones. auto: standard for "
               "gp --optimise, else none");
    add_file(command, session, "--curve", o.curve, FileUse::data,
             "adatron: also write how the dual grows, beside that of smo, as CSV")
        ->group("Other machines");
}

void add_training_options(CLI::App& command, Session& session, TrainOptions& o) {
    const char* const group = "Training";
    add_count(command, "--cv", o.folds, 2, 1'000'000'000, "cross-validate over so many folds")
        ->group(group);
    add_seed(command, o.seed, "of folds, orders and starts [1]")->group(group);
    command
        .add_option(
            "--time-limit", o.time_limit,
            "seconds, of all folds or points together; what there is then is kept, 0: none [0]")
        ->type_name("X")
        ->group(group);
    add_count(command, "--memory", o.memory, 1, std::size_t{1} << 24,
              fmt::format("MiB for kernel values, and with --approximate for rows [{}]", o.memory))
        ->group(group);
    command
        .add_flag("--double-precision", o.double_precision,
                  "compute kernel values in double precision too")
        ->group(group);
    add_file(
        command, session, "--trace", o.trace, FileUse::data,
        "--method smo: also write its steps, the pair, the clipping interval and the objective "
        "of each, as CSV")
        ->group(group);
    add_file(command, session, "--from", o.from, FileUse::input,
             "begin at this model of the same rows: one that was stopped, or one of another -C or "
             "--nu")
        ->group(group);
}

/// Position of a column given by name or by number from 1.
std::size_t column_of(const std::string& text, const Dataset& data) {
    const auto found = std::ranges::find(data.feature_names, text);
    if (found != data.feature_names.end()) {
        return static_cast<std::size_t>(found - data.feature_names.begin());
    }
    const auto number = mercer::parse_number(text);
    const auto columns = static_cast<double>(data.columns());
    if (number && *number >= 1 && *number <= columns &&
        *number == static_cast<double>(static_cast<std::size_t>(*number))) {
        return static_cast<std::size_t>(*number) - 1;
    }
    const auto near = mercer::nearest_word(text, data.feature_names);
    throw InvalidInput(
        fmt::format("--tube @{}: there is no such column; give a name or a number "
                    "from 1 to {}{}",
                    text, data.columns(), near ? fmt::format(". Did you mean '{}'?", *near) : ""));
}

}  // namespace

std::shared_ptr<TrainOptions> add_train_options(CLI::App& command, Session& session) {
    auto options = std::make_shared<TrainOptions>();
    add_file(command, session, "MODEL", options->model, FileUse::model,
             "file to save the model in; without it the machine is only reported on, or with --cv "
             "only cross-validated");
    add_machine_options(command, session, *options);
    add_training_options(command, session, *options);
    declare_uses(command, session, *options);
    session.before_help[&command] = [&session, options, task = command.get_option("--task")] {
        if (task->count() == 0) return;
        options->task = task->as<std::string>();
        options->settings.show_as_of(options->machine());
        hide_unused(session, task);
    };
    return options;
}

std::shared_ptr<TrainOptions> add_machine_only_options(CLI::App& command, Session& session) {
    auto options = std::make_shared<TrainOptions>();
    add_machine_options(command, session, *options);
    add_training_options(command, session, *options);
    declare_uses(command, session, *options);
    for (const char* name : {"--cv", "--curve", "--trace", "--from", "--loo", "--probability"}) {
        CLI::Option* const option = command.get_option(name);
        only(session, option,
             when([] { return false; }, "where nothing is kept", "it belongs to 'mercer train'"));
        option->group("");
    }
    return options;
}

CLI::Option* add_approximate(CLI::App& command, TrainOptions& options, const std::string& about) {
    return command.add_option("--approximate", options.approximate, about)
        ->type_name("RULE")
        ->group("Training");
}

void check_options(const TrainOptions& o) {
    const SettingValues values = o.settings.values(o.machine());
    const auto multi_class = values.find("multi_class");
    if (o.given("--probability") && multi_class != values.end() &&
        multi_class->second == SettingValue("ovr")) {
        throw InvalidInput("--probability couples pairs of classes: it needs --multi-class ovo");
    }
    if (o.task == "svdd" && o.given("-C") && o.given("--nu")) {
        throw InvalidInput("svdd takes either -C or --nu: C = 1 / (nu rows)");
    }
    if (!(o.time_limit >= 0)) {
        throw InvalidInput(
            fmt::format("--time-limit {} must be 0 (none) or a number of seconds", o.time_limit));
    }
}

FitSettings common_of(const TrainOptions& o, const Progress& progress) {
    return {.kernel = Kernel::parse(o.kernel),
            .scaling = ScalingRule::parse(o.scale),
            .target_scale = target_scale_named(o.target_scale),
            .seed = o.seed,
            .time_limit = o.time_limit,
            .memory_bytes = o.memory << 20,
            .double_precision = o.double_precision,
            .progress = progress};
}

SvmSettings svm_settings_of(const TrainOptions& o) {
    SettingValues values = o.settings.values(o.machine());
    const auto tube = values.find("tube");  // a column is taken from the data
    if (tube != values.end() && std::get<std::string>(tube->second).starts_with('@')) {
        values.erase(tube);
    }
    return in_flags_of(o, [&] { return svm_settings(o.machine().task, common_of(o), values); });
}

void take_tube(const TrainOptions& o, Dataset& data, SvmSettings& settings) {
    const std::string tube = o.settings.word("--tube");
    if (!tube.starts_with('@')) return;
    if (data.columns() > 1'000'000) {
        throw InvalidInput(fmt::format("--tube {} needs data of at most a million columns, not {}",
                                       tube, data.columns()));
    }
    const std::size_t column = column_of(tube.substr(1), data);
    std::vector<double> row(data.columns());
    for (std::size_t i = 0; i < data.size(); ++i) {
        data.x.copy_row(i, row);
        settings.tube_values.push_back(row[column]);
    }
    std::vector<std::size_t> others;
    for (std::size_t j = 0; j < data.columns(); ++j) {
        if (j != column) others.push_back(j);
    }
    if (others.empty()) throw InvalidInput("--tube: the data has no other column to learn from");
    data.x = data.x.select_columns(others);
    if (column < data.feature_names.size()) {
        data.feature_names.erase(data.feature_names.begin() + static_cast<std::ptrdiff_t>(column));
    }
}

double inside(const Labels& predictions) {
    const auto count = std::ranges::count_if(predictions.values, [](double y) { return y > 0; });
    return static_cast<double>(count) /
           static_cast<double>(std::max<std::size_t>(predictions.size(), 1));
}

}  // namespace mercer::cli
