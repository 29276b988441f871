#include "mercer/learn/detail/centres.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"

namespace mercer {
namespace {

class CentreDraw {
   public:
    CentreDraw(const Gram<float>& gram, const CentreSettings& settings)
        : gram_(gram), settings_(settings), random_(settings.seed), left_(gram.size()) {
        gram.diagonal(gram.reference(), left_);
        const double largest = left_.empty() ? 0 : std::ranges::max(left_);
        least_ = settings.tolerance * largest;
        factor_ = Matrix<float>(gram.size(), std::min(settings.count, gram.size()));
    }

    std::vector<std::size_t> run(std::vector<double>* share) {
        const double trace = std::accumulate(left_.begin(), left_.end(), 0.0);
        while (taken_.size() < factor_.columns()) {
            const double done =
                static_cast<double>(taken_.size()) / static_cast<double>(factor_.columns());
            if (!keep_going(settings_.progress, {"centres", done})) throw Cancelled();
            const std::vector<std::size_t> drawn = draw();
            if (drawn.empty()) break;
            take(drawn);
            if (!share) continue;
            double left = 0;
            for (const double value : left_) left += std::max(value, 0.0);
            share->resize(taken_.size(), trace > 0 ? left / trace : 0);
        }
        std::ranges::sort(taken_);
        return std::move(taken_);
    }

   private:
    /// Candidates by what is left of them, each once, in the order drawn.
    std::vector<std::size_t> draw() {
        std::vector<double> sums(left_.size());
        double total = 0;
        for (std::size_t i = 0; i < left_.size(); ++i) {
            if (left_[i] > least_) total += left_[i];
            sums[i] = total;
        }
        std::vector<std::size_t> drawn;
        if (!(total > 0)) return drawn;
        const std::size_t wanted = std::clamp<std::size_t>(factor_.columns() / 10, 16, 512);
        const std::size_t open = factor_.columns() - taken_.size();
        for (std::size_t k = 0; k < std::min(wanted, open); ++k) {
            const double at = random_.uniform() * total;
            const auto found = std::ranges::upper_bound(sums, at);
            const auto i = static_cast<std::size_t>(found - sums.begin());
            if (i < left_.size() && left_[i] > least_ && std::ranges::count(drawn, i) == 0) {
                drawn.push_back(i);
            }
        }
        return drawn;
    }

    /// Accepts each candidate with the share that the accepted before it leave of it.
    void take(const std::vector<std::size_t>& drawn) {
        const std::size_t n = left_.size();
        Matrix<float> rows(drawn.size(), n);
        const auto points = gram_.select(gram_.reference(), drawn, false);
        gram_.block(points, gram_.reference(), rows.view());
        subtract_taken(drawn, rows);
        Matrix<double> h(drawn.size(), drawn.size());  // the factor of what is left among them
        std::vector<std::size_t> accepted;
        for (std::size_t a = 0; a < drawn.size(); ++a) {
            double own = static_cast<double>(rows(a, drawn[a]));
            for (std::size_t j = 0; j < accepted.size(); ++j) {
                const std::size_t b = accepted[j];
                double sum = static_cast<double>(rows(a, drawn[b]));
                for (std::size_t k = 0; k < j; ++k) sum -= h(a, k) * h(b, k);
                h(a, j) = sum / h(b, j);
                own -= h(a, j) * h(a, j);
            }
            if (!(own > least_) || random_.uniform() * left_[drawn[a]] > own) continue;
            h(a, accepted.size()) = std::sqrt(own);
            accepted.push_back(a);
        }
        add_columns(drawn, accepted, rows, h);
    }

    void subtract_taken(const std::vector<std::size_t>& drawn, Matrix<float>& rows) const {
        const std::size_t rank = taken_.size();
        if (rank == 0) return;
        Matrix<float> own(drawn.size(), rank);
        for (std::size_t a = 0; a < drawn.size(); ++a) {
            std::copy_n(factor_.row(drawn[a]).begin(), rank, own.row(a).begin());
        }
        const auto factor = factor_.view().block(0, 0, factor_.rows(), rank);
        parallel_ranges(factor_.rows(), 2048, [&](std::size_t first, std::size_t last) {
            subtract_product_transposed(std::as_const(own).view(),
                                        factor.block(first, 0, last - first, rank),
                                        rows.view().block(0, first, rows.rows(), last - first));
        });
    }

    void add_columns(const std::vector<std::size_t>& drawn,
                     const std::vector<std::size_t>& accepted, const Matrix<float>& rows,
                     const Matrix<double>& h) {
        const std::size_t rank = taken_.size();
        parallel_ranges(left_.size(), 512, [&](std::size_t first, std::size_t last) {
            std::vector<double> g(accepted.size());
            for (std::size_t i = first; i < last; ++i) {
                for (std::size_t j = 0; j < accepted.size(); ++j) {
                    double sum = static_cast<double>(rows(accepted[j], i));
                    for (std::size_t k = 0; k < j; ++k) sum -= h(accepted[j], k) * g[k];
                    g[j] = sum / h(accepted[j], j);
                    factor_(i, rank + j) = static_cast<float>(g[j]);
                    left_[i] -= g[j] * g[j];
                }
            }
        });
        for (const std::size_t a : accepted) {
            taken_.push_back(drawn[a]);
            left_[drawn[a]] = 0;
        }
    }

    const Gram<float>& gram_;
    const CentreSettings& settings_;
    Random random_;
    std::vector<double> left_;  ///< of k(x, x), what the centres leave
    double least_ = 0;
    Matrix<float> factor_{};  ///< rows × centres
    std::vector<std::size_t> taken_{};
};

}  // namespace

std::vector<std::size_t> draw_centres(const Gram<float>& gram, const CentreSettings& settings) {
    return CentreDraw(gram, settings).run(nullptr);
}

std::vector<std::size_t> draw_centres(const Gram<float>& gram, const CentreSettings& settings,
                                      std::vector<double>& left) {
    return CentreDraw(gram, settings).run(&left);
}

}  // namespace mercer
