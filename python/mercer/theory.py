"""What can be promised of a machine, and how much a class of functions can do.

Every bound comes with its formula, the numbers put in, its value, the probability with which it
holds, and whether it says anything at all (docs/bounds.md).

Examples
--------
>>> from mercer import theory
>>> print(theory.cover_separation(60, 30))
cover-separation: 0.5
>>> print(theory.vc_risk(1000, dimension=11, error=.02))
vc-dimension: 0.2895 with probability 0.95
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from . import _core
from ._common.arrays import checked_rows
from ._common.base import Machine
from ._common.call import _threads
from ._select.structure import (
    RadiusMargin,
    SoftMargin,
    Structure,
    StructureLevel,
    equivalent_settings,
    radius_margin_search,
    structural_risk,
)
from ._kernel.expression import _names
from ._common.parameters import number
from .kernels import Kernel


@dataclass(frozen=True)
class Bound:
    """A number that is promised, and under which conditions."""

    name: str
    formula: str
    inputs: dict[str, float]
    value: float
    confidence: float  #: the probability with which it holds; 1 for expectations and counts
    vacuous: bool  #: it says no more than everybody knows
    estimate: bool  #: an approximation, not a guarantee
    about: str

    def __str__(self) -> str:
        text = f"{self.name}: {self.value:.4g}"
        if self.confidence < 1:
            text += f" with probability {self.confidence:.4g}"
        if self.vacuous:
            text += ", vacuous"
        return text + (", an estimate" if self.estimate else "")


def _bound(name: str, *values: Any) -> Bound:
    return Bound(**_core.bound(name, [float(value) for value in values]))


# ---- ways to label points


def cover_separation(points: float, dimensions: float) -> Bound:
    """The probability that random labels of points in general position are separated by a plane
    through the origin: C(p, N)/2^p, one half at p = 2N. A plane with a bias has one dimension more.
    """
    return _bound("cover_separation", points, dimensions)


def growth_function(rows: float, dimension: float) -> Bound:
    """ln of the ways in which functions of a VC dimension label so many points, at most."""
    return _bound("growth", dimension, rows)


def sauer(rows: float, dimension: float) -> Bound:
    """The same by Sauer's lemma, never larger."""
    return _bound("sauer", dimension, rows)


def half_space_growth(rows: float, columns: float, bias: bool = True) -> Bound:
    """The same of half-spaces, exactly; their VC dimension is ``columns + bias``."""
    return _bound("half_space_growth", columns, rows, bias)


# ---- bounds on the error, from numbers


def chernoff_risk(rows: float, *, error: float = 0, delta: float = 0.05) -> Bound:
    """One function, chosen before the data were seen."""
    return _bound("chernoff", error, rows, delta)


def union_risk(rows: float, functions: float, *, error: float = 0, delta: float = 0.05) -> Bound:
    """The best of so many functions."""
    return _bound("union", error, rows, delta, functions)


def vc_risk(rows: float, dimension: float, *, error: float = 0, delta: float = 0.05) -> Bound:
    """Any function of a class of this VC dimension."""
    return _bound("vc", error, rows, delta, dimension)


def rademacher_risk(
    rows: float, complexity: float, *, error: float = 0, delta: float = 0.05
) -> Bound:
    """Any function of a class of this empirical Rademacher complexity; ``error`` counts rows with
    y f(x) < 1."""
    return _bound("rademacher", error, rows, delta, complexity)


def compression_risk(
    rows: float, support: float, *, error: float = 0, delta: float = 0.05
) -> Bound:
    """A machine that training on its support vectors alone gives again; ``error`` is that on the
    other rows."""
    return _bound("compression", error, rows, delta, support)


def description_risk(rows: float, bits: float, *, error: float = 0, delta: float = 0.05) -> Bound:
    """A function that so many bits describe."""
    return _bound("description", error, rows, delta, bits)


def margin_dimension(
    radius: float, norm: float, *, bias: bool = True, columns: float = 0
) -> Bound:
    """The VC dimension of planes with ``‖w‖ <= norm`` on points in a sphere, at most."""
    return _bound("margin_dimension", radius, norm, bias, columns)


def margin_description(radius: float, margin: float, dimensions: float) -> Bound:
    """Bits for a plane through the origin that labels points in a sphere with a margin."""
    return _bound("margin_description", radius, margin, dimensions)


# ---- on data


@dataclass(frozen=True)
class Rademacher:
    """How well functions of norm Λ follow random signs: E sup (1/m) Σ σ_i f(x_i)."""

    rows: int
    trace: float  #: Σ k(x_i, x_i)
    by_trace: float  #: Λ √trace / rows, never below it
    estimate: float  #: from random signs
    deviation: float  #: standard error of the estimate


@dataclass(frozen=True)
class EntropyLevel:
    """In how many ways, N, planes of the feature space label samples of so many rows."""

    rows: int
    entropy: float  #: the mean of ln N
    deviation: float  #: its standard error
    annealed: float  #: ln of the mean of N
    growth: float  #: the largest ln N seen
    most: float  #: rows ln 2
    rank: float  #: mean of the dimensions that samples span
    exact: int  #: samples that were counted; others as if in general position


def _expression(kernel: Any, X: Any) -> tuple[Any, Any, list[str]]:
    kernel = Kernel(kernel) if isinstance(kernel, str) else kernel
    if not isinstance(kernel, Kernel):
        raise TypeError(f"a kernel is a kernel or a text, not {type(kernel).__name__}")
    return kernel._expression, checked_rows(X), _names(X)


def rademacher_complexity(
    kernel: Any, X: Any, *, norm: float = 1.0, draws: int = 200, seed: int = 1
) -> Rademacher:
    """The empirical Rademacher complexity of the functions of a kernel's space with ‖f‖ <= norm.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import linear, theory
    >>> found = theory.rademacher_complexity(linear(), np.eye(16))
    >>> round(found.estimate, 12), found.by_trace
    (0.25, 0.25)
    """
    expression, rows, names = _expression(kernel, X)
    settings = {"norm": float(norm), "draws": draws, "seed": seed}
    settings["memory_bytes"] = max(1 << 30, 16 * len(rows) ** 2)
    return Rademacher(**_core.rademacher_complexity(expression, rows, names, settings))


def vc_entropy(
    kernel: Any,
    X: Any,
    sizes: Sequence[int] = (5, 10, 20),
    *,
    draws: int = 50,
    bias: bool = True,
    seed: int = 1,
) -> list[EntropyLevel]:
    """The VC entropy of planes in a kernel's space, estimated from samples of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import linear, theory
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> (level,) = theory.vc_entropy(linear(), X, [8])
    >>> round(float(np.exp(level.entropy)))  # Cover's count of 8 points in the plane
    58
    """
    expression, rows, names = _expression(kernel, X)
    settings = {"sizes": [int(size) for size in sizes], "draws": draws, "bias": bool(bias)}
    settings["seed"] = seed
    return [EntropyLevel(**level) for level in _core.vc_entropy(expression, rows, names, settings)]


@dataclass(frozen=True)
class PlaneMargin:
    """The margin of a plane on labelled rows."""

    norm: float  #: ‖w‖
    functional: float  #: min y f(x)
    geometric: float  #: the same over the norm: a distance, below 0 where a row is wrong
    errors: int  #: rows with y f(x) <= 0
    rows: np.ndarray  #: y f(x) of every row

    @property
    def separates(self) -> bool:
        """All rows lie on their side."""
        return self.errors == 0


def plane_margin(w: Any, b: float, X: Any, y: Any, *, positive: Any = None) -> PlaneMargin:
    """The margin of the plane w·x + b = 0, whoever found it.

    ``positive`` is the class on the side of w; by default the last of the sorted classes.

    Examples
    --------
    >>> from mercer import theory
    >>> found = theory.plane_margin([3, 4], -5, [[3, 4], [0, 0]], [1, -1])
    >>> found.functional, found.geometric, found.separates
    (5.0, 1.0, True)
    """
    classes, places = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) != 2:
        raise ValueError(f"a plane tells two classes apart, and y has {len(classes)}")
    if positive is None:
        positive = classes[1]
    elif positive not in classes.tolist():
        raise ValueError(f"positive = {positive!r} is no class; there are {classes.tolist()}")
    signs = np.where(classes[places.reshape(-1)] == positive, 1.0, -1.0)
    weights = np.ascontiguousarray(w, dtype=np.float64).reshape(-1)
    return PlaneMargin(
        **_core.margin_of_plane(weights, number("b", b), checked_rows(X), signs)
    )


def machine_margin(machine: Machine, X: Any, y: Any) -> PlaneMargin:
    """The margin of the plane of a fitted classifier of two classes, in its feature space."""
    machine._check_fitted()
    rows = machine._rows_to_predict(X)
    return PlaneMargin(**_core.margin_of_model(machine._model, rows, _positions(machine, y)))


def _positions(machine: Machine, y: Any) -> np.ndarray:
    places = {label: place for place, label in enumerate(machine.classes_.tolist())}
    return np.array([places.get(label, -1) for label in np.asarray(y).tolist()], float)


def machine_bounds(
    machine: Machine,
    X: Any,
    y: Any = None,
    *,
    delta: float = 0.05,
    leave_one_out: bool = False,
    n_jobs: int | None = None,
) -> dict[str, list[Bound]]:
    """Every bound that can be computed of a fitted SVC, NuSVC or OneClassSVM and the rows it was
    fitted on, by problem: ``"3 vs 8"`` among several, ``""`` where there is one.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, theory
    >>> X = np.random.default_rng(0).normal(size=(80, 2)); y = X[:, 0] > 0
    >>> bounds = theory.machine_bounds(SVC(kernel="linear").fit(X, y), X, y)[""]
    >>> {"rademacher", "compression", "radius-margin"} <= {bound.name for bound in bounds}
    True
    """
    machine._check_fitted()
    block = "_block_kernel" in machine.__dict__
    rows = checked_rows(machine._block_matrix(X, X) if block else X)
    numbers = np.zeros(0)
    if y is not None and getattr(machine, "classes_", None) is not None:
        numbers = _positions(machine, y)
    with _threads(n_jobs):
        parts = _core.bounds_of_model(
            machine._model, rows, numbers, number("delta", delta), bool(leave_one_out), None
        )
    return {name: [Bound(**bound) for bound in bounds] for name, _, bounds in parts}


__all__ = [
    "Bound",
    "EntropyLevel",
    "PlaneMargin",
    "Rademacher",
    "RadiusMargin",
    "SoftMargin",
    "Structure",
    "StructureLevel",
    "chernoff_risk",
    "compression_risk",
    "cover_separation",
    "description_risk",
    "equivalent_settings",
    "growth_function",
    "half_space_growth",
    "machine_bounds",
    "machine_margin",
    "margin_description",
    "margin_dimension",
    "plane_margin",
    "rademacher_complexity",
    "rademacher_risk",
    "radius_margin_search",
    "sauer",
    "structural_risk",
    "union_risk",
    "vc_entropy",
    "vc_risk",
]
