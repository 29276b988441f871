
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/feature/geometry.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/svm/detail/subproblem.hpp"
#include "mercer/theory/alignment.hpp"

namespace mercer {
namespace {

/// The matrices of the kernels on the rows, normalised, and what they were divided by.
struct Stack {
    std::vector<Kernel> kernels{};  ///< resolved
    std::vector<Matrix<double>> matrices{};
    std::vector<double> unit{};

    std::size_t size() const { return kernels.size(); }
    std::size_t rows() const { return matrices.front().rows(); }
};

void check(const std::vector<Kernel>& kernels, const Dataset& data, const CombinationSettings& s) {
    require_range("C", s.C, s.C > 0, "greater than 0");
    require_range("tolerance", s.tolerance, s.tolerance > 0, "greater than 0");
    if (kernels.empty()) throw InvalidInput("there is no kernel to combine; give at least one");
    data.check();
    require_finite(data.x);
    if (data.y.empty()) throw InvalidInput("learning a kernel needs labels, and the data has none");
    const std::size_t n = data.size();
    const std::size_t matrices = kernels.size() + 2;
    if (n > std::size_t{1} << 20 || matrices * n * n * sizeof(double) > s.memory_bytes) {
        throw InvalidInput(std::to_string(matrices) + " matrices of " + std::to_string(n) +
                           " rows do not fit the memory allowed; raise it or take fewer rows");
    }
}

Stack stack_of(const std::vector<Kernel>& kernels, const Dataset& data,
               const CombinationSettings& s) {
    Stack stack;
    for (const Kernel& kernel : kernels) {
        const auto gram = make_gram<double>(kernel, data.x, data.feature_names, s.progress);
        Matrix<double> k(data.size(), data.size());
        gram.matrix(k.view(), s.progress);
        double unit = 1;
        if (s.normalise) {
            unit = 0;
            for (std::size_t i = 0; i < k.rows(); ++i) unit += k(i, i);
            unit /= static_cast<double>(k.rows());
            if (!(unit > 0)) {
                throw InvalidInput("the kernel " + gram.kernel().text() +
                                   " has no positive mean of k(x,x) on these rows and cannot be "
                                   "normalised");
            }
            for (double& value : k.values()) value /= unit;
        }
        stack.kernels.push_back(gram.kernel());
        stack.matrices.push_back(std::move(k));
        stack.unit.push_back(unit);
    }
    return stack;
}

/// Weights of the kernels as given from shares, and their sum as a kernel.
void finish(const Stack& stack, KernelCombination& c) {
    const double sum = std::accumulate(c.shares.begin(), c.shares.end(), 0.0);
    std::optional<Kernel> kernel;
    for (std::size_t k = 0; k < stack.size(); ++k) {
        c.shares[k] = sum > 0 ? c.shares[k] / sum : 0;
        // What weighs less than rounding is left out.
        if (c.shares[k] < 1e-9) c.shares[k] = 0;
        c.weights.push_back(c.shares[k] / stack.unit[k]);
        if (c.shares[k] == 0) continue;
        const Kernel part = c.weights[k] * stack.kernels[k];
        kernel = kernel ? *kernel + part : part;
    }
    if (kernel) c.kernel = Kernel::parse(kernel->text());
}

double frobenius(const Matrix<double>& a, const Matrix<double>& b) {
    std::vector<double> sums(a.rows());
    parallel_ranges(a.rows(), 64, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            sums[i] = std::inner_product(a.row(i).begin(), a.row(i).end(), b.row(i).begin(), 0.0);
        }
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// min ½ v'Mv − a'v over v >= 0, one coordinate after another.
struct NonNegative {
    const Matrix<double>& m;
    const std::vector<double>& a;
    std::vector<double> v;

    std::vector<double> product() const {
        std::vector<double> mv(v.size(), 0.0);
        for (std::size_t i = 0; i < v.size(); ++i) {
            for (std::size_t j = 0; j < v.size(); ++j) mv[i] += m(i, j) * v[j];
        }
        return mv;
    }
    void pass() {
        for (std::size_t i = 0; i < v.size(); ++i) {
            if (!(m(i, i) > 0)) continue;
            double rest = a[i];
            for (std::size_t j = 0; j < v.size(); ++j) rest -= j == i ? 0 : m(i, j) * v[j];
            v[i] = std::max(0.0, rest / m(i, i));
        }
    }
    /// f(v) + ½ τ² v'Mv with the least τ for which τMv >= a, the dual value of u = τv.
    double gap() const {
        const std::vector<double> mv = product();
        double tau = 0, quadratic = 0, linear_part = 0;
        for (std::size_t i = 0; i < v.size(); ++i) {
            quadratic += v[i] * mv[i];
            linear_part += a[i] * v[i];
            if (a[i] <= 0) continue;
            tau = std::max(tau, mv[i] > 0 ? a[i] / mv[i] : std::numeric_limits<double>::infinity());
        }
        return 0.5 * quadratic - linear_part + 0.5 * tau * tau * quadratic;
    }
};

/// The machine for a weighted sum of the kernels.
class WeightedMachine {
   public:
    WeightedMachine(const Stack& stack, const Dataset& data, double c) : stack_(stack) {
        const Classes classes = classes_of(data.y);
        if (classes.count() != 2) {
            throw InvalidInput("kernels are combined by the margin of two classes, and there are " +
                               std::to_string(classes.count()) + "; try alignment");
        }
        problem_.task = Task::svc;
        problem_.bound.assign(data.size(), c);
        for (const std::int32_t index : classes.index) {
            problem_.target.push_back(index == 0 ? 1.0 : -1.0);
        }
    }

    struct Values {
        double primal = 0;
        double lower = 0;             ///< Σ α − ½ max_k α'Q_kα
        std::vector<double> squares;  ///< α'Q_kα
    };

    Values solve(const std::vector<double>& mu, double tolerance) {
        const std::size_t n = stack_.rows();
        Matrix<double> sum(n, n);
        for (std::size_t k = 0; k < stack_.size(); ++k) {
            if (mu[k] == 0) continue;
            const std::vector<double>& from = stack_.matrices[k].values();
            parallel_ranges(from.size(), 1 << 16, [&](std::size_t first, std::size_t last) {
                for (std::size_t i = first; i < last; ++i) sum.values()[i] += mu[k] * from[i];
            });
        }
        const auto op = matrix_operator<double>(std::as_const(sum).view());
        DualSolution solution =
            solve_dual(*op, make_dual(problem_), {.tolerance = tolerance}, start_);
        const Learned learned = interpret(problem_, solution);
        const Report report = certify(problem_, learned, solution.row_gradient);
        start_ = solution.alpha;
        Values values{.primal = report.primal, .squares = squares_of(learned.beta)};
        const double alphas = std::accumulate(start_.begin(), start_.end(), 0.0);
        values.lower = alphas - 0.5 * *std::ranges::max_element(values.squares);
        return values;
    }

   private:
    std::vector<double> squares_of(const std::vector<double>& beta) const {
        std::vector<std::size_t> support;
        for (std::size_t i = 0; i < beta.size(); ++i) {
            if (beta[i] != 0) support.push_back(i);
        }
        std::vector<double> squares(stack_.size(), 0.0);
        parallel_for(stack_.size(), [&](std::size_t k) {
            for (const std::size_t i : support) {
                double row = 0;
                for (const std::size_t j : support) row += beta[j] * stack_.matrices[k](i, j);
                squares[k] += beta[i] * row;
            }
        });
        return squares;
    }

    const Stack& stack_;
    Subproblem problem_{};
    std::vector<double> start_{};
};

}  // namespace

KernelCombination combine_by_alignment(const std::vector<Kernel>& kernels, const Dataset& data,
                                       const CombinationSettings& settings) {
    check(kernels, data, settings);
    if (classes_of(data.y).count() < 2) {
        throw InvalidInput("alignment needs rows of two classes; all rows have one label");
    }
    Stack stack = stack_of(kernels, data, settings);
    Matrix<double> target = target_matrix(data.y);
    center_gram(target.view());
    for (Matrix<double>& k : stack.matrices) center_gram(k.view());
    const std::size_t count = stack.size();
    Matrix<double> m(count, count);
    std::vector<double> a(count);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            m(i, j) = m(j, i) = frobenius(stack.matrices[i], stack.matrices[j]);
        }
        a[i] = frobenius(stack.matrices[i], target);
    }
    if (std::ranges::none_of(a, [](double value) { return value > 0; })) {
        throw InvalidInput("no kernel agrees with the labels: every alignment is 0 or less");
    }
    KernelCombination c;
    NonNegative program{.m = m, .a = a, .v = std::vector<double>(count, 0.0)};
    // At the optimum v'Mv = a'v: the gap is judged against that.
    double size = 0;
    while (c.iterations < settings.iteration_limit && !c.converged) {
        program.pass();
        ++c.iterations;
        size = std::inner_product(a.begin(), a.end(), program.v.begin(), 0.0) / 2;
        c.gap = std::max(0.0, program.gap());
        c.relative_gap = size > 0 ? c.gap / size : std::numeric_limits<double>::infinity();
        c.history.push_back(c.relative_gap);
        c.converged = c.relative_gap <= std::min(settings.tolerance, 1e-9);
    }
    c.converged = c.relative_gap <= settings.tolerance;
    c.shares = program.v;
    const double length = std::sqrt(frobenius(target, target));
    // <K, T>/(‖K‖‖T‖) at the sum of the v_k K_k.
    double quadratic = 0;
    const std::vector<double> mv = program.product();
    for (std::size_t i = 0; i < count; ++i) quadratic += program.v[i] * mv[i];
    c.objective = quadratic > 0 ? 2 * size / (std::sqrt(quadratic) * length) : 0;
    finish(stack, c);
    return c;
}

KernelCombination combine_by_margin(const std::vector<Kernel>& kernels, const Dataset& data,
                                    const CombinationSettings& settings) {
    check(kernels, data, settings);
    const Stack stack = stack_of(kernels, data, settings);
    for (std::size_t k = 0; k < stack.size(); ++k) {
        CurvatureTest curvature(stack.kernels[k], data.x, Directions::balanced);
        require_convex(curvature(), stack.kernels[k], Directions::balanced,
                       "kernels are combined by the margin");
    }
    WeightedMachine machine(stack, data, settings.C);
    const std::size_t count = stack.size();
    std::vector<double> mu(count, 1.0 / static_cast<double>(count));
    KernelCombination c;
    double lower = -std::numeric_limits<double>::infinity();
    c.objective = std::numeric_limits<double>::infinity();
    while (c.iterations < settings.iteration_limit && !c.converged) {
        const auto values = machine.solve(mu, std::min(1e-3, settings.tolerance));
        ++c.iterations;
        lower = std::max(lower, values.lower);
        if (values.primal < c.objective) {
            c.objective = values.primal;
            c.shares = mu;
        }
        c.gap = std::max(0.0, c.objective - lower);
        c.relative_gap = c.objective > 0 ? c.gap / c.objective : 0;
        c.history.push_back(c.relative_gap);
        c.converged = c.relative_gap <= settings.tolerance;
        const std::string detail = "gap " + std::to_string(c.relative_gap);
        if (!keep_going(settings.progress,
                        {.task = "combining kernels", .fraction = -1, .detail = detail})) {
            break;
        }
        double sum = 0;
        for (std::size_t k = 0; k < count; ++k) {
            mu[k] *= std::sqrt(std::max(0.0, values.squares[k]));
            sum += mu[k];
        }
        if (!(sum > 0)) break;
        for (double& weight : mu) weight /= sum;
    }
    finish(stack, c);
    return c;
}

}  // namespace mercer
