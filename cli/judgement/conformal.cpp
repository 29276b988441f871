// mercer conformal: predictions with a guaranteed share of right ones.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/select/conformal.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ConformalCommand {
    std::string model{};
    std::string aside{};
    std::string output = "-";
    ConformalSettings settings{};
};

/// One line per row and what to say of all of them.
struct Answer {
    Json json = Json::object();
    std::string lines{};
    std::string summary{};
};

double share(std::size_t part, std::size_t all) {
    return static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(all, 1));
}

Answer classes_answer(const Conformal& c, const Model& model, const Dataset& data) {
    const auto sets = c.sets(model, data.x);
    Answer a;
    Json list = Json::array();
    std::size_t members = 0, single = 0, covered = 0;
    const bool judged = !data.y.empty();
    const std::vector<std::size_t> truth =
        judged ? class_positions(model, data.y) : std::vector<std::size_t>{};
    for (std::size_t i = 0; i < sets.size(); ++i) {
        std::vector<std::string> names;
        for (const std::size_t k : sets[i]) names.push_back(model.class_names()[k]);
        a.lines += fmt::format("{}\n", fmt::join(names, " "));
        members += names.size();
        single += names.size() == 1 ? 1 : 0;
        if (judged && std::ranges::find(sets[i], truth[i]) != sets[i].end()) ++covered;
        list.push_back(std::move(names));
    }
    a.json["sets"] = std::move(list);
    a.json["mean_size"] = share(members, sets.size());
    a.summary = fmt::format("{:.4g} classes a row, {} of the rows have one",
                            share(members, sets.size()), percent(share(single, sets.size())));
    if (judged) {
        a.json["covered"] = share(covered, sets.size());
        a.summary +=
            fmt::format("; the truth is in {} of the sets", percent(share(covered, sets.size())));
    }
    return a;
}

Answer interval_answer(const Conformal& c, const Model& model, const Dataset& data) {
    const Matrix<double> ends = c.intervals(model, data.x);
    Answer a;
    Json list = Json::array();
    double width = 0;
    std::size_t covered = 0;
    const bool judged = !data.y.empty() && !data.y.are_text();
    for (std::size_t i = 0; i < ends.rows(); ++i) {
        const bool finite = std::isfinite(ends(i, 0));
        a.lines += fmt::format("{}\t{}\n", finite ? result_text(ends(i, 0)) : "-inf",
                               finite ? result_text(ends(i, 1)) : "inf");
        list.push_back(finite ? Json{ends(i, 0), ends(i, 1)} : Json{nullptr, nullptr});
        width += ends(i, 1) - ends(i, 0);
        if (judged && ends(i, 0) <= data.y.values[i] && data.y.values[i] <= ends(i, 1)) ++covered;
    }
    width /= static_cast<double>(std::max<std::size_t>(ends.rows(), 1));
    a.json["intervals"] = std::move(list);
    a.json["mean_width"] = json_number(width);
    a.summary = fmt::format("mean width {:.5g}", width);
    if (judged) {
        a.json["covered"] = share(covered, ends.rows());
        a.summary +=
            fmt::format("; {} of the targets lie within", percent(share(covered, ends.rows())));
    }
    return a;
}

Answer p_value_answer(const Conformal& c, const Model& model, const Dataset& data) {
    const std::vector<double> p = c.p_values(model, data.x);
    Answer a;
    std::size_t small = 0;
    for (const double value : p) {
        a.lines += result_text(value) + '\n';
        small += value <= 1 - c.coverage() ? 1 : 0;
    }
    a.json["p_values"] = p;
    a.json["outliers"] = share(small, p.size());
    a.summary = fmt::format("{} of the rows have p ≤ {:.4g}", percent(share(small, p.size())),
                            1 - c.coverage());
    return a;
}

void run(const ConformalCommand& command, const InputOptions& input, const Session& session) {
    const auto [model, aside] =
        read_model_and_data(command.model, for_file(input, command.aside), session);
    const Dataset data = read_model_and_data(command.model, input, session).data;
    ConformalSettings settings = command.settings;
    settings.progress = progress_line(session);
    const Conformal c(model, aside, settings);
    const Answer a = is_classifier(model.task())  ? classes_answer(c, model, data)
                     : is_regressor(model.task()) ? interval_answer(c, model, data)
                                                  : p_value_answer(c, model, data);
    clear_progress_line();
    const bool to_file = command.output != "-";
    if (to_file || !session.json) {
        const InterruptLater later(command.output);
        write_whole(command.output, [&](Output& out) { out.write(a.lines); });
    }
    if (session.json) {
        Json thresholds = Json::array();
        for (const double t : c.thresholds()) {
            thresholds.push_back(json_number(t));
        }
        Json json{{"model", command.model},
                  {"set_aside", c.rows()},
                  {"coverage", c.coverage()},
                  {"thresholds", std::move(thresholds)},
                  {"rows", data.size()}};
        json.update(a.json);
        print_json(json);
    } else {
        fmt::print(to_file ? stdout : stderr, "{} set aside, coverage {}: {}\n",
                   counted(c.rows(), "row"), percent(c.coverage()), a.summary);
    }
}

}  // namespace

void add_conformal(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "conformal", "prediction sets and intervals with guaranteed coverage; p-values",
        "  mercer conformal digits.mercer test.csv --aside aside.csv --coverage 0.95\n"
        "  mercer conformal housing.mercer test.csv --aside aside.csv -o intervals.txt\n"
        "  mercer conformal usual.mercer new.csv --aside usual-aside.csv      (p-values)\n"
        "Classifiers: the classes that remain possible. Regression: lowest and highest value.\n"
        "Single class: p-values, small for outliers. The rows set aside must be others than\n"
        "those the machine was trained on. docs/probabilities.md says more.");
    const auto options = std::make_shared<ConformalCommand>();
    const auto input = add_model_and_input(command, session, options->model);
    add_file(command, session, "--aside", options->aside, FileUse::input,
             "rows set aside to learn the sets from")
        ->required();
    command
        .add_option("--coverage", options->settings.coverage,
                    "probability with which the truth is to be covered [0.9]")
        ->type_name("X");
    command.add_flag("--by-class", options->settings.by_class, "within each class too");
    command.add_flag("--scaled", options->settings.scaled,
                     "Gaussian processes: wider intervals where less is known");
    add_file(command, session, "-o,--output", options->output, FileUse::data,
             "file to write; - is standard output [-]");
    command.callback([&session, input, options] {
        session.action = [&session, input, options] { run(*options, *input, session); };
    });
}

}  // namespace mercer::cli
