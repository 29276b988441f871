#include "cli/common/label_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer::cli {
namespace {

/// The features and the labels at these columns.
LabelledTable split_at(const Dataset& data, const std::vector<std::size_t>& features,
                       const std::vector<std::size_t>& labels) {
    LabelledTable table{.data = data, .labels = Matrix<double>(data.size(), labels.size())};
    table.data.x = data.x.select_columns(features);
    table.data.feature_names.clear();
    if (!data.feature_names.empty()) {
        for (const std::size_t j : features) {
            table.data.feature_names.push_back(data.feature_names[j]);
        }
    }
    std::vector<double> row(data.columns());
    for (std::size_t i = 0; i < data.size(); ++i) {
        data.x.copy_row(i, row);
        for (std::size_t k = 0; k < labels.size(); ++k) table.labels(i, k) = row[labels[k]];
    }
    for (std::size_t k = 0; k < labels.size(); ++k) {
        table.names.push_back(labels[k] < data.feature_names.size() ? data.feature_names[labels[k]]
                                                                    : std::to_string(k + 1));
    }
    return table;
}

std::vector<std::size_t> numbers(std::size_t first, std::size_t last) {
    std::vector<std::size_t> result(last - first);
    std::iota(result.begin(), result.end(), first);
    return result;
}

/// Where these names stand, up to the first that is not there.
std::vector<std::size_t> places_of(const std::vector<std::string>& names, const Dataset& data) {
    std::vector<std::size_t> places;
    for (const std::string& name : names) {
        const auto found = std::ranges::find(data.feature_names, name);
        if (found == data.feature_names.end()) break;
        places.push_back(static_cast<std::size_t>(found - data.feature_names.begin()));
    }
    return places;
}

}  // namespace

LabelledTable split_labels(const Dataset& data, std::size_t labels, const std::string& path) {
    if (data.columns() <= labels) {
        throw InvalidInput(fmt::format("{}: {} cannot hold {} and data to learn from", path,
                                       counted(data.columns(), "column"),
                                       counted(labels, "label")));
    }
    const std::size_t first = data.columns() - labels;
    return split_at(data, numbers(0, first), numbers(first, data.columns()));
}

LabelledTable split_labels(const Dataset& data, const Model& model, const std::string& path) {
    const std::size_t labels = model.expansion().outputs();
    if (!data.feature_names.empty() && !model.feature_names().empty()) {
        const std::vector<std::size_t> features = places_of(model.feature_names(), data);
        if (features.size() < model.columns()) {
            throw InvalidInput(
                fmt::format("{}: there is no column {}, which the model was trained on", path,
                            mercer::quoted(model.feature_names()[features.size()])));
        }
        std::vector<std::size_t> truth = places_of(model.target_names(), data);
        if (truth.size() < labels) truth.clear();
        return split_at(data, features, truth);
    }
    // What sparse rows do not list is zero.
    const bool whole = data.columns() == model.columns() + labels;
    if (data.columns() != model.columns() && !whole && !data.x.is_sparse()) {
        throw InvalidInput(fmt::format(
            "{}: {}; the model was trained on {}, after which its {} may stand", path,
            counted(data.columns(), "column"), model.columns(), counted(labels, "label")));
    }
    const std::size_t features = std::min(model.columns(), data.columns());
    return split_at(data, numbers(0, features),
                    whole ? numbers(model.columns(), data.columns()) : std::vector<std::size_t>());
}

std::vector<std::string> label_names(const Model& model) {
    if (!model.target_names().empty()) return model.target_names();
    std::vector<std::string> names;
    for (std::size_t k = 1; k <= model.expansion().outputs(); ++k)
        names.push_back(std::to_string(k));
    return names;
}

std::vector<std::vector<std::string>> names_of(const Matrix<double>& sets,
                                               const std::vector<std::string>& names) {
    std::vector<std::vector<std::string>> result(sets.rows());
    for (std::size_t i = 0; i < sets.rows(); ++i) {
        for (std::size_t k = 0; k < sets.columns(); ++k) {
            if (sets(i, k) == 1) result[i].push_back(names[k]);
        }
    }
    return result;
}

std::string scores_text(const MultiLabelScores& s) {
    return fmt::format(
        "hamming loss {:.4f}, ranking loss {:.4f}, one-error {:.4f}, average precision {:.4f}",
        s.hamming_loss, s.ranking_loss, s.one_error, s.average_precision);
}

nlohmann::ordered_json json_of(const MultiLabelScores& s) {
    return {{"hamming_loss", s.hamming_loss},
            {"ranking_loss", s.ranking_loss},
            {"one_error", s.one_error},
            {"average_precision", s.average_precision}};
}

}  // namespace mercer::cli
