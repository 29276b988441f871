#include "cli/train_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/online/perceptron.hpp"

namespace mercer::cli {
namespace {

/// Which tasks an option means something to.
struct TaskUse {
    const char* option;
    std::vector<Task> tasks;
    const char* remark = "";
};

const std::vector<TaskUse>& task_uses() {
    using enum Task;
    static const std::vector<Task> svms{svc, nu_svc, hard_margin, svr, nu_svr, one_class, svdd};
    static const std::vector<TaskUse> table{
        {"-C", {svc, svr, nu_svr, svdd, adatron}},
        {"--nu", {nu_svc, nu_svr, one_class, svdd, parzen}},
        {"--epsilon", {svr}, " (nu-svr finds it by itself)"},
        {"--tube", {nu_svr}},
        {"--weight", {svc, nu_svc}},
        {"--balanced", {svc, nu_svc}},
        {"--no-bias",
         {svc, hard_margin, class_means, perceptron, adatron, ridge, logistic, squared_hinge,
          huber}},
        {"--multi-class", {svc, nu_svc, hard_margin, adatron}},
        {"--probability", {svc, nu_svc, hard_margin, one_class}},
        {"--passes", {perceptron, adatron, kmeans, kpca, kha}},
        {"--order", {perceptron}},
        {"--variant", {perceptron}},
        {"--budget", {perceptron}},
        {"--rate", {adatron, kha}},
        {"--curve", {adatron}},
        {"--clusters", {kmeans}},
        {"--radius", {vq}},
        {"--components", {kpca, kha}},
        {"--no-center", {kpca, kha}},
        {"--dictionary", {kha}},
        {"--batch", {kha}},
        {"--starts", {kmeans}},
        {"--lambda", {ridge, logistic, squared_hinge, huber, quantile}},
        {"--lambda-path", {ridge}},
        {"--loo", {ridge}},
        {"--noise", {gp}},
        {"--optimise", {gp}},
        {"--restarts", {gp}},
        {"--fix", {gp}},
        {"--target-scale", {svr, nu_svr, ridge, huber, quantile, gp}},
        {"--delta", {huber}},
        {"--quantile", {quantile}},
        {"--tol", {svc, nu_svc, hard_margin, svr, nu_svr, one_class, svdd, adatron, kpca, kha}},
        {"--gap",
         {svc, nu_svc, hard_margin, svr, nu_svr, one_class, svdd, logistic, squared_hinge, huber,
          quantile}},
        {"--step-limit", {svc, nu_svc, hard_margin, svr, nu_svr, one_class, svdd, gp}},
        {"--method", svms},
        {"--trace", svms},
        {"--no-shrinking", svms},
        {"--from", svms},
    };
    return table;
}

/// Options that a task has no use for, and those that need another.
void declare_uses(CLI::App& command, Session& session, const TrainOptions& o) {
    const CLI::Option* const task = command.get_option("--task");
    for (const TaskUse& use : task_uses()) {
        std::vector<std::string> names;
        for (const Task t : use.tasks) names.emplace_back(task_name(t));
        only(session, command.get_option(use.option), for_words(task, o.task, names, use.remark));
    }
    only(session, command.get_option("--cv"),
         when([&o] { return !is_projection(task_named(o.task)); }, "for projections",
              "components answer no question that could be judged"));
    only(session, command.get_option("--cv"),
         when([&o] { return !is_clustering(task_named(o.task)); }, "for groups",
              "they have no names to compare"));
    only(session, command.get_option("--restarts"), with({command.get_option("--optimise")}));
    only(session, command.get_option("--trace"),
         for_words(command.get_option("--method"), o.method, {"smo"}));
    only(session, command.get_option("--trace"),
         without(command.get_option("--tube"), "steps move three points in a tube of many widths"));
    only(session, command.get_option("--fix"), with({command.get_option("--optimise")}));
    only(session, command.get_option("--step-limit"),
         when([&o] { return o.task != "gp" || o.optimise; }, "for gp without --optimise",
              "there is no search to limit"));
    only(session, command.get_option("--lambda"),
         without(command.get_option("--lambda-path"), "the path has all values that are tried"));
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

/// "[0.5]": the default, as help texts show it.
template <class T>
std::string shown(T value) {
    return fmt::format("[{}]", value);
}

void add_machine_options(CLI::App& command, Session& session, TrainOptions& o) {
    const auto watch = [&](CLI::Option* option) {
        o.watched.push_back(option);
        return option;
    };
    const auto number = [&](const char* names, double& out, const std::string& about) {
        watch(command.add_option(names, out, about)->type_name("X"));
    };
    add_choice(
        command, session, "--task", o.task,
        {"svc",         "nu-svc",   "hard",       "svr",     "nu-svr", "one-class", "svdd",
         "class-means", "parzen",   "perceptron", "adatron", "ridge",  "logistic",  "squared-hinge",
         "huber",       "quantile", "gp",         "k-means", "vq",     "kpca",      "kha"},
        "what to learn");
    command.add_option("--kernel", o.kernel, "the expression, docs/kernels.md [rbf(gamma=scale)]")
        ->type_name("EXPR");
    number(
        "-C,--cost", o.cost,
        "penalty of errors; svdd: instead of --nu; adatron: 0 is the hard margin " + shown(o.cost));
    number("--nu", o.nu, "share of errors at most and of support vectors at least " + shown(o.nu));
    number("--epsilon", o.epsilon, "svr: half the width of the tube " + shown(o.epsilon));
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
    watch(command.add_flag("--no-bias", o.no_bias, "planes through the origin"));
    watch(command.add_flag("--probability", o.probability,
                           "also learn probabilities: of classes, or of one-class whether inside"));
    command
        .add_option("--scale", o.scale,
                    "scale features, kept in the model: standard, minmax, minmax(-1,1), unit, or a "
                    "factor such as 1/255 [none]")
        ->type_name("RULE");
    watch(add_choice(command, session, "--target-scale", o.target_scale,
                     {"auto", "none", "center", "standard", "minmax"},
                     "regression: scale the targets, kept in the model; answers are in the "
                     "target's own units, and C, epsilon, delta, noise count in the scaled ones. "
                     "auto: standard for gp --optimise, else none"));
}

void add_other_machine_options(CLI::App& command, Session& session, TrainOptions& o) {
    const char* const group = "Other machines";
    const auto watch = [&](CLI::Option* option) { o.watched.push_back(option->group(group)); };
    const auto number = [&](const char* names, double& out, const std::string& about) {
        watch(command.add_option(names, out, about)->type_name("X"));
    };
    const auto count = [&](const char* names, std::size_t& out, std::size_t low,
                           const std::string& about) {
        watch(add_count(command, names, out, low, 1'000'000'000, about));
    };
    count("--passes", o.passes, 1,
          fmt::format("over the data, at most; perceptron {}, adatron {}, k-means {}, kpca {}, "
                      "kha {}",
                      shown(PerceptronSettings{}.passes), shown(AdatronSettings{}.passes),
                      shown(KMeansSettings{}.passes), shown(KernelPcaSettings{}.passes),
                      shown(HebbianSettings{}.passes)));
    watch(add_choice(command, session, "--order", o.order, {"given", "shuffled"},
                     "perceptron: rows of a pass"));
    watch(add_choice(command, session, "--variant", o.variant, {"plain", "averaged", "voted"},
                     "perceptron: the last vector, the mean of all, or all voting"));
    count("--budget", o.budget, 2, "perceptron: keep at most so many points, merging the others");
    number("--rate", o.rate,
           fmt::format("adatron: step, as a multiple of 1 / max k(x,x), below 2 {}; kha: of 1 / "
                       "variance, at most 1 {}",
                       shown(o.rate), shown(HebbianSettings{}.rate)));
    watch(add_file(command, session, "--curve", o.curve, FileUse::data,
                   "adatron: also write how the dual grows, beside that of smo, as CSV"));
    count("--clusters", o.clusters, 1, "k-means: how many groups " + shown(o.clusters));
    number("--radius", o.radius, "vq: no row is farther from its code, in feature space");
    count("--starts", o.starts, 1, "k-means: the best of so many is kept " + shown(o.starts));
    count("--components", o.components, 0,
          "kpca, kha: how many components, 0 (kpca): all " + shown(o.components));
    count("--dictionary", o.dictionary, 1,
          "kha: rows that components are combinations of " + shown(o.dictionary));
    count("--batch", o.batch, 1, "kha: rows an update is averaged over " + shown(o.batch));
    watch(command.add_flag("--no-center", o.no_center,
                           "kpca, kha: about the origin, not the centre of mass"));
    number("--lambda", o.lambda, "ridge, logistic, …: weight of the penalty " + shown(o.lambda));
    watch(command
              .add_option("--lambda-path", o.lambda_path,
                          "ridge: values to choose from by leave-one-out error, 0.01,0.1,1")
              ->delimiter(',')
              ->allow_extra_args(false)
              ->type_name("X,X"));
    watch(command.add_flag("--loo", o.leave_one_out, "ridge: also leave-one-out errors"));
    number("--noise", o.noise, "gp: variance of the noise " + shown(o.noise));
    watch(command.add_flag("--optimise", o.optimise,
                           "gp: maximise the evidence over noise and kernel parameters"));
    count("--restarts", o.restarts, 0, "gp: further starts of --optimise [0]");
    watch(command
              .add_option("--fix", o.fixed,
                          "gp: parameters that --optimise leaves alone, such as gamma,noise")
              ->delimiter(',')
              ->allow_extra_args(false)
              ->type_name("NAME,NAME"));
    number("--delta", o.huber, "huber: where the loss becomes linear " + shown(o.huber));
    number("--quantile", o.quantile, "quantile: the share of targets below " + shown(o.quantile));
}

void add_solver_options(CLI::App& command, Session& session, TrainOptions& o) {
    const char* const group = "Training";
    const auto watch = [&](CLI::Option* option) { o.watched.push_back(option->group(group)); };
    const auto number = [&](const char* names, double& out, const std::string& about) {
        watch(command.add_option(names, out, about)->type_name("X"));
    };
    const auto count = [&](const char* names, std::size_t& out, std::size_t low, std::size_t high,
                           const std::string& about) {
        watch(add_count(command, names, out, low, high, about));
    };
    count("--cv", o.folds, 2, 1'000'000'000, "cross-validate over so many folds");
    command.add_option("--seed", o.seed, "of folds, orders and starts [1]")
        ->type_name("N")
        ->group(group);
    number("--tol", o.tolerance,
           "stop at this violation of the optimality conditions " + shown(o.tolerance) +
               "; kpca: at this residual, "
               "relative to the largest eigenvalue [1e-6, in double precision 1e-10]");
    number("--gap", o.gap,
           fmt::format("stop also at this relative gap, 0: not used {}; logistic and the like {}",
                       shown(o.gap), shown(RiskSettings{}.tolerance)));
    number("--time-limit", o.time_limit, "seconds; what there is then is kept, 0: none [0]");
    count("--step-limit", o.iteration_limit, 0, std::size_t{1} << 62,
          "steps a problem, 0: plenty [0]; gp: of --optimise from each start [100]");
    count("--memory", o.memory, 1, std::size_t{1} << 24,
          "MiB for kernel values " + shown(o.memory));
    command
        .add_flag("--double-precision", o.double_precision,
                  "compute kernel values in double precision too")
        ->group(group);
    watch(add_choice(command, session, "--method", o.method, {"decomposition", "smo", "chunking"},
                     "how the dual is solved"));
    watch(add_file(command, session, "--trace", o.trace, FileUse::data,
                   "--method smo: also write its steps, the pair, the clipping interval and "
                   "the objective of each, as CSV"));
    watch(command.add_flag("--no-shrinking", o.no_shrinking, "keep every row in play to the end"));
    watch(add_file(command, session, "--from", o.from, FileUse::input,
                   "begin at this model of the same rows: one that was stopped, or one of "
                   "another -C or --nu"));
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
    add_file(command, session, "MODEL", options->model, FileUse::model,
             "file to save the model in; without it the machine is only reported on, or with --cv "
             "only cross-validated");
    add_machine_options(command, session, *options);
    add_other_machine_options(command, session, *options);
    add_solver_options(command, session, *options);
    declare_uses(command, session, *options);
    return options;
}

bool given(const TrainOptions& options, const std::string& name) {
    return std::ranges::any_of(options.watched, [&](const CLI::Option* option) {
        return option->check_name(name) && option->count() > 0;
    });
}

void check_options(const TrainOptions& o, Task task) {
    if (o.probability && o.multi_class == "ovr") {
        throw InvalidInput("--probability couples pairs of classes: it needs --multi-class ovo");
    }
    if (task == Task::svdd && given(o, "-C") && given(o, "--nu")) {
        throw InvalidInput("svdd takes either -C or --nu: C = 1 / (nu rows)");
    }
    if (!(o.time_limit >= 0)) {
        throw InvalidInput(
            fmt::format("--time-limit {} must be 0 (none) or a number of seconds", o.time_limit));
    }
}

SvmSettings settings_of(const TrainOptions& o) {
    SvmSettings s;
    s.task = task_named(o.task);
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
    s.target_scale = target_scale_named(o.target_scale);
    s.probability = o.probability;
    s.seed = o.seed;
    s.tolerance = o.tolerance;
    s.relative_gap = o.gap;
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
