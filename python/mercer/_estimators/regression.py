"""Kernel ridge regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common.arrays import check_targets, check_weights
from .._common.base import Machine
from .._common.compat import RegressorMixin
from .._common.parameters import numbers_of
from ..distributed._ranks import is_spread
from ..kernels import Kernel


class KernelRidge(RegressorMixin, Machine):
    """Squared loss with a quadratic penalty, solved exactly.

    Parameters
    ----------
    alpha : float
        The penalty λ; 0: nearly none, least squares of the smallest norm.
    kernel, gamma, degree, coef0, kernel_params
        As scikit-learn's KernelRidge (no gamma: 1 / columns), or a mercer kernel. A function is called on
        two rows, with ``kernel_params``; `mercer.function` makes a kernel that is called on blocks.
    alphas : sequence of float, optional
        Values to choose ``alpha`` from by leave-one-out error, all from one eigendecomposition.
    fit_intercept : bool
        A bias; scikit-learn's KernelRidge has none.
    leave_one_out : bool
        Also the errors of each row by the machine of all others.

    Attributes
    ----------
    dual_coef_, X_fit_
        As in scikit-learn; of several processes ``dual_coef_`` is that of the centres alone.
    alpha_ : float
        The penalty used.
    loo_residuals_ : ndarray
        With ``leave_one_out`` or ``alphas``: how far each row is missed by the machine of all others.

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
    _functions_of_pairs = True

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict | None = None,
        alphas: Any = None,
        fit_intercept: bool = False,
        leave_one_out: bool = False,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "double",
        approximate: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.leave_one_out = leave_one_out
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision
        self.approximate = approximate

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
        if self.alpha == 0 and not path:
            path = [self._least_penalty(X)]
        weights = check_weights(sample_weight, X.shape[0])
        self._train(
            X,
            y if y.ndim == 1 else None,
            weights,
            targets=None if y.ndim == 1 else np.ascontiguousarray(y),
            path=path,
            bias=bool(self.fit_intercept),
            leave_one_out=bool(self.leave_one_out),
            **{"lambda": path[0] if path else float(self.alpha)},
        )
        coefficients = self._model.coefficients.T
        if is_spread():  # centres may be rows of other processes
            dual = coefficients
        elif len(self._model.origins) < len(coefficients):  # weights of columns: λα = w (y − f)
            dual = y.reshape(len(y), -1) - self.predict(X).reshape(len(y), -1)
            dual *= np.asarray(1.0 if weights is None else weights).reshape(-1, 1) / float(self.alpha)
        else:
            dual = np.zeros((X.shape[0], coefficients.shape[1]))
            dual[self._model.origins] = coefficients
        self.dual_coef_ = dual[:, 0] if self._one_dimension else dual
        self.intercept_ = self._model.bias
        self.X_fit_ = X
        loo = self._model.arrays().get("loo")
        if loo is not None:
            self.loo_residuals_ = loo[0] if self._one_dimension else loo.T
        self.alpha_ = self.report_.figures.get("lambda", float(self.alpha))
        return self

    def _least_penalty(self, X: Any) -> float:
        """Small beside the kernel's mean value of a row with itself, and far above its rounding."""
        kernel = self._resolve_kernel(X)
        if isinstance(kernel, Kernel) and kernel.needs_data and not self._pairwise_input:
            kernel = kernel.resolve(X)
        values = np.diagonal(X) if self._pairwise_input else kernel.diag(X)
        return 1e-9 * max(float(np.abs(values).mean()), 1e-290)

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
