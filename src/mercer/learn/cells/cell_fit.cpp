// One machine in each cell: how the cells are learnt side by side, and made one model.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/kernel/detail/node.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/cells/detail/cell_growth.hpp"
#include "mercer/learn/cells/detail/rank_cells.hpp"
#include "mercer/learn/detail/checkpoint.hpp"
#include "mercer/learn/detail/model_check.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/detail/span_sample.hpp"

namespace mercer {
namespace {

void require_cells(Task task, const Sample& sample, const Kernel& kernel, const CellRule& how) {
    if (!is_classifier(task) && !is_regressor(task)) {
        throw InvalidInput("the task " + task_name(task) +
                           " cannot be learnt in cells: they are for classes and numbers");
    }
    if (how.rows < 2) {
        throw InvalidInput("cells of `rows` = " + std::to_string(how.rows) +
                           " cannot be learnt in; at least 2");
    }
    if (sample.x.columns() == 0 || !sample.x.objects().empty() ||
        contains(kernel, KernelKind::precomputed)) {
        throw InvalidInput(
            "cells are cut by the places of rows, which must be columns of numbers and nothing "
            "else");
    }
    if (is_centered(kernel)) {
        throw InvalidInput("the kernel " + kernel.text() +
                           " is centred on all rows, and cannot be one of cells");
    }
    if (KeepCheckpoint::current()) {
        throw InvalidInput("cells keep no `checkpoint`: leave it out");
    }
}

/// Machines that any cell can be asked for by its expansion; of calibrations only that which says
/// decisions are log-odds, since it is the same for all.
bool is_plain(const Model& model) {
    for (const auto& extra : model.extras()) {
        if (dynamic_cast<const Tables*>(extra.get())) continue;
        const auto* calibration = dynamic_cast<const Calibration*>(extra.get());
        if (!calibration || calibration->temperature || calibration->isotonic) return false;
        for (const Sigmoid& s : calibration->sigmoids) {
            if (s.a != -1 || s.b != 0) return false;
        }
    }
    return model.expansion().self == 0 && model.scaling().center().empty();
}

bool says_log_odds(const Model& model) {
    return model.extras().find<Calibration>() != nullptr;
}

class CellTraining {
   public:
    CellTraining(Task task, const FitSettings& settings, const CellRule& how, const Dataset& data,
                 MatrixView<const double> targets, const CellFit& fit, Communicator& ranks)
        : task_(task),
          settings_(settings),
          run_(settings.run()),
          targets_(targets),
          fit_(fit),
          ranks_(ranks),
          sample_(take_sample(task, data, settings, targets.columns == 0)) {
        kernel_ = resolve(sample_.kernel, sample_.x, sample_.data.feature_names);
        require_cells(task, sample_, kernel_, how);
        grow(how);
        rows_.resize(grown_.tree.cells());
        for (std::size_t i = 0; i < grown_.cell.size(); ++i) rows_[grown_.cell[i]].push_back(i);
        // By the size of cells alone, so that each finds the same room whatever the threads.
        const double need = 16 * static_cast<double>(how.rows) * static_cast<double>(how.rows);
        const double rooms = static_cast<double>(settings.memory_bytes) / std::max(need, 1.0);
        at_once_ = static_cast<std::size_t>(std::clamp(rooms, 1.0, 64.0));
    }

    Model run() {
        cells_.resize(rows_.size());
        const RankCells shares(ranks_, rows_);
        std::vector<std::size_t> order = shares.own();
        const std::size_t count = order.size();
        own_cells_ = count;
        std::ranges::stable_sort(order, std::ranges::greater(),
                                 [&](std::size_t k) { return rows_[k].size(); });
        const auto learn_next = [&](std::size_t k) { learn(order[k]); };
        if (count < std::min(threads(), at_once_)) {
            for (std::size_t k = 0; k < count; ++k) learn_next(k);  // on all threads, one by one
        } else {
            parallel_for(count, learn_next, at_once_);
        }
        news_.late = is_late();
        shares.exchange(cells_, news_);
        const auto learnt = std::ranges::find(cells_, CellState::learnt, &Cell::state);
        if (learnt == cells_.end() && !news_.refused.empty()) throw InvalidInput(news_.refused);
        return whole(learnt == cells_.end() ? nullptr : learnt->model.get());
    }

   private:
    /// Every rank cuts alike. Where one was stopped before it had, none has cells.
    void grow(const CellRule& how) {
        bool stopped = false;
        try {
            grown_ = grow_cells(sample_.x, how.rows, settings_.seed, settings_.memory_bytes,
                                run_.progress());
        } catch (const Cancelled&) {
            stopped = true;
        }
        if (ranks_.size() == 1) {
            if (stopped) stopped_without_model(run_, settings_.time_limit);
            return;
        }
        const char own = stopped ? 1 : 0;
        const std::vector<char> said = ranks_.all_gather(std::span<const char>(&own, 1));
        if (std::ranges::find(said, char{1}) != said.end()) {
            stopped_without_model(run_, settings_.time_limit, ranks_);
        }
    }

    bool is_late() const {
        return run_.out_of_time() ||
               (settings_.time_limit > 0 && run_.seconds() >= settings_.time_limit);
    }

    CellRows rows_of(std::size_t k) const {
        CellRows own{.cell = k};
        own.data.x = sample_.x.select(rows_[k]);
        own.data.y = sample_.data.y.select(rows_[k]);
        own.data.feature_names = sample_.data.feature_names;
        own.targets = Matrix<double>(targets_.columns > 0 ? rows_[k].size() : 0, targets_.columns);
        for (std::size_t i = 0; i < rows_[k].size(); ++i) {
            const std::size_t row = rows_[k][i];
            own.origins.push_back(sample_.kept[row]);
            if (!sample_.data.weights.empty()) {
                own.data.weights.push_back(sample_.data.weights[row]);
            }
            if (targets_.columns == 0) continue;
            std::ranges::copy(targets_.row(own.origins.back()), own.targets.row(i).begin());
        }
        return own;
    }

    FitSettings settings_of() {
        FitSettings own = settings_;
        own.kernel = kernel_;
        own.scaling = {};
        own.memory_bytes = std::max<std::size_t>(settings_.memory_bytes / at_once_, 1);
        own.time_limit = 0;
        own.progress = [this](const Moment&) { return goes_on(); };
        return own;
    }

    /// Whoever listens is called from the thread that began; the others look at the clock.
    bool goes_on() {
        if (stopped_) return false;
        const double done =
            static_cast<double>(done_) / static_cast<double>(std::max<std::size_t>(own_cells_, 1));
        if (std::this_thread::get_id() == own_thread_) {
            const std::string detail =
                std::to_string(done_) + " of " + std::to_string(own_cells_) + " cells";
            if (!run_.goes_on({"training", done, detail})) stopped_ = true;
        } else if (settings_.time_limit > 0 && run_.seconds() >= settings_.time_limit) {
            stopped_ = true;
        }
        return !stopped_;
    }

    void learn(std::size_t k) {
        Cell& cell = cells_[k];
        cell.rows = rows_[k].size();
        std::vector<std::size_t> classes = classes_in(k);
        if (is_classifier(task_) && classes.size() < 2) {
            cell.state = CellState::one_class;
        } else if (!goes_on()) {
            cell.state = CellState::not_reached;
        } else {
            learn_machine(k, cell);
            if (cell.model) cell.classes = std::move(classes);
        }
        ++done_;
        goes_on();
    }

    void learn_machine(std::size_t k, Cell& cell) {
        try {
            const CellRows rows = rows_of(k);
            const Model model = fit_(rows, settings_of());
            if (!is_plain(model)) {
                throw InvalidSetting("models of the task " + task_name(task_) +
                                     " with these settings answer by more than their expansion, "
                                     "and cannot be learnt in cells");
            }
            if (has_no_machine(model.report().status)) {
                throw InvalidInput("the rows of a cell have no hard margin");
            }
            cell.model = std::make_shared<const Model>(trimmed(model, rows.origins));
        } catch (const Cancelled&) {
            cell.state = CellState::not_reached;
        } catch (const InvalidSetting&) {
            throw;
        } catch (const InvalidInput& error) {
            cell.state = CellState::refused;
            const std::lock_guard lock(mutex_);
            if (news_.refused.empty()) news_.refused = error.what();
        }
    }

    /// Without what the whole model says once; origins among the rows of the data given.
    Model trimmed(const Model& model, const std::vector<std::size_t>& origins) {
        ModelParts parts = model.parts();
        parts.feature_names.clear();
        parts.target_names.clear();
        parts.roles = {};
        parts.recipe = nullptr;
        parts.extras = {};
        for (std::size_t& origin : parts.origins) origin = origins[origin];
        if (says_log_odds(model)) {
            const std::lock_guard lock(mutex_);
            news_.log_odds = true;
        }
        return Model(std::move(parts));
    }

    std::vector<std::size_t> classes_in(std::size_t k) const {
        if (!is_classifier(task_)) return {};
        std::vector<char> seen(sample_.classes.count(), 0);
        for (const std::size_t i : rows_[k]) seen[sample_.class_of(i)] = 1;
        std::vector<std::size_t> found;
        for (std::size_t c = 0; c < seen.size(); ++c) {
            if (seen[c]) found.push_back(c);
        }
        return found;
    }

    /// The decision values for the most frequent class, by weight and the first of equals, or the
    /// mean of each target.
    std::vector<double> constant_of(std::size_t k, const ModelParts& model) const {
        const std::size_t outputs = model.expansion.outputs();
        if (!is_classifier(task_)) return mean_of(k, outputs);
        std::vector<double> count(sample_.classes.count(), 0.0);
        for (const std::size_t i : rows_[k]) count[sample_.class_of(i)] += sample_.weight(i);
        const auto best = static_cast<std::size_t>(std::ranges::max_element(count) - count.begin());
        // As sure as so many rows without an exception make it, where decisions are log-odds.
        const double sure = news_.log_odds ? std::log1p(count[best]) : 1;
        std::vector<double> values;
        if (outputs == count.size() && outputs > 2 &&
            model.multi_class == MultiClass::one_vs_rest) {
            for (std::size_t c = 0; c < count.size(); ++c) {
                values.push_back(c == best ? sure : -sure);
            }
            return values;
        }
        for (std::size_t a = 0; a < count.size(); ++a) {
            for (std::size_t b = a + 1; b < count.size(); ++b) {
                values.push_back(a == best ? sure : b == best ? -sure : 0);
            }
        }
        return values;
    }

    std::vector<double> mean_of(std::size_t k, std::size_t outputs) const {
        std::vector<double> mean(outputs, 0.0);
        double all = 0;
        for (const std::size_t i : rows_[k]) {
            all += sample_.weight(i);
            for (std::size_t o = 0; o < outputs; ++o) {
                const double y =
                    targets_.columns > 0 ? targets_(sample_.kept[i], o) : sample_.data.y.values[i];
                mean[o] += sample_.weight(i) * y;
            }
        }
        for (double& value : mean) value /= all;
        return mean;
    }

    /// One model of all cells; `one` is the machine of some cell, null where none was learnt.
    Model whole(const Model* one) {
        ModelParts model = begin_model(task_, sample_, settings_);
        const std::size_t classes = model.classes();
        if (one) model.multi_class = one->multi_class();
        const bool rest = model.multi_class == MultiClass::one_vs_rest && classes > 2;
        const std::size_t outputs = is_classifier(task_)   ? (rest ? classes : pairs_of(classes))
                                    : targets_.columns > 0 ? targets_.columns
                                                           : 1;
        model.expansion.kernel = one ? one->expansion().kernel : kernel_;
        model.expansion.points = sample_.x.slice(0, 0);
        model.expansion.coefficients = Matrix<double>(outputs, 0);
        model.expansion.bias.assign(outputs, 0.0);
        for (std::size_t k = 0; k < cells_.size(); ++k) {
            if (!cells_[k].model) cells_[k].constant = constant_of(k, model);
            const bool precise = cells_[k].model && cells_[k].model->double_precision();
            model.double_precision = model.double_precision || precise;
        }
        set_trained(model);
        if (news_.log_odds) model.extras.set(Calibration(std::vector<Sigmoid>(outputs, {-1, 0})));
        const bool late = news_.late;
        set_cells(model, Cells(std::move(grown_.tree), std::move(cells_)),
                  late ? FitStatus::time_limit : FitStatus::cancelled);
        for (Report& report : model.reports) {
            if (report.status == FitStatus::cancelled && late) {
                report.status = FitStatus::time_limit;
            }
            report.seconds = run_.seconds() / static_cast<double>(model.reports.size());
        }
        return Model(std::move(model));
    }

    /// What all cells were trained with; what differs from cell to cell is 0.
    void set_trained(ModelParts& model) const {
        TrainedWith& all = model.trained;
        bool first = true;
        for (const Cell& cell : cells_) {
            if (!cell.model) continue;
            const TrainedWith& own = cell.model->trained();
            if (first) all = own;
            first = false;
            for (auto number : {&TrainedWith::C, &TrainedWith::nu, &TrainedWith::epsilon}) {
                if (all.*number != own.*number) all.*number = 0;
            }
            for (auto& [name, value] : all.numbers) {
                const auto found = own.numbers.find(name);
                if (found == own.numbers.end() || found->second != value) value = 0;
            }
        }
        all.class_weights.assign(model.classes(), 1.0);
        for (const Cell& cell : cells_) {
            if (!cell.model || cell.model->trained().class_weights.empty()) continue;
            for (std::size_t c = 0; c < cell.classes.size(); ++c) {
                all.class_weights[cell.classes[c]] = cell.model->trained().class_weights[c];
            }
        }
        all.numbers["cells"] = static_cast<double>(cells_.size());
    }

    Task task_;
    const FitSettings& settings_;
    Run run_;
    MatrixView<const double> targets_;
    const CellFit& fit_;
    Communicator& ranks_;
    Sample sample_;
    Kernel kernel_ = linear();
    GrownCells grown_{};
    std::vector<std::vector<std::size_t>> rows_{};  ///< of each cell, in the sample
    std::vector<Cell> cells_{};
    std::size_t at_once_ = 1;
    std::atomic<std::size_t> done_{0};
    std::atomic<bool> stopped_{false};
    std::size_t own_cells_ = 0;  ///< that this rank learns
    std::mutex mutex_{};
    CellNews news_{};
    std::thread::id own_thread_ = std::this_thread::get_id();
};

/// The machine that `make` makes, in every cell.
class Celled {
   public:
    Celled(const FitSettings& common, const CellRule& how,
           std::function<Machine(const FitSettings&)> make)
        : common_(common), how_(how), make_(std::move(make)), whole_(make_(common)) {}

    Task task() const { return whole_.task(); }
    Model fit(const Dataset& data) const { return fit(data, {}); }
    Model fit(const Dataset& data, MatrixView<const double> targets) const {
        Communicator& ranks = current_ranks();
        return with_all_rows(data, targets, [&](const Dataset& all, MatrixView<const double> y) {
            const SpreadOver together(ranks, HeldRows::all);
            return fit_all_rows(all, y);
        });
    }
    Celled for_rows(std::span<const std::size_t> rows) const {
        Celled some = *this;
        some.whole_ = whole_.for_rows(rows);
        some.make_ = [make = make_, own = std::vector(rows.begin(), rows.end())](
                         const FitSettings& settings) { return make(settings).for_rows(own); };
        return some;
    }

   private:
    Model fit_all_rows(const Dataset& data, MatrixView<const double> targets) const {
        const ClassCounts counts = class_counts(task(), data);
        whole_.for_rows({}, counts);  // what no cell could be told is said at once
        return fit_cells(task(), common_, how_, data, targets,
                         [&](const CellRows& rows, const FitSettings& settings) {
                             return make_(settings)
                                 .for_rows(rows.origins, counts)
                                 .fit(rows.data, rows.targets.view());
                         });
    }

    FitSettings common_;
    CellRule how_;
    std::function<Machine(const FitSettings&)> make_;
    Machine whole_;
};

}  // namespace

ClassCounts class_counts(Task task, const Dataset& data) {
    if (!is_classifier(task) || data.y.empty()) return {};
    const Classes classes = classes_of(data.y);
    ClassCounts counts{classes.names, std::vector<double>(classes.count(), 0.0)};
    for (std::size_t i = 0; i < classes.index.size(); ++i) {
        const bool idle = i < data.weights.size() && data.weights[i] == 0;
        if (!idle) ++counts.rows[static_cast<std::size_t>(classes.index[i])];
    }
    return counts;
}

Model fit_cells(Task task, const FitSettings& settings, const CellRule& how, const Dataset& data,
                MatrixView<const double> targets, const CellFit& fit) {
    Communicator& ranks = current_ranks();
    return with_all_rows(data, targets, [&](const Dataset& all, MatrixView<const double> y) {
        return CellTraining(task, settings, how, all, y, fit, ranks).run();
    });
}

Machine approximate(const FitSettings& common, const CellRule& how,
                    std::function<Machine(const FitSettings&)> make) {
    return Machine(Celled(common, how, std::move(make)));
}

}  // namespace mercer
