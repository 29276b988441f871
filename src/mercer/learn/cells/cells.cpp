#include "mercer/learn/cells/cells.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <thread>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/convexity.hpp"

namespace mercer {
namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

bool takes_rest(const ModelParts& model) {
    return model.multi_class == MultiClass::one_vs_rest && model.classes() > 2;
}

/// Where an output of a cell's machine stands among those of the whole: the pair of the same
/// classes, or the class itself. A cell of two of several classes has one output, of the first.
std::vector<std::size_t> places_of_outputs(const ModelParts& model, const Cell& cell) {
    const std::size_t outputs = cell.model->expansion().outputs();
    std::vector<std::size_t> places;
    const auto& c = cell.classes;
    if (!is_classifier(model.task) || c.size() == model.classes()) {
        for (std::size_t o = 0; o < outputs; ++o) places.push_back(o);
        return places;
    }
    if (takes_rest(model)) {
        places.assign(c.begin(), c.begin() + static_cast<std::ptrdiff_t>(outputs));
        return places;
    }
    const std::size_t k = model.classes();
    for (std::size_t a = 0; a < c.size(); ++a) {
        for (std::size_t b = a + 1; b < c.size(); ++b) {
            places.push_back(c[a] * k - c[a] * (c[a] + 1) / 2 + c[b] - c[a] - 1);
        }
    }
    return places;
}

/// The decision of one row of a cell that does not know all classes: whichever it knows wins over
/// all that it does not, and among its own the answer is that of its machine.
class Widened {
   public:
    Widened(const ModelParts& model, const Cell& cell)
        : rest_(takes_rest(model)), places_(places_of_outputs(model, cell)) {
        is_known_.assign(model.classes(), 0);
        for (const std::size_t c : cell.classes) is_known_[c] = 1;
        second_ = rest_ && cell.classes.size() == 2 ? cell.classes[1] : none;
    }

    void operator()(std::span<const double> own, std::span<double> out) const {
        if (rest_) {
            double least = *std::ranges::min_element(own);
            if (second_ != none) least = std::min(least, -own[0]);
            std::ranges::fill(out, least - 1);
            if (second_ != none) out[second_] = -own[0];
        } else {
            std::size_t pair = 0;
            for (std::size_t a = 0; a < is_known_.size(); ++a) {
                for (std::size_t b = a + 1; b < is_known_.size(); ++b, ++pair) {
                    out[pair] = static_cast<double>(is_known_[a] - is_known_[b]);
                }
            }
        }
        for (std::size_t o = 0; o < own.size(); ++o) out[places_[o]] = own[o];
    }

   private:
    bool rest_;
    std::vector<std::size_t> places_;
    std::vector<int> is_known_{};
    std::size_t second_ = none;
};

/// Rows of one cell that are answered together.
struct Batch {
    std::size_t cell = 0;
    std::span<const std::size_t> rows{};
};

void answer(const Model& model, const Cell& cell, std::span<const std::size_t> rows,
            const Rows& scaled, Matrix<double>& out) {
    if (!cell.model) {
        for (const std::size_t i : rows) std::ranges::copy(cell.constant, out.row(i).begin());
        return;
    }
    const Matrix<double> own = cell.model->expansion_values(scaled.select(rows));
    const bool whole = !is_classifier(model.task()) || cell.classes.size() == model.classes();
    if (whole) {
        for (std::size_t k = 0; k < rows.size(); ++k) {
            std::ranges::copy(own.row(k), out.row(rows[k]).begin());
        }
        return;
    }
    const Widened widened(model.parts(), cell);
    for (std::size_t k = 0; k < rows.size(); ++k) widened(own.row(k), out.row(rows[k]));
}

void add_report(Report& all, const Report& one) {
    if (all.status == FitStatus::converged) all.status = one.status;
    if (one.convexity >= all.convexity) all.convexity = one.convexity;
    all.primal += one.primal;
    all.dual += one.dual;
    all.gap += one.gap;
    if (!(all.relative_gap >= one.relative_gap) && !std::isnan(all.relative_gap)) {
        all.relative_gap = one.relative_gap;  // NaN, where one has no gap, stays
    }
    all.kkt_violation = std::max(all.kkt_violation, one.kkt_violation);
    all.infeasibility = std::max(all.infeasibility, one.infeasibility);
    all.rows += one.rows;
    all.free_support_vectors += one.free_support_vectors;
    all.bounded_support_vectors += one.bounded_support_vectors;
    all.margin_errors += one.margin_errors;
    all.iterations += one.iterations;
    all.kernel_evaluations += one.kernel_evaluations;
}

/// Names of the outputs, where there are several.
std::string output_name(const ModelParts& model, std::size_t output) {
    if (!is_classifier(model.task)) {
        return output < model.target_names.size() ? model.target_names[output] : std::string();
    }
    const auto& names = model.class_names;
    if (names.size() < 3) return {};
    if (takes_rest(model)) return names[output] + " vs rest";
    for (std::size_t a = 0;; ++a) {
        const std::size_t here = names.size() - 1 - a;
        if (output < here) return names[a] + " vs " + names[a + 1 + output];
        output -= here;
    }
}

/// One an output of support vector machines, which check it so; one for all of others.
std::vector<Report> summed_reports(const ModelParts& model, const Cells& cells, FitStatus stopped) {
    const std::size_t outputs = model.expansion.outputs();
    std::vector<Report> reports(is_svm(model.task) ? outputs : 1);
    std::map<CellState, std::size_t> count;
    for (const Cell& cell : cells.all) {
        ++count[cell.state];
        if (!cell.model) continue;
        const std::vector<Report>& own = cell.model->reports();
        const auto places = places_of_outputs(model, cell);
        for (std::size_t o = 0; o < own.size(); ++o) {
            add_report(reports[reports.size() == 1 ? 0 : places[o]], own[o]);
        }
    }
    for (Report& report : reports) {
        if (count[CellState::not_reached] > 0) report.status = stopped;
        // Rows of one class everywhere: nothing is left to improve, whatever the kernel.
        if (count[CellState::one_class] == cells.all.size() && has_bracket(model.task)) {
            report.convexity = Convexity::by_rule;
        }
    }
    for (std::size_t o = 0; reports.size() > 1 && o < reports.size(); ++o) {
        reports[o].name = output_name(model, o);
    }
    auto& figures = reports.front().figures;
    figures["cells"] = static_cast<double>(cells.all.size());
    for (const auto& [state, name] : {std::pair{CellState::one_class, "cells_of_one_class"},
                                      std::pair{CellState::refused, "cells_refused"},
                                      std::pair{CellState::not_reached, "cells_not_reached"}}) {
        if (count[state] > 0) figures[name] = static_cast<double>(count[state]);
    }
    return reports;
}

}  // namespace

void Cells::check(const ModelParts& model, const std::string& place) const {
    if (all.size() != tree.cells()) {
        throw InvalidInput(place + ": " + std::to_string(all.size()) +
                           " cells, and forks lead to " + std::to_string(tree.cells()));
    }
    if (!(is_classifier(model.task) || is_regressor(model.task)) || model.expansion.size() > 0) {
        throw InvalidInput(place +
                           ": a model of cells predicts classes or numbers, and has no "
                           "points besides those of its cells");
    }
    if (!tree.forks().empty() && tree.planes().columns() != model.columns + 1) {
        throw InvalidInput(place + ": the planes between cells have " +
                           std::to_string(tree.planes().columns() - 1) +
                           " columns and the model says " + std::to_string(model.columns));
    }
    const std::size_t outputs = model.expansion.outputs();
    for (std::size_t k = 0; k < all.size(); ++k) {
        const Cell& cell = all[k];
        const auto fail = [&](const std::string& why) {
            throw InvalidInput(place + ": cell " + std::to_string(k) + " " + why);
        };
        if ((cell.state == CellState::learnt) != (cell.model != nullptr)) {
            fail("is said to be learnt, and has no machine, or the other way round");
        }
        if (!cell.model) {
            if (cell.constant.size() != outputs ||
                !std::ranges::all_of(cell.constant, [](double v) { return std::isfinite(v); })) {
                fail("has neither a machine nor a finite value for each output");
            }
            continue;
        }
        const ModelParts& own = cell.model->parts();
        if (own.task != model.task || own.columns != model.columns || own.recipe ||
            own.scaling.center().size() > 0 || own.multi_class != model.multi_class) {
            fail("has a machine of another task, or of other columns");
        }
        if (std::ranges::any_of(own.extras, [](const auto& e) {
                return dynamic_cast<const Calibration*>(e.get()) == nullptr;
            })) {
            fail("has a machine that answers by more than its expansion");
        }
        const bool ascending =
            std::ranges::adjacent_find(cell.classes, std::greater_equal()) == cell.classes.end();
        if (cell.classes.size() != own.classes() || !ascending ||
            (!cell.classes.empty() && cell.classes.back() >= model.classes())) {
            fail("knows classes that the model does not have");
        }
        for (std::size_t c = 0; c < cell.classes.size(); ++c) {
            if (own.class_names[c] != model.class_names[cell.classes[c]]) {
                fail("calls a class by another name");
            }
        }
        if (!is_classifier(model.task) && own.expansion.outputs() != outputs) {
            fail("has another number of outputs");
        }
    }
}

std::string Cells::why_not_reduced() const {
    return "a model of cells has a machine in each of them, and cannot be made shorter as one; "
           "train with cells of fewer rows";
}

std::size_t Cells::points() const {
    std::size_t count = 0;
    for (const Cell& cell : all) count += cell.model ? cell.model->expansion().size() : 0;
    return count;
}

Matrix<double> Cells::decide(const Model& model, const Rows& scaled,
                             const Progress& progress) const {
    const std::vector<std::uint32_t> place = tree.place(scaled);
    std::vector<std::size_t> starts(all.size() + 1, 0);
    for (const std::uint32_t k : place) ++starts[k + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<std::size_t> order(scaled.size()), next(starts.begin(), starts.end() - 1);
    for (std::size_t i = 0; i < order.size(); ++i) order[next[place[i]]++] = i;
    constexpr std::size_t most = 4096;
    std::vector<Batch> batches;
    for (std::size_t k = 0; k < all.size(); ++k) {
        for (std::size_t first = starts[k]; first < starts[k + 1]; first += most) {
            const std::size_t count = std::min(most, starts[k + 1] - first);
            batches.push_back({.cell = k, .rows = std::span(order).subspan(first, count)});
        }
    }
    Matrix<double> result(scaled.size(), model.expansion().outputs());
    std::atomic<std::size_t> done{0};
    std::atomic<bool> stopped{false};
    const auto own_thread = std::this_thread::get_id();
    parallel_for(batches.size(), [&](std::size_t b) {
        if (stopped) return;
        if (progress && std::this_thread::get_id() == own_thread) {
            const double share = static_cast<double>(done) / static_cast<double>(batches.size());
            if (!progress({"predicting", share})) stopped = true;
        }
        answer(model, all[batches[b].cell], batches[b].rows, scaled, result);
        ++done;
    });
    if (stopped) throw Cancelled();
    return result;
}

void set_cells(ModelParts& model, Cells cells, FitStatus stopped) {
    model.reports = summed_reports(model, cells, stopped);
    model.extras.set(std::move(cells));
}

const Cells* cells_of(const Model& model) {
    return model.extras().find<Cells>();
}

void require_one_machine(const Model& model, const std::string& what) {
    const Cells* cells = cells_of(model);
    if (!cells) return;
    throw InvalidInput(what + " is that of one machine, and the model has one in each of its " +
                       std::to_string(cells->all.size()) + " cells");
}

namespace {

const Cells& needed_cells(const Model& model) {
    if (const Cells* cells = cells_of(model)) return *cells;
    throw InvalidInput("the model is not one of cells");
}

}  // namespace

CellProblems::CellProblems(const Model& model, const Dataset& data) : cells_(needed_cells(model)) {
    data_ = data_for(model, data);
    data_.x = model.scaling().apply(data_.x);
    data_.table = nullptr;
    std::vector<std::uint32_t> place = cells_.tree.place(data_.x);
    for (std::size_t k = 0; k < cells_.all.size(); ++k) {
        if (!cells_.all[k].model) continue;
        for (const std::size_t i : cells_.all[k].model->origins()) {
            if (i >= place.size()) {
                throw InvalidInput("the model uses row " + std::to_string(i + 1) +
                                   " of its data, and there are " + std::to_string(place.size()) +
                                   ": it was trained on other data");
            }
            place[i] = static_cast<std::uint32_t>(k);
        }
    }
    rows_.resize(cells_.all.size());
    for (std::size_t i = 0; i < place.size(); ++i) {
        if (data_.weights.empty() || data_.weights[i] > 0) rows_[place[i]].push_back(i);
    }
}

CellProblem CellProblems::operator[](std::size_t k) const {
    CellProblem problem{.cell = k, .data = data_.select(rows_[k])};
    // Selected rows remember where they stood; here they stand for themselves.
    std::vector<std::size_t> own(rows_[k].size());
    std::iota(own.begin(), own.end(), std::size_t{0});
    problem.data.x = problem.data.x.with_origins(std::move(own));
    if (!cells_.all[k].model) return problem;
    ModelParts parts = cells_.all[k].model->parts();
    for (std::size_t& origin : parts.origins) {
        const auto found = std::ranges::lower_bound(rows_[k], origin);
        if (found == rows_[k].end() || *found != origin) {
            throw InvalidInput("the model was trained on other data: row " +
                               std::to_string(origin + 1) + " has weight 0");
        }
        origin = static_cast<std::size_t>(found - rows_[k].begin());
    }
    problem.model = Model(std::move(parts));
    return problem;
}

}  // namespace mercer
