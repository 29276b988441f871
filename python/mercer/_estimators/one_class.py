"""Machines of a single class: a region, or a sphere in feature space, that holds most rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common.compat import OutlierMixin, available_if
from .support import OneOutput


class _Region(OutlierMixin, OneOutput):
    """A machine of one class: a region that holds most of the rows."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Positive inside the region, negative outside, 0 on its edge.

        Returns
        -------
        ndarray of shape (n_samples,)
            What is 0 up to rounding is 0, so that support vectors on the edge count as inside.
        """
        values = self._decision(X)[:, 0]
        if self._model.double_precision:
            edge = 1e-9 * np.abs(self.offset_).max()
            values[np.abs(values) <= edge] = 0.0
        return values

    def predict(self, X: Any) -> np.ndarray:
        """+1 inside the region, −1 outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def score_samples(self, X: Any) -> np.ndarray:
        """The decision before the threshold ``offset_`` is taken off."""
        return self.decision_function(X) + self.offset_


class OneClassSVM(_Region):
    """The region of one class: the ν-property bounds the share of rows left outside.

    Parameters and attributes as scikit-learn's OneClassSVM; what is new as in `SVC`, and ``probability``:
    also learn how likely a row is inside, for `predict_proba`. With ``nu=0``
    none is left outside; where no plane separates the rows from the origin that is a ValueError.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> OneClassSVM(nu=.1, gamma=.1).fit(X).predict([[0., 0.], [9., 9.]]).tolist()
    [1, -1]
    """

    _task = "one-class"

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 1024,
        verbose: bool = False,
        max_iter: int = -1,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "auto",
        on_interrupt: str = "raise",
        warm_start: bool = False,
        method: str = "automatic",
        gap: float = 0.0,
        probability: bool = False,
        approximate: str | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start
        self.method = method
        self.gap = gap
        self.probability = probability
        self.approximate = approximate

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "OneClassSVM":
        """Learns the region of the rows; ``y`` is ignored.

        Returns
        -------
        self
        """
        X = self._take(X)
        self._fit_one(X, None, sample_weight, nu=float(self.nu), probability=bool(self.probability))
        if self.report_.status in ("not separable", "no margin found"):
            raise ValueError(
                f"nu = 0: the rows are {self.report_.status} from the origin in feature space; take "
                "nu above 0, or another kernel"
            )
        self._after_loading()
        return self

    def _after_loading(self) -> None:
        self.probability = self._model.has_probabilities
        self.intercept_ = self._model.bias
        self.offset_ = -self.intercept_

    @available_if(lambda self: bool(self.probability))
    def predict_proba(self, X: Any) -> np.ndarray:
        """How likely each row is inside, and outside.

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        return self._probabilities(X)


class SVDD(_Region):
    """The smallest sphere around the rows in feature space, some of them left outside.

    Parameters
    ----------
    nu : float
        Bounds the share of rows outside; 0: the hard sphere around all of them.
    C : float, optional
        Instead: the penalty of rows outside.
    kernel, degree, gamma, coef0, tol, …
        As `OneClassSVM`.

    Attributes
    ----------
    radius_ : float
        Of the sphere.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVDD
    >>> X = np.array([[0., 0.], [2., 0.], [1., .5]])
    >>> round(SVDD(kernel="linear", nu=0).fit(X).radius_, 3)
    1.0
    """

    _task = "svdd"

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 1024,
        verbose: bool = False,
        max_iter: int = -1,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "auto",
        on_interrupt: str = "raise",
        warm_start: bool = False,
        method: str = "automatic",
        gap: float = 0.0,
        C: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start
        self.method = method
        self.gap = gap
        self.C = C

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "SVDD":
        """Learns the sphere around the rows; ``y`` is ignored.

        Returns
        -------
        self
        """
        X = self._take(X)
        if self.C is not None and not self.C > 0:
            raise ValueError(f"C = {self.C} must be a number above 0, or None")
        soft = {"nu": float(self.nu)} if self.C is None else {"C": self._penalty_of_errors()}
        self._fit_one(X, None, sample_weight, **soft)
        self._after_loading()
        return self

    def _after_loading(self) -> None:
        self.radius_ = self.report_.radius
        self.offset_ = np.array([-(self.radius_**2)])
