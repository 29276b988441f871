// signature: iterated integrals of two paths up to a level [Király and Oberhauser 2019]
#include "mercer/base/error.hpp"
#include "mercer/kernel/leaf/series/detail/series_rows.hpp"

namespace mercer {
namespace {

using namespace leaves;

constexpr double most_numbers = 1 << 20;

/// The signature of a path of straight pieces, one tensor a level, the first of them 1 (level 0).
class Signature {
   public:
    Signature(std::size_t channels, std::size_t levels) : channels_(channels) {
        for (std::size_t m = 0; m <= levels; ++m) {
            tensors_.emplace_back(m == 0 ? 1 : channels * tensors_.back().size(), 0.0);
        }
        tensors_[0][0] = 1;
    }

    /// Chen's rule: the signature of a path followed by a piece is the tensor product with
    /// exp(step), the signature of a straight piece. Level m becomes
    /// S_m + (S_{m-1} + (S_{m-2} + …) ⊗ step/2 …) ⊗ step, from the inside out.
    void append(std::span<const double> step) {
        for (std::size_t m = tensors_.size() - 1; m > 0; --m) {
            std::vector<double> inner(1, 1.0);
            for (std::size_t k = 1; k <= m; ++k) {
                const double part = 1 / static_cast<double>(m - k + 1);
                std::vector<double> next(tensors_[k]);
                for (std::size_t a = 0; a < inner.size(); ++a) {
                    for (std::size_t c = 0; c < channels_; ++c) {
                        next[a * channels_ + c] += inner[a] * step[c] * part;
                    }
                }
                inner = std::move(next);
            }
            tensors_[m] = std::move(inner);
        }
    }

    const std::vector<std::vector<double>>& tensors() const { return tensors_; }

   private:
    std::size_t channels_;
    std::vector<std::vector<double>> tensors_{};
};

void features(const KernelNode& node, const Object& object, Features& out) {
    const auto series = series_of(node, object);
    const auto width = static_cast<std::size_t>(node.parameter("width"));
    const bool time = node.parameter("time") == 1;
    const std::size_t points = series.size() / width;
    Signature signature(width + (time ? 1 : 0), static_cast<std::size_t>(node.parameter("level")));
    std::vector<double> step(width + (time ? 1 : 0));
    for (std::size_t i = 1; i < points; ++i) {
        for (std::size_t c = 0; c < width; ++c) {
            step[c] = series[i * width + c] - series[(i - 1) * width + c];
        }
        if (time) step[width] = 1 / static_cast<double>(points - 1);
        signature.append(step);
    }
    for (std::size_t m = 0; m < signature.tensors().size(); ++m) {
        const auto& tensor = signature.tensors()[m];
        for (std::size_t a = 0; a < tensor.size(); ++a) {
            if (tensor[a] != 0) out.push_back({hash_together(m, a), tensor[a]});
        }
    }
}

void check(const KernelNode& node) {
    const double channels = node.parameter("width") + node.parameter("time");
    if (std::pow(channels, node.parameter("level")) <= most_numbers) return;
    throw InvalidInput(
        "a signature of this level and width has more than 2^20 numbers; lower the "
        "level or take fewer columns");
}

}  // namespace

const Leaf& signature_leaf() {
    static const Leaf leaf{
        .entry = {.name = "signature",
                  .formula = "sum over levels m = 0 .. level of S_m(x).S_m(z), S_m the m-fold "
                             "iterated integrals of the path",
                  .about = "series by their shape as paths of straight pieces, wherever they "
                           "begin; time=true: time, from 0 to 1, is one more column",
                  .parameters = {whole("level", {"depth"}, 1, 20, 3.0), width_form(),
                                 counted_form(), truth("time", true)}},
        .features = features,
        .check = check,
    };
    return leaf;
}

}  // namespace mercer
