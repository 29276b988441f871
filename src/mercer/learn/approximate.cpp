// Any machine in the span of some rows: it learns with the linear kernel from the features of all
// rows there, and what it has learnt is written down over the centres.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/detail/centre_span.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/span_sample.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/solver/linear/detail/incomplete_cholesky.hpp"

namespace mercer {
namespace {

constexpr std::size_t block_rows = 8192;

/// The features of all rows, and what they leave of k(x, x).
template <class T>
struct SpanFeatures {
    std::vector<T> values{};
    std::vector<double> left{};
};

/// This rank's of the blocks that the rows make, from the first up to, but without, the second.
std::pair<std::size_t, std::size_t> own_blocks(std::size_t rows, const Communicator& ranks,
                                               std::size_t rank) {
    const std::size_t blocks = (rows + block_rows - 1) / block_rows;
    return {std::min(rows, blocks * rank / ranks.size() * block_rows),
            std::min(rows, blocks * (rank + 1) / ranks.size() * block_rows)};
}

/// Makes known to all ranks what each has put into its blocks, `width` numbers a row.
template <class T>
void share_blocks(Communicator& ranks, std::size_t rows, std::size_t width, std::vector<T>& all) {
    std::vector<std::size_t> bytes;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        const auto [first, last] = own_blocks(rows, ranks, r);
        bytes.push_back((last - first) * width * sizeof(T));
    }
    const auto [first, last] = own_blocks(rows, ranks, ranks.rank());
    const std::vector<T> own(all.begin() + static_cast<std::ptrdiff_t>(first * width),
                             all.begin() + static_cast<std::ptrdiff_t>(last * width));
    ranks.gather_to(std::as_bytes(std::span(own)), bytes, std::as_writable_bytes(std::span(all)));
}

/// Of all rows, of which each of the ranks (that have them all) computes some blocks.
template <class T>
SpanFeatures<T> features_of(const CentreSpan<T>& span, const SpanSample& sample,
                            const FitSettings& settings, Communicator& ranks) {
    const std::size_t n = sample.size();
    const std::size_t m = span.size();
    if (!features_fit(n, m, settings)) {
        constexpr std::size_t copies = 3;
        throw InvalidInput(
            "the features of " + std::to_string(n) + " rows in the span of " + std::to_string(m) +
            " centres need " + std::to_string((copies * n * m * sizeof(T) >> 20) + 1) +
            " MiB; allow more with `memory_bytes`, use fewer `centres`, or a task "
            "that goes over the rows "
            "block by block: ridge, gp, kpca, k-means, logistic, squared-hinge or huber");
    }
    SpanFeatures<T> found{.values = std::vector<T>(n * m), .left = std::vector<double>(n)};
    const auto [begin, end] = own_blocks(n, ranks, ranks.rank());
    for (std::size_t first = begin; first < end; first += block_rows) {
        const double done = static_cast<double>(first) / static_cast<double>(n);
        if (!keep_going(settings.progress, {"features", done})) throw Cancelled();
        const std::size_t count = std::min(block_rows, n - first);
        const Points<T> points = span.gram().prepare(sample.block(first, count));
        span.features(points, {found.values.data() + first * m, count, m});
        span.gram().diagonal(points, std::span(found.left).subspan(first, count));
        for (std::size_t i = first; i < first + count; ++i) {
            for (std::size_t k = 0; k < m; ++k) {
                const auto value = static_cast<double>(found.values[i * m + k]);
                found.left[i] -= value * value;
            }
            found.left[i] = std::max(found.left[i], 0.0);
        }
        sample.release(first, count);
    }
    if (ranks.size() > 1) {
        share_blocks(ranks, n, m, found.values);
        share_blocks(ranks, n, 1, found.left);
    }
    return found;
}

/// α'(K − K̂)α of one output, K̂ being the matrix of the features: exactly where that takes few
/// kernel values, else its bound (Σ |α_i| √left_i)².
template <class T>
double excess_norm(const CentreSpan<T>& span, const SpanSample& sample,
                   const std::vector<double>& left, const Model& inner, std::size_t output) {
    constexpr std::size_t few = 20'000;
    const Expansion& e = inner.expansion();
    std::vector<std::size_t> rows;
    std::vector<double> alpha;
    double bound = 0;
    for (std::size_t i = 0; i < e.size(); ++i) {
        if (e.coefficients(output, i) == 0) continue;
        rows.push_back(inner.origins()[i]);
        alpha.push_back(e.coefficients(output, i));
        bound += std::fabs(alpha.back()) * std::sqrt(left[rows.back()]);
    }
    if (rows.size() > few) return bound * bound;
    const Points<T> points = span.gram().prepare(sample.select(rows));
    std::vector<double> image(rows.size(), 0.0);
    span.gram().add_product(points, points, alpha, image);
    const double own = std::inner_product(alpha.begin(), alpha.end(), image.begin(), 0.0);
    return std::max(own - inner.reports()[output].squared_norm, 0.0);
}

/// The dual value of support vector machines falls by half of that when k takes the place of k̂, and
/// is then a bound for k.
template <class T>
void bound_exact_dual(const CentreSpan<T>& span, const SpanSample& sample,
                      const std::vector<double>& left, const Model& inner,
                      std::vector<Report>& reports) {
    const Expansion& e = inner.expansion();
    if (inner.origins().size() != e.size() || reports.size() != e.outputs()) return;
    for (std::size_t c = 0; c < e.outputs(); ++c) {
        if (!reports[c].is_bracketed()) continue;
        reports[c].figures["exact_dual"] =
            reports[c].dual - excess_norm(span, sample, left, inner, c) / 2;
    }
}

/// Throws InvalidInput unless the model over the centres says of some rows what the one of their
/// features says.
template <class T>
void compare(const Model& model, const Model& inner, const Sample& sample,
             const SpanFeatures<T>& features, std::size_t m) {
    constexpr std::size_t most = 64;
    const std::vector<std::size_t> some =
        spread_rows(sample.data, false, std::min(most, sample.size()));
    std::vector<T> values;
    for (const std::size_t i : some) {
        const auto first = features.values.begin() + static_cast<std::ptrdiff_t>(i * m);
        values.insert(values.end(), first, first + static_cast<std::ptrdiff_t>(m));
    }
    const Matrix<double> wanted = inner.decision(Rows::dense(std::move(values), m));
    const Matrix<double> found = model.decision(sample.data.x.select(some));
    double size = 1;
    double error = 0;
    for (std::size_t k = 0; k < wanted.values().size(); ++k) {
        const double own = model.expansion().self * features.left[some[k / wanted.columns()]];
        size = std::max(size, std::fabs(wanted.values()[k]));
        error = std::max(error, std::fabs(wanted.values()[k] + own - found.values()[k]));
    }
    constexpr double rounding = 1e-2;
    if (!(error <= rounding * size) || wanted.columns() != found.columns()) {
        throw InvalidInput("models of the task " + task_name(model.task()) +
                           " cannot be written down over some rows: with these settings its "
                           "decisions would be off by " +
                           format_number(error) + "; train it exactly, or with fewer `centres`");
    }
}

/// All but what is computed from decisions, or is only told.
bool speaks_of_points(const std::shared_ptr<const Extra>& extra) {
    return !dynamic_cast<const Calibration*>(extra.get()) &&
           !dynamic_cast<const DensityMarks*>(extra.get()) &&
           !dynamic_cast<const Tables*>(extra.get());
}

/// Whether rounding of single precision could show in Σ β_m k(c_m, x).
bool needs_double(const Expansion& e) {
    double largest = 0;
    for (std::size_t c = 0; c < e.outputs(); ++c) {
        double sum = 0;
        for (const double beta : e.coefficients.row(c)) sum += std::fabs(beta);
        largest = std::max(largest, sum);
    }
    constexpr double visible = 1e-3;
    return largest * 0x1p-22 > visible;
}

template <class T>
class SpanFit {
   public:
    SpanFit(const FitSettings& settings, const Nystroem& how,
            const std::function<Machine(const FitSettings&)>& make)
        : settings_(settings), how_(how), make_(make) {}

    Model fit(Task task, const Dataset& data, MatrixView<const double> targets) const {
        const Run run = settings_.run();
        FitSettings own = settings_;
        own.progress = run.progress();
        if (KeepCheckpoint::current()) {
            throw InvalidInput("the task " + task_name(task) +
                               " keeps no `checkpoint`: it learns from stored features, not in "
                               "passes over the rows");
        }
        Communicator& ranks = current_ranks();
        if (ranks.size() == 1) return fit_all_rows(task, data, targets, own, run, ranks);
        own.progress = spread_progress(run.progress(), ranks);
        try {
            return with_all_rows(data, targets,
                                 [&](const Dataset& all, MatrixView<const double> y) {
                                     return fit_all_rows(task, all, y, own, run, ranks);
                                 });
        } catch (const Cancelled&) {
            stopped_without_model(run, settings_.time_limit, ranks);
        }
    }

   private:
    /// Rows whose features fit one process: the ranks share the work, and each learns the machine.
    Model fit_all_rows(Task task, const Dataset& data, MatrixView<const double> targets,
                       const FitSettings& own, const Run& run, Communicator& ranks) const {
        const SpanSample sample = take_span_sample(task, data, own, targets.columns == 0);
        const CentreSpan<T> span(sample, own, how_);
        const SpanFeatures<T> features = features_of(span, sample, own, ranks);
        const auto learn = [&] { return fit_features(span, sample, features, targets, run); };
        const Model inner = is_svm(task) ? together(ranks, learn) : alike(ranks, learn);
        return written_down(task, span, sample, features, inner, run);
    }

    /// By all ranks, each of which has all features.
    template <class Learn>
    static Model together(Communicator& ranks, const Learn& learn) {
        const SpreadOver all(ranks, HeldRows::all);
        return learn();
    }

    /// By each rank for itself. Where one was stopped before it had a machine, none has one; else
    /// each stops by its own clock and listener.
    template <class Learn>
    static Model alike(Communicator& ranks, const Learn& learn) {
        std::optional<Model> model;
        try {
            model = learn();
        } catch (const Cancelled&) {
            if (ranks.size() == 1) throw;
        }
        const std::vector<char> stopped{model ? char{0} : char{1}};
        const std::vector<char> of_all = ranks.all_gather<char>(stopped);
        if (std::ranges::find(of_all, 1) != of_all.end()) throw Cancelled();
        return *std::move(model);
    }

    Model fit_features(const CentreSpan<T>& span, const Sample& sample,
                       const SpanFeatures<T>& features, MatrixView<const double> targets,
                       const Run& run) const {
        FitSettings own = settings_;
        own.kernel = linear();
        own.scaling = {};
        own.time_limit = run.time_left();
        Dataset data;
        data.x = Rows::borrow(  // the features stay where they are
            MatrixView<const T>(features.values.data(), sample.size(), span.size()), nullptr);
        data.y = sample.data.y;
        data.weights = sample.data.weights;
        Matrix<double> kept(targets.columns > 0 ? sample.size() : 0, targets.columns);
        for (std::size_t i = 0; i < kept.rows(); ++i) {
            std::ranges::copy(targets.row(sample.kept[i]), kept.row(i).begin());
        }
        return make_(own).fit(data, std::as_const(kept).view());
    }

    Model written_down(Task task, const CentreSpan<T>& span, const SpanSample& sample,
                       const SpanFeatures<T>& features, const Model& inner, const Run& run) const {
        // The nearest mean is nearest whatever is left of k(x, x), and its distance is then that
        // under k itself; a radius is one of k̂.
        const double self = inner.expansion().self;
        if ((self != 0 && !is_clustering(task)) || !is_linear(inner.expansion().kernel) ||
            std::ranges::any_of(inner.extras(), speaks_of_points)) {
            throw InvalidInput("models of the task " + task_name(task) +
                               " cannot be approximated in the span of some rows");
        }
        ModelParts model = begin_model(task, sample, settings_);
        model.multi_class = inner.multi_class();
        model.trained = inner.trained();
        model.trained.numbers["centres"] = static_cast<double>(span.size());
        model.target_names = inner.parts().target_names;
        model.reports = inner.reports();
        model.extras = inner.extras();
        // The objective of nu-svc is told in units of the margin found, which is another under k.
        if (is_svm(task) && task != Task::nu_svc) {
            bound_exact_dual(span, sample, features.left, inner, model.reports);
        }
        Matrix<double> beta = weight_vectors(inner.expansion());
        backward_solve(span.factor(), beta.view());
        span.write(model, std::move(beta), inner.expansion().bias, self);
        model.double_precision =
            settings_.double_precision || inner.double_precision() || needs_double(model.expansion);
        const double seconds = run.seconds();
        for (Report& report : model.reports) {
            report.seconds = seconds / static_cast<double>(model.reports.size());
        }
        Model made(std::move(model));
        compare(made, inner, sample, features, span.size());
        return made;
    }

    const FitSettings& settings_;
    const Nystroem& how_;
    const std::function<Machine(const FitSettings&)>& make_;
};

class Approximated {
   public:
    Approximated(const FitSettings& common, const Nystroem& how,
                 std::function<Machine(const FitSettings&)> make)
        : common_(common), how_(how), make_(std::move(make)), exact_(make_(common)) {}

    Task task() const { return exact_.task(); }
    Model fit(const Dataset& data) const { return fit(data, {}); }
    Model fit(const Dataset& data, MatrixView<const double> targets) const {
        if (auto model = exact_.fit_in_span(data, targets, how_)) return *std::move(model);
        return common_.double_precision
                   ? SpanFit<double>(common_, how_, make_).fit(task(), data, targets)
                   : SpanFit<float>(common_, how_, make_).fit(task(), data, targets);
    }
    Approximated for_rows(std::span<const std::size_t> rows) const {
        Approximated some = *this;
        some.exact_ = exact_.for_rows(rows);
        some.make_ = [make = make_, own = std::vector(rows.begin(), rows.end())](
                         const FitSettings& settings) { return make(settings).for_rows(own); };
        return some;
    }

   private:
    FitSettings common_;
    Nystroem how_;
    std::function<Machine(const FitSettings&)> make_;
    Machine exact_;
};

}  // namespace

namespace {

/// The number of "name" or "name(setting=500)"; nothing where the text is of another form.
std::optional<double> number_in(std::string_view text, std::string_view name,
                                std::string_view setting, double otherwise) {
    if (!text.starts_with(name)) return {};
    text.remove_prefix(name.size());
    if (text.empty()) return otherwise;
    const std::string begin = "(" + std::string(setting) + "=";
    if (!text.starts_with(begin) || !text.ends_with(')')) return {};
    const auto number = parse_number(text.substr(begin.size(), text.size() - begin.size() - 1));
    return number && *number == std::floor(*number) ? number : std::nullopt;
}

std::size_t count_in(std::string_view text, std::string_view name, std::string_view setting,
                     std::size_t otherwise, std::size_t least, std::size_t most) {
    const auto number = number_in(text, name, setting, static_cast<double>(otherwise));
    if (!number) {
        throw InvalidInput("the approximation '" + std::string(text) +
                           "' is none; expected 'nystroem' or 'nystroem(centres=500)', 'cells' or "
                           "'cells(rows=2000)'");
    }
    if (!(*number >= static_cast<double>(least) && *number <= static_cast<double>(most))) {
        throw InvalidInput("the approximation '" + std::string(text) +
                           "': " + std::string(setting) + " = " + format_number(*number) +
                           " must be from " + std::to_string(least) + " to " +
                           std::to_string(most));
    }
    return static_cast<std::size_t>(*number);
}

bool names_cells(std::string_view text) {
    return text.starts_with("cells");
}

}  // namespace

Nystroem Nystroem::parse(std::string_view text) {
    return {.centres = count_in(text, "nystroem", "centres", Nystroem{}.centres, 1, 100'000)};
}

CellRule CellRule::parse(std::string_view text) {
    return {.rows = count_in(text, "cells", "rows", CellRule{}.rows, 10, 1'000'000)};
}

Machine approximate(const FitSettings& common, const Nystroem& how,
                    std::function<Machine(const FitSettings&)> make) {
    return Machine(Approximated(common, how, std::move(make)));
}

Machine approximate(const FitSettings& common, std::string_view how,
                    std::function<Machine(const FitSettings&)> make) {
    if (names_cells(how)) return approximate(common, CellRule::parse(how), std::move(make));
    return approximate(common, Nystroem::parse(how), std::move(make));
}

void check_approximation(std::string_view text) {
    if (names_cells(text)) {
        CellRule::parse(text);
    } else {
        Nystroem::parse(text);
    }
}

}  // namespace mercer
