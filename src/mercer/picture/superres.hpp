// Super-resolution (001; Kim, Franz and Schölkopf 2004): a photograph made larger with details that
// its pixels no longer have, from what kernel principal components of patches of other photographs
// say that patches look like.
//
//   const SuperResolution learnt = SuperResolution::learn(photographs, {.factor = 2});
//   Image large = learnt.enlarge(small);
//   save(learnt.model(), "natural.mercer");                    // and SuperResolution(load(…))
//
// A patch of a large picture is described by what interpolation knows of it, its low frequencies,
// and by what it does not, the high ones: v = (low, detail · high) / contrast, low being the patch
// of the stretched picture about its mean, high = patch − stretched patch, and contrast the root
// mean square of low. The kernel Hebbian algorithm (learn/components/hebbian.hpp) learns the
// components of such v from a stream of patches. Then every patch of a stretched picture is put in
// as (low, 0), projected on the components, and the pre-image's high part is added to the stretched
// picture, overlapping patches by their mean. Colours are only stretched; their details are
// luminance.
//
// Such v are pairs, of what is seen and what is sought. `PatchKind::large` is 001's way, which is
// not taught by pairs: the components are those of patches of large pictures alone, v = (low +
// high) / contrast. A patch of the stretched picture is projected on what such patches look like;
// of the picture that the pre-images make, the high frequencies, what shrinking it would lose, are
// added to the stretched one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/feature/preimage.hpp"
#include "mercer/learn/components/hebbian.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/picture/image.hpp"

namespace mercer MERCER_API {

/// What components are learnt of.
enum class PatchKind {
    pairs,  ///< the low frequencies beside the high ones
    large,  ///< patches of the large pictures as they are: unsupervised
};

struct SuperresSettings {
    PatchKind kind = PatchKind::pairs;
    std::size_t factor = 2;      ///< 2 … 8
    std::size_t patch = 8;       ///< pixels a side of the large picture, at least the factor
    std::size_t stride = 0;      ///< between patches to be enlarged; 0: a quarter of the patch
    std::size_t sample = 10000;  ///< patches drawn from all examples together
    double detail = 1;           ///< of pairs: weight of the high frequencies
    std::size_t rounds = 2;  ///< projections: each after the first starts from the high part found
    /// Components, dictionary, kernel on v, steps, seed, progress; its scaling must be none. Few
    /// components fill in more than many, which keep (low, 0) as it is. A gamma near 1 / (4 patch²)
    /// does well, since low has length patch.
    HebbianSettings hebbian{.common = {.kernel = rbf({.gamma = 1.0 / 256})},
                            .components = 40,
                            .dictionary = 500,
                            .passes = 3};
    PreimageSettings preimage{
        .method = PreimageMethod::fixed_point, .starts = 1, .iterations = 50, .tolerance = 1e-4};
};

/// Patches of one contrast seen from both sides.
struct PatchPairs {
    std::size_t patch = 0;
    Matrix<double> low{};   ///< one patch a row: stretched, about its mean, over its contrast
    Matrix<double> high{};  ///< what the stretched patch lacks, over the same
};

/// So many patches with some contrast, drawn from large pictures that are shrunk and stretched.
PatchPairs draw_patches(std::span<const Image> examples, std::size_t factor, std::size_t patch,
                        std::size_t count, std::uint64_t seed);

class SuperResolution {
   public:
    /// Throws InvalidInput for settings out of range and pictures too small; Cancelled.
    static SuperResolution learn(std::span<const Image> examples,
                                 const SuperresSettings& settings = {});
    /// From a file. Throws InvalidInput unless `learn` made the model.
    explicit SuperResolution(const Model& model);

    /// A model of the task kpca with the numbers `factor`, `patch`, `detail`, `rounds`, and
    /// `large` (1) where it was learnt of large patches alone.
    const Model& model() const { return components_.model(); }
    std::size_t factor() const { return factor_; }
    PatchKind kind() const { return kind_; }

    /// Throws InvalidInput for a picture smaller than a patch once enlarged; Cancelled.
    Image enlarge(const Image& small, const Progress& progress = {}) const;

    /// How pre-images are sought and how far patches lie apart, when not as learnt.
    PreimageSettings preimage{
        .method = PreimageMethod::fixed_point, .starts = 1, .iterations = 50, .tolerance = 1e-4};
    std::size_t stride = 0;

   private:
    PrincipalComponents components_;
    std::size_t factor_ = 0;
    std::size_t patch_ = 0;
    double detail_ = 1;
    std::size_t rounds_ = 1;
    PatchKind kind_ = PatchKind::pairs;
};

/// Beside it: the high part of the example whose low part is nearest (Freeman, Jones and Pasztor
/// 2002), 001's "supervised example-based learning".
Image enlarge_by_nearest(const Image& small, std::size_t factor, const PatchPairs& examples,
                         std::size_t stride = 0, const Progress& progress = {});

}  // namespace mercer
