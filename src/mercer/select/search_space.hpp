// What a search moves: settings of a machine and parameters of its kernel, by name.
//
//   const Axis gamma = Axis::parse("gamma=1e-4:1e2:log7");
//   SearchTask task = svm_search_task({.task = Task::svc}, "rbf(gamma=1)");
//   SearchSpace space(task, {gamma, Axis::parse("C=0.1,1,10")}, data);
//   Machine machine = space.machine(std::array{0.01, 10.0});
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer MERCER_API {

/// One name and the values it may take.
struct Axis {
    std::string name{};
    std::vector<double> values{};  ///< of a grid, in the order given
    bool range = false;            ///< first to last: a random search draws between them
    bool logarithmic = false;      ///< evenly in the logarithm

    /// "C=0.1,1,10", "epsilon=0:1:11" (eleven values from 0 to 1) or "gamma=1e-4:1e2:log7" (seven,
    /// each the same multiple of the one before). Throws InvalidInput.
    static Axis parse(std::string_view text);
};

/// A search among functions of the span of some rows (Nyström's approximation): centres are drawn
/// once for each kernel, and points that differ in settings alone share the features of all rows.
struct SpanSearch {
    Nystroem how{};
    FitSettings common{};
    /// The machine with these settings, for rows that are features.
    std::function<Machine(const FitSettings&, const std::map<std::string, double>&)> make{};
};

/// The machine a search is about.
struct SearchTask {
    Task task = Task::svc;
    /// The expression. `$name` stands for the value of the axis of that name, whatever it is, so
    /// that whole numbers can be moved too: "polynomial(degree=$d)".
    std::string kernel = "rbf(gamma=scale)";
    ScalingRule scaling{};
    /// Names besides those of the kernel, and the machine with some of them set.
    std::vector<std::string> settings{};
    std::function<Machine(const Kernel&, const std::map<std::string, double>&)> make{};
    /// All that the result depends on besides, for the fingerprint of a journal.
    std::string fingerprint{};
    /// Support vector machines, which can share kernel values: their settings.
    std::optional<SvmSettings> svm{};
    std::optional<SpanSearch> span{};
};
/// Any machine that learns from one set of rows: the settings its entry calls tunable may be
/// searched, `given` are held. `how`: in the span of some rows.
SearchTask search_task(const MachineEntry& machine, const FitSettings& common,
                       const SettingValues& given, const std::string& kernel,
                       const std::optional<Nystroem>& how = {});
/// The same for a support vector machine with settings that have no text, such as its tube.
SearchTask svm_search_task(const SvmSettings& settings, const std::string& kernel,
                           const std::optional<Nystroem>& how = {});

/// A task, its axes and the data that settles what the kernel leaves open: gamma=scale is found
/// once, on all rows, so that all folds are about the same kernel.
class SearchSpace {
   public:
    /// Throws InvalidInput for no axis, a value that no machine of the task takes, a name that is
    /// neither a setting nor one parameter of the kernel (listing what there is), a name given
    /// twice, and an axis without values. A parameter that occurs several times is named by its
    /// number, gamma#2 being the second. The kernel's own are meant by kernel.nu where the machine
    /// has a nu too.
    SearchSpace(SearchTask task, std::vector<Axis> axes, const Dataset& data);

    const SearchTask& task() const { return task_; }
    const std::vector<Axis>& axes() const { return axes_; }

    /// One value an axis.
    Kernel kernel(std::span<const double> values) const;
    std::map<std::string, double> settings(std::span<const double> values) const;
    Machine machine(std::span<const double> values) const;
    /// task.svm with the values of the settings put in.
    SvmSettings svm(std::span<const double> values) const;
    /// "gamma=0.01 C=10"
    std::string text(std::span<const double> values) const;

    /// Every combination; the last axis runs fastest. Throws InvalidInput for more than a million.
    std::vector<std::vector<double>> grid() const;
    /// Drawn at random: uniform over a range (in the logarithm where it is logarithmic), any of a
    /// list. The first of more points are the same.
    std::vector<std::vector<double>> random(std::size_t points, std::uint64_t seed) const;

   private:
    enum class Role { setting, parameter, placeholder };
    struct Bound {
        Role role = Role::setting;
        std::size_t parameter = 0;
        std::string setting{};
    };
    Bound bind(const Axis& axis) const;
    void check_values() const;
    bool has_placeholder(const std::string& name) const;
    std::string filled(std::span<const double> values) const;

    SearchTask task_;
    std::vector<Axis> axes_;
    std::vector<Bound> bound_{};
    std::optional<Kernel> kernel_{};  ///< resolved; empty while the text has placeholders
    ColumnMoments moments_{};
    std::vector<std::string> names_{};
    std::vector<ObjectName> objects_{};
};

}  // namespace mercer
