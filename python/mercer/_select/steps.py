"""Training by two points at a time, step by step."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from .._estimators.svc import SVC, NuSVC
from .._estimators.one_class import SVDD, OneClassSVM
from .._estimators.svr import SVR, NuSVR

_MACHINES = (SVC, NuSVC, SVR, NuSVR, OneClassSVM, SVDD)


def smo_steps(
    machine: Any, X: Any, y: Any = None, sample_weight: Any = None
) -> dict[str, np.ndarray]:
    """The steps of two points by which a support vector machine is learnt, to plot or follow by hand.

    A copy of the machine is trained to ``tol`` by the method smo, one of these steps after another;
    the machine itself stays as it is.

    Parameters
    ----------
    machine : SVC, NuSVC, SVR, NuSVR, OneClassSVM or SVDD
    X, y, sample_weight : as for its ``fit``

    Returns
    -------
    dict of ndarray, one value a step
        ``problem`` counts the pairs of classes, ``step`` the steps from 1; the rows ``row_1`` and
        ``row_2`` move, with labels ``y_1``, ``y_2`` and variables ``alpha_1``, ``alpha_2`` as they were.
        ``E_1``, ``E_2`` are the errors on them without the bias, which cancels; ``unclipped`` is the
        maximum on the line, alpha_2 + y_2 (E_1 − E_2) / ``curvature``, clipped to [``U``, ``V``];
        ``new_alpha_1`` and ``new_alpha_2`` are where both end. ``objective`` is the dual value after the
        step, ``violation`` that of the optimality conditions before it.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, smo_steps
    >>> X = np.array([[-1., 0.], [-2., 1.], [1., 0.], [2., 1.]])
    >>> steps = smo_steps(SVC(kernel="linear"), X, [0, 0, 1, 1])
    >>> sorted([int(steps["row_1"][0]), int(steps["row_2"][0])]), bool(steps["objective"][-1] <= .5)
    ([0, 2], True)
    """
    if not isinstance(machine, _MACHINES):
        names = ", ".join(kind.__name__ for kind in _MACHINES)
        raise TypeError(f"machine must be one of {names}, not {type(machine).__name__}")
    traced = copy.copy(machine)
    traced.__dict__.pop("_model", None)  # begins at the beginning
    traced._steps_taken = steps = {}
    traced.fit(X, y, sample_weight)
    return steps


__all__ = ["smo_steps"]
