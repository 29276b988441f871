"""Model files, whoever wrote them, as fitted estimators."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .. import _core
from .base import Machine, Report
from .._estimators.components import KernelPCA
from .._estimators.gpc import GaussianProcessClassifier
from .._estimators.ica import KernelTDSEP
from .._estimators.losses import (
    KernelHuberRegressor,
    KernelLogisticRegression,
    KernelQuantileRegressor,
    SquaredHingeClassifier,
)
from .._estimators.machines import Adatron, KernelKMeans, ParzenClassifier, ParzenRegion
from .._estimators.perceptron import KernelPerceptron
from .._estimators.multilabel import MultiLabelClassifier
from .._estimators.regions import QuantileRegions
from .._estimators.neighbours import KNeighborsClassifier, KNeighborsRegressor
from .._estimators.gpr import GaussianProcessRegressor
from .._estimators.regression import KernelRidge
from .._estimators.risk import KernelRiskClassifier, KernelRiskRegressor
from .._estimators.spreading import LabelSpreading
from .._estimators.svc import SVC, NuSVC
from .._estimators.one_class import SVDD, OneClassSVM
from .._estimators.svr import SVR, NuSVR
from .._select.tables import TableModel
from ..kernels import Kernel

#: By the task of the model file.
ESTIMATORS = {
    kind._task: kind
    for kind in (
        Adatron,
        GaussianProcessClassifier,
        GaussianProcessRegressor,
        KNeighborsClassifier,
        KNeighborsRegressor,
        KernelHuberRegressor,
        KernelKMeans,
        KernelLogisticRegression,
        KernelPCA,
        KernelPerceptron,
        KernelQuantileRegressor,
        KernelRidge,
        KernelRiskClassifier,
        KernelRiskRegressor,
        KernelTDSEP,
        LabelSpreading,
        MultiLabelClassifier,
        NuSVC,
        NuSVR,
        OneClassSVM,
        ParzenClassifier,
        ParzenRegion,
        QuantileRegions,
        SVC,
        SVDD,
        SVR,
        SquaredHingeClassifier,
    )
}


def classes_of(model: _core.Model) -> np.ndarray:
    """The classes as an estimator has them: numbers, whole ones as such; False and True; or text."""
    values = model.class_values
    if values:
        whole = all(value == int(value) for value in values)
        return np.asarray(values, dtype=np.int64 if whole else np.float64)
    if model.class_names == ["False", "True"]:
        return np.array([False, True])
    return np.asarray(model.class_names)


def save(machine: Machine | TableModel, path: Any) -> None:
    """Writes a fitted machine into a model file, which `load`, the command line and C++ read.

    The same as ``machine.save(path)``.
    """
    machine.save(path)


def load(path: Any) -> Machine | TableModel:
    """A fitted machine from a model file, of `Machine.save` or of the command line.

    It predicts as the machine that was saved does, with its classes and names of columns, and has its
    certificate; what only the training rows could tell (``support_`` and the like) is not there.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    An estimator of the class that trains such machines: ``SVC``, ``KernelRidge``, …; a `TableModel`
    for one learnt from a table with columns of several kinds.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer import SVC, load
    >>> model = SVC().fit([[0.], [1.], [2.], [3.]], ["a", "a", "b", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "model.mercer"))
    ...     again = load(os.path.join(folder, "model.mercer"))
    >>> again.classes_.tolist(), again.predict([[3.]]).tolist()
    (['a', 'b'], ['b'])
    """
    model = _core.Model.load(os.fspath(path))
    if _core.has_recipe(model):
        return TableModel(model)
    kind = ESTIMATORS.get("svc" if model.task == "hard" else model.task)
    if kind is None:
        raise ValueError(
            f"{path} holds a model of the task {model.task}, which no estimator predicts with; the "
            "command line does"
        )
    machine = kind(kernel=Kernel(model.kernel))
    known = machine.get_params(deep=False)
    told = {name: value for name, value in model.trained().items() if name in known and value > 0}
    machine.set_params(**told)
    if "precision" in known:
        machine.set_params(precision="double" if model.double_precision else "single")
    machine._model = model
    machine.report_ = Report(model.report())
    machine.n_features_in_ = model.columns + len(model.objects)
    if model.objects:
        machine._kinds = model.objects
    if model.feature_names:
        machine.feature_names_in_ = np.asarray(model.feature_names, dtype=object)
    if model.class_names:
        machine.classes_ = classes_of(model)
    machine._after_loading()
    return machine
