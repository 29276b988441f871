#include "mercer/learn/detail/locate.hpp"

#include <string>
#include <unordered_map>

#include "mercer/base/error.hpp"

namespace mercer {
namespace {

std::string row_key(const Rows& rows, std::size_t i, std::vector<double>& buffer) {
    rows.copy_row(i, buffer);
    // Compared as float: that is how rows are stored unless double was asked for.
    std::string key;
    for (const double value : buffer) {
        const auto single = static_cast<float>(value);
        key.append(reinterpret_cast<const char*>(&single), sizeof single);
    }
    return key;
}

}  // namespace

std::vector<std::size_t> locate_points(const Model& model, const Rows& all) {
    // Of rows of a given matrix a model keeps only the entries it reads.
    const auto columns = columns_read(model.expansion());
    const Rows points =
        columns ? model.expansion().points.select_columns(*columns) : model.expansion().points;
    const Rows x = columns ? all.select_columns(*columns) : all;
    std::vector<double> buffer(x.columns());
    std::vector<double> point_buffer(points.columns());
    std::unordered_map<std::string, std::vector<std::size_t>> by_content;
    std::vector<std::size_t> located;
    std::vector<bool> taken(x.size(), false);
    for (std::size_t i = 0; i < points.size(); ++i) {
        const std::string key = row_key(points, i, point_buffer);
        std::size_t row = i < model.origins().size() ? model.origins()[i] : x.size();
        if (row >= x.size() || row_key(x, row, buffer) != key) {
            if (by_content.empty()) {
                for (std::size_t j = x.size(); j-- > 0;) {
                    by_content[row_key(x, j, buffer)].push_back(j);
                }
            }
            auto& candidates = by_content[key];
            while (!candidates.empty() && taken[candidates.back()]) candidates.pop_back();
            if (candidates.empty()) {
                throw InvalidInput("support vector " + std::to_string(i + 1) +
                                   " of the model is no row of this data: the model was trained on "
                                   "other data");
            }
            row = candidates.back();
        }
        taken[row] = true;
        located.push_back(row);
    }
    return located;
}

}  // namespace mercer
