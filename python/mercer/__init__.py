"""Mercer: kernels as values, machines with certificates, estimators for scikit-learn.

Examples
--------
>>> from mercer import SVC, rbf, poly
>>> k = rbf(gamma=.05) + .5*poly(2)
>>> print(k, "is", k.definiteness)
rbf(gamma=0.05) + 0.5*polynomial(degree=2) is strictly positive definite
"""

from . import _core, data, kernels, plot, theory
from ._alignment import Combination, alignment, learn_combination
from ._base import Machine, Report
from ._certificate import CheckedCertificate, verify
from ._compat import ConvergenceWarning, NotFittedError
from ._components import KernelHebbian, KernelPCA
from ._conformal import outlier_p_values, prediction_intervals, prediction_sets
from ._features import eliminate_features, zero_norm_features
from ._gpc import GaussianProcessClassifier
from ._ica import KernelICA, KernelTDSEP
from ._load import load
from ._losses import (
    KernelHuberRegressor,
    KernelLogisticRegression,
    KernelQuantileRegressor,
    SquaredHingeClassifier,
)
from ._machines import Adatron, KernelKMeans, KernelPerceptron, ParzenClassifier, ParzenRegion
from ._manifold import (
    Isomap,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    gram_function,
)
from ._maps import MonomialFeatures, Nystroem
from ._multilabel import MultiLabelClassifier
from ._neighbours import KNeighborsClassifier, KNeighborsRegressor
from ._network import Network
from ._pairs import KernelCCA, KernelDependency
from ._progress import ProgressBar
from ._regions import QuantileRegions
from ._regression import GaussianProcessRegressor, KernelRidge
from ._risk import KernelRiskClassifier, KernelRiskRegressor
from ._series import series
from ._spreading import LabelSpreading
from ._steps import smo_steps
from ._svc import SVC, NuSVC
from ._svr import SVDD, SVR, NuSVR, OneClassSVM
from ._tables import TableModel, column_kinds, judge, learn
from ._vq import KernelVQ
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
    "BlockKernel",
    "CheckedCertificate",
    "Combination",
    "ConvergenceWarning",
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
    "SquaredHingeClassifier",
    "TableModel",
    "alignment",
    "center",
    "column_kinds",
    "data",
    "eliminate_features",
    "function",
    "gram_function",
    "judge",
    "kernels",
    "laplacian",
    "learn",
    "learn_combination",
    "linear",
    "load",
    "matern",
    "normalize",
    "outlier_p_values",
    "plot",
    "poly",
    "polynomial",
    "precomputed",
    "prediction_intervals",
    "prediction_sets",
    "rbf",
    "series",
    "sigmoid",
    "smo_steps",
    "theory",
    "verify",
    "zero_norm_features",
]
