"""Predictions that hold as often as they say, whatever the distribution: conformal prediction.

On rows set aside, which the machine must not have seen, it is noted how strange each true answer
looked; whatever looks no stranger than a share ``coverage`` of them belongs to the prediction. For
rows drawn alike the truth is then covered with at least that probability.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._common.arrays import _same_length, check_targets
from .._common.base import Machine, _threads
from .._common.compat import ClassifierMixin, OutlierMixin, RegressorMixin
from .._common.parameters import number


def _both_rows(
    machine: Any, X: Any, X_aside: Any, kind: type, words: str
) -> tuple[_core.Rows, _core.Rows]:
    if not isinstance(machine, Machine):
        raise TypeError(f"machine must be an estimator of mercer, not {type(machine).__name__}")
    if not isinstance(machine, kind):
        raise ValueError(f"{words}, not of {type(machine).__name__}")
    return machine._rows_to_predict(X), machine._rows_to_predict(X_aside)


def _places(machine: Any, y: Any, rows: int, all_classes: bool) -> np.ndarray:
    """Positions of labels among the classes of the machine, each of which may have to be there."""
    places = {label: place for place, label in enumerate(machine.classes_.tolist())}
    labels = _same_length(np.ravel(y), rows).tolist()
    unknown, missing = set(labels) - set(places), set(places) - set(labels)
    if unknown:
        raise ValueError(f"the machine knows no class {unknown.pop()!r}, but {list(places)}")
    if missing and all_classes:
        raise ValueError(f"no row of class {missing.pop()!r} was set aside")
    return np.asarray([places[label] for label in labels], dtype=np.float64)


def prediction_sets(
    machine: Any,
    X: Any,
    X_aside: Any,
    y_aside: Any,
    *,
    coverage: float = 0.9,
    by_class: bool = False,
) -> np.ndarray:
    """Which classes remain possible for every row, the true one with probability ``coverage``.

    Parameters
    ----------
    machine
        A fitted classifier of this package.
    X : array or CSR matrix of shape (n_samples, n_features)
    X_aside, y_aside
        Rows it was not trained on, and their classes.
    coverage : float
        Between 0 and 1.
    by_class : bool
        A threshold for each class, so that the coverage holds within each.

    Returns
    -------
    ndarray of bool of shape (n_samples, n_classes)
        Columns as ``machine.classes_``. A row may have none, or all.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, prediction_sets
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(900) % 2
    >>> X = rng.normal(size=(900, 2)) + y[:, None]
    >>> model = SVC().fit(X[:300], y[:300])
    >>> sets = prediction_sets(model, X[600:], X[300:600], y[300:600], coverage=.9)
    >>> covered = sets[np.arange(300), y[600:]]
    >>> bool(.85 < covered.mean() < .95)
    True
    """
    kind = (ClassifierMixin, "sets of classes are those of classifiers")
    rows, aside = _both_rows(machine, X, X_aside, *kind)
    places = _places(machine, y_aside, len(aside), by_class)
    settings = {"coverage": number("coverage", coverage), "by_class": bool(by_class)}
    with _threads(getattr(machine, "n_jobs", None)):
        return _core.conformal_sets(machine._model, rows, aside, places, settings).astype(bool)


def prediction_intervals(
    machine: Any,
    X: Any,
    X_aside: Any,
    y_aside: Any,
    *,
    coverage: float = 0.9,
    scaled: bool = False,
) -> np.ndarray:
    """An interval for every row that holds the true number with probability ``coverage``.

    Parameters
    ----------
    machine
        A fitted regression of this package with one output.
    X : array or CSR matrix of shape (n_samples, n_features)
    X_aside, y_aside
        Rows it was not trained on, and their numbers.
    coverage : float
        Between 0 and 1.
    scaled : bool
        `GaussianProcessRegressor` alone: wider where the process is less sure.

    Returns
    -------
    ndarray of shape (n_samples, 2)
        Lowest and highest value; infinite where too few rows were set aside for the coverage.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVR, prediction_intervals
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, size=(900, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(scale=.1, size=900)
    >>> model = SVR().fit(X[:300], y[:300])
    >>> low, high = prediction_intervals(model, X[600:], X[300:600], y[300:600], coverage=.9).T
    >>> covered = (low <= y[600:]) & (y[600:] <= high)
    >>> bool(.85 < covered.mean() < .95)
    True
    """
    kind = (RegressorMixin, "intervals are those of regressions")
    rows, aside = _both_rows(machine, X, X_aside, *kind)
    y = check_targets(machine, y_aside, len(aside))
    settings = {"coverage": number("coverage", coverage), "scaled": bool(scaled)}
    with _threads(getattr(machine, "n_jobs", None)):
        return _core.conformal_intervals(machine._model, rows, aside, y, settings)


def outlier_p_values(machine: Any, X: Any, X_aside: Any) -> np.ndarray:
    """How usual every row is: for rows like those set aside at most p with probability at most p.

    Parameters
    ----------
    machine
        A fitted `OneClassSVM`, `SVDD` or `ParzenRegion`.
    X : array or CSR matrix of shape (n_samples, n_features)
    X_aside
        Usual rows it was not trained on.

    Returns
    -------
    ndarray of shape (n_samples,)
        (1 + number of rows set aside that are as strange) / (1 + rows set aside).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import OneClassSVM, outlier_p_values
    >>> X = np.random.default_rng(0).normal(size=(198, 2))
    >>> model = OneClassSVM(nu=.1).fit(X[:99])
    >>> outlier_p_values(model, [[9., 9.]], X[99:]).tolist()
    [0.01]
    """
    kind = (OutlierMixin, "p-values are those of machines of one class")
    rows, aside = _both_rows(machine, X, X_aside, *kind)
    with _threads(getattr(machine, "n_jobs", None)):
        return _core.conformal_p_values(machine._model, rows, aside)
