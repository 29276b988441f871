#include "mercer/learn/compress/cascade.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/compress/reduce.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/detail/selection.hpp"

namespace mercer {
namespace {

constexpr const char* sign_name = "cascade_sign";
constexpr std::size_t head = 2;          // kernels, threshold
constexpr std::size_t band_rows = 2048;  // of rows evaluated together

double sign_of(const ModelParts& model) {
    const auto found = model.trained.numbers.find(sign_name);
    return found == model.trained.numbers.end() ? 1 : found->second;
}

/// An expansion taken apart into its stages, ready for rows.
template <class T>
class Stages {
   public:
    Stages(const Model& model, const Matrix<double>& table)
        : e_(model.expansion()),
          sign_(sign_of(model.parts())),
          gram_(make_gram<T>(e_.kernel, e_.reference.size() > 0 ? e_.reference : e_.points)) {
        const Points<T> all =
            e_.reference.size() > 0 ? gram_.prepare(e_.points) : gram_.reference();
        std::size_t first = 0;
        for (std::size_t s = 0; s <= table.rows(); ++s) {
            const bool whole = s == table.rows();
            Stage stage;
            stage.last = whole ? e_.size() : static_cast<std::size_t>(table(s, 0));
            if (whole && stage.last == first) break;
            stage.threshold = whole ? -std::numeric_limits<double>::infinity() : table(s, 1);
            const auto weights = whole ? e_.coefficients.row(0) : table.row(s).subspan(head);
            stage.weights.assign(weights.begin(),
                                 weights.begin() + static_cast<std::ptrdiff_t>(stage.last));
            std::vector<std::size_t> fresh(stage.last - first);
            std::iota(fresh.begin(), fresh.end(), first);
            stage.points = gram_.select(all, fresh);
            first = stage.last;
            stages_.push_back(std::move(stage));
        }
    }

    CascadeRun run(const Rows& x, const Progress& progress) const {
        CascadeRun result;
        result.decisions = Matrix<double>(x.size(), 1);
        result.kernels.assign(x.size(), 0);
        const Points<T> all = gram_.prepare(x);
        const std::size_t bands = (x.size() + band_rows - 1) / band_rows;
        // A few bands at a time, so that someone can stop it.
        constexpr std::size_t at_a_time = 16;
        Matrix<std::size_t> left(bands, stages_.size());
        for (std::size_t first = 0; first < bands; first += at_a_time) {
            const double done = static_cast<double>(first) / static_cast<double>(bands);
            if (!keep_going(progress, {"predicting", done})) throw Cancelled();
            parallel_for(std::min(at_a_time, bands - first), [&](std::size_t b) {
                run_band(all, (first + b) * band_rows,
                         std::min(x.size(), (first + b + 1) * band_rows), left.row(first + b),
                         result);
            });
        }
        for (std::size_t s = 0; s < stages_.size(); ++s) {
            result.stages.push_back(stages_[s].last);
            std::size_t sum = 0;
            for (std::size_t b = 0; b < bands; ++b) sum += left(b, s);
            result.left.push_back(sum);
        }
        return result;
    }

   private:
    struct Stage {
        std::size_t last = 0;  ///< kernels up to here
        double threshold = 0;
        std::vector<double> weights{};
        Points<T> points{};  ///< those new to this stage
    };

    /// The rows of a band in play, row r of `values` holding the kernels so far of rows[r]. Packing
    /// rows anew costs about as much as a few kernels, so the rejected stay in the block, unused,
    /// until they are half of it.
    struct Band {
        std::vector<std::size_t> rows{};
        std::vector<char> alive{};
        std::size_t left = 0;
        Points<T> points{};
        Matrix<T> values{};

        void compact(std::size_t done) {
            std::size_t kept = 0;
            for (std::size_t r = 0; r < rows.size(); ++r) {
                if (!alive[r]) continue;
                if (kept != r) std::copy_n(values.row(r).data(), done, values.row(kept).data());
                rows[kept++] = rows[r];
            }
            rows.resize(kept);
            alive.assign(kept, 1);
        }
    };

    void run_band(const Points<T>& all, std::size_t first, std::size_t last,
                  std::span<std::size_t> left, CascadeRun& result) const {
        Band band;
        band.rows.resize(last - first);
        std::iota(band.rows.begin(), band.rows.end(), first);
        band.alive.assign(band.rows.size(), 1);
        band.left = band.rows.size();
        band.points = gram_.select(all, band.rows, false);
        band.values = Matrix<T>(band.rows.size(), e_.size());
        std::size_t done = 0;
        for (std::size_t s = 0; s < stages_.size() && band.left > 0; ++s) {
            if (2 * band.left <= band.rows.size()) {
                band.compact(done);
                band.points = gram_.select(all, band.rows, false);
            }
            const std::size_t fresh = stages_[s].last - done;
            gram_.block(band.points, stages_[s].points,
                        band.values.view().block(0, done, band.rows.size(), fresh));
            done = stages_[s].last;
            judge(stages_[s], band, result);
            left[s] = band.left;
        }
    }

    /// One stage's decision on every row in play.
    void judge(const Stage& stage, Band& band, CascadeRun& result) const {
        for (std::size_t r = 0; r < band.rows.size(); ++r) {
            if (!band.alive[r]) continue;
            const T* k = band.values.row(r).data();
            double sum = e_.bias[0];
            for (std::size_t j = 0; j < stage.last; ++j) {
                sum += stage.weights[j] * static_cast<double>(k[j]);
            }
            const bool rejected = sign_ * sum < stage.threshold;
            result.kernels[band.rows[r]] = stage.last;
            result.decisions(band.rows[r], 0) = rejected ? sum - sign_ * stage.threshold : sum;
            if (!rejected) continue;
            band.alive[r] = 0;
            --band.left;
        }
    }

    const Expansion& e_;
    double sign_;
    Gram<T> gram_;
    std::vector<Stage> stages_{};
};

std::vector<std::size_t> stage_sizes(const std::vector<std::size_t>& wanted, std::size_t size) {
    std::vector<std::size_t> stages = wanted;
    if (wanted.empty()) {
        for (double n = 1; n < static_cast<double>(size); n = std::max(n + 1, n * std::sqrt(2.0))) {
            stages.push_back(static_cast<std::size_t>(n));
        }
    }
    std::size_t before = 0;
    for (const std::size_t n : stages) {
        if (n <= before) {
            throw InvalidInput("the stages of a cascade must ascend and begin above 0, found " +
                               std::to_string(n) + " after " + std::to_string(before));
        }
        before = n;
    }
    std::erase_if(stages, [&](std::size_t n) { return n >= size; });
    return stages;
}

/// Which class is kept, as the sign of its decisions.
double sign_to_keep(const Model& model, const std::string& keep) {
    require_one_machine(model, "a cascade");
    const bool single = !is_classifier(model.task()) && !is_regressor(model.task()) &&
                        !is_clustering(model.task()) && model.expansion().outputs() == 1;
    if (model.expansion().self != 0 || model.expansion().size() == 0 ||
        (!single && !(is_classifier(model.task()) && model.classes() == 2))) {
        throw InvalidInput(
            "a cascade needs a classifier of two classes, or a one-class or Parzen machine, with "
            "vectors; this is a model of task " +
            task_name(model.task()));
    }
    if (keep.empty() || single) return 1;
    for (std::size_t c = 0; c < 2; ++c) {
        if (model.class_names()[c] == keep) return c == 0 ? 1 : -1;
    }
    throw InvalidInput("there is no class " + quoted(keep) + " to keep; the classes are " +
                       model.class_names()[0] + " and " + model.class_names()[1]);
}

/// Rows that the whole expansion accepts and that are of the class to keep.
Rows wanted_rows(const Model& model, const Dataset& data, double sign, const Progress& progress) {
    if (data.size() == 0) throw InvalidInput("there are no rows to set thresholds on");
    const Matrix<double> f = model.decision(data.x, progress);
    const bool labelled = is_classifier(model.task()) && !data.y.empty();
    const std::string name =
        is_classifier(model.task()) ? model.class_names()[sign > 0 ? 0 : 1] : std::string();
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < data.size(); ++i) {
        if (sign * f(i, 0) > 0 && (!labelled || data.y.text(i) == name)) wanted.push_back(i);
    }
    if (wanted.empty()) {
        throw InvalidInput("no row of the data is of the class to keep and accepted by the model");
    }
    return data.x.select(wanted);
}

/// Sets the thresholds one stage after another on rows that should pass.
void set_thresholds(const ModelParts& model, Matrix<double>& table, const Rows& wanted, double rate,
                    const Progress& progress) {
    const double sign = sign_of(model);
    Expansion prefix = model.expansion;
    std::vector<std::size_t> alive(wanted.size());
    std::iota(alive.begin(), alive.end(), std::size_t{0});
    const Rows scaled = model.scaling.apply(wanted);
    for (std::size_t s = 0; s < table.rows(); ++s) {
        const auto done = static_cast<double>(s) / static_cast<double>(table.rows());
        if (!keep_going(progress, {"thresholds", done})) throw Cancelled();
        std::vector<std::size_t> first(static_cast<std::size_t>(table(s, 0)));
        std::iota(first.begin(), first.end(), std::size_t{0});
        prefix.points = model.expansion.points.select(first);
        prefix.coefficients = Matrix<double>(1, first.size());
        std::copy_n(table.row(s).begin() + head, first.size(), prefix.coefficients.row(0).begin());
        const Matrix<double> f =
            Evaluator(prefix, model.double_precision)(scaled.select(alive), progress);
        std::vector<double> value(alive.size());
        for (std::size_t i = 0; i < alive.size(); ++i) value[i] = sign * f(i, 0);
        std::vector<double> sorted = value;
        std::ranges::sort(sorted);
        // The budget so far, less what is spent of it.
        const double share = static_cast<double>(s + 1) / static_cast<double>(table.rows());
        const auto budget =
            static_cast<std::size_t>(rate * share * static_cast<double>(wanted.size()));
        const std::size_t spent = wanted.size() - alive.size();
        const std::size_t goes = std::min(budget - std::min(budget, spent), sorted.size() - 1);
        // A little below the value itself: batches may round it otherwise.
        const double edge = sorted[goes];
        table(s, 1) = edge - 1e-5 * (1 + std::fabs(edge));
        std::vector<std::size_t> next;
        for (std::size_t i = 0; i < alive.size(); ++i) {
            if (value[i] >= table(s, 1)) next.push_back(alive[i]);
        }
        alive = std::move(next);
    }
}

}  // namespace

double CascadeRun::average_kernels() const {
    if (kernels.empty()) return 0;
    double sum = 0;
    for (const std::size_t n : kernels) sum += static_cast<double>(n);
    return sum / static_cast<double>(kernels.size());
}

bool is_cascade(const Model& model) {
    return model.extras().find<CascadeStages>() != nullptr;
}

double kept_sign(const Model& model) {
    return is_cascade(model) ? sign_of(model.parts()) : 1;
}

std::shared_ptr<const Extra> CascadeStages::reduced(const std::shared_ptr<const Extra>&,
                                                    const Model&, const Expansion&) const {
    return nullptr;
}

Matrix<double> CascadeStages::decide(const Model& model, const Rows& scaled,
                                     const Progress& progress) const {
    return run_cascade_scaled(model, scaled, progress).decisions;
}

void CascadeStages::check(const ModelParts& model, const std::string& place) const {
    const auto refuse = [&](const std::string& what) {
        throw InvalidInput(place + ": the cascade " + what);
    };
    if (model.expansion.outputs() != 1 || model.expansion.self != 0) {
        refuse("belongs to a model that cannot have one");
    }
    if (table.columns() != model.expansion.size() + head) {
        refuse("has " + std::to_string(table.columns()) + " columns for " +
               std::to_string(model.expansion.size()) + " vectors; there must be 2 more");
    }
    if (std::fabs(sign_of(model)) != 1) refuse("has a sign that is neither 1 nor -1");
    double before = 0;
    for (std::size_t s = 0; s < table.rows(); ++s) {
        const double n = table(s, 0);
        if (!(n > before) || n != std::floor(n) ||
            n > static_cast<double>(model.expansion.size())) {
            refuse("has stages that do not ascend from 1 to the number of vectors");
        }
        before = n;
    }
}

Model cascade(const Model& model, const Dataset& data, const CascadeSettings& settings) {
    require_range("the rate of false negatives", settings.false_negatives,
                  settings.false_negatives >= 0 && settings.false_negatives < 1,
                  "0 or greater and below 1");
    const double sign = sign_to_keep(model, settings.keep);
    Reduction ordered;
    ordered.expansion = model.expansion();
    const Expansion& e = model.expansion();
    const reduction::OwnValues own = reduction::own_values(e, true, settings.progress);
    ordered.chosen = reduction::choose_greedily(e, own, e.size(), 0, true, settings.progress).order;
    std::vector<char> taken(e.size(), 0);
    for (const std::size_t i : ordered.chosen) taken[i] = 1;
    for (std::size_t i = 0; i < e.size(); ++i) {
        if (!taken[i]) ordered.chosen.push_back(i);
    }
    ordered.expansion.points = e.points.select(ordered.chosen);
    for (std::size_t j = 0; j < e.size(); ++j) {
        ordered.expansion.coefficients(0, j) = e.coefficients(0, ordered.chosen[j]);
    }
    ModelParts result = with_reduction(model, ordered).parts();
    result.reports = model.reports();
    const std::vector<std::size_t> stages = stage_sizes(settings.stages, e.size());
    Matrix<double> table(stages.size(), head + e.size());
    for (std::size_t s = 0; s < stages.size(); ++s) {
        std::vector<std::size_t> first(stages[s]);
        std::iota(first.begin(), first.end(), std::size_t{0});
        const Matrix<double> b =
            nearest_coefficients(result.expansion, result.expansion.points.select(first));
        table(s, 0) = static_cast<double>(stages[s]);
        std::ranges::copy(b.row(0), table.row(s).begin() + head);
    }
    const Rows wanted = wanted_rows(model, data, sign, settings.progress);
    result.trained.numbers[sign_name] = sign;
    set_thresholds(result, table, wanted, settings.false_negatives, settings.progress);
    result.extras.set(CascadeStages(std::move(table)));
    return Model(std::move(result));
}

CascadeRun run_cascade(const Model& model, const Rows& x, const Progress& progress) {
    return run_cascade_scaled(model, model.scaling().apply(rows_for(model, x)), progress);
}

CascadeRun run_cascade_scaled(const Model& model, const Rows& x, const Progress& progress) {
    const CascadeStages* stages = model.extras().find<CascadeStages>();
    if (!stages) throw InvalidInput("the model is no cascade; make one of it first");
    return model.double_precision() ? Stages<double>(model, stages->table).run(x, progress)
                                    : Stages<float>(model, stages->table).run(x, progress);
}

}  // namespace mercer
