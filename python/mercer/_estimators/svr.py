"""Support vector regression under scikit-learn's names."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import _core
from .._common.arrays import check_targets
from .._common.call import outside
from .._common.compat import RegressorMixin
from .support import OneOutput


class _SupportVectorRegressor(RegressorMixin, OneOutput):
    """SVR and NuSVR but for their tube."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learns numbers from rows.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Multiplies C row by row.

        Returns
        -------
        self
        """
        X = self._take(X)
        y = check_targets(self, y, X.shape[0])
        self._fit_one(X, y, sample_weight, target_scale=self.target_scale, **self._tube(X))
        self._warn_of_targets(y)
        return self

    def _warn_of_targets(self, y: np.ndarray) -> None:
        """C and epsilon are numbers in the target's units, of no use where those are far from 1."""
        what, deviation = _core.target_trouble(self._model, y)
        if not what:
            return
        found, told = self.report_, self._model.trained()
        why = (
            f"{found.bounded_support_vectors} of {found.rows} rows are bounded by C = {told['C']:g}, "
            f"which is small beside the targets' deviation of {deviation:.6g}: the machine cannot "
            "follow them"
            if what == "C"
            else f"the tube of epsilon = {told['epsilon']:g} is wider than the targets' deviation of "
            f"{deviation:.6g}: nothing is left to learn"
        )
        warnings.warn(
            f"{type(self).__name__}: {why}. Use target_scale='standard', which counts C and epsilon "
            f"in units of that deviation, or a {'larger C' if what == 'C' else 'smaller epsilon'}.",
            UserWarning,
            stacklevel=outside(),
        )

    def _tube(self, X: Any) -> dict[str, Any]:
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """The value of the function at every row.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._decision(X)[:, 0]


class SVR(_SupportVectorRegressor):
    """ε-support vector regression.

    Parameters and attributes as scikit-learn's SVR; what is new as in `SVC`, and ``target_scale``:
    "standard", "minmax" or "center" learn scaled targets, so that ``C``, ``epsilon`` and ``tol`` count in
    units of their scale, while ``predict`` answers in the units of ``y``. "auto" and "none" leave them as
    they are, as scikit-learn does; a fit warns where their scale then makes C or epsilon useless.
    ``C=inf`` counts as 1e10.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVR
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = SVR(C=100, epsilon=.01).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.]])[0] - np.sin(1)) < .02)
    True
    """

    _task = "svr"

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
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
        target_scale: str = "auto",
        approximate: str | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
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
        self.target_scale = target_scale
        self.approximate = approximate

    def _tube(self, X: Any) -> dict[str, Any]:
        return {"C": self._penalty_of_errors(), "epsilon": float(self.epsilon)}


class NuSVR(_SupportVectorRegressor):
    """ν-support vector regression: the tube finds its own width, ``report_.epsilon``.

    Parameters and attributes as scikit-learn's NuSVR; what is new as in `SVC`, and ``target_scale`` as
    in `SVR`. ``tube`` is the shape ζ(x) >= 0 of a tube that is ε ζ(x) wide, where noise is known to differ
    from row to row: a formula of the columns such as ``"1 + x0"``, a function of the rows, or one number
    for each training row.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NuSVR
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = NuSVR(C=100, nu=.2).fit(X, np.sin(X[:, 0]))
    >>> model.report_.epsilon >= 0
    True
    """

    _task = "nu-svr"

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
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
        target_scale: str = "auto",
        tube: Any = None,
        approximate: str | None = None,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
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
        self.target_scale = target_scale
        self.tube = tube
        self.approximate = approximate

    def _tube(self, X: Any) -> dict[str, Any]:
        return {"C": self._penalty_of_errors(), "nu": float(self.nu), **self._shape_of_tube(X)}

    def _shape_of_tube(self, X: Any) -> dict[str, Any]:
        if self.tube is None:
            return {}
        if isinstance(self.tube, str):
            return {"tube": self.tube}
        widths = self.tube(X) if callable(self.tube) else self.tube
        try:
            widths = np.asarray(widths, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError):
            raise TypeError(
                f"tube = {self.tube!r} must be a formula, a function of the rows or a number for each row"
            ) from None
        if len(widths) != X.shape[0] or not np.isfinite(widths).all() or (widths < 0).any():
            raise ValueError(
                f"tube must give a number, 0 or more, for each of the {X.shape[0]} rows; it gives "
                f"{len(widths)}, the smallest {widths.min() if len(widths) else 'none'}"
            )
        return {"tube_values": widths.tolist()}
