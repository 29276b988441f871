#include "mercer/learn/groups/quantiser.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/groups/detail/neighbourhoods.hpp"
#include "mercer/learn/groups/kmeans.hpp"
#include "mercer/solver/linear/detail/covering.hpp"

namespace mercer {
namespace {

constexpr std::size_t lbg_passes = 100;
/// Of the program where it is not solved to a corner: a smaller one takes long and leaves as many
/// codes after pruning, up to one or two in a hundred.
constexpr double wide_gap = 0.02;

using namespace quantising;

/// Rows that cover all: each the one with most rows not covered yet. A feasible start for the
/// program, so that it never fails to have a solution.
std::vector<std::size_t> greedy_cover(const Neighbourhoods& near) {
    using Candidate = std::pair<std::size_t, std::size_t>;  // new rows at most, row
    std::priority_queue<Candidate> queue;
    for (std::size_t i = 0; i < near.size(); ++i) queue.emplace(near.count(i), i);
    std::vector<char> covered(near.size(), 0);
    std::vector<std::size_t> cover;
    while (!queue.empty()) {
        const auto [known, i] = queue.top();
        queue.pop();
        std::size_t fresh = 0;
        for (const std::uint32_t n : near.of(i)) fresh += covered[n] == 0 ? 1 : 0;
        if (fresh == 0) continue;
        if (fresh < known) {  // counts only fall: look again when it is its turn
            queue.emplace(fresh, i);
            continue;
        }
        for (const std::uint32_t n : near.of(i)) covered[n] = 1;
        cover.push_back(i);
    }
    return cover;
}

FitStatus fit_status(LinearStatus status) {
    return status == LinearStatus::optimal      ? FitStatus::converged
           : status == LinearStatus::cancelled  ? FitStatus::cancelled
           : status == LinearStatus::time_limit ? FitStatus::time_limit
                                                : FitStatus::stalled;
}

/// The linear program by the simplex method and column generation: columns enter when their price
/// says that they would lower the objective. It comes to a corner, where few rows have weights, and
/// is quick about it where neighbourhoods differ much; where they do not (many points of a plane)
/// it takes so many steps that it is left unfinished.
class Program {
   public:
    Program(const Neighbourhoods& near, const QuantiserSettings& settings)
        : near_(near),
          settings_(settings),
          master_(empty_program(near.size())),
          column_of_(near.size(), absent),
          cost_(near.size(), 1.0) {
        for (std::size_t i = 0; settings.weighted && i < near.size(); ++i) {
            cost_[i] = 1 / static_cast<double>(near.count(i));
        }
        const std::vector<std::size_t> start = greedy_cover(near);
        for (const std::size_t i : start) add(i);
        constexpr std::size_t few = 400'000;  // entries that need no generation
        if (near.members.size() <= few) {
            for (std::size_t i = 0; i < near.size(); ++i) add(i);
        }
    }

    /// False when it was left unfinished, for want of steps.
    bool run(Codebook& book, const Run& run) {
        // A step takes about as long as a look at every row.
        constexpr std::size_t most_looks = 100'000'000;
        std::size_t left =
            std::max<std::size_t>(std::min(most_looks / near_.size(), settings_.simplex_steps), 1);
        for (int round = 0;; ++round) {
            const LinearSolution s = master_.solve({.time_limit = run.time_left(),
                                                    .iteration_limit = left,
                                                    .progress = listener(round)});
            if (s.status == LinearStatus::iteration_limit) return false;
            left -= std::min(left - 1, s.iterations);
            if (s.status != LinearStatus::optimal) {
                book.status = fit_status(s.status);
                if (weights_.empty()) use_all();
                return true;
            }
            weights_ = s.x;
            book.objective = s.objective;
            const std::vector<double> value = priced(s.prices);
            book.bound = std::max(book.bound, covering_bound(covering(), s.prices));
            gap_ = s.objective > 0 ? (s.objective - book.bound) / s.objective : 0;
            if (gap_ <= settings_.gap || !enter(value)) return true;
        }
    }

    Covering covering() const { return {near_.starts, near_.members, cost_}; }
    /// Rows in use.
    std::vector<std::size_t> chosen() const {
        std::vector<std::size_t> result;
        for (std::size_t j = 0; j < weights_.size(); ++j) {
            // n weights of 1e-9 do not make up the 1 that every row needs.
            if (weights_[j] > 1e-9) result.push_back(row_of_[j]);
        }
        std::ranges::sort(result);
        return result;
    }

   private:
    static constexpr std::size_t absent = static_cast<std::size_t>(-1);

    static LinearProgram empty_program(std::size_t rows) {
        LinearProgram program;
        for (std::size_t i = 0; i < rows; ++i) program.add_row(1, infinite);
        return program;
    }
    void add(std::size_t i) {
        if (column_of_[i] != absent) return;
        std::vector<LinearProgram::Entry> entries;
        for (const std::uint32_t n : near_.of(i)) entries.emplace_back(n, 1.0);
        column_of_[i] = master_.add_column(cost_[i], 0, infinite, entries);
        row_of_.push_back(i);
    }
    void use_all() { weights_.assign(row_of_.size(), 1.0); }

    /// Σ of the prices of the rows that each candidate covers.
    std::vector<double> priced(const std::vector<double>& prices) const {
        std::vector<double> value(near_.size(), 0.0);
        parallel_ranges(near_.size(), 256, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                for (const std::uint32_t n : near_.of(i)) value[i] += std::max(0.0, prices[n]);
            }
        });
        return value;
    }

    /// The candidates worth most beyond their cost become columns; false when there is none.
    bool enter(const std::vector<double>& value) {
        std::vector<std::pair<double, std::size_t>> worth;
        for (std::size_t i = 0; i < value.size(); ++i) {
            const double excess = value[i] / cost_[i] - 1;
            if (column_of_[i] == absent && excess > 1e-6) worth.emplace_back(-excess, i);
        }
        const std::size_t most = std::max<std::size_t>(50, near_.size() / 40);
        const std::size_t count = std::min(worth.size(), most);
        std::partial_sort(worth.begin(), worth.begin() + static_cast<std::ptrdiff_t>(count),
                          worth.end());
        for (std::size_t k = 0; k < count; ++k) add(worth[k].second);
        return count > 0;
    }

    Progress listener(int round) const {
        if (!settings_.progress) return {};
        return [this, round](const Moment&) {
            const std::string detail = "round " + std::to_string(round + 1) + ", gap " +
                                       format_number(std::round(gap_ * 1e4) / 1e4);
            return settings_.progress({"linear program", -1, detail});
        };
    }

    const Neighbourhoods& near_;
    const QuantiserSettings& settings_;
    GrowingProgram master_;
    std::vector<std::size_t> column_of_;
    std::vector<double> cost_;
    std::vector<std::size_t> row_of_{};
    std::vector<double> weights_{};
    double gap_ = 1;
};

/// The heaviest rows that are needed to cover all, by weights that are optimal up to the gap.
std::vector<std::size_t> heaviest(const Neighbourhoods& near, const std::vector<double>& weights) {
    std::vector<std::size_t> order(near.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    std::vector<char> covered(near.size(), 0);
    std::erase_if(order, [&](std::size_t i) {
        bool needed = false;
        for (const std::uint32_t n : near.of(i)) {
            needed = needed || covered[n] == 0;
            covered[n] = 1;
        }
        return !needed;
    });
    std::ranges::sort(order);
    return order;
}

/// The codes of the program, before pruning.
std::vector<std::size_t> choose(const Neighbourhoods& near, const QuantiserSettings& settings,
                                Codebook& book) {
    const Run run({}, settings.time_limit);
    Program program(near, settings);
    if (program.run(book, run)) return program.chosen();
    const CoveringSolution s = cover(program.covering(), {.gap = std::max(settings.gap, wide_gap),
                                                          .time_limit = run.time_left(),
                                                          .progress = settings.progress});
    book.status = fit_status(s.status);
    book.objective = s.objective;
    book.bound = std::max(book.bound, s.bound);
    return heaviest(near, s.unrepaired);
}

/// Leaves out codes whose rows the others cover, those that cover least first (001,
/// Practicalities).
void prune(const Neighbourhoods& near, std::vector<std::size_t>& chosen) {
    std::vector<std::uint32_t> covers(near.size(), 0);
    for (const std::size_t i : chosen) {
        for (const std::uint32_t n : near.of(i)) ++covers[n];
    }
    std::vector<std::size_t> order = chosen;
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return near.count(a) < near.count(b); });
    std::vector<char> out(near.size(), 0);
    for (const std::size_t i : order) {
        const auto rows = near.of(i);
        if (!std::ranges::all_of(rows, [&](std::uint32_t n) { return covers[n] > 1; })) continue;
        for (const std::uint32_t n : rows) --covers[n];
        out[i] = 1;
    }
    std::erase_if(chosen, [&](std::size_t i) { return out[i] != 0; });
}

void summarise(std::span<const double> squared, Codebook& book) {
    double sum = 0;
    for (const double d : squared) {
        book.largest = std::max(book.largest, std::sqrt(d));
        sum += d;
    }
    book.root_mean_square =
        std::sqrt(sum / static_cast<double>(std::max<std::size_t>(squared.size(), 1)));
}

/// The nearest code of every row.
void assign(const Distances& distances, std::size_t rows, Codebook& book) {
    constexpr std::size_t band = 256;
    std::vector<double> squared(rows);
    book.nearest.resize(rows);
    Matrix<double> block(std::min(band, rows), book.chosen.size());
    for (std::size_t first = 0; first < rows; first += band) {
        const std::size_t count = std::min(band, rows - first);
        distances.block(first, book.chosen, block.view().block(0, 0, count, book.chosen.size()));
        for (std::size_t i = 0; i < count; ++i) {
            const auto row = block.row(i);
            const double least = *std::ranges::min_element(row);
            double best = infinite;
            for (std::size_t j = 0; j < row.size(); ++j) {
                const std::size_t code = book.chosen[j];
                if (row[j] > least + 2 * distances.rounding(first + i, code)) continue;
                const double found = distances.exact(first + i, code, row[j]);
                if (found >= best) continue;
                best = found;
                book.nearest[first + i] = j;
            }
            squared[first + i] = best;
        }
    }
    summarise(squared, book);
}

}  // namespace

Codebook quantise(const Rows& rows, const QuantiserSettings& settings) {
    require_range("the radius of a codebook", settings.radius, settings.radius > 0, "above 0");
    if (rows.size() == 0) throw InvalidInput("there are no rows to make a codebook of");
    require_finite(rows);
    const Distances distances(rows, settings);
    const Neighbourhoods near = neighbourhoods(distances, rows.size(), settings);
    Codebook book{.radius = settings.radius};
    book.chosen = choose(near, settings, book);
    const std::size_t before = book.chosen.size();
    if (settings.prune) prune(near, book.chosen);
    book.pruned = before - book.chosen.size();
    book.codes = rows.select(book.chosen);
    assign(distances, rows.size(), book);
    return book;
}

Encoding encode(const Rows& codes, const Rows& rows, const Progress& progress) {
    if (codes.size() == 0) throw InvalidInput("a codebook without codes encodes nothing");
    const auto gram = make_gram<double>(linear(), codes);
    std::vector<double> lengths(codes.size());
    gram.diagonal(gram.reference(), lengths);
    Encoding result;
    result.nearest.resize(rows.size());
    result.distance.resize(rows.size());
    constexpr std::size_t band = 512;
    Matrix<double> block(std::min(band, rows.size()), codes.size());
    for (std::size_t first = 0; first < rows.size(); first += band) {
        const double done = static_cast<double>(first) / static_cast<double>(rows.size());
        if (!keep_going(progress, {"encoding", done})) throw Cancelled();
        std::vector<std::size_t> which(std::min(band, rows.size() - first));
        std::iota(which.begin(), which.end(), first);
        const Points<double> points = gram.prepare(rows.select(which));
        std::vector<double> own(which.size());
        gram.diagonal(points, own);
        gram.block(points, gram.reference(), block.view().block(0, 0, which.size(), codes.size()));
        for (std::size_t i = 0; i < which.size(); ++i) {
            double least = infinite;
            for (std::size_t j = 0; j < codes.size(); ++j) {
                const double squared = own[i] + lengths[j] - 2 * block(i, j);
                if (squared < least) {
                    least = squared;
                    result.nearest[first + i] = j;
                }
            }
            result.distance[first + i] = std::sqrt(std::max(0.0, least));
        }
    }
    return result;
}

namespace {

/// What k-means leaves: the means themselves, and each row's nearest.
Codebook book_of_means(std::vector<double> means, const Rows& rows, const Progress& progress) {
    Codebook book{.codes = Rows::dense(std::move(means), rows.columns())};
    if (!rows.is_double()) book.codes = book.codes.to_float();
    Encoding encoding = encode(book.codes, rows, progress);
    book.nearest = std::move(encoding.nearest);
    for (double& d : encoding.distance) d *= d;
    summarise(encoding.distance, book);
    return book;
}

/// The mean of the rows of each code; a code without rows takes the one farthest from its own.
std::vector<double> means_of(const Rows& rows, std::size_t size, const Encoding& encoding) {
    const std::size_t columns = rows.columns();
    std::vector<double> means(size * columns, 0.0), row(columns), count(size, 0.0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t c = encoding.nearest[i];
        rows.copy_row(i, row);
        ++count[c];
        for (std::size_t k = 0; k < columns; ++k) means[c * columns + k] += row[k];
    }
    std::vector<double> distance = encoding.distance;
    for (std::size_t c = 0; c < size; ++c) {
        const auto mean = std::span(means).subspan(c * columns, columns);
        if (count[c] == 0) {
            const auto farthest = std::ranges::max_element(distance);
            rows.copy_row(static_cast<std::size_t>(farthest - distance.begin()), row);
            std::ranges::copy(row, mean.begin());
            *farthest = 0;  // the next one takes another
        } else {
            for (double& value : mean) value /= count[c];
        }
    }
    return means;
}

}  // namespace

Codebook lbg_codebook(const Rows& rows, std::size_t size, std::uint64_t seed,
                      const Progress& progress) {
    Dataset data;
    data.x = rows;
    const Model model = kmeans({.common = {.kernel = linear(), .seed = seed, .progress = progress},
                                .clusters = size,
                                .starts = 1,
                                .passes = lbg_passes})
                            .fit(data);
    Encoding own{.distance = std::vector<double>(rows.size(), 0.0)};
    for (const double c : model.predict(rows, progress)) {
        own.nearest.push_back(static_cast<std::size_t>(c));
    }
    Codebook book = book_of_means(means_of(rows, size, own), rows, progress);
    book.status = model.report().status;
    return book;
}

Codebook lbg_codebook(const Rows& rows, const Rows& first, const Progress& progress) {
    if (first.size() == 0 || first.size() > rows.size() || first.columns() != rows.columns()) {
        throw InvalidInput("the first codebook has " + std::to_string(first.size()) + " codes of " +
                           std::to_string(first.columns()) + " columns: there must be 1 to " +
                           std::to_string(rows.size()) + " of " + std::to_string(rows.columns()) +
                           ", as the rows have");
    }
    std::vector<double> means(first.size() * first.columns());
    for (std::size_t c = 0; c < first.size(); ++c) {
        first.copy_row(c, std::span(means).subspan(c * first.columns(), first.columns()));
    }
    std::vector<std::size_t> last;
    FitStatus status = FitStatus::iteration_limit;
    for (std::size_t pass = 0; pass < lbg_passes; ++pass) {
        const double done = static_cast<double>(pass) / lbg_passes;
        if (!keep_going(progress, {"means", done})) {
            status = FitStatus::cancelled;
            break;
        }
        Encoding now = encode(Rows::dense(means, first.columns()), rows);
        if (now.nearest == last) {
            status = FitStatus::converged;
            break;
        }
        means = means_of(rows, first.size(), now);
        last = std::move(now.nearest);
    }
    Codebook book = book_of_means(std::move(means), rows, {});
    book.status = status;
    return book;
}

namespace {

Model learn(const VectorQuantiserSettings& settings, const Dataset& data) {
    const Stopwatch clock;
    const FitSettings& common = settings.common;
    Sample sample = take_sample(Task::vq, data, common);
    const Kernel kernel = resolve(common.kernel, sample.x, sample.data.feature_names);
    if (is_centered(kernel)) {
        throw InvalidInput("distances do not depend on the centre: leave out center(…)");
    }
    const Codebook book = quantise(sample.x, {.radius = settings.radius,
                                              .kernel = kernel,
                                              .prune = settings.prune,
                                              .time_limit = common.time_limit,
                                              .memory_bytes = common.memory_bytes,
                                              .progress = common.progress});
    const std::size_t size = book.chosen.size();
    ModelParts model = begin_model(Task::vq, sample, common);
    Matrix<double> coefficients(size, size);
    std::vector<double> bias(size);
    const auto gram = make_gram<double>(kernel, book.codes);
    gram.diagonal(gram.reference(), bias);
    for (std::size_t c = 0; c < size; ++c) {
        coefficients(c, c) = 2;
        bias[c] = -bias[c];
    }
    set_expansion(model, sample, kernel, book.chosen, std::move(coefficients), std::move(bias), -1);
    model.trained.numbers["radius"] = settings.radius;
    Report report;
    report.status = book.status;
    report.rows = sample.size();
    report.primal = book.objective;
    report.dual = book.bound;
    report.gap = book.objective - book.bound;
    report.figures = {{"radius", book.radius},
                      {"largest", book.largest},
                      {"root_mean_square", book.root_mean_square},
                      {"pruned", static_cast<double>(book.pruned)}};
    report.seconds = clock.seconds();
    model.reports = {report};
    return Model(std::move(model));
}

}  // namespace

Model VectorQuantiser::fit(const Dataset& data) const {
    return patient_fit(task(), settings_, data, learn);
}

MachineEntry vector_quantiser_entry() {
    using S = VectorQuantiserSettings;
    Describe<S> d;
    d.add(&S::radius, "radius", "no row is farther from its code, in feature space",
          Range::above(0));
    d.add(&S::prune, "prune", "leave out codes that the others can do without");
    return d.entry({.task = Task::vq,
                    .name = "vq",
                    .family = "groups",
                    .learns = Learns::groups,
                    .about = "a codebook with a bound on the distortion"},
                   vector_quantiser);
}

}  // namespace mercer
