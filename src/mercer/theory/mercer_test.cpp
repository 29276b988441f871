#include "mercer/theory/mercer_test.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/data/source.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

/// Up to here all eigenvalues are computed from the stored matrix; beyond, the extreme ones by
/// Lanczos.
constexpr std::size_t largest_stored = 4000;

std::vector<std::size_t> chosen_rows(std::size_t size, const MercerTestSettings& settings) {
    std::vector<std::size_t> positions(size);
    std::iota(positions.begin(), positions.end(), std::size_t{0});
    if (settings.max_rows == 0 || settings.max_rows >= size) return positions;
    Random random(settings.seed);
    random.shuffle(std::span(positions));
    positions.resize(settings.max_rows);
    std::sort(positions.begin(), positions.end());
    return positions;
}

/// H K H with H = I − 11'/n, in place.
void center_in_place(Matrix<double>& k) {
    const std::size_t n = k.rows();
    const auto size = static_cast<double>(n);
    std::vector<double> mean(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto row = k.row(i);
        mean[i] = std::accumulate(row.begin(), row.end(), 0.0) / size;
    }
    const double total = std::accumulate(mean.begin(), mean.end(), 0.0) / size;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) k(i, j) += total - mean[i] - mean[j];
    }
}

/// a'Ka through K's own entries: the sum that Mercer's condition speaks of.
double quadratic_form(const SymmetricOperator<double>& k, std::span<const double> a) {
    std::vector<double> product(a.size());
    k.apply(a, product);
    return std::inner_product(a.begin(), a.end(), product.begin(), 0.0);
}

void judge(MercerTest& test) {
    const double magnitude = std::max(std::abs(test.smallest), std::abs(test.largest));
    test.tolerance =
        static_cast<double>(test.rows.size()) * std::numeric_limits<double>::epsilon() * magnitude;
    test.indefinite = test.smallest < -test.tolerance;
}

void test_stored(const Gram<double>& gram, const Progress& progress, MercerTest& test) {
    const std::size_t n = gram.size();
    Matrix<double> k(n, n);
    gram.matrix(k.view(), progress);
    Spectrum spectrum = symmetric_eigen(std::as_const(k).view());
    test.smallest = spectrum.values.front();
    test.largest = spectrum.values.back();
    judge(test);
    double absolute = 0;
    double squares = 0;
    for (const double value : spectrum.values) {
        test.trace += value;
        absolute += std::abs(value);
        squares += value * value;
        test.numerical_rank += std::abs(value) > test.tolerance ? 1 : 0;
    }
    test.effective_rank = squares > 0 ? absolute * absolute / squares : 0;
    if (test.indefinite) {
        const auto vector = spectrum.vectors.row(0);
        test.witness.assign(vector.begin(), vector.end());
        test.witness_value =
            quadratic_form(*matrix_operator(std::as_const(k).view()), test.witness);
        Matrix<double> centered = std::move(k);
        center_in_place(centered);
        test.smallest_centered = symmetric_eigen(centered.view(), false).values.front();
    }
    test.values = std::move(spectrum.values);
    std::reverse(test.values.begin(), test.values.end());
}

/// Σ_ij K_ij², a block of rows at a time, added in the order of the rows.
double sum_of_squares(const SymmetricOperator<double>& k, const Progress& progress) {
    const std::size_t n = k.size();
    constexpr std::size_t block = 128;
    Matrix<double> buffer(std::min(block, n), n);
    double total = 0;
    for (std::size_t first = 0; first < n; first += block) {
        const std::size_t count = std::min(block, n - first);
        std::vector<std::size_t> which(count);
        std::iota(which.begin(), which.end(), first);
        k.rows(which, buffer.view().block(0, 0, count, n));
        std::vector<double> sums(count);
        parallel_for(count, [&](std::size_t r) {
            const auto row = buffer.row(r);
            sums[r] = std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
        });
        total = std::accumulate(sums.begin(), sums.end(), total);
        const double fraction = static_cast<double>(first + count) / static_cast<double>(n);
        if (!keep_going(progress, {.task = "effective rank", .fraction = fraction})) {
            throw Cancelled();
        }
    }
    return total;
}

/// What can be said of single pairs (000 §2.2, 001): symmetry and the Cauchy–Schwarz inequality.
void test_pairs(const Gram<double>& gram, MercerTest& test) {
    constexpr std::size_t most = 256;
    std::vector<std::size_t> which(std::min(most, gram.size()));
    for (std::size_t i = 0; i < which.size(); ++i) which[i] = i * gram.size() / which.size();
    const Points<double> points = gram.select(gram.reference(), which);
    Matrix<double> k(which.size(), which.size());
    gram.block(points, points, k.view());
    double largest = 0;
    double apart = 0;
    for (std::size_t i = 0; i < k.rows(); ++i) {
        for (std::size_t j = 0; j < k.rows(); ++j) {
            largest = std::max(largest, std::abs(k(i, j)));
            apart = std::max(apart, std::abs(k(i, j) - k(j, i)));
            // Rounding of a product of two values must not count.
            const double product = k(i, i) * k(j, j);
            const double slack = 1e-12 * (std::abs(product) + k(i, j) * k(i, j));
            if (j < i && k(i, j) * k(i, j) > product + slack) ++test.cauchy_schwarz_broken;
        }
    }
    test.asymmetry = largest > 0 ? apart / largest : 0;
    test.asymmetric = test.asymmetry > 1e-10;
}

/// Residuals are asked for relative to the largest eigenvalue, and not too small: the low end of a
/// smooth kernel's spectrum is a cluster at 0 that Lanczos cannot tell apart, nor need it.
LanczosSettings lanczos_settings(const Progress& progress, bool centered) {
    return {.tolerance = 1e-7, .max_restarts = 60, .centered = centered, .progress = progress};
}

void test_by_lanczos(const Gram<double>& gram, const Progress& progress, MercerTest& test) {
    const auto op = make_operator(
        gram, {.reuse = Reuse::whole, .memory_bytes = physical_memory() / 4, .progress = progress});
    const Extremes extremes = extreme_eigen(*op, lanczos_settings(progress, false));
    test.smallest = extremes.smallest.value;
    test.largest = extremes.largest.value;
    test.converged = extremes.converged;
    judge(test);
    // A Ritz value lies above the smallest eigenvalue, so a negative one is proof enough; one near
    // 0 is believed only as far as its residual goes.
    test.tolerance = std::max(test.tolerance, extremes.smallest.residual);
    test.indefinite = test.smallest < -test.tolerance;
    std::vector<double> diagonal(gram.size());
    op->diagonal(diagonal);
    test.trace = std::accumulate(diagonal.begin(), diagonal.end(), 0.0);
    const double squares = sum_of_squares(*op, progress);
    test.effective_rank = squares > 0 ? test.trace * test.trace / squares : 0;
    if (!test.indefinite) return;
    test.witness = extremes.smallest.vector;
    test.witness_value = quadratic_form(*op, test.witness);
    const Extremes centered = extreme_eigen(*op, lanczos_settings(progress, true));
    test.smallest_centered = centered.smallest.value;
    test.tolerance = std::max(test.tolerance, centered.smallest.residual);
    test.converged = test.converged && centered.converged;
}

}  // namespace

MercerTest mercer_test(const Kernel& kernel, const Rows& rows, std::span<const std::string> names,
                       const MercerTestSettings& settings) {
    if (rows.size() == 0) {
        throw InvalidInput("a kernel is tried on at least one row; the data has none");
    }
    MercerTest test;
    // Rules such as gamma=scale look at all rows, as a machine fitted on them would.
    test.kernel = resolve(kernel, rows, names);
    test.rows = chosen_rows(rows.size(), settings);
    const auto gram =
        make_gram<double>(test.kernel, rows.select(test.rows), names, settings.progress);
    test_pairs(gram, test);
    if (gram.size() <= largest_stored) {
        test_stored(gram, settings.progress, test);
    } else {
        test_by_lanczos(gram, settings.progress, test);
    }
    test.conditionally_indefinite = test.indefinite && test.smallest_centered < -test.tolerance;
    return test;
}

}  // namespace mercer
