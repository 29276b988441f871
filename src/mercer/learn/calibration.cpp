#include "mercer/learn/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/base/words.hpp"
#include "mercer/learn/detail/density_marks.hpp"
#include "mercer/learn/detail/platt.hpp"

namespace mercer {
namespace {

constexpr Words methods{std::pair{CalibrationMethod::platt, "platt"},
                        std::pair{CalibrationMethod::isotonic, "isotonic"},
                        std::pair{CalibrationMethod::temperature, "temperature"}};

bool against_rest(const Model& model) {
    return model.multi_class() == MultiClass::one_vs_rest && model.classes() > 2;
}

/// softmax(scores / temperature), without overflow.
void softmax(std::span<const double> scores, double temperature, std::span<double> out) {
    const double largest = *std::ranges::max_element(scores);
    double sum = 0;
    for (std::size_t c = 0; c < scores.size(); ++c) {
        sum += out[c] = std::exp((scores[c] - largest) / temperature);
    }
    for (double& p : out) p /= sum;
}

/// The map of each output, out of the model's array.
std::vector<IsotonicMap> isotonic_maps(const Model& model) {
    std::vector<IsotonicMap> maps(model.expansion().outputs());
    const Matrix<double>& table = *model.extras().find<Calibration>()->isotonic;
    for (std::size_t r = 0; r < table.rows(); ++r) {
        IsotonicMap& map = maps.at(static_cast<std::size_t>(table(r, 0)));
        map.at.push_back(table(r, 1));
        map.value.push_back(table(r, 2));
    }
    return maps;
}

/// Class probabilities from the probability of the first class of each output.
void combine_outputs(const Model& model, std::span<const double> sure, std::span<double> out) {
    const std::size_t k = model.classes();
    if (against_rest(model)) {
        const double sum = std::accumulate(sure.begin(), sure.end(), 0.0);
        for (std::size_t c = 0; c < k; ++c) out[c] = sure[c] / sum;
        return;
    }
    Matrix<double> pairwise(k, k);
    std::size_t pair = 0;
    for (std::size_t a = 0; a < k; ++a) {
        for (std::size_t b = a + 1; b < k; ++b, ++pair) {
            pairwise(a, b) = sure[pair];
            pairwise(b, a) = 1 - sure[pair];
        }
    }
    std::ranges::copy(couple(pairwise), out.begin());
}

/// Inside and outside, by the marks of a one-class machine.
Matrix<double> by_marks(const Model& model, MatrixView<const double> decisions) {
    const auto& marks = model.extras().find<DensityMarks>()->marks.values();
    Matrix<double> result(decisions.rows, 2);
    for (std::size_t i = 0; i < decisions.rows; ++i) {
        result(i, 0) = inside_probability(marks, decisions(i, 0));
        result(i, 1) = 1 - result(i, 0);
    }
    return result;
}

/// Decisions and targets 1 (first class) and 0 of the rows an output is about.
struct OutputSample {
    std::vector<double> decisions{};
    std::vector<double> targets{};
};
OutputSample sample_of(const Model& model, const Matrix<double>& f,
                       const std::vector<std::size_t>& truth, std::size_t output) {
    std::size_t a = output;
    std::size_t b = model.classes();  // all others
    if (!against_rest(model)) {
        std::size_t pair = 0;
        for (std::size_t i = 0; i < model.classes(); ++i) {
            for (std::size_t j = i + 1; j < model.classes(); ++j, ++pair) {
                if (pair == output) std::tie(a, b) = std::pair(i, j);
            }
        }
    }
    OutputSample sample;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        if (b < model.classes() && truth[i] != a && truth[i] != b) continue;
        sample.decisions.push_back(f(i, output));
        sample.targets.push_back(truth[i] == a ? 1.0 : 0.0);
    }
    for (const double wanted : {1.0, 0.0}) {
        if (std::ranges::find(sample.targets, wanted) != sample.targets.end()) continue;
        const std::size_t missing = wanted == 1.0 ? a : b;
        throw InvalidInput("there is no row " +
                           (missing < model.classes()
                                ? "of the class " + quoted(model.class_names()[missing])
                                : "outside the class " + quoted(model.class_names()[a])) +
                           " to learn probabilities from");
    }
    return sample;
}

}  // namespace

std::string method_name(CalibrationMethod method) {
    return std::string(methods.word(method));
}

CalibrationMethod calibration_named(std::string_view name) {
    return methods.value(name, "calibration");
}

double IsotonicMap::operator()(double x) const {
    if (x <= at.front()) return value.front();
    if (x >= at.back()) return value.back();
    const auto after = static_cast<std::size_t>(std::ranges::upper_bound(at, x) - at.begin());
    const double width = at[after] - at[after - 1];
    return value[after - 1] + (value[after] - value[after - 1]) * (x - at[after - 1]) / width;
}

IsotonicMap fit_isotonic(std::span<const double> places, std::span<const double> targets,
                         std::span<const double> weights) {
    if (places.empty() || places.size() != targets.size() ||
        (!weights.empty() && weights.size() != places.size())) {
        throw InvalidInput(
            "a rising curve needs one target (and weight) a place, and some of them");
    }
    std::vector<std::size_t> order(places.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return places[i]; });
    /// Places first … last share one mean.
    struct Block {
        double first, last, sum, weight;
        double mean() const { return sum / weight; }
    };
    std::vector<Block> blocks;
    for (std::size_t k = 0; k < order.size();) {
        const double x = places[order[k]];
        Block block{x, x, 0, 0};
        for (; k < order.size() && places[order[k]] == x; ++k) {
            const double w = weights.empty() ? 1 : weights[order[k]];
            block.sum += w * targets[order[k]];
            block.weight += w;
        }
        blocks.push_back(block);
        while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() >= blocks.back().mean()) {
            const Block last = blocks.back();
            blocks.pop_back();
            blocks.back().last = last.last;
            blocks.back().sum += last.sum;
            blocks.back().weight += last.weight;
        }
    }
    IsotonicMap map;
    for (const Block& block : blocks) {
        map.at.push_back(block.first);
        map.value.push_back(block.mean());
        if (block.last == block.first) continue;
        map.at.push_back(block.last);
        map.value.push_back(block.mean());
    }
    return map;
}

std::vector<std::size_t> class_positions(const Model& model, const Labels& labels) {
    const Classes classes = classes_of(labels);
    std::vector<std::size_t> place;
    for (const std::string& name : classes.names) {
        const auto found = std::ranges::find(model.class_names(), name);
        if (found == model.class_names().end()) {
            throw InvalidInput("the label " + quoted(name) + " is no class of the model");
        }
        place.push_back(static_cast<std::size_t>(found - model.class_names().begin()));
    }
    std::vector<std::size_t> positions;
    for (const std::int32_t index : classes.index) {
        positions.push_back(place[static_cast<std::size_t>(index)]);
    }
    return positions;
}

Matrix<double> class_scores(const Model& model, MatrixView<const double> decisions) {
    const std::size_t k = model.classes();
    Matrix<double> scores(decisions.rows, k);
    for (std::size_t i = 0; i < decisions.rows; ++i) {
        const auto f = decisions.row(i);
        if (against_rest(model)) {
            std::ranges::copy(f, scores.row(i).begin());
            continue;
        }
        if (k == 2) {
            scores(i, 0) = f[0];
            continue;
        }
        std::size_t pair = 0;
        for (std::size_t a = 0; a < k; ++a) {
            for (std::size_t b = a + 1; b < k; ++b, ++pair) {
                scores(i, a) += f[pair];
                scores(i, b) -= f[pair];
            }
        }
    }
    return scores;
}

double fit_temperature(MatrixView<const double> scores, std::span<const std::size_t> truth) {
    double size = 0;
    for (std::size_t i = 0; i < scores.rows; ++i) {
        for (const double s : scores.row(i)) size = std::max(size, std::abs(s));
    }
    if (!(size > 0)) return 1;
    // In β = 1/T the loss is convex with the slope Σ E[s] − s_true.
    std::vector<double> p(scores.columns);
    const auto slope = [&](double beta) {
        double sum = 0;
        for (std::size_t i = 0; i < scores.rows; ++i) {
            const auto s = scores.row(i);
            softmax(s, 1 / beta, p);
            sum += std::inner_product(s.begin(), s.end(), p.begin(), 0.0) - s[truth[i]];
        }
        return sum;
    };
    // Rows that are all told apart would want T = 0: a ten thousandth of the largest score is it.
    double low = std::log(1e-4 / size);
    double high = std::log(1e4 / size);
    for (int step = 0; step < 200 && high - low > 1e-13; ++step) {
        const double middle = 0.5 * (low + high);
        (slope(std::exp(middle)) < 0 ? low : high) = middle;
    }
    return std::exp(-0.5 * (low + high));
}

Model calibrate(const Model& model, const Dataset& held_out, CalibrationMethod method) {
    if (!is_classifier(model.task())) {
        throw InvalidInput(
            "only classifiers have class probabilities; this is a model of the task " +
            task_name(model.task()));
    }
    if (held_out.y.empty() || held_out.size() == 0) {
        throw InvalidInput("probabilities are learnt from labelled rows, and the data has none");
    }
    const std::vector<std::size_t> truth = class_positions(model, held_out.y);
    const Matrix<double> f = model.decision(held_out.x);
    ModelParts result = model.parts();
    Calibration learnt;
    if (method == CalibrationMethod::temperature) {
        const Matrix<double> scores = class_scores(model, f.view());
        learnt.temperature = Matrix<double>(1, 1, fit_temperature(scores.view(), truth));
        result.extras.set(std::move(learnt));
        return Model(std::move(result));
    }
    std::vector<double> table;
    for (std::size_t output = 0; output < model.expansion().outputs(); ++output) {
        OutputSample sample = sample_of(model, f, truth, output);
        if (method == CalibrationMethod::platt) {
            for (double& y : sample.targets) y = 2 * y - 1;
            learnt.sigmoids.push_back(fit_sigmoid(sample.decisions, sample.targets));
            continue;
        }
        const IsotonicMap map = fit_isotonic(sample.decisions, sample.targets);
        for (std::size_t r = 0; r < map.at.size(); ++r) {
            table.insert(table.end(), {static_cast<double>(output), map.at[r], map.value[r]});
        }
    }
    if (method == CalibrationMethod::isotonic) {
        Matrix<double> array(table.size() / 3, 3);
        array.values() = std::move(table);
        learnt.isotonic = std::move(array);
    }
    result.extras.set(std::move(learnt));
    return Model(std::move(result));
}

bool has_probabilities(const Model& model) {
    if (model.task() == Task::one_class) return model.extras().find<DensityMarks>() != nullptr;
    return is_classifier(model.task()) && model.extras().find<Calibration>() != nullptr;
}

Matrix<double> probabilities_of(const Model& model, MatrixView<const double> decisions) {
    if (!has_probabilities(model)) {
        throw InvalidInput(
            "the model was trained without probabilities; train with `probability=true`, or "
            "calibrate it");
    }
    if (model.task() == Task::one_class) return by_marks(model, decisions);
    const std::size_t outputs = decisions.columns;
    Matrix<double> result(decisions.rows, model.classes());
    const Calibration& learnt = *model.extras().find<Calibration>();
    if (learnt.temperature) {
        const Matrix<double> scores = class_scores(model, decisions);
        for (std::size_t i = 0; i < decisions.rows; ++i) {
            softmax(scores.row(i), (*learnt.temperature)(0, 0), result.row(i));
        }
    } else {
        std::vector<IsotonicMap> maps;
        if (learnt.isotonic) maps = isotonic_maps(model);
        std::vector<double> sure(outputs);
        for (std::size_t i = 0; i < decisions.rows; ++i) {
            for (std::size_t o = 0; o < outputs; ++o) {
                const double f = decisions(i, o);
                const double p = maps.empty() ? probability(learnt.sigmoids[o], f) : maps[o](f);
                sure[o] = std::clamp(p, 1e-7, 1 - 1e-7);
            }
            combine_outputs(model, sure, result.row(i));
        }
    }
    return result;
}

std::vector<std::string> probability_names(const Model& model) {
    if (model.task() == Task::one_class) return {"inside", "outside"};
    return model.class_names();
}

std::vector<double> likeliest(const Model& model, MatrixView<const double> probabilities) {
    std::vector<double> result(probabilities.rows);
    for (std::size_t i = 0; i < probabilities.rows; ++i) {
        const auto p = probabilities.row(i);
        const auto best = std::ranges::max_element(p) - p.begin();
        const bool single = model.task() == Task::one_class;
        result[i] = single ? (best == 0 ? 1 : -1) : static_cast<double>(best);
    }
    return result;
}

std::shared_ptr<const Extra> Calibration::take(const ModelParts& model, Arrays& from) {
    if (!is_classifier(model.task)) return nullptr;
    const auto found = std::dynamic_pointer_cast<const Calibration>(ArrayExtra::take(model, from));
    const std::span<const Sigmoid> sigmoids = sigmoids_of(model.extras);
    if (!found || sigmoids.empty()) return found;
    auto both = std::make_shared<Calibration>(*found);
    both->sigmoids.assign(sigmoids.begin(), sigmoids.end());
    return both;
}

std::span<const Sigmoid> sigmoids_of(const Extras& extras) {
    const Calibration* learnt = extras.find<Calibration>();
    return learnt ? std::span<const Sigmoid>(learnt->sigmoids) : std::span<const Sigmoid>();
}

void DensityMarks::check(const ModelParts&, const std::string& place) const {
    if (marks.rows() == 1 && marks.columns() == density_mark_count &&
        std::ranges::is_sorted(marks.values())) {
        return;
    }
    throw InvalidInput(place + ": density_marks must be 10 numbers, none below the one before");
}

void Calibration::check(const ModelParts& model, const std::string& place) const {
    if (!is_classifier(model.task)) return;
    if (temperature && (temperature->values().size() != 1 || !((*temperature)(0, 0) > 0))) {
        throw InvalidInput(place + ": a temperature is one number greater than 0");
    }
    if (!isotonic) return;
    const Matrix<double>& table = *isotonic;
    const auto fail = [&](const std::string& what) {
        throw InvalidInput(place + ": array isotonic " + what);
    };
    if (table.columns() != 3) fail("must have 3 columns: output, place, value");
    std::size_t outputs = 0;
    for (std::size_t r = 0; r < table.rows(); ++r) {
        const bool begins = table(r, 0) == static_cast<double>(outputs);
        if (begins) ++outputs;
        if (!begins && (outputs == 0 || table(r, 0) != static_cast<double>(outputs - 1))) {
            fail("must list the outputs in order");
        }
        if (!(table(r, 2) >= 0 && table(r, 2) <= 1)) fail("has a value outside 0 … 1");
        if (!begins && !(table(r, 1) > table(r - 1, 1) && table(r, 2) >= table(r - 1, 2))) {
            fail("must rise from row to row");
        }
    }
    if (outputs != model.expansion.outputs()) fail("must have rows for every output");
}

}  // namespace mercer
