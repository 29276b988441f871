#include "cli/machines/tune_gradient.hpp"

#include <fmt/format.h>

#include "cli/common/machines.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/theory/alignment.hpp"
#include "mercer/theory/radius_margin.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

/// What was found, for people and for programs, and the options to train with.
struct Found {
    std::string kernel{};
    Json json = Json::object();
    std::string text{};
};

Found by_alignment(const TrainOptions& o, const Dataset& data, Task task,
                   const Progress& progress) {
    const AlignedKernel k = align_parameters(Kernel::parse(o.kernel), data, is_regressor(task),
                                             o.memory << 20, progress);
    return {
        .kernel = k.kernel.text(),
        .json = {{"before", k.before},
                 {"after", k.after},
                 {"evaluations", k.evaluations},
                 {"status", k.status},
                 {"at_limit", parameter_names(k.at_limit)}},
        .text = line("alignment", fmt::format("{:.5g}, was {:.5g} (centred; {}, {}){}", k.after,
                                              k.before, counted(k.evaluations, "evaluation"),
                                              k.status, limit_text(parameter_names(k.at_limit))))};
}

/// The value of a setting, or `otherwise` for a machine that has none of that name.
double number_of(const TrainOptions& o, const std::string& name, double otherwise) {
    const Setting* setting = o.machine().find(name);
    if (!setting) return otherwise;
    const SettingValues values = o.settings.values(o.machine());
    const auto found = values.find(name);
    return std::get<double>(found == values.end() ? setting->fallback : found->second);
}

Found by_radius_margin(TrainOptions& o, const Dataset& data, Task task, const Progress& progress) {
    if (!is_classifier(task)) {
        throw InvalidInput(fmt::format(
            "the radius-margin bound is one of two classes, and --task {} learns none", o.task));
    }
    const double cost =
        task == Task::squared_hinge ? 1 / number_of(o, "lambda", 1) : number_of(o, "C", 1);
    const RadiusMarginChoice c =
        minimise_radius_margin(Kernel::parse(o.kernel), cost, data, o.memory << 20, progress);
    std::vector<std::string> at_limit = parameter_names(c.at_limit);
    if (c.C_at_limit) at_limit.insert(at_limit.begin(), "C");
    // Only squared-hinge has the bound's own slacks; others keep the penalty they were given.
    if (task == Task::squared_hinge) o.settings.set("lambda", 1 / c.C);
    return {.kernel = c.kernel.text(),
            .json = {{"before", c.before},
                     {"after", c.after},
                     {"C_of_squared_slacks", c.C},
                     {"lambda_of_squared_hinge", 1 / c.C},
                     {"evaluations", c.evaluations},
                     {"status", c.status},
                     {"at_limit", at_limit}},
            .text = line("bound", fmt::format("R²‖w‖² = {:.5g}, was {:.5g} ({}, {}){}", c.after,
                                              c.before, counted(c.evaluations, "evaluation"),
                                              c.status, limit_text(at_limit))) +
                    line("penalty", fmt::format("C = {:.5g} of squared slacks: --task "
                                                "squared-hinge --lambda {:.5g}",
                                                c.C, 1 / c.C))};
}

}  // namespace

std::vector<std::string> parameter_names(const std::vector<KernelParameter>& parameters) {
    std::vector<std::string> names;
    for (const KernelParameter& p : parameters) {
        names.push_back(fmt::format("{} of {}", p.name, p.part));
    }
    return names;
}

std::string limit_text(const std::vector<std::string>& names) {
    if (names.empty()) return {};
    return fmt::format(
        ": the search goes a hundred thousand times either way, and {} went all of it; begin "
        "elsewhere, or the kernel does not suit",
        listed(names));
}

bool is_gradient_search(const std::string& name) {
    return name == "alignment" || name == "radius-margin";
}

void run_gradient_search(const std::string& name, const TrainOptions& options,
                         const InputOptions& input, const Session& session) {
    const Task task = task_named(options.task);
    InputOptions reading = input;
    if (options.double_precision) reading.read.double_precision = true;
    const Dataset data = read_input(reading, session);
    Dataset scaled = data;
    scaled.x =
        apply_scaling(Scaling::fit(ScalingRule::parse(options.scale), data.x), data.x, session);
    TrainOptions own = options;
    const Progress progress = progress_line(session);
    Found found = name == "alignment" ? by_alignment(own, scaled, task, progress)
                                      : by_radius_margin(own, scaled, task, progress);
    clear_progress_line();
    own.kernel = found.kernel;
    Json json{{"input", input.path}, {"rows", data.size()}, {"search", name}};
    json["kernel"] = found.kernel;
    json.update(found.json);
    std::string text = found.text + line("kernel", found.kernel);
    if (!own.model.empty()) {
        const Model model =
            machine_of(own, is_svm(task) ? svm_settings_of(own) : SvmSettings{}, {}).fit(data);
        clear_progress_line();
        const InterruptLater later(own.model);
        save(model, own.model);
        json["model"] = own.model;
        text += describe_machine(model) + describe_certificate(model) + line("model", own.model);
    }
    if (session.json) {
        print_json(json);
    } else {
        say("{}", text);
    }
}

}  // namespace mercer::cli
