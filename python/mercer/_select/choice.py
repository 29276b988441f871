"""Choices made after training: probabilities, rows to label, columns that matter, which of two."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .._common.arrays import _same_length, check_targets
from .._common.base import Machine, Report, _threads, seed_of
from .._common.classify import Classifier
from .._common.parameters import number
from .conformal import _places
from .search import MEASURES, NOT_SEARCHED, told_by


def _fitted(machine: Any, kind: type = Machine) -> Any:
    if not isinstance(machine, kind):
        words = "classifier" if kind is Classifier else "estimator"
        raise TypeError(f"machine must be a {words} of mercer, not a {type(machine).__name__}")
    machine._check_fitted()
    if machine._model is None:
        raise ValueError(
            f"{type(machine).__name__} was not trained by the library: it has no model"
        )
    return machine


def _truth(machine: Any, y: Any, rows: int) -> np.ndarray:
    """Positions of the classes of rows, or their numbers."""
    if isinstance(machine, Classifier):
        return _places(machine, y, rows, False)
    return check_targets(machine, y, rows)


def calibrate(
    machine: Any, X: Any, y: Any, method: str = "platt", *, n_jobs: int | None = None
) -> Any:
    """A copy of a fitted classifier with probabilities learnt on rows it has not seen.

    Parameters
    ----------
    machine : fitted classifier
        One whose `predict_proba` there is already gets another.
    X, y
        Rows set aside, with some of every class.
    method : {"platt", "isotonic", "temperature"}
        A sigmoid for each pair, a curve that only rises, or one temperature for all classes.

    Returns
    -------
    A machine of the same class, with `predict_proba`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, calibrate
    >>> X = np.random.default_rng(0).normal(size=(200, 2)); y = X[:, 0] > .2
    >>> sure = calibrate(SVC().fit(X[:100], y[:100]), X[100:], y[100:], "isotonic")
    >>> bool(sure.predict_proba([[1.5, 0.]])[0, 1] > .9)
    True
    """
    _fitted(machine, Classifier)
    rows = machine._rows_to_predict(X)
    sure = copy.copy(machine)
    with _threads(n_jobs):
        sure._model = _core.calibrated(
            machine._model, rows, _places(machine, y, len(rows), method != "temperature"), method
        )
    sure.report_ = Report(sure._model.report())
    if hasattr(sure, "probability"):
        sure.probability = True
    return sure


def query(
    machine: Any,
    pool: Any,
    n_rows: int = 1,
    *,
    X: Any = None,
    y: Any = None,
    method: str = "nearest",
    shortlist: int = 50,
    return_scores: bool = False,
    n_jobs: int | None = None,
) -> Any:
    """Which rows of a pool to label next: active learning.

    Parameters
    ----------
    machine : fitted classifier
    pool : rows without labels
    n_rows : int
        So many, the most telling first.
    method : {"nearest", "halving"}
        Those the machine is least sure of; or those that leave the largest margin whichever label they
        get, of two classes, for which ``X`` and ``y``, the labelled rows, are learnt from again.
    shortlist : int
        "halving" tries so many of the nearest; 0: all.

    Returns
    -------
    ndarray of positions in the pool, or a pair of it and what the rule compares

    Examples
    --------
    >>> from mercer import SVC, query
    >>> model = SVC(kernel="linear").fit([[0.], [10.]], [0, 1])
    >>> query(model, [[1.], [5.2], [9.]]).tolist()
    [1]
    """
    _fitted(machine, Classifier)
    rows, count = machine._rows_to_predict(pool), int(number("n_rows", n_rows))
    with _threads(n_jobs):
        if method == "nearest":
            found, scores = _core.query_nearest(machine._model, rows, count)
        elif method == "halving":
            if X is None or y is None:
                raise ValueError("method='halving' needs X and y, the labelled rows")
            asked, told, labelled = told_by(machine, X, y)
            settings = {k: v for k, v in told.settings.items() if k not in NOT_SEARCHED}
            taken, expression = asked._kernel_rows(told.kernel, labelled)
            found, scores = _core.query_halving(
                expression,
                settings,
                taken,
                np.asarray(told.y, dtype=np.float64),
                rows,
                count,
                int(shortlist),
            )
        else:
            raise ValueError(f"method = {method!r} must be 'nearest' or 'halving'")
    return (found, scores) if return_scores else found


def permutation_importance(
    machine: Any,
    X: Any,
    y: Any,
    *,
    scoring: str | None = None,
    n_repeats: int = 5,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """What the score of a fitted machine loses when a column is shuffled, best on rows it has not seen.

    Returns
    -------
    mean and deviation over the repeats, one for each column; of errors the rise

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, permutation_importance
    >>> X = np.random.default_rng(0).normal(size=(200, 3)); y = X[:, 1] > 0
    >>> drop, _ = permutation_importance(SVC().fit(X, y), X, y)
    >>> int(drop.argmax())
    1
    """
    _fitted(machine)
    rows = machine._rows_to_predict(X)
    measure = MEASURES.get(scoring or "", scoring) or ""
    with _threads(n_jobs):
        return _core.permutation_importance(
            machine._model,
            rows,
            _truth(machine, y, len(rows)),
            measure,
            int(n_repeats),
            seed_of(random_state),
        )


@dataclass(frozen=True)
class Comparison:
    """Two machines on the same rows."""

    rows: int
    first: float  #: accuracy, or root mean squared error
    second: float
    only_first: int  #: rows that only the first has right, or is nearer in
    only_second: int
    p_value: float  #: of as large a difference between machines that are equally good
    sign_p_value: float  #: of numbers: the exact sign test on which error is smaller
    difference: float  #: of numbers: mean of the first's squared errors less the second's
    test: str  #: its name


def compare(first: Any, second: Any, X: Any, y: Any) -> Comparison:
    """Which of two fitted machines is better, by a paired test on the same rows: McNemar's exact test of
    classes, Student's paired t on the squared errors of numbers.

    Parameters
    ----------
    first, second : anything with `predict`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, compare
    >>> X = np.random.default_rng(0).normal(size=(300, 2)); y = X[:, 0] * X[:, 1] > 0
    >>> a, b = SVC().fit(X[:150], y[:150]), SVC(kernel="linear").fit(X[:150], y[:150])
    >>> found = compare(a, b, X[150:], y[150:])
    >>> found.first > found.second, found.p_value < .01
    (True, True)
    """
    truth = np.ravel(y)
    answers = [
        _same_length(np.ravel(machine.predict(X)), len(truth)) for machine in (first, second)
    ]
    classes = isinstance(first, Classifier) or hasattr(first, "classes_")
    numbers = [*answers, truth]
    if classes:
        _, positions = np.unique(
            np.concatenate([np.asarray(n).astype(str) for n in numbers]), return_inverse=True
        )
        numbers = np.split(positions, 3)
    a, b, t = (np.ascontiguousarray(n, dtype=np.float64) for n in numbers)
    return Comparison(**_core.compare(a, b, t, not classes))
