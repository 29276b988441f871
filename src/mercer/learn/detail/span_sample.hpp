// Data made ready to learn from in the span of some of its rows: on several ranks, each of which
// has some of the rows, all see the same statistics of all of them, with the same bits as one
// alone.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "mercer/dist/detail/one_rank.hpp"
#include "mercer/dist/detail/row_leaves.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"

namespace mercer {

/// The rows of this rank; classes, scaling and kernel are those of the rows of all. Its kernel
/// leaves nothing open.
struct SpanSample : Sample {
    RowLeaves leaves;
    /// Rows that are left in their file are scaled when they are looked at: `x` is as they are
    /// there.
    bool in_file = false;

    /// `count` rows from `first` on, scaled.
    Rows block(std::size_t first, std::size_t count) const;
    /// Says that they are not looked at for now.
    void release(std::size_t first, std::size_t count) const;
    /// The rows at these places among those of all ranks, ascending, scaled.
    Rows gather(std::span<const std::size_t> places) const;
    /// These rows of this rank, scaled.
    Rows select(std::span<const std::size_t> own) const;
};

/// As `take_sample`. Rows in a file are left there, to be looked at one block after another. Throws
/// InvalidInput on several ranks for what they cannot settle together: columns of texts, tables
/// with a recipe, kernels that are fitted to the rows.
SpanSample take_span_sample(Task task, const Dataset& data, const FitSettings& settings,
                            bool by_labels = true);

/// That of a machine of all rows, which one rank has alone.
SpanSample take_whole_sample(Task task, const Dataset& data, const FitSettings& settings);

/// Shift and scale of targets, those of this rank given, as `fit_target_scale` has them.
TargetScaling span_target_scale(TargetScale rule, std::span<const double> targets,
                                const SpanSample& sample);

/// What both ways to take a sample begin with: data checked, idle rows gone, targets looked at, of
/// which `before` rows stand before these. No row may be left.
Sample begin_sample(Task task, const Dataset& data, const FitSettings& settings, bool by_labels,
                    std::size_t before);
/// Throws InvalidInput for fewer than two.
void require_classes(const Classes& classes);

/// Whether the features of so many rows in the span of so many centres can be held: the engine of
/// the linear kernel and the space of weights have a copy each.
bool features_fit(std::size_t rows, std::size_t centres, const FitSettings& settings);

/// The rows of all ranks on every one of them, in their order. Throws InvalidInput for rows that
/// are more than numbers.
Dataset rows_of_all_ranks(const Dataset& own);
/// Their targets, of which each row has the same number.
Matrix<double> targets_of_all_ranks(MatrixView<const double> own);

/// Throws InvalidInput where there are several ranks: `what` cannot be learnt by them together.
void refuse_spread(const std::string& what);

/// The data of a fit, with several targets or none.
struct FitData {
    Dataset data{};
    Matrix<double> targets{};
};
/// This rank's part of what every rank has all of.
FitData own_part(const Dataset& data, MatrixView<const double> targets);

/// fit(data, targets) for machines of which each rank goes over its own rows, whichever it has.
template <class Fit>
Model with_own_rows(const Dataset& data, MatrixView<const double> targets, const Fit& fit) {
    Communicator& ranks = current_ranks();
    if (ranks.size() == 1 || held_rows() == HeldRows::own) return fit(data, targets);
    const FitData own = own_part(data, targets);
    const SpreadOver spread(ranks, HeldRows::own);
    return fit(own.data, own.targets.view());
}

/// fit(data, targets) for machines that one rank learns alone from all rows: where there are
/// several, each of them does the same.
template <class Fit>
Model with_all_rows(const Dataset& data, MatrixView<const double> targets, const Fit& fit) {
    if (current_ranks().size() == 1) return fit(data, targets);
    const bool whole = held_rows() == HeldRows::all;
    const FitData all =
        whole ? FitData() : FitData{rows_of_all_ranks(data), targets_of_all_ranks(targets)};
    const std::unique_ptr<Communicator> one = one_rank();
    const SpreadOver here(*one);
    return whole ? fit(data, targets) : fit(all.data, all.targets.view());
}

/// A listener that speaks for all ranks: when it wants to stop, the others are told first.
Progress spread_progress(Progress own, Communicator& ranks);

/// As above, on all ranks: whichever of them ran out of time.
[[noreturn]] void stopped_without_model(const Run& run, double time_limit, Communicator& ranks);

/// `patient_fit` that knows of ranks. Stopped before there is a machine, several throw Cancelled:
/// few rows of each would be another machine than few rows of all.
template <class Settings, class Fit>
Model span_fit(Task task, const Settings& settings, const Dataset& data, const Fit& fit) {
    Communicator& ranks = current_ranks();
    if (ranks.size() == 1) return patient_fit(task, settings, data, fit);
    const Run run = settings.common.run();
    Settings own = settings;
    own.common.progress = spread_progress(run.progress(), ranks);
    own.common.time_limit = 0;  // the listener looks at the clock
    try {
        return marked_stopped(fit(std::as_const(own), data), run);
    } catch (const Cancelled&) {
        stopped_without_model(run, settings.common.time_limit, ranks);
    }
}

}  // namespace mercer
