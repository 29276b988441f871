// mercer equivalent: the nu of a C-machine, the C of a nu-machine.
#include <fmt/format.h>

#include <string>

#include "cli/commands.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/text.hpp"
#include "mercer/theory/margin.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

void run(const std::string& path, const Session& session) {
    const Model model = read_model(path);
    const bool from_nu = model.task() == Task::nu_svc;
    Json parts = Json::array();
    for (const SoftMargin& s : equivalent_settings(model)) {
        parts.push_back({{"name", s.name}, {"nu", s.nu}, {"C", s.C}, {"rho", s.rho}});
        if (session.json) continue;
        if (!s.name.empty()) say("{:<20}", s.name);
        if (from_nu) {
            say("nu = {} is C = {} (1/rho): --task svc -C {}\n", format_number(s.nu),
                format_number(s.C), format_number(s.C));
        } else {
            say("C = {} is nu = {} (sum of alpha / C rows): --task nu-svc --nu {}\n",
                format_number(s.C), format_number(s.nu), format_number(s.nu));
        }
    }
    if (session.json) {
        print_json(
            {{"model", path}, {"task", task_name(model.task())}, {"parts", std::move(parts)}});
    }
}

}  // namespace

void add_equivalent(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "equivalent", "the nu of a machine trained with C, the C of one trained with nu",
        "  mercer train heart.csv nu.mercer --task nu-svc --nu 0.3 --scale standard\n"
        "  mercer equivalent nu.mercer\n"
        "Trained with the setting printed, the other task gives the same decision function.\n"
        "Several classes: each pair has a setting of its own.");
    const auto path = std::make_shared<std::string>();
    add_file(command, session, "MODEL", *path, FileUse::input, "a model of the task svc or nu-svc")
        ->required();
    command.callback(
        [&session, path] { session.action = [&session, path] { run(*path, session); }; });
}

}  // namespace mercer::cli
