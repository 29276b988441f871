#include "mercer/learn/detail/centre_span.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/dist/detail/rank_partners.hpp"
#include "mercer/feature/expansion.hpp"
#include "mercer/kernel/definiteness.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/detail/centres.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

Kernel checked_kernel(const Kernel& kernel) {
    if (convexity_by_rule(kernel, Directions::any) != Convexity::by_rule) {
        throw InvalidInput("the kernel " + kernel.text() +
                           " is not known to be positive definite, and only such kernels can be "
                           "approximated in the span of some rows");
    }
    if (is_centered(kernel)) {
        throw InvalidInput(
            "the kernel " + kernel.text() +
            " is centred on all rows, and cannot be approximated in the span of some");
    }
    return kernel;
}

/// Rows that centres are drawn from: all, or so many of them that the factor of the draw stays
/// small.
std::vector<std::size_t> candidates(std::size_t rows, const FitSettings& settings,
                                    std::size_t centres) {
    std::vector<std::size_t> all(rows);
    std::iota(all.begin(), all.end(), std::size_t{0});
    constexpr std::size_t few = 20'000, many = 100'000;
    const std::size_t by_memory =
        settings.memory_bytes / 2 / sizeof(float) / std::max<std::size_t>(centres, 1);
    const std::size_t wanted =
        std::max(std::min(std::clamp(10 * centres, few, many), by_memory), 2 * centres);
    if (wanted >= rows) return all;
    Random(settings.seed, 1).shuffle(std::span(all));
    all.resize(wanted);
    std::ranges::sort(all);
    return all;
}

}  // namespace

/// All ranks draw among the same rows, together where that takes long and they are quick to tell
/// one another; that of rank 0 counts where processors differ in rounding.
template <class T>
typename CentreSpan<T>::Choice CentreSpan<T>::chosen(const SpanSample& sample,
                                                     const FitSettings& settings,
                                                     const Nystroem& how) {
    if (how.centres == 0) throw InvalidInput("`centres` = 0 must be at least 1");
    const std::vector<std::size_t> from = candidates(sample.leaves.rows(), settings, how.centres);
    const Rows rows = sample.gather(from);
    const auto gram = make_gram<float>(checked_kernel(sample.kernel), rows,
                                       sample.data.feature_names, settings.progress);
    // What rounding of single precision leaves of a row says nothing any more.
    constexpr double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-6;
    Communicator& ranks = sample.leaves.ranks();
    const RankPartners partners(ranks);
    std::vector<std::size_t> drawn = draw_centres(
        gram, {.count = how.centres,
               .tolerance = tolerance,
               .seed = settings.seed,
               .progress = settings.progress,
               .partners = ranks.size() > 1 && ranks.is_quick() ? &partners : nullptr});
    if (drawn.empty()) throw InvalidInput("the kernel is zero on all rows");
    if (ranks.size() > 1) {
        const std::span<const std::size_t> own(drawn);
        drawn = ranks.all_gather(own.first(ranks.rank() == 0 ? own.size() : 0));
    }
    Choice choice{.positions = drawn, .rows = rows.select(drawn)};
    for (std::size_t& position : choice.positions) position = from[position];
    return choice;
}

template <class T>
CentreSpan<T>::CentreSpan(const SpanSample& sample, const FitSettings& settings,
                          const Nystroem& how)
    : CentreSpan(sample, settings, chosen(sample, settings, how)) {}

template <class T>
CentreSpan<T>::CentreSpan(const SpanSample& sample, const FitSettings& settings, Choice choice)
    : positions_(std::move(choice.positions)),
      origins_(sample.leaves.origins(sample.kept, positions_)),
      rows_(std::move(choice.rows)),
      gram_(make_gram<T>(sample.kernel, rows_, sample.data.feature_names, settings.progress)) {
    const std::size_t m = size();
    const auto exact =
        make_gram<double>(kernel(), rows_, sample.data.feature_names, settings.progress);
    factor_ = Matrix<double>(m, m);
    exact.matrix(factor_.view(), settings.progress);
    if (!cholesky(factor_.view(), settings.progress)) {
        throw InvalidInput("the kernel matrix of " + std::to_string(m) +
                           " centres is not positive definite; use fewer `centres`");
    }
    Matrix<double> inverse(m, m);  // rows of the identity become columns of L⁻¹
    for (std::size_t i = 0; i < m; ++i) inverse(i, i) = 1;
    forward_solve(factor(), inverse.view());
    inverse_ = Matrix<T>(m, m);
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j <= i; ++j) inverse_(i, j) = static_cast<T>(inverse(j, i));
    }
}

template <class T>
void CentreSpan<T>::write(ModelParts& model, Matrix<double> beta, std::vector<double> bias,
                          double self) const {
    model.origins = origins_;
    model.expansion.kernel = kernel();
    model.expansion.points = rows_;
    model.expansion.coefficients = std::move(beta);
    model.expansion.bias = std::move(bias);
    model.expansion.self = self;
}

template <class T>
void CentreSpan<T>::features(const Points<T>& rows, MatrixView<T> out) const {
    Matrix<T> values(rows.size(), size());
    gram_.block(rows, gram_.reference(), values.view());
    const auto all = std::as_const(values).view();
    parallel_ranges(rows.size(), 256, [&](std::size_t first, std::size_t last) {
        multiply_transposed(all.block(first, 0, last - first, size()),
                            std::as_const(inverse_).view(),
                            out.block(first, 0, last - first, size()));
    });
}

template class CentreSpan<float>;
template class CentreSpan<double>;

}  // namespace mercer
