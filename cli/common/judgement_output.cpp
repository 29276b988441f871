#include "cli/common/judgement_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string shortened(const std::string& name, std::size_t most) {
    return name.size() <= most ? name : name.substr(0, most - 1) + "…";
}

std::string confusion_text(const Judgement& j) {
    constexpr std::size_t most = 12;
    if (j.classes.size() > most) {
        return line("confusion", fmt::format("{} classes, too many to show; --json has them all",
                                             j.classes.size()));
    }
    std::string text = fmt::format("\n{:>14}  {}\n{:>14}", "", "predicted", "true");
    for (const ClassJudgement& c : j.classes) text += fmt::format(" {:>10}", shortened(c.name, 10));
    text += fmt::format(" {:>10} {:>10} {:>10}\n", "precision", "recall", "F1");
    for (std::size_t t = 0; t < j.classes.size(); ++t) {
        const ClassJudgement& c = j.classes[t];
        text += fmt::format("{:>14}", shortened(c.name, 14));
        for (std::size_t p = 0; p < j.classes.size(); ++p) {
            text += fmt::format(" {:>10.0f}", j.confusion(t, p));
        }
        text += fmt::format(" {:>10.4f} {:>10.4f} {:>10.4f}\n", c.precision, c.recall, c.f1);
    }
    return text + "\n";
}

std::string reliability_text(const CalibrationReport& r) {
    std::string text =
        line("log loss", fmt::format("{:.6g}", r.log_loss)) +
        line("Brier", fmt::format("{:.6g}", r.brier)) +
        line("reliability", fmt::format("probabilities are off by {:.4f} in the mean, "
                                        "by {:.4f} in the worst tenth",
                                        r.expected_error, r.largest_error));
    return text;
}

std::string classes_text(const Judgement& j) {
    std::string text =
        line("accuracy",
             fmt::format("{}, between {} and {} (95 %, Wilson)", percent(j.accuracy),
                         percent(j.accuracy_interval.low), percent(j.accuracy_interval.high))) +
        line("", fmt::format("as many other rows: between {} and {}", percent(j.accuracy_again.low),
                             percent(j.accuracy_again.high))) +
        line("baseline", fmt::format("{}, always saying {}", percent(j.baseline), j.majority)) +
        line("balanced",
             fmt::format("{}; mean F1 {:.4f}", percent(j.balanced_accuracy), j.macro_f1));
    if (!j.positive.empty()) {
        text += line("positive", j.positive);
        if (std::isnan(j.roc_area)) {
            text += line("ROC", "the rows are of one class: there is no curve");
        } else {
            text += line("ROC", fmt::format("area {:.6f}", j.roc_area)) +
                    line("PR", fmt::format("average precision {:.6f}", j.average_precision));
        }
    }
    if (j.probabilities) text += reliability_text(*j.probabilities);
    return text + confusion_text(j);
}

Json curve_json(const std::vector<CurvePlace>& curve) {
    Json list = Json::array();
    for (const CurvePlace& p : curve) list.push_back({p.threshold, p.x, p.y});
    return list;
}

Json classes_json(const Judgement& j) {
    Json classes = Json::array();
    Json confusion = Json::array();
    for (std::size_t c = 0; c < j.classes.size(); ++c) {
        const ClassJudgement& one = j.classes[c];
        classes.push_back({{"name", one.name},
                           {"rows", one.rows},
                           {"predicted", one.predicted},
                           {"precision", one.precision},
                           {"recall", one.recall},
                           {"f1", one.f1}});
        const auto row = j.confusion.row(c);
        confusion.push_back(std::vector<double>(row.begin(), row.end()));
    }
    Json json{{"rows", j.rows},
              {"accuracy", j.accuracy},
              {"accuracy_interval", {j.accuracy_interval.low, j.accuracy_interval.high}},
              {"accuracy_again", {j.accuracy_again.low, j.accuracy_again.high}},
              {"balanced_accuracy", j.balanced_accuracy},
              {"macro_f1", j.macro_f1},
              {"baseline", j.baseline},
              {"majority", j.majority},
              {"classes", std::move(classes)},
              {"confusion", std::move(confusion)}};
    if (!j.positive.empty()) {
        json.update({{"positive", j.positive},
                     {"roc_area", json_number(j.roc_area)},
                     {"average_precision", json_number(j.average_precision)},
                     {"roc", curve_json(j.roc)},
                     {"precision_recall", curve_json(j.precision_recall)}});
    }
    if (j.probabilities) {
        Json bins = Json::array();
        for (const ReliabilityBin& b : j.probabilities->bins) {
            bins.push_back({{"low", b.low},
                            {"high", b.high},
                            {"rows", b.rows},
                            {"predicted", b.predicted},
                            {"observed", b.observed}});
        }
        json.update({{"log_loss", j.probabilities->log_loss},
                     {"brier", j.probabilities->brier},
                     {"expected_error", j.probabilities->expected_error},
                     {"largest_error", j.probabilities->largest_error},
                     {"reliability", std::move(bins)}});
    }
    return json;
}

}  // namespace

std::string describe_judgement(const Judgement& j) {
    const std::string rows = line("judged on", counted(j.rows, "row"));
    if (!j.numbers) return rows + classes_text(j);
    std::string text =
        rows +
        line("RMSE", fmt::format("{:.6g}, between {:.6g} and {:.6g} (95 %, Student)", j.rmse,
                                 j.rmse_interval.low, j.rmse_interval.high)) +
        line("", fmt::format("as many other rows: between {:.6g} and {:.6g}", j.rmse_again.low,
                             j.rmse_again.high)) +
        line("MAE", fmt::format("{:.6g}", j.mae)) + line("R2", fmt::format("{:.6f}", j.r2)) +
        line("baseline", fmt::format("RMSE {:.6g}, MAE {:.6g}, always saying the mean {:.6g}",
                                     j.baseline_rmse, j.baseline_mae, j.mean));
    if (j.coverage) {
        text += line("coverage", fmt::format("{} of the targets lie in the intervals of {}",
                                             percent(*j.coverage), percent(j.coverage_wanted)));
    }
    return text;
}

Json json_of(const Judgement& j) {
    if (!j.numbers) return classes_json(j);
    Json json{{"rows", j.rows},
              {"rmse", j.rmse},
              {"rmse_interval", {j.rmse_interval.low, json_number(j.rmse_interval.high)}},
              {"rmse_again", {j.rmse_again.low, json_number(j.rmse_again.high)}},
              {"mae", j.mae},
              {"r2", j.r2},
              {"baseline_rmse", j.baseline_rmse},
              {"baseline_mae", j.baseline_mae}};
    if (j.coverage)
        json.update({{"coverage", *j.coverage}, {"coverage_wanted", j.coverage_wanted}});
    return json;
}

}  // namespace mercer::cli
