"""Nearest neighbours in feature space."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._common.arrays import check_targets, check_weights
from .._common.base import Machine, _threads
from .._common.classify import Classifier
from .._common.compat import RegressorMixin
from .._common.parameters import numbers_of


class _Neighbours(Machine):
    """What classes and numbers share."""

    def _neighbour_settings(self, rows: int) -> dict[str, Any]:
        if self.path is None and self.n_neighbors > rows:
            raise ValueError(
                f"n_neighbors = {self.n_neighbors} must be at most n_samples = {rows}, the rows to fit"
            )
        return {
            "neighbours": int(self.n_neighbors),
            "path": numbers_of("path", self.path),
            "vote": self.weights,
            "leave_one_out": bool(self.leave_one_out),
        }

    def _read_figures(self) -> None:
        figures = self.report_.figures
        self.n_neighbors_ = int(figures["neighbours"])
        self.n_samples_fit_ = int(self.report_.rows)
        if "loo_error" in figures:
            self.loo_error_ = figures["loo_error"]
        path = self._model.arrays().get("path")
        if path is not None:
            self.path_errors_ = path[:, 1]

    _after_loading = _read_figures

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """The nearest training rows of every row, the nearest first.

        Parameters
        ----------
        X : array, optional
            Without it, of each training row among the others.
        n_neighbors : int, optional
            How many; those of the machine where it is not given.
        return_distance : bool
            Also the distances in feature space.

        Returns
        -------
        distances, positions : ndarray of shape (n_samples, n_neighbors)
            Positions among the training rows, those of weight 0 not counted.
        """
        self._check_fitted()
        count = self.n_neighbors_ if n_neighbors is None else int(n_neighbors)
        rows = None if X is None else self._rows_to_predict(X)
        with _threads(self.n_jobs):
            index, squared = _core.neighbours(self._model, rows, count, return_distance)
        return (np.sqrt(squared), index) if return_distance else index


class KNeighborsClassifier(_Neighbours, Classifier):
    """The class of most of the nearest training rows, by distances in feature space.

    Distances are ``sqrt(k(x, x) - 2 k(x, z) + k(z, z))`` and exact; of rows at the same distance the
    first counts as the nearer, of classes with as many votes the first wins.

    Parameters
    ----------
    n_neighbors : int
        How many rows vote.
    weights : {"uniform", "distance"}
        What each counts: the same, or one over its distance.
    path : sequence of int, optional
        Numbers of neighbours to choose from by leave-one-out error, all from one search.
    leave_one_out : bool
        The leave-one-out error of ``n_neighbors``, without any further training.
    kernel, gamma, degree, coef0
        As `SVC`; by default distances are Euclidean.

    Attributes
    ----------
    classes_ : ndarray
    n_neighbors_ : int
        How many are asked, as given or as chosen from ``path``.
    loo_error_ : float
        Share of training rows that the others are wrong about, where it was asked for.
    path_errors_ : ndarray
        The same for each number of ``path``.

    Examples
    --------
    >>> from mercer import KNeighborsClassifier
    >>> model = KNeighborsClassifier(n_neighbors=3).fit([[0.], [1.], [2.], [3.]], [0, 0, 1, 1])
    >>> model.predict([[1.1]]).tolist(), model.predict_proba([[.9]]).round(2).tolist()
    ([0], [[0.67, 0.33]])
    """

    _task = "knn"

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: str = "uniform",
        path: Any = None,
        leave_one_out: bool = False,
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.path = path
        self.leave_one_out = leave_one_out
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KNeighborsClassifier":
        """Keeps the rows with their classes and, if given, the weights of their votes.

        Returns
        -------
        self
        """
        self._fit_classes(X, y, sample_weight, **self._neighbour_settings(self._take(X).shape[0]))
        self._read_figures()
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Shares of the votes, in the order of ``classes_``."""
        return self._probabilities(X)


class KNeighborsRegressor(RegressorMixin, _Neighbours):
    """The mean of the targets of the nearest training rows, by distances in feature space.

    Parameters
    ----------
    n_neighbors, weights, path, leave_one_out, kernel, gamma, degree, coef0
        As `KNeighborsClassifier`; errors are squared.

    Attributes
    ----------
    n_neighbors_, loo_error_, path_errors_
        As `KNeighborsClassifier`.

    Examples
    --------
    >>> from mercer import KNeighborsRegressor
    >>> model = KNeighborsRegressor(n_neighbors=2).fit([[0.], [1.], [2.], [3.]], [0., 1., 4., 9.])
    >>> model.predict([[1.4]]).tolist()
    [2.5]
    """

    _task = "knn-regression"

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: str = "uniform",
        path: Any = None,
        leave_one_out: bool = False,
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.path = path
        self.leave_one_out = leave_one_out
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KNeighborsRegressor":
        """Keeps the rows with their numbers, one or several a row.

        Returns
        -------
        self
        """
        X = self._take(X)
        y = check_targets(self, y, X.shape[0], several=True)
        self._one_dimension = y.ndim == 1
        self._train(
            X,
            y if y.ndim == 1 else None,
            check_weights(sample_weight, X.shape[0]),
            targets=None if y.ndim == 1 else np.ascontiguousarray(y),
            **self._neighbour_settings(X.shape[0]),
        )
        self._read_figures()
        return self

    def _after_loading(self) -> None:
        self._one_dimension = self._model.coefficients.shape[0] == 1
        self._read_figures()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def predict(self, X: Any) -> np.ndarray:
        """The values at every row, of shape (n_samples,) or (n_samples, n_targets)."""
        values = self._decision(X)
        return values[:, 0] if self._one_dimension else values
