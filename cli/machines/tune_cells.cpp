#include "cli/machines/tune_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "cli/common/interrupt.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "cli/common/ranks.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/select/search.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

/// "17.1 in 120 cells, 9.49 in 88, …" of one axis.
std::string chosen_text(const CellSearch& found, std::size_t axis) {
    std::map<double, std::size_t> count;
    for (const CellChoice& cell : found.cells) {
        if (axis < cell.values.size()) ++count[cell.values[axis]];
    }
    std::vector<std::pair<double, std::size_t>> most(count.begin(), count.end());
    std::ranges::stable_sort(most, std::greater<>{}, [](const auto& m) { return m.second; });
    constexpr std::size_t shown = 4;
    std::string text;
    for (std::size_t k = 0; k < std::min(shown, most.size()); ++k) {
        text +=
            fmt::format("{}{:.4g} in {}", k == 0 ? "" : ", ", most[k].first,
                        k == 0 ? counted(most[k].second, "cell") : std::to_string(most[k].second));
    }
    if (most.size() > shown) text += fmt::format(", … {} more values", most.size() - shown);
    return text;
}

std::size_t searched_cells(const CellSearch& found) {
    return static_cast<std::size_t>(
        std::ranges::count_if(found.points, [](std::size_t points) { return points > 0; }));
}

std::string describe(const CellSearch& found, const std::string& search) {
    const std::size_t most = std::ranges::max(found.points);
    std::string text =
        line("search", fmt::format("{}, {} in each of {}, {}, {:.3g} s", search,
                                   counted(most, "point"), counted(searched_cells(found), "cell"),
                                   counted(found.folds, "fold"), found.seconds));
    for (std::size_t a = 0; a < found.axes.size(); ++a) {
        text += line(found.axes[a], chosen_text(found, a));
    }
    const auto usual = std::ranges::count(found.cells, true, &CellChoice::usual);
    if (usual > 0) {
        text += line("note",
                     fmt::format("{} too few rows of some class for folds, and took the "
                                 "middle values of the axes",
                                 usual == 1 ? "1 cell has" : fmt::format("{} cells have", usual)));
    }
    return text + line("score", fmt::format("{} {:.6g}, over the folds of the cells by their rows",
                                            measure_name(found.measure), found.score));
}

Json json_of(const CellSearch& found) {
    Json cells = Json::array();
    for (const CellChoice& cell : found.cells) {
        Json item{{"rows", cell.rows}, {"score", json_number(cell.score)}};
        for (std::size_t a = 0; a < cell.values.size(); ++a) {
            item["values"][found.axes[a]] = cell.values[a];
        }
        if (cell.usual) item["usual"] = true;
        cells.push_back(std::move(item));
    }
    return {{"measure", measure_name(found.measure)},
            {"folds", found.folds},
            {"score", json_number(found.score)},
            {"seconds", found.seconds},
            {"cells", std::move(cells)}};
}

std::string csv_of(const CellSearch& found) {
    std::string text = "cell,rows";
    for (const std::string& axis : found.axes) text += "," + axis;
    text += ",score\n";
    for (std::size_t k = 0; k < found.cells.size(); ++k) {
        const CellChoice& cell = found.cells[k];
        text += fmt::format("{},{}", k + 1, cell.rows);
        for (std::size_t a = 0; a < found.axes.size(); ++a) {
            text += "," + (a < cell.values.size() ? format_number(cell.values[a]) : "");
        }
        text += "," + (std::isnan(cell.score) ? "" : format_number(cell.score)) + "\n";
    }
    return text;
}

}  // namespace

int tune_cells(const CellTuning& tuning, const TrainOptions& options, const SvmSettings& svm,
               const std::string& input, const Dataset& data, const Session& session) {
    TrainOptions plain = options;
    plain.kernel = "linear";  // it may have places for values, and is given as text
    const StopOnInterrupt stop;
    const FitSettings common =
        common_of(plain, [draw = progress_line(session), &stop](const Moment& m) {
            if (draw) draw({.task = "search", .fraction = m.fraction, .detail = m.detail});
            return !stop.requested();
        });
    const MachineEntry& machine = options.machine();
    const CellTask task = is_svm(machine.task)
                              ? svm_cell_task(svm, data)
                              : machine_cell_task(machine, options.settings.values(machine));
    const CellSearch found = in_flags_of(options, [&] {
        return search_cells(task, common, options.kernel, tuning.axes, data,
                            CellRule::parse(options.approximate), tuning.settings);
    });
    clear_progress_line();
    Json json{{"input", input}, {"rows", data.size()}};
    json["search"] = json_of(found);
    std::string text = line("data", fmt::format("{}, {}, {}", input, counted(data.size(), "row"),
                                                counted(data.columns(), "column"))) +
                       describe(found, tuning.search) + describe_machine(found.model) +
                       describe_certificate(found.model);
    json.update(cli::json_of(found.model));
    const FitStatus status = found.model.report().status;
    if (status == FitStatus::time_limit) {
        warn(
            "the time limit passed; cells not searched by then say their most frequent class or "
            "mean");
    } else if (stop.requested()) {
        warn(
            "the search was interrupted; cells not searched by then say their most frequent "
            "class or mean");
    }
    if (!tuning.csv.empty() && is_first_rank()) {
        const InterruptLater later(tuning.csv);
        write_whole(tuning.csv, [&](Output& out) { out.write(csv_of(found)); });
    }
    if (!options.model.empty() && is_first_rank()) {
        const InterruptLater later(options.model);
        save(found.model, options.model);
        json["model"] = options.model;
        text += line("model", options.model);
    }
    if (session.json) {
        print_json(json);
    } else {
        say("{}", text);
    }
    return stop.requested() ? exit_interrupted : 0;
}

}  // namespace mercer::cli
