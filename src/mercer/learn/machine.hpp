// One face for all machines, so that cross-validation, the command line and whoever else trains
// need not know which machine they have.
//
//   Machine machine = perceptron({.common = {.kernel = rbf({.gamma = 0.5})}, .passes = 3});
//   Model model = machine.fit(data);
//   CrossValidation cv = cross_validate(machine, data, 5);
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/data/scaling.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/learn/target_scale.hpp"

namespace mercer MERCER_API {

/// What every machine is told alike; the settings of each hold one as `common`.
struct FitSettings {
    Kernel kernel = rbf();
    ScalingRule scaling{};
    TargetScale target_scale = TargetScale::automatic;  ///< regressors
    std::uint64_t seed = 1;
    double time_limit = 0;                            ///< seconds; 0: none
    std::size_t memory_bytes = std::size_t{1} << 30;  ///< for kernel values
    bool double_precision = false;
    Progress progress{};  ///< return false to stop with what there is

    /// A run that begins now: the clock, the time limit and the listener in one.
    Run run() const { return Run(progress, time_limit); }
};

/// Learning in the span of some rows, the centres, instead of all of them (Nyström's
/// approximation): rows × centres kernel values instead of rows².
struct Nystroem {
    std::size_t centres = 1000;

    /// "nystroem" or "nystroem(centres=500)". Throws InvalidInput.
    static Nystroem parse(std::string_view text);
};

/// Learning a machine of its own in each of many cells of space (learn/cells/cells.hpp).
struct CellRule {
    std::size_t rows = 2000;  ///< of a cell at most; more only where rows are equal

    /// "cells" or "cells(rows=2000)". Throws InvalidInput.
    static CellRule parse(std::string_view text);
};

/// How many rows of each class there are, in the order of the classes: of all rows, where a machine
/// gets some of them.
struct ClassCounts {
    std::vector<std::string> names{};
    std::vector<double> rows{};
};

/// Throws InvalidInput: the task learns a single output.
[[noreturn]] void refuse_targets(Task task);

/// Something that says which task it solves and learns a model from data. Copies share it.
class Machine {
   public:
    template <class M>
    requires(!std::same_as<M, Machine>) &&
        requires(const M& m, const Dataset& data, std::span<const std::size_t> rows) {
        { m.task() } -> std::same_as<Task>;
        { m.fit(data) } -> std::same_as<Model>;
    }
    Machine(M machine) : self_(std::make_shared<Holder<M>>(std::move(machine))) {}

    Task task() const { return self_->task(); }
    Model fit(const Dataset& data) const { return self_->fit(data); }
    /// Several outputs, one column of `targets` each, for machines that have such a member `fit`;
    /// throws InvalidInput for others. Without columns: the same as above.
    Model fit(const Dataset& data, MatrixView<const double> targets) const {
        return targets.columns == 0 ? self_->fit(data) : self_->fit(data, targets);
    }
    /// The same among functions of the span of some rows, by machines that need not store what all
    /// rows are there; nothing of others, which `approximate` serves.
    std::optional<Model> fit_in_span(const Dataset& data, MatrixView<const double> targets,
                                     const Nystroem& how) const {
        return self_->fit_in_span(data, targets, how);
    }
    /// The machine for these rows of the data alone: the same, unless it holds numbers that belong
    /// to rows (the tube of a regression) and then has a member `for_rows` of its own.
    Machine for_rows(std::span<const std::size_t> rows) const {
        return self_->for_rows(*this, rows);
    }
    /// The same where classes may be missing among the rows: what the machine would learn from the
    /// classes of all (balanced weights) is settled by those.
    Machine for_rows(std::span<const std::size_t> rows, const ClassCounts& all) const {
        return self_->for_rows(*this, rows, all);
    }

   private:
    struct Face {
        virtual ~Face() = default;
        virtual Task task() const = 0;
        virtual Model fit(const Dataset& data) const = 0;
        virtual Model fit(const Dataset& data, MatrixView<const double> targets) const = 0;
        virtual std::optional<Model> fit_in_span(const Dataset& data,
                                                 MatrixView<const double> targets,
                                                 const Nystroem& how) const = 0;
        virtual Machine for_rows(const Machine& own, std::span<const std::size_t> rows) const = 0;
        virtual Machine for_rows(const Machine& own, std::span<const std::size_t> rows,
                                 const ClassCounts& all) const = 0;
    };
    template <class M>
    struct Holder final : Face {
        explicit Holder(M m) : machine(std::move(m)) {}
        Task task() const override { return machine.task(); }
        Model fit(const Dataset& data) const override { return machine.fit(data); }
        Model fit(const Dataset& data, MatrixView<const double> targets) const override {
            if constexpr (requires { machine.fit(data, targets); }) {
                return machine.fit(data, targets);
            } else {
                refuse_targets(machine.task());
            }
        }
        std::optional<Model> fit_in_span(const Dataset& data, MatrixView<const double> targets,
                                         const Nystroem& how) const override {
            if constexpr (requires { machine.fit_in_span(data, targets, how); }) {
                return machine.fit_in_span(data, targets, how);
            } else {
                return {};
            }
        }
        Machine for_rows(const Machine& own, std::span<const std::size_t> rows) const override {
            if constexpr (requires { machine.for_rows(rows); }) {
                return Machine(machine.for_rows(rows));
            } else {
                static_cast<void>(rows);
                return own;
            }
        }
        Machine for_rows(const Machine& own, std::span<const std::size_t> rows,
                         const ClassCounts& all) const override {
            if constexpr (requires { machine.for_rows(rows, all); }) {
                return Machine(machine.for_rows(rows, all));
            } else {
                static_cast<void>(all);
                return for_rows(own, rows);
            }
        }
        M machine;
    };

    std::shared_ptr<const Face> self_;
};

/// The machine that `make` makes, learning among the functions Σ_m β_m k(c_m, ·) of some rows c_m
/// of the data: centres drawn by how little the others say of them (randomly pivoted Cholesky:
/// Chen, Epperly, Tropp and Webber 2025). `make` gets the settings to learn with, whose kernel may
/// be another. The model is an ordinary expansion over the centres.
///
/// Its reports are about the problem with k̂(x, z) = k_M(x)'K_MM⁻¹k_M(z) in the place of k. The
/// primal value bounds the optimum under k as well, since every such f is one of k's own functions
/// (but for nu-svc, whose objective is told in units of its own margin); a bound from below is the
/// figure `exact_dual`, where there is one. Throws InvalidInput when
/// fitted with a kernel that is not positive definite by its rules, or to a machine whose answers
/// are not linear in the features of a row.
///
///   const FitSettings common{.kernel = rbf({.gamma = 0.5})};
///   const Machine machine = approximate(common, {.centres = 500}, [](const FitSettings& own) {
///       return Machine(ridge({.common = own, .lambda = 0.1}));
///   });
Machine approximate(const FitSettings& common, const Nystroem& how,
                    std::function<Machine(const FitSettings&)> make);

/// The machine that `make` makes, learnt once in each cell of some thousand rows. The model is one
/// of cells (learn/cells/cells.hpp), its reports are sums over them, and say nothing of one machine
/// of all rows. A kernel that takes its parameters from the data takes them from all rows; classes
/// balanced are so over all; targets are scaled cell by cell.
Machine approximate(const FitSettings& common, const CellRule& how,
                    std::function<Machine(const FitSettings&)> make);

/// Either, as people write it: "nystroem(centres=500)" or "cells(rows=2000)". Throws InvalidInput.
Machine approximate(const FitSettings& common, std::string_view how,
                    std::function<Machine(const FitSettings&)> make);
/// Throws InvalidInput unless `text` is one of them.
void check_approximation(std::string_view text);

}  // namespace mercer
