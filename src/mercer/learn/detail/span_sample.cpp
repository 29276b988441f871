#include "mercer/learn/detail/span_sample.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/detail/entries.hpp"
#include "mercer/data/detail/mapping.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/kernel/detail/node.hpp"

namespace mercer {
namespace {

using Kind = ScalingRule::Kind;

/// Sums over all rows of what visit(sums, column, value) adds, `width` numbers a column: pieces of
/// a leaf on all threads, added in their order. With `scaled` rows are looked at as scaled.
template <class Visit>
std::vector<double> column_sums(const SpanSample& sample, bool scaled, std::size_t width,
                                const Visit& visit) {
    const std::size_t columns = sample.data.x.columns();
    // Many columns would make the parts heavier than the few entries of their rows.
    const std::size_t piece = columns <= 10'000 ? 1024 : std::numeric_limits<int>::max();
    std::vector<double> all(width * columns);
    sample.leaves.sum(
        [&](std::size_t first, std::size_t last, std::span<double> zeros) {
            const Rows rows = scaled ? sample.block(first, last - first)
                                     : sample.data.x.slice(first, last - first);
            std::vector<std::vector<double>> parts((rows.size() + piece - 1) / piece);
            parallel_for(parts.size(), [&](std::size_t p) {
                std::vector<double> sums(zeros.size(), 0.0);
                const auto own = [&](std::size_t j, double value) {
                    visit(sums.data() + width * j, j, value);
                };
                const std::size_t from = p * piece;
                const std::size_t to = std::min(from + piece, rows.size());
                rows.is_double() ? visit_entries<double>(rows, from, to, own)
                                 : visit_entries<float>(rows, from, to, own);
                parts[p] = std::move(sums);
            });
            for (const std::vector<double>& part : parts) {
                for (std::size_t k = 0; k < zeros.size(); ++k) zeros[k] += part[k];
            }
            sample.release(first, last - first);
        },
        all);
    return all;
}

/// The largest value of each column over the rows of all ranks; of −x with sign −1.
std::vector<double> column_tops(const SpanSample& sample, double sign,
                                const std::vector<double>& entries) {
    const Rows& rows = sample.data.x;
    const std::size_t d = rows.columns();
    std::vector<double> own(d, -std::numeric_limits<double>::infinity());
    const auto visit = [&](std::size_t j, double value) {
        own[j] = std::max(own[j], sign * value);
    };
    sample.leaves.each([&](std::size_t first, std::size_t last) {
        rows.is_double() ? visit_entries<double>(rows, first, last, visit)
                         : visit_entries<float>(rows, first, last, visit);
        sample.release(first, last - first);
    });
    const auto all = sample.leaves.ranks().all_gather(std::span<const double>(own));
    for (std::size_t k = 0; k < all.size(); ++k) own[k % d] = std::max(own[k % d], all[k]);
    for (std::size_t j = 0; j < d; ++j) {
        const bool zeros = entries[j] < static_cast<double>(sample.leaves.rows());
        if (zeros) own[j] = std::max(own[j], 0.0);
    }
    return own;
}

/// The scaling that `Scaling::fit` finds, from the rows of all ranks.
Scaling fit_scaling(const ScalingRule& rule, const SpanSample& sample) {
    const std::size_t d = sample.data.x.columns();
    if ((rule.kind != Kind::standard && rule.kind != Kind::minmax) || d == 0) {
        return Scaling::fit(rule, sample.data.x);
    }
    rule.check("scaling");
    const auto n = static_cast<double>(sample.leaves.rows());
    const std::vector<double> sums =
        column_sums(sample, false, 2, [](double* sum, std::size_t, double value) {
            sum[0] += value;
            sum[1] += 1;
        });
    std::vector<double> center(d), spread(d), entries(d);
    for (std::size_t j = 0; j < d; ++j) {
        center[j] = sums[2 * j] / n;
        entries[j] = sums[2 * j + 1];
    }
    const std::vector<double> high = column_tops(sample, 1, entries);
    std::vector<double> low = column_tops(sample, -1, entries);
    for (double& value : low) value = 0 - value;
    const bool standard = rule.kind == Kind::standard;
    const std::vector<double> squares =
        !standard ? std::vector<double>()
                  : column_sums(sample, false, 1, [&](double* sum, std::size_t j, double value) {
                        *sum += (value - center[j]) * (value - center[j]);
                    });
    for (std::size_t j = 0; j < d; ++j) {
        const double zeros = n - entries[j];
        spread[j] = standard ? std::sqrt((squares[j] + zeros * center[j] * center[j]) / n)
                             : high[j] - low[j];
        // Rounding leaves a constant column with a mean an ulp away and a deviation above 0.
        if (low[j] == high[j]) spread[j] = 0;
        if (!standard || low[j] == high[j]) center[j] = low[j];
        if (std::isfinite(center[j]) && std::isfinite(spread[j])) continue;
        throw InvalidInput("column " + std::to_string(j) + " spreads from " +
                           format_number(low[j]) + " to " + format_number(high[j]) +
                           ", too wide for scaling " + rule.text() +
                           "; scale it by a constant factor first");
    }
    nlohmann::json text{{"format", "mercer scaling"}, {"version", 1}};
    text["kind"] = standard ? "standard" : "minmax";
    text["low"] = rule.low;
    text["high"] = rule.high;
    text["center"] = center;
    text["spread"] = spread;
    return Scaling::from_json(text.dump());
}

/// Classes of the labels of all ranks; positions are those of this rank's.
Classes span_classes(const Labels& labels, Communicator& ranks) {
    Classes own = classes_of(labels);
    if (ranks.size() == 1) return own;
    Labels all;
    std::string names;
    for (const std::string& name : own.names) names += name + '\0';
    const std::vector<char> texts = ranks.all_gather(std::span<const char>(names));
    const std::vector<double> values = ranks.all_gather(std::span<const double>(own.values));
    for (auto from = texts.begin(); from != texts.end();) {
        const auto to = std::find(from, texts.end(), '\0');
        all.names.emplace_back(from, to);
        from = to + 1;
    }
    if (values.empty()) {
        std::ranges::sort(all.names);
        all.names.erase(std::unique(all.names.begin(), all.names.end()), all.names.end());
        for (std::size_t k = 0; k < all.names.size(); ++k) {
            all.values.push_back(static_cast<double>(k));
        }
    } else {
        all.names.clear();
        all.values = values;
    }
    Classes found = classes_of(all);
    std::vector<std::int32_t> place;
    for (const std::string& name : own.names) {
        place.push_back(
            static_cast<std::int32_t>(std::ranges::find(found.names, name) - found.names.begin()));
    }
    found.index = std::move(own.index);
    for (std::int32_t& c : found.index) c = place[static_cast<std::size_t>(c)];
    return found;
}

Kernel span_kernel(const SpanSample& sample, const Kernel& kernel) {
    const auto& names = sample.data.feature_names;
    Kernel known = kernel;
    if (kernel.needs_data()) {
        const std::vector<double> sums =
            column_sums(sample, true, 2, [](double* sum, std::size_t, double value) {
                sum[0] += value;
                sum[1] += value * value;
            });
        ColumnMoments moments;
        moments.rows = sample.leaves.rows();
        for (std::size_t j = 0; j < sample.x.columns(); ++j) {
            moments.sum.push_back(sums[2 * j]);
            moments.sum_of_squares.push_back(sums[2 * j + 1]);
        }
        known = kernel.resolve(moments, names, sample.x.object_names());
    }
    if (sample.leaves.ranks().size() > 1) {
        if (known.needs_data() || contains(known, KernelKind::precomputed)) {
            refuse_spread("the kernel " + kernel.text());
        }
        return known;
    }
    return resolve(known, sample.x, names, sample.classes.index);
}

}  // namespace

bool features_fit(std::size_t rows, std::size_t centres, const FitSettings& settings) {
    constexpr std::size_t copies = 3;
    const std::size_t item = settings.double_precision ? sizeof(double) : sizeof(float);
    return copies * rows <= settings.memory_bytes / item / std::max<std::size_t>(centres, 1);
}

Dataset rows_of_all_ranks(const Dataset& own) {
    Communicator& ranks = current_ranks();
    if (own.table) refuse_spread("a table whose columns are of several kinds");
    if (!own.x.objects().empty()) refuse_spread("rows with texts, series or graphs");
    std::vector<std::size_t> kept(own.size());
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    const RowLeaves leaves(ranks, own.size(), kept);
    std::vector<std::size_t> places(leaves.rows());
    std::iota(places.begin(), places.end(), std::size_t{0});
    Dataset all;
    all.feature_names = own.feature_names;
    all.roles = own.roles;
    all.x = leaves.gather(own.x, places);
    const auto any = [&](bool own_one) {
        const char one = own_one ? 1 : 0;
        const std::vector<char> all_ones = ranks.all_gather(std::span<const char>(&one, 1));
        return std::ranges::find(all_ones, char{1}) != all_ones.end();
    };
    if (any(!own.weights.empty())) {
        all.weights = ranks.all_gather(std::span<const double>(own.weights));
    }
    if (!any(own.y.are_text())) {
        all.y.values = ranks.all_gather(std::span<const double>(own.y.values));
        return all;
    }
    const Classes classes = span_classes(own.y, ranks);  // each rank numbers names in its own way
    const std::vector<double> index(classes.index.begin(), classes.index.end());
    all.y.values = ranks.all_gather(std::span<const double>(index));
    all.y.names = classes.names;
    return all;
}

Matrix<double> targets_of_all_ranks(MatrixView<const double> own) {
    std::vector<double> values;
    for (std::size_t i = 0; i < own.rows; ++i) {
        values.insert(values.end(), own.row(i).begin(), own.row(i).end());
    }
    const std::size_t width[]{own.columns};
    const auto widths = current_ranks().all_gather(std::span<const std::size_t>(width));
    const std::size_t columns = *std::ranges::max_element(widths);
    values = current_ranks().all_gather(std::span<const double>(values));
    Matrix<double> all(columns > 0 ? values.size() / columns : 0, columns);
    all.values() = std::move(values);
    return all;
}

FitData own_part(const Dataset& data, MatrixView<const double> targets) {
    const RowRange own = own_rows(current_ranks(), data.size());
    std::vector<std::size_t> rows(own.size());
    std::iota(rows.begin(), rows.end(), own.first);
    FitData part;
    part.data.x = data.x.slice(own.first, own.size());  // what is left in its file stays there
    part.data.y = data.y.empty() ? data.y : data.y.select(rows);
    if (!data.weights.empty()) {
        const auto from = data.weights.begin() + static_cast<std::ptrdiff_t>(own.first);
        part.data.weights.assign(from, from + static_cast<std::ptrdiff_t>(own.size()));
    }
    part.data.feature_names = data.feature_names;
    part.data.roles = data.roles;
    part.targets = Matrix<double>(targets.columns > 0 ? rows.size() : 0, targets.columns);
    for (std::size_t i = 0; i < part.targets.rows(); ++i) {
        std::ranges::copy(targets.row(rows[i]), part.targets.row(i).begin());
    }
    return part;
}

void refuse_spread(const std::string& what) {
    const std::size_t size = current_ranks().size();
    if (size == 1) return;
    throw InvalidInput(
        what + " cannot be spread over " + std::to_string(size) +
        " processes; machines with `approximate` can, of rows of numbers, and support "
        "vector machines of all rows");
}

Rows SpanSample::block(std::size_t first, std::size_t count) const {
    const Rows some = x.slice(first, count);
    return in_file ? scaling.apply(some) : some;
}

void SpanSample::release(std::size_t first, std::size_t count) const {
    if (in_file) release_rows(data.x, first, count);
}

namespace {

/// Those of the rows of this rank that are at these places among all, ascending: one leaf after
/// another, so that no more of the file than that is in memory.
template <class T>
Rows picked(const SpanSample& sample, std::span<const std::size_t> places) {
    std::vector<std::size_t> starts{0};
    std::vector<std::uint32_t> index;
    std::vector<T> values;
    const Rows& x = sample.x;
    const RowLeaves& leaves = sample.leaves;
    leaves.each([&](std::size_t first, std::size_t last) {
        const auto from = std::ranges::lower_bound(places, leaves.before() + first);
        const auto to = std::ranges::lower_bound(places, leaves.before() + last);
        for (auto at = from; at != to; ++at) {
            const std::size_t i = *at - leaves.before();
            if (x.is_sparse()) {
                const SparseView<T> view = x.sparse_view<T>();
                index.insert(index.end(), view.row_index(i).begin(), view.row_index(i).end());
                values.insert(values.end(), view.row_value(i).begin(), view.row_value(i).end());
                starts.push_back(index.size());
            } else {
                const auto row = x.dense_view<T>().row(i);
                values.insert(values.end(), row.begin(), row.end());
            }
        }
        sample.release(first, last - first);
    });
    return x.is_sparse()
               ? Rows::sparse(std::move(starts), std::move(index), std::move(values), x.columns())
               : Rows::dense(std::move(values), x.columns());
}

}  // namespace

Rows SpanSample::gather(std::span<const std::size_t> places) const {
    if (!in_file) return leaves.gather(x, places);
    return scaling.apply(leaves.joined(x.is_double() ? picked<double>(*this, places)
                                                     : picked<float>(*this, places)));
}

Rows SpanSample::select(std::span<const std::size_t> own) const {
    const Rows some = x.select(own);
    return in_file ? scaling.apply(some) : some;
}

SpanSample take_span_sample(Task task, const Dataset& data, const FitSettings& settings,
                            bool by_labels) {
    Communicator& ranks = current_ranks();
    if (data.table) refuse_spread("a table whose columns are of several kinds");
    if (!data.x.objects().empty()) refuse_spread("rows with texts, series or graphs");
    const std::size_t given = data.size();
    const std::vector<std::size_t> all = ranks.all_gather(std::span<const std::size_t>(&given, 1));
    std::size_t before = 0;
    for (std::size_t r = 0; r < ranks.rank(); ++r) before += all[r];
    Sample begun = begin_sample(task, data, settings, by_labels, before);
    RowLeaves leaves(ranks, given, begun.kept);
    SpanSample sample{std::move(begun), std::move(leaves)};
    sample.in_file = is_mapped(sample.data.x);
    if (is_classifier(task)) {
        sample.classes = span_classes(sample.data.y, ranks);
        require_classes(sample.classes);
    }
    sample.scaling = fit_scaling(settings.scaling, sample);
    sample.x = sample.in_file ? sample.data.x : sample.scaling.apply(sample.data.x);
    sample.kernel = span_kernel(sample, settings.kernel);
    return sample;
}

SpanSample take_whole_sample(Task task, const Dataset& data, const FitSettings& settings) {
    Sample sample = take_sample(task, data, settings);
    RowLeaves leaves(current_ranks(), data.size(), sample.kept);
    return {std::move(sample), std::move(leaves)};
}

TargetScaling span_target_scale(TargetScale rule, std::span<const double> targets,
                                const SpanSample& sample) {
    const RowLeaves& leaves = sample.leaves;
    if (rule == TargetScale::minmax) {
        constexpr double far = std::numeric_limits<double>::infinity();
        const double high = leaves.largest(targets.empty() ? -far : std::ranges::max(targets));
        const double low = -leaves.largest(targets.empty() ? -far : -std::ranges::min(targets));
        return fit_target_scale(rule, std::vector<double>{low, high});
    }
    TargetScaling scaling;
    if (rule != TargetScale::center && rule != TargetScale::standard) return scaling;
    const double total = leaves.sum([&](std::size_t i) { return sample.weight(i); });
    scaling.shift =
        leaves.sum([&](std::size_t i) { return sample.weight(i) * targets[i]; }) / total;
    if (rule == TargetScale::center) return scaling;
    const double deviation = std::sqrt(leaves.sum([&](std::size_t i) {
        return sample.weight(i) * std::pow(targets[i] - scaling.shift, 2);
    }) / total);
    // What rounding leaves of a constant is no scale.
    if (deviation > 1e-14 * std::fabs(scaling.shift)) scaling.scale = deviation;
    return scaling;
}

void stopped_without_model(const Run& run, double time_limit, Communicator& ranks) {
    const char late = run.out_of_time() ? 1 : 0;
    const std::vector<char> all = ranks.all_gather(std::span<const char>(&late, 1));
    if (std::ranges::find(all, char{1}) == all.end()) throw Cancelled();
    const Run over({}, 1e-9);  // what is said must be the same on all
    while (over.goes_on({"stop", -1})) {
    }
    stopped_without_model(over, time_limit);
}

Progress spread_progress(Progress own, Communicator& ranks) {
    ranks.resume();
    return [own = std::move(own), &ranks](const Moment& moment) {
        if (keep_going(own, moment) || ranks.stopped()) return true;
        ranks.stop();
        return false;
    };
}

}  // namespace mercer
