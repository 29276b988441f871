"""Kernels as values: written with operators, printed as text, called on arrays.

Examples
--------
>>> from mercer.kernels import rbf, poly
>>> k = rbf(gamma=.1) + .5*poly(degree=2)[0:10]
>>> print(k)
rbf(gamma=0.1) + 0.5*polynomial(degree=2)[0:10]
>>> import numpy as np
>>> X = np.eye(3, 12)
>>> k(X).shape
(3, 3)
>>> print(k.definiteness)
strictly positive definite
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from . import _core
from ._kernel.block_kernel import BlockKernel, function
from ._kernel.expression import Definiteness, FeatureDimension, Kernel, Reason, _number

__all__ = [
    "BlockKernel",
    "Definiteness",
    "FeatureDimension",
    "Kernel",
    "Reason",
    "bilinear",
    "center",
    "exp",
    "function",
    "map",
    "normalize",
    "outer",
    "rbf_of",
    "sets",
]

# ---- named kernels


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, str):  # scale, auto, and words such as dna
        return value
    if not isinstance(value, Real):
        raise TypeError(f"a kernel's parameter is a number or a word, not {value!r}")
    return _number(value)


def _named(name: str, *values: Any, **parameters: Any) -> Kernel:
    words = [_value(value) for value in values]
    # `from` and `lambda` are words of Python: from_=3 is from=3.
    words += [
        f"{key.rstrip('_')}={_value(value)}" for key, value in parameters.items() if value is not None
    ]
    return Kernel(f"{name}({', '.join(words)})" if words else name)


def _constructor(name: str, formula: str, parameters: list[str]) -> Callable[..., Kernel]:
    def make(*values: Any, **given: Any) -> Kernel:
        return _named(name, *values, **given)

    make.__name__ = make.__qualname__ = name
    taken = ", ".join(parameters) or "none"
    make.__doc__ = f"{formula}. Parameters, as in the text syntax (docs/kernels.md): {taken}."
    return make


# A function for each kernel that is a name with parameters: rbf, polynomial, matern, … The table of
# the library says which there are, so that none is missing here.
_named_kernels = {
    name: _constructor(name, formula, parameters)
    for name, formula, parameters in _core.named_kernels()
}
globals().update(_named_kernels)
poly = _named_kernels["polynomial"]
__all__ += [*_named_kernels, "poly"]

if TYPE_CHECKING:

    def __getattr__(name: str) -> Callable[..., Kernel]: ...


def exp(k: Kernel) -> Kernel:
    """exp(k(x, z))."""
    return Kernel(Kernel(k)._expression.exp())


def normalize(k: Kernel) -> Kernel:
    """k(x, z) / sqrt(k(x, x) k(z, z)): images of length 1."""
    return Kernel(Kernel(k)._expression.normalize())


def center(k: Kernel) -> Kernel:
    """k with the centre of mass of the training sample moved to the origin."""
    return Kernel(Kernel(k)._expression.center())


def rbf_of(k: Kernel, **parameters: Any) -> Kernel:
    """The Gaussian of another kernel's features; parameters as `rbf`."""
    words = "".join(f", {key}={_value(value)}" for key, value in parameters.items())
    return Kernel(f"rbf_of({Kernel(k)}{words})")


def bilinear(A: Any) -> Kernel:
    """x'Az with A square and symmetric."""
    table = np.asarray(A, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"A must be a square matrix, not an array of {table.ndim} dimensions")
    rows = ",".join("[" + ",".join(_number(value) for value in row) + "]" for row in table)
    return Kernel(f"bilinear([{rows}])")


def outer(f: str | Callable[[Any], Any]) -> Kernel | BlockKernel:
    """f(x) f(z), f a formula of the columns, ``outer("1 + x0^2")``, or a function of rows that gives a
    number for each.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.], [2.]])
    >>> np.array_equal(outer("x0^2")(X), outer(lambda rows: rows[:, 0]**2)(X))
    True
    """
    if isinstance(f, str):
        return Kernel(f"outer({f})")
    return BlockKernel("function", _Outer(f), f"outer({_name_of(f)})", True)


def map(  # noqa: A001, the name it has in text
    k: Kernel | BlockKernel, *formulas: str | Callable[[Any], Any]
) -> Kernel | BlockKernel:
    """k(φ(x), φ(z)), one formula of the columns a coordinate, ``map(rbf(gamma=1), "x0*x1", "x2")``, or a
    function φ of rows that gives the mapped ones.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1., 2.], [3., 5.]])
    >>> np.allclose(map(rbf(gamma=1), "x0*x1")(X), map(rbf(gamma=1), lambda R: R[:, :1] * R[:, 1:])(X))
    True
    """
    if not formulas:
        raise TypeError('map needs a formula for each coordinate: map(k, "x0*x1", "x2^2")')
    if len(formulas) == 1 and callable(formulas[0]):
        kernel = k if isinstance(k, BlockKernel) else Kernel(k)
        name = f"map({kernel}, {_name_of(formulas[0])})"
        known = kernel.definiteness.positive
        return BlockKernel("function", _Mapped(kernel, formulas[0]), name, known)
    if not all(isinstance(formula, str) for formula in formulas):
        raise TypeError("map takes formulas, one a coordinate, or one function of rows")
    return Kernel(f"map({', '.join([str(Kernel(k)), *formulas])})")


def _name_of(f: Any) -> str:
    return getattr(f, "__name__", "function")


class _Outer:
    """f(x) f(z) of a function of rows; a class, so that it goes into pickles where f does."""

    def __init__(self, f: Callable[[Any], Any]) -> None:
        self.f = f

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return np.outer(np.asarray(self.f(X), dtype=float), np.asarray(self.f(Z), dtype=float))


class _Mapped:
    """k(φ(x), φ(z)) of a function φ of rows."""

    def __init__(self, kernel: Any, f: Callable[[Any], Any]) -> None:
        self.kernel, self.f = kernel, f

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return self.kernel(self.f(X), self.f(Z))


def sets(
    k: Kernel,
    width: int | None = None,
    counted: bool = False,
    *,
    split: str | None = None,
    mean: bool = False,
) -> Kernel:
    """The sum of k(a, b) over a in x and b in z: a row is a set of vectors of ``width`` numbers each,
    one after another; with ``counted`` its first number says how many of them belong to the set. With
    ``split`` (``"lines"``, ``"words"`` or ``"commas"``) a text is the set of its parts. ``mean`` takes
    the mean over pairs in place of the sum: the Gaussian on mean embeddings is
    ``rbf_of(sets(k, 3, mean=True), gamma=1)``."""
    words = [] if width is None else [f"width={_value(width)}"]
    words += ["counted=true"] if counted else []
    words += [] if split is None else [f"split={split}"]
    words += ["mean=true"] if mean else []
    return Kernel(f"sets({', '.join([str(Kernel(k)), *words])})")
