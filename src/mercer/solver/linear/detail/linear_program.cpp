#include "mercer/solver/linear/detail/linear_program.hpp"

#include <coin/Clp_C_Interface.h>

#include <algorithm>
#include <cmath>

#include "mercer/base/detail/library.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/base/text.hpp"

#define MERCER_CLP(name) MERCER_LIBRARY_FUNCTION(clp_library(), name)

namespace mercer {
namespace {

const Library& clp_library() {
    static const Library library({MERCER_CLP_LIBRARY, "libClp.so.1"},
                                 "linear programs; install CLP (Debian: coinor-libclp1)");
    return library;
}

double clp_bound(double value) {
    return std::isinf(value) ? std::copysign(1e60, value) : value;  // beyond 1e30 means none
}

void check_bounds(double low, double high, const char* what) {
    if (low <= high && low < infinite && high > -infinite) return;  // also refuses NaN
    throw InvalidInput(std::string("the bounds of a ") + what + " must be in order, found " +
                       format_number(low) + " and " + format_number(high));
}

/// The best value the prices prove, and 0 · ∞ counted as 0.
double dual_value(const LinearProgram& p, std::span<const double> prices, double tolerance) {
    const auto term = [&](double price, double low, double high) {
        const double bound = price > 0 ? low : high;
        if (std::isinf(bound)) return std::fabs(price) <= tolerance ? 0.0 : -infinite;
        return price * bound;
    };
    double sum = 0;
    for (std::size_t i = 0; i < p.rows(); ++i) {
        sum += term(prices[i], p.row_lower[i], p.row_upper[i]);
    }
    for (std::size_t j = 0; j < p.columns(); ++j) {
        double reduced = p.cost[j];
        for (std::size_t e = p.starts[j]; e < p.starts[j + 1]; ++e) {
            reduced -= prices[static_cast<std::size_t>(p.index[e])] * p.values[e];
        }
        sum += term(reduced, p.lower[j], p.upper[j]);
    }
    return sum;
}

double worst_breach(const LinearProgram& p, std::span<const double> x) {
    std::vector<double> activity(p.rows(), 0.0);
    double worst = 0;
    for (std::size_t j = 0; j < p.columns(); ++j) {
        worst = std::max({worst, p.lower[j] - x[j], x[j] - p.upper[j]});
        for (std::size_t e = p.starts[j]; e < p.starts[j + 1]; ++e) {
            activity[static_cast<std::size_t>(p.index[e])] += p.values[e] * x[j];
        }
    }
    for (std::size_t i = 0; i < p.rows(); ++i) {
        worst = std::max({worst, p.row_lower[i] - activity[i], activity[i] - p.row_upper[i]});
    }
    return worst;
}

}  // namespace

std::size_t LinearProgram::add_row(double low, double high) {
    check_bounds(low, high, "row");
    row_lower.push_back(low);
    row_upper.push_back(high);
    return rows() - 1;
}

std::size_t LinearProgram::add_column(double price, double low, double high,
                                      std::span<const Entry> entries) {
    check_bounds(low, high, "variable");
    if (!std::isfinite(price)) throw InvalidInput("the cost of a variable must be finite");
    for (const auto& [row, value] : entries) {
        if (row >= rows() || !std::isfinite(value)) {
            throw InvalidInput("an entry of a linear program is " + format_number(value) +
                               " in row " + std::to_string(row) + " of " + std::to_string(rows()) +
                               "; it must be finite and its row there");
        }
    }
    for (const auto& [row, value] : entries) {
        index.push_back(static_cast<int>(row));
        values.push_back(value);
    }
    starts.push_back(index.size());
    cost.push_back(price);
    lower.push_back(low);
    upper.push_back(high);
    return columns() - 1;
}

std::string describe(LinearStatus status) {
    switch (status) {
        case LinearStatus::optimal: return "optimal";
        case LinearStatus::infeasible: return "infeasible";
        case LinearStatus::unbounded: return "unbounded";
        case LinearStatus::time_limit: return "stopped at the time limit";
        case LinearStatus::iteration_limit: return "stopped at the iteration limit";
        case LinearStatus::cancelled: return "stopped early on request";
        default: return "stopped: rounding allows no further progress";
    }
}

struct GrowingProgram::State {
    LinearProgram program;
    Clp_Simplex* model = nullptr;
    bool solved = false;   ///< there is a basis to go on from
    std::size_t told = 0;  ///< columns that the model knows

    explicit State(LinearProgram start) : program(std::move(start)) {
        model = MERCER_CLP(Clp_newModel)();
        MERCER_CLP(Clp_setLogLevel)(model, 0);
        std::vector<CoinBigIndex> places(program.starts.size());
        std::ranges::transform(program.starts, places.begin(),
                               [](std::size_t s) { return static_cast<CoinBigIndex>(s); });
        MERCER_CLP(Clp_loadProblem)
        (model, static_cast<int>(program.columns()), static_cast<int>(program.rows()),
         places.data(), program.index.data(), program.values.data(), bounds(program.lower).data(),
         bounds(program.upper).data(), program.cost.data(), bounds(program.row_lower).data(),
         bounds(program.row_upper).data());
        told = program.columns();
    }
    ~State() {
        if (model != nullptr) MERCER_CLP(Clp_deleteModel)(model);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    static std::vector<double> bounds(const std::vector<double>& values) {
        std::vector<double> result(values.size());
        std::ranges::transform(values, result.begin(), clp_bound);
        return result;
    }

    /// New columns, all at once: the model copies its whole matrix each time it gets any.
    void tell() {
        const std::size_t all = program.columns();
        if (told == all) return;
        const std::size_t begin = program.starts[told];
        std::vector<CoinBigIndex> places;
        for (std::size_t j = told; j <= all; ++j) {
            places.push_back(static_cast<CoinBigIndex>(program.starts[j] - begin));
        }
        const auto fresh = [&](const std::vector<double>& values) {
            return bounds({values.begin() + static_cast<std::ptrdiff_t>(told), values.end()});
        };
        MERCER_CLP(Clp_addColumns)
        (model, static_cast<int>(all - told), fresh(program.lower).data(),
         fresh(program.upper).data(), program.cost.data() + told, places.data(),
         program.index.data() + begin, program.values.data() + begin);
        told = all;
    }

    /// A slice of the work; CLP's status.
    int advance(double seconds) {
        MERCER_CLP(Clp_setMaximumSeconds)(model, seconds);
        // After new columns the old basis is still primal feasible; at first the dual simplex is
        // the better one for covering problems, whose slack basis is dual feasible.
        if (solved) {
            MERCER_CLP(Clp_primal)(model, 0);
        } else {
            MERCER_CLP(Clp_dual)(model, 0);
        }
        return MERCER_CLP(Clp_status)(model);
    }
};

GrowingProgram::GrowingProgram(LinearProgram start)
    : state_(std::make_unique<State>(std::move(start))) {}
GrowingProgram::~GrowingProgram() = default;
GrowingProgram::GrowingProgram(GrowingProgram&&) noexcept = default;
GrowingProgram& GrowingProgram::operator=(GrowingProgram&&) noexcept = default;

const LinearProgram& GrowingProgram::program() const {
    return state_->program;
}

std::size_t GrowingProgram::add_column(double price, double low, double high,
                                       std::span<const LinearProgram::Entry> entries) {
    return state_->program.add_column(price, low, high, entries);
}

LinearSolution GrowingProgram::solve(const LinearSettings& settings) {
    const Run run(settings.progress, settings.time_limit);
    State& s = *state_;
    s.tell();
    MERCER_CLP(Clp_setPrimalTolerance)(s.model, settings.tolerance);
    MERCER_CLP(Clp_setDualTolerance)(s.model, settings.tolerance);
    LinearSolution result;
    constexpr double slice = 0.5;  // seconds between questions whether to go on
    int status = 3;
    while (status == 3) {
        if (!run.goes_on({"linear program", -1})) {
            result.status = run.out_of_time() ? LinearStatus::time_limit : LinearStatus::cancelled;
            break;
        }
        if (settings.iteration_limit > 0) {
            if (result.iterations >= settings.iteration_limit) {
                result.status = LinearStatus::iteration_limit;
                break;
            }
            MERCER_CLP(Clp_setMaximumIterations)
            (s.model, static_cast<int>(std::min<std::size_t>(
                          settings.iteration_limit - result.iterations, 1'000'000'000)));
        }
        status = s.advance(slice);
        result.iterations +=
            static_cast<std::size_t>(std::max(0, MERCER_CLP(Clp_numberIterations)(s.model)));
    }
    if (status != 3) {
        s.solved = status == 0;
        result.status = status == 0   ? LinearStatus::optimal
                        : status == 1 ? LinearStatus::infeasible
                        : status == 2 ? LinearStatus::unbounded
                                      : LinearStatus::failed;
    }
    const double* x = MERCER_CLP(Clp_primalColumnSolution)(s.model);
    const double* y = MERCER_CLP(Clp_dualRowSolution)(s.model);
    result.x.assign(x, x + s.program.columns());
    result.prices.assign(y, y + s.program.rows());
    for (std::size_t j = 0; j < s.program.columns(); ++j) {
        result.objective += s.program.cost[j] * result.x[j];
    }
    result.dual_objective = dual_value(s.program, result.prices, 10 * settings.tolerance);
    result.infeasibility = worst_breach(s.program, result.x);
    return result;
}

LinearSolution solve(const LinearProgram& program, const LinearSettings& settings) {
    return GrowingProgram(program).solve(settings);
}

}  // namespace mercer
