"""A Gaussian process by Cholesky's factor, under any covariance that speaks scikit-learn's language.

Formulas and their numbers are those of Rasmussen and Williams, Gaussian Processes for Machine Learning
(2006): algorithm 2.1 for evidence and prediction, equation 5.9 for the gradient of the evidence.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any, Callable

import numpy as np

from .._common.call import outside
from .._common.compat import ConvergenceWarning

Objective = Callable[..., Any]


def _scipy(module: str) -> Any:
    """A module of SciPy, which nothing else of this package needs."""
    try:
        return importlib.import_module(f"scipy.{module}")
    except ImportError:
        raise ImportError(
            "a process with covariances, several outputs or a kernel of scikit-learn needs SciPy: "
            "pip install scipy"
        ) from None


class Process:
    """What is known of a process: covariance, noise, training rows and targets, one column an output.

    A covariance is called on rows, and has ``diag``, ``theta`` (logarithms of its parameters),
    ``bounds`` and, asked with ``eval_gradient``, derivatives, as kernels of scikit-learn do.
    """

    def __init__(self, covariance: Any, noise: Any, X: Any, targets: np.ndarray) -> None:
        self.covariance, self.noise = covariance, noise
        self.X, self.targets = X, targets
        self.factor = np.empty((0, 0))
        self.weights = np.empty((0, 0))

    # ---- evidence

    def evidence(self, covariance: Any, gradient: bool = False) -> Any:
        """The logarithm of the evidence, summed over outputs, and its gradient in theta if wanted."""
        linalg = _scipy("linalg")
        slopes = None
        if gradient:
            K, slopes = covariance(self.X, eval_gradient=True)
        else:
            K = covariance(self.X)
        K = K + np.diag(np.broadcast_to(self.noise, len(K)))
        try:
            L = linalg.cholesky(K, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            return (-np.inf, np.zeros_like(covariance.theta)) if gradient else -np.inf
        weights = linalg.cho_solve((L, True), self.targets, check_finite=False)
        rows, outputs = self.targets.shape
        value = -0.5 * np.sum(self.targets * weights)
        value -= outputs * (np.log(np.diag(L)).sum() + rows / 2 * np.log(2 * np.pi))
        if slopes is None:
            return value
        inverse = linalg.cho_solve((L, True), np.eye(rows), check_finite=False)
        inner = weights @ weights.T - outputs * inverse
        return value, 0.5 * np.einsum("ij,jik->k", inner, slopes)

    # ---- learning

    def search(self, optimizer: Any, restarts: int, generator: np.random.RandomState) -> float:
        """Turns theta to the largest evidence found, and returns that."""
        covariance = self.covariance

        def objective(theta: np.ndarray, eval_gradient: bool = True) -> Any:
            covariance.theta = theta
            if not eval_gradient:
                return -self.evidence(covariance)
            value, slope = self.evidence(covariance, gradient=True)
            return -value, -slope

        bounds = covariance.bounds
        if restarts > 0 and not np.isfinite(bounds).all():
            raise ValueError(
                f"n_restarts_optimizer = {restarts} requires that all bounds are finite: give the kernel "
                "bounds, or take n_restarts_optimizer=0"
            )
        starts = [covariance.theta]
        starts += [generator.uniform(bounds[:, 0], bounds[:, 1]) for _ in range(restarts)]
        found = [_minimise(optimizer, objective, start, bounds) for start in starts]
        best = min(found, key=lambda pair: pair[1])
        covariance.theta = best[0]
        if hasattr(covariance, "_check_bounds_params"):
            covariance._check_bounds_params()
        return -float(best[1])

    def settle(self) -> None:
        """Factor and weights at the covariance as it is."""
        linalg = _scipy("linalg")
        K = self.covariance(self.X)
        K = K + np.diag(np.broadcast_to(self.noise, len(K)))
        try:
            self.factor = linalg.cholesky(K, lower=True, check_finite=False)
        except np.linalg.LinAlgError as error:
            error.args = (
                f"The kernel, {self.covariance}, is not returning a positive definite matrix. Try "
                "gradually increasing the 'alpha' parameter of your GaussianProcessRegressor estimator.",
                *error.args,
            )
            raise
        self.weights = linalg.cho_solve((self.factor, True), self.targets, check_finite=False)

    # ---- answers

    def mean(self, X: Any) -> np.ndarray:
        """One column an output."""
        return self.covariance(X, self.X) @ self.weights

    def variance(self, X: Any) -> np.ndarray:
        """Of the process at every row."""
        explained = self._explained(X)
        variance = np.array(self.covariance.diag(X)) - np.einsum("ij,ij->j", explained, explained)
        if (variance < 0).any():
            warnings.warn(
                "Predicted variances smaller than 0. Setting those variances to 0.",
                stacklevel=outside(),
            )
        return np.maximum(variance, 0.0)

    def joint(self, X: Any) -> np.ndarray:
        """The covariance of the process at all rows together."""
        explained = self._explained(X)
        return self.covariance(X) - explained.T @ explained

    def _explained(self, X: Any) -> np.ndarray:
        cross = self.covariance(X, self.X).T
        return _scipy("linalg").solve_triangular(self.factor, cross, lower=True, check_finite=False)


def _minimise(
    optimizer: Any, objective: Objective, start: np.ndarray, bounds: np.ndarray
) -> tuple[np.ndarray, float]:
    """The place and value that L-BFGS-B, or a function of the user's, finds."""
    if callable(optimizer):
        return optimizer(objective, start, bounds=bounds)
    found = _scipy("optimize").minimize(
        objective, start, method="L-BFGS-B", jac=True, bounds=bounds
    )
    if found.status != 0:
        warnings.warn(
            f"lbfgs failed to converge after {found.nit} iteration(s) (status={found.status}): "
            f"{found.message}. Scale the targets (normalize_y=True), or give the kernel other bounds.",
            ConvergenceWarning,
            stacklevel=outside(),
        )
    return found.x, found.fun
