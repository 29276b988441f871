// Does the optimum lie between dual and primal? It does where the kernel matrix K is positive
// semidefinite on the directions in which the coefficients β of the problem can move: for feasible
// z and α, with e >= 0 and K >= −e there,
//
//     f(z) = f(α) + f'(α)(z − α) + ½ (z − α)'K(z − α) >= f(α) + f'(α)(z − α) − ½ e ‖z − α‖²,
//
// and the least of the linear part over the box is the other end of the bracket
// (solver/dual.hpp). A kernel that is positive definite has e = 0 everywhere; a conditionally
// positive definite one wherever the coefficients have a given sum, as they have in every machine
// with a bias (001). Otherwise the whole sample is looked at, and where K has negative curvature
// the machine is a stationary point: nothing is known of how far it is from the optimum.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/learn/report.hpp"

namespace mercer MERCER_API {

/// How the coefficients of a problem can move.
enum class Directions {
    any,
    balanced,  ///< Σ d_i = 0
};
Directions directions_of(Task task, bool bias);

/// Tasks whose reports hold primal and dual value, as their entries say (learn/registry.hpp).
bool has_bracket(Task task);

/// by_rule or unknown, from the kernel alone (kernel/definiteness.hpp). Entries are taken to be
/// >= 0 for the kernels that are defined for such rows only.
Convexity convexity_by_rule(const Kernel& kernel, Directions directions);
/// The same for a machine of a task; that of the Adatron sees the kernel + 1
/// (learn/online/adatron.hpp).
Convexity convexity_by_rule(const Kernel& kernel, Task task, bool bias);

/// What was found out about K on one set of rows.
struct Curvature {
    Convexity convexity = Convexity::unknown;
    double least = 0;  ///< smallest eigenvalue on the directions, where it was looked for
    double error = 0;  ///< how far it may be off; 0: it was not looked for
};

/// The smallest eigenvalue of a symmetric matrix on the directions. Error: 4 n ε of the Frobenius
/// norm for the eigenvalue (LAPACK's backward error) and `rounding` of it for the entries.
/// `convexity` is on_sample for >= −error, else refuted.
Curvature curvature_of(Matrix<double> k, Directions directions, double rounding);

/// Beyond so many rows the eigenvalue is not looked for and the answer is `unknown`.
constexpr std::size_t most_rows_for_curvature = 2000;

/// Which rows of a sample: all of them, or some, in the order given.
class RowChoice {
   public:
    /// All rows.
    RowChoice() = default;
    /// The rows at these positions; none of them is no rows.
    explicit RowChoice(std::vector<std::size_t> some) : some_(std::move(some)) {}

    bool is_all() const { return !some_; }
    /// The positions, where it is not all.
    const std::vector<std::size_t>& some() const { return *some_; }
    /// How many, of a sample of so many rows.
    std::size_t size(std::size_t all) const { return some_ ? some_->size() : all; }
    /// Where the i-th of them stands in the sample.
    std::size_t operator[](std::size_t i) const { return some_ ? (*some_)[i] : i; }

    friend auto operator<=>(const RowChoice&, const RowChoice&) = default;

   private:
    std::optional<std::vector<std::size_t>> some_{};
};

/// One kernel on one sample; looks at each set of rows once.
class CurvatureTest {
   public:
    /// Nothing is computed before a question needs it. The kernel must be resolved.
    CurvatureTest(Kernel kernel, Rows x, Directions directions)
        : kernel_(std::move(kernel)),
          x_(std::move(x)),
          directions_(directions),
          by_rule_(convexity_by_rule(kernel_, directions_) == Convexity::by_rule) {}
    bool by_rule() const { return by_rule_; }
    /// `rows` are those of the problem. A training that was told to stop is not kept waiting: only
    /// the rule is asked. Throws Cancelled as `progress` says.
    Curvature operator()(const RowChoice& rows = {}, FitStatus status = FitStatus::converged,
                         const Progress& progress = {});

   private:
    Kernel kernel_;
    Rows x_;
    Directions directions_;
    bool by_rule_;
    std::map<RowChoice, Curvature> known_{};
};

/// Writes into a report what its bracket rests on. `reach` is the largest ½‖z − α‖² in units of the
/// objective, infinite where coefficients have no bound. Where e times the reach is no more than a
/// thousandth of the bracket, the primal value is raised by it and the bracket holds whatever the
/// sign of the smallest eigenvalue. Where it is more, a matrix whose eigenvalues cannot be told
/// from >= 0 keeps its bracket to rounding: it is exact for K + eI. Any other has no primal value
/// and no gap: they become NaN, and the dual value is that of a stationary point.
void settle_bracket(Report& report, const Curvature& curvature, double reach);

/// Throws InvalidInput, "`what` under kernels …", for a kernel that is refuted or not known.
void require_convex(const Curvature& curvature, const Kernel& kernel, Directions directions,
                    const std::string& what);

/// gap and relative_gap from primal and dual. In exact arithmetic the gap is a sum of terms that
/// are never negative (solver/dual.hpp), so what is below 0 by rounding is 0.
void set_gap(Report& report);

}  // namespace mercer
