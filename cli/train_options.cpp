#include "cli/train_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer::cli {
namespace {

bool given(const TrainOptions& options, const std::string& name) {
    return std::ranges::any_of(options.watched, [&](const CLI::Option* option) {
        return option->check_name(name) && option->count() > 0;
    });
}

/// Options that mean something only to some tasks; what is given in vain is a mistake.
void check_uses(const TrainOptions& o, Task task) {
    const bool single = !is_classifier(task) && !is_regressor(task);
    const auto refuse = [&](const char* name, bool useful, const char* tasks) {
        if (useful || !given(o, name)) return;
        throw InvalidInput(
            fmt::format("{} has no meaning for --task {}; it belongs to {}", name, o.task, tasks));
    };
    refuse("-C", task == Task::svc || is_regressor(task) || task == Task::svdd,
           "svc, svr, nu-svr and svdd");
    refuse("--nu", task == Task::nu_svc || task == Task::nu_svr || single,
           "nu-svc, nu-svr, one-class and svdd");
    refuse("--epsilon", task == Task::svr, "svr (nu-svr finds it by itself)");
    refuse("--tube", task == Task::nu_svr, "nu-svr");
    refuse("--weight", task == Task::svc || task == Task::nu_svc, "svc and nu-svc");
    refuse("--balanced", task == Task::svc || task == Task::nu_svc, "svc and nu-svc");
    refuse("--no-bias", task == Task::svc || task == Task::hard_margin, "svc and hard");
    refuse("--multi-class", is_classifier(task), "svc, nu-svc and hard");
    refuse("--probability", is_classifier(task), "svc, nu-svc and hard");
    if (o.probability && o.multi_class == "ovr") {
        throw InvalidInput("--probability couples pairs of classes: it needs --multi-class ovo");
    }
    if (task == Task::svdd && given(o, "-C") && given(o, "--nu")) {
        throw InvalidInput("svdd takes either -C or --nu: C = 1 / (nu rows)");
    }
}

void read_weights(const TrainOptions& o, SvmSettings& settings) {
    for (const std::string& text : o.weights) {
        const std::size_t at = text.rfind('=');
        const auto value =
            at == std::string::npos ? std::nullopt : mercer::parse_number(text.substr(at + 1));
        if (!value || at == 0) {
            throw InvalidInput(
                fmt::format("--weight takes CLASS=NUMBER, such as 1=2.5, and was given {}",
                            mercer::quoted(text)));
        }
        settings.class_weights[text.substr(0, at)] = *value;
    }
}

void add_machine_options(CLI::App& command, Session& session, TrainOptions& o) {
    const auto watch = [&](CLI::Option* option) {
        o.watched.push_back(option);
        return option;
    };
    const auto number = [&](const char* names, double& out, const char* about) {
        watch(command.add_option(names, out, about)->type_name("X"));
    };
    add_choice(command, session, "--task", o.task,
               {"svc", "nu-svc", "hard", "svr", "nu-svr", "one-class", "svdd"}, "what to learn");
    command.add_option("--kernel", o.kernel, "the expression, docs/kernels.md [rbf(gamma=scale)]")
        ->type_name("EXPR");
    number("-C,--cost", o.cost, "penalty of errors; svdd: instead of --nu [1]");
    number("--nu", o.nu, "share of errors at most and of support vectors at least [0.5]");
    number("--epsilon", o.epsilon, "svr: half the width of the tube [0.1]");
    watch(command
              .add_option("--tube", o.tube,
                          "nu-svr: shape of the tube, a formula of x0, x1, … or @COLUMN")
              ->type_name("FORMULA"));
    watch(command.add_option("--weight", o.weights, "CLASS=W multiplies C for a class; repeatable")
              ->type_name("CLASS=W")
              ->allow_extra_args(false));
    watch(command.add_flag("--balanced", o.balanced, "weigh classes against their frequency"));
    watch(add_choice(command, session, "--multi-class", o.multi_class, {"ovo", "ovr"},
                     "more than two classes: every pair, or each against the rest"));
    watch(command.add_flag("--no-bias", o.no_bias, "planes through the origin (svc, hard)"));
    watch(command.add_flag("--probability", o.probability, "also learn class probabilities"));
    command
        .add_option("--scale", o.scale,
                    "scale features, kept in the model: standard, minmax, minmax(-1,1), unit, or a "
                    "factor such as 1/255 [none]")
        ->type_name("RULE");
}

void add_solver_options(CLI::App& command, Session& session, TrainOptions& o) {
    const char* const group = "Training";
    const auto number = [&](const char* names, double& out, const char* about) {
        command.add_option(names, out, about)->type_name("X")->group(group);
    };
    const auto count = [&](const char* names, std::size_t& out, std::size_t low, std::size_t high,
                           const char* about) {
        add_count(command, names, out, low, high, about)->group(group);
    };
    count("--cv", o.folds, 2, 1'000'000'000, "cross-validate over so many folds");
    command.add_option("--seed", o.seed, "how folds are drawn [1]")->type_name("N")->group(group);
    number("--tol", o.tolerance, "stop at this violation of the optimality conditions [0.001]");
    number("--gap", o.gap, "stop also at this relative gap, 0: not used [0]");
    number("--time-limit", o.time_limit, "seconds; what there is then is kept, 0: none [0]");
    count("--step-limit", o.iteration_limit, 0, std::size_t{1} << 62,
          "steps a problem, 0: plenty [0]");
    count("--memory", o.memory, 1, std::size_t{1} << 24, "MiB for kernel values [1024]");
    command
        .add_flag("--double-precision", o.double_precision,
                  "compute kernel values in double precision too")
        ->group(group);
    add_choice(command, session, "--method", o.method, {"decomposition", "smo", "chunking"},
               "how the dual is solved")
        ->group(group);
    command.add_flag("--no-shrinking", o.no_shrinking, "keep every row in play to the end")
        ->group(group);
}

DualMethod method_named(const std::string& name) {
    if (name == "smo") return DualMethod::smo;
    return name == "chunking" ? DualMethod::chunking : DualMethod::decomposition;
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
    command
        .add_option("MODEL", options->model,
                    "file to save the model in; without it the machine is only reported on, or "
                    "with --cv only cross-validated")
        ->type_name("");
    add_machine_options(command, session, *options);
    add_solver_options(command, session, *options);
    return options;
}

SvmSettings settings_of(const TrainOptions& o) {
    SvmSettings s;
    s.task = task_named(o.task);
    check_uses(o, s.task);
    s.kernel = Kernel::parse(o.kernel);
    s.C = s.task == Task::svdd && !given(o, "-C") ? 0 : o.cost;
    s.nu = o.nu;
    s.epsilon = o.epsilon;
    s.bias = !o.no_bias;
    s.multi_class = o.multi_class == "ovr" ? MultiClass::one_vs_rest : MultiClass::one_vs_one;
    read_weights(o, s);
    s.balanced = o.balanced;
    if (!o.tube.empty() && o.tube[0] != '@') s.tube = Formula::parse(o.tube);
    s.scaling = ScalingRule::parse(o.scale);
    s.probability = o.probability;
    s.seed = o.seed;
    s.tolerance = o.tolerance;
    s.relative_gap = o.gap;
    if (!(o.time_limit >= 0)) {
        throw InvalidInput(
            fmt::format("--time-limit {} must be 0 (none) or a number of seconds", o.time_limit));
    }
    s.time_limit = o.time_limit;
    s.iteration_limit = o.iteration_limit;
    s.memory_bytes = o.memory << 20;
    s.double_precision = o.double_precision;
    s.method = method_named(o.method);
    s.shrinking = !o.no_shrinking;
    return s;
}

void take_tube(const TrainOptions& o, Dataset& data, SvmSettings& settings) {
    if (o.tube.empty() || o.tube[0] != '@') return;
    if (data.columns() > 1'000'000) {
        throw InvalidInput(fmt::format("--tube {} needs data of at most a million columns, not {}",
                                       o.tube, data.columns()));
    }
    const std::size_t column = column_of(o.tube.substr(1), data);
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
