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
//
// Where rows follow one another in time and the mixture may be bent, sources are told apart by
// their course in time instead, in feature space (`tdsep`, below).
//
//   Model bent = tdsep({.common = {.kernel = rbf({.sigma = 1.0})}, .basis = 20}).fit(data);
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

inline constexpr Task tdsep_task = new_task("tdsep");

struct TdsepSettings {
    FitSettings common{.kernel = linear()};  ///< linear: the mixture is
    std::size_t components = 0;              ///< sources; 0: as many as columns
    std::size_t basis = 20;                  ///< directions of feature space, at most
    std::size_t lags = 20;                   ///< steps of time looked back over: 1, 2, … so many
    std::size_t sweeps = 100;                ///< over all pairs of directions, at most
    double tolerance = 1e-6;  ///< stop when a sweep turns no pair by more than this angle
};

/// Sources of a mixture by their course in time, also of one that is not linear: kTDSEP [001's
/// reference 28: Harmeling, Ziehe, Kawanabe and Müller, Kernel feature spaces and nonlinear blind
/// source separation, 2002]. Rows are moments of time, one after another.
///
/// The images of the rows are projected on the span of few of them, pivots of an incomplete
/// Cholesky factorisation, and there on the leading principal directions, and whitened. One
/// rotation then makes the covariances between now and 1, 2, … steps ago as diagonal as can be.
/// With the linear kernel that is TDSEP [Ziehe and Müller 1998]; with another one the functions
/// found are sources and functions of sources. Those come first that share the largest squared
/// correlation with the columns, on average over them, and as many as `components` says are kept,
/// each of variance 1, positively correlated with the column that it is most correlated with.
///
/// The model is an expansion over the pivots. Report: `primal` is the squared mass off the
/// diagonals that is left, `history` its course, one number a sweep, from before the first; figures
/// `off_diagonal` and `off_diagonal_at_first` (shares of all squared entries), `sweeps`, `basis`
/// (directions used), `lags`, `left_out` (share of the images' squared norm outside the span), and
/// `separation`: how much the autocovariances of the two most alike sources differ, in units of
/// what chance makes of two that are the same; of sources for which it is not well above 1 nothing
/// says that they were told apart. Array "shares": the mean squared correlation of each with the
/// columns.
class Tdsep {
   public:
    explicit Tdsep(TdsepSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return tdsep_task; }
    const TdsepSettings& settings() const { return settings_; }
    /// Throws InvalidInput for fewer than twice as many rows as lags or directions, for more
    /// components than directions, for weights, and for rows that do not vary.
    Model fit(const Dataset& data) const;

   private:
    TdsepSettings settings_;
};
inline Tdsep tdsep(TdsepSettings settings = {}) {
    return Tdsep(std::move(settings));
}

/// What `separation` has to be for sources to count as told apart.
inline constexpr double separated = 4;

/// The contrast of given sources (rows × sources, each of variance 1): 0 when they are independent.
/// kappa > 0.
double ica_contrast(MatrixView<const double> sources, const Kernel& kernel, double kappa,
                    IcaContrast contrast = IcaContrast::correlation);

/// W as rows, for the data before any scaling; of tdsep's models, those of the linear kernel.
Matrix<double> unmixing_matrix(const Model& model);

/// How far W A is from a permutation with scaled rows [Amari, Cichocki and Yang 1996], in [0, 1]:
/// the mean over rows and columns of (sum of |entries| / largest − 1) / (m − 1). W is m × d, A is
/// d × m.
double amari_error(MatrixView<const double> unmixing, MatrixView<const double> mixing);

}  // namespace mercer
