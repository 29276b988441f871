#include "mercer/learn/risk/detail/loss_sums.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "mercer/base/detail/infinity.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/learn/risk/detail/loss_tile.hpp"

namespace mercer {

LossOverRows::LossOverRows(const RiskProblem& problem, const RowLeaves* leaves)
    : p_(problem), leaves_(leaves) {
    const auto weight = [&](std::size_t i) { return problem.weight(i); };
    if (leaves) {
        total_ = leaves->sum(weight);
        return;
    }
    for (std::size_t i = 0; i < problem.target.size(); ++i) total_ += weight(i);
}

/// Sums over pieces of the rows: image(i) is the z of a row, add(i, k, tile, sums) adds what row
/// i, the k-th of the tile, has to add.
template <class Image, class Add>
LossOverRows::Sums LossOverRows::sum(bool with_value, const Image& image, const Add& add) const {
    const auto piece = [&](std::size_t first, std::size_t last) {
        LossTile tile;
        for (std::size_t i = first; i < last; ++i) tile.z[i - first] = image(i);
        tile.evaluate(p_.loss, p_.target.data() + first, last - first, with_value);
        Sums own{};
        for (std::size_t i = first; i < last; ++i) add(i, i - first, tile, own);
        return own;
    };
    if (leaves_) return leaves_->piece_sums<4>(loss_tile_rows, piece);
    const std::size_t n = p_.target.size();
    std::vector<Sums> parts((n + loss_tile_rows - 1) / loss_tile_rows);
    parallel_ranges(n, loss_tile_rows, [&](std::size_t first, std::size_t last) {
        parts[first / loss_tile_rows] = piece(first, last);
    });
    Sums all{};
    for (const Sums& part : parts) {
        for (std::size_t j = 0; j < all.size(); ++j) all[j] += part[j];
    }
    return all;
}

LossSums LossOverRows::look(std::span<const double> image, double bias) const {
    const Sums found = sum(
        true, [&](std::size_t i) { return image[i] + bias; },
        [&](std::size_t i, std::size_t k, const LossTile& b, Sums& sums) {
            const double weight = p_.weight(i);
            sums[0] += weight * b.value[k];
            sums[1] += weight * b.slope[k];
            sums[2] += weight * b.curvature[k];
            // Of a differentiable loss −ℓ*(ℓ'(z)) = ℓ(z) − ℓ'(z) z.
            sums[3] += weight * (b.value[k] - b.slope[k] * b.z[k]);
        });
    return {found[0], found[1], found[2], found[3]};
}

double LossOverRows::value(std::span<const double> image, std::span<const double> change, double t,
                           double bias) const {
    return sum(
        true, [&](std::size_t i) { return image[i] + t * change[i] + bias; },
        [&](std::size_t i, std::size_t k, const LossTile& b, Sums& sums) {
            sums[0] += p_.weight(i) * b.value[k];
        })[0];
}

void LossOverRows::derive(std::size_t first, std::span<const double> image, double bias,
                          std::span<double> slopes, std::span<double> curvatures) const {
    parallel_ranges(slopes.size(), loss_tile_rows, [&](std::size_t from, std::size_t to) {
        LossTile tile;
        for (std::size_t k = from; k < to; ++k) tile.z[k - from] = image[first + k] + bias;
        tile.evaluate(p_.loss, p_.target.data() + first + from, to - from, false);
        for (std::size_t k = from; k < to; ++k) {
            const double weight = p_.weight(first + k);
            slopes[k] = weight * tile.slope[k - from];
            if (!curvatures.empty()) curvatures[k] = weight * tile.curvature[k - from];
        }
    });
}

double LossOverRows::best_bias(std::span<const double> image, double b) const {
    double low = -infinity, high = infinity, width = 0.01;
    for (int i = 0; i < 200; ++i) {
        const Sums at = sum(
            false, [&](std::size_t r) { return image[r] + b; },
            [&](std::size_t r, std::size_t k, const LossTile& tile, Sums& sums) {
                sums[0] += p_.weight(r) * tile.slope[k];
                sums[1] += p_.weight(r) * tile.curvature[k];
            });
        const double slope = at[0], curvature = at[1];
        if (std::fabs(slope) <= 1e-13 * total_) return b;
        (slope < 0 ? low : high) = b;
        double next = b - slope / curvature;
        if (std::fabs(next - b) <= 1e-15 * std::fabs(b)) return b;  // below what can be told
        if (!(curvature > 0) || !(next > low && next < high)) {
            if (std::isinf(low) || std::isinf(high)) {
                next = slope < 0 ? b + width : b - width;
                width *= 4;
            } else {
                next = low + (high - low) / 2;
            }
        }
        if (!(next > low && next < high)) return b;
        b = next;
    }
    return b;
}

}  // namespace mercer
