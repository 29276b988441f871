#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/kernel/detail/node.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/online/detail/perceptron_core.hpp"
#include "mercer/learn/online/perceptron.hpp"

namespace mercer {
namespace {

void check(const StreamSettings& s) {
    if (s.class_names.size() < 2) throw InvalidInput("a stream needs the names of two classes");
    const std::set<std::string> different(s.class_names.begin(), s.class_names.end());
    if (different.size() != s.class_names.size()) {
        throw InvalidInput("two classes of the stream have the same name");
    }
    if (s.columns == 0) throw InvalidInput("a stream needs rows of at least one column");
    if (s.budget == 1) throw InvalidInput("budget = 1 must be 0 (none) or at least 2");
    if (s.kernel.needs_data() || is_centered(s.kernel) ||
        contains(s.kernel, KernelKind::precomputed)) {
        throw InvalidInput("the kernel " + quoted(s.kernel.text(), 200) +
                           " needs a whole sample, which a stream does not have; give numbers for "
                           "its parameters");
    }
}

/// The points held, in the precision of the kernel values.
template <class T>
struct Held {
    PerceptronCore<T> core;
    Rows rows{};
    std::optional<Gram<T>> gram{};  ///< made for the first row
    Points<T> points{};

    explicit Held(const StreamSettings& s)
        : core(s.class_names.size() == 2 ? 1 : s.class_names.size(), s.budget, s.bias, false) {}

    bool update(const StreamSettings& s, const Rows& x, std::size_t y) {
        if (!gram) gram = make_gram<T>(s.kernel, x);
        const std::size_t place[] = {rows.size()};
        const std::size_t label[] = {y};
        PassRecord record;
        core.learn(*gram, gram->prepare(x), points, place, label, {}, record);
        if (record.mistakes == 0) return false;
        rows = concatenate(rows, x).select(core.positions());
        core.renumber();
        points = gram->prepare(rows);
        return true;
    }
};

}  // namespace

struct PerceptronStream::State {
    StreamSettings settings;
    std::optional<Held<float>> single{};
    std::optional<Held<double>> twice{};

    template <class Body>
    decltype(auto) with(Body&& body) {
        return twice ? body(*twice) : body(*single);
    }
};

PerceptronStream::PerceptronStream(StreamSettings settings) {
    check(settings);
    state_ = std::make_unique<State>(State{std::move(settings)});
    if (state_->settings.double_precision) {
        state_->twice.emplace(state_->settings);
    } else {
        state_->single.emplace(state_->settings);
    }
}
PerceptronStream::PerceptronStream(PerceptronStream&&) noexcept = default;
PerceptronStream& PerceptronStream::operator=(PerceptronStream&&) noexcept = default;
PerceptronStream::~PerceptronStream() = default;

bool PerceptronStream::update(std::span<const double> x, std::size_t y) {
    const StreamSettings& s = state_->settings;
    if (x.size() != s.columns) {
        throw InvalidInput("the row has " + std::to_string(x.size()) +
                           " columns; this stream's have " + std::to_string(s.columns));
    }
    if (y >= s.class_names.size()) {
        throw InvalidInput("class " + std::to_string(y) +
                           " is not there: positions count from 0 and "
                           "must be below " +
                           std::to_string(s.class_names.size()));
    }
    if (!std::ranges::all_of(x, [](double v) { return std::isfinite(v); })) {
        throw InvalidInput("the row has a value that is not finite");
    }
    const Rows row = s.double_precision
                         ? Rows::dense(std::vector<double>(x.begin(), x.end()), s.columns)
                         : Rows::dense(std::vector<float>(x.begin(), x.end()), s.columns);
    return state_->with([&](auto& held) { return held.update(s, row, y); });
}

std::size_t PerceptronStream::steps() const {
    return state_->with([](auto& held) { return held.core.steps(); });
}
std::size_t PerceptronStream::mistakes() const {
    return state_->with([](auto& held) { return held.core.mistakes(); });
}
std::size_t PerceptronStream::points() const {
    return state_->with([](auto& held) { return held.core.positions().size(); });
}

Model PerceptronStream::model() const {
    const StreamSettings& s = state_->settings;
    ModelParts model;
    model.task = Task::perceptron;
    model.multi_class = MultiClass::one_vs_rest;
    model.class_names = s.class_names;
    model.columns = s.columns;
    model.double_precision = s.double_precision;
    model.trained.bias = s.bias;
    if (s.averaged) model.trained.numbers["averaged"] = 1;
    if (s.budget > 0) model.trained.numbers["budget"] = static_cast<double>(s.budget);
    state_->with([&](auto& held) {
        Expansion& e = model.expansion;
        e.kernel = s.kernel;
        e.points = held.rows;
        e.coefficients = held.core.coefficients(s.averaged);
        e.bias = held.core.bias(s.averaged);
        Report report;
        report.rows = held.core.steps();
        report.iterations = held.core.steps();
        report.free_support_vectors = held.rows.size();
        report.kernel_evaluations = held.core.evaluations();
        report.figures["mistakes"] = static_cast<double>(held.core.mistakes());
        if (s.budget > 0) report.figures["merges"] = static_cast<double>(held.core.merges());
        model.reports = {std::move(report)};
    });
    return Model(std::move(model));
}

}  // namespace mercer
