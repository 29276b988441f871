"""Independent components."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._transform import Transformer


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
