// Rows with what belongs to them: targets, weights, names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/data/rows.hpp"

namespace mercer MERCER_API {

class TableColumns;

/// The y_1 … y_n: real numbers, or names of classes.
struct Labels {
    std::vector<double> values;      ///< the numbers; positions in `names` when the labels are text
    std::vector<std::string> names;  ///< empty when the labels are numbers

    bool empty() const { return values.empty(); }
    bool are_text() const { return !names.empty(); }
    std::size_t size() const { return values.size(); }

    /// The label of row i as people wrote it: "setosa", "+1" as "1".
    std::string text(std::size_t i) const;
    Labels select(std::span<const std::size_t> positions) const;
};

/// Labels seen as classes 0 … k-1, ordered as people expect: numbers by value, text by
/// `natural_less`.
struct Classes {
    std::vector<std::string> names;   ///< one per class, in order
    std::vector<double> values;       ///< the numeric labels in the same order; empty for text
    std::vector<std::int32_t> index;  ///< one per row
    std::size_t count() const { return names.size(); }
};
Classes classes_of(const Labels& labels);

/// What those columns of a file are that are no features.
struct ColumnRoles {
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    std::size_t label = none;   ///< position among all columns, from 0
    std::size_t weight = none;  ///< the same of the sample weights
    std::string label_name{};   ///< as in the header line, may be empty
    std::string weight_name{};

    friend bool operator==(const ColumnRoles&, const ColumnRoles&) = default;
};

/// The columns that a model was trained on: how another file is to be read for it.
struct KnownColumns {
    std::size_t features = 0;
    std::vector<std::string> names{};  ///< of the features, in order; or empty
    ColumnRoles roles{};
    std::vector<ObjectName> objects{};  ///< columns of texts and graphs
    bool text_labels = false;  ///< classes have names: labels that look like numbers are names too

    bool has_columns() const { return features > 0 || !objects.empty(); }
};

/// Everything one file holds.
struct Dataset {
    Rows x;
    Labels y;                                ///< empty, or one per row
    std::vector<double> weights;             ///< empty (all 1), or one per row, each >= 0
    std::vector<std::string> feature_names;  ///< empty, or one per column
    ColumnRoles roles{};                     ///< where labels and weights stood in a table
    std::vector<std::string> left_out{};     ///< names of columns beside those that were known
    /// Rows of a table with columns of several kinds (data/recipe.hpp): machines fit a recipe on
    /// the rows they learn from. Null: rows are numbers and nothing has to be made of them.
    std::shared_ptr<const TableColumns> table{};

    std::size_t size() const { return x.size(); }
    std::size_t columns() const { return x.columns(); }

    /// The rows at these positions with their labels and weights.
    Dataset select(std::span<const std::size_t> positions) const;

    /// Throws InvalidInput when the parts disagree in length or a weight is negative or not finite.
    void check() const;
};

ColumnMoments column_moments(const Rows& rows);

/// The columns of this data, for reading another file like it.
KnownColumns columns_of(const Dataset& data);

}  // namespace mercer
