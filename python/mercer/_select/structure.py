"""Which machine of a nested family: structural risk, and the settings that say the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .._common.arrays import checked_rows
from .._common.base import Machine
from .._common.call import _threads, seed_of
from .._common.parameters import number
from ..kernels import Kernel


@dataclass(frozen=True)
class StructureLevel:
    """One machine of a nested family."""

    value: float  #: degree, C or number of components
    dimension: float  #: h
    training_error: float
    confidence_term: float
    bound: float  #: on the error: their sum
    cv_error: float
    status: str


@dataclass(frozen=True)
class Structure:
    """A nested family of machines, and which of them to take."""

    levels: list[StructureLevel]
    by_bound: int  #: position of the least bound
    by_cross_validation: int  #: position of the least error over folds


def structural_risk(
    X: Any,
    y: Any,
    family: str,
    values: Any,
    *,
    kernel: Any = "rbf(gamma=scale)",
    C: float = 1.0,
    gamma: float = 1.0,
    delta: float = 0.05,
    cv: int = 5,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Structure:
    """Structural risk minimisation over a nested family of machines of two classes.

    Parameters
    ----------
    family : {"degree", "margin", "components"}
        Polynomials (1 + gamma x·z)^d; larger and larger C under ``kernel``; planes over its leading
        components.
    values : ascending degrees, penalties or numbers of components
    delta : float
        For all levels together.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import theory
    >>> X = np.random.default_rng(0).normal(size=(300, 2)); y = X[:, 0] * X[:, 1] > 0
    >>> found = theory.structural_risk(X, y, "degree", [1, 2, 3])
    >>> [level.dimension for level in found.levels], found.levels[found.by_cross_validation].value > 1
    ([3.0, 6.0, 10.0], True)
    """
    labels, positions = np.unique(np.ravel(y), return_inverse=True)
    if len(labels) != 2:
        raise ValueError(f"y must be of two classes, not of {len(labels)}")
    settings = {
        "C": number("C", C),
        "gamma": number("gamma", gamma),
        "delta": number("delta", delta),
        "folds": int(cv),
        "seed": seed_of(random_state),
    }
    with _threads(n_jobs):
        found = _core.structural_risk(
            family, [float(value) for value in values], Kernel(kernel)._expression, settings,
            checked_rows(X), positions.astype(np.float64), None,
        )  # fmt: skip
    found["levels"] = [StructureLevel(**level) for level in found["levels"]]
    return Structure(**found)


@dataclass(frozen=True)
class SoftMargin:
    """The two ways to say how soft a margin is."""

    name: str  #: "3 vs 8" among several, else empty
    nu: float
    C: float
    rho: float  #: 1/C


def equivalent_settings(machine: Machine) -> list[SoftMargin]:
    """The ν of a fitted SVC, the C of a fitted NuSVC, by pair of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NuSVC, SVC, theory
    >>> X = np.random.default_rng(0).normal(size=(60, 2)); y = X[:, 0] > X[:, 1] ** 2
    >>> a = SVC(gamma=1, C=2).fit(X, y)
    >>> b = NuSVC(gamma=1, nu=theory.equivalent_settings(a)[0].nu).fit(X, y)
    >>> bool(np.array_equal(np.sign(a.decision_function(X)), np.sign(b.decision_function(X))))
    True
    """
    machine._check_fitted()
    return [SoftMargin(*found) for found in _core.equivalent_settings(machine._model)]


@dataclass(frozen=True)
class RadiusMargin:
    """Kernel and penalty with the least radius-margin bound nearby."""

    kernel: Kernel
    C: float  #: of squared slacks: `SquaredHingeClassifier` with alpha = 1/C
    before: float
    after: float
    status: str


def radius_margin_search(
    kernel: Any, X: Any, y: Any, *, C: float = 1.0, n_jobs: int | None = None
) -> RadiusMargin:
    """Kernel parameters by the gradient of the bound R²‖w‖², without folds; two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import theory
    >>> X = np.random.default_rng(0).normal(size=(80, 2)); y = X[:, 0] * X[:, 1] > 0
    >>> found = theory.radius_margin_search("rbf(gamma=0.01)", X, y)
    >>> found.after < found.before
    True
    """
    _, positions = np.unique(np.ravel(y), return_inverse=True)
    kernel = Kernel(kernel)
    rows = checked_rows(X)
    if kernel.needs_data:
        kernel = kernel.resolve(X)
    with _threads(n_jobs):
        found = _core.radius_margin(
            kernel._expression, number("C", C), rows, positions.astype(np.float64), None
        )
    return RadiusMargin(**{**found, "kernel": Kernel(found["kernel"])})
