// Rows with several labels each: how tables hold them, and how they are told.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/common/session.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/learn/multi_label.hpp"

namespace mercer::cli {

/// Rows and their labels, 0 or 1, one column each.
struct LabelledTable {
    Dataset data{};  ///< the features alone
    Matrix<double> labels{};
    std::vector<std::string> names{};
};

/// The last columns of a table are the labels. Throws InvalidInput, beginning with `path`, when
/// nothing would be left.
LabelledTable split_labels(const Dataset& data, std::size_t labels, const std::string& path);

/// The columns a model was trained on, and its labels where the table has them too: by name where
/// both have names, else by position. Throws InvalidInput for missing columns.
LabelledTable split_labels(const Dataset& data, const Model& model, const std::string& path);

/// What the labels of a model are called: by their columns, or by their numbers from 1.
std::vector<std::string> label_names(const Model& model);

/// The names of the labels each row has.
std::vector<std::vector<std::string>> names_of(const Matrix<double>& sets,
                                               const std::vector<std::string>& names);

/// "hamming loss …, ranking loss …", and the same for programs.
std::string scores_text(const MultiLabelScores& scores);
nlohmann::ordered_json json_of(const MultiLabelScores& scores);

}  // namespace mercer::cli
