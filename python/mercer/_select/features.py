"""Which columns matter: taken away one after another, or rescaled until few are left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .alignment import _class_numbers
from .._common.arrays import _same_length, checked_rows
from .._common.call import _threads
from ..kernels import Kernel, linear


@dataclass(frozen=True)
class Round:
    """One machine on so many features."""

    features: int
    training_accuracy: float
    cv_accuracy: float | None  #: where folds were asked for


@dataclass(frozen=True)
class Elimination:
    """Columns by recursive elimination."""

    ranking: np.ndarray  #: all columns, the last to go first
    rounds: list[Round]


@dataclass(frozen=True)
class ZeroNorm:
    """Columns by the zero norm of the weights."""

    ranking: np.ndarray  #: all columns: those selected, then the last to go first
    rounds: list[Round]
    selected: np.ndarray  #: columns left, the heaviest first
    scale: np.ndarray  #: of every column, the largest 1; 0: it is gone
    converged: bool  #: the scale stood still


def _call(function: Any, kernel: Any, X: Any, y: Any, settings: dict, n_jobs: int | None) -> dict:
    kernel = Kernel(kernel) if isinstance(kernel, str) else kernel
    if not isinstance(kernel, Kernel):
        raise TypeError(f"a kernel is a kernel or a text, not {type(kernel).__name__}")
    rows = checked_rows(X)
    labels = _class_numbers(_same_length(np.ravel(y), len(rows)))
    with _threads(n_jobs):
        found = function(kernel._expression, settings, rows, labels, None)
    found["ranking"] = np.array(found["ranking"], dtype=np.intp)
    found["rounds"] = [Round(*one) for one in found["rounds"]]
    return found


def eliminate_features(
    X: Any,
    y: Any,
    *,
    kernel: Any = None,
    C: float = 1.0,
    keep: int = 1,
    share: float = 0.0,
    folds: int = 0,
    seed: int = 1,
    n_jobs: int | None = None,
) -> Elimination:
    """Recursive feature elimination [Guyon, Weston, Barnhill and Vapnik 2002]: train, take away the
    column whose loss changes ‖w‖² least, and again.

    Parameters
    ----------
    kernel : Kernel or text, linear by default
    keep : int
        Stop when so many columns are left.
    share : float
        Of the columns left, taken away at a time; 0: one.
    folds : int
        Cross-validate each round over so many; 0: not.
    """
    settings = {"C": float(C), "keep": keep, "share": float(share), "folds": folds, "seed": seed}
    kernel = linear() if kernel is None else kernel
    return Elimination(**_call(_core.eliminate_features, kernel, X, y, settings, n_jobs))


def zero_norm_features(
    X: Any,
    y: Any,
    *,
    C: float = 1.0,
    keep: int = 1,
    rounds: int = 50,
    folds: int = 0,
    seed: int = 1,
    n_jobs: int | None = None,
) -> ZeroNorm:
    """A plane with few weights that are not 0 [Weston, Elisseeff, Schölkopf and Tipping 2003]:
    train a linear machine, multiply each column by abs(w), and again.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import zero_norm_features
    >>> X = np.random.default_rng(0).normal(size=(200, 8))
    >>> found = zero_norm_features(X, X[:, 3] + .5 * X[:, 6] > 0, C=10)
    >>> sorted(found.selected.tolist())
    [3, 6]
    """
    settings = {"C": float(C), "keep": keep, "rounds": rounds, "folds": folds, "seed": seed}
    found = _call(_core.zero_norm_features, linear(), X, y, settings, n_jobs)
    found["selected"] = np.array(found["selected"], dtype=np.intp)
    return ZeroNorm(**found)


__all__ = ["Elimination", "Round", "ZeroNorm", "eliminate_features", "zero_norm_features"]
