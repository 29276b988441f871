#include "cli/tune_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "cli/model_output.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
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

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '&') {
            result += "&amp;";
        } else if (c == '<') {
            result += "&lt;";
        } else if (c == '>') {
            result += "&gt;";
        } else {
            result += c;
        }
    }
    return result;
}

/// From dark blue over green to yellow, as light grows; t in [0, 1].
std::string colour(double t) {
    constexpr std::array<std::array<double, 3>, 5> stops{
        {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
    const double place = std::clamp(t, 0.0, 1.0) * (stops.size() - 1);
    const auto low = std::min<std::size_t>(static_cast<std::size_t>(place), stops.size() - 2);
    const double f = place - static_cast<double>(low);
    std::array<int, 3> rgb{};
    for (std::size_t c = 0; c < 3; ++c) {
        rgb[c] = static_cast<int>(std::lround(stops[low][c] * (1 - f) + stops[low + 1][c] * f));
    }
    return fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]);
}

/// Geometry of the picture, in pixels.
struct Picture {
    static constexpr double cell_width = 56;
    static constexpr double cell_height = 28;
    static constexpr double left = 110;
    static constexpr double top = 44;
    const Axis& across;
    const Axis& down;
    double low = 0;
    double high = 0;

    double width() const {
        return left + cell_width * static_cast<double>(across.values.size()) + 130;
    }
    double height() const {
        return top + cell_height * static_cast<double>(down.values.size()) + 64;
    }
    std::string cell(std::size_t i, std::size_t j, const SearchPoint& p, bool chosen,
                     const std::string& title) const {
        const bool fine = p.done && !std::isnan(p.mean);
        const double t = high > low ? (p.mean - low) / (high - low) : 1;
        const double x = left + cell_width * static_cast<double>(j);
        // Small values at the bottom, as on any chart.
        const double y = top + cell_height * static_cast<double>(down.values.size() - 1 - i);
        return fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"{}><title>{}</title>"
            "</rect>\n<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n",
            x, y, cell_width, cell_height, fine ? colour(t) : "#cccccc",
            chosen ? " stroke=\"#d00000\" stroke-width=\"3\"" : "", escaped(title),
            x + cell_width / 2, y + cell_height / 2 + 4, fine && t < 0.6 ? "#ffffff" : "#000000",
            fine ? fmt::format("{:.4g}", p.mean) : "–");
    }
    std::string labels(const std::string& heading) const {
        std::string svg = fmt::format(
            "<text x=\"{}\" y=\"22\" font-size=\"14\" "
            "text-anchor=\"start\">{}</text>\n",
            left, escaped(heading));
        const double bottom = top + cell_height * static_cast<double>(down.values.size());
        for (std::size_t j = 0; j < across.values.size(); ++j) {
            svg += fmt::format("<text x=\"{}\" y=\"{}\">{:.3g}</text>\n",
                               left + cell_width * (static_cast<double>(j) + 0.5), bottom + 18,
                               across.values[j]);
        }
        for (std::size_t i = 0; i < down.values.size(); ++i) {
            svg += fmt::format(
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.3g}</text>\n", left - 8,
                top + cell_height * (static_cast<double>(down.values.size() - 1 - i) + 0.5) + 4,
                down.values[i]);
        }
        svg += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"13\">{}</text>\n",
                           left + cell_width * static_cast<double>(across.values.size()) / 2,
                           bottom + 44, escaped(across.name));
        svg += fmt::format(
            "<text x=\"16\" y=\"{}\" font-size=\"13\" text-anchor=\"start\">{}"
            "</text>\n",
            top - 8, escaped(down.name));
        return svg;
    }
    std::string bar() const {
        const double x = left + cell_width * static_cast<double>(across.values.size()) + 24;
        const double size = cell_height * static_cast<double>(down.values.size());
        constexpr int steps = 32;
        std::string svg;
        for (int s = 0; s < steps; ++s) {
            svg += fmt::format(
                "<rect x=\"{}\" y=\"{:.2f}\" width=\"16\" height=\"{:.2f}\" fill=\"{}\"/>\n", x,
                top + size * (steps - 1 - s) / steps, size / steps + 0.5,
                colour(static_cast<double>(s) / (steps - 1)));
        }
        const auto mark = [&](double y, double value) {
            return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"start\">{:.4g}</text>\n",
                               x + 22, y, value);
        };
        return svg + mark(top + 8, high) + mark(top + size, low);
    }
};

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

std::string heat_map_of(const SearchSpace& space, const SearchResult& result) {
    Picture picture{.across = space.axes()[1], .down = space.axes()[0]};
    bool any = false;
    for (const SearchPoint& p : result.points) {
        if (!p.done || std::isnan(p.mean)) continue;
        picture.low = any ? std::min(picture.low, p.mean) : p.mean;
        picture.high = any ? std::max(picture.high, p.mean) : p.mean;
        any = true;
    }
    // The other axes stand at the point chosen; the last axis of a grid runs fastest.
    std::size_t layer = 1;
    for (std::size_t a = 2; a < space.axes().size(); ++a) layer *= space.axes()[a].values.size();
    const std::size_t within = result.best ? *result.best % layer : 0;
    std::string cells;
    for (std::size_t i = 0; i < picture.down.values.size(); ++i) {
        for (std::size_t j = 0; j < picture.across.values.size(); ++j) {
            const std::size_t at = (i * picture.across.values.size() + j) * layer + within;
            const SearchPoint& p = result.points[at];
            cells += picture.cell(i, j, p, result.best == at,
                                  fmt::format("{}: {} ± {:.2g}", space.text(p.values),
                                              short_number(p.mean), p.deviation));
        }
    }
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\" font-family=\"sans-serif\" font-size=\"11\" text-anchor=\"middle\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{2}{3}{4}</svg>\n",
        picture.width(), picture.height(),
        picture.labels(fmt::format("{} of {}, {} folds", measure_name(result.measure),
                                   task_name(space.task().task), result.folds)),
        cells, picture.bar());
}

}  // namespace mercer::cli
