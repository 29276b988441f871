// What the support vector machines take, task by task.
#include <algorithm>
#include <initializer_list>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/svm/detail/fit_plan.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

using S = SvmSettings;

constexpr Words methods{
    std::pair{DualMethod::automatic, "automatic"},
    std::pair{DualMethod::decomposition, "decomposition"}, std::pair{DualMethod::smo, "smo"},
    std::pair{DualMethod::chunking, "chunking"}, std::pair{DualMethod::weights, "weights"}};

/// "1=2.5" as a class and its weight.
void put_weights(S& s, const SettingValue& value) {
    s.class_weights.clear();
    for (const std::string& text : std::get<std::vector<std::string>>(value)) {
        const std::size_t at = text.rfind('=');
        const auto weight =
            at == std::string::npos ? std::nullopt : parse_number(text.substr(at + 1));
        if (!weight || at == 0) {
            throw InvalidSetting(
                "`class_weights` takes CLASS=NUMBER, such as 1=2.5, and was given " + quoted(text));
        }
        s.class_weights[text.substr(0, at)] = *weight;
    }
}

SettingValue get_weights(const S& s) {
    std::vector<std::string> words;
    for (const auto& [name, weight] : s.class_weights) {
        words.push_back(name + '=' + format_number(weight));
    }
    return words;
}

void add_penalties(Describe<S>& d, Task task) {
    using enum Task;
    if (task == svc || task == svr || task == nu_svr || task == svdd) {
        Setting& c = d.add(
            &S::C, "C",
            task == svdd ? "penalty of rows outside, instead of nu; 0: use nu"
                         : "penalty of errors",
            task == svdd ? Range{.low = 0, .words = "0 (use nu) or greater"} : Range::above(0));
        c.tunable = true;
        c.flag = "C,cost";
    }
    if (task == nu_svc || task == nu_svr || task == one_class || task == svdd) {
        Range share = Range::between(0, 1);
        // Without errors: the hard sphere, the hard separation from the origin.
        share.low_open = task != svdd && task != one_class;
        d.add(&S::nu, "nu",
              share.low_open
                  ? "share of errors at most and of support vectors at least"
                  : "share outside at most and of support vectors at least; 0: none outside",
              share)
            .tunable = true;
    }
    if (task == svr) {
        d.add(&S::epsilon, "epsilon", "half the width of the tube", Range::at_least(0)).tunable =
            true;
    }
    if (task == nu_svr) {
        Setting& tube = d.add(
            "tube", "shape of the tube, a formula of x0, x1, …",
            [](S& s, const SettingValue& v) {
                const auto& text = std::get<std::string>(v);
                s.tube = text.empty() ? std::nullopt : std::optional(Formula::parse(text));
            },
            [](const S& s) { return SettingValue(s.tube ? s.tube->text() : std::string()); });
        tube.placeholder = "FORMULA";
    }
}

void add_classes(Describe<S>& d, Task task) {
    if (task == Task::svc || task == Task::nu_svc) {
        Setting& weights = d.add("class_weights", "CLASS=W multiplies C for a class; repeatable",
                                 put_weights, get_weights);
        weights.flag = "weight";
        weights.placeholder = "CLASS=W";
        d.add(&S::balanced, "balanced", "weigh classes against their frequency");
    }
    d.add(&S::multi_class, multi_class_words, "multi_class",
          "more than two classes: every pair, or each against the rest");
    if (task != Task::nu_svc) d.add(&S::bias, "bias", "learn a constant too");
}

Describe<S> describe(Task task) {
    Describe<S> d(S{.task = task, .C = task == Task::svdd ? 0.0 : S{}.C});
    add_penalties(d, task);
    const bool classes = task == Task::svc || task == Task::nu_svc || task == Task::hard_margin;
    if (classes) add_classes(d, task);
    if (classes || task == Task::one_class) {
        d.add(&S::probability, "probability",
              task == Task::one_class ? "also learn how likely a row is inside"
                                      : "also learn probabilities of the classes");
    }
    const auto solver = [](Setting& setting, const char* flag = "") {
        setting.of_solver = true;
        setting.flag = flag;
    };
    solver(d.add(&S::tolerance, "tolerance", "stop at this violation of the optimality conditions",
                 Range::above(0)),
           "tol");
    solver(d.add(&S::relative_gap, "relative_gap", "stop also at this relative gap, 0: not used",
                 Range::at_least(0)),
           "gap");
    solver(d.add(&S::iteration_limit, "iteration_limit", "steps a problem, 0: plenty"),
           "step-limit");
    solver(d.add(&S::method, methods, "method", "how the dual is solved"));
    solver(d.add(&S::shrinking, "shrinking", "leave out rows that cannot move any more"));
    return d;
}

struct Kind {
    Task task;
    const char* name;
    Learns learns;
    const char* about;
};
constexpr Kind kinds[]{
    {Task::svc, "svc", Learns::classes, "classes with a soft margin, errors penalised by C"},
    {Task::nu_svc, "nu-svc", Learns::classes, "the same, with the share nu of errors instead"},
    {Task::hard_margin, "hard", Learns::classes, "classes without errors, or a proof of none"},
    {Task::svr, "svr", Learns::numbers, "numbers within a tube of half width epsilon"},
    {Task::nu_svr, "nu-svr", Learns::numbers, "the same; the tube is found by itself"},
    {Task::one_class, "one-class", Learns::region, "where the rows lie: a plane from the origin"},
    {Task::svdd, "svdd", Learns::region, "where the rows lie: the smallest sphere around them"}};

}  // namespace

std::vector<MachineEntry> svm_entries() {
    std::vector<MachineEntry> entries;
    for (const Kind& kind : kinds) {
        std::vector<ExtraKind> extras;
        if (kind.task == Task::one_class) {
            extras.push_back(extra_kind<DensityMarks>("density marks"));
        }
        entries.push_back(describe(kind.task).entry({.task = kind.task,
                                                     .name = kind.name,
                                                     .family = "svm",
                                                     .learns = kind.learns,
                                                     .about = kind.about,
                                                     .certified = true,
                                                     .linear_by_passes = kind.task == Task::svc,
                                                     .extras = std::move(extras)},
                                                    svm));
    }
    return entries;
}

SvmSettings svm_settings(Task task, FitSettings common, const SettingValues& values) {
    return describe(task).filled(task_name(task), std::move(common), values);
}

void check_ranges(const SvmSettings& settings) {
    describe(settings.task).check(settings);
}

std::string settings_text(const SvmSettings& settings) {
    std::string text = describe(settings.task).text(settings);
    for (const double width : settings.tube_values) text += format_number(width) + ' ';
    return text;
}

Svm Svm::for_rows(std::span<const std::size_t> rows) const {
    if (settings_.tube_values.empty()) return *this;
    SvmSettings own = settings_;
    own.tube_values.clear();
    for (const std::size_t i : rows) {
        if (i >= settings_.tube_values.size()) {
            throw InvalidInput("the tube has " + std::to_string(settings_.tube_values.size()) +
                               " values, fewer than there are rows");
        }
        own.tube_values.push_back(settings_.tube_values[i]);
    }
    return Svm(std::move(own));
}

Svm Svm::for_rows(std::span<const std::size_t> rows, const ClassCounts& all) const {
    SvmSettings own = for_rows(rows).settings_;
    settle_weights(own, all);
    return Svm(std::move(own));
}

}  // namespace mercer
