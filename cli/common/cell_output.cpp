#include "cli/common/cell_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "cli/common/model_output.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

std::size_t count_of(const Cells& cells, CellState state) {
    return static_cast<std::size_t>(std::ranges::count(cells.all, state, &Cell::state));
}

}  // namespace

bool kernels_differ(const Cells& cells) {
    const Model* first = nullptr;
    for (const Cell& cell : cells.all) {
        if (!cell.model) continue;
        if (first && !(cell.model->expansion().kernel == first->expansion().kernel)) return true;
        first = cell.model.get();
    }
    return false;
}

std::string kernels_text(const Cells& cells) {
    std::map<std::string, std::size_t> count;
    for (const Cell& cell : cells.all) {
        if (cell.model) ++count[short_text(cell.model->expansion().kernel)];
    }
    std::vector<std::pair<std::size_t, std::string>> most;
    for (const auto& [text, cells_with] : count) most.emplace_back(cells_with, text);
    std::ranges::stable_sort(most, std::greater<>{}, [](const auto& m) { return m.first; });
    std::string text = "chosen in each cell:";
    constexpr std::size_t shown = 3;
    for (std::size_t k = 0; k < std::min(shown, most.size()); ++k) {
        text += fmt::format("{} {} in {}", k == 0 ? "" : ",", most[k].second, most[k].first);
    }
    if (most.size() > shown) text += fmt::format(", … {} more", most.size() - shown);
    return text;
}

std::string describe_cells(const Cells& cells) {
    std::vector<std::size_t> rows;
    for (const Cell& cell : cells.all) rows.push_back(cell.rows);
    std::ranges::sort(rows);
    std::string text = fmt::format("{} of {} to {} rows, half of them above {}", rows.size(),
                                   rows.front(), rows.back(), rows[(rows.size() - 1) / 2]);
    const auto add = [&](CellState state, const char* about) {
        if (const std::size_t count = count_of(cells, state); count > 0) {
            text += fmt::format("; {} {}", count, about);
        }
    };
    add(CellState::one_class, "of one class");
    add(CellState::refused, "too small for a machine, which say their most frequent answer");
    add(CellState::not_reached, "not reached, which say their most frequent class or mean");
    return line("cells", text);
}

Json json_of(const Cells& cells) {
    Json list = Json::array();
    for (const Cell& cell : cells.all) {
        Json item{{"state", std::string(cell_state_words.word(cell.state))}, {"rows", cell.rows}};
        if (cell.model) {
            const Report report = cell.model->report();
            item["kernel"] = cell.model->expansion().kernel.text();
            item["C"] = cell.model->trained().C;
            item["support_vectors"] = cell.model->expansion().size();
            item["certificate"] = json_of(report);
        }
        list.push_back(std::move(item));
    }
    return list;
}

}  // namespace mercer::cli
