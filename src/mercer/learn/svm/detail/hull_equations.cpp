#include <limits>
#include <optional>

#include "mercer/learn/svm/detail/hull_equations.hpp"

namespace mercer {
namespace {

/// Larger systems are not tried: r³ flops, and the proof fails on them by its own rounding.
constexpr std::size_t most_equations = 400;
constexpr double unit = 0x1p-52;

/// B⁻¹ by elimination with row pivots, or nothing.
std::optional<Matrix<double>> inverse_of(Matrix<double> b) {
    const std::size_t n = b.rows();
    Matrix<double> r(n, n);
    for (std::size_t i = 0; i < n; ++i) r(i, i) = 1;
    for (std::size_t c = 0; c < n; ++c) {
        std::size_t pivot = c;
        for (std::size_t i = c + 1; i < n; ++i) {
            if (std::abs(b(i, c)) > std::abs(b(pivot, c))) pivot = i;
        }
        if (!(std::abs(b(pivot, c)) > 0)) return std::nullopt;
        for (std::size_t k = 0; k < n && pivot != c; ++k) {
            std::swap(b(c, k), b(pivot, k));
            std::swap(r(c, k), r(pivot, k));
        }
        for (std::size_t i = 0; i < n; ++i) {
            const double factor = i == c ? 0 : b(i, c) / b(c, c);
            if (factor == 0) continue;
            for (std::size_t k = 0; k < n; ++k) {
                b(i, k) -= factor * b(c, k);
                r(i, k) -= factor * r(c, k);
            }
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < n; ++k) r(i, k) /= b(i, i);
    }
    return r;
}

/// ‖I − R B‖ in the largest row sum, with all rounding counted: below 1, B is regular and every
/// solution of B v = c is within ‖R (c − B v̂)‖ / (1 − that) of v̂ (Krawczyk 1969, Rump 1983).
double defect(const Matrix<double>& r, const Matrix<double>& b) {
    const std::size_t n = r.rows();
    const double gamma = unit * static_cast<double>(n + 4);
    double worst = 0;
    for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < n; ++k) {
            double product = i == k ? -1 : 0, size = i == k ? 1 : 0;
            for (std::size_t l = 0; l < n; ++l) {
                product += r(i, l) * b(l, k);
                size += std::abs(r(i, l) * b(l, k));
            }
            sum += std::abs(product) + gamma * size;
        }
        worst = std::max(worst, sum * (1 + gamma));
    }
    return worst;
}

bool same_product(double a, double b, double c, double d) {
    ExactSum difference;
    difference.add_product(a, b);
    difference.add_product(-c, d);
    return difference.is_zero();
}

}  // namespace

double HullEquations::residual(std::size_t e, std::span<const double> w) const {
    ExactSum sum;
    for (std::size_t a = 0; a < w.size(); ++a) sum.add_product(matrix(e, a), w[a]);
    return sum.value();
}

HullEquations::Part HullEquations::regular_part() const {
    Matrix<double> a = matrix;
    // Columns of data come in units of their own.
    for (std::size_t e = 0; e < a.rows(); ++e) {
        double largest = 0;
        for (std::size_t c = 0; c < a.columns(); ++c)
            largest = std::max(largest, std::abs(a(e, c)));
        for (std::size_t c = 0; c < a.columns() && largest > 0; ++c) a(e, c) /= largest;
    }
    std::vector<std::size_t> row(a.rows()), column(a.columns());
    std::iota(row.begin(), row.end(), std::size_t{0});
    std::iota(column.begin(), column.end(), std::size_t{0});
    const std::size_t steps = std::min(a.rows(), a.columns() - 1);
    Part part;
    for (std::size_t s = 0; s < steps; ++s) {
        std::size_t e = s, c = s;
        for (std::size_t i = s; i < row.size(); ++i) {
            for (std::size_t k = s; k < column.size(); ++k) {
                if (std::abs(a(row[i], column[k])) <= std::abs(a(row[e], column[c]))) continue;
                e = i;
                c = k;
            }
        }
        std::swap(row[s], row[e]);
        std::swap(column[s], column[c]);
        const double pivot = a(row[s], column[s]);
        if (!(std::abs(pivot) > 1e-11)) break;
        part.equations.push_back(row[s]);
        part.unknowns.push_back(column[s]);
        for (std::size_t i = s + 1; i < row.size(); ++i) {
            const double factor = a(row[i], column[s]) / pivot;
            for (std::size_t k = s; k < column.size(); ++k) {
                a(row[i], column[k]) -= factor * a(row[s], column[k]);
            }
        }
    }
    return part;
}

/// Whether equation e is a multiple of one of the others, exactly: constant columns, copies, other
/// units.
bool HullEquations::depends(std::size_t e, std::span<const std::size_t> others) const {
    const std::size_t n = matrix.columns();
    return std::ranges::any_of(others, [&](std::size_t o) {
        std::size_t a = 0;
        while (a < n && matrix(o, a) == 0) ++a;
        if (a == n) return false;
        for (std::size_t b = 0; b < n; ++b) {
            if (!same_product(matrix(e, b), matrix(o, a), matrix(e, a), matrix(o, b))) return false;
        }
        return true;
    });
}

/// Whether some small whole numbers in the ratio of the weights solve all equations.
bool HullEquations::solved_exactly(std::span<const double> w) const {
    const double largest = *std::ranges::max_element(w);
    std::vector<double> whole(w.size());
    for (int k = 1; k <= 4096; ++k) {
        const auto nearly_whole = [&](double x) {
            const double scaled = k * x / largest;
            return scaled > 0.5 && std::abs(scaled - std::round(scaled)) < 1e-7;
        };
        if (!std::ranges::all_of(w, nearly_whole)) continue;
        for (std::size_t a = 0; a < w.size(); ++a) whole[a] = std::round(k * w[a] / largest);
        bool solved = true;
        for (std::size_t e = 0; e < matrix.rows() && solved; ++e) {
            ExactSum sum;
            for (std::size_t a = 0; a < w.size(); ++a) sum.add_product(matrix(e, a), whole[a]);
            solved = sum.is_zero();
        }
        if (solved) return true;
    }
    return false;
}

HullEquations::Solution HullEquations::positive_solution(std::span<const double> w) const {
    if (matrix.rows() > most_equations || matrix.columns() > most_equations || matrix.columns() < 2)
        return {};
    const Part part = regular_part();
    const std::size_t n = part.unknowns.size();
    Matrix<double> b(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < n; ++k) b(i, k) = matrix(part.equations[i], part.unknowns[k]);
    }
    const auto r = inverse_of(b);
    if (!r) return {};
    Solution solution{.weights = {w.begin(), w.end()}};
    std::vector<double> left(n);
    for (int round = 0; round < 4; ++round) {
        for (std::size_t i = 0; i < n; ++i) {
            left[i] = residual(part.equations[i], solution.weights);
        }
        if (round == 3) break;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k < n; ++k) {
                solution.weights[part.unknowns[i]] -= (*r)(i, k) * left[k];
            }
        }
    }
    if (!(*std::ranges::min_element(solution.weights) > 0)) return {};
    std::vector<char> taken(matrix.rows(), 0);
    for (const std::size_t e : part.equations) taken[e] = 1;
    bool complete = true;
    for (std::size_t e = 0; e < matrix.rows() && complete; ++e) {
        complete = taken[e] != 0 || depends(e, part.equations);
    }
    if (complete) {
        const double q = defect(*r, b);
        double reach = 0, least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < n; ++i) {
            double sum = 0;
            for (std::size_t k = 0; k < n; ++k) sum += std::abs((*r)(i, k) * left[k]);
            reach = std::max(reach, sum);
            least = std::min(least, solution.weights[part.unknowns[i]]);
        }
        const double slack = 1 + unit * static_cast<double>(n + 8);
        solution.proved = q < 1 && reach * slack / (1 - q) < least * (1 - 1e-12);
    }
    solution.proved = solution.proved || solved_exactly(solution.weights);
    return solution;
}

}  // namespace mercer
