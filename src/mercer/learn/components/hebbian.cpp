#include "mercer/learn/components/hebbian.hpp"

#include <algorithm>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/kernel/detail/node.hpp"
#include "mercer/learn/components/detail/hebbian_state.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"

namespace mercer {
namespace {

const Describe<HebbianSettings>& described() {
    static const auto settings = [] {
        using S = HebbianSettings;
        Describe<S> d;
        d.add(&S::components, "components", "how many", Range::at_least(1));
        d.add(&S::dictionary, "dictionary", "rows that components are combinations of",
              Range::at_least(1));
        d.add(&S::window, "window",
              "rows waited for before the dictionary is chosen; 0: four times as many")
            .flag = "-";
        d.add(&S::center, "center", "centre the images first");
        d.add(&S::batch, "batch", "rows an update is averaged over", Range::at_least(1));
        d.add(&S::rate, "rate", "step, as a multiple of 1 / variance, at most 1",
              {.low = 0, .high = 1, .low_open = true});
        d.add(&S::anneal, "anneal", "updates after which the step is halved", Range::above(0))
            .flag = "-";
        d.add(&S::passes, "passes", "over the data, at most", Range::at_least(1));
        d.add(&S::tolerance, "tolerance",
              "stop at this residual, relative to the largest eigenvalue", Range::above(0))
            .flag = "tol";
        return d;
    }();
    return settings;
}

void check(const HebbianSettings& s) {
    described().check(s);
    if (contains(s.common.kernel, KernelKind::center) ||
        contains(s.common.kernel, KernelKind::precomputed)) {
        throw InvalidInput("the kernel " + s.common.kernel.text() +
                           " needs the whole sample, which a stream does not have; leave center "
                           "and precomputed out");
    }
}

HebbianSettings with_window(HebbianSettings s) {
    if (s.window == 0) s.window = 4 * s.dictionary;
    return s;
}

}  // namespace

// ---- The stream.

HebbianStream::HebbianStream(HebbianSettings settings)
    : state_((check(settings), std::make_unique<State>(with_window(std::move(settings))))) {}
HebbianStream::HebbianStream(HebbianStream&&) noexcept = default;
HebbianStream& HebbianStream::operator=(HebbianStream&&) noexcept = default;
HebbianStream::~HebbianStream() = default;

void HebbianStream::feed(const Rows& rows, std::span<const double> weights) {
    State& s = *state_;
    if (rows.size() == 0) return;
    if (s.seen == 0) s.columns = rows.columns();
    if (rows.columns() != s.columns) {
        throw InvalidInput("the rows have " + std::to_string(rows.columns()) +
                           " columns; the stream began with " + std::to_string(s.columns));
    }
    if (!weights.empty() && weights.size() != rows.size()) {
        throw InvalidInput("there are " + std::to_string(weights.size()) + " weights for " +
                           std::to_string(rows.size()) + " rows");
    }
    for (const double weight : weights) {
        require_range("a weight", weight, weight >= 0, "0 or greater");
    }
    require_finite(rows);
    require_numbers_only(rows, "learning online");
    s.seen += rows.size();
    std::size_t first = 0;
    if (!s.settled()) {
        const std::size_t room = s.settings.window - s.window_weights.size();
        first = std::min(room, rows.size());
        std::vector<std::size_t> head(first);
        std::iota(head.begin(), head.end(), std::size_t{0});
        s.take(rows.select(head), weights.empty() ? weights : weights.first(first));
        if (s.window_weights.size() == s.settings.window) s.settle();
    }
    std::vector<std::size_t> positions;
    for (; first < rows.size(); first += positions.size()) {
        positions.resize(std::min(s.settings.batch, rows.size() - first));
        std::iota(positions.begin(), positions.end(), first);
        if (!keep_going(s.settings.common.progress, {"learning", -1})) throw Cancelled();
        s.learn(rows.select(positions),
                weights.empty() ? weights : weights.subspan(first, positions.size()));
    }
}

std::size_t HebbianStream::seen() const {
    return state_->seen;
}
std::size_t HebbianStream::updates() const {
    return state_->updates;
}
std::size_t HebbianStream::points() const {
    return state_->dictionary.size();
}
std::size_t HebbianStream::numbers() const {
    const State& s = *state_;
    return s.window.size() + s.window_weights.size() + s.dictionary.size() * s.columns +
           s.pivot_factor.values().size() + s.mean.size() + s.w.values().size() +
           s.drift.values().size() + s.variance.size();
}

Model HebbianStream::model() {
    if (state_->seen == 0) throw InvalidInput("no row has been fed: there are no components yet");
    if (!state_->settled()) state_->settle();
    return Model(state_->model());
}

// ---- On data at hand.

namespace {

/// How well components do is measured on all rows, unless there is no time for that.
Dataset measured_rows(const Dataset& data, std::size_t dictionary, bool stopped) {
    constexpr double work = 3e8;  // multiplications, a fraction of a second
    const double each = static_cast<double>(dictionary) * static_cast<double>(dictionary);
    const auto most = static_cast<std::size_t>(std::max(60.0, work / std::max(1.0, each)));
    return stopped ? data.select(spread_rows(data, false, most)) : data;
}

}  // namespace

Model HebbianPca::fit(const Dataset& data) const {
    return patient_fit_of(task(), settings_.common, data,
                          [&](const FitSettings& common, const std::vector<std::size_t>* rows) {
                              HebbianSettings s = settings_;
                              s.common = common;
                              if (!rows) return learn(s, data);
                              // Nobody may be there to stop these: as many passes as were asked for
                              // can be endless.
                              s.passes = std::min(s.passes, HebbianSettings{}.passes);
                              return learn(s, data.select(*rows));
                          });
}

Model HebbianPca::learn(const HebbianSettings& settings, const Dataset& data) {
    const Run run = settings.common.run();
    HebbianSettings s = settings;
    check(s);
    const Sample sample = take_sample(Task::kha, data, s.common);
    const std::size_t n = sample.size();
    s.window = std::min(s.window, n);
    HebbianStream stream(s);
    HebbianStream::State& state = *stream.state_;
    state.names = sample.data.feature_names;
    FitStatus status = FitStatus::iteration_limit;
    Random random(s.common.seed, 1);
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto ask = [&](std::size_t pass, std::size_t row) {
        const double done =
            (static_cast<double>(pass) + static_cast<double>(row) / static_cast<double>(n)) /
            static_cast<double>(s.passes);
        if (run.goes_on({"learning", done})) return true;
        status = fit_status(run);
        return false;
    };
    bool going = true;
    for (std::size_t pass = 0; pass < s.passes && going; ++pass) {
        random.shuffle(std::span(order));
        for (std::size_t first = 0; first < n && going; first += s.batch) {
            const std::span<const std::size_t> part =
                std::span(order).subspan(first, std::min(s.batch, n - first));
            const Dataset batch = sample.data.select(part);
            stream.feed(batch.x, batch.weights);
            // From now on it is asked here, where there is something to hand back.
            if (state.settled()) state.settings.common.progress = {};
            going = ask(pass, first);
        }
    }
    if (!state.settled()) state.settle();
    const Dataset measured = measured_rows(sample.data, state.dictionary.size(), !going);
    state.measure(measured.x, measured.weights);
    ModelParts model = state.model();
    model.reports[0].figures["rows_measured"] = static_cast<double>(measured.size());
    const bool near = model.reports[0].figures.at("residual") <= s.tolerance;
    model.reports[0].status = near ? FitStatus::converged : status;
    model.reports[0].rows = n;
    model.reports[0].seconds = run.seconds();
    model.trained.numbers["passes"] = static_cast<double>(s.passes);
    return Model(std::move(model));
}

HebbianSettings hebbian_settings(FitSettings common, const SettingValues& values) {
    return described().filled("kha", std::move(common), values);
}

MachineEntry hebbian_entry() {
    return described().entry({.task = Task::kha,
                              .name = "kha",
                              .family = "components",
                              .learns = Learns::functions,
                              .about = "the same, learnt from rows one after another"},
                             hebbian_pca);
}

}  // namespace mercer
