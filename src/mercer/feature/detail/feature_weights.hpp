// An expansion of explicit features, collapsed: Σ_i a_i φ(x_i)·φ(x) = w·φ(x), so that a value costs
// the length of one text or graph, however many support vectors there are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mercer/feature/expansion.hpp"

namespace mercer {

/// The weights of one part c k or c normalize(k) of a kernel, k having explicit features.
class FeatureWeights {
   public:
    /// The part and the column that it reads.
    struct Part {
        Kernel leaf;
        std::string object;
        double factor = 1;
        bool normalized = false;
        bool unary = false;  ///< of counts in common, map(intersection, leaf)
        bool pairs = false;  ///< without features: one for PairSums
    };

    FeatureWeights(Part part, const Expansion& expansion);

    /// out(i, c) += w_c · φ(x_i)
    void add_to(const Rows& x, MatrixView<double> out) const;

    /// The heaviest features of one output that have names, into `out`.
    void name_heaviest(const Expansion& expansion, std::size_t output, std::size_t count,
                       std::vector<FeatureWeight>& out) const;

   private:
    /// Where a feature's weights stand, or where it would.
    std::size_t slot(std::uint64_t identity) const;

    Part part_;
    std::size_t outputs_;
    std::vector<std::uint64_t> identities_{};  ///< open addressing, a power of two of slots
    std::vector<std::uint32_t> places_{};      ///< 1 + row of weights_; 0: empty
    Matrix<double> weights_{};                 ///< features × outputs
};

/// The parts of a kernel that is a sum of such, and the constant beside them. Nothing for other
/// kernels.
struct CollapsedKernel {
    std::vector<FeatureWeights::Part> parts{};
    double constant = 0;
};
std::optional<CollapsedKernel> collapsed(const Expansion& expansion);

}  // namespace mercer
