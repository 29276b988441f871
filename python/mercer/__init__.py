"""Mercer: kernels as values, machines with certificates, estimators for scikit-learn.

Examples
--------
>>> from mercer import SVC, rbf, poly
>>> k = rbf(gamma=.05) + .5*poly(2)
>>> print(k, "is", k.definiteness)
rbf(gamma=0.05) + 0.5*polynomial(degree=2) is strictly positive definite
"""

from . import _core, data, kernels, pictures, plot, theory
from ._select.alignment import (
    AlignedKernel,
    Combination,
    align_parameters,
    alignment,
    alignment_gradient,
    learn_combination,
)
from ._common.base import Machine, Report
from ._common.certificate import CheckedCertificate, verify
from ._common.compat import ConvergenceWarning, NotFittedError
from ._estimators.components import KernelPCA
from ._common.streams import predict_blocks
from ._select.choice import Comparison, calibrate, compare, permutation_importance, query
from ._select.compress import CascadeRun, cascade, run_cascade
from ._select.conformal import outlier_p_values, prediction_intervals, prediction_sets
from ._select.features import eliminate_features, zero_norm_features
from ._estimators.gpc import GaussianProcessClassifier
from ._estimators.hebbian import KernelHebbian
from ._estimators.ica import KernelICA, KernelTDSEP
from ._estimators.linear import LinearSVC, LinearSVR
from ._common.load import load, save
from ._estimators.losses import (
    KernelHuberRegressor,
    KernelLogisticRegression,
    KernelQuantileRegressor,
    SquaredHingeClassifier,
)
from ._estimators.machines import Adatron, KernelKMeans, ParzenClassifier, ParzenRegion
from ._estimators.manifold import (
    Isomap,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    gram_function,
)
from ._estimators.maps import KernelMap, MonomialFeatures, Nystroem
from ._estimators.perceptron import KernelPerceptron
from ._estimators.multilabel import MultiLabelClassifier
from ._estimators.neighbours import KNeighborsClassifier, KNeighborsRegressor
from ._kernel.network import Network
from ._estimators.pairs import KernelCCA, KernelDependency
from ._select.plan import TrainingPlan, plan
from ._common.progress import ProgressBar
from ._estimators.regions import QuantileRegions
from ._estimators.gpr import GaussianProcessRegressor
from ._estimators.regression import KernelRidge
from ._estimators.risk import KernelRiskClassifier, KernelRiskRegressor
from ._estimators.scaling import FeatureScaling
from ._select.search import SearchCV
from ._kernel.geometry import FeatureVector, feature_variance
from ._kernel.series import series
from ._estimators.spectral import SpectralClustering
from ._estimators.spreading import LabelSpreading
from ._select.steps import smo_steps
from ._estimators.svc import SVC, NuSVC
from ._estimators.one_class import SVDD, OneClassSVM
from ._estimators.svr import SVR, NuSVR
from ._select.tables import TableModel, column_kinds, judge, learn
from ._estimators.vq import KernelVQ, read_codes
from .exchange import export, from_sklearn, load_libsvm, to_sklearn
from .kernels import (
    BlockKernel,
    Kernel,
    center,
    function,
    laplacian,
    linear,
    matern,
    normalize,
    poly,
    polynomial,
    precomputed,
    rbf,
    sigmoid,
)

__version__: str = _core.version

__all__ = [
    "Adatron",
    "AlignedKernel",
    "BlockKernel",
    "CascadeRun",
    "CheckedCertificate",
    "Combination",
    "Comparison",
    "ConvergenceWarning",
    "FeatureScaling",
    "FeatureVector",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "Isomap",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "Kernel",
    "KernelCCA",
    "KernelDependency",
    "KernelHebbian",
    "KernelHuberRegressor",
    "KernelICA",
    "KernelKMeans",
    "KernelLogisticRegression",
    "KernelMap",
    "KernelPCA",
    "KernelPerceptron",
    "KernelQuantileRegressor",
    "KernelRidge",
    "KernelRiskClassifier",
    "KernelRiskRegressor",
    "KernelTDSEP",
    "KernelVQ",
    "LabelSpreading",
    "LaplacianEigenmaps",
    "LinearSVC",
    "LinearSVR",
    "LocallyLinearEmbedding",
    "Machine",
    "MonomialFeatures",
    "MultiLabelClassifier",
    "Network",
    "NotFittedError",
    "NuSVC",
    "NuSVR",
    "Nystroem",
    "OneClassSVM",
    "ParzenClassifier",
    "ParzenRegion",
    "ProgressBar",
    "QuantileRegions",
    "Report",
    "SVC",
    "SVDD",
    "SVR",
    "SearchCV",
    "SpectralClustering",
    "SquaredHingeClassifier",
    "TableModel",
    "TrainingPlan",
    "align_parameters",
    "alignment",
    "alignment_gradient",
    "calibrate",
    "cascade",
    "center",
    "column_kinds",
    "compare",
    "data",
    "eliminate_features",
    "export",
    "feature_variance",
    "from_sklearn",
    "function",
    "gram_function",
    "judge",
    "kernels",
    "laplacian",
    "learn",
    "learn_combination",
    "linear",
    "load",
    "load_libsvm",
    "matern",
    "normalize",
    "outlier_p_values",
    "permutation_importance",
    "predict_blocks",
    "pictures",
    "plan",
    "plot",
    "poly",
    "polynomial",
    "precomputed",
    "prediction_intervals",
    "prediction_sets",
    "query",
    "rbf",
    "read_codes",
    "run_cascade",
    "save",
    "series",
    "sigmoid",
    "smo_steps",
    "theory",
    "to_sklearn",
    "verify",
    "zero_norm_features",
]
