#include "cli/machines/tune_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "cli/common/session.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Points that have a score, the best first.
std::vector<std::size_t> ranking(const SearchResult& result) {
    std::vector<std::size_t> order;
    for (std::size_t p = 0; p < result.points.size(); ++p) {
        if (result.points[p].done && !std::isnan(result.points[p].mean)) order.push_back(p);
    }
    const double sign = larger_is_better(result.measure) ? -1 : 1;
    // Scores of halving are comparable among points that learnt from the same number of rows.
    std::ranges::stable_sort(order, {}, [&](std::size_t p) {
        const SearchPoint& point = result.points[p];
        return std::pair(-static_cast<double>(point.rows), sign * point.mean);
    });
    return order;
}

Json parameters_of(const SearchSpace& space, const SearchPoint& point) {
    Json json = Json::object();
    for (std::size_t a = 0; a < space.axes().size(); ++a) {
        json[space.axes()[a].name] = point.values[a];
    }
    return json;
}

std::string short_number(double value) {
    return fmt::format("{:.6g}", value);
}

/// A field of CSV: quoted where it has to be.
std::string field(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string result = "\"";
    for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
    return result + '"';
}

/// "f1 of 'yes'": which of two classes is meant.
std::string measure_text(const SearchResult& result) {
    const std::string name = measure_name(result.measure);
    return result.positive.empty() ? name : fmt::format("{} of '{}'", name, result.positive);
}

/// Points that could not be scored, which the table may be too short to show.
std::string describe_failures(const SearchSpace& space, const SearchResult& result) {
    std::size_t count = 0;
    const SearchPoint* first = nullptr;
    for (const SearchPoint& p : result.points) {
        if (!p.done || !std::isnan(p.mean)) continue;
        ++count;
        if (first == nullptr) first = &p;
    }
    if (first == nullptr) return {};
    return line("failed", fmt::format("{}, such as {}: {}", counted(count, "point"),
                                      space.text(first->values), in_flags(first->status)));
}

}  // namespace

std::string describe_search(const SearchSpace& space, const SearchResult& result) {
    constexpr std::size_t shown = 10;
    const auto order = ranking(result);
    std::vector<std::vector<std::string>> table{{}};
    for (const Axis& axis : space.axes()) table[0].push_back(axis.name);
    for (const char* const name : {"deviation", "seconds", "rows", "status"}) {
        if (table[0].size() == space.axes().size()) {
            table[0].push_back(measure_name(result.measure));
        }
        table[0].emplace_back(name);
    }
    for (std::size_t k = 0; k < std::min(shown, order.size()); ++k) {
        const SearchPoint& p = result.points[order[k]];
        auto& row = table.emplace_back();
        for (const double value : p.values) row.push_back(short_number(value));
        row.insert(row.end(), {short_number(p.mean), fmt::format("{:.2g}", p.deviation),
                               fmt::format("{:.3g}", p.seconds), std::to_string(p.rows), p.status});
    }
    std::string text;
    for (const auto& row : table) {
        for (std::size_t c = 0; c < row.size(); ++c) {
            std::size_t width = 0;
            for (const auto& other : table) width = std::max(width, other[c].size());
            text += c + 1 == row.size() ? row[c] + '\n' : fmt::format("{:<{}}  ", row[c], width);
        }
    }
    if (order.size() > shown) text += fmt::format("… and {} more\n", order.size() - shown);
    text += describe_failures(space, result);
    if (!result.best) {
        return text + line("best", result.cancelled
                                       ? "interrupted before the first point was scored"
                                       : "no point has a score");
    }
    const SearchPoint& best = result.points[*result.best];
    std::string note;
    if (result.best != result.highest) {
        note = fmt::format(", within one standard error of {}",
                           short_number(result.points[*result.highest].mean));
    }
    return text + line("best", fmt::format("{}: {} {} ± {:.2g}{}", space.text(best.values),
                                           measure_text(result), short_number(best.mean),
                                           best.deviation, note));
}

Json json_of(const SearchSpace& space, const SearchResult& result) {
    const auto number = json_number;
    Json points = Json::array();
    for (const SearchPoint& p : result.points) {
        Json scores = Json::array();
        for (const double s : p.scores) scores.push_back(number(s));
        points.push_back({{"parameters", parameters_of(space, p)},
                          {"score", p.done ? number(p.mean) : Json()},
                          {"deviation", p.done ? number(p.deviation) : Json()},
                          {"scores", scores},
                          {"seconds", p.seconds},
                          {"rows", p.rows},
                          {"status", p.status}});
    }
    Json json{{"task", task_name(space.task().task)},
              {"measure", measure_name(result.measure)},
              {"positive", result.positive.empty() ? Json() : Json(result.positive)},
              {"larger_is_better", larger_is_better(result.measure)},
              {"folds", result.folds},
              {"shared", result.shared},
              {"cancelled", result.cancelled},
              {"from_journal", result.taken},
              {"best", nullptr},
              {"seconds", result.seconds},
              {"points", points}};
    if (result.best) {
        const SearchPoint& best = result.points[*result.best];
        json["best"] = {{"parameters", parameters_of(space, best)},
                        {"kernel", space.kernel(best.values).text()},
                        {"score", best.mean},
                        {"deviation", best.deviation},
                        {"highest", result.points[*result.highest].mean}};
    }
    return json;
}

std::string csv_of(const SearchSpace& space, const SearchResult& result) {
    std::string text;
    for (const Axis& axis : space.axes()) text += field(axis.name) + ',';
    text += "mean,deviation";
    for (std::size_t f = 0; f < result.folds; ++f) text += fmt::format(",fold{}", f + 1);
    text += ",seconds,rows,status\n";
    const auto number = [](double v) { return std::isnan(v) ? std::string() : result_text(v); };
    for (const SearchPoint& p : result.points) {
        for (const double value : p.values) text += result_text(value) + ',';
        text += p.done ? number(p.mean) + ',' + number(p.deviation) : ",";
        for (std::size_t f = 0; f < result.folds; ++f) {
            text += ',' + (f < p.scores.size() ? number(p.scores[f]) : std::string());
        }
        text += fmt::format(",{},{},{}\n", result_text(p.seconds), p.rows, field(p.status));
    }
    return text;
}

void check_heat_map(const SearchSpace& space, SearchMethod method) {
    if (method != SearchMethod::grid || space.axes().size() < 2) {
        throw InvalidInput(
            "--heat-map draws a grid over two axes: give --search grid and two "
            "--grid");
    }
    for (std::size_t a = 0; a < 2; ++a) {
        if (space.axes()[a].values.size() > 200) {
            throw InvalidInput("--heat-map draws at most 200 values an axis, and " +
                               space.axes()[a].name + " has " +
                               std::to_string(space.axes()[a].values.size()));
        }
    }
}

chart::Drawing heat_map_of(const SearchSpace& space, const SearchResult& result) {
    const Axis& across = space.axes()[1];
    const Axis& down = space.axes()[0];
    chart::HeatMap map{.values = Matrix<double>(down.values.size(), across.values.size(), NAN),
                       .numbers = true};
    // The other axes stand at the point chosen; the last axis of a grid runs fastest.
    std::size_t layer = 1;
    for (std::size_t a = 2; a < space.axes().size(); ++a) layer *= space.axes()[a].values.size();
    const std::size_t within = result.best ? *result.best % layer : 0;
    for (std::size_t i = 0; i < down.values.size(); ++i) {
        for (std::size_t j = 0; j < across.values.size(); ++j) {
            const std::size_t at = (i * across.values.size() + j) * layer + within;
            const SearchPoint& p = result.points[at];
            if (p.done) map.values(i, j) = p.mean;
            if (result.best == at) map.mark = std::pair(i, j);
            map.tips.push_back(fmt::format("{}: {} ± {:.2g}", space.text(p.values),
                                           short_number(p.mean), p.deviation));
        }
    }
    const auto words = [](const Axis& axis) {
        chart::ChartAxis result_axis{.label = axis.name};
        for (std::size_t k = 0; k < axis.values.size(); ++k) {
            result_axis.ticks.emplace_back(static_cast<double>(k),
                                           fmt::format("{:.3g}", axis.values[k]));
        }
        return result_axis;
    };
    chart::Drawing figure{.title = fmt::format("{} of {}, {} folds", measure_text(result),
                                               task_name(space.task().task), result.folds)};
    chart::Panel& panel = figure.panel();
    panel.x = words(across);
    panel.y = words(down);
    panel.width = std::max(120.0, 56 * static_cast<double>(across.values.size()));
    panel.height = std::max(80.0, 28 * static_cast<double>(down.values.size()));
    panel.add(std::move(map));
    return figure;
}

}  // namespace mercer::cli
