"""What training would cost, before it is done."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _core
from .._common.base import Machine, _threads
from .search import told_by


class TrainingPlan(NamedTuple):
    """The ways to train, the one that ``approximate="auto"`` would take, and why.

    Each way is a dict: ``approximate`` (what the parameter of that name would be; None: all rows),
    ``seconds`` and ``bytes`` as estimated, ``left`` (the share of the kernel that the centres leave),
    ``pilot_error`` (on rows of the pilot held out: share wrong, or root mean squared error),
    ``expected_error`` (of a machine learnt from all rows; nan where the trial did not come to its end)
    and its ``deviation``, the ``certificate`` it would have, and whether it ``fits`` into memory.
    """

    ways: list[dict[str, Any]]
    chosen: dict[str, Any]
    why: str


def plan(estimator: Machine, X: Any, y: Any = None, *, seconds: float = 600.0) -> TrainingPlan:
    """What training the estimator on these rows would cost, from a pilot on a few thousand of them.

    Times are extrapolated and no more than estimates. ``seconds`` is what training may take where the
    estimator has no ``time_limit``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge, plan
    >>> X = np.linspace(0, 6, 3000)[:, None]
    >>> found = plan(KernelRidge(kernel="rbf", gamma=1), X, np.sin(X[:, 0]))
    >>> [way["approximate"] for way in found.ways]
    [None, 'nystroem(centres=250)']
    >>> found.chosen["fits"]
    True
    """
    asked, told, rows = told_by(estimator, X, y, spans=True)
    own, expression = asked._kernel_rows(told.kernel, rows)
    callback, bar = asked._listener()
    with _threads(getattr(asked, "n_jobs", None)):
        try:
            ways, chosen, why = _core.plan(
                told.task, expression, told.settings, own, told.y, asked._column_names(own),
                float(seconds), callback,
            )  # fmt: skip
        finally:
            if bar is not None:
                bar.close()
    return TrainingPlan(ways, ways[chosen], why)


__all__ = ["TrainingPlan", "plan"]
