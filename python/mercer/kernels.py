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
positive definite
"""

from __future__ import annotations

import functools
from numbers import Integral, Real
from typing import Any, Callable

import numpy as np

from ._block_kernel import BlockKernel, function
from ._expression import Definiteness, Kernel, Reason, _number

__all__ = [
    "BlockKernel",
    "Definiteness",
    "Kernel",
    "Reason",
    "additive_chi2",
    "anova",
    "ball",
    "bilinear",
    "center",
    "chi2",
    "constant",
    "exp",
    "expdot",
    "function",
    "intersection",
    "inverse_multiquadric",
    "laplacian",
    "linear",
    "logistic",
    "map",
    "matern",
    "negative_distance",
    "normalize",
    "outer",
    "periodic",
    "poly",
    "polynomial",
    "precomputed",
    "rational_quadratic",
    "rbf",
    "rbf_of",
    "sets",
    "sigmoid",
]

# ---- named kernels


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, str):  # scale, auto
        return value
    if not isinstance(value, Real):
        raise TypeError(f"a kernel's parameter is a number or a rule, not {value!r}")
    return _number(value)


def _named(name: str, *values: Any, **parameters: Any) -> Kernel:
    words = [_value(value) for value in values]
    words += [f"{key}={_value(value)}" for key, value in parameters.items() if value is not None]
    return Kernel(f"{name}({', '.join(words)})" if words else name)


def _maker(name: str, formula: str) -> Callable[..., Kernel]:
    made = functools.partial(_named, name)

    def make(*values: Any, **parameters: Any) -> Kernel:
        return made(*values, **parameters)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"{formula}. Parameters as in the text syntax (docs/kernels.md)."
    return make


linear = _maker("linear", "x.z")
polynomial = _maker("polynomial", "(coef0 + gamma x.z)^degree: degree=3, gamma=1, coef0=1")
poly = polynomial
rbf = _maker("rbf", "exp(-gamma |x-z|^2): gamma, 'scale' or 'auto'; or sigma, c, width")
laplacian = _maker("laplacian", "exp(-gamma |x-z|_1): gamma or sigma; norm=1 or 2")
sigmoid = _maker("sigmoid", "tanh(gamma x.z + coef0)")
logistic = _maker("logistic", "1 / (1 + exp(theta - beta x.z))")
expdot = _maker("expdot", "exp(gamma x.z)")
ball = _maker("ball", "1 if |x-z| <= radius else 0")
negative_distance = _maker("negative_distance", "-|x-z|^beta")
inverse_multiquadric = _maker("inverse_multiquadric", "1 / sqrt(|x-z|^2 + c^2)")
matern = _maker("matern", "Matern of smoothness nu (0.5, 1.5, 2.5) in |x-z| / length")
rational_quadratic = _maker("rational_quadratic", "(1 + |x-z|^2/(2 alpha length^2))^(-alpha)")
anova = _maker("anova", "sum over choices of `degree` columns of prod exp(-gamma (xi-zi)^2)")
periodic = _maker("periodic", "exp(-2 sum sin^2(pi (xi-zi) / period) / length^2)")
chi2 = _maker("chi2", "exp(-gamma sum (xi-zi)^2 / (xi+zi))")
additive_chi2 = _maker("additive_chi2", "-sum (xi-zi)^2 / (xi+zi)")
intersection = _maker("intersection", "sum min(xi, zi)")
precomputed = _maker("precomputed", "the rows are rows of a Gram matrix")
constant = _maker("constant", "the same value for every pair")


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


def outer(formula: str) -> Kernel:
    """f(x) f(z), f a formula of the columns: ``outer("1 + x0^2")``."""
    return Kernel(f"outer({formula})")


def map(k: Kernel, *formulas: str) -> Kernel:  # noqa: A001, the name it has in text
    """k(f(x), f(z)), one formula of the columns a coordinate: ``map(rbf(gamma=1), "x0*x1", "x2")``."""
    if not formulas:
        raise TypeError('map needs a formula for each coordinate: map(k, "x0*x1", "x2^2")')
    return Kernel(f"map({', '.join([str(Kernel(k)), *formulas])})")


def sets(k: Kernel, width: int, counted: bool = False) -> Kernel:
    """The sum of k(a, b) over a in x and b in z: a row is a set of vectors of ``width`` numbers each,
    one after another; with ``counted`` its first number says how many of them belong to the set."""
    return Kernel(f"sets({Kernel(k)}, width={_value(width)}{', counted=true' if counted else ''})")
