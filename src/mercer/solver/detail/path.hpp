// Programs one after another over one operator, alike but for their bounds and their linear part:
// the values of C along which a search goes, and the like. Each begins where the one before ended.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "mercer/solver/dual.hpp"

namespace mercer {

template <class T>
class WorkingSet;

/// Where a solution begins, and what it may use of one before.
template <class T>
struct DualStart {
    std::span<const double> alpha{};  ///< empty: at zero
    std::span<const double> v{};      ///< Kβ of it, one number for each row; empty: not known
    WorkingSet<T>* kept = nullptr;    ///< of a program with the same rows, signs and equalities
};

template <class T>
DualSolution solve_dual_from(const SymmetricOperator<T>& k, const DualProblem& problem,
                             const DualSettings& settings, const DualStart<T>& from);

template <class T>
class DualPath {
   public:
    /// The operator must live as long as this, and give the same numbers each time it is asked.
    explicit DualPath(const SymmetricOperator<T>& k);
    ~DualPath();

    /// Goes on with another operator. Nothing is kept but memory, which costs more to touch for the
    /// first time than to fill.
    void begin(const SymmetricOperator<T>& k);

    /// The program begun at a multiple of the α found last, which is as good a start as its
    /// gradient is known: v is the same multiple. 0, and after `forget`: from zero. Rows, signs and
    /// coefficients of equalities must be those of the programs before.
    DualSolution solve(const DualProblem& problem, DualSettings settings, double multiple);
    void forget();
    /// Takes as the start of a first program, which has finite bounds from 0 on and at most one
    /// equality Σ ±α = 0, all of one sign at their upper bounds and those of the other as near to
    /// theirs as the equality allows: the solution itself where the box is small enough. Does
    /// nothing where f would be lower with a part of that.
    void begin_at_bounds(const DualProblem& problem);

    /// The largest multiple of the α found last that lowers f; infinite when all do.
    double best_multiple() const { return best_multiple_; }
    bool has_start() const { return !alpha_.empty(); }

   private:
    const SymmetricOperator<T>* k_;
    std::unique_ptr<WorkingSet<T>> kept_;
    std::vector<double> alpha_{}, v_{}, upper_{};
    std::size_t working_set_ = 0;  ///< that was large enough
    double best_multiple_ = 1;
};

extern template class DualPath<float>;
extern template class DualPath<double>;

}  // namespace mercer
