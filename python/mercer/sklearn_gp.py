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
>>> print(Covariance("2*rbf(sigma=3)").theta.round(3))
[0.693 1.099]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._common.arrays import checked_rows, is_sparse
from ._common.compat import HAVE_SKLEARN
from ._kernel.expression import Kernel

if HAVE_SKLEARN:
    from sklearn.gaussian_process.kernels import Kernel as _SklearnKernel
else:

    class _SklearnKernel:  # type: ignore[no-redef]
        """What a covariance is where scikit-learn is not installed."""


#: Limits of the search, as those of scikit-learn's kernels.
LIMITS = np.log([1e-5, 1e5])


def translated(kernel: Any, columns: int) -> tuple[Kernel, float]:
    """A kernel of scikit-learn's Gaussian processes as an expression, and the noise it holds.

    Constants, RBF, Matern, RationalQuadratic, DotProduct, of one column ExpSineSquared, and their sums,
    products and powers; a WhiteKernel is the noise, as a term of the sum. Throws ValueError, which names
    it, for any other.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF, WhiteKernel
    >>> kernel, noise = translated(2.0 * RBF(3.0) + WhiteKernel(0.1), 1)
    >>> print(kernel, round(noise, 9))
    2*rbf(sigma=3) 0.1
    """
    terms = _terms(kernel)
    noise = sum(float(term.noise_level) for term in terms if type(term).__name__ == "WhiteKernel")
    kernels = [_expression(t, columns) for t in terms if type(t).__name__ != "WhiteKernel"]
    if not kernels:
        raise ValueError(f"{kernel} is noise alone")
    total = kernels[0]
    for term in kernels[1:]:
        total = total + term
    return total, noise


def _terms(kernel: Any) -> list[Any]:
    if type(kernel).__name__ == "Sum":
        return [*_terms(kernel.k1), *_terms(kernel.k2)]
    return [kernel]


def _gaussian(lengths: list[float]) -> Kernel:
    """Of one length; or of one for each column, a product of Gaussians of single columns."""
    if len(lengths) == 1:
        return Kernel(f"rbf(sigma={lengths[0]!r})")
    product = Kernel(f"rbf(sigma={lengths[0]!r})[0]")
    for column, length in enumerate(lengths[1:], 1):
        product = product * Kernel(f"rbf(sigma={length!r})[{column}]")
    return product


def _expression(kernel: Any, columns: int) -> Kernel:
    name = type(kernel).__name__
    lengths = np.atleast_1d(getattr(kernel, "length_scale", 1.0)).astype(float).tolist()
    length = lengths[0]
    if name in ("Sum", "Product"):
        a, b = _expression(kernel.k1, columns), _expression(kernel.k2, columns)
        return a + b if name == "Sum" else a * b
    if name == "Exponentiation":
        return _expression(kernel.kernel, columns) ** float(kernel.exponent)
    if name == "ConstantKernel":
        return Kernel(repr(float(kernel.constant_value)))
    if name == "RBF":
        return _gaussian(lengths)
    if name == "DotProduct":
        return Kernel(f"linear + {float(kernel.sigma_0) ** 2!r}")
    if name == "Matern" and len(lengths) == 1 and kernel.nu in (0.5, 1.5, 2.5):
        return Kernel(f"matern(nu={kernel.nu}, length={length!r})")
    if name == "RationalQuadratic":
        return Kernel(f"rational_quadratic(alpha={float(kernel.alpha)!r}, length={length!r})")
    if name == "ExpSineSquared" and columns == 1:  # of more columns it sees their distance
        return Kernel(f"periodic(period={float(kernel.periodicity)!r}, length={length!r})")
    raise ValueError(f"{kernel} has no expression here")


def _rows(X: Any) -> Any:
    return X if is_sparse(X) else np.atleast_2d(np.asarray(X, dtype=np.float64))


class Covariance(_SklearnKernel):
    """A mercer kernel that speaks the language of scikit-learn's: it has ``theta``, the logarithms of
    its positive parameters, with bounds and gradients, so that any optimiser can turn them. Parameters
    that are 0 or negative stay.

    Parameters
    ----------
    kernel : Kernel or str
        A kernel that does not take its parameters from the rows (no gamma='scale').
    """

    requires_vector_input = True

    def __init__(self, kernel: Any = "rbf(sigma=1)") -> None:
        self.kernel = kernel

    def _of(self) -> Kernel:
        return self.kernel if isinstance(self.kernel, Kernel) else Kernel(self.kernel)

    # ---- parameters

    def _values(self) -> np.ndarray:
        return np.asarray([value for _, _, value in self._of().parameters], dtype=np.float64)

    @property
    def theta(self) -> np.ndarray:
        """Logarithms of the positive parameters."""
        return self._of().theta

    @theta.setter
    def theta(self, theta: Any) -> None:
        values = self._values()
        values[values > 0] = np.exp(np.asarray(theta, dtype=np.float64))
        self.kernel = Kernel(self._of()._expression.with_parameters(values.tolist()))

    @property
    def n_dims(self) -> int:
        """How many parameters can be turned."""
        return len(self.theta)

    @property
    def bounds(self) -> np.ndarray:
        """Of theta, one row each."""
        return np.tile(LIMITS, (self.n_dims, 1))

    def clone_with_theta(self, theta: Any) -> "Covariance":
        """The same at other parameters."""
        other = Covariance(self.kernel)
        other.theta = theta
        return other

    def _check_bounds_params(self) -> None:
        """Nothing: the bounds are wide, and none of them was asked for."""

    # ---- values

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        X = _rows(X)
        if not eval_gradient:
            return self._of()(X) if Y is None else self._of()(X, _rows(Y))
        if Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        values = self._values()
        if not (values > 0).any():
            matrix = self._of()(X)
            return matrix, np.empty((*matrix.shape, 0))
        matrix, slopes = self._of()._expression.slopes(checked_rows(X), [])
        slopes = slopes.reshape(len(values), *matrix.shape)[values > 0]
        # In the logarithm of a parameter: the slope times the parameter.
        return matrix, np.moveaxis(slopes * values[values > 0][:, None, None], 0, -1)

    def diag(self, X: Any) -> np.ndarray:
        """k(x, x) of every row."""
        return self._of().diag(_rows(X))

    def is_stationary(self) -> bool:
        """Not known of an expression."""
        return False

    def __repr__(self) -> str:
        return f"Covariance({self._of()})"
