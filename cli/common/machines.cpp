#include "cli/common/machines.hpp"

#include <fmt/format.h>

#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/learn/online/adatron.hpp"

namespace mercer::cli {
namespace {

/// What `make` makes of the settings that all machines share, in the span of some rows where that
/// is asked for.
template <class Make>
Machine approximated(const TrainOptions& o, const Progress& progress, Make make) {
    const FitSettings common = common_of(o, progress);
    if (o.approximate.empty()) return make(common);
    return approximate(common, Nystroem::parse(o.approximate), std::move(make));
}

}  // namespace

Machine machine_of(const TrainOptions& o, const SvmSettings& svm, const Progress& progress) {
    const MachineEntry& machine = o.machine();
    if (!machine.command.empty()) {
        throw InvalidInput(fmt::format("--task {} has a command of its own: 'mercer {} --help'",
                                       o.task, machine.command));
    }
    if (is_svm(machine.task)) {
        return approximated(o, progress, [svm](const FitSettings& common) {
            SvmSettings own = svm;
            own.common = common;
            return Machine(mercer::svm(std::move(own)));
        });
    }
    o.settings.require(machine);
    return in_flags_of(o, [&] {
        return approximated(
            o, progress,
            [&machine, values = o.settings.values(machine)](const FitSettings& common) {
                return machine.make(common, values);
            });
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
