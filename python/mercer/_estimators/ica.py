"""Sources of mixtures, by independence and by their course in time."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._common.transform import Transformer


class KernelICA(Transformer):
    """Rows mixed from independent sources, unmixed: kernel independent components.

    What is lowered is the dependence of the sources on each other, by any function that the kernel
    has. Order, sign and size of sources cannot be known: they come by falling variance contributed,
    the largest weight of each positive, with variance 1.

    Parameters
    ----------
    n_sources : int, optional
        Sources, at least 2; None: as many as columns. Fewer are those of the largest variance.
    kernel
        Of one source: a mercer kernel or its text.
    contrast : {"correlation", "variance"}
        The first kernel canonical correlation, or all of them together.
    kappa : float, optional
        Regularisation; None: 0.02, or 0.002 for more than 1000 rows.
    max_iter : int
        Sweeps over all pairs of sources, at most.
    tol : float
        Stop when a sweep turns no pair by more than this angle.

    Attributes
    ----------
    components_ : ndarray of shape (n_sources, n_features)
        W of ``sources = (X - mean_) @ W.T``.
    mixing_ : ndarray of shape (n_features, n_sources)
    mean_ : ndarray of shape (n_features,)
    contrast_ : float
        The dependence that is left; its course is ``report_.history``.
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelICA
    >>> S = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    >>> X = S @ np.array([[1., .5], [.4, 1.]]).T
    >>> found = KernelICA().fit_transform(X)
    >>> likeness = np.abs(np.corrcoef(found.T, S.T)[:2, 2:])
    >>> bool((likeness.max(axis=1) > .98).all())
    True
    """

    _task = "ica"

    def __init__(
        self,
        n_sources: int | None = None,
        *,
        kernel: Any = "rbf(sigma=1)",
        contrast: str = "correlation",
        kappa: float | None = None,
        max_iter: int = 20,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
    ) -> None:
        self.n_sources = n_sources
        self.kernel = kernel
        self.contrast = contrast
        self.kappa = kappa
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback

    def fit(self, X: Any, y: Any = None) -> "KernelICA":
        """Finds the sources of the rows; ``y`` is ignored.

        Returns
        -------
        self
        """
        self._expression_only()
        X = self._take(X, minimum=2)
        if X.shape[1] < 2:
            raise ValueError("n_features = 1: one column holds no mixture of sources")
        if self.n_sources is not None and not int(self.n_sources) >= 2:
            raise ValueError(f"n_sources = {self.n_sources} must be 2 or more, or None")
        if not int(self.max_iter) >= 1:
            raise ValueError(f"max_iter = {self.max_iter} must be 1 or more")
        self._train(
            X,
            components=int(self.n_sources or 0),
            contrast=self.contrast,
            kappa=float(self.kappa or 0),
            sweeps=int(self.max_iter),
            tolerance=float(self.tol),
        )
        self.components_ = self._points()
        self.mixing_ = self._model.arrays()["mixing"]
        self.mean_ = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        self.contrast_ = self.report_.primal
        self.n_iter_ = max(1, int(self.report_.iterations))
        self._n_features_out = len(self.components_)
        self._warn_unless_converged(f"contrast {self.contrast_:.3g}")
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The sources of every row.

        Returns
        -------
        ndarray of shape (n_samples, n_sources)
        """
        return self._decision(X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows mixed from sources.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        return self._check_features(X) @ self.mixing_.T + self.mean_


class KernelTDSEP(Transformer):
    """Rows mixed from sources, unmixed by their course in time, also where the mixture is bent.

    Rows are moments of time, one after another. Their images in feature space are whitened and
    turned so that what is correlated with another's past no longer is: with the linear kernel that
    is TDSEP, with another one kTDSEP (Harmeling, Ziehe, Kawanabe and Mueller 2002), whose functions
    are the sources and functions of sources; those most correlated with the columns come first.

    Parameters
    ----------
    n_sources : int, optional
        Sources, at least 2; None: as many as columns.
    kernel
        Of two rows: a mercer kernel or its text.
    basis : int
        Directions of feature space, at most.
    lags : int, optional
        Steps of time looked back over: 1, 2, ... so many; at most half as many as rows. None:
        20, or a quarter of the rows where that is less.
    max_iter : int
        Sweeps over all pairs of directions, at most.
    tol : float
        Stop when a sweep turns no pair by more than this angle.

    Attributes
    ----------
    shares_ : ndarray of shape (n_sources,)
        Mean squared correlation of each source with the columns.
    off_diagonal_ : float
        What is left of the lagged covariances off the diagonal, as a share of all squared entries.
    separation_ : float
        How much the autocovariances of the two most alike sources differ, in units of chance. Below
        4 they may still be mixed, and `fit` warns.
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelTDSEP
    >>> t = np.arange(2000)
    >>> S = np.sin(2 * np.pi * np.outer(t, [.0073, .0191]))
    >>> X = np.exp(S) @ [[1, 0], [-1, 0]] + np.exp(-S) @ [[0, 1], [0, 1]]
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> found = KernelTDSEP(kernel="rbf(sigma=1)").fit_transform(X)
    >>> likeness = np.abs(np.corrcoef(found.T, S.T)[:2, 2:])
    >>> bool((likeness.max(axis=1) > .99).all())
    True
    """

    _task = "tdsep"

    def __init__(
        self,
        n_sources: int | None = None,
        *,
        kernel: Any = "linear",
        basis: int = 20,
        lags: int | None = None,
        max_iter: int = 100,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
    ) -> None:
        self.n_sources = n_sources
        self.kernel = kernel
        self.basis = basis
        self.lags = lags
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback

    def fit(self, X: Any, y: Any = None) -> "KernelTDSEP":
        """Finds the sources of the rows; ``y`` is ignored.

        Returns
        -------
        self
        """
        self._expression_only()
        X = self._take(X, minimum=2)
        if X.shape[1] < 2 and not self.n_sources:
            raise ValueError("n_features = 1: say n_sources, how many functions of it are wanted")
        if self.n_sources is not None and not int(self.n_sources) >= 2:
            raise ValueError(f"n_sources = {self.n_sources} must be 2 or more, or None")
        lags = max(1, min(20, X.shape[0] // 4)) if self.lags is None else int(self.lags)
        counts = (("basis", self.basis, 2), ("lags", lags, 1), ("max_iter", self.max_iter, 1))
        for name, value, least in counts:
            if not int(value) >= least:
                raise ValueError(f"{name} = {value} must be {least} or more")
        self._train(
            X,
            components=int(self.n_sources or 0),
            basis=int(self.basis),
            lags=lags,
            sweeps=int(self.max_iter),
            tolerance=float(self.tol),
        )
        self._after_loading()
        self._warn_unless_converged(f"off the diagonal {self.off_diagonal_:.3g}")
        if self.separation_ < 4:
            warnings.warn(
                "two of the sources have the same course in time, as far as these rows tell: they "
                "may still be mixed. Other lags, more rows or KernelICA may tell them apart",
                UserWarning,
                stacklevel=2,
            )
        return self

    def _after_loading(self) -> None:
        self.shares_ = self._model.arrays()["shares"].ravel()
        self.off_diagonal_ = self.report_.figures["off_diagonal"]
        self.separation_ = self.report_.figures["separation"]
        self.n_iter_ = max(1, int(self.report_.iterations))
        self._n_features_out = len(self.shares_)

    def transform(self, X: Any) -> np.ndarray:
        """The sources of every row.

        Returns
        -------
        ndarray of shape (n_samples, n_sources)
        """
        return self._decision(X)
