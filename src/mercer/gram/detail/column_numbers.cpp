#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "mercer/base/detail/vector_math.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/gram/detail/column_numbers.hpp"

namespace mercer {
namespace {

/// Wider rows would not fit as dense tiles.
constexpr std::size_t widest = 200'000;

/// One row of pairs: gaps x_k − z_jk of column k for all j, handed on column by column.
class RowOfPairs {
   public:
    RowOfPairs(const KernelNode& leaf, std::size_t pairs)
        : leaf_(leaf), pairs_(pairs), angle_(pairs), twice_(pairs) {}

    void absolute(std::span<const double> gap, std::span<double> value) const {
        for (std::size_t j = 0; j < pairs_; ++j) value[j] += std::fabs(gap[j]);
    }

    /// sin²(πδ/p), and its derivative −sin(2πδ/p) πδ/p² in p.
    void sine(std::span<const double> gap, std::span<double> value, std::span<double> slope) {
        const double period = leaf_.parameter("period");
        for (std::size_t j = 0; j < pairs_; ++j) {
            double turns = gap[j] / period;
            turns -= std::nearbyint(turns);
            angle_[j] = std::numbers::pi * turns;
            twice_[j] = 2 * std::numbers::pi * turns;
        }
        vector_sin(angle_);
        for (std::size_t j = 0; j < pairs_; ++j) value[j] += angle_[j] * angle_[j];
        if (slope.empty()) return;
        vector_sin(twice_);
        const double factor = std::numbers::pi / (period * period);
        for (std::size_t j = 0; j < pairs_; ++j) slope[j] -= factor * twice_[j] * gap[j];
    }

    /// Adds one column to the elementary symmetric sums e_1 … e_degree and their derivatives in γ:
    /// e_m ← e_m + f e_{m−1} with f = exp(−γ δ²).
    void anova(std::span<const double> gap) {
        const double gamma = leaf_.parameter("gamma");
        for (std::size_t j = 0; j < pairs_; ++j) {
            twice_[j] = gap[j] * gap[j];
            angle_[j] = -gamma * twice_[j];
        }
        vector_exp(angle_);
        for (std::size_t m = sums_.rows() - 1; m > 0; --m) {
            const auto e = sums_.row(m);
            const auto e1 = sums_.row(m - 1);
            const auto s = slopes_.row(m);
            const auto s1 = slopes_.row(m - 1);
            for (std::size_t j = 0; j < pairs_; ++j) {
                s[j] += angle_[j] * (s1[j] - twice_[j] * e1[j]);
                e[j] += angle_[j] * e1[j];
            }
        }
    }
    void begin_anova() {
        const auto degree = static_cast<std::size_t>(leaf_.parameter("degree"));
        sums_ = Matrix<double>(degree + 1, pairs_);
        slopes_ = Matrix<double>(degree + 1, pairs_);
        std::ranges::fill(sums_.row(0), 1.0);
    }
    void end_anova(std::span<double> value, std::span<double> slope) const {
        std::ranges::copy(sums_.row(sums_.rows() - 1), value.begin());
        if (!slope.empty()) std::ranges::copy(slopes_.row(slopes_.rows() - 1), slope.begin());
    }

   private:
    const KernelNode& leaf_;
    std::size_t pairs_;
    std::vector<double> angle_;
    std::vector<double> twice_;
    Matrix<double> sums_;
    Matrix<double> slopes_;
};

}  // namespace

void column_numbers(PairNumber number, const KernelNode& leaf, const Rows& sample,
                    const PairWindow& window, std::span<double> value, std::span<double> slope) {
    const std::size_t width = sample.columns();
    if (width > widest) {
        throw InvalidInput("derivatives of " + leaf.entry().name + " need rows of at most " +
                           std::to_string(widest) + " columns, found " + std::to_string(width) +
                           "; use a kernel of dot products or distances");
    }
    std::vector<double> row(width);
    Matrix<double> z(width, window.columns);  // column by column
    for (std::size_t j = 0; j < window.columns; ++j) {
        sample.copy_row(window.first_column + j, row);
        for (std::size_t k = 0; k < width; ++k) z(k, j) = row[k];
    }
    std::vector<double> gap(window.columns);
    RowOfPairs pairs(leaf, window.columns);
    std::ranges::fill(value, 0.0);
    std::ranges::fill(slope, 0.0);
    for (std::size_t i = 0; i < window.rows; ++i) {
        sample.copy_row(window.first_row + i, row);
        const auto to = value.subspan(i * window.columns, window.columns);
        const auto slope_to =
            slope.empty() ? slope : slope.subspan(i * window.columns, window.columns);
        if (number == PairNumber::anova) pairs.begin_anova();
        for (std::size_t k = 0; k < width; ++k) {
            const auto other = z.row(k);
            for (std::size_t j = 0; j < gap.size(); ++j) gap[j] = row[k] - other[j];
            switch (number) {
                case PairNumber::absolute: pairs.absolute(gap, to); break;
                case PairNumber::sine: pairs.sine(gap, to, slope_to); break;
                default: pairs.anova(gap); break;
            }
        }
        if (number == PairNumber::anova) pairs.end_anova(to, slope_to);
    }
}

}  // namespace mercer
