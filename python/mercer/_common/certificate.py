"""Certificates recomputed from a machine and its training data, and proved brackets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import check_weights, checked_rows
from .base import Machine, Report
from .call import _threads


@dataclass(frozen=True)
class CheckedCertificate:
    """What was found of one problem: a pair of classes, a target, a sample."""

    claimed: Report  #: what the machine says of itself
    found: Report  #: the same, recomputed in double precision
    broken: list[str]  #: sentences about what does not hold; empty: all does
    proved: tuple[float, float] | None  #: the optimum lies in it, whatever was rounded

    @property
    def holds(self) -> bool:
        """Whether nothing is broken. What then is proved, ``found.certifies`` says."""
        return not self.broken


def verify(
    machine: Machine,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    rigorous: bool = False,
    n_jobs: int | None = None,
) -> list[CheckedCertificate]:
    """Recomputes the certificate of a support vector machine from its training data alone.

    Parameters
    ----------
    machine : a fitted SVC, NuSVC, SVR, NuSVR, OneClassSVM or SVDD
    X, y, sample_weight : what it was fitted on
    rigorous : bool
        Also prove a bracket of the optimum by interval arithmetic: a theorem about the numbers in
        the machine and in ``X``. Kernels without a proved bound on their rounding, or not known to be
        positive definite, are refused.

    Returns
    -------
    list of CheckedCertificate, one a problem

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, verify
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> (found,) = verify(SVC(C=10).fit(X, y), X, y, rigorous=True)
    >>> low, high = found.proved
    >>> found.holds, found.found.certifies, bool(0 <= high - low < 1e-3 * high)
    (True, 'optimum', True)
    """
    machine._check_fitted()
    model = machine._model
    block = "_block_kernel" in machine.__dict__
    rows = checked_rows(machine._block_matrix(X, X) if block else X)
    classes = getattr(machine, "classes_", None)
    numbers = None
    if y is not None and classes is not None:
        places = {label: place for place, label in enumerate(classes.tolist())}
        numbers = np.array([places.get(label, -1) for label in np.asarray(y).tolist()], float)
    elif y is not None and model.task in ("svr", "nu-svr"):
        numbers = np.ascontiguousarray(y, dtype=np.float64)
    weights = check_weights(sample_weight, len(rows))
    with _threads(n_jobs):
        found = model.check(rows, numbers, weights, bool(rigorous))
    return [
        CheckedCertificate(
            Report(part["claimed"]), Report(part["found"]), part["broken"], part["proved"]
        )
        for part in found
    ]


__all__ = ["CheckedCertificate", "verify"]
