#include "mercer/theory/certificate_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/cells/detail/for_cells.hpp"
#include "mercer/learn/risk/regions.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

constexpr double most_infeasibility = 1e-6;
constexpr double gap_slack = 1e-4;
constexpr double dual_slack = 1e-3;

std::string number(double value) {
    // Three digits are enough for a message.
    const double size = std::abs(value);
    if (size == 0 || !std::isfinite(value)) return size == 0 ? "0" : "infinite";
    const double unit = std::pow(10, std::floor(std::log10(size)) - 2);
    return format_number(std::round(value / unit) * unit);
}

/// Of the bracket, or of the dual value where there is none.
double size_of(const Report& r) {
    return std::max(r.is_bracketed() ? std::abs(r.primal) : 0, std::abs(r.dual));
}

/// Largest k(x, x) among the support vectors: what an expansion of nothing but its own square says.
double largest_square(const Expansion& expansion) {
    if (expansion.size() == 0) return 0;
    Expansion self = expansion;
    self.points = expansion.points.select(std::array<std::size_t, 1>{0});
    self.coefficients = Matrix<double>(1, 1);
    self.bias = {0};
    self.self = 1;
    const Matrix<double> squares = Evaluator(self, true)(expansion.points);
    return *std::ranges::max_element(squares.values());
}

/// 001 states the ν-property for rows that count alike in a tube of one width.
bool has_nu_property(const Model& model, const Dataset& data, const Report& claimed) {
    const auto is_one = [](double weight) { return weight == 1; };
    const bool by_c = model.task() == Task::svdd && model.trained().C > 0;
    return claimed.nu > 0 && !by_c && model.trained().tube.empty() && !model.trained().tube_given &&
           std::ranges::all_of(model.trained().class_weights, is_one) &&
           std::ranges::all_of(data.weights, is_one);
}

void check_nu(CheckedReport& c) {
    const auto rows = static_cast<double>(std::max<std::size_t>(c.found.rows, 1));
    // α moves by the infeasibility that is allowed, and a row counts whole.
    const double room = 1 / rows + most_infeasibility;
    if (c.found.fraction_errors <= c.claimed.nu + room &&
        c.claimed.nu <= c.found.fraction_support + room) {
        return;
    }
    c.broken.push_back("the nu-property fails: " + number(c.found.fraction_errors) +
                       " of the rows are margin errors and " + number(c.found.fraction_support) +
                       " support vectors, around nu = " + number(c.claimed.nu));
}

void compare(CheckedReport& c, double slack, double beta_sum) {
    const Report& found = c.found;
    const auto larger = [&](const char* what, double value, double allowed) {
        if (value <= allowed) return;
        c.broken.push_back(std::string(what) + " is " + number(value) + ", allowed are " +
                           number(allowed));
    };
    larger("the KKT violation", found.kkt_violation, c.allowed_violation);
    if (found.is_bracketed()) {
        larger("the relative gap", found.relative_gap, c.allowed_gap);
        larger("minus the relative gap", -found.relative_gap, most_infeasibility);
    } else if (c.claimed.is_bracketed()) {
        c.broken.push_back(
            "the optimum is claimed to lie between dual and primal, which holds where the kernel "
            "matrix has no negative curvature: here that is " +
            describe(found.convexity));
    }
    larger("the breach of a bound or equality", found.infeasibility, most_infeasibility);
    const double size = size_of(found);
    const double off = std::abs(found.dual - c.claimed.dual);
    if (!(off <= dual_slack * size + slack * beta_sum)) {
        c.broken.push_back("the dual value is " + number(found.dual) + ", claimed was " +
                           number(c.claimed.dual));
    }
    if (found.support_vectors() != c.claimed.support_vectors()) {
        c.broken.push_back("there are " + std::to_string(found.support_vectors()) +
                           " support vectors, claimed were " +
                           std::to_string(c.claimed.support_vectors()));
    }
    if (c.has_nu_property) check_nu(c);
}

/// Where there is no machine the certificate is the bound on margins. What is left of a distance
/// that is rounding may come out otherwise.
void compare_hulls(CheckedReport& c) {
    if (c.found.margin_bound <= 2 * c.claimed.margin_bound) return;
    c.broken.push_back(c.claimed.margin_bound > 0
                           ? "by the weights no margin is above " + number(c.found.margin_bound) +
                                 ", claimed was " + number(c.claimed.margin_bound)
                           : "the weights do not prove that the hulls meet, only that no margin "
                             "is above " +
                                 number(c.found.margin_bound));
}

/// Nested regions: the bracket, and what the table says of the shares inside.
CheckedReport check_regions(const Model& model, const Dataset& data, const Progress& progress) {
    CheckedReport c{.claimed = model.reports().front(),
                    .found = recompute_regions(model, data, progress)};
    const double claimed_gap = c.claimed.is_bracketed() ? c.claimed.relative_gap : 0;
    c.allowed_gap = 2 * std::max(0.0, claimed_gap) + gap_slack;
    compare(c, 0, 0);
    const Matrix<double>& levels = model.extras().find<NestedLevels>()->levels;
    for (std::size_t j = 0; j < levels.rows(); ++j) {
        const double inside = c.found.figures.at("inside_" + std::to_string(j + 1));
        if (std::abs(inside - levels(j, 2)) <= 1e-9 && inside >= levels(j, 0) - 1e-9) continue;
        c.broken.push_back("the region of the share " + number(levels(j, 0)) + " holds " +
                           number(inside) + " of the rows, claimed were " + number(levels(j, 2)));
    }
    return c;
}

/// A cell that has nothing to tell apart claims no more than that, and one that was not learnt
/// nothing at all.
std::vector<CheckedReport> check_constant(const Cell& cell, const CellProblem& problem) {
    if (cell.state != CellState::one_class) return {};
    CheckedReport c;
    c.claimed.rows = cell.rows;
    c.claimed.convexity = c.found.convexity = Convexity::by_rule;
    c.found.rows = problem.data.size();
    if (classes_of(problem.data.y).count() > 1) {
        c.broken.push_back("its rows are said to be of one class, and are of several");
    }
    return {std::move(c)};
}

std::vector<CheckedReport> check_cell(const Cell& cell, const CellProblem& problem,
                                      const Progress& progress) {
    std::vector<CheckedReport> checks =
        cell.model ? check_certificate(problem.model, problem.data, progress)
                   : check_constant(cell, problem);
    for (CheckedReport& c : checks) {
        c.claimed.name = "cell " + std::to_string(problem.cell + 1) +
                         (c.claimed.name.empty() ? "" : ": " + c.claimed.name);
        if (problem.data.size() == cell.rows) continue;
        c.broken.push_back("the cell has " + std::to_string(problem.data.size()) +
                           " rows, claimed were " + std::to_string(cell.rows));
    }
    return checks;
}

/// What the model says of all cells together must be what it says of them one by one.
void check_sums(const Model& model, std::vector<CheckedReport>& checks) {
    ModelParts summed = model.parts();
    set_cells(summed, *cells_of(model));
    for (std::size_t o = 0; o < summed.reports.size(); ++o) {
        CheckedReport c{.claimed = model.reports().at(o), .found = summed.reports[o]};
        c.allowed_gap = c.found.relative_gap;
        c.allowed_violation = c.found.kkt_violation;
        const auto differ = [](double a, double b) {
            return std::abs(a - b) > 1e-9 * std::max(std::abs(a), std::abs(b));
        };
        if (differ(c.claimed.primal, c.found.primal) || differ(c.claimed.dual, c.found.dual) ||
            differ(c.claimed.relative_gap, c.found.relative_gap)) {
            c.broken.push_back("it is not the sum of those of the cells");
        }
        if (c.broken.empty()) continue;
        c.claimed.name = "all cells" + (c.claimed.name.empty() ? "" : ": " + c.claimed.name);
        checks.push_back(std::move(c));
    }
}

std::vector<CheckedReport> check_cells(const Model& model, const Dataset& data,
                                       const Progress& progress) {
    const CellProblems problems(model, data);
    const Cells& cells = *cells_of(model);
    if (model.reports().size() != model.expansion().outputs()) {
        throw InvalidInput("the model carries no certificate, so there is nothing to verify");
    }
    std::vector<std::vector<CheckedReport>> found(problems.size());
    for_cells(problems.size(), progress,
              [&](std::size_t k) { found[k] = check_cell(cells.all[k], problems[k], {}); });
    std::vector<CheckedReport> checks;
    for (auto& own : found) std::ranges::move(own, std::back_inserter(checks));
    check_sums(model, checks);
    return checks;
}

}  // namespace

std::vector<CheckedReport> check_certificate(const Model& model, const Dataset& data,
                                             const Progress& progress) {
    if (model.task() == regions_task) return {check_regions(model, data, progress)};
    if (cells_of(model)) return check_cells(model, data, progress);
    if (is_svm(model.task()) && model.reports().size() != model.expansion().outputs()) {
        throw InvalidInput(
            "the model carries no certificate (files of LIBSVM do not), so there is nothing to "
            "verify");
    }
    const std::vector<Report> found = recompute_reports(model, data, progress);
    const double rounding = model.double_precision() ? 0x1p-50 : 0x1p-22;
    const double square = largest_square(model.expansion());
    std::vector<CheckedReport> result;
    for (std::size_t output = 0; output < found.size(); ++output) {
        CheckedReport c{.claimed = model.reports()[output], .found = found[output]};
        if (has_no_machine(c.claimed.status)) {
            compare_hulls(c);
            result.push_back(std::move(c));
            continue;
        }
        double beta_sum = 0;
        for (const double beta : model.expansion().coefficients.row(output)) {
            beta_sum += std::abs(beta);
        }
        const double slack = rounding * beta_sum * square;
        const double tolerance = model.trained().tolerance;
        const bool to_tolerance =
            c.claimed.status == FitStatus::converged && c.claimed.kkt_violation <= tolerance;
        c.allowed_violation = 2 * (to_tolerance ? tolerance : c.claimed.kkt_violation) + slack;
        // A value that is off by the slack costs C times that in each row's penalty.
        const double size = size_of(c.found);
        const double penalty = model.trained().C * slack * static_cast<double>(c.found.rows);
        const double claimed_gap = c.claimed.is_bracketed() ? c.claimed.relative_gap : 0;
        c.allowed_gap = 2 * std::max(0.0, claimed_gap) + gap_slack +
                        (size > 0 && std::isfinite(size) ? penalty / size : 0);
        c.has_nu_property = has_nu_property(model, data, c.claimed);
        compare(c, slack, beta_sum);
        result.push_back(std::move(c));
    }
    return result;
}

}  // namespace mercer
