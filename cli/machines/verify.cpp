// mercer verify: does the certificate of a model hold on its data?
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "cli/common/ranks.hpp"
#include "mercer/base/error.hpp"
#include "mercer/dist/communicator.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/risk/regions.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/theory/certificate_check.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct VerifyOptions {
    bool all = false;
    bool rigorous = false;
};

/// Claimed and found side by side, of one problem.
std::string describe_check(const CheckedReport& c) {
    const Report& a = c.claimed;
    const Report& b = c.found;
    std::string text =
        fmt::format("{:<18}{:>16}{:>16}{:>16}\n", a.name.empty() ? "certificate" : a.name,
                    "claimed", "found", "allowed");
    const auto row = [&](const char* name, double claimed, double found, const std::string& most) {
        text += fmt::format("  {:<16}{:>16.8g}{:>16.8g}{:>16}\n", name, claimed, found, most);
    };
    if (has_no_machine(a.status)) {
        row("hull distance", a.hull_distance, b.hull_distance, "");
        const bool estimate = b.figures.contains("margin_bound_is_estimate");
        row(estimate ? "margin, estimate" : "no margin above", a.margin_bound, b.margin_bound,
            fmt::format("{:.3g}", 2 * a.margin_bound));
        return text;
    }
    if (b.is_bracketed()) {
        row("primal", a.primal, b.primal, "");
        row("dual", a.dual, b.dual, "");
        row("relative gap", a.relative_gap, b.relative_gap, fmt::format("{:.3g}", c.allowed_gap));
    } else {
        row("objective", a.dual, b.dual, "");
    }
    if (c.allowed_violation > 0) {  // else it is not what is checked
        row("KKT violation", a.kkt_violation, b.kkt_violation,
            fmt::format("{:.3g}", c.allowed_violation));
    }
    row("infeasibility", a.infeasibility, b.infeasibility, "1e-06");
    text += fmt::format("  {:<16}{:>16}{:>16}\n", "support vectors", a.support_vectors(),
                        b.support_vectors());
    if (c.has_nu_property) {
        row("margin errors", a.fraction_errors, b.fraction_errors, fmt::format("{:.6g}", a.nu));
        row("share support", a.fraction_support, b.fraction_support, "");
    }
    if (c.proved) {
        text +=
            fmt::format("  {:<16}[{:.17g}, {:.17g}]\n", "proved", c.proved->low, c.proved->high);
    }
    return text;
}

Json json_of_check(const CheckedReport& c) {
    Json json{
        {"claimed", cli::json_of(c.claimed)},
        {"found", cli::json_of(c.found)},
        {"allowed", {{"kkt_violation", c.allowed_violation}, {"relative_gap", c.allowed_gap}}},
        {"holds", c.broken.empty()},
        {"broken", c.broken}};
    if (c.allowed_violation == 0) {
        json["found"].erase("kkt_violation");
        json["allowed"].erase("kkt_violation");
    }
    if (c.proved) {
        json["proved"] = {{"low", c.proved->low},
                          {"high", c.proved->high},
                          {"relative_width", c.proved->relative_width()}};
    }
    return json;
}

/// The problem to show when there are many: the first that fails, else the worst violation.
const CheckedReport& telling(const std::vector<CheckedReport>& checks) {
    const auto failed =
        std::ranges::find_if(checks, [](const auto& c) { return !c.broken.empty(); });
    if (failed != checks.end()) return *failed;
    return *std::ranges::max_element(checks, {},
                                     [](const CheckedReport& c) { return c.found.kkt_violation; });
}

void print_text(const std::vector<CheckedReport>& checks, bool all) {
    if (all || checks.size() == 1) {
        for (const CheckedReport& c : checks) say("{}", describe_check(c));
    } else {
        say("{} problems; this is the {}, --all shows every one:\n{}", checks.size(),
            telling(checks).broken.empty() ? "one with the largest violation"
                                           : "first whose certificate fails",
            describe_check(telling(checks)));
    }
    for (const CheckedReport& c : checks) {
        for (const std::string& sentence : c.broken) {
            say("broken: {}{}\n", c.claimed.name.empty() ? "" : c.claimed.name + ": ", sentence);
        }
    }
}

/// The checks, or why they cannot be made: then nothing is certain of the model.
struct Outcome {
    std::vector<CheckedReport> checks{};
    std::string obstacle{};
};

Outcome check(const Model& model, const Dataset& data, bool rigorous, const Session& session) {
    Outcome outcome;
    try {
        outcome.checks = check_certificate(model, data, progress_line(session));
        if (rigorous) add_proofs(outcome.checks, model, data, progress_line(session));
    } catch (const InvalidInput& error) {
        outcome.obstacle = in_flags(error.what());
    }
    clear_progress_line();
    return outcome;
}

/// What the proof adds to the verdict, in a sentence.
std::string proof_text(const std::vector<CheckedReport>& checks) {
    double widest = 0;
    for (const CheckedReport& c : checks) widest = std::max(widest, c.proved->relative_width());
    return fmt::format("proved, whatever was rounded: {} optimum lies in {} bracket, {:.3g} wide\n",
                       checks.size() == 1 ? "the" : "every", checks.size() == 1 ? "the" : "its",
                       widest);
}

int run(const std::string& path, const InputOptions& input, const VerifyOptions& options,
        const Session& session) {
    const SpreadOver spread(current_ranks(), HeldRows::all);
    const auto [model, data] = read_model_and_data(path, input, session);
    if (!is_svm(model.task()) && model.task() != regions_task) {
        throw InvalidInput(
            fmt::format("{}: only support vector machines (svc, nu-svc, hard, svr, nu-svr, "
                        "one-class, svdd) and regions can be verified, and this is a model of "
                        "--task {}",
                        path, task_name(model.task())));
    }
    if (const std::string why = why_not_verifiable(model); !why.empty()) {
        throw InvalidInput(path + ": " + why);
    }
    if (options.rigorous && model.task() == regions_task) {
        throw InvalidInput("--rigorous has no proof for --task regions; leave it out");
    }
    if (options.rigorous) require_one_rank("mercer verify --rigorous");
    if (options.rigorous) require_provable(model);
    const Outcome outcome = check(model, data, options.rigorous, session);
    const bool holds =
        outcome.obstacle.empty() &&
        std::ranges::all_of(outcome.checks, [](const auto& c) { return c.broken.empty(); });
    const bool stationary =
        std::ranges::any_of(outcome.checks, [](const auto& c) { return !c.found.is_bracketed(); });
    const bool in_cells = cells_of(model) != nullptr;
    // Cells that were not reached have nothing to check, and the whole says so.
    const bool early =
        (in_cells && model.report().status != FitStatus::converged) ||
        std::ranges::any_of(outcome.checks, [](const auto& c) {
            return c.claimed.status != FitStatus::converged && !has_no_machine(c.claimed.status);
        });
    if (session.json) {
        Json parts = Json::array();
        for (const CheckedReport& c : outcome.checks) parts.push_back(json_of_check(c));
        Json json{{"model", path},
                  {"input", input.path},
                  {"holds", holds},
                  {"certifies", !holds       ? "nothing"
                                : stationary ? "stationary point"
                                : in_cells   ? "optimum of each cell"
                                             : "optimum"},
                  {"converged", !early},
                  {"parts", std::move(parts)}};
        if (!outcome.obstacle.empty()) json["obstacle"] = outcome.obstacle;
        print_json(json);
    } else {
        if (outcome.obstacle.empty()) print_text(outcome.checks, options.all);
        if (holds && options.rigorous) say("{}", proof_text(outcome.checks));
        if (!outcome.obstacle.empty()) say("{}\n", outcome.obstacle);
        say("{}\n",
            !holds       ? "the certificate does not hold"
            : stationary ? "a stationary point: the optimality conditions hold, but under "
                           "this kernel they do not bound how much better another machine is"
            : early      ? "the certificate holds, of a machine whose training stopped early"
            : in_cells   ? "the certificate holds in each cell; nothing is said of one machine of "
                           "all rows"
                         : "the certificate holds");
    }
    return !holds ? exit_failure : stationary ? exit_stationary : 0;
}

}  // namespace

void add_verify(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "verify", "recompute the certificate of a model from its training data",
        "  mercer verify digits.mercer train.csv\n"
        "  mercer verify a9a.mercer a9a.gz --json | jq .holds\n"
        "  mercer verify digits.mercer train.csv --rigorous\n"
        "All is recomputed in double precision. Allowed are: twice the tolerance the model was\n"
        "trained to (twice the violation it claims when it stopped early) and, for kernel values\n"
        "of single precision, four roundings of each term of the expansion; twice the claimed\n"
        "relative gap and 1e-4; 1e-6 in bounds and equalities. Exit code 1 when it does not hold, "
        "3\n"
        "when the optimality conditions hold but the kernel is not positive definite on the data:\n"
        "then they do not bound the distance from the optimum.\n"
        "Tasks with a certificate: svc, nu-svc, hard, svr, nu-svr, one-class, svdd and regions.");
    const auto path = std::make_shared<std::string>();
    const auto input = add_model_and_input(command, session, *path);
    const auto options = std::make_shared<VerifyOptions>();
    only(session,
         command.add_flag("--all", options->all,
                          "every problem of a model with many, not only the worst"),
         when([&session] { return !session.json; }, "with --json", "that has all of them anyway"));
    command.add_flag("--rigorous", options->rigorous,
                     "widen the bracket by a proved bound on all rounding: a theorem");
    command.callback([&session, path, input, options] {
        session.action = [&session, path, input, options] {
            session.exit_code = run(*path, *input, *options, session);
        };
    });
}

}  // namespace mercer::cli
