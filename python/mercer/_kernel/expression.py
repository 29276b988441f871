"""The class `Kernel` and what it says of itself."""

from __future__ import annotations

import json
import math
import operator
from dataclasses import dataclass
from numbers import Real
from typing import Any, Union

import numpy as np

from .. import _core
from .._common.arrays import checked_rows, is_row, require_finite
from .._common.frames import as_frame
from .._common.html import kernel_html


@dataclass(frozen=True)
class Reason:
    """One step of an argument about definiteness: what part, what it is, and by which rule."""

    depth: int
    part: str
    kind: str
    because: str


@dataclass(frozen=True)
class Definiteness:
    """Whether a kernel is positive definite, by rule and with reasons; prints as its kind."""

    kind: str
    reasons: tuple[Reason, ...] = ()

    def __str__(self) -> str:
        return self.kind

    @property
    def positive(self) -> bool:
        """A dot product in some feature space."""
        return self.kind in ("positive definite", "strictly positive definite")

    @property
    def strict(self) -> bool:
        """The Gram matrix of distinct rows has full rank: any labels of them can be separated."""
        return self.kind == "strictly positive definite"

    @property
    def conditional(self) -> bool:
        """At least conditionally positive definite: enough for machines with a bias."""
        return not self.kind.startswith("not")


@dataclass(frozen=True)
class MercerTest:
    """Mercer's condition tried on rows: is Σ aᵢ aⱼ k(xᵢ, xⱼ) ever negative? A sample can refute
    definiteness, never prove it."""

    kernel: str  #: with everything settled
    rows: np.ndarray  #: positions of the rows used
    smallest: float  #: eigenvalue of the Gram matrix
    largest: float
    tolerance: float  #: eigenvalues within this of 0 cannot be told from 0
    effective_rank: float
    numerical_rank: int
    eigenvalues: np.ndarray  #: descending; empty for large samples
    asymmetry: float
    cauchy_schwarz_broken: int  #: pairs with k(x,z)² > k(x,x) k(z,z)
    indefinite: bool
    witness: np.ndarray  #: then: a with a'Ka < 0, one number for each row used
    witness_value: float
    conditionally_indefinite: bool  #: also for Σ aᵢ = 0


@dataclass(frozen=True)
class FeatureDimension:
    """How many dimensions the feature space of a kernel has, by rule; prints as that."""

    kind: str  #: "exact", "at most", "infinite" or "unknown"
    count: Union[int, float, None]  #: exact or the bound; a float where it is beyond 2**64
    because: str

    def __str__(self) -> str:
        if self.count is None:
            return "infinite" if self.kind == "infinite" else "not known"
        number = str(self.count) if isinstance(self.count, int) else f"{self.count:.4g}"
        return number if self.kind == "exact" else f"at most {number}"


def _number(value: Real) -> str:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"a kernel's number must be finite, not {number}")
    return repr(number)


def _columns(key: Any) -> str:
    """The text of k[key]."""
    items = []
    for item in key if isinstance(key, tuple) else (key,):
        if isinstance(item, slice):
            if item.step not in (None, 1):
                raise ValueError(f"columns [{item.start}:{item.stop}:{item.step}]: no step allowed")
            ends = [
                "" if end is None else str(operator.index(end)) for end in (item.start, item.stop)
            ]
            items.append(":".join(ends))
        elif isinstance(item, str):
            items.append(json.dumps(item, ensure_ascii=False))
        elif hasattr(item, "__index__"):
            items.append(str(operator.index(item)))
        else:
            raise TypeError(f"columns are numbers, names and slices of numbers, not {item!r}")
    return ",".join(items)


class Kernel:
    """A kernel expression: immutable, without data.

    Made by the functions of this module, by operators, or from text. ``+ - *`` join kernels and
    numbers, ``k**n`` is a power, ``k[0:10]`` sees some columns only, ``str(k)`` is text that
    ``Kernel(text)`` reads back.

    Parameters
    ----------
    text : str or Kernel
        The text syntax, as in ``"rbf(gamma=0.5) + 0.3*poly(2)[0:10]"``.

    Examples
    --------
    >>> k = Kernel("0.5*rbf(sigma=1) + linear")
    >>> k == Kernel(str(k))
    True
    >>> print(2 * k**2)
    2*(0.5*rbf(sigma=1) + linear)^2
    """

    __slots__ = ("_expression",)
    __array_ufunc__ = None  # np.float64(2) * kernel is ours to compute

    def __init__(self, text: Union[str, "Kernel", _core.Expression]) -> None:
        if isinstance(text, Kernel):
            text = text._expression
        elif isinstance(text, str):
            text = _core.Expression.parse(text)
        elif not isinstance(text, _core.Expression):
            raise TypeError(f"a kernel is made of text, not of {type(text).__name__}")
        self._expression = text

    def __str__(self) -> str:
        return self._expression.text()

    def __repr__(self) -> str:
        return f"Kernel({str(self)!r})"

    def _repr_html_(self) -> str:
        return kernel_html(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return Kernel, (str(self),)

    # ---- values

    def __call__(self, X: Any, Z: Any = None) -> Any:
        """The Gram matrix of the rows of X and Z (X itself without Z).

        Parameters
        ----------
        X, Z : array or CSR matrix of shape (n, d) and (m, d); or two rows of shape (d,)
            Or lists of texts, graphs or series, as estimators take them. float32 gives a float32 matrix, anything else float64. ``gamma=scale`` and the centre of
            ``center(k)`` are taken from Z.

        Returns
        -------
        ndarray of shape (n, m), or float for two rows
        """
        if is_row(X):
            x = np.ascontiguousarray(X, dtype=np.float64)
            z = x if Z is None else np.ascontiguousarray(Z, dtype=np.float64)
            require_finite(x, "X")
            require_finite(z, "Z")
            return self._expression.value(x, z)
        X = as_frame(X)
        x, names = checked_rows(X), _names(X)
        z = None if Z is None or Z is X else checked_rows(Z, "Z")
        twice = getattr(X, "dtype", None) != np.float32
        return self._expression.matrix(x, z, twice, names)

    def diag(self, X: Any) -> np.ndarray:
        """k(x, x) for every row of X."""
        X = as_frame(X)
        return self._expression.diagonal(checked_rows(X), _names(X))

    def resolve(self, X: Any) -> "Kernel":
        """The same kernel with what it leaves to the data (``gamma=scale``, names) settled."""
        X = as_frame(X)
        return Kernel(self._expression.resolve(checked_rows(X), _names(X)))

    @property
    def needs_data(self) -> bool:
        """True while a rule or a column name waits for data."""
        return self._expression.needs_data()

    @property
    def parameters(self) -> list[tuple[str, str, float]]:
        """(name, part, value) of every real parameter."""
        return self._expression.parameters()

    @property
    def theta(self) -> np.ndarray:
        """Logarithms of its positive parameters, in their order, as scikit-learn's kernels have them."""
        values = np.asarray([value for _, _, value in self.parameters], dtype=np.float64)
        return np.log(values[values > 0])

    @property
    def definiteness(self) -> Definiteness:
        """Whether the kernel is positive definite, by rule, with the reasons."""
        return self.definite_on()

    def definite_on(self, *, unit_norm: bool = False, non_negative: bool = False) -> Definiteness:
        """The same for rows of length 1, or without negative entries."""
        kind, steps = self._expression.definiteness(unit_norm, non_negative)
        return Definiteness(kind, tuple(Reason(*step) for step in steps))

    def feature_dimension(
        self, columns: int, *, unit_norm: bool = False, non_negative: bool = False
    ) -> FeatureDimension:
        """The dimension of the feature space over rows of so many columns.

        Examples
        --------
        >>> from mercer import poly, rbf
        >>> print(poly(degree=2).feature_dimension(256), rbf(gamma=1).feature_dimension(256))
        33153 infinite
        """
        columns = operator.index(columns)
        if columns < 0:
            raise ValueError(f"columns = {columns} must be 0 or more")
        return FeatureDimension(
            *self._expression.feature_dimension(columns, unit_norm, non_negative)
        )

    def test_on(self, X: Any, *, max_rows: int = 1000, random_state: int = 1) -> MercerTest:
        """Mercer's condition on rows, at most ``max_rows`` of them (0: all), with a witness where it is
        broken.

        Examples
        --------
        >>> from mercer import sigmoid
        >>> found = sigmoid(gamma=1, coef0=-1).test_on([[0.], [1.], [2.]])
        >>> found.indefinite, found.witness_value < 0
        (True, True)
        """
        X = as_frame(X)
        rows, names = checked_rows(X), _names(X)
        found = _core.mercer_test(self._expression, rows, names, int(max_rows), int(random_state))
        return MercerTest(**found)

    # ---- algebra

    def __add__(self, other: Any) -> Any:
        other = _operand(other)
        return other if other is NotImplemented else Kernel(self._expression.add(other))

    def __radd__(self, other: Any) -> Any:
        other = _operand(other)
        return other if other is NotImplemented else Kernel(other.add(self._expression))

    def __sub__(self, other: Any) -> Any:
        other = _operand(other)
        return other if other is NotImplemented else Kernel(self._expression.subtract(other))

    def __rsub__(self, other: Any) -> Any:
        other = _operand(other)
        return other if other is NotImplemented else Kernel(other.subtract(self._expression))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Real):
            return Kernel(self._expression.scale(float(other)))
        other = _operand(other)
        return other if other is NotImplemented else Kernel(self._expression.multiply(other))

    def __rmul__(self, other: Any) -> Any:
        return self.__mul__(other)

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, Real):
            return NotImplemented
        return Kernel(f"({self})/{_number(other)}")

    def __neg__(self) -> "Kernel":
        return self * -1.0

    def __pow__(self, exponent: Any) -> Any:
        if not isinstance(exponent, Real):
            return NotImplemented
        return Kernel(self._expression.power(float(exponent)))

    def __getitem__(self, key: Any) -> "Kernel":
        return Kernel(f"({self})[{_columns(key)}]")

    __iter__ = None  # an index does not make a sequence


def _operand(value: Any) -> Any:
    if isinstance(value, Kernel):
        return value._expression
    if isinstance(value, Real):
        return _core.Expression.parse(_number(value))
    return NotImplemented


def _names(X: Any) -> list[str]:
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return []
    return [str(name) for name in columns]
