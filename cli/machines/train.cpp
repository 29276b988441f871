// mercer train: a machine from data, with its certificate.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/interrupt.hpp"
#include "cli/common/machines.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "cli/common/ranks.hpp"
#include "cli/common/table_input.hpp"
#include "cli/common/tell.hpp"
#include "cli/machines/plan.hpp"
#include "cli/machines/step_trace.hpp"
#include "cli/machines/train_options.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/dist/communicator.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/target_scale.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/select/cross_validation.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;
/// Where training is kept that may have to be gone on with.
struct CheckpointOptions {
    std::string path{};
    bool resume = false;
    double interval = 10;
};

/// One run of the command: what was asked, what there is, what came of it.
struct Training {
    const TrainOptions& options;
    const Session& session;
    std::string input;
    Task task = Task::svc;
    Dataset data{};
    std::size_t rows = 0;  ///< of the whole input, of which `data` may be a part
    SvmSettings svm{};     ///< of support vector machines
    std::vector<std::string> warnings{};
    Stopwatch watch{};
    Json seconds = Json::object();  ///< of what was done

    void caution(std::string text) {
        if (!session.json) warn(text);
        warnings.push_back(std::move(text));
    }
};

/// How far a training is. A gap that proves nothing is not shown, nor is what is not known yet.
std::string progress_text(const Moment& m, double seconds) {
    std::string text = fmt::format("step {:.0f}", m.figure("steps"));
    for (const char* name : {"violation", "gap"}) {
        const double value = m.figure(name);
        if (!std::isnan(value)) text += fmt::format("  {} {:.2g}", name, value);
    }
    return text + fmt::format("  support {:.0f}  active {:.0f}  {:.1f} s", m.figure("support"),
                              m.figure("active"), seconds);
}

/// Draws the line of training, and reads whether Ctrl-C has been pressed.
Progress listener(const Session& session, const StopOnInterrupt& stop, const std::string& what) {
    return [draw = progress_line(session), watch = Stopwatch(), &stop, what](const Moment& m) {
        if (!draw) return !stop.requested();
        if (m.figures.empty()) {
            draw({.task = what, .fraction = m.fraction, .detail = m.detail});
            return !stop.requested();
        }
        std::string task = what;
        if (m.figure("parts") > 1) {
            task += fmt::format(" {} ({:.0f} of {:.0f})", m.detail, m.figure("part") + 1,
                                m.figure("parts"));
        }
        draw({.task = task, .fraction = -1, .detail = progress_text(m, watch.seconds())});
        return !stop.requested();
    };
}

/// Kernels of columns whose ranges differ much see little but the widest, and training crawls.
void advise_on_scale(Training& t) {
    constexpr std::size_t most_columns = 1'000'000;  // beyond that there are words, not measures
    if (t.data.size() == 0 || t.data.table || t.options.scale != "none" ||
        Kernel::parse(t.options.kernel) == precomputed() || t.data.columns() > most_columns) {
        return;
    }
    const auto& names = t.data.feature_names;
    const auto name_of = [&](std::size_t j) {
        return j < names.size() ? mercer::quoted(names[j]) : std::to_string(j + 1);
    };
    // Of many rows the first say enough.
    const Rows some = t.data.x.slice(0, std::min<std::size_t>(t.data.size(), 200'000));
    const std::vector<double> widths = Scaling::fit(ScalingRule::parse("minmax"), some).spread();
    const auto hurt = t.data.x.is_double() ? column_hurt_by_single(t.data.x) : std::nullopt;
    if (hurt) {
        t.caution(fmt::format(
            "column {} varies by only {:.3g} around far larger numbers: a kernel that sees more "
            "than differences, such as linear, loses that. Try --scale standard",
            name_of(*hurt), widths[*hurt]));
        return;
    }
    std::size_t widest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < widths.size(); ++j) {
        if (widths[j] > widths[widest]) widest = j;
        if (widths[j] > 0) least = std::min(least, widths[j]);
    }
    if (widths.empty() || widths[widest] <= 100 * least) return;
    t.caution(fmt::format(
        "the columns differ in scale: the range of column {} is {:.3g}, {:.3g} times the smallest; "
        "training may crawl and the kernel see little else. Try --scale standard",
        name_of(widest), widths[widest], widths[widest] / least));
}

void check_labels(const Training& t) {
    if (!is_classifier(t.task) || t.data.y.empty() || t.data.y.are_text()) return;
    const Classes classes = classes_of(t.data.y);
    const bool whole = std::all_of(classes.values.begin(), classes.values.end(),
                                   [](double v) { return v == std::floor(v); });
    if (classes.count() <= 20 || (whole && 2 * classes.count() <= t.data.size())) return;
    throw InvalidInput(fmt::format(
        "{}: the labels are {} different numbers in {} rows, which look like targets of a "
        "regression: use --task svr, or --text-labels if they are classes all the same",
        t.input, classes.count(), t.data.size()));
}

// ---- What is printed.

std::string data_text(const Training& t) {
    return line("data", fmt::format("{}, {}, {}", t.input, counted(t.rows, "row"),
                                    counted(t.data.columns(), "column")));
}

/// The score of each fold, and how far they differ: with folds − 1 below.
std::vector<double> fold_scores(const Training& t, const CrossValidation& cv) {
    std::vector<double> scores;
    for (const Score& s : cv.folds) {
        scores.push_back(is_regressor(t.task) ? s.mean_squared_error : s.accuracy);
    }
    return scores;
}

double deviation_of(const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    double mean = 0, squares = 0;
    for (const double v : values) mean += v / n;
    for (const double v : values) squares += (v - mean) * (v - mean);
    return values.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
}

/// What is reached without looking at the columns: the most frequent class, or the mean.
double guess_of(const Training& t) {
    if (is_regressor(t.task)) {
        const double deviation = fit_target_scale(TargetScale::standard, t.data.y.values).scale;
        return deviation * deviation;
    }
    const Classes classes = classes_of(t.data.y);
    std::vector<std::size_t> count(classes.count(), 0);
    for (const std::int32_t c : classes.index) ++count[static_cast<std::size_t>(c)];
    return static_cast<double>(std::ranges::max(count)) / static_cast<double>(t.data.size());
}

/// "each      71.2 %, 68.9 %, …" below the score of all folds.
std::string folds_text(const Training& t, const CrossValidation& cv) {
    if (cv.folds.size() < 2 || !(is_regressor(t.task) || is_classifier(t.task))) return {};
    constexpr std::size_t most = 10;
    const std::vector<double> scores = fold_scores(t, cv);
    const bool numbers = is_regressor(t.task);
    const auto text_of = [&](double v) { return numbers ? fmt::format("{:.6g}", v) : percent(v); };
    std::string each;
    for (std::size_t k = 0; k < std::min(most, scores.size()); ++k) {
        each += (k == 0 ? "" : ", ") + text_of(scores[k]);
    }
    if (scores.size() > most) each += ", …";
    return line("each fold", fmt::format("{}; deviation {}", each, text_of(deviation_of(scores)))) +
           line("baseline", fmt::format("{}, always saying {}", text_of(guess_of(t)),
                                        numbers ? "the mean" : "the most frequent class"));
}

std::string score_text(const Training& t, const CrossValidation& cv) {
    const std::string folds =
        fmt::format(" over {} folds, seed {}", t.options.folds, t.options.seed);
    if (is_regressor(t.task)) {
        return fmt::format("mean squared error {:.6g}, squared correlation {:.4g}{}",
                           cv.score.mean_squared_error, cv.score.squared_correlation, folds);
    }
    if (is_classifier(t.task)) {
        return fmt::format("accuracy {}{}", percent(cv.score.accuracy), folds);
    }
    return fmt::format("{} of the rows held out lie inside{}", percent(inside(cv.predictions)),
                       folds);
}

Json score_json(const Training& t, const CrossValidation& cv) {
    Json json{
        {"folds", t.options.folds}, {"seed", t.options.seed}, {"status", describe(cv.status)}};
    if (!cv.folds.empty() && (is_regressor(t.task) || is_classifier(t.task))) {
        json["each"] = fold_scores(t, cv);
        json["deviation"] = deviation_of(fold_scores(t, cv));
        json["baseline"] = guess_of(t);
    }
    if (is_regressor(t.task)) {
        json["mean_squared_error"] = cv.score.mean_squared_error;
        json["squared_correlation"] = cv.score.squared_correlation;
    } else if (is_classifier(t.task)) {
        json["accuracy"] = cv.score.accuracy;
    } else {
        json["inside"] = inside(cv.predictions);
    }
    return json;
}

/// Which parameters a search left at a limit, and what can be done.
std::string limits_text(const Report& report) {
    constexpr std::string_view prefix = "at_limit_";
    std::string found;
    std::string first;
    for (const auto& [name, value] : report.figures) {
        if (!name.starts_with(prefix)) continue;
        const std::string own = name.substr(prefix.size());
        if (first.empty()) first = own;
        found += fmt::format("{}{} = {:.4g}", found.empty() ? "" : ", ", own, value);
    }
    return fmt::format(
        "not converged: the search ended at its limits, a factor of a million from where it "
        "began, with {}. Begin elsewhere, scale the features (--scale standard), or hold what the "
        "data does not settle with --fix {}",
        found, first);
}

/// C and epsilon are numbers in the target's units, and of no use where those are far from 1.
void advise_on_targets(Training& t, const Model& model) {
    const TargetScaling standard = fit_target_scale(TargetScale::standard, t.data.y.values);
    switch (target_trouble(model, standard.scale)) {
        case TargetTrouble::penalty_too_small:
            t.caution(fmt::format(
                "{} of {} are bounded by C = {}, which is small beside the targets' deviation of "
                "{:.6g}: the machine cannot follow them. Use --target-scale standard, which counts "
                "C and epsilon in units of that deviation, or a larger -C",
                counted(model.report().bounded_support_vectors, "support vector"),
                counted(model.report().rows, "row"), format_number(model.trained().C),
                standard.scale));
            return;
        case TargetTrouble::tube_too_wide:
            t.caution(fmt::format(
                "the tube of epsilon = {} is wider than the targets' deviation of {:.6g}: nothing "
                "is left to learn. Use --target-scale standard, which counts C and epsilon in "
                "units of that deviation, or a smaller --epsilon",
                format_number(model.trained().epsilon), standard.scale));
            return;
        default: return;
    }
}

/// What to say of a training that did not come to its end; empty where that is no news.
std::string early_text(const Training& t, const Model& model, const Report& report) {
    if (report.status == FitStatus::converged) return {};
    if (const auto given = report.figures.find("rows_given"); given != report.figures.end()) {
        return fmt::format(
            "not converged: {} before there was a machine of all {:.0f} rows; this one is learnt "
            "from {} of them",
            describe(report.status), given->second, report.rows);
    }
    if (is_svm(t.task) || t.task == Task::adatron) {
        const std::string gap = report.is_bracketed() ? fmt::format("a relative gap of {:.3g} and ",
                                                                    report.relative_gap)
                                                      : "";
        return fmt::format("not converged: {}, at {}a violation of {:.3g} (tolerance {})",
                           describe(report.status), gap, report.kkt_violation,
                           format_number(model.trained().tolerance));
    }
    if (report.status == FitStatus::search_limit) return limits_text(report);
    // A perceptron ends with its passes unless the data can be separated.
    if (t.task == Task::perceptron && report.status == FitStatus::iteration_limit) return {};
    return "not converged: " + describe(report.status);
}

// ---- What is done.

void write_curve(const Training& t, const StopOnInterrupt& stop, Json& json, std::string& text) {
    const std::string curve =
        curve_text(t.options, t.data, listener(t.session, stop, "convergence curve"));
    clear_progress_line();
    const InterruptLater later(t.options.curve);
    write_whole(t.options.curve, [&](Output& out) { out.write(curve); });
    json["curve"] = t.options.curve;
    text += line("curve", t.options.curve);
}

/// Trains, saves and describes. The exit code.
int train(Training& t, const StopOnInterrupt& stop, Json& json, std::string& text) {
    SvmSettings svm = t.svm;
    StepTrace steps;
    if (!t.options.trace.empty()) svm.trace = steps.listener();
    const Model model =
        machine_of(t.options, svm, listener(t.session, stop, "training")).fit(t.data);
    t.seconds["train"] = t.watch.lap();
    clear_progress_line();
    Report report = model.report();
    report.figures = model.reports().front().figures;
    json.update(cli::json_of(model));
    text += describe_machine(model);
    text += describe_certificate(model);
    if (!t.options.trace.empty()) {
        const InterruptLater later(t.options.trace);
        steps.write(t.options.trace);
        json["trace"] = t.options.trace;
        text += line("trace", t.options.trace);
    }
    if (has_no_machine(report.status)) return exit_failure;
    if (const std::string early = early_text(t, model, report); !early.empty()) t.caution(early);
    if (t.task == Task::one_class && t.svm.probability && !has_probabilities(model)) {
        t.caution("fewer than five rows lie inside, or outside: there are no probabilities");
    }
    const bool stationary = has_bracket(model.task()) && !report.is_bracketed();
    if (stationary) {
        t.caution(fmt::format("the machine is a stationary point and may not be the optimum: {}",
                              describe_curvature(model)));
    }
    if (is_svm(t.task) && t.svm.relative_gap > 0 && report.convexity != Convexity::by_rule) {
        t.caution(fmt::format(
            "--gap has ended nothing: by its rule the kernel is not known to be positive definite, "
            "so that no gap was proved while training went on; --tol {} decided",
            format_number(model.trained().tolerance)));
    }
    advise_on_targets(t, model);
    if (!t.options.model.empty()) {
        const InterruptLater later(t.options.model);
        if (is_first_rank()) save(model, t.options.model);
        json["model"] = t.options.model;
        text += line("model", t.options.model);
        t.seconds["write"] = t.watch.lap();
    }
    if (!t.options.curve.empty()) write_curve(t, stop, json, text);
    return stop.requested() ? exit_interrupted : stationary ? exit_stationary : 0;
}

int cross_validate(Training& t, const StopOnInterrupt& stop, Json& json, std::string& text) {
    // What the folds have learnt is to be judged within the time too.
    constexpr double to_learn = 0.8;
    const Progress told = listener(t.session, stop, "cross-validation");
    const Run run(told, t.options.time_limit * static_cast<double>(t.options.folds));
    TrainOptions each = t.options;
    each.time_limit *= to_learn;
    SvmSettings svm = t.svm;
    svm.probability = false;
    const Machine machine = machine_of(each, svm, told);
    CrossValidation cv;
    try {
        cv = mercer::cross_validate(machine, t.data, t.options.folds, t.options.seed,
                                    run.progress());
    } catch (const Cancelled&) {
        if (!run.is_over()) throw;
    }
    clear_progress_line();
    if (stop.requested()) {
        t.caution("the cross-validation was interrupted, and has no score");
        return exit_interrupted;
    }
    if (run.out_of_time()) {
        const std::string late =
            "the time limit passed before all folds were predicted, and so there is no score; "
            "allow more time, or take fewer rows";
        if (t.options.model.empty()) throw InvalidInput(late);
        t.caution(late);
        return exit_failure;
    }
    if (has_no_machine(cv.status)) {
        t.caution("the rows of some fold have no hard margin (" + describe(cv.status) +
                  "), and so there is no score");
        return exit_failure;
    }
    const bool passes_made = t.task == Task::perceptron && cv.status == FitStatus::iteration_limit;
    if (cv.status != FitStatus::converged && !passes_made) {
        t.caution("not every fold converged: " + describe(cv.status));
    }
    json["cross_validation"] = score_json(t, cv);
    text += line("cross-val.", score_text(t, cv)) + folds_text(t, cv);
    return 0;
}

/// Nothing where no checkpoint is kept.
std::optional<KeepCheckpoint> checkpoint_of(const CheckpointOptions& options,
                                            const Session& session) {
    if (options.path.empty()) return {};
    require_range("--checkpoint-every", options.interval, options.interval >= 0,
                  "0 or a number of seconds");
    std::error_code ignored;
    const bool there = std::filesystem::exists(options.path, ignored);
    if (there && !options.resume) {
        throw InvalidInput(fmt::format(
            "{} is there already: say --resume to go on with it, or remove it", options.path));
    }
    if (!session.quiet && !session.json) {
        fmt::print(stderr, "mercer: note: {}; should training end early, --resume goes on\n",
                   there ? "going on from " + options.path : "checkpoints go to " + options.path);
    }
    if (several_ranks()) {
        set_last_words(
            fmt::format(
                "mercer: training is told to end; {} says how far it is: --resume goes on\n",
                options.path),
            options.path, "mercer: training is told to end before its first checkpoint\n");
    }
    return std::optional<KeepCheckpoint>(std::in_place, options.path, options.resume,
                                         options.interval);
}

/// Whether the machine goes over many rows in passes: in the span of some, or under the linear
/// kernel.
bool goes_over_rows(const TrainOptions& options) {
    if (options.approximate.starts_with("nystroem")) return true;
    return options.machine().linear_by_passes && options.approximate.empty() &&
           Kernel::parse(options.kernel) == linear() && !options.given("--lambda-path") &&
           !options.given("--loo");
}

/// Which rows each of several ranks is to have. Throws InvalidInput for what one process does
/// alone.
HeldRows rows_of_ranks(const TrainOptions& options) {
    if (options.folds > 0 || !options.curve.empty() || !options.trace.empty()) {
        require_one_rank("mercer train with --cv, --curve or --trace");
    }
    const bool svm = is_svm(options.machine().task) && options.approximate.empty();
    if (svm || options.approximate.starts_with("cells")) return HeldRows::all;
    if (!goes_over_rows(options)) {
        require_one_rank(
            "mercer train of this task without --approximate, or of a kernel that is not linear,");
    }
    return HeldRows::own;
}

int run(TrainOptions options, const InputOptions& input, const CheckpointOptions& checkpoint,
        const Session& session) {
    if (session.json && (options.model == "-" || options.trace == "-")) {
        throw InvalidInput(
            fmt::format("{} and --json cannot both go to standard output; name a file",
                        options.model == "-" ? "the model" : "the trace"));
    }
    InputOptions reading = input;
    if (options.double_precision) reading.read.double_precision = true;
    const HeldRows held = rows_of_ranks(options);
    const SpreadOver spread(current_ranks(), held);
    if (held == HeldRows::own) reading.read.part = part_of_rank();
    // Machines that go over blocks of rows need not have all of them in memory.
    const bool by_blocks = !options.approximate.empty() || goes_over_rows(options);
    if (by_blocks) reading.read.most_bytes = options.memory << 20;
    const bool wanted = !options.model.empty() || !options.curve.empty() || !options.trace.empty();
    // All folds, and the machine of all rows, within the time together.
    if (options.folds > 0) {
        options.time_limit /= static_cast<double>(options.folds + (wanted ? 1 : 0));
    }
    Training t{.options = options, .session = session, .input = input.path};
    t.task = task_named(options.task);
    check_options(options);
    if (is_svm(t.task)) t.svm = svm_settings_of(options);
    if (!options.from.empty()) {
        t.svm.start = std::make_shared<const Model>(read_model(options.from));
    }
    machine_of(options, t.svm, {});  // what no machine can take is said before the data is read
    t.watch.lap();
    t.data = read_for_learning(reading, session, options.kernel);
    t.seconds["read"] = t.watch.lap();
    take_tube(options, t.data, t.svm);
    check_labels(t);
    if (options.folds > t.data.size()) {
        throw InvalidInput(fmt::format("--cv {}: there are only {} to make folds of", options.folds,
                                       counted(t.data.size(), "row")));
    }
    advise_on_scale(t);
    t.rows = held == HeldRows::own ? rows_of_all_ranks(t.data.size()) : t.data.size();
    Json json{{"input", input.path}, {"rows", t.rows}};
    std::string text = data_text(t);
    if (by_blocks) {
        const RowPlace place = place_of(t.data.x);
        json["held"] = place == RowPlace::memory ? "memory"
                       : place == RowPlace::file ? "file"
                                                 : "temporary file";
        text += line("held", held_text(t.data.x, options.memory, reading.read.spool));
    }
    const StopOnInterrupt stop;
    if (options.approximate == "auto") {
        const Progress progress = listener(session, stop, "pilot");
        const TrainingPlan plan =
            plan_training(common_of(options, progress), maker_of(options, t.svm), t.data);
        clear_progress_line();
        options.approximate = plan.ways[plan.chosen].approximate;
        json["plan"] = plan_json(plan);
        text += line("plan", plan.why);
    }
    int code = 0;
    const std::optional<KeepCheckpoint> keep = checkpoint_of(checkpoint, session);
    if (options.folds == 0 || wanted) {
        code = train(t, stop, json, text);
        t.svm.start = nullptr;  // folds have other rows
    }
    if (keep && code == 0) {
        set_last_words({});
        if (is_first_rank()) keep->remove();
    }
    if (options.folds > 0 && (code == 0 || code == exit_stationary)) {
        const int folds = cross_validate(t, stop, json, text);
        if (folds != 0) code = folds;
    }
    json["seconds"] = t.seconds;
    json["warnings"] = t.warnings;
    if (session.json) {
        print_json(json);
    } else {
        const bool taken = options.model == "-" || options.trace == "-";
        taken ? tell("{}", text) : say("{}", text);
    }
    return code;
}

/// True when something is left to chance, that is to the seed.
bool draws(const TrainOptions& o) {
    const Task task = o.machine().task;
    return o.folds > 0 || !o.approximate.empty() || o.given("--probability") ||
           o.settings.word("--order") == "shuffled" || o.given("--restarts") ||
           task == Task::kmeans || task == Task::kpca || task == Task::kha;
}

}  // namespace

void add_train(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "train", "train a machine and certify it",
        "  mercer train @digits digits.mercer -C 10 --cv 5\n"
        "  mercer train a9a.gz a9a.mercer --kernel 'rbf(gamma=0.05)' -C 10\n"
        "  mercer train housing.csv --task svr --epsilon 0.5 --scale standard --cv 10\n"
        "  mercer train @digits --task perceptron --kernel 'polynomial(degree=3)' --variant "
        "averaged\n"
        "  mercer train @iris groups.mercer --task k-means --clusters 3\n"
        "  mercer train power.npz power.mercer --task ridge --approximate "
        "'nystroem(centres=1000)'\n"
        "  mercer train moons.csv --task adatron --curve curve.csv\n"
        "  mercer train moons.csv -C 10 --method smo --trace steps.csv\n"
        "Ctrl-C ends training early: what there is gets certified and saved, exit code 130.\n"
        "Under a kernel that is not positive definite the machine is a stationary point without\n"
        "a gap: it is saved, with a warning and exit code 3.\n"
        "docs/training.md and docs/machines say more.");
    const auto input = add_input(command, session);
    add_column_options(command, session, *input);
    const auto options = add_train_options(command, session);
    CLI::Option* const approximate = add_approximate(
        command, *options,
        "learn in the span of some rows, nystroem(centres=1000), or a machine in each cell of "
        "space, cells(rows=2000); auto: as 'mercer plan' says [all rows]");
    only(session, add_spool(command, *input)->group("Training"),
         when([options] { return !options->approximate.empty() || options->kernel == "linear"; },
              "where all rows are held in memory",
              "it belongs to --approximate and to --kernel linear"));
    const auto checkpoint = std::make_shared<CheckpointOptions>();
    CLI::Option* const file =
        add_file(command, session, "--checkpoint", checkpoint->path, FileUse::journal,
                 "write down here how far training in passes over the rows is")
            ->group("Training");
    CLI::Option* const resume =
        command
            .add_flag("--resume", checkpoint->resume, "go on from the checkpoint, if there is one")
            ->group("Training");
    CLI::Option* const every = command
                                   .add_option("--checkpoint-every", checkpoint->interval,
                                               "seconds between two checkpoints, at least [10]")
                                   ->type_name("X")
                                   ->group("Training");
    only(session, {resume, every}, with({file}));
    only(session, file,
         when([options] { return goes_over_rows(*options) && options->folds == 0; }, "here",
              "it belongs to --approximate nystroem, or to many rows under the linear kernel, "
              "without --cv"));
    for (const char* name : {"--curve", "--from", "--trace", "--loo", "--lambda-path"}) {
        only(session, command.get_option(name),
             without(approximate, "it belongs to a machine of all rows"));
    }
    for (const char* name : {"--curve", "--from", "--probability", "--loo", "--trace"}) {
        only(session, command.get_option(name),
             when([options] { return options->folds == 0 || !options->model.empty(); },
                  "with --cv alone", "it belongs to a machine of all rows: name a MODEL too"));
    }
    only(session, command.get_option("--seed"),
         when([options] { return draws(*options); }, "where nothing is drawn",
              "it belongs to --approximate, --cv, --probability, --order shuffled, --restarts and "
              "the tasks "
              "k-means, kpca and kha"));
    command.callback([&session, input, options, checkpoint] {
        session.action = [&session, input, options, checkpoint] {
            session.exit_code = run(*options, *input, *checkpoint, session);
        };
    });
}

}  // namespace mercer::cli
