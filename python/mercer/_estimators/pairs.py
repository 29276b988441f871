"""Machines of two sets of rows: canonical correlation, and dependency estimation."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._common.arrays import check_targets, to_rows
from .._common.base import Machine, Report, _threads, seed_of
from .._common.compat import RegressorMixin
from .._common.parameters import numbers_of
from .._common.transform import Transformer
from ..kernels import BlockKernel, Kernel


class _Pairs(Machine):
    """A machine of rows that come in pairs, each side with a kernel of its own."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    def _kernels(self) -> tuple[Kernel, Kernel]:
        first = self._resolve_kernel()
        second = first if self.kernel_y is None else self._second_kernel()
        if isinstance(first, BlockKernel) or isinstance(second, BlockKernel):
            raise TypeError(f"{type(self).__name__} needs kernel expressions, not Python functions")
        if self.n_components is not None and not int(self.n_components) >= 1:
            raise ValueError(f"n_components = {self.n_components} must be 1 or more")
        return first, second

    def _second_kernel(self) -> Any:
        """``kernel_y`` read as ``kernel`` is."""
        other = type(self)(
            kernel=self.kernel_y, gamma=self.gamma, degree=self.degree, coef0=self.coef0
        )
        try:
            return other._resolve_kernel()
        except (TypeError, ValueError) as error:
            raise type(error)(f"kernel_y: {error}") from None

    def _other_rows(self, Y: Any, name: str = "Y") -> np.ndarray:
        Y = np.ascontiguousarray(Y, dtype=np.float64)
        if Y.ndim == 1:
            Y = Y[:, None]
        if Y.ndim != 2 or not np.isfinite(Y).all():
            raise ValueError(f"{name} must be rows of finite numbers; it contains NaN or infinity, "
                             f"or is an array of {Y.ndim} dimensions")  # fmt: skip
        return Y


class KernelCCA(Transformer, _Pairs):
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

    def _paired_rows(self, Y: Any, rows: int) -> np.ndarray:
        Y = self._other_rows(Y)
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
        Y = self._paired_rows(y, X.shape[0])
        first, second = self._kernels()
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
        Y = self._paired_rows(Y, f.shape[0])
        with _threads(self.n_jobs):
            return f, _core.companion_of(self._model).decision(to_rows(Y))

    def score(self, X: Any, y: Any) -> float:
        """The mean correlation of the pairs on these rows."""
        f, g = self.transform(X, y)
        return float(np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(f.T, g.T)]))


class KernelDependency(RegressorMixin, _Pairs):
    """From rows to rows, through feature spaces on both sides: kernel dependency estimation.

    The kernel principal components of the outputs are learnt by ridge regression in the kernel of
    the inputs. An answer is the output whose image lies nearest to the components predicted: one
    made for it (`predict`), or one of some candidates (`nearest`).

    Parameters
    ----------
    n_components : int, optional
        Of the outputs; None: all.
    kernel, gamma, degree, coef0
        For the inputs, as `SVC`.
    kernel_y
        For the outputs; None: the same expression. "precomputed": ``y`` is their Gram matrix, and
        `nearest` alone can answer.
    alpha : float
        The penalty λ of the ridge.
    alphas : sequence of float, optional
        Values to choose ``alpha`` from by leave-one-out error.
    preimage : str
        How `predict` makes outputs, as `KernelPCA`.

    Attributes
    ----------
    alpha_ : float
        The penalty used.
    output_explained_ : float
        Share of the outputs' variance that the components hold.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelDependency, rbf
    >>> t = np.linspace(0, 2 * np.pi, 100)[:, None]
    >>> circle = np.c_[np.cos(t), np.sin(t)]
    >>> model = KernelDependency(20, kernel=rbf(gamma=1.), alpha=1e-3).fit(t, circle)
    >>> bool(np.allclose(model.predict([[np.pi / 2]]), [[0., 1.]], atol=.02))
    True
    >>> model.nearest([[np.pi]], [[1., 0.], [-1., 0.]]).tolist()
    [1]
    """

    def __init__(
        self,
        n_components: int | None = 64,
        *,
        kernel: Any = "rbf",
        kernel_y: Any = None,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        alpha: float = 1.0,
        alphas: Any = None,
        preimage: str = "best",
        random_state: Any = None,
        n_jobs: int | None = None,
        callback: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.kernel_y = kernel_y
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.alphas = alphas
        self.preimage = preimage
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X: Any, y: Any) -> "KernelDependency":
        """Learns from rows ``X`` and outputs ``y``, numbers or rows, in the same order.

        Returns
        -------
        self
        """
        X = self._take(X, minimum=2)
        y = check_targets(self, y, X.shape[0], several=True)
        self._one_dimension = y.ndim == 1
        first, second = self._kernels()
        settings = {
            "components": int(self.n_components or 0),
            "lambda": float(self.alpha),
            "path": numbers_of("alphas", self.alphas),
            "double_precision": True,
            "seed": seed_of(self.random_state),
            "memory_bytes": max(1 << 30, 17 * X.shape[0] ** 2),
        }
        with _threads(self.n_jobs):
            self._model = _core.fit_dependency(
                first._expression, second._expression, settings, to_rows(X),
                to_rows(y.reshape(len(y), -1)), self.callback,
            )  # fmt: skip
        self.report_ = Report(self._model.report())
        figures = self._model.reports()[0]["figures"]
        self.alpha_ = figures.get("lambda", float(self.alpha))
        self.output_explained_ = figures["output_explained"]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Outputs made for every row: pre-images of the components predicted.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs), as ``y`` was
        """
        rows = self._rows_to_predict(X)
        with _threads(self.n_jobs):
            outputs, _ = _core.make_outputs(
                self._model, rows, self.preimage, seed_of(self.random_state)
            )
        return outputs[:, 0] if self._one_dimension else outputs

    def nearest(self, X: Any, candidates: Any, return_distance: bool = False) -> Any:
        """The best of some candidate outputs for every row.

        Returns
        -------
        ndarray of shape (n_samples,): positions among the candidates; with ``return_distance`` also
        the squared distances of their images from the components predicted.
        """
        rows = self._rows_to_predict(X)
        candidates = self._other_rows(candidates, "candidates")
        columns = _core.companion_of(self._model).columns
        if candidates.shape[1] != columns:
            raise ValueError(f"candidates have {candidates.shape[1]} columns, outputs {columns}")
        with _threads(self.n_jobs):
            positions, distances = _core.choose_outputs(self._model, rows, to_rows(candidates))
        return (positions, distances) if return_distance else positions
