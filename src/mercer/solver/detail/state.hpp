// Where a solver stands: u, v = Kβ, which variables are still active, what it has cost.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mercer/base/operator.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/solver/detail/canonical.hpp"
#include "mercer/solver/detail/scan.hpp"
#include "mercer/solver/detail/steepest.hpp"

namespace mercer {

/// Distance from optimality over the active variables.
struct Measure {
    double violation = 0;
    /// Of each group: the least gradient among variables that can grow, and the largest among those
    /// that can fall (−m(α) and −M(α) in LIBSVM's letters).
    std::array<double, 3> least_growing{};
    std::array<double, 3> largest_falling{};
    std::array<double, 2> lambda{};    ///< general equalities: multipliers of the linear program
    SparseDirection direction{};       ///< and the steepest direction
    std::array<double, 2> estimate{};  ///< of μ, for the gap

    /// How far variable i is on the wrong side; ≤ 0 when it is not.
    double growing(const CanonicalDual& form, std::size_t i, double g) const;
    double falling(const CanonicalDual& form, std::size_t i, double g) const;
};

template <class T>
class WorkingSet;

template <class T>
class DualState {
   public:
    DualState(const SymmetricOperator<T>& k, const CanonicalDual& form,
              const DualSettings& settings);

    /// Takes a feasible u and computes v = Kβ.
    void start(std::vector<double> u);
    /// Takes both at their word.
    void start(std::vector<double> u, std::vector<double> v);

    /// Gradient and distance from optimality of the active variables.
    Measure measure();

    /// Moves variables to new values: asks for the rows whose β changes, one batch at a time, and
    /// updates v on the active rows. All or nothing: an exception leaves the state as it was.
    void move(std::span<const std::size_t> which, std::span<const double> values);

    /// Leaves only these variables (ascending) active. Rows of no active variable are no longer
    /// kept up to date.
    void keep_active(std::vector<std::size_t> variables);
    /// All variables active again; v of the rows left behind is brought up to date exactly, from
    /// the β that changed since.
    void activate_all();
    bool all_active() const { return active_.size() == form_.variables; }

    /// v = Kβ from nothing, all variables active.
    void recompute();
    /// Whether v is as it should be: compares 256 rows of it, spread evenly, with fresh sums. False
    /// when one is off by more than a hundredth of the tolerance.
    bool audit();

    /// The variables whose turn cannot come: at a bound and pushed against it beyond every variable
    /// that could move with them. Drops them once they have been so for a while and once dropping
    /// them halves the work.
    void shrink(const Measure& measure);
    void forget_shrinking();

    /// Tells the listener; says why to stop, if there is a reason.
    std::optional<DualStatus> report(const Measure& measure);
    std::optional<DualStatus> report(const DualMoment& moment) const;
    std::uint64_t steps_left() const;
    double seconds() const;
    bool out_of_time() const;

    /// The duality gap of the active variables.
    double gap(const Measure& measure) const;
    bool satisfied(const Measure& measure) const;

    const CanonicalDual& form() const { return form_; }
    const DualSettings& settings() const { return settings_; }
    const SymmetricOperator<T>& matrix() const { return k_; }
    const std::vector<std::size_t>& active() const { return active_; }
    /// The active variables of a group, for passes over pieces of them; general equalities have
    /// none.
    ScanRange members(std::size_t group) const;
    const ShutWays& shut() const { return shut_; }
    const std::vector<double>& u() const { return u_; }
    const std::vector<double>& gradient() const { return gradient_; }
    const std::vector<double>& row_gradient() const { return v_; }
    const std::vector<double>& beta() const { return beta_; }
    double objective() const { return objective_; }
    /// Entries of the operator are known to this relative precision.
    double recession_tolerance() const;

    std::uint64_t iterations = 0;
    std::uint64_t steps = 0;
    std::uint64_t asked = 0;          ///< entries of K that sums for v have asked for
    std::size_t working_set = 0;      ///< as large as it has become
    WorkingSet<T>* reused = nullptr;  ///< instead of a new one
    /// A direction of endless descent, when a step met one.
    std::optional<std::vector<double>> ray;

   private:
    /// Rows whose v was exact for an earlier β.
    struct Stale {
        std::vector<std::size_t> rows;
        std::vector<double> beta;
    };

    void add_product(std::span<const std::size_t> which, std::span<const double> weight,
                     const Columns& columns, const Announcement& again);
    /// Rows with a coefficient, and those.
    struct Support {
        std::vector<std::size_t> which;
        std::vector<double> weight;
    };
    Support support() const;
    void sum_support(const Columns& columns);
    void sum_start();
    void activate_every_variable();
    std::vector<char> wanted_again(std::span<const std::size_t> rows,
                                   std::span<const double> change) const;
    void refresh_gradient();
    double general_gap(const Measure& measure) const;
    std::size_t count_quiet(const Measure& measure);
    void note_ways(std::size_t i);
    void note_all_ways();
    void note_members();
    void measure_groups(Measure& measure) const;
    void measure_general(Measure& measure) const;
    void rebuild_beta();
    void rebuild_objective();
    std::vector<std::size_t> rows_of(std::span<const std::size_t> variables) const;

    const SymmetricOperator<T>& k_;
    const CanonicalDual& form_;
    const DualSettings& settings_;
    Stopwatch clock_{};
    std::vector<double> u_;
    std::vector<double> beta_;
    std::vector<double> v_;
    std::vector<double> gradient_;  ///< of the active variables, as of the last measure
    std::vector<std::size_t> active_;
    std::vector<std::size_t> active_rows_;
    std::vector<Stale> stale_;
    std::vector<float> quiet_;  ///< how often in a row a variable could have been dropped
    ShutWays shut_;
    /// Active variables by group, where there is more than one.
    std::array<std::vector<std::size_t>, 3> members_;
    std::vector<double> sums_;
    std::vector<double> change_;     ///< scratch: Δβ by row
    std::vector<char> touched_;      ///< scratch: rows that have one
    std::vector<double> row_bound_;  ///< largest |α| of the variables of a row
    double objective_ = 0;
};

extern template class DualState<float>;
extern template class DualState<double>;

}  // namespace mercer
