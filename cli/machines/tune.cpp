// mercer tune: the settings and kernel parameters that predict best.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/interrupt.hpp"
#include "cli/common/machines.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "cli/common/ranks.hpp"
#include "cli/common/table_input.hpp"
#include "cli/machines/train_options.hpp"
#include "cli/machines/tune_cells.hpp"
#include "cli/machines/tune_gradient.hpp"
#include "cli/machines/tune_output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/dist/communicator.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/select/automatic.hpp"
#include "mercer/select/search.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TuneOptions {
    std::vector<std::string> grid{};
    std::string search = "grid";
    std::size_t points = 60;
    std::size_t folds = 5;
    std::size_t repeats = 1;
    std::string folding = "auto";
    std::string groups{};
    std::string fold_file{};
    std::string score{};
    std::string positive{};
    bool one_se = false;
    bool alone = false;
    std::string journal{};
    std::string csv{};
    std::string heat_map{};
};

bool in_cells(const TrainOptions& options) {
    return options.approximate.starts_with("cells");
}

SearchMethod method_named(const std::string& name) {
    if (name == "random") return SearchMethod::random;
    if (name == "bayesian") return SearchMethod::bayesian;
    return name == "halving" ? SearchMethod::halving : SearchMethod::grid;
}

SearchTask task_of(const TrainOptions& options, const SvmSettings& svm, const Progress& progress) {
    const MachineEntry& machine = options.machine();
    std::optional<Nystroem> how;
    if (!options.approximate.empty()) how = Nystroem::parse(options.approximate);
    if (is_svm(machine.task)) {
        SvmSettings own = svm;
        own.common.progress = progress;
        return svm_search_task(own, options.kernel, how);
    }
    // The kernel may have placeholders and is given to the search as text.
    TrainOptions plain = options;
    plain.kernel = "linear";
    return search_task(machine, common_of(plain, progress), options.settings.values(machine),
                       options.kernel, how);
}

/// One name a row, out of a file of lines.
std::vector<std::string> lines_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file || std::filesystem::is_directory(path)) {
        throw InvalidInput(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
    }
    std::vector<std::string> lines;
    for (std::string text; std::getline(file, text);) {
        while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.pop_back();
        if (text.empty()) {
            throw InvalidInput(Location{path, lines.size() + 1, 0},
                               "the line is empty; there should be one name a row");
        }
        lines.push_back(std::move(text));
    }
    return lines;
}

/// The values of a column by its name or its number from 1, which is then no feature any more.
std::vector<std::string> take_column(const std::string& text, Dataset& data) {
    std::size_t column = data.columns();
    const auto found = std::ranges::find(data.feature_names, text);
    if (found != data.feature_names.end()) {
        column = static_cast<std::size_t>(found - data.feature_names.begin());
    } else if (const auto number = mercer::parse_number(text);
               number && *number >= 1 && *number <= static_cast<double>(data.columns())) {
        column = static_cast<std::size_t>(*number) - 1;
    }
    if (column >= data.columns() || data.columns() > 1'000'000) {
        throw InvalidInput(fmt::format(
            "--groups @{}: there is no such column; give a name or a number from 1 to {}", text,
            data.columns()));
    }
    if (data.columns() == 1) {
        throw InvalidInput("--groups: the data has no other column to learn from");
    }
    std::vector<std::string> keys;
    std::vector<double> row(data.columns());
    for (std::size_t i = 0; i < data.size(); ++i) {
        data.x.copy_row(i, row);
        keys.push_back(format_number(row[column]));
    }
    std::vector<std::size_t> others;
    for (std::size_t j = 0; j < data.columns(); ++j) {
        if (j != column) others.push_back(j);
    }
    data.x = data.x.select_columns(others);
    if (column < data.feature_names.size()) {
        data.feature_names.erase(data.feature_names.begin() + static_cast<std::ptrdiff_t>(column));
    }
    return keys;
}

FoldRule folds_of(const TuneOptions& tune, const TrainOptions& options, Dataset& data) {
    FoldRule rule{.folds = options.folds > 0 ? options.folds : tune.folds,
                  .repeats = tune.repeats,
                  .seed = options.seed};
    if (tune.folding == "stratified") rule.kind = FoldKind::stratified;
    if (tune.folding == "plain") rule.kind = FoldKind::plain;
    if (!tune.groups.empty()) {
        rule.kind = FoldKind::grouped;
        rule.keys = tune.groups[0] == '@' ? take_column(tune.groups.substr(1), data)
                                          : lines_of(tune.groups);
    }
    if (!tune.fold_file.empty()) {
        rule.kind = FoldKind::given;
        rule.keys = lines_of(tune.fold_file);
    }
    return rule;
}

SearchSettings settings_of(const TuneOptions& tune, const TrainOptions& options, Dataset& data) {
    SearchSettings settings;
    settings.method = method_named(tune.search);
    settings.points = tune.points;
    settings.folds = folds_of(tune, options, data);
    if (!tune.score.empty()) settings.measure = measure_named(tune.score);
    settings.positive = tune.positive;
    settings.one_standard_error = tune.one_se;
    settings.seed = options.seed;
    settings.journal = tune.journal;
    settings.share = !tune.alone;
    return settings;
}

void write_text(const std::string& path, const std::string& content) {
    if (path.empty()) return;
    const InterruptLater later(path);
    write_whole(path, [&](Output& out) { out.write(content); });
}

void check_options(const TuneOptions& tune, const TrainOptions& options, Task task) {
    check_options(options);
    for (const std::string& path : {options.model, tune.csv, tune.heat_map, tune.journal}) {
        if (path == "-") {
            throw InvalidInput("results of a search go to files, not to standard output");
        }
    }
    if (options.approximate == "auto") {
        throw InvalidInput(
            "--approximate auto belongs to 'mercer train'; a search is told which: ask 'mercer "
            "plan', and say nystroem(centres=1000) or cells(rows=2000)");
    }
    if (!options.approximate.empty()) check_approximation(options.approximate);
    if (is_gradient_search(tune.search)) return;
    if (tune.grid.empty() && tune.search != "grid") {
        throw InvalidInput(fmt::format(
            "there is nothing to search: --search {} needs --grid, such as --grid C=0.1:1000:log9; "
            "without both there is a search of its own",
            tune.search));
    }
    const bool needs = tune.score == "log-loss" && is_svm(task) && !options.given("--probability");
    if (needs) throw InvalidInput("--score log-loss needs probabilities: add --probability");
}

/// The best machine, trained on all rows, by all ranks where it is one that they can share, and
/// saved by the first.
void refit(const SearchSpace& space, const SearchPoint& best, const Dataset& data,
           const std::string& path, Json& json, std::string& text) {
    const bool together = is_svm(space.task().task);
    if (!together && !is_first_rank()) return;
    const Model model = learn_point(space, best, data, together ? &current_ranks() : nullptr);
    clear_progress_line();
    if (!is_first_rank()) return;
    const InterruptLater later(path);
    save(model, path);
    json["model"] = path;
    text += describe_machine(model) + describe_certificate(model) + line("model", path);
}

/// A search without a grid begins from scaled columns and targets, unless it is told otherwise.
TrainOptions for_default_search(TrainOptions options, const Dataset& data, const Session& session) {
    const auto given = [&](const char* name) {
        return session.command->get_option(name)->count() > 0;
    };
    if (!given("--scale") && !data.table && data.columns() > 0) options.scale = "standard";
    if (!given("--target-scale") && is_regressor(options.machine().task)) {
        options.target_scale = "standard";
    }
    return options;
}

/// Seconds of the search; what is left of the time limit is that of the machine learnt in the end,
/// and of each one tried.
double share_time(TrainOptions& options) {
    if (options.model.empty()) return options.time_limit;
    constexpr double for_search = 0.7;
    const double whole = options.time_limit;
    options.time_limit *= 1 - for_search;
    return for_search * whole;
}

int run(const TuneOptions& tune, const TrainOptions& given, const InputOptions& input,
        const Session& session) {
    TrainOptions options = given;
    const Task task = task_named(options.task);
    check_options(tune, options, task);
    if (is_gradient_search(tune.search)) {
        require_one_rank("mercer tune --search " + tune.search);
        run_gradient_search(tune.search, options, input, session);
        return 0;
    }
    std::vector<Axis> axes;
    for (const std::string& text : tune.grid) axes.push_back(Axis::parse(text));
    InputOptions reading = input;
    if (options.double_precision) reading.read.double_precision = true;
    Dataset data = read_for_learning(reading, session, options.kernel);
    if (tune.grid.empty()) options = for_default_search(options, data, session);
    const double search_time = share_time(options);
    // The kernel may have placeholders and is given to the search as text.
    TrainOptions plain = options;
    plain.kernel = "linear";
    SvmSettings svm = is_svm(task) ? svm_settings_of(plain) : SvmSettings{};
    take_tube(options, data, svm);
    SearchSettings settings = settings_of(tune, options, data);
    settings.ranks = &current_ranks();
    if (in_cells(options)) {
        options.time_limit = given.time_limit;
        return tune_cells({.search = tune.search,
                           .axes = std::move(axes),
                           .settings = std::move(settings),
                           .csv = tune.csv},
                          options, svm, input.path, data, session);
    }
    const StopOnInterrupt stop;
    const Run whole([&stop](const Moment&) { return !stop.requested(); }, search_time);
    bool searching = true;  // the last machine has a time of its own
    const Progress listener = [&](const Moment& moment) {
        return searching ? whole.goes_on(moment) : !stop.requested();
    };
    settings.progress = [draw = progress_line(session), &whole](const Moment& moment) {
        if (draw) draw(moment);
        return whole.goes_on(moment);
    };
    const SearchTask searched = task_of(options, svm, listener);
    const bool by_itself = axes.empty();
    FoundSettings found =
        by_itself ? default_search(searched, data, {.search = settings})
                  : FoundSettings{.space = SearchSpace(searched, std::move(axes), data)};
    const SearchSpace& space = found.space;
    if (!tune.heat_map.empty()) check_heat_map(space, settings.method);
    if (!by_itself) found.result = search(space, data, settings);
    const SearchResult& result = found.result;
    clear_progress_line();
    // The first tells and saves; clocks may differ, and so it also says what all are to do.
    bool late = whole.out_of_time();
    current_ranks().broadcast(std::span(&late, 1));
    const bool learns = !options.model.empty() && result.best && (late || !result.cancelled);
    Json json{{"input", input.path}, {"rows", data.size()}};
    json.update(cli::json_of(space, result));
    std::string text =
        line("data", fmt::format("{}, {}, {}", input.path, counted(data.size(), "row"),
                                 counted(data.columns(), "column"))) +
        line("search", fmt::format("{}, {}, {}, {:.3g} s{}", tune.search,
                                   counted(result.points.size(), "point"),
                                   counted(result.folds, "fold"), result.seconds,
                                   !result.shared                ? ""
                                   : options.approximate.empty() ? ", kernel values shared"
                                                                 : ", features shared")) +
        (result.taken > 0
             ? line("journal",
                    fmt::format("{} taken from {}", counted(result.taken, "point"), tune.journal))
             : "") +
        describe_search(space, result);
    for (const std::string& remark : found.remarks) text += line("note", remark);
    if (by_itself) {
        json["widened"] = found.widened;
        json["remarks"] = found.remarks;
    }
    if (is_first_rank()) write_text(tune.csv, csv_of(space, result));
    if (!tune.heat_map.empty() && is_first_rank()) {
        const InterruptLater later(tune.heat_map);
        chart::write(heat_map_of(space, result), tune.heat_map);
    }
    searching = false;
    if (late && !result.best) {
        throw InvalidInput(fmt::format(
            "--time-limit {} passed before a point was tried on all folds; allow more, take fewer "
            "rows, or --search halving",
            given.time_limit));
    }
    if (late) {
        warn("the time limit passed; of the points tried until then the best is taken");
    } else if (result.cancelled) {
        warn("the search was interrupted; what was done is reported");
    }
    if (learns) {
        refit(space, result.points[*result.best], data, options.model, json, text);
    }
    if (session.json) {
        print_json(json);
    } else {
        say("{}", text);
    }
    return (result.cancelled && !late) || stop.requested() ? exit_interrupted : 0;
}

void add_tune_options(CLI::App& command, Session& session, TuneOptions& o) {
    const char* const group = "Search";
    const auto file = [&](const char* name, std::string& out, FileUse use, const char* about) {
        add_file(command, session, name, out, use, about)->group(group);
    };
    command
        .add_option("--grid", o.grid,
                    "NAME=1,2,3 or NAME=low:high:count or NAME=low:high:logcount; repeatable")
        ->type_name("AXIS")
        ->allow_extra_args(false)
        ->group(group);
    add_choice(command, session, "--search", o.search,
               {"grid", "random", "halving", "bayesian", "alignment", "radius-margin"},
               "every combination, points drawn, those on more and more rows, where a Gaussian "
               "process expects most; or kernel parameters by a gradient, without folds")
        ->group(group);
    add_count(command, "--points", o.points, 1, 1'000'000,
              "random, halving, bayesian: so many [60]")
        ->group(group);
    add_count(command, "--folds", o.folds, 2, 1'000'000'000, "parts of the rows [5]")->group(group);
    add_count(command, "--repeats", o.repeats, 1, 10'000, "drawings of the folds [1]")
        ->group(group);
    add_choice(command, session, "--folding", o.folding, {"auto", "stratified", "plain"},
               "shares of classes kept in every fold or not; auto: kept for classifiers")
        ->group(group);
    file("--groups", o.groups, FileUse::input,
         "rows that belong together: one name a line, or @COLUMN");
    file("--fold-file", o.fold_file, FileUse::input, "the folds themselves: one name a line");
    command
        .add_option("--score", o.score,
                    "accuracy, balanced-accuracy, f1, auc, log-loss, mse, mae or r2 [accuracy; mse "
                    "of regressions]")
        ->type_name("WORD")
        ->group(group);
    command
        .add_option("--positive", o.positive, "f1 of two classes: of this one [the last by name]")
        ->type_name("CLASS")
        ->group(group);
    command
        .add_flag("--one-se", o.one_se, "the plainest point within one standard error of the best")
        ->group(group);
    command.add_flag("--alone", o.alone, "train every machine by itself, sharing nothing")
        ->group(group);
    file("--journal", o.journal, FileUse::journal,
         "append results here, and go on from what is there");
    file("--csv", o.csv, FileUse::data, "write every point as a table");
    file("--heat-map", o.heat_map, FileUse::picture, "draw a grid over two axes, as .svg or .png");
}

/// Which searches take what.
void declare_uses(CLI::App& command, Session& session, const TrainOptions& options,
                  const TuneOptions& tune) {
    const auto option = [&](const char* name) { return command.get_option(name); };
    const CLI::Option* const search = option("--search");
    const std::vector<std::string> folded{"grid", "random", "halving", "bayesian"};
    for (const char* name :
         {"--grid", "--folds", "--cv", "--repeats", "--folding", "--groups", "--fold-file",
          "--score", "--positive", "--one-se", "--alone", "--journal", "--csv", "--seed"}) {
        only(session, option(name), for_words(search, tune.search, folded));
    }
    only(session, option("--positive"), for_words(option("--score"), tune.score, {"f1"}));
    only(session, option("--points"),
         for_words(search, tune.search, {"random", "halving", "bayesian"},
                   "; a grid has as many as its axes say"));
    only(session, option("--heat-map"), for_words(search, tune.search, {"grid"}));
    only(session, option("--heat-map"), with({option("--grid")}));
    only(session, option("--approximate"), for_words(search, tune.search, folded));
    for (const char* name : {"--journal", "--heat-map"}) {
        only(session, option(name),
             when([&options] { return !in_cells(options); }, "in cells",
                  "each of which has a search of its own"));
    }
    for (const char* name : {"--curve", "--from", "--loo", "--trace"}) {
        only(session, option(name),
             when([] { return false; }, "in a search", "it belongs to mercer train"));
    }
    only(session, option("--cv"), without(option("--folds"), "both are the number of folds"));
    for (const char* name : {"--folds", "--cv", "--repeats", "--groups"}) {
        only(session, option(name), without(option("--fold-file"), "the folds are in the file"));
    }
    for (const char* name : {"--folding", "--fold-file"}) {
        only(session, option(name), without(option("--groups"), "groups make the folds"));
    }
    only(session, option("--folding"), without(option("--fold-file"), "the folds are in the file"));
    // A gradient needs the kernel and the penalty; the rest is for the machine trained afterwards.
    const std::vector<std::string> always{"--kernel", "--task", "--scale",           "--memory",
                                          "MODEL",    "INPUT",  "--double-precision"};
    for (CLI::Option* other : command.get_options()) {
        if (other->get_group() == "Reading" || other->get_group() == "Search") continue;
        const std::string name = spelled(*other);
        if (std::ranges::find(always, name) != always.end()) continue;
        const bool penalty = name == "-C" || name == "--lambda";
        only(session, other,
             when(
                 [&options, &tune, penalty] {
                     return !is_gradient_search(tune.search) || !options.model.empty() ||
                            (penalty && tune.search == "radius-margin");
                 },
                 "where no machine is trained", "name a MODEL, which is trained with it"));
    }
}

}  // namespace

void add_tune(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "tune", "search for the best settings and kernel parameters",
        "  mercer tune @digits best.mercer --kernel 'rbf(gamma=1)' --grid 'gamma=1e-4:1e-1:log7' "
        "--grid C=1,10,100\n"
        "  mercer tune housing.csv --task svr --scale standard --grid epsilon=0:1:6 --grid "
        "'C=1:1000:log4' --score mae\n"
        "  mercer tune @iris --kernel 'polynomial(degree=$d)' --grid d=1,2,3,4 --one-se\n"
        "  mercer tune big.gz --grid 'gamma=1e-3:10:log9' --grid 'C=0.1:1000:log9' --search "
        "halving --journal big.journal\n"
        "Ctrl-C ends the search early: what there is gets reported, exit code 130; with --journal\n"
        "the same command goes on. docs/tuning.md says more.");
    const auto input = add_input(command, session);
    add_column_options(command, session, *input);
    const auto options = add_train_options(command, session);
    add_approximate(command, *options,
                    "search and learn in the span of some rows, nystroem(centres=1000), or in each "
                    "cell of space by itself, cells(rows=2000) [all rows]");
    const auto tune = std::make_shared<TuneOptions>();
    add_tune_options(command, session, *tune);
    command.get_option("--cv")->group("");  // another word for --folds
    command.get_option("--curve")->group("");
    command.get_option("MODEL")->description(
        "file to save the best machine in, trained on all rows");
    declare_uses(command, session, *options, *tune);
    command.callback([&session, input, options, tune] {
        session.action = [&session, input, options, tune] {
            session.exit_code = run(*tune, *options, *input, session);
        };
    });
}

}  // namespace mercer::cli
