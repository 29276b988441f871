"""Machines that reject most rows after few kernels."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from .. import _core
from .._common.base import Report, _threads
from .._common.parameters import number
from .choice import _fitted
from .conformal import _places


@dataclass(frozen=True)
class CascadeRun:
    """What a cascade did with some rows."""

    decisions: np.ndarray  #: of every row, positive for ``classes_[0]``
    kernels: np.ndarray  #: evaluated for each row
    stages: np.ndarray  #: numbers of kernels, ascending; the last is all
    left: np.ndarray  #: rows not rejected after each of them

    @property
    def average_kernels(self) -> float:
        """Kernels a row."""
        return float(self.kernels.mean())


def cascade(
    machine: Any,
    X: Any,
    y: Any = None,
    *,
    keep: Any = None,
    false_negatives: float = 0.01,
    stages: Sequence[int] = (),
    n_jobs: int | None = None,
) -> Any:
    """A copy of a fitted machine of two classes, or of one, that rejects rows after few kernels.

    Its vectors are put in the order in which they approximate the machine best; after some of them rows
    far on the wrong side go. Best made of a `reduced` machine.

    Parameters
    ----------
    machine : fitted `SVC` of two classes, `OneClassSVM`, …
    X, y
        Rows the thresholds are set on.
    keep
        The class that must not be lost; the first if not given.
    false_negatives : float
        At most this share of its rows that the whole machine accepts is rejected early, on these rows.
    stages : sequence of int
        Numbers of kernels after which rows may go; none: 1, 2, 3, 4, 6, 8, 11, …

    Returns
    -------
    A machine of the same class; `run_cascade` tells how many kernels it takes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, cascade, run_cascade
    >>> X = np.random.default_rng(0).normal(size=(400, 2)); y = (X ** 2).sum(axis=1) < .3
    >>> model = SVC(gamma=1).fit(X, y)
    >>> quick = cascade(model, X, y, keep=True)
    >>> run = run_cascade(quick, X)
    >>> bool(run.average_kernels < model.n_support_.sum())
    True
    >>> bool((quick.predict(X) == model.predict(X)).mean() > .97)
    True
    """
    _fitted(machine)
    rows = machine._rows_to_predict(X)
    if hasattr(machine, "classes_"):
        truth = _places(machine, y, len(rows), False)
        names = dict(zip(machine.classes_.tolist(), machine._model.class_names))
        if keep is not None and keep not in names:
            raise ValueError(f"keep = {keep!r} must be one of {list(names)}")
        kept = "" if keep is None else names[keep]
    else:
        truth, kept = np.zeros(0), ""
    quick = copy.copy(machine)
    with _threads(n_jobs):
        quick._model = _core.make_cascade(
            machine._model,
            rows,
            truth,
            kept,
            number("false_negatives", false_negatives),
            [int(n) for n in stages],
        )
    quick.report_ = Report(quick._model.report())
    for name in ("support_", "support_vectors_", "n_support_", "dual_coef_"):
        quick.__dict__.pop(name, None)  # they told of another order
    return quick


def run_cascade(machine: Any, X: Any) -> CascadeRun:
    """The decisions of a machine made by `cascade`, and what they took."""
    _fitted(machine)
    if not _core.is_cascade(machine._model):
        raise ValueError("the machine is no cascade: mercer.cascade makes one of it")
    decisions, *rest = _core.run_cascade(machine._model, machine._rows_to_predict(X))
    return CascadeRun(decisions[:, 0], *rest)
