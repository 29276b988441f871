"""Machines of two sets of rows: kernel canonical correlation."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import to_rows
from ._base import Machine, Report, _threads
from ._compat import TransformerMixin
from .kernels import BlockKernel


class KernelCCA(TransformerMixin, Machine):
    """Functions of two sets of rows that vary together most: kernel canonical correlation.

    Parameters
    ----------
    n_components : int
        Pairs of functions; where the data have fewer, there are fewer.
    kernel, gamma, degree, coef0
        For the first rows, as `SVC`.
    kernel_y
        For the second; None: the same expression.
    kappa : float
        Weight of the penalty on the functions' norms: 0.001 to 0.1 for kernels with k(x, x) = 1.
    rank : int, optional
        Features a side at most.

    Attributes
    ----------
    correlations_ : ndarray
        Of each pair on the training rows.
    regularized_correlations_ : ndarray
        What was maximised.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelCCA, rbf
    >>> t = np.random.default_rng(0).uniform(0, 2 * np.pi, size=(2, 200))
    >>> X, Y = (np.stack([np.cos(k * t), np.sin(k * t)], axis=-1) for k in (1, 2))
    >>> cca = KernelCCA(2, kernel=rbf(gamma=1.)).fit(X[0], Y[0])
    >>> bool(cca.score(X[1], Y[1]) > .9)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "rbf",
        kernel_y: Any = None,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        kappa: float = 0.02,
        rank: int | None = None,
        n_jobs: int | None = None,
        callback: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.kernel_y = kernel_y
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kappa = kappa
        self.rank = rank
        self.n_jobs = n_jobs
        self.callback = callback

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    def _other_rows(self, Y: Any, rows: int) -> np.ndarray:
        Y = np.ascontiguousarray(Y, dtype=np.float64)
        if Y.ndim == 1:
            Y = Y[:, None]
        if Y.ndim != 2 or not np.isfinite(Y).all():
            raise ValueError("Y must be rows of finite numbers; it contains NaN or infinity, or is "
                             f"an array of {Y.ndim} dimensions")  # fmt: skip
        if Y.shape[0] != rows:
            raise ValueError(f"there are {rows} rows of X and {Y.shape[0]} of Y")
        return Y

    def fit(self, X: Any, y: Any) -> "KernelCCA":
        """Learns from rows ``X`` and rows ``y`` in the same order.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError("KernelCCA requires y to be passed, but the target y is None")
        X = self._take(X, minimum=2)
        Y = self._other_rows(y, X.shape[0])
        first = self._resolve_kernel()
        second = first if self.kernel_y is None else type(self)(
            kernel=self.kernel_y, gamma=self.gamma, degree=self.degree, coef0=self.coef0
        )._resolve_kernel()  # fmt: skip
        if isinstance(first, BlockKernel) or isinstance(second, BlockKernel):
            raise TypeError("KernelCCA needs kernel expressions, not Python functions")
        if not int(self.n_components) >= 1:
            raise ValueError(f"n_components = {self.n_components} must be 1 or more")
        settings = {"pairs": int(self.n_components), "kappa": float(self.kappa), "rank": self.rank}
        with _threads(self.n_jobs):
            self._model = _core.fit_cca(
                first._expression, second._expression, settings, to_rows(X), to_rows(Y),
                self.callback,
            )  # fmt: skip
        table = self._model.arrays()["correlations"]
        self.regularized_correlations_ = table[:, 0].copy()
        self.correlations_ = table[:, 1].copy()
        self.report_ = Report(self._model.report())
        self._n_features_out = table.shape[0]
        return self

    def transform(self, X: Any, Y: Any = None) -> Any:
        """The functions of rows ``X`` and, if they are given, of rows ``Y``.

        Returns
        -------
        ndarray of shape (n_samples, n_components), or two of them
        """
        f = self._decision(X)
        if Y is None:
            return f
        Y = self._other_rows(Y, f.shape[0])
        with _threads(self.n_jobs):
            return f, _core.companion_of(self._model).decision(to_rows(Y))

    def score(self, X: Any, y: Any) -> float:
        """The mean correlation of the pairs on these rows."""
        f, g = self.transform(X, y)
        return float(np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(f.T, g.T)]))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """kernelcca0, kernelcca1, …"""
        self._check_fitted()
        return np.asarray([f"kernelcca{i}" for i in range(self._n_features_out)], dtype=object)
