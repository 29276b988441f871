#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/chart/chart.hpp"
#include "mercer/chart/model_figures.hpp"
#include "mercer/data/recipe.hpp"

namespace mercer::chart {
namespace {

constexpr std::size_t shown_mistakes = 10;

constexpr const char* page_style =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "color:#222;background:#fff}h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2rem;border-"
    "bottom:"
    "1px solid #ddd}table{border-collapse:collapse;margin:.5rem 0;display:block;overflow-x:auto}"
    "td,th{padding:.2rem .6rem;border:1px solid #ddd;text-align:left}td.n{text-align:right}"
    "tr.chosen{background:#eef6ff;font-weight:600}pre{background:#f6f6f6;padding:.6rem;overflow-x:"
    "auto}"
    "svg{max-width:100%;height:auto}p.warning{border-left:4px solid #d55e00;padding-left:.6rem}"
    "@media(prefers-color-scheme:dark){body{background:#1b1d21;color:#ddd}pre{background:#26292f}"
    "td,th{border-color:#444}tr.chosen{background:#24364d}svg{background:#fff}}";

std::string in_html(const std::string& text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += c;
        }
    }
    return out;
}

std::string short_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

std::string in_percent(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f %%", 100 * share);
    return text;
}

std::string table_row(const std::vector<std::string>& cells, const char* tag = "td",
                      const std::string& attributes = "") {
    std::string text = "<tr" + attributes + ">";
    for (const std::string& cell : cells) {
        text += std::string("<") + tag + ">" + in_html(cell) + "</" + tag + ">";
    }
    return text + "</tr>\n";
}

std::string figure_of(const Drawing& drawing) {
    return "<figure>" + svg(drawing) + "</figure>\n";
}

std::string summary(const LearnResult& r) {
    const Judgement& j = r.judgement;
    std::string text = "<h2>In short</h2>\n<p>";
    if (r.numbers) {
        text += "On " + std::to_string(j.rows) +
                " rows set aside, by which nothing was chosen, the root "
                "mean squared error is <b>" +
                short_number(j.rmse) + "</b>, between " + short_number(j.rmse_interval.low) +
                " and " + short_number(j.rmse_interval.high) +
                " (95 %, Student), and on as many other rows between " +
                short_number(j.rmse_again.low) + " and " + short_number(j.rmse_again.high) +
                "; always saying the mean would reach " + short_number(j.baseline_rmse) +
                ". R² is " + short_number(j.r2) + ".";
    } else {
        text += "On " + std::to_string(j.rows) +
                " rows set aside, by which nothing was chosen, <b>" + in_percent(1 - j.accuracy) +
                "</b> are wrong, between " + in_percent(1 - j.accuracy_interval.high) + " and " +
                in_percent(1 - j.accuracy_interval.low) +
                " (95 %, Wilson), and on as many other rows between " +
                in_percent(1 - j.accuracy_again.high) + " and " +
                in_percent(1 - j.accuracy_again.low) + "; always saying " + in_html(j.majority) +
                " would be wrong in " + in_percent(1 - j.baseline) + ".";
    }
    text += " A thousand predictions take " + short_number(r.predict_seconds) + " s.</p>\n";
    for (const std::string& warning : r.warnings) {
        text += "<p class=\"warning\">" + in_html(warning) + "</p>\n";
    }
    return text;
}

std::string data_section(const Dataset& data) {
    std::string text = "<h2>Data</h2>\n<p>" + std::to_string(data.size()) + " rows.</p>\n";
    if (!data.table) return text;
    text += "<table>" + table_row({"column", "kind", "gaps", "levels"}, "th");
    for (const TableColumn& c : data.table->columns()) {
        std::string levels;
        for (std::size_t k = 0; k < std::min<std::size_t>(c.levels.size(), 8); ++k) {
            levels += (k == 0 ? "" : ", ") + c.levels[k];
        }
        if (c.levels.size() > 8) levels += ", …";
        text += table_row(
            {c.name, std::string(column_kinds.word(c.kind)), c.gaps ? "yes" : "", levels});
    }
    text += "</table>\n";
    if (data.table->left_out().empty()) return text;
    text += "<p>Not learnt from:";
    for (const std::string& name : data.table->left_out()) text += " " + in_html(name);
    return text + "</p>\n";
}

std::string candidates_section(const LearnResult& r) {
    std::string text = "<h2>Machines tried</h2>\n<table>" +
                       table_row({"machine", r.numbers ? "RMSE over folds" : "accuracy over folds",
                                  "settings tried", "rows", "seconds", "settings"},
                                 "th");
    for (std::size_t k = 0; k < r.candidates.size(); ++k) {
        const Candidate& c = r.candidates[k];
        std::string settings;
        for (const auto& [name, value] : c.settings)
            settings += name + "=" + short_number(value) + " ";
        const std::string score = std::isnan(c.score) ? c.status
                                  : r.numbers
                                      ? short_number(std::sqrt(c.score))
                                      : in_percent(c.score) + " ± " + in_percent(c.deviation);
        text += table_row({c.name, score, std::to_string(c.points), std::to_string(c.rows),
                           short_number(c.seconds), settings},
                          "td", k == r.chosen ? " class=\"chosen\"" : "");
    }
    text += "</table>\n<p>Kernel chosen:</p><pre>" + in_html(r.candidates[r.chosen].kernel) +
            "</pre>\n";
    const bool searched = std::ranges::any_of(
        r.candidates, [](const Candidate& c) { return !c.axes.empty() && c.tried.size() > 1; });
    if (!searched) return text;
    return text +
           "<h2>Settings tried</h2>\n<p>Every cell is the best over what is not on its axes; the "
           "framed one was taken, grey ones were not tried.</p>\n" +
           figure_of(tuning_figure(r.candidates, r.numbers));
}

std::string residual_figures(const Judgement& j) {
    Drawing drawing;
    Panel& fit = drawing.panel();
    fit.title = "predicted against true";
    fit.x.label = "true";
    fit.y.label = "predicted";
    const auto [low, high] = std::ranges::minmax(j.truth);
    fit.add(Dots{.x = j.truth, .y = j.predicted, .size = 2});
    fit.add(Line{.x = {low, high}, .y = {low, high}, .style = {.colour = grey, .dashed = true}});
    std::vector<double> residuals;
    for (std::size_t i = 0; i < j.rows; ++i) residuals.push_back(j.truth[i] - j.predicted[i]);
    Panel& rest = drawing.panel();
    rest.title = "residuals";
    rest.x.label = "predicted";
    rest.y.label = "true less predicted";
    rest.add(Dots{.x = j.predicted, .y = residuals, .size = 2});
    return figure_of(drawing);
}

std::string confusion_table(const Judgement& j) {
    if (j.classes.size() > 30) return "";
    std::vector<std::string> head{"true \\ predicted"};
    for (const ClassJudgement& c : j.classes) head.push_back(c.name);
    head.insert(head.end(), {"precision", "recall", "F1"});
    std::string text = "<table>" + table_row(head, "th");
    for (std::size_t t = 0; t < j.classes.size(); ++t) {
        std::vector<std::string> cells{j.classes[t].name};
        for (std::size_t p = 0; p < j.classes.size(); ++p) {
            cells.push_back(short_number(j.confusion(t, p)));
        }
        for (const double v : {j.classes[t].precision, j.classes[t].recall, j.classes[t].f1}) {
            cells.push_back(short_number(v));
        }
        text += table_row(cells);
    }
    return text + "</table>\n";
}

std::string curves_figure(const Judgement& j) {
    if (j.roc.empty()) return "";
    Drawing drawing;
    const auto add = [&](const std::vector<CurvePlace>& curve, const std::string& title,
                         const std::string& x, const std::string& y) {
        Panel& panel = drawing.panel();
        panel.title = title;
        panel.x = {.label = x, .low = 0, .high = 1};
        panel.y = {.label = y, .low = 0, .high = 1};
        Line line;
        for (const CurvePlace& place : curve) {
            line.x.push_back(place.x);
            line.y.push_back(place.y);
        }
        panel.add(line);
    };
    add(j.roc, "ROC, area " + short_number(j.roc_area), "false positives", "true positives");
    add(j.precision_recall, "precision by recall, mean " + short_number(j.average_precision),
        "recall", "precision");
    return "<p>Positive class: " + in_html(j.positive) + "</p>\n" + figure_of(drawing);
}

std::string judgement_section(const Judgement& j) {
    std::string text = "<h2>Judgement on the rows set aside</h2>\n";
    if (j.numbers) {
        text += "<p>RMSE " + short_number(j.rmse) + ", MAE " + short_number(j.mae) + ", R² " +
                short_number(j.r2) + ".";
        if (j.coverage) {
            text += " Intervals of " + in_percent(j.coverage_wanted) + " hold " +
                    in_percent(*j.coverage) + " of the targets.";
        }
        return text + "</p>\n" + residual_figures(j);
    }
    text += "<p>Accuracy " + in_percent(j.accuracy) + ", balanced " +
            in_percent(j.balanced_accuracy) + ".";
    if (j.probabilities) {
        text += " Log loss " + short_number(j.probabilities->log_loss) + ", Brier score " +
                short_number(j.probabilities->brier) + ".";
    }
    text += "</p>\n" + confusion_table(j) + curves_figure(j);
    if (j.probabilities) text += figure_of(reliability_figure(*j.probabilities));
    return text;
}

/// Explanations of some rows set aside, or none where the model has none.
std::vector<Explanation> explanations(const LearnResult& r, const Rows& x, std::size_t most) {
    try {
        return explain(r.tested, x, most);
    } catch (const InvalidInput&) {
        return {};
    }
}

std::string columns_section(const LearnResult& r) {
    if (r.importance.empty()) return "";
    std::string text =
        "<h2>What columns add</h2>\n<p>Over rows set aside: how far the value moves when a column "
        "is taken to its usual value.</p>\n" +
        figure_of(importance_figure(r));
    if (r.effects.empty()) return text;
    return text +
           "<h2>What columns do</h2>\n<p>Partial dependence: what is predicted in the mean when "
           "one "
           "column is moved and all others stay. Where columns go together it asks about rows that "
           "never occur.</p>\n" +
           figure_of(effects_figure(r));
}

std::string curve_section(const LearnResult& r) {
    if (r.curve.empty()) {
        return "<h2>Learning curve</h2>\n<p>There was no time left for one: give more.</p>\n";
    }
    std::string text =
        "<h2>Learning curve</h2>\n" + figure_of(learning_curve_figure(r)) + "<table>" +
        table_row({"rows learnt from", "samples", r.numbers ? "RMSE" : "wrong", "deviation"}, "th");
    for (const CurveSize& c : r.curve) {
        const auto shown = [&](double v) { return r.numbers ? short_number(v) : in_percent(v); };
        text += table_row({std::to_string(c.rows), std::to_string(c.draws), shown(c.error),
                           c.draws < 2 ? "" : shown(c.deviation)});
    }
    return text + "</table>\n";
}

std::string drift_section(const LearnResult& r) {
    if (r.drift.empty()) {
        return "<h2>Drift</h2>\n<p>Rows were not set aside by time, so that nothing can be said "
               "about changes in it.</p>\n";
    }
    std::string text =
        "<h2>Drift</h2>\n<p>The last rows against those before, column by column. The test takes "
        "rows "
        "as independent; neighbours in time seldom are, and p is then too small. A column counts "
        "as "
        "changed where p is below 1 % divided by the number of columns and the distance above "
        "0.1.</p>\n<table>" +
        table_row({"column", "test", "distance", "p", ""}, "th");
    for (const ColumnDrift& d : r.drift) {
        text += table_row({d.column, d.test, short_number(d.distance), short_number(d.p_value),
                           d.differs ? "changed" : ""},
                          "td", d.differs ? " class=\"chosen\"" : "");
    }
    return text + "</table>\n";
}

std::string mistakes_section(const LearnResult& r, const Dataset& test) {
    const Judgement& j = r.judgement;
    std::vector<std::pair<double, std::size_t>> worst;
    for (std::size_t i = 0; i < j.rows; ++i) {
        const double size = j.numbers                      ? std::abs(j.truth[i] - j.predicted[i])
                            : j.truth[i] == j.predicted[i] ? 0
                            : j.scores.empty()             ? 1
                                                           : 1 + std::abs(j.scores[i]);
        if (size > 0) worst.emplace_back(size, i);
    }
    std::ranges::stable_sort(worst, [](const auto& a, const auto& b) { return a.first > b.first; });
    if (worst.size() > shown_mistakes) worst.resize(shown_mistakes);
    if (worst.empty()) return "<h2>Worst mistakes</h2>\n<p>There are none.</p>\n";
    std::vector<std::size_t> rows;
    for (const auto& [size, i] : worst) rows.push_back(i);
    const std::vector<Explanation> why = explanations(r, test.x.select(rows), 3);
    std::string text = "<h2>Worst mistakes</h2>\n<table>" +
                       table_row({"row", "true", "predicted", "columns that spoke for it",
                                  "training rows that weighed most"},
                                 "th");
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const std::size_t i = rows[k];
        const auto name = [&](double v) {
            return j.numbers ? short_number(v) : j.classes[static_cast<std::size_t>(v)].name;
        };
        std::string columns, points;
        if (k < why.size()) {
            for (const auto& [column, added] : why[k].columns)
                columns += column + " " + short_number(added) + "; ";
            for (const auto& [row, term] : why[k].points) {
                const std::size_t own = row < r.split.train.size() ? r.split.train[row] : row;
                points += std::to_string(own + 1) + " (" + short_number(term) + "); ";
            }
        }
        text += table_row({std::to_string(r.split.test[i] + 1), name(j.truth[i]),
                           name(j.predicted[i]), columns, points});
    }
    return text + "</table>\n<p>Rows are counted from 1, below the header.</p>\n";
}

}  // namespace

std::string learn_report(const LearnResult& r, const Dataset& data, const ReportTexts& texts) {
    const Dataset test = data.select(r.split.test);
    std::string html =
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
        in_html(texts.title) + "</title>\n<style>" + page_style + "</style></head><body>\n<h1>" +
        in_html(texts.title) + "</h1>\n";
    html += summary(r) + data_section(data) + drift_section(r) + candidates_section(r) +
            judgement_section(r.judgement) + curve_section(r) + columns_section(r) +
            mistakes_section(r, test);
    html += "<h2>Certificate</h2>\n<p>" + in_html(r.verification) + "</p>\n<p>The model " +
            std::string(r.on_all_rows ? "has learnt from all rows; the judgement is of the machine "
                                        "that had not seen those set aside."
                                      : "has not seen the rows set aside.") +
            "</p>\n<h2>To do it again</h2>\n<pre>";
    for (const std::string& command : texts.commands) html += in_html(command) + "\n";
    html += "</pre>\n<pre>" + in_html(texts.python) + "</pre>\n</body></html>\n";
    return html;
}

}  // namespace mercer::chart
