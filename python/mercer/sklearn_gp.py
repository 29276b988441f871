"""Mercer kernels as covariances of scikit-learn's own Gaussian processes, which take no functions.

Examples
--------
>>> import numpy as np
>>> from sklearn.gaussian_process import GaussianProcessRegressor
>>> from mercer import rbf, linear
>>> from mercer.sklearn_gp import Covariance
>>> X = np.linspace(0, 3, 20)[:, None]
>>> gp = GaussianProcessRegressor(Covariance(rbf(gamma=.5) + .1*linear()), alpha=1e-6)
>>> bool(abs(gp.fit(X, np.sin(X[:, 0])).predict([[1.]])[0] - np.sin(1)) < 1e-3)
True
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel as _SklearnKernel

from ._kernel.expression import Kernel


class Covariance(_SklearnKernel):
    """A kernel with its parameters as they are: scikit-learn's optimiser has nothing to turn.

    `mercer.GaussianProcessRegressor` finds the parameters of any kernel by its evidence.

    Parameters
    ----------
    kernel : Kernel or str
        A kernel that does not take its parameters from the rows (no gamma='scale').
    """

    def __init__(self, kernel: Any = "rbf(sigma=1)") -> None:
        self.kernel = kernel

    def _of(self) -> Kernel:
        return self.kernel if isinstance(self.kernel, Kernel) else Kernel(self.kernel)

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        X = np.atleast_2d(np.asarray(X, dtype=np.float64))
        if eval_gradient and Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        values = self._of()(X) if Y is None else self._of()(X, np.atleast_2d(np.asarray(Y, float)))
        return (values, np.empty((*values.shape, 0))) if eval_gradient else values

    def diag(self, X: Any) -> np.ndarray:
        """k(x, x) of every row."""
        return self._of().diag(np.atleast_2d(np.asarray(X, dtype=np.float64)))

    def is_stationary(self) -> bool:
        """Not known of an expression."""
        return False

    def __repr__(self) -> str:
        return f"Covariance({self._of()})"
