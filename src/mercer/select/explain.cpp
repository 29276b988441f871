#include <algorithm>
#include <cmath>
#include <limits>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/target_scale.hpp"
#include "mercer/select/judge.hpp"

namespace mercer {
namespace {

constexpr std::size_t most_explained_columns = 1000;

/// Which output tells of a row, and with which sign.
struct Told {
    std::size_t output = 0;
    double sign = 1;
    std::string toward{};
};

Told told_of(const Model& model, std::span<const double> scores, std::size_t winner) {
    const auto& names = model.class_names();
    if (!is_classifier(model.task())) return {.toward = "the target"};
    const std::size_t k = model.classes();
    if (k > 2 && model.multi_class() == MultiClass::one_vs_rest) {
        return {winner, 1, names[winner] + " rather than the others"};
    }
    std::size_t other = winner == 0 ? 1 : 0;
    for (std::size_t c = 0; c < k; ++c) {
        if (c != winner && scores[c] > scores[other]) other = c;
    }
    // Pairs stand in the order (0,1), (0,2), …, (1,2), …; positive means the first.
    const std::size_t a = std::min(winner, other);
    const std::size_t b = std::max(winner, other);
    const std::size_t pair = a * k - a * (a + 1) / 2 + (b - a - 1);
    return {k == 2 ? 0 : pair, winner == a ? 1.0 : -1.0,
            names[winner] + " rather than " + names[other]};
}

template <class Pair>
void keep_largest(std::vector<Pair>& all, std::size_t most) {
    std::ranges::stable_sort(
        all, [](const Pair& a, const Pair& b) { return std::abs(a.second) > std::abs(b.second); });
    if (all.size() > most) all.resize(most);
}

/// Copies of one row, each with one column at its usual value.
Rows replaced(const Rows& row, const std::vector<double>& usual) {
    const std::size_t columns = row.columns();
    std::vector<double> values(columns * columns), own(columns);
    row.copy_row(0, own);
    for (std::size_t j = 0; j < columns; ++j) {
        std::ranges::copy(own, values.begin() + static_cast<std::ptrdiff_t>(j * columns));
        values[j * columns + j] = usual[j];
    }
    Rows result = Rows::dense(std::move(values), columns);
    if (row.objects().empty()) return result;
    const std::vector<std::size_t> same(columns, 0);
    std::vector<ObjectColumn> objects;
    for (const ObjectColumn& column : row.objects()) objects.push_back(column.select(same));
    return result.with_objects(std::move(objects));
}

std::vector<double> mean_of_points(const Rows& points) {
    const ColumnMoments moments = column_moments(points);
    std::vector<double> mean = moments.sum;
    for (double& m : mean) m /= std::max(1.0, static_cast<double>(points.size()));
    return mean;
}

class Explainer {
   public:
    Explainer(const Model& model, std::size_t most)
        : model_(model),
          most_(most),
          gram_(make_gram<double>(model.expansion().kernel, model.expansion().points, {}, {})) {
        for (const auto& extra : model.extras()) {
            if (!extra->decides()) continue;
            throw InvalidInput("a model of the task " + task_name(model.task()) +
                               " decides by more than its expansion: it cannot be explained so");
        }
        if (model.columns() > most_explained_columns) {
            throw InvalidInput("the model has " + std::to_string(model.columns()) +
                               " columns; explained are at most " +
                               std::to_string(most_explained_columns));
        }
        usual_ = model.recipe() ? std::vector<double>(model.recipe()->fitted().size(),
                                                      std::numeric_limits<double>::quiet_NaN())
                                : mean_of_points(model.expansion().points);
    }

    Explanation operator()(const Rows& row) const {
        const Rows scaled = model_.scaling().apply(rows_for(model_, row));
        const Matrix<double> decisions = model_.decision(row);
        Explanation e;
        Told told{.toward = "the target"};
        if (is_classifier(model_.task())) {
            const auto winner = static_cast<std::size_t>(model_.classify(decisions.view())[0]);
            const Matrix<double> scores = class_scores(model_, decisions.view());
            told = told_of(model_, scores.row(0), winner);
        }
        e.toward = told.toward;
        e.value = told.sign * decisions(0, told.output);
        e.bias = told.sign * model_.expansion().bias[told.output];
        add_points(scaled, told, e);
        add_columns(row, scaled, told, e);
        return e;
    }

   private:
    void add_points(const Rows& scaled, const Told& told, Explanation& e) const {
        const Expansion& own = model_.expansion();
        Matrix<double> k(own.size(), 1);
        gram_.block(gram_.reference(), gram_.prepare(scaled), k.view());
        for (std::size_t p = 0; p < own.size(); ++p) {
            const double term = told.sign * own.coefficients(told.output, p) * k(p, 0);
            if (term == 0) continue;
            e.points.emplace_back(model_.origins().empty() ? p : model_.origins()[p], term);
        }
        keep_largest(e.points, most_);
    }

    void add_columns(const Rows& row, const Rows& scaled, const Told& told, Explanation& e) const {
        if (usual_.empty()) return;
        const Rows changed = model_.recipe()
                                 ? model_.scaling().apply(rows_for(model_, replaced(row, usual_)))
                                 : replaced(scaled.to_dense(), usual_);
        const Matrix<double> values = model_.expansion_values(changed);
        const Matrix<double> here = model_.expansion_values(scaled);
        std::size_t c = 0;
        const auto name_of = [&](std::size_t j) -> std::string {
            if (!model_.recipe()) {
                return j < model_.feature_names().size() ? model_.feature_names()[j]
                                                         : "column " + std::to_string(j + 1);
            }
            const auto& columns = model_.recipe()->columns().columns();
            while (columns[c].kind == ColumnKind::text) ++c;
            return columns[c++].name;
        };
        for (std::size_t j = 0; j < usual_.size(); ++j) {
            const std::string name = name_of(j);
            const double added = told.sign * (here(0, told.output) - values(j, told.output));
            if (added != 0) e.columns.emplace_back(name, added);
        }
        keep_largest(e.columns, most_);
    }

    const Model& model_;
    std::size_t most_;
    Gram<double> gram_;
    std::vector<double> usual_{};
};

}  // namespace

std::vector<Explanation> explain(const Model& model, const Rows& x, std::size_t most,
                                 const Progress& progress) {
    if (!is_classifier(model.task()) && !is_regressor(model.task())) {
        throw InvalidInput("a model of the task " + task_name(model.task()) +
                           " predicts neither classes nor numbers: there is nothing to explain");
    }
    const Explainer explainer(model, most);
    std::vector<Explanation> result;
    for (std::size_t i = 0; i < x.size(); ++i) {
        result.push_back(explainer(x.slice(i, 1)));
        if (!keep_going(progress,
                        {.task = "explaining",
                         .fraction = static_cast<double>(i + 1) / static_cast<double>(x.size())})) {
            throw Cancelled();
        }
    }
    return result;
}

}  // namespace mercer
