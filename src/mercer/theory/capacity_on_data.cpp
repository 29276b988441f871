
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <set>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/kernel/definiteness.hpp"
#include "mercer/solver/linear/eigen.hpp"
#include "mercer/theory/bounds.hpp"
#include "mercer/theory/capacity.hpp"
#include "mercer/theory/mercer_test.hpp"

namespace mercer {
namespace {

constexpr std::size_t largest_sample = 1000;

/// Complexities are of functions of a feature space: without one there is nothing to measure.
void require_feature_space(const Kernel& kernel, const Rows& rows,
                           std::span<const std::string> names, const Progress& progress) {
    if (rows.size() == 0) throw InvalidInput("capacity is measured on rows, and there are none");
    require_finite(rows);
    if (definiteness(kernel).definite == Definite::positive) return;
    const MercerTest test = mercer_test(kernel, rows, names, {.progress = progress});
    if (!test.indefinite) return;
    throw InvalidInput(
        "the kernel " + kernel.text() +
        " is not positive definite on these rows, so there is no feature space "
        "whose functions could be measured; Mercer's test on the data shows a witness");
}

double standard_error(const std::vector<double>& values, double mean) {
    double squares = 0;
    for (const double v : values) squares += (v - mean) * (v - mean);
    const auto n = static_cast<double>(values.size());
    return n > 1 ? std::sqrt(squares / (n - 1) / n) : 0;
}

double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// ---- Regions of an arrangement.

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Unit vectors without those that are 0 and those that stand for a plane already there. `least` is
/// the length below which a vector counts as 0.
std::vector<Vector> planes_of(std::vector<Vector> vectors, double least) {
    constexpr double same = 1e-14;  // 1 − cos² of the angle between two that count as one
    std::vector<Vector> planes;
    for (Vector& v : vectors) {
        const double length = std::sqrt(dot(v, v));
        if (!(length > least)) continue;
        for (double& x : v) x /= length;
        const bool known = std::ranges::any_of(planes, [&](const Vector& p) {
            const double cosine = dot(p, v);
            return 1 - cosine * cosine < same;
        });
        if (!known) planes.push_back(std::move(v));
    }
    return planes;
}

/// Regions into which planes through the origin of `dimension` dimensions cut them: one more plane
/// cuts as many in two as the others have regions on it.
double regions(const std::vector<Vector>& planes, std::size_t dimension) {
    constexpr double rounding = 1e-7;
    if (planes.empty()) return 1;
    if (dimension <= 1) return 2;
    if (dimension == 2) return 2 * static_cast<double>(planes.size());
    double count = 1;
    for (std::size_t i = 0; i < planes.size(); ++i) {
        std::vector<Vector> on_it(planes.begin(), planes.begin() + static_cast<std::ptrdiff_t>(i));
        for (Vector& v : on_it) {
            const double along = dot(v, planes[i]);
            for (std::size_t j = 0; j < v.size(); ++j) v[j] -= along * planes[i][j];
        }
        count += regions(planes_of(std::move(on_it), rounding), dimension - 1);
    }
    return count;
}

/// Multiplications that counting takes, about.
double work_of(double planes, double dimension) {
    const double level = std::max(0.0, dimension - 2);
    const double nodes = std::exp(std::lgamma(planes + 1) - std::lgamma(level + 1) -
                                  std::lgamma(std::max(0.0, planes - level) + 1));
    return nodes * planes * planes * dimension;
}

/// The vectors whose dot products a positive semi-definite matrix holds, as many numbers each as
/// its rank: eigenvectors times the roots of their eigenvalues.
Matrix<double> factor_of(const Matrix<double>& k) {
    const Spectrum s = symmetric_eigen(k.view());
    const std::size_t m = k.rows();
    const double least =
        16 * static_cast<double>(m) * std::numeric_limits<double>::epsilon() * s.values.back();
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < m; ++i) {
        if (s.values[i] > least && s.values[i] > 0) used.push_back(i);
    }
    Matrix<double> vectors(m, used.size());
    for (std::size_t j = 0; j < used.size(); ++j) {
        const double root = std::sqrt(s.values[used[j]]);
        for (std::size_t i = 0; i < m; ++i) vectors(i, j) = root * s.vectors(used[j], i);
    }
    return vectors;
}

/// One sample: its labellings, and how they were found.
struct Counted {
    double log_count = 0;
    double rank = 0;
    bool exact = false;
};

Counted count_sample(Matrix<double> k, bool bias) {
    const std::size_t m = k.rows();
    if (bias) {
        // A constant feature of the size of the others: any size gives the same labellings.
        double size = 0;
        for (std::size_t i = 0; i < m; ++i) size += k(i, i);
        size = size > 0 ? size / static_cast<double>(m) : 1;
        for (double& value : k.values()) value += size;
    }
    const Matrix<double> vectors = factor_of(k);
    const std::size_t rank = vectors.columns();
    Counted result{.rank = static_cast<double>(rank), .exact = true};
    if (rank == m) {
        result.log_count = static_cast<double>(m) * std::numbers::ln2;
    } else if (const auto found = log_labellings(vectors.view())) {
        result.log_count = *found;
    } else {
        result.log_count =
            half_space_shattering(static_cast<double>(rank), static_cast<double>(m), false);
        result.exact = false;
    }
    return result;
}

/// `count` of `size` positions, none twice.
std::vector<std::size_t> draw(Random& random, std::size_t size, std::size_t count) {
    std::vector<std::size_t> all(size);
    std::iota(all.begin(), all.end(), std::size_t{0});
    for (std::size_t i = 0; i < count; ++i) std::swap(all[i], all[i + random.below(size - i)]);
    all.resize(count);
    return all;
}

/// Where every set of distinct rows is shattered, by rule, rounding has no say in the rank.
Counted count_distinct(const Rows& rows, const std::vector<std::size_t>& positions) {
    std::set<std::vector<double>> distinct;
    std::vector<double> row(rows.columns());
    for (const std::size_t i : positions) {
        rows.copy_row(i, row);
        // −0 and 0 are one number.
        for (double& value : row) value += 0.0;
        distinct.insert(row);
    }
    const auto count = static_cast<double>(distinct.size());
    return {.log_count = count * std::numbers::ln2, .rank = count, .exact = true};
}

EntropyLevel level_of(const Gram<double>& gram, const Rows& rows, bool strict, std::size_t m,
                      const EntropySettings& s, std::uint64_t stream) {
    std::vector<Counted> counted(s.draws);
    parallel_for(s.draws, [&](std::size_t d) {
        Random random(s.seed, stream + d);
        const std::vector<std::size_t> positions = draw(random, gram.size(), m);
        if (strict) {
            counted[d] = count_distinct(rows, positions);
            return;
        }
        const auto points = gram.select(gram.reference(), positions);
        Matrix<double> k(m, m);
        gram.block(points, points, k.view());
        counted[d] = count_sample(std::move(k), s.bias);
    });
    EntropyLevel level{.rows = m, .most = static_cast<double>(m) * std::numbers::ln2};
    std::vector<double> logs;
    for (const Counted& c : counted) {
        logs.push_back(c.log_count);
        level.growth = std::max(level.growth, c.log_count);
        level.rank += c.rank / static_cast<double>(s.draws);
        level.exact += c.exact ? 1 : 0;
    }
    level.entropy = mean_of(logs);
    level.deviation = standard_error(logs, level.entropy);
    double sum = 0;
    for (const double log : logs) sum += std::exp(log - level.growth);
    level.annealed = level.growth + std::log(sum / static_cast<double>(s.draws));
    return level;
}

}  // namespace

std::optional<double> log_labellings(MatrixView<const double> vectors, double budget) {
    double longest = 0;
    std::vector<Vector> all(vectors.rows);
    for (std::size_t i = 0; i < vectors.rows; ++i) {
        all[i].assign(vectors.row(i).begin(), vectors.row(i).end());
        longest = std::max(longest, std::sqrt(dot(all[i], all[i])));
    }
    const std::vector<Vector> planes = planes_of(std::move(all), 1e-12 * longest);
    if (work_of(static_cast<double>(planes.size()), static_cast<double>(vectors.columns)) >
        budget) {
        return std::nullopt;
    }
    return std::log(regions(planes, vectors.columns));
}

Rademacher rademacher_complexity(const Kernel& kernel, const Rows& rows,
                                 std::span<const std::string> names, const RademacherSettings& s) {
    require_range("norm", s.norm, s.norm >= 0, "0 or greater");
    require_range("draws", static_cast<double>(s.draws), s.draws >= 2 && s.draws <= 10'000'000,
                  "from 2 to 10000000");
    require_feature_space(kernel, rows, names, s.progress);
    const std::size_t m = rows.size();
    if (m > std::size_t{1} << 20 || m * m * sizeof(double) > s.memory_bytes) {
        throw InvalidInput("kernel values of " + std::to_string(m) +
                           " rows do not fit the memory allowed; raise `memory` or take fewer "
                           "rows");
    }
    const Gram<double> gram = make_gram<double>(kernel, rows, names, s.progress);
    Matrix<double> k(m, m);
    gram.matrix(k.view(), s.progress);
    Rademacher result{.rows = m};
    for (std::size_t i = 0; i < m; ++i) result.trace += k(i, i);
    const double unit = s.norm / static_cast<double>(m);
    result.by_trace = rademacher_by_trace(static_cast<double>(m), result.trace, s.norm);
    std::vector<double> values(s.draws);
    constexpr std::size_t at_a_time = 64;
    for (std::size_t first = 0; first < s.draws; first += at_a_time) {
        const std::size_t count = std::min(at_a_time, s.draws - first);
        parallel_for(count, [&](std::size_t d) {
            Random random(s.seed, first + d);
            std::vector<double> sign(m);
            for (double& x : sign) x = random.bits() >> 63 != 0 ? 1 : -1;
            double form = 0;
            for (std::size_t i = 0; i < m; ++i) {
                const auto row = k.row(i);
                form += sign[i] * std::inner_product(row.begin(), row.end(), sign.begin(), 0.0);
            }
            values[first + d] = unit * std::sqrt(std::max(0.0, form));
        });
        const double done = static_cast<double>(first + count) / static_cast<double>(s.draws);
        if (!keep_going(s.progress, {.task = "random labels", .fraction = done})) throw Cancelled();
    }
    result.estimate = mean_of(values);
    result.deviation = standard_error(values, result.estimate);
    return result;
}

std::vector<EntropyLevel> vc_entropy(const Kernel& kernel, const Rows& rows,
                                     std::span<const std::string> names, const EntropySettings& s) {
    require_range("draws", static_cast<double>(s.draws), s.draws >= 1 && s.draws <= 1'000'000,
                  "from 1 to 1000000");
    const std::size_t most = std::min(rows.size(), largest_sample);
    for (const std::size_t size : s.sizes) {
        require_range(
            "sizes", static_cast<double>(size), size >= 1 && size <= most,
            "from 1 to " + std::to_string(most) + " (the rows there are, and no more than 1000)");
    }
    require_feature_space(kernel, rows, names, s.progress);
    const Gram<double> gram = make_gram<double>(kernel, rows, names, s.progress);
    const bool strict = definiteness(gram.kernel()).strict && rows.objects().empty();
    std::vector<EntropyLevel> levels;
    for (std::size_t i = 0; i < s.sizes.size(); ++i) {
        levels.push_back(level_of(gram, rows, strict, s.sizes[i], s, i * s.draws));
        const double done = static_cast<double>(i + 1) / static_cast<double>(s.sizes.size());
        if (!keep_going(s.progress, {.task = "VC entropy", .fraction = done})) throw Cancelled();
    }
    return levels;
}

}  // namespace mercer
