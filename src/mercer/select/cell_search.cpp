// A search in each cell.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>

#include "mercer/base/error.hpp"
#include "mercer/dist/detail/one_rank.hpp"
#include "mercer/learn/detail/message.hpp"
#include "mercer/select/automatic.hpp"
#include "mercer/select/search.hpp"

namespace mercer {
namespace {

constexpr double no_score = std::numeric_limits<double>::quiet_NaN();

/// Names of groups and folds go with their rows.
FoldRule folds_for(const FoldRule& rule, const std::vector<std::size_t>& origins) {
    FoldRule own = rule;
    own.keys.clear();
    for (std::size_t i = 0; !rule.keys.empty() && i < origins.size(); ++i) {
        if (origins[i] >= rule.keys.size()) {
            throw InvalidInput("there are " + std::to_string(rule.keys.size()) +
                               " names of groups or folds, fewer than rows");
        }
        own.keys.push_back(rule.keys[origins[i]]);
    }
    return own;
}

class SearchOfCells {
   public:
    SearchOfCells(const CellTask& task, const std::vector<Axis>& axes,
                  const SearchSettings& settings)
        : task_(task), axes_(axes), settings_(settings) {}

    CellSearch run(const FitSettings& common, const std::string& kernel, const Dataset& data,
                   const CellRule& how) {
        const Stopwatch clock;
        const bool open = kernel.find('$') != std::string::npos;  // places for values of axes
        FitSettings whole = common;
        whole.kernel = open ? linear() : Kernel::parse(kernel);
        kernel_ = kernel;
        resolved_ = !open;
        // What no cell could be told is said at once.
        const SearchTask first = task_(whole, kernel, {});
        if (!axes_.empty()) SearchSpace(first, axes_, data);
        const Task kind = first.task;
        found_.measure = settings_.measure.value_or(usual_measure(kind));
        found_.folds = settings_.folds.folds * settings_.folds.repeats;
        for (const Axis& axis : axes_) found_.axes.push_back(axis.name);
        const std::unique_ptr<Communicator> one = one_rank();
        Communicator& ranks = settings_.ranks ? *settings_.ranks : *one;
        const SpreadOver together(ranks, HeldRows::all);
        found_.model = fit_cells(
            kind, whole, how, data, {},
            [this](const CellRows& rows, const FitSettings& own) { return learn(rows, own); });
        exchange(ranks);
        settle(*cells_of(found_.model));
        found_.seconds = clock.seconds();
        return std::move(found_);
    }

   private:
    struct Choice {
        CellChoice choice{};
        std::vector<std::string> axes{};
        std::size_t points = 0;
    };

    SearchTask task_of(const CellRows& rows, const FitSettings& own) const {
        return task_(own, resolved_ ? own.kernel.text() : kernel_, rows.origins);
    }

    /// Cells are searched at the same time, and each has a place of its own.
    Choice& choice_of(std::size_t cell) {
        const std::lock_guard lock(mutex_);
        return choices_[cell];
    }

    Model learn(const CellRows& rows, const FitSettings& own) {
        Choice& out = choice_of(rows.cell);
        std::vector<FoldKind> kinds{settings_.folds.kind};
        // A class of a single row leaves no stratified folds.
        if (settings_.folds.keys.empty()) kinds.push_back(FoldKind::plain);
        for (const FoldKind kind : kinds) {
            try {
                SearchSettings s = settings_;
                s.folds = folds_for(settings_.folds, rows.origins);
                s.folds.kind = kind;
                s.progress = own.progress;
                s.ranks = nullptr;
                return learn_best(s, rows, own, out);
            } catch (const InvalidSetting&) {
                throw;
            } catch (const InvalidInput&) {  // too few rows of some class
            }
        }
        return learn_usual(rows, own, out);
    }

    Model learn_best(const SearchSettings& s, const CellRows& rows, const FitSettings& own,
                     Choice& out) const {
        const SearchTask task = task_of(rows, own);
        FoundSettings found = axes_.empty()
                                  ? default_search(task, rows.data, {.search = s})
                                  : FoundSettings{.space = SearchSpace(task, axes_, rows.data)};
        if (!axes_.empty()) found.result = search(found.space, rows.data, s);
        if (!found.result.best) throw Cancelled();
        out.choice = {.values = found.best().values, .score = found.best().mean};
        out.points = found.result.points.size();
        out.axes = names_of(found.space.axes());
        return learn_with(found.space.axes(), found.best().values, rows, own);
    }

    Model learn_usual(const CellRows& rows, const FitSettings& own, Choice& out) const {
        const std::vector<Axis> axes =
            axes_.empty() ? default_axes(task_of(rows, own), rows.data) : axes_;
        std::vector<double> middle;
        for (const Axis& axis : axes) middle.push_back(middle_of(axis));
        out.choice = {.values = middle, .score = no_score, .usual = true};
        out.axes = names_of(axes);
        return learn_with(axes, middle, rows, own);
    }

    static double middle_of(const Axis& axis) {
        std::vector<double> sorted = axis.values;
        std::ranges::sort(sorted);
        return sorted.at(sorted.size() / 2);
    }

    static std::vector<std::string> names_of(const std::vector<Axis>& axes) {
        std::vector<std::string> names;
        for (const Axis& axis : axes) names.push_back(axis.name);
        return names;
    }

    /// Without a look at the clock: a cell that has found its settings is learnt in a moment.
    Model learn_with(const std::vector<Axis>& axes, const std::vector<double>& values,
                     const CellRows& rows, const FitSettings& own) const {
        FitSettings last = own;
        last.progress = {};
        return SearchSpace(task_of(rows, last), axes, rows.data).machine(values).fit(rows.data);
    }

    template <class Archive>
    static void pass(Archive& archive, std::size_t& cell, Choice& found) {
        auto& [rows, values, score, usual] = found.choice;
        archive(cell, rows, values, score, usual, found.axes, found.points);
    }

    /// Tells all ranks what each has chosen.
    void exchange(Communicator& ranks) {
        if (ranks.size() == 1) return;
        MessageWriter own;
        for (auto& [cell, found] : choices_) {
            std::size_t number = cell;
            pass(own, number, found);
        }
        exchange_messages(ranks, own, [&](std::span<MessageReader> readers) {
            for (MessageReader& in : readers) {
                while (!in.is_at_end()) {
                    std::size_t cell = 0;
                    Choice heard;
                    pass(in, cell, heard);
                    choices_[cell] = std::move(heard);
                }
            }
        });
    }

    void settle(const Cells& cells) {
        double weight = 0;
        for (std::size_t k = 0; k < cells.all.size(); ++k) {
            const Choice& found = choices_[k];
            CellChoice choice = found.choice;
            choice.rows = cells.all[k].rows;
            const bool sure = cells.all[k].state == CellState::one_class;
            if (!cells.all[k].model) choice = {.rows = choice.rows, .score = sure ? 1 : no_score};
            if (found_.axes.empty()) found_.axes = found.axes;
            const bool counts = !std::isnan(choice.score) && (cells.all[k].model || counts_right());
            if (counts) {
                found_.score += static_cast<double>(choice.rows) * choice.score;
                weight += static_cast<double>(choice.rows);
            }
            found_.points.push_back(found.points);
            found_.cells.push_back(std::move(choice));
        }
        found_.score = weight > 0 ? found_.score / weight : no_score;
    }

    /// Measures that say how many rows are right, of which a cell of one class has all.
    bool counts_right() const { return found_.measure == Metric::accuracy; }

    const CellTask& task_;
    const std::vector<Axis>& axes_;
    const SearchSettings& settings_;
    std::string kernel_{};
    bool resolved_ = true;
    std::mutex mutex_{};
    std::map<std::size_t, Choice> choices_{};  ///< by cell
    CellSearch found_{};
};

}  // namespace

CellTask svm_cell_task(const SvmSettings& settings, const Dataset& data) {
    return [settings, counts = class_counts(settings.task, data)](
               const FitSettings& common, const std::string& kernel,
               std::span<const std::size_t> origins) {
        SvmSettings own = settings;
        own.common = common;
        if (origins.empty()) return svm_search_task(own, kernel);
        return svm_search_task(Svm(std::move(own)).for_rows(origins, counts).settings(), kernel);
    };
}

CellTask machine_cell_task(const MachineEntry& machine, const SettingValues& given) {
    return [&machine, given](const FitSettings& common, const std::string& kernel,
                             std::span<const std::size_t>) {
        return search_task(machine, common, given, kernel);
    };
}

CellSearch search_cells(const CellTask& task, const FitSettings& common, const std::string& kernel,
                        const std::vector<Axis>& axes, const Dataset& data, const CellRule& how,
                        const SearchSettings& settings) {
    if (!settings.journal.empty()) {
        throw InvalidInput("a search in cells keeps no `journal`: leave it out");
    }
    return SearchOfCells(task, axes, settings).run(common, kernel, data, how);
}

}  // namespace mercer
