"""Points of feature space, from kernel values alone."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from .. import _core
from .._common.arrays import checked_rows, from_rows
from .expression import Kernel


class FeatureVector:
    """A linear combination of images of rows, P = Σ pᵢ Φ(xᵢ): a value that can be added, scaled and
    measured.

    Parameters
    ----------
    kernel : Kernel or str
        Without rules for the data (gamma=scale), center(…) and precomputed.
    points : array of shape (n, n_features), or one row
    coefficients : array of shape (n,), optional
        1 each if not given: the image of one row, the sum of several.

    Examples
    --------
    >>> from mercer import FeatureVector, rbf
    >>> a, b = FeatureVector(rbf(gamma=.5), [0., 0.]), FeatureVector(rbf(gamma=.5), [1., 0.])
    >>> round(a.norm(), 6), round(a @ b, 6), round(a.distance(b), 6), round((2*a - b).norm(), 6)
    (1.0, 0.606531, 0.887096, 1.604331)
    """

    __array_ufunc__ = None

    def __init__(self, kernel: Any, points: Any, coefficients: Any = None) -> None:
        rows = checked_rows(
            np.atleast_2d(points) if not hasattr(points, "tocsr") else points, "points"
        )
        weights = np.ones(len(rows)) if coefficients is None else coefficients
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        self._vector = _core.FeatureVector.combination(Kernel(kernel)._expression, rows, weights)

    @classmethod
    def _of(cls, vector: _core.FeatureVector) -> "FeatureVector":
        made = cls.__new__(cls)
        made._vector = vector
        return made

    @classmethod
    def mean(cls, kernel: Any, X: Any, weights: Any = None) -> "FeatureVector":
        """The centre of mass of the images of rows; a rule of the kernel is settled on them."""
        given = np.zeros(0) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        return cls._of(_core.FeatureVector.mean(Kernel(kernel)._expression, checked_rows(X), given))

    @classmethod
    def of_machine(cls, machine: Any, output: int = 0) -> "FeatureVector":
        """The weight vector w of one output of a fitted machine."""
        machine._check_fitted()
        return cls._of(_core.FeatureVector.of_model(machine._model, int(output)))

    @property
    def kernel(self) -> Kernel:
        """Settled."""
        return Kernel(self._vector.kernel)

    @property
    def points(self) -> Any:
        """The rows whose images it is made of."""
        return from_rows(self._vector.points(), self._vector.columns)

    @property
    def coefficients(self) -> np.ndarray:
        """One for each of the points."""
        return self._vector.coefficients

    def __reduce__(self) -> tuple[Any, ...]:
        return FeatureVector, (str(self.kernel), self.points, self.coefficients)

    def __repr__(self) -> str:
        return f"<{len(self.coefficients)} images under {self.kernel}>"

    # ---- algebra

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, FeatureVector):
            return NotImplemented
        return FeatureVector._of(self._vector.add(other._vector))

    def __sub__(self, other: Any) -> Any:
        if not isinstance(other, FeatureVector):
            return NotImplemented
        return FeatureVector._of(self._vector.subtract(other._vector))

    def __mul__(self, factor: Any) -> Any:
        if not isinstance(factor, Real):
            return NotImplemented
        return FeatureVector._of(self._vector.times(float(factor)))

    __rmul__ = __mul__

    def __truediv__(self, factor: Any) -> Any:
        return self * (1 / factor) if isinstance(factor, Real) else NotImplemented

    def __neg__(self) -> "FeatureVector":
        return self * -1.0

    def __matmul__(self, other: Any) -> Any:
        """The dot product."""
        if not isinstance(other, FeatureVector):
            return NotImplemented
        return self._vector.inner(other._vector)

    # ---- measures

    def norm(self) -> float:
        """Its length."""
        return self._vector.norm()

    def distance(self, other: "FeatureVector") -> float:
        """From another."""
        return self._vector.distance(other._vector)

    def products(self, X: Any) -> np.ndarray:
        """The dot product with the image of every row."""
        return self._vector.with_images(checked_rows(X))

    def distances(self, X: Any) -> np.ndarray:
        """The distance from the image of every row."""
        return self._vector.distances(checked_rows(X))


def feature_variance(kernel: Any, X: Any) -> float:
    """The mean squared distance of the images of rows from their centre of mass.

    Examples
    --------
    >>> from mercer import feature_variance
    >>> feature_variance("linear", [[0.], [2.]])
    1.0
    """
    kernel = Kernel(kernel)
    rows = checked_rows(X)
    if kernel.needs_data:
        kernel = kernel.resolve(X)
    return _core.variance_of_images(kernel._expression, rows)
