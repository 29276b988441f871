// Linear programs with sparse columns,
//
//     minimise c'x   subject to   row_lower ≤ A x ≤ row_upper,   lower ≤ x ≤ upper,
//
// solved by the simplex method of CLP, which is opened at the first call. Prices y of the rows come
// with the solution, so that anyone can check it: for every y,
//
//     min c'x  ≥  Σ_i (y_i > 0 ? row_lower_i : row_upper_i) y_i + Σ_j (d_j > 0 ? lower_j : upper_j)
//     d_j
//
// with d = c − A'y. The right-hand side is `dual_objective`.
//
//   LinearProgram p;
//   const std::size_t row = p.add_row(1, infinite);       // x_0 + 2 x_1 ≥ 1
//   p.add_column(1.0, 0, infinite, {{row, 1.0}});
//   p.add_column(3.0, 0, infinite, {{row, 2.0}});
//   LinearSolution s = solve(p);
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/progress.hpp"

namespace mercer {

inline constexpr double infinite = std::numeric_limits<double>::infinity();

struct LinearProgram {
    /// An entry of a column: its row and its value.
    using Entry = std::pair<std::size_t, double>;

    std::vector<double> row_lower{};
    std::vector<double> row_upper{};
    std::vector<double> cost{};
    std::vector<double> lower{};
    std::vector<double> upper{};
    std::vector<std::size_t> starts{0};  ///< column j has the entries starts[j] … starts[j+1]−1
    std::vector<int> index{};
    std::vector<double> values{};

    std::size_t rows() const { return row_lower.size(); }
    std::size_t columns() const { return cost.size(); }

    /// Its number.
    std::size_t add_row(double low, double high);
    /// Rows must be there already. Throws InvalidInput for one that is not, for bounds in the wrong
    /// order and numbers that are not finite.
    std::size_t add_column(double price, double low, double high, std::span<const Entry> entries);
    std::size_t add_column(double price, double low, double high,
                           std::initializer_list<Entry> entries) {
        return add_column(price, low, high,
                          std::span<const Entry>(entries.begin(), entries.size()));
    }
};

enum class LinearStatus {
    optimal,
    infeasible,  ///< no x keeps all bounds
    unbounded,   ///< c'x has no least value
    time_limit,
    iteration_limit,
    cancelled,
    failed,  ///< the solver gave up: rounding
};
std::string describe(LinearStatus status);

struct LinearSettings {
    double tolerance = 1e-7;          ///< on bounds, of x and of prices
    double time_limit = 0;            ///< seconds; 0: none
    std::size_t iteration_limit = 0;  ///< 0: none
    Progress progress{};
};

struct LinearSolution {
    LinearStatus status = LinearStatus::optimal;
    std::vector<double> x{};
    std::vector<double> prices{};  ///< y, one a row
    double objective = 0;
    double dual_objective = 0;  ///< computed from the prices; −∞ when they prove nothing
    double infeasibility = 0;   ///< worst breach of a bound by x, computed from it
    std::size_t iterations = 0;
};

LinearSolution solve(const LinearProgram& program, const LinearSettings& settings = {});

/// A program that grows by columns and is solved again from where it was: column generation.
class GrowingProgram {
   public:
    explicit GrowingProgram(LinearProgram start);
    ~GrowingProgram();
    GrowingProgram(GrowingProgram&&) noexcept;
    GrowingProgram& operator=(GrowingProgram&&) noexcept;

    const LinearProgram& program() const;
    std::size_t add_column(double price, double low, double high,
                           std::span<const LinearProgram::Entry> entries);
    LinearSolution solve(const LinearSettings& settings = {});

   private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace mercer
