// Kernel independent components (001, research list; Bach and Jordan, Kernel Independent Component
// Analysis, JMLR 3, 2002): rows x = A s mixed from sources s that do not depend on each other are
// unmixed, W x = s, up to order, sign and size. Sources are independent exactly when no function of
// one is correlated with a function of another, so the contrast to be lowered is their first kernel
// canonical correlation.
//
//   Model model = kernel_ica({}).fit(data);
//   Matrix<double> sources = model.decision(data.x);        // one column per source, variance 1
//   model.extras().array("mixing");                            // A, columns of the data × sources
//   amari_error(unmixing_matrix(model).view(), truth.view());
#pragma once

#include <cstddef>
#include <string>

#include "mercer/base/export.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

enum class IcaContrast {
    correlation,  ///< −½ log of the least eigenvalue: the first kernel canonical correlation
    variance,     ///< −½ log of the determinant: all of them, the kernel generalised variance
};

struct IcaSettings {
    /// Kernel of one source (variance 1); scaling, limits, progress. The time limit holds.
    FitSettings common{.kernel = rbf({.sigma = 1.0})};
    std::size_t components = 0;  ///< sources; 0: as many as columns. Fewer: of the largest variance
    IcaContrast contrast = IcaContrast::correlation;
    double kappa = 0;  ///< regularisation; 0: Bach and Jordan's 0.02, or 0.002 over 1000 rows
    std::size_t sweeps = 20;  ///< over all pairs of sources, at most
    double tolerance = 1e-4;  ///< stop when a sweep turns no pair by more than this angle
};

/// The data are whitened; what is left is a rotation, found one pair of sources at a time: the
/// contrast of all sources is lowered along the angle of the plane they span, over a grid of
/// (−π/4, π/4] and then by golden section, and a pair is turned only when the contrast falls. So it
/// never rises, and a sweep that turns nothing is the end.
///
/// For centred Gram matrices K_i of the sources, each by its incomplete Cholesky factor
/// K_i ≈ U_i Λ_i U_i', the contrast is that of the matrix with identities on the diagonal and
/// R_i U_i'U_j R_j off it, R_i = Λ_i / (Λ_i + nκ/2) (Bach and Jordan, §4.1).
///
/// The model is linear: s = W (x − mean), sources in the order of the variance they contribute, the
/// largest weight of each positive. Array "mixing" is A, of the columns as scaled. The report has
/// the contrast as `primal` and its course, one number a sweep; figures `contrast`, `sweeps`,
/// `kappa`. Stopped early it has what there is, with a status.
class KernelIca {
   public:
    explicit KernelIca(IcaSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return Task::ica; }
    const IcaSettings& settings() const { return settings_; }
    Model fit(const Dataset& data) const;

   private:
    IcaSettings settings_;
};
inline KernelIca kernel_ica(IcaSettings settings = {}) {
    return KernelIca(std::move(settings));
}

/// The contrast of given sources (rows × sources, each of variance 1): 0 when they are independent.
/// kappa > 0.
double ica_contrast(MatrixView<const double> sources, const Kernel& kernel, double kappa,
                    IcaContrast contrast = IcaContrast::correlation);

/// W as rows, for the data before any scaling.
Matrix<double> unmixing_matrix(const Model& model);

/// How far W A is from a permutation with scaled rows [Amari, Cichocki and Yang 1996], in [0, 1]:
/// the mean over rows and columns of (sum of |entries| / largest − 1) / (m − 1). W is m × d, A is
/// d × m.
double amari_error(MatrixView<const double> unmixing, MatrixView<const double> mixing);

}  // namespace mercer
