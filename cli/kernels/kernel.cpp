// mercer kernel: a kernel's structure, whether it is positive definite and why, and its spectrum on
// data.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/kernel/definiteness.hpp"
#include "mercer/kernel/table.hpp"
#include "mercer/theory/mercer_test.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct KernelCommand {
    std::string text;
    bool list = false;
    InputOptions input;
    Assumptions assumptions;
    MercerTestSettings settings;
    std::size_t features = 0;  ///< columns of the rows; 0: not said
};

const char* word_of(Definite definite) {
    switch (definite) {
        case Definite::positive: return "positive";
        case Definite::conditional: return "conditional";
        case Definite::refuted: return "refuted";
        case Definite::unknown: break;
    }
    return "unknown";
}

/// "gamma (default scale), sigma, c, width"
std::string parameters_text(const KernelEntry& entry) {
    std::string text;
    for (const ParameterForm& form : entry.parameters) {
        text += (text.empty() ? "" : ", ") + form.name;
    }
    return text.empty() ? "-" : text;
}

void print_list(bool json) {
    if (json) {
        Json list = Json::array();
        for (const KernelEntry* known : kernel_table()) {
            const KernelEntry& entry = *known;
            Json parameters = Json::array();
            for (const ParameterForm& form : entry.parameters) parameters.push_back(form.name);
            list.push_back({{"name", entry.name},
                            {"aliases", entry.aliases},
                            {"formula", entry.formula},
                            {"about", entry.about},
                            {"parameters", std::move(parameters)}});
        }
        print_json(list);
        return;
    }
    for (const KernelEntry* known : kernel_table()) {
        const KernelEntry& entry = *known;
        say("{}{}{}\n", entry.name, entry.aliases.empty() ? "" : ", ",
            fmt::join(entry.aliases, ", "));
        say("    {}\n    {}\n    parameters: {}\n", entry.formula, entry.about,
            parameters_text(entry));
    }
}

Json json_of(const Definiteness& found) {
    Json reasons = Json::array();
    for (const Reason& reason : found.reasons) {
        reasons.push_back({{"depth", reason.depth},
                           {"part", reason.part},
                           {"definite", word_of(reason.definite)},
                           {"strict", reason.strict},
                           {"because", reason.because}});
    }
    return {{"definite", word_of(found.definite)},
            {"strict", found.strict},
            {"reasons", std::move(reasons)}};
}

Json json_of(const MercerTest& test) {
    Json result{{"kernel", test.kernel.text()},
                {"rows", test.rows.size()},
                {"smallest", test.smallest},
                {"largest", test.largest},
                {"tolerance", test.tolerance},
                {"trace", test.trace},
                {"effective_rank", test.effective_rank},
                {"converged", test.converged},
                {"asymmetry", test.asymmetry},
                {"cauchy_schwarz_broken", test.cauchy_schwarz_broken},
                {"indefinite", test.indefinite}};
    if (!test.values.empty()) {
        result["numerical_rank"] = test.numerical_rank;
        result["eigenvalues"] = test.values;
    }
    if (test.indefinite) {
        result["smallest_centered"] = test.smallest_centered;
        result["conditionally_indefinite"] = test.conditionally_indefinite;
        result["witness"] = {
            {"rows", test.rows}, {"a", test.witness}, {"value", test.witness_value}};
    }
    return result;
}

Json json_of(const FeatureDimension& found, std::size_t columns) {
    using Kind = FeatureDimension::Kind;
    const bool known = found.kind == Kind::exact || found.kind == Kind::at_most;
    Json result{{"columns", columns},
                {"kind", found.kind == Kind::exact      ? "exact"
                         : found.kind == Kind::at_most  ? "at most"
                         : found.kind == Kind::infinite ? "infinite"
                                                        : "unknown"},
                {"because", found.because}};
    if (known && found.count.exact()) {
        result["count"] = *found.count.exact();
    } else if (known) {
        result["count"] = json_number(found.count.approximate());
        result["log10"] = found.count.log10();
    }
    return result;
}

void print_dimension(const FeatureDimension& found, std::size_t columns) {
    std::string text = describe(found);
    // Nobody counts digits.
    if (found.count.exact() && found.count.log10() >= 6) {
        text += fmt::format(" (about {:.2g})", found.count.approximate());
    }
    say("{:<12}{}, of the feature space over rows of {} column{}\n{:<12}{}\n", "dimension", text,
        columns, columns == 1 ? "" : "s", "", found.because);
}

/// The tree, each part with its verdict and the rule behind it.
void print_definiteness(const Definiteness& found) {
    say("{:<12}{}\n", "definite", describe(found));
    if (found.strict) {
        say("{:<12}any labels of distinct rows can be separated (Leonetti)\n", "");
    }
    for (const Reason& reason : found.reasons) {
        const std::string indent(2 * reason.depth, ' ');
        say("  {}{}\n  {}    {}: {}\n", indent, reason.part, indent, describe(reason),
            reason.because);
    }
    say("{}", sources_line());
}

void print_witness(const MercerTest& test) {
    // The few largest components say which rows clash; --json has them all.
    std::vector<std::size_t> order(test.witness.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t shown = std::min<std::size_t>(order.size(), 5);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown),
                      order.end(), [&](std::size_t a, std::size_t b) {
                          return std::abs(test.witness[a]) > std::abs(test.witness[b]);
                      });
    std::string parts;
    for (std::size_t i = 0; i < shown; ++i) {
        parts += fmt::format("{}row {}: {:.3g}", i == 0 ? "" : ", ", test.rows[order[i]],
                             test.witness[order[i]]);
    }
    say("{:<12}a'Ka = {:.6g} for a of length 1 ({}{})\n", "witness", test.witness_value, parts,
        shown < order.size() ? ", …; all with --json" : "");
    say("{:<12}smallest eigenvalue {:.6g}: {}\n", "with sum 0", test.smallest_centered,
        test.conditionally_indefinite ? "not conditionally positive definite either"
                                      : "nothing here against conditionally positive definite");
}

void print_test(const MercerTest& test, const std::string& path, std::size_t rows) {
    say("\n{:<12}{}, {} of {} rows\n", "data", path, test.rows.size(), rows);
    say("{:<12}{}\n", "resolved", test.kernel.text());
    say("{:<12}smallest {:.6g}, largest {:.6g}, trace {:.6g}{}\n", "eigenvalues", test.smallest,
        test.largest, test.trace, test.converged ? "" : " (not converged)");
    say("{:<12}effective {:.4g}", "rank", test.effective_rank);
    if (!test.values.empty()) say(", numerical {}", test.numerical_rank);
    say("\n{:<12}{}\n", "verdict",
        test.indefinite
            ? "indefinite on these rows"
            : fmt::format("nothing against positive definite (eigenvalues within {:.2g} of 0 "
                          "count as 0)",
                          test.tolerance));
    if (test.asymmetric) {
        say("{:<12}no: k(x,z) and k(z,x) differ by {:.3g} of the largest value, so it is no "
            "kernel\n",
            "symmetric", test.asymmetry);
    }
    if (test.cauchy_schwarz_broken > 0) {
        say("{:<12}k(x,z)^2 <= k(x,x) k(z,z) is broken by {} of the pairs tried\n", "pairs",
            test.cauchy_schwarz_broken);
    }
    if (test.indefinite) print_witness(test);
}

void run(const KernelCommand& command, const Session& session) {
    if (command.list) return print_list(session.json);
    if (command.text.empty()) {
        throw InvalidInput("give a kernel, such as 'rbf(gamma=0.5)', or --list to see them all");
    }
    const Kernel kernel = Kernel::parse(command.text);
    const Definiteness found = definiteness(kernel, command.assumptions);
    Json json{{"kernel", kernel.text()}, {"definiteness", json_of(found)}};
    if (!session.json) {
        say("{:<12}{}\n", "kernel", kernel.text());
        print_definiteness(found);
    }
    if (command.features > 0) {
        const FeatureDimension dimension =
            feature_dimension(kernel, command.features, command.assumptions);
        json["dimension"] = json_of(dimension, command.features);
        if (!session.json) print_dimension(dimension, command.features);
    }
    if (!command.input.path.empty()) {
        const Dataset data = read_input(command.input, session);
        MercerTestSettings settings = command.settings;
        settings.progress = progress_line(session);
        const MercerTest test = mercer_test(kernel, data.x, data.feature_names, settings);
        clear_progress_line();
        json["data"] = json_of(test);
        if (!session.json) print_test(test, command.input.path, data.size());
        if (data.columns() > 0) {
            const FeatureDimension dimension =
                feature_dimension(test.kernel, data.columns(), command.assumptions);
            json["dimension"] = json_of(dimension, data.columns());
            if (!session.json) print_dimension(dimension, data.columns());
        }
    }
    if (session.json) print_json(json);
}

}  // namespace

void add_kernel(CLI::App& program, Session& session) {
    CLI::App& command =
        add_command(program, "kernel",
                    "explain a kernel: its parts, whether it is positive definite, its spectrum",
                    "  mercer kernel 'rbf(gamma=0.5) + 0.3*poly(degree=2)[0:10]'\n"
                    "  mercer kernel 'sigmoid(gamma=0.01, coef0=-1)' --data @iris\n"
                    "  mercer kernel 'polynomial(degree=7)' --features 256\n"
                    "  mercer kernel --list");
    const auto options = std::make_shared<KernelCommand>();
    CLI::Option* const text =
        command.add_option("KERNEL", options->text, "the expression; quote it for the shell")
            ->type_name("");
    const CLI::Option* const list =
        command.add_flag("--list", options->list, "list the kernels there are");
    CLI::Option* const data =
        add_file(command, session, "--data", options->input.path, FileUse::input,
                 "try it on this data: extreme eigenvalues, rank, a witness if indefinite");
    only(session,
         {command
              .add_option("--sample", options->settings.max_rows,
                          "rows to try it on, 0 for all [1000]")
              ->type_name("N"),
          add_seed(command, options->settings.seed, "how the rows are drawn [1]")},
         with({data}));
    CLI::Option* const features =
        add_count(command, "--features", options->features, 1, std::size_t{1} << 32,
                  "the dimension of the feature space over rows of so many columns");
    only(session, features, without(data, "the data has its own columns"));
    only(session,
         {text, data, features,
          command.add_flag("--unit-norm", options->assumptions.unit_norm,
                           "rules may assume rows of length 1"),
          command.add_flag("--non-negative", options->assumptions.non_negative,
                           "rules may assume entries that are not negative")},
         without(list, "the list is of all kernels"));
    add_reading_options(command, session, options->input);
    only(session, options->input.options, with({data}));
    command.callback(
        [&session, options] { session.action = [&session, options] { run(*options, session); }; });
}

}  // namespace mercer::cli
