// How a machine keeps its word to whoever says stop: within a fraction of a second there is a valid
// model, and its report says that it was stopped. Long steps ask `common.progress`, which here also
// knows the time limit, and throw Cancelled; a machine that has something to hand back catches that
// and does. One that has nothing yet is learnt from few rows, evenly spread over the data, and
// reports how many there were as rows_given.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer {

/// Positions of about `most` rows, evenly spread over the data and, with `classes`, over each of
/// its classes.
std::vector<std::size_t> spread_rows(const Dataset& data, bool classes, std::size_t most);

/// Why a run stopped; `converged` for one that did not.
FitStatus fit_status(const Run& run);

/// What a machine of some rows says of itself, in terms of all of them.
Model marked_few(const Model& model, const std::vector<std::size_t>& positions, std::size_t given,
                 const Run& run);

/// Reports stopped by a listener that was out of time say so.
Model marked_stopped(const Model& model, const Run& run);

/// Thrown for a machine that was stopped and that not even few rows could be given: Cancelled, or
/// InvalidInput that names the time limit.
[[noreturn]] void stopped_without_model(const Run& run, double time_limit);

/// Seconds that a model of so many coefficients takes at least to be made, checked and written.
double seconds_to_keep(std::size_t outputs, std::size_t points);

/// Asks whether there is time for such a model, and throws Cancelled where there is not.
void ask_to_keep(const FitSettings& common, std::size_t outputs, std::size_t points);

/// fit(common, rows) learns from all rows (null) or from those at the positions given, and may
/// throw Cancelled. `data` has the labels.
template <class Fit>
Model patient_fit_of(Task task, const FitSettings& common, const Dataset& data, const Fit& fit) {
    const Run run = common.run();
    FitSettings own = common;
    own.progress = run.progress();
    try {
        const auto all = static_cast<const std::vector<std::size_t>*>(nullptr);
        return marked_stopped(fit(std::as_const(own), all), run);
    } catch (const Cancelled&) {
        if (!run.is_over()) throw;
    }
    own.time_limit = 0;
    // Few rows, and what they come to in a moment; where that is nothing, very few and no hurry.
    for (const std::size_t most : {std::size_t{500}, std::size_t{60}}) {
        constexpr double moment = 0.25;  // seconds
        const Run grace({}, moment);
        own.progress = most < 500 ? Progress{} : grace.progress();
        const std::vector<std::size_t> positions = spread_rows(data, is_classifier(task), most);
        try {
            return marked_few(fit(std::as_const(own), &positions), positions, data.size(), run);
        } catch (const Cancelled&) {
        } catch (const InvalidInput&) {  // too few rows for what was asked
        }
    }
    stopped_without_model(run, common.time_limit);
}

/// The same for a machine of one data set: fit(settings, data).
template <class Settings, class Fit>
Model patient_fit(Task task, const Settings& settings, const Dataset& data, const Fit& fit) {
    return patient_fit_of(task, settings.common, data,
                          [&](const FitSettings& common, const std::vector<std::size_t>* rows) {
                              Settings own = settings;
                              own.common = common;
                              return rows ? fit(std::as_const(own), data.select(*rows))
                                          : fit(std::as_const(own), data);
                          });
}
/// For a function of a name that several machines give theirs: the one of these settings.
template <class Settings>
Model patient_fit(Task task, const Settings& settings, const Dataset& data,
                  Model (*fit)(const std::type_identity_t<Settings>&, const Dataset&)) {
    return patient_fit<Settings>(task, settings, data,
                                 [fit](const Settings& s, const Dataset& d) { return fit(s, d); });
}

}  // namespace mercer
