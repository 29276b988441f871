// Rows that lie elsewhere than those a recipe was fitted on, told without a guess about how these
// were distributed.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "mercer/base/text.hpp"
#include "mercer/data/recipe.hpp"

namespace mercer {
namespace {

constexpr double chance = 0.01;  ///< of a remark, over all columns, where nothing has changed
constexpr std::array<double, 8> reaches{2, 4, 8, 16, 32, 64, 128, 256};

double distance_of(const Recipe::Fitted& f, double value) {
    if (f.bent) value = std::asinh((value - f.middle) / f.reach);
    return std::abs(value - f.center) / f.spread;
}

/// A bound on the probability of `hits` or more among `rows` where each has at most the probability
/// p (Chernoff).
double at_least(std::size_t hits, std::size_t rows, double p) {
    const double share = static_cast<double>(hits) / static_cast<double>(rows);
    if (share <= p) return 1;
    const double rest = share < 1 ? (1 - share) * std::log((1 - share) / (1 - p)) : 0;
    return std::exp(-static_cast<double>(rows) * (share * std::log(share / p) + rest));
}

}  // namespace

std::vector<std::string> far_remarks(const Recipe& recipe, const Rows& rows) {
    std::vector<std::string> sentences;
    std::vector<const TableColumn*> columns;
    for (const TableColumn& c : recipe.columns().columns()) {
        if (c.kind != ColumnKind::text) columns.push_back(&c);
    }
    const std::size_t width = std::min(columns.size(), rows.columns());
    std::vector<std::array<std::size_t, reaches.size()>> beyond(width);
    std::vector<std::size_t> known(width, 0);
    std::vector<double> row(rows.columns());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows.copy_row(i, row);
        for (std::size_t j = 0; j < width; ++j) {
            const Recipe::Fitted& f = recipe.fitted()[j];
            if (columns[j]->kind != ColumnKind::number || f.spread == 0 || std::isnan(row[j]))
                continue;
            ++known[j];
            const double distance = distance_of(f, row[j]);
            for (std::size_t k = 0; k < reaches.size() && distance > reaches[k]; ++k)
                ++beyond[j][k];
        }
    }
    const double level = chance / static_cast<double>(std::max<std::size_t>(1, width)) /
                         static_cast<double>(reaches.size());
    for (std::size_t j = 0; j < width; ++j) {
        // The farthest reach that proves it says most.
        for (std::size_t k = reaches.size(); k-- > 0;) {
            // Chebyshev: of the rows fitted on, no more than 1 / reach² lay so far out.
            const double most = 1 / (reaches[k] * reaches[k]);
            if (known[j] == 0 || at_least(beyond[j][k], known[j], most) > level) continue;
            sentences.push_back(std::to_string(beyond[j][k]) + " of " + std::to_string(known[j]) +
                                " rows have a " + quoted(columns[j]->name) + " more than " +
                                format_number(reaches[k]) +
                                " deviations from the mean of the rows learnt from, of which at "
                                "most one in " +
                                format_number(reaches[k] * reaches[k]) +
                                " was: the model knows little about such rows");
            break;
        }
    }
    return sentences;
}

}  // namespace mercer
