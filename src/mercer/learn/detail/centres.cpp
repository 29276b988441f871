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

/// Rows of a task, where products are concerned; partners have whole ones.
constexpr std::size_t grain = 2048;
/// Products from which on partners share a draw: below, it is over before they have spoken.
constexpr double much_work = 5e8;

class CentreDraw {
   public:
    CentreDraw(const Gram<float>& gram, const CentreSettings& settings)
        : gram_(gram), settings_(settings), random_(settings.seed), left_(gram.size()) {
        gram.diagonal(gram.reference(), left_);
        const double largest = left_.empty() ? 0 : std::ranges::max(left_);
        least_ = settings.tolerance * largest;
        const std::size_t most = std::min(settings.count, gram.size());
        share_rows(most);
        factor_ = Matrix<float>(last_ - first_, most);
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

    /// Which rows are this one's, and which partners', if there are any.
    void share_rows(std::size_t centres) {
        const std::size_t n = gram_.size();
        const auto columns = static_cast<double>(centres);
        last_ = n;
        ends_ = {n};
        const Partners* const partners = settings_.partners;
        if (!partners || static_cast<double>(n) * columns * columns < much_work) return;
        const std::size_t blocks = (n + grain - 1) / grain;
        const std::size_t count = partners->count(), number = partners->number();
        ends_.clear();
        for (std::size_t p = 1; p <= count; ++p) {
            ends_.push_back(std::min(n, blocks * p / count * grain));
        }
        first_ = number == 0 ? 0 : ends_[number - 1];
        last_ = ends_[number];
        std::vector<std::size_t> own(last_ - first_);
        std::iota(own.begin(), own.end(), first_);
        points_ = gram_.select(gram_.reference(), own);
    }
    bool is_alone() const { return ends_.size() == 1; }
    std::size_t owner(std::size_t row) const {
        return static_cast<std::size_t>(std::ranges::upper_bound(ends_, row) - ends_.begin());
    }

    /// Row a of what comes back is what the owner of row drawn[a] has put there: copy(a, numbers).
    template <class Copy>
    Matrix<float> by_owners(const std::vector<std::size_t>& drawn, std::size_t width,
                            Copy copy) const {
        Matrix<float> all(drawn.size(), width);
        const std::size_t number = is_alone() ? 0 : settings_.partners->number();
        std::vector<std::size_t> bytes(ends_.size(), 0);
        std::vector<float> said;
        for (std::size_t a = 0; a < drawn.size(); ++a) {
            bytes[owner(drawn[a])] += width * sizeof(float);
            if (owner(drawn[a]) != number) continue;
            copy(a, all.row(a));
            said.insert(said.end(), all.row(a).begin(), all.row(a).end());
        }
        if (is_alone() || width == 0) return all;
        std::vector<float> heard(drawn.size() * width);
        settings_.partners->gather(std::as_bytes(std::span<const float>(said)), bytes,
                                   std::as_writable_bytes(std::span(heard)));
        auto from = heard.begin();
        for (std::size_t p = 0; p < ends_.size(); ++p) {
            for (std::size_t a = 0; a < drawn.size(); ++a) {
                if (owner(drawn[a]) != p) continue;
                std::copy_n(from, width, all.row(a).begin());
                from += static_cast<std::ptrdiff_t>(width);
            }
        }
        return all;
    }

    /// Accepts each candidate with the share that the accepted before it leave of it.
    void take(const std::vector<std::size_t>& drawn) {
        Matrix<float> rows(drawn.size(), last_ - first_);
        const auto points = gram_.select(gram_.reference(), drawn, false);
        if (is_alone()) {
            gram_.block(points, gram_.reference(), rows.view());
        } else if (last_ > first_) {
            gram_.block(points, points_, rows.view());
        }
        subtract_taken(drawn, rows);
        const Matrix<float> among = by_owners(drawn, drawn.size(), [&](std::size_t b, auto to) {
            for (std::size_t a = 0; a < to.size(); ++a) to[a] = rows(a, drawn[b] - first_);
        });
        // All partners have the same numbers from here on, and decide alike.
        Matrix<double> h(drawn.size(), drawn.size());  // the factor of what is left among them
        std::vector<std::size_t> accepted;
        for (std::size_t a = 0; a < drawn.size(); ++a) {
            double own = static_cast<double>(among(a, a));
            for (std::size_t j = 0; j < accepted.size(); ++j) {
                const std::size_t b = accepted[j];
                double sum = static_cast<double>(among(b, a));
                for (std::size_t k = 0; k < j; ++k) sum -= h(a, k) * h(b, k);
                h(a, j) = sum / h(b, j);
                own -= h(a, j) * h(a, j);
            }
            if (!(own > least_) || random_.uniform() * left_[drawn[a]] > own) continue;
            h(a, accepted.size()) = std::sqrt(own);
            accepted.push_back(a);
        }
        add_columns(accepted, rows, h);
        share_left();
        for (const std::size_t a : accepted) {
            taken_.push_back(drawn[a]);
            left_[drawn[a]] = 0;
        }
    }

    void subtract_taken(const std::vector<std::size_t>& drawn, Matrix<float>& rows) const {
        const std::size_t rank = taken_.size();
        const Matrix<float> own = by_owners(drawn, rank, [&](std::size_t a, auto to) {
            std::copy_n(factor_.row(drawn[a] - first_).begin(), rank, to.begin());
        });
        if (rank == 0) return;
        const auto factor = factor_.view().block(0, 0, factor_.rows(), rank);
        parallel_ranges(factor_.rows(), grain, [&](std::size_t first, std::size_t last) {
            subtract_product_transposed(own.view(), factor.block(first, 0, last - first, rank),
                                        rows.view().block(0, first, rows.rows(), last - first));
        });
    }

    /// A few rows at a time, whose numbers are computed side by side.
    void add_columns(const std::vector<std::size_t>& accepted, const Matrix<float>& rows,
                     const Matrix<double>& h) {
        constexpr std::size_t side = 64;
        const std::size_t rank = taken_.size();
        parallel_ranges(factor_.rows(), 8 * side, [&](std::size_t begin, std::size_t end) {
            std::vector<double> g(accepted.size() * side);
            for (std::size_t first = begin; first < end; first += side) {
                const std::size_t count = std::min(side, end - first);
                for (std::size_t j = 0; j < accepted.size(); ++j) {
                    const auto line = h.row(accepted[j]);
                    double* const own = g.data() + j * side;
                    const float* const from = rows.row(accepted[j]).data() + first;
                    for (std::size_t i = 0; i < count; ++i) own[i] = static_cast<double>(from[i]);
                    for (std::size_t k = 0; k < j; ++k) {
                        const double* const other = g.data() + k * side;
                        for (std::size_t i = 0; i < count; ++i) own[i] -= line[k] * other[i];
                    }
                    for (std::size_t i = 0; i < count; ++i) own[i] /= line[j];
                }
                for (std::size_t i = 0; i < count; ++i) {
                    const auto to = factor_.row(first + i).subspan(rank);
                    double& left = left_[first_ + first + i];
                    for (std::size_t j = 0; j < accepted.size(); ++j) {
                        const double value = g[j * side + i];
                        to[j] = static_cast<float>(value);
                        left -= value * value;
                    }
                }
            }
        });
    }

    /// What is left of each one's rows, told to all.
    void share_left() {
        if (is_alone()) return;
        std::vector<std::size_t> bytes;
        for (std::size_t p = 0; p < ends_.size(); ++p) {
            bytes.push_back((ends_[p] - (p == 0 ? 0 : ends_[p - 1])) * sizeof(double));
        }
        const auto own = std::span<const double>(left_).subspan(first_, last_ - first_);
        const std::vector<double> said(own.begin(), own.end());
        settings_.partners->gather(std::as_bytes(std::span<const double>(said)), bytes,
                                   std::as_writable_bytes(std::span(left_)));
    }

    const Gram<float>& gram_;
    const CentreSettings& settings_;
    Random random_;
    std::vector<double> left_;  ///< of k(x, x), what the centres leave
    double least_ = 0;
    std::size_t first_ = 0, last_ = 0;  ///< the rows of this one
    std::vector<std::size_t> ends_{};   ///< where those of each partner end
    Points<float> points_{};            ///< of this one, where there are others
    Matrix<float> factor_{};            ///< own rows × centres
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
