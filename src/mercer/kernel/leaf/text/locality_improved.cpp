// locality_improved: matches in small windows along aligned texts [Zien et al. 2000]
#include <algorithm>

#include "mercer/kernel/leaf/text/detail/matches.hpp"

namespace mercer {
namespace {

using namespace leaves;

double power(double base, std::size_t exponent) {
    double result = 1;
    for (; exponent > 0; --exponent) result *= base;
    return result;
}

class Pairs final : public ObjectPairs {
   public:
    Pairs(const KernelNode& node, std::span<const Object> texts)
        : d1_(static_cast<std::size_t>(node.parameter("d1"))),
          d2_(static_cast<std::size_t>(node.parameter("d2"))),
          half_(static_cast<std::size_t>(node.parameter("window"))),
          texts_(node, texts, 0) {
        // Weights fall off from the middle of the window and add up to 1.
        const double middle = static_cast<double>(half_) + 1;
        for (double j = 1; j < 2 * middle; ++j) {
            weights_.push_back(std::min(j, 2 * middle - j) / (middle * middle));
        }
    }

    void row(std::size_t i, const ObjectPairs& z, std::span<const std::uint32_t> columns,
             std::span<double> out) const override {
        const AlignedTexts& others = static_cast<const Pairs&>(z).texts_;
        const std::vector<std::uint8_t> x = texts_.unlike(i);
        std::vector<double> match;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const std::size_t length = std::min(texts_.length(i), others.length(columns[c]));
            match.assign(length + 2 * half_, 0);
            const std::uint8_t* other = others.letters(columns[c]);
            for (std::size_t p = 0; p < length; ++p) match[half_ + p] = x[p] == other[p] ? 1 : 0;
            double sum = 0;
            for (std::size_t p = 0; p < length; ++p) {
                double window = 0;
                for (std::size_t j = 0; j < weights_.size(); ++j) {
                    window += weights_[j] * match[p + j];
                }
                sum += power(window, d1_);
            }
            out[c] = power(sum, d2_);
        }
    }
    double pair_work() const override {
        return texts_.mean_length() * static_cast<double>(2 * weights_.size() + d1_);
    }

   private:
    std::size_t d1_;
    std::size_t d2_;
    std::size_t half_;
    AlignedTexts texts_;
    std::vector<double> weights_{};
};

std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> texts) {
    return std::make_unique<Pairs>(node, texts);
}

Finding judge(const KernelNode&, const Assumptions&) {
    return Finding::positive(
        "sums with weights > 0 and whole powers of matches at a place, which are features "
        "(Zien et al. 2000)");
}

}  // namespace

const Leaf& locality_improved_leaf() {
    static const Leaf leaf{
        .entry = {.name = "locality_improved",
                  .formula = "(sum over p of (sum over |j| <= window of w_j match_{p+j})^d1)^d2",
                  .about = "aligned texts by matches near each other; w_j = (window+1-|j|) / "
                           "(window+1)^2",
                  .parameters = {whole("window", {"l"}, 0, 1000, 3.0), whole("d1", {}, 1, 30, 2.0),
                                 whole("d2", {}, 1, 30, 1.0), alphabet_form(), window_forms()[0],
                                 window_forms()[1]}},
        .objects = ObjectKind::text,
        .prepare = prepare,
        .judge = judge,
    };
    return leaf;
}

}  // namespace mercer
