// The dual one variable at a time, where K = ΦΦ' and the rows of Φ are long but sparse: with
// w = Σ β_r φ_r at hand, the gradient of a variable costs one row, and so does its step (Hsieh,
// Chang, Lin, Keerthi and Sundararajan 2008). Equalities are kept by multipliers: what is minimised
// is
//
//     f(u) + λ'(A u − b) + ½ρ ‖A u − b‖²,     λ ← λ + ρ (A u − b) after each pass,
//
// which for a classifier is a penalty on the bias around the bias of the pass before (Hestenes
// 1969, Powell 1969; Rockafellar 1976). What passes find slowly are steps that variables of like
// rows have to take together: now and then those that are violated most are solved for by
// themselves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/base/operator.hpp"
#include "mercer/base/random.hpp"
#include "mercer/solver/detail/canonical.hpp"

namespace mercer {

template <class T>
class CoordinateDescent {
   public:
    /// Both must live as long as this. `u` is where to begin, inside the box.
    CoordinateDescent(const CanonicalDual& form, const ExplicitRows<T>& rows,
                      std::vector<double> u);

    /// One pass over the variables that may still move, in an order of its own. Those that are
    /// pushed against their bound harder than any was violated are left out until `begin_anew`.
    void pass();
    void begin_anew();
    /// Minimises over some dozens of the variables that may still move, those that are violated
    /// most, as the others are.
    void solve_worst();

    /// Of the optimality conditions, as the last pass met them, the equalities' part included.
    double violation() const { return violation_; }
    bool all_active() const { return active_.size() == variables_.size(); }
    std::uint64_t steps() const { return steps_; }
    std::uint64_t entries() const { return entries_; }  ///< of rows, read so far
    double objective() const;
    std::vector<double> u() const;

   private:
    /// All that a step needs to know of its variable, in one line of the processor's cache: a pass
    /// goes over the variables in random order, and would wait for each line in turn.
    struct alignas(64) Variable {
        double u, lower, upper;
        double p, sign;
        double curvature;
        std::size_t first;  ///< entry of its row
        std::size_t size;   ///< of its row, in entries
    };
    /// An entry of a sparse row.
    struct Entry {
        T value;
        std::uint32_t column;
    };

    /// A variable among those solved for together.
    struct Violated {
        std::uint32_t variable;
        double gradient;
        double moved = 0;
    };

    double product(const Variable& v, const double* w) const;
    void add(const Variable& v, double weight, double* w) const;
    double gradient(std::size_t i, const std::array<double, 2>& a) const;
    void ask_for(std::size_t place) const;
    std::vector<Violated> find_worst();
    Matrix<double> matrix_of(const std::vector<Violated>& some);
    void move(std::size_t i, double to);

    const CanonicalDual& form_;
    const ExplicitRows<T>& rows_;
    std::vector<Variable> variables_;
    std::vector<Entry> sparse_{};  ///< the entries of sparse rows, value and column side by side
    std::vector<double> w_;
    std::vector<std::uint32_t> active_;
    std::array<double, 2> lambda_{}, missed_{};  ///< λ and A u − b
    double penalty_ = 0;                         ///< ρ
    double highest_ = 0, lowest_ = 0;            ///< projected gradients of the last pass
    double violation_ = 0;
    std::uint64_t steps_ = 0, entries_ = 0;
    Random random_{1};
};

extern template class CoordinateDescent<float>;
extern template class CoordinateDescent<double>;

}  // namespace mercer
