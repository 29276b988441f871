// mercer learn: from a table to a judged model in one command.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/interrupt.hpp"
#include "cli/common/judgement_output.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "cli/common/table_input.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/chart/model_figures.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/select/automatic.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct LearnCommand {
    std::string model;
    std::string report;
    double seconds = 60;
    double test = 0.2;
    std::string target = "auto";
    std::string groups;
    bool by_time = false;
    std::size_t seed = 1;
};

/// The column of groups, which is not learnt from.
std::vector<std::string> take_groups(const std::string& name, InputOptions& input,
                                     const Session& session) {
    if (name.empty()) return {};
    const Table table = read_cells(input, session);
    const auto found = std::ranges::find(table.names, name);
    if (found == table.names.end()) {
        throw InvalidInput(fmt::format("--groups {}: the table has no such column{}", name,
                                       suggestion(name, table.names)));
    }
    const auto column = static_cast<std::size_t>(found - table.names.begin());
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < table.rows(); ++i) keys.emplace_back(table.cell(i, column));
    input.id += (input.id.empty() ? "" : ",") + name;
    return keys;
}

std::string score_text(const Candidate& c, bool numbers) {
    if (std::isnan(c.score)) return c.status;
    return numbers ? fmt::format("RMSE {:.6g}", std::sqrt(c.score))
                   : fmt::format("accuracy {:.2f} % ± {:.2f}", 100 * c.score, 100 * c.deviation);
}

std::string settings_words(const Candidate& c) {
    std::string text;
    for (const auto& [name, value] : c.settings) text += fmt::format(" {}={:.4g}", name, value);
    return text;
}

/// The commands that train the same machine again, with the settings written out.
std::string train_command(const LearnResult& r, const InputOptions& input) {
    const Candidate& c = r.candidates[r.chosen];
    std::string text = fmt::format("mercer train {} MODEL --task {} --kernel '{}'", input.path,
                                   task_name(c.task), c.kernel);
    for (const auto& [name, value] : c.settings) {
        text += name == "C" ? fmt::format(" -C {}", format_number(value))
                            : fmt::format(" --{} {}", name, format_number(value));
    }
    if (r.numbers) text += " --target-scale standard";
    if (!r.model.recipe()) text += " --scale standard";
    if (!input.read.label.empty()) text += fmt::format(" --label '{}'", input.read.label);
    return text;
}

std::string learn_command(const LearnCommand& c, const InputOptions& input) {
    std::string text = fmt::format("mercer learn {}", input.path);
    if (!input.read.label.empty()) text += fmt::format(" --target '{}'", input.read.label);
    for (const std::string& kind : input.kinds) text += fmt::format(" --column '{}'", kind);
    if (!input.read.leave_out.empty()) text += fmt::format(" --drop '{}'", input.read.leave_out);
    if (!input.id.empty()) text += fmt::format(" --id '{}'", input.id);
    return text + fmt::format(" --time {} --seed {} -o {}", format_number(c.seconds), c.seed,
                              c.model.empty() ? "MODEL" : c.model);
}

std::string python_code(const LearnCommand& c, const InputOptions& input, const Dataset& data) {
    return fmt::format(
        "import mercer\n\nmodel = mercer.learn(\"{}\", \"{}\", time={}, seed={})\n"
        "model.summary_[\"judgement\"]\nmodel.predict(\"new.csv\")",
        input.path, data.roles.label_name, format_number(c.seconds), c.seed);
}

std::string headline(const LearnResult& r) {
    const Judgement& j = r.judgement;
    if (r.numbers) {
        return fmt::format(
            "RMSE {:.6g}, between {:.6g} and {:.6g} (95 %, Student on {}), on as many other rows "
            "between {:.6g} and {:.6g}; always saying the mean: {:.6g}; R2 {:.4f}",
            j.rmse, j.rmse_interval.low, j.rmse_interval.high, counted(j.rows, "row"),
            j.rmse_again.low, j.rmse_again.high, j.baseline_rmse, j.r2);
    }
    return fmt::format(
        "{} wrong, between {} and {} (95 %, Wilson on {}), on as many other rows between {} and "
        "{}; "
        "always saying {}: {}",
        percent(1 - j.accuracy), percent(1 - j.accuracy_interval.high),
        percent(1 - j.accuracy_interval.low), counted(j.rows, "row"),
        percent(1 - j.accuracy_again.high), percent(1 - j.accuracy_again.low), j.majority,
        percent(1 - j.baseline));
}

std::string describe(const LearnResult& r, const Dataset& data, const InputOptions& input) {
    std::string text =
        line("data", fmt::format("{}, {}, {}", input.path, counted(data.size(), "row"),
                                 counted(data.columns() + data.x.objects().size(), "column"))) +
        line("target",
             fmt::format(
                 "{}: {}", data.roles.label_name.empty() ? "label" : data.roles.label_name,
                 r.numbers ? "numbers" : counted(classes_of(data.y).count(), "class", "classes"))) +
        line("set aside", fmt::format("{} of {} for the judgement",
                                      counted(r.split.test.size(), "row"), data.size()));
    for (std::size_t k = 0; k < r.candidates.size(); ++k) {
        const Candidate& c = r.candidates[k];
        text += line(k == r.chosen ? "chosen" : "tried",
                     fmt::format("{}: {} over folds of {}{}", c.name, score_text(c, r.numbers),
                                 counted(c.rows, "row"), settings_words(c)));
    }
    text += line("error", headline(r));
    text += line("machine", fmt::format("{} with {}, learnt from {}", task_name(r.model.task()),
                                        counted(r.model.expansion().size(), "support vector"),
                                        r.on_all_rows ? "all rows, those set aside too"
                                                      : "the rows not set aside"));
    text += line("predicts", fmt::format("a thousand rows in {:.3g} s", r.predict_seconds));
    const bool left_out = !r.verified && r.verification.starts_with("not recomputed");
    text += line("certificate",
                 in_flags(r.verification) + (left_out ? "; `mercer verify` does it" : ""));
    for (const std::string& remark : r.remarks) text += line("note", remark);
    return text;
}

/// What the report draws.
Json facts_of(const LearnResult& r) {
    Json curve = Json::array(), effects = Json::array(), drift = Json::array();
    for (const CurveSize& c : r.curve) {
        curve.push_back(
            {{"rows", c.rows}, {"draws", c.draws}, {"error", c.error}, {"deviation", c.deviation}});
    }
    for (const ColumnEffect& e : r.effects) {
        Json means = Json::array();
        for (std::size_t l = 0; l < e.means.rows(); ++l) {
            means.push_back(std::vector<double>(e.means.row(l).begin(), e.means.row(l).end()));
        }
        effects.push_back({{"column", e.column},
                           {"places", e.places},
                           {"levels", e.levels},
                           {"lines", e.lines},
                           {"means", std::move(means)}});
    }
    for (const ColumnDrift& d : r.drift) {
        drift.push_back({{"column", d.column},
                         {"test", d.test},
                         {"distance", d.distance},
                         {"p_value", d.p_value},
                         {"differs", d.differs}});
    }
    return {{"learning_curve", std::move(curve)},
            {"importance", r.importance},
            {"effects", std::move(effects)},
            {"drift", std::move(drift)}};
}

Json json_of(const LearnResult& r, const InputOptions& input) {
    Json candidates = Json::array();
    for (const Candidate& c : r.candidates) {
        Json tried = Json::array();
        for (const TriedSettings& t : c.tried) {
            tried.push_back({{"values", t.values}, {"score", t.score}, {"deviation", t.deviation}});
        }
        candidates.push_back({{"name", c.name},
                              {"task", task_name(c.task)},
                              {"kernel", c.kernel},
                              {"settings", c.settings},
                              {"points", c.points},
                              {"axes", c.axes},
                              {"tried", std::move(tried)},
                              {"rows", c.rows},
                              {"score", json_number(c.score)},
                              {"deviation", json_number(c.deviation)},
                              {"seconds", c.seconds},
                              {"status", c.status}});
    }
    Json json{{"input", input.path},
              {"target", r.numbers ? "numbers" : "classes"},
              {"candidates", std::move(candidates)},
              {"chosen", r.chosen},
              {"rows_set_aside", r.split.test.size()},
              {"judgement", cli::json_of(r.judgement)},
              {"on_all_rows", r.on_all_rows},
              {"support_vectors", r.model.expansion().size()},
              {"verified", r.verified},
              {"verification", r.verification},
              {"predict_seconds", r.predict_seconds},
              {"seconds", r.seconds},
              {"repeat", train_command(r, input)},
              {"warnings", r.warnings},
              {"remarks", r.remarks}};
    json.update(facts_of(r));
    return json;
}

int run_learn(const LearnCommand& c, InputOptions input, const Session& session) {
    if (c.model == "-" && session.json) {
        throw InvalidInput("the model and --json cannot both go to standard output; name a file");
    }
    LearnSettings settings{
        .seconds = c.seconds, .test = c.test, .by_time = c.by_time, .seed = c.seed};
    if (c.target != "auto") {
        settings.target = c.target == "classes" ? Target::classes : Target::numbers;
    }
    settings.study = !c.report.empty() || session.json;
    settings.groups = take_groups(c.groups, input, session);
    const Dataset data = read_for_learning(input, session, "");
    const StopOnInterrupt stop;
    settings.progress = [draw = progress_line(session), &stop](const Moment& moment) {
        if (draw) draw(moment);
        return !stop.requested();
    };
    const LearnResult result = learn_table(data, settings);
    clear_progress_line();
    if (!session.json) {
        for (const std::string& warning : result.warnings) warn(in_flags(warning));
    }
    Json json = json_of(result, input);
    std::string text = describe(result, data, input) +
                       (result.numbers ? "" : describe_judgement(result.judgement));
    if (!c.model.empty()) {
        const InterruptLater later(c.model);
        save(result.model, c.model);
        json["model"] = c.model;
        text += line("model", c.model);
    }
    if (!c.report.empty()) {
        const std::string html = chart::learn_report(
            result, data,
            {.title = "Learnt from " + input.path,
             .commands = {learn_command(c, input), train_command(result, input)},
             .python = python_code(c, input, data)});
        const InterruptLater later(c.report);
        write_whole(c.report, [&](Output& out) { out.write(html); });
        json["report"] = c.report;
        text += line("report", c.report);
    }
    text += line("repeat", train_command(result, input));
    if (session.json) {
        print_json(json);
    } else {
        fmt::print(c.model == "-" ? stderr : stdout, "{}", text);
    }
    return 0;
}

}  // namespace

void add_learn(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "learn", "from a table to a judged model: tries machines, keeps to a time",
        "  mercer learn customers.csv --target churn -o churn.mercer\n"
        "  mercer learn houses.csv --target price --time 120 -o price.mercer --report price.html\n"
        "  mercer learn visits.csv --target ill --groups patient --drop notes\n"
        "A fifth of the rows is set aside, and nothing is chosen by it: the error printed is that\n"
        "on these rows. docs/tables.md says more.");
    const auto c = std::make_shared<LearnCommand>();
    const auto input = add_input(command, session);
    add_column_options(command, session, *input);
    add_file(command, session, "-o,--output", c->model, FileUse::model,
             "file to save the model in");
    add_file(command, session, "--report", c->report, FileUse::data,
             "file of a page with tables and pictures, .html");
    command.add_option("--time", c->seconds, "seconds for everything [60]")
        ->check(CLI::PositiveNumber.description(""))
        ->type_name("X");
    command.add_option("--test", c->test, "share of the rows set aside [0.2]")
        ->check(CLI::Range(0.01, 0.9).description(""))
        ->type_name("X");
    add_choice(command, session, "--predict", c->target, {"auto", "classes", "numbers"},
               "what the target is");
    const auto* groups =
        command
            .add_option("--groups", c->groups,
                        "column of names: rows of one are never learnt from and judged on")
            ->type_name("COLUMN");
    only(session,
         command.add_flag("--by-time", c->by_time,
                          "rows are in the order of time: the last are set aside"),
         without(groups, "groups decide what is set aside"));
    add_count(command, "--seed", c->seed, 0, std::size_t{1} << 62, "of what is set aside [1]");
    command.callback([&session, c, input] {
        session.action = [&session, c, input] {
            session.exit_code = run_learn(*c, *input, session);
        };
    });
}

}  // namespace mercer::cli
