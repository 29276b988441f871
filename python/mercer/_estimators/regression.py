"""Kernel ridge regression and Gaussian processes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common.arrays import check_targets, check_weights
from .._common.base import Machine, _threads
from .._common.compat import RegressorMixin
from .._common.parameters import numbers_of


class KernelRidge(RegressorMixin, Machine):
    """Squared loss with a quadratic penalty, solved exactly.

    Parameters
    ----------
    alpha : float
        The penalty λ.
    kernel, gamma, degree, coef0
        As scikit-learn's KernelRidge (no gamma: 1 / columns), or a mercer kernel.
    alphas : sequence of float, optional
        Values to choose ``alpha`` from by leave-one-out error, all from one eigendecomposition.
    fit_intercept : bool
        A bias; scikit-learn's KernelRidge has none.

    Attributes
    ----------
    dual_coef_, X_fit_
        As in scikit-learn.
    alpha_ : float
        The penalty used.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = KernelRidge(kernel="rbf", gamma=1, alpha=1e-3).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.]])[0] - np.sin(1)) < .01)
    True
    """

    _task = "ridge"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: int = 3,
        coef0: float = 1.0,
        alphas: Any = None,
        fit_intercept: bool = False,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "double",
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KernelRidge":
        """Learns numbers, one or several a row.

        Returns
        -------
        self
        """
        X = self._take(X)
        y = check_targets(self, y, X.shape[0], several=True)
        self._one_dimension = y.ndim == 1
        path = numbers_of("alphas", self.alphas)
        self._train(
            X,
            y if y.ndim == 1 else None,
            check_weights(sample_weight, X.shape[0]),
            targets=None if y.ndim == 1 else np.ascontiguousarray(y),
            path=path,
            bias=bool(self.fit_intercept),
            **{"lambda": float(self.alpha)},
        )
        coefficients = self._model.coefficients.T
        dual = np.zeros((X.shape[0], coefficients.shape[1]))
        dual[self._model.origins] = coefficients
        self.dual_coef_ = dual[:, 0] if self._one_dimension else dual
        self.intercept_ = self._model.bias
        self.X_fit_ = X
        self.alpha_ = self.report_.figures.get("lambda", float(self.alpha))
        return self

    def _after_loading(self) -> None:
        self._one_dimension = self._model.coefficients.shape[0] == 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def predict(self, X: Any) -> np.ndarray:
        """The values at every row, of shape (n_samples,) or (n_samples, n_targets)."""
        values = self._decision(X)
        return values[:, 0] if self._one_dimension else values


class GaussianProcessRegressor(RegressorMixin, Machine):
    """Gaussian process regression with noise, its evidence and its deviation.

    Parameters
    ----------
    kernel
        The covariance; None: ``rbf(sigma=1)``.
    alpha : float
        Variance of the noise; where the evidence is maximised, its first value. With
        ``normalize_y`` it is that of the scaled targets, as in scikit-learn.
    optimizer : {"fmin_l_bfgs_b", None}
        Maximise the evidence over the noise and all real parameters of the kernel, or keep both.
    n_restarts_optimizer : int
        Further starts, drawn by ``random_state``.
    normalize_y : bool
        Learn the targets less their mean and by their standard deviation, as scikit-learn does:
        kernel, noise and evidence are those of the scaled targets, while ``predict`` answers in the
        units of ``y``. Needed for targets that are not of mean 0 and of the kernel's height.
    fixed : str or sequence of str
        Parameters that the search leaves where they are: ``"noise"`` and names of the kernel's,
        such as ``"gamma"`` (all of them) or ``"gamma_2"`` (the second).
    max_iter : int
        Iterations of the search from each start.

    Attributes
    ----------
    kernel_ : Kernel
        With the parameters found.
    noise_ : float
    log_marginal_likelihood_value_ : float
    n_iter_ : int
        Steps of the search, 1 where there was none.
    at_limit_ : dict
        Parameters that ended at a limit of the search, a factor of a million from where it began,
        with their values; such a fit warns and is not converged.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GaussianProcessRegressor
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> model = GaussianProcessRegressor(alpha=.01).fit(X, np.sin(X[:, 0]))
    >>> mean, std = model.predict([[1.], [60.]], return_std=True)
    >>> bool(std[0] < .1 < std[1])
    True
    """

    _task = "gp"

    def __init__(
        self,
        kernel: Any = None,
        *,
        alpha: float = 0.1,
        optimizer: str | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = False,
        fixed: Any = (),
        max_iter: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.fixed = fixed
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback

    def _named_kernel(self, name: str, gamma: Any) -> Any:
        from ..kernels import Kernel

        return Kernel("rbf(sigma=1)" if name == "rbf" else name)

    def fit(self, X: Any, y: Any) -> "GaussianProcessRegressor":
        """Learns numbers from rows.

        Returns
        -------
        self
        """
        if self.optimizer not in (None, "fmin_l_bfgs_b"):
            raise ValueError(f"optimizer = {self.optimizer!r} must be 'fmin_l_bfgs_b' or None")
        X = self._take(X)
        y = check_targets(self, y, X.shape[0])
        self._train(
            X,
            y,
            noise=float(self.alpha),
            optimise=self.optimizer is not None,
            restarts=int(self.n_restarts_optimizer),
            fixed=[self.fixed] if isinstance(self.fixed, str) else [str(n) for n in self.fixed],
            iteration_limit=int(self.max_iter),
            target_scale="standard" if self.normalize_y else "none",
            memory_bytes=1 << 33,
        )
        figures = self.report_.figures
        limit = "at_limit_"
        self.n_iter_ = max(1, int(self.report_.iterations))
        self.at_limit_ = {k[len(limit) :]: v for k, v in figures.items() if k.startswith(limit)}
        self.noise_ = figures.get("noise", float(self.alpha))
        self.log_marginal_likelihood_value_ = figures["log_evidence"]
        # Coefficients of the model answer in the units of y, scikit-learn's in those of the scaled y.
        deviation = float(np.std(y)) if self.normalize_y else 1.0
        self.alpha_ = self._model.coefficients[0] / (deviation if deviation > 0 else 1.0)
        self.X_train_, self.y_train_ = X, y
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean of the process at every row and, if wanted, its standard deviation."""
        rows = self._rows_to_predict(X)
        with _threads(self.n_jobs):
            mean = self._predictor().decision(rows)[:, 0]
            return (mean, self._model.deviation(rows, False)) if return_std else mean
