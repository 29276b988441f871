#include "mercer/solver/detail/canonical.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer {
namespace {

using Column = std::array<double, 2>;

constexpr double same_direction = 1e-12;  ///< sine of an angle taken for zero
constexpr double same_length = 1e-13;     ///< relative difference of lengths taken for zero

double length(const Column& a) {
    return std::hypot(a[0], a[1]);
}

double cross(const Column& a, const Column& b) {
    return a[0] * b[1] - a[1] * b[0];
}

void check_sizes(const DualProblem& problem) {
    const std::size_t n = problem.size();
    const auto expect = [&](std::size_t found, bool may_be_empty, const char* what) {
        if (found == n || (may_be_empty && found == 0)) return;
        throw InvalidInput(std::string("dual problem: ") + what + " has " + std::to_string(found) +
                           " entries; expected " + std::to_string(n) + ", one for each entry of p");
    };
    expect(problem.lower.size(), false, "lower");
    expect(problem.upper.size(), false, "upper");
    expect(problem.row.size(), true, "row");
    expect(problem.sign.size(), true, "sign");
    if (problem.equalities.size() > 2) {
        throw InvalidInput("dual problem: " + std::to_string(problem.equalities.size()) +
                           " equalities; this solver takes 0, 1 or 2");
    }
    for (const Equality& equality : problem.equalities) {
        expect(equality.coefficients.size(), false, "an equality");
        if (!std::isfinite(equality.value)) {
            throw InvalidInput("dual problem: the value of an equality is " +
                               format_number(equality.value) + "; expected a finite number");
        }
    }
}

void check_variable(const DualProblem& problem, std::size_t i, std::size_t rows) {
    const auto fail = [&](const std::string& found, const std::string& expected) {
        throw InvalidInput("dual problem, variable " + std::to_string(i) + ": " + found +
                           "; expected " + expected);
    };
    if (!std::isfinite(problem.p[i])) {
        fail("p is " + format_number(problem.p[i]), "a finite number");
    }
    const double low = problem.lower[i];
    const double high = problem.upper[i];
    if (!(low <= high) || low == HUGE_VAL || high == -HUGE_VAL) {
        fail("bounds [" + format_number(low) + ", " + format_number(high) + "]",
             "lower <= upper, lower < infinity, upper > -infinity");
    }
    if (!problem.row.empty() && problem.row[i] >= rows) {
        fail("row " + std::to_string(problem.row[i]),
             "a row of the operator, below " + std::to_string(rows));
    }
    if (!problem.sign.empty() && problem.sign[i] != 1 && problem.sign[i] != -1) {
        fail("sign " + std::to_string(static_cast<int>(problem.sign[i])), "+1 or -1");
    }
    for (const Equality& equality : problem.equalities) {
        if (!std::isfinite(equality.coefficients[i])) {
            fail("equality coefficient " + format_number(equality.coefficients[i]),
                 "a finite number");
        }
    }
}

std::vector<Column> columns_of(const DualProblem& problem) {
    std::vector<Column> columns(problem.size());
    for (std::size_t k = 0; k < problem.equalities.size(); ++k) {
        const std::vector<double>& a = problem.equalities[k].coefficients;
        for (std::size_t i = 0; i < a.size(); ++i) columns[i][k] = a[i];
    }
    return columns;
}

/// The lines on which the columns lie: each variable's line (0 for a zero column), and the first
/// column met on each. Stops counting at three.
struct Lines {
    std::vector<std::uint8_t> line;
    std::vector<Column> direction;
    bool uniform = true;  ///< one length on each line
};

Lines find_lines(const std::vector<Column>& columns) {
    Lines lines;
    lines.line.assign(columns.size(), 0);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const double size = length(columns[i]);
        if (size == 0) continue;
        std::size_t g = 0;
        while (g < lines.direction.size() &&
               std::abs(cross(columns[i], lines.direction[g])) >
                   same_direction * size * length(lines.direction[g])) {
            ++g;
        }
        if (g == lines.direction.size()) lines.direction.push_back(columns[i]);
        if (lines.direction.size() > 2) return lines;
        const double first = length(lines.direction[g]);
        if (std::abs(size - first) > same_length * first) lines.uniform = false;
        lines.line[i] = static_cast<std::uint8_t>(g + 1);
    }
    return lines;
}

/// Equalities all of whose columns are multiples of `direction` (or zero) ask b to be one as well.
std::optional<Infeasibility> contradiction_of(const Column& direction, const Column& b,
                                              std::size_t equalities) {
    const double size = length(direction);
    const Column across =
        size == 0 ? Column{b[0], b[1]} : Column{-direction[1] / size, direction[0] / size};
    const double wanted = across[0] * b[0] + across[1] * b[1];
    if (std::abs(wanted) <= 1e-12 * length(b)) return std::nullopt;
    Infeasibility why;
    why.combination.assign(across.begin(),
                           across.begin() + static_cast<std::ptrdiff_t>(equalities));
    why.wanted = wanted;
    why.explanation = equalities == 1 || size == 0
                          ? "an equality has no nonzero coefficient but the value " +
                                format_number(b[0] != 0 ? b[0] : b[1])
                          : "the two equalities have proportional coefficients but values " +
                                format_number(b[0]) + " and " + format_number(b[1]) +
                                ", which are not in that proportion";
    return why;
}

void use_groups(CanonicalDual& form, const Lines& lines, const std::vector<Column>& columns,
                const Column& b, std::size_t given) {
    form.equalities = lines.direction.size();
    form.group = lines.line;
    for (std::size_t i = 0; i < form.variables; ++i) {
        if (form.group[i] == 0) continue;
        const Column& d = lines.direction[form.group[i] - 1];
        if (columns[i][0] * d[0] + columns[i][1] * d[1] < 0) form.flip[i] = -1;
    }
    // Σ_g d_g S_g = b gives the sums S_g that the groups keep, and λ'd_g = μ_g the multipliers.
    if (form.equalities == 1) {
        const Column d = lines.direction[0];
        const double square = d[0] * d[0] + d[1] * d[1];
        form.target[0] = (d[0] * b[0] + d[1] * b[1]) / square;
        for (std::size_t k = 0; k < given; ++k) form.basis[k][0] = d[k] / square;
    } else if (form.equalities == 2) {
        const Column d = lines.direction[0];
        const Column e = lines.direction[1];
        const double determinant = cross(d, e);
        form.target = {cross(b, e) / determinant, cross(d, b) / determinant};
        form.basis = {
            {{e[1] / determinant, -d[1] / determinant}, {-e[0] / determinant, d[0] / determinant}}};
    }
}

void use_general(CanonicalDual& form, const Lines& lines, std::vector<Column> columns,
                 const Column& b) {
    form.general = true;
    form.group.assign(form.variables, 0);
    if (lines.direction.size() == 1) {  // one line, several lengths: a single equality
        const Column d = lines.direction[0];
        double largest = 0;
        for (Column& a : columns) {
            a = {(a[0] * d[0] + a[1] * d[1]) / length(d), 0};
            largest = std::max(largest, std::abs(a[0]));
        }
        for (Column& a : columns) a[0] /= largest;
        form.equalities = 1;
        form.target[0] = (b[0] * d[0] + b[1] * d[1]) / length(d) / largest;
        for (std::size_t k = 0; k < 2; ++k) form.basis[k][0] = d[k] / length(d) / largest;
    } else {
        form.equalities = 2;
        for (std::size_t k = 0; k < 2; ++k) {
            double largest = 0;
            for (const Column& a : columns) largest = std::max(largest, std::abs(a[k]));
            for (Column& a : columns) a[k] /= largest;
            form.target[k] = b[k] / largest;
            form.basis[k][k] = 1 / largest;
        }
    }
    form.column = std::move(columns);
}

}  // namespace

void check_problem(const DualProblem& problem, std::size_t rows) {
    check_sizes(problem);
    if (problem.row.empty() && problem.size() > rows) {
        throw InvalidInput("dual problem: " + std::to_string(problem.size()) +
                           " variables for an operator of " + std::to_string(rows) +
                           " rows; say in `row` which row each variable has");
    }
    for (std::size_t i = 0; i < problem.size(); ++i) check_variable(problem, i, rows);
}

CanonicalDual canonical_form(const DualProblem& problem, std::size_t rows,
                             std::optional<Infeasibility>& contradiction) {
    CanonicalDual form;
    const std::size_t n = problem.size();
    form.variables = n;
    form.rows = rows;
    form.flip.assign(n, 1.0);
    const std::vector<Column> columns = columns_of(problem);
    const std::size_t given = problem.equalities.size();
    form.given = given;
    Column b{};
    for (std::size_t k = 0; k < given; ++k) b[k] = problem.equalities[k].value;
    const Lines lines = find_lines(columns);
    if (given > 0 && lines.direction.size() < 2) {
        const Column direction = lines.direction.empty() ? Column{} : lines.direction[0];
        if (given == 2 || lines.direction.empty()) {
            contradiction = contradiction_of(direction, b, given);
        }
    }
    if (lines.direction.size() <= 2 && lines.uniform) {
        use_groups(form, lines, columns, b, given);
    } else {
        use_general(form, lines, columns, b);
    }
    form.row.resize(n);
    form.sign.resize(n);
    form.p.resize(n);
    form.lower.resize(n);
    form.upper.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const bool flipped = form.flip[i] < 0;
        form.row[i] = problem.row.empty() ? i : problem.row[i];
        form.sign[i] = form.flip[i] * (problem.sign.empty() ? 1.0 : problem.sign[i]);
        form.p[i] = form.flip[i] * problem.p[i];
        form.lower[i] = flipped ? -problem.upper[i] : problem.lower[i];
        form.upper[i] = flipped ? -problem.lower[i] : problem.upper[i];
        if (!std::isfinite(form.lower[i]) || !std::isfinite(form.upper[i])) {
            form.has_infinite_bounds = true;
        }
    }
    return form;
}

}  // namespace mercer
