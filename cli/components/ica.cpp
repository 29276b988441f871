// mercer ica: independent sources of mixed columns.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common/interrupt.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/learn/components/ica.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer::cli {
namespace {

struct IcaCommand {
    std::string model;
    std::string kernel;  ///< empty: the method's own
    std::string scale = "none";
    std::string contrast = "correlation";
    std::string truth;
    std::string method = "independence";
    double time_limit = 0;
    std::optional<double> tolerance{};  ///< none: the method's own
    std::size_t sweeps = 0;             ///< 0: likewise
    IcaSettings settings{};
    TdsepSettings in_time{};

    bool by_time() const { return method == "tdsep"; }
};

/// What both methods are told alike.
template <class Settings>
Settings common_settings(const IcaCommand& c, Settings s, Progress progress) {
    if (!c.kernel.empty()) s.common.kernel = Kernel::parse(c.kernel);
    s.common.scaling = ScalingRule::parse(c.scale);
    s.common.time_limit = c.time_limit;
    s.common.progress = std::move(progress);
    s.components = c.settings.components;
    if (c.sweeps > 0) s.sweeps = c.sweeps;
    if (c.tolerance) s.tolerance = *c.tolerance;
    return s;
}

Model separated_model(const IcaCommand& c, const Dataset& data, Progress progress) {
    if (c.by_time()) return tdsep(common_settings(c, c.in_time, std::move(progress))).fit(data);
    IcaSettings s = common_settings(c, c.settings, std::move(progress));
    s.contrast = c.contrast == "variance" ? IcaContrast::variance : IcaContrast::correlation;
    return kernel_ica(std::move(s)).fit(data);
}

/// What the method has made small, and what it says of its answer.
void describe_separation(const IcaCommand& c, const Report& r, nlohmann::ordered_json& json,
                         std::string& text) {
    if (!c.by_time()) {
        json["contrast"] = r.primal;
        json["contrast_at_first"] = r.history.front();
        json["kappa"] = r.figures.at("kappa");
        text += line("contrast",
                     fmt::format("{:.6g}, of mixed columns {:.6g}", r.primal, r.history[0]));
        return;
    }
    for (const char* name :
         {"off_diagonal", "off_diagonal_at_first", "basis", "lags", "left_out", "separation"}) {
        json[name] = r.figures.at(name);
    }
    json["told_apart"] = r.figures.at("separation") >= separated;
    text +=
        line("off axis", fmt::format("{:.3g} of the covariances over {}, at first {:.3g}",
                                     r.figures.at("off_diagonal"),
                                     counted(static_cast<std::size_t>(r.figures.at("lags")), "lag"),
                                     r.figures.at("off_diagonal_at_first")));
    text += line("basis",
                 fmt::format("{}, {:.3g} of the images outside their span",
                             counted(static_cast<std::size_t>(r.figures.at("basis")), "direction"),
                             r.figures.at("left_out")));
    text += line("apart", fmt::format("autocovariances of the two most alike sources differ {:.3g} "
                                      "times as much as by chance",
                                      r.figures.at("separation")));
}

/// The true mixing matrix, one row a column of the data.
double error_against(const std::string& path, const Model& model, const Session& session) {
    InputOptions input;
    input.path = path;
    input.read.label = "none";
    input.read.double_precision = true;
    const Dataset truth = read_input(input, session);
    Matrix<double> a(truth.size(), truth.columns());
    for (std::size_t i = 0; i < a.rows(); ++i) truth.x.copy_row(i, a.row(i));
    return amari_error(unmixing_matrix(model).view(), a.view());
}

/// One column a source, in the place of the data's.
void write_sources(const Model& model, Dataset data, const OutputOptions& output,
                   const Session& session) {
    const Matrix<double> sources = model.decision(data.x);
    data.x = Rows::dense(sources.values(), sources.columns());
    data.feature_names.clear();
    for (std::size_t s = 1; s <= sources.columns(); ++s) {
        data.feature_names.push_back(fmt::format("source_{}", s));
    }
    Session silent = session;
    silent.json = false;
    write_data(data, output, silent);
}

int run(const IcaCommand& c, InputOptions input, const OutputOptions& output,
        const Session& session) {
    const bool sources_wanted = output.place->count() > 0;
    const bool taken = c.model == "-" || (sources_wanted && output.path == "-");
    if (session.json && taken) {
        throw InvalidInput(
            "--json reports on standard output, where the result would go; name a file");
    }
    const StopOnInterrupt stop;
    const Progress progress = [draw = progress_line(session), &stop](const Moment& m) {
        if (draw) draw(m);
        return !stop.requested();
    };
    if (input.read.label.empty()) input.read.label = "none";
    input.read.double_precision = true;
    Dataset data = read_input(input, session);
    const Model model = separated_model(c, data, progress);
    clear_progress_line();
    const Report report = model.report();
    nlohmann::ordered_json json{{"input", input.path},
                                {"rows", report.rows},
                                {"sources", model.expansion().outputs()},
                                {"status", describe(report.status)},
                                {"method", c.method},
                                {"sweeps", report.iterations},
                                {"seconds", report.seconds}};
    std::string text =
        line("data", fmt::format("{}, {}, {}", input.path, counted(report.rows, "row"),
                                 counted(data.columns(), "column")));
    text += line("status", fmt::format("{}, {:.3g} s, {}", describe(report.status), report.seconds,
                                       counted(report.iterations, "sweep")));
    describe_separation(c, report, json, text);
    if (!c.truth.empty()) {
        const double error = error_against(c.truth, model, session);
        json["amari_error"] = error;
        text += line("Amari", fmt::format("error {:.4f} against {}", error, c.truth));
    }
    if (!c.model.empty()) {
        const InterruptLater later(c.model);
        save(model, c.model);
        json["model"] = c.model;
        text += line("model", c.model);
    }
    if (sources_wanted) {
        write_sources(model, std::move(data), output, session);
        json["output"] = output.path;
        text += line("sources", output.path);
    }
    if (session.json) {
        print_json(json);
    } else {
        fmt::print(taken ? stderr : stdout, "{}", text);
    }
    if (stop.requested()) return exit_interrupted;
    if (!c.by_time() || report.figures.at("separation") >= separated) return 0;
    warn(
        "two of the sources have the same course in time, as far as these rows tell: they "
        "may still be mixed. Other --lags, more rows or --method independence may tell them apart");
    return exit_stationary;
}

}  // namespace

void add_ica(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "ica", "unmix columns into independent sources",
        "  mercer ica mixtures.csv -o sources.csv\n"
        "  mercer ica mixtures.csv unmix.mercer --contrast variance --components 4\n"
        "  mercer ica mixtures.csv --truth mixing.csv        # Amari error of a known mixture\n"
        "  mercer ica bent.csv -o sources.csv --method tdsep --kernel 'rbf(sigma=1)' --scale "
        "standard\n"
        "Method tdsep takes the rows as moments of time, one after another, and tells sources "
        "apart "
        "by\n"
        "their course; with a kernel that is not linear the mixture need not be, either. It ends "
        "with "
        "exit\n"
        "code 3 when two sources have the same course and may still be mixed.\n"
        "Sources come back up to order, sign and size. 'mercer transform unmix.mercer DATA' "
        "unmixes\n"
        "other rows. Ctrl-C ends the search early and keeps what there is, exit code 130.\n"
        "docs/machines/ica.md says more.");
    const auto o = std::make_shared<IcaCommand>();
    const auto input = add_input(command, session);
    add_file(command, session, "MODEL", o->model, FileUse::model, "file for the model [none]");
    add_count(command, "--components", o->settings.components, 2, 64,
              "sources, of the largest variance [all columns]");
    CLI::Option* method =
        add_choice(command, session, "--method", o->method, {"independence", "tdsep"},
                   "by independence, or by the sources' course in time");
    const Condition independence = for_words(method, o->method, {"independence"});
    const Condition in_time = for_words(method, o->method, {"tdsep"});
    only(session,
         add_choice(command, session, "--contrast", o->contrast, {"correlation", "variance"},
                    "the first kernel canonical correlation, or all of them"),
         independence);
    command
        .add_option("--kernel", o->kernel,
                    "the expression for one source [rbf(sigma=1)]; of rows, with tdsep [linear]")
        ->type_name("EXPR");
    only(
        session,
        command
            .add_option("--kappa", o->settings.kappa, "regularisation [0.02, over 1000 rows 0.002]")
            ->type_name("X"),
        independence);
    only(session,
         add_count(command, "--lags", o->in_time.lags, 1, 10'000,
                   "steps of time looked back over: 1, 2, ... so many [20]"),
         in_time);
    only(session,
         add_count(command, "--basis", o->in_time.basis, 2, 500,
                   "directions of feature space, at most [20]"),
         in_time);
    command.add_option("--scale", o->scale, "scale the columns [none]")->type_name("RULE");
    add_count(command, "--sweeps", o->sweeps, 1, 100'000,
              "over all pairs of sources, at most [20; with tdsep 100]");
    command
        .add_option("--tol", o->tolerance,
                    "stop when no pair is turned by more, in radians [0.0001; with tdsep 1e-06]")
        ->type_name("X");
    command.add_option("--time-limit", o->time_limit, "seconds, 0: none [0]")->type_name("X");
    add_file(command, session, "--truth", o->truth, FileUse::input,
             "the true mixing matrix, one row a column of the data: prints the Amari error");
    const auto output = add_output(command, session);
    only(session, output->options, with({output->place}));
    command.callback([&session, o, input, output] {
        session.action = [&session, o, input, output] {
            session.exit_code = run(*o, *input, *output, session);
        };
    });
}

}  // namespace mercer::cli
