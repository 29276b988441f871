#include "cli/common/machines.hpp"

#include <fmt/format.h>

#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/learn/online/adatron.hpp"

namespace mercer::cli {

std::function<Machine(const FitSettings&)> maker_of(const TrainOptions& o, const SvmSettings& svm) {
    const MachineEntry& machine = o.machine();
    if (!machine.command.empty()) {
        throw InvalidInput(fmt::format("--task {} has a command of its own: 'mercer {} --help'",
                                       o.task, machine.command));
    }
    if (is_svm(machine.task)) {
        return [svm](const FitSettings& common) {
            SvmSettings own = svm;
            own.common = common;
            return Machine(mercer::svm(std::move(own)));
        };
    }
    o.settings.require(machine);
    return [&machine, values = o.settings.values(machine)](const FitSettings& common) {
        return machine.make(common, values);
    };
}

Machine machine_of(const TrainOptions& o, const SvmSettings& svm, const Progress& progress) {
    return in_flags_of(o, [&] {
        const FitSettings common = common_of(o, progress);
        const auto make = maker_of(o, svm);
        if (o.approximate.empty() || o.approximate == "auto") return make(common);
        return approximate(common, o.approximate, make);
    });
}

std::string curve_text(const TrainOptions& o, const Dataset& data, const Progress& progress) {
    const AdatronSettings settings =
        adatron_settings(common_of(o, progress), o.settings.values(o.machine()));
    std::string text = "method,steps,seconds,objective,violation\n";
    for (const CurvePoint& p : convergence_curves(settings, data)) {
        text += fmt::format("{},{},{},{},{}\n", p.method, p.steps, result_text(p.seconds),
                            result_text(p.objective), result_text(p.violation));
    }
    return text;
}

}  // namespace mercer::cli
