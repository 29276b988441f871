// mercer margin: the margin of a plane on labelled rows, given as numbers or by a model.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/theory/margin.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct MarginCommand {
    std::string model{};
    Hyperplane plane{};
    std::string positive{};
    std::size_t nearest = 5;
};

PlaneMargin measured(const MarginCommand& c, const InputOptions& input, const Session& session,
                     Dataset& data) {
    if (!c.model.empty()) {
        auto [model, rows] = read_model_and_data(c.model, input, session);
        data = std::move(rows);
        return plane_margin(model, data);
    }
    if (c.plane.w.empty()) {
        throw InvalidInput("give the plane: --plane W1,W2,… and --bias, or --model");
    }
    data = read_input(input, session);
    return plane_margin(c.plane, data, c.positive);
}

void run(const MarginCommand& c, const InputOptions& input, const Session& session) {
    Dataset data;
    const PlaneMargin m = measured(c, input, session, data);
    const std::size_t shown = std::min(c.nearest, m.nearest.size());
    if (session.json) {
        Json rows = Json::array();
        for (std::size_t k = 0; k < shown; ++k) {
            const std::size_t i = m.nearest[k];
            rows.push_back({{"row", i + 1},
                            {"label", data.y.text(i)},
                            {"functional", m.rows[i]},
                            {"geometric", m.rows[i] / m.norm}});
        }
        print_json({{"input", input.path},
                    {"rows", m.rows.size()},
                    {"positive", m.positive},
                    {"norm", m.norm},
                    {"separates", m.separates()},
                    {"errors", m.errors},
                    {"functional_margin", m.functional},
                    {"geometric_margin", m.geometric},
                    {"nearest", std::move(rows)}});
        return;
    }
    say("{}", line("plane", m.separates()
                                ? fmt::format("separates all {}", counted(m.rows.size(), "row"))
                                : fmt::format("does not separate: {} of {} on the wrong side, so "
                                              "the margin of Feizi's (3.8) is -inf",
                                              m.errors, counted(m.rows.size(), "row"))));
    say("{}", line("positive", m.positive));
    say("{}", line("norm of w", fmt::format("{:.6g}", m.norm)));
    say("{}", line("functional", fmt::format("{:.6g} = min y f(x)", m.functional)));
    say("{}",
        line("geometric", fmt::format("{:.6g} = the same over the norm, a distance", m.geometric)));
    if (shown == 0) return;
    say("\n{:<10}{:<16}{:>14}{:>14}\n", "row", "label", "functional", "geometric");
    for (std::size_t k = 0; k < shown; ++k) {
        const std::size_t i = m.nearest[k];
        say("{:<10}{:<16}{:>14.6g}{:>14.6g}\n", i + 1, data.y.text(i), m.rows[i],
            m.rows[i] / m.norm);
    }
}

}  // namespace

void add_margin(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "margin",
        "the margin of a given plane, or of a model's, and the rows nearest to it",
        "  mercer margin points.csv --plane 1,-2 --bias 0.5\n"
        "  mercer margin heart.csv --model heart.mercer --nearest 10\n"
        "The largest margin there is: mercer train points.csv plane.mercer --task hard");
    const auto options = std::make_shared<MarginCommand>();
    const auto input = add_input(command, session);
    const CLI::Option* const model =
        add_file(command, session, "--model", options->model, FileUse::input,
                 "the plane of this machine, in its "
                 "feature space");
    only(session,
         {command.add_option("--plane", options->plane.w, "w, one weight a column")
              ->delimiter(',')
              ->type_name("X,X,…"),
          command.add_option("--bias", options->plane.b, "b of w.x + b [0]")->type_name("X"),
          command
              .add_option("--positive", options->positive,
                          "the class on the side of w [the larger number, the last name]")
              ->type_name("CLASS")},
         without(model, "the model has a plane of its own"));
    add_count(command, "--nearest", options->nearest, 0, 1'000'000'000,
              "so many rows of least margin [5]");
    command.callback([&session, options, input] {
        session.action = [&session, options, input] { run(*options, *input, session); };
    });
}

}  // namespace mercer::cli
