"""Tables with columns of several kinds: learning from one in a call, and judging."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._common.base import Report, _threads
from .._common.frames import as_frame
from .._common.streams import opened


def _cell(value: Any) -> str:
    if value is None or value != value:  # NaN and NaT are not themselves
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return repr(float(value)) if math.isfinite(value) else ""
    if hasattr(value, "isoformat"):
        return value.isoformat(sep=" ") if hasattr(value, "hour") else value.isoformat()
    text = str(value)
    return "" if text in ("NaT", "<NA>", "nan") else text.strip()


def _columns(frame: Any) -> dict[str, list[Any]]:
    """The columns of a pandas or polars frame, of Arrow's, or of a dict, by their names."""
    frame = as_frame(opened(frame))
    if isinstance(frame, Mapping):
        return {str(name): list(values) for name, values in frame.items()}
    if hasattr(frame, "columns"):
        return {str(name): list(frame[name]) for name in frame.columns}
    raise TypeError(
        f"a table is a data frame, a dict of columns or the path of a file, not {type(frame).__name__}"
    )


def _table(frame: Any) -> _core.Table:
    if isinstance(frame, _core.Table):
        return frame
    if isinstance(frame, (str, os.PathLike)):
        return _core.read_table(os.fspath(frame))
    columns = _columns(frame)
    return _core.table_from(
        list(columns), [[_cell(value) for value in values] for values in columns.values()]
    )


def column_kinds(frame: Any) -> list[dict[str, Any]]:
    """What each column of a table holds: kind, gaps, levels, examples, cells that do not fit.

    Parameters
    ----------
    frame : data frame, dict of columns, or path of a file

    Returns
    -------
    list of dict
        One a column: name, kind, missing, distinct, examples, odd, odd_cell.

    Examples
    --------
    >>> from mercer import column_kinds
    >>> table = {"age": [31, None, 45], "city": ["Rome", "Oslo", "Rome"]}
    >>> [(c["name"], c["kind"], c["missing"]) for c in column_kinds(table)]
    [('age', 'number', 1), ('city', 'category', 0)]
    """
    return _core.profile(_table(frame))


class TableModel:
    """A machine learnt from a table, with the recipe that makes numbers of its columns.

    Made by `learn`, and by `load` from a model file of ``mercer learn``.

    Attributes
    ----------
    classes_ : ndarray
        Of a classifier.
    report_ : Report
        The certificate.
    summary_ : dict
        What `learn` found: candidates, judgement on the rows set aside, warnings. Empty when loaded.
    """

    def __init__(self, model: _core.Model, summary: dict[str, Any] | None = None) -> None:
        self._model = model
        self.summary_ = summary or {}
        self.report_ = Report(model.report())
        if model.class_names:
            values = model.class_values
            self.classes_ = np.asarray(values if values else model.class_names)

    def _rows(self, frame: Any) -> _core.Rows:
        rows, _, _, remarks = _core.rows_for_model(self._model, _table(frame), "none")
        for remark in remarks:
            warnings.warn(remark, stacklevel=3)
        return rows

    def predict(self, frame: Any) -> np.ndarray:
        """Classes, or numbers, one for each row; gaps are filled as the recipe says."""
        decisions = self._model.decision(self._rows(frame))
        found = self._model.classify(decisions)
        return self.classes_[found.astype(int)] if hasattr(self, "classes_") else found

    def predict_proba(self, frame: Any) -> np.ndarray:
        """Probabilities, columns as ``classes_``."""
        if not self._model.has_probabilities:
            raise AttributeError("this model has no probabilities")
        return self._model.probabilities(self._rows(frame))

    def judge(self, frame: Any, *, label: str = "", positive: str = "") -> dict[str, Any]:
        """How good it is on rows of a table that has the target: see `judge`."""
        rows, y, names, remarks = _core.rows_for_model(self._model, _table(frame), label)
        for remark in remarks:
            warnings.warn(remark, stacklevel=2)
        if y is None:
            raise ValueError("the table has no column of the target to judge by")
        if not names and hasattr(self, "classes_"):
            y = np.searchsorted(self.classes_, y).astype(float)
        return _core.judge_rows(self._model, rows, y, names, positive)

    def save(self, path: Any) -> None:
        """Writes a model file, for `load` and the command line."""
        self._model.save(os.fspath(path))

    def __repr__(self) -> str:
        judged = self.summary_.get("judgement", {})
        score = ", ".join(
            f"{name} {judged[name]:.4g}" for name in ("accuracy", "rmse", "r2") if name in judged
        )
        return f"TableModel({self._model.task}, {self._model.size} points{', ' if score else ''}{score})"


def learn(
    frame: Any,
    target: str = "",
    *,
    time: float = 60,
    test: float = 0.2,
    predict: str = "auto",
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    groups: Any = None,
    by_time: bool = False,
    seed: int = 1,
    n_jobs: int | None = None,
) -> TableModel:
    """A judged machine from a table, in a call.

    Sets a part of the rows aside, compares a linear machine, a Gaussian one, sums of kernels over the
    kinds of columns and, where there are few rows, a Gaussian process; trains the best and judges it
    on the rows set aside, by which nothing was chosen.

    Parameters
    ----------
    frame : data frame, dict of columns, or path of a file
    target : str
        The column to predict. Default: the one named label, class, target or y, else the last.
    time : float
        Seconds for everything.
    test : float
        The share of rows set aside.
    predict : {"auto", "classes", "numbers"}
        What the target is.
    kinds : dict, optional
        What columns are, where it is not what `column_kinds` finds.
    drop, identifiers : lists of names
        Columns not to learn from.
    groups : list or str, optional
        One name a row, or the column that holds them: rows of one are never learnt from and judged on.
    by_time : bool
        Rows are in the order of time: the last are set aside.
    seed : int
    n_jobs : int, optional

    Returns
    -------
    TableModel

    Examples
    --------
    >>> from mercer import learn
    >>> table = {"x": [i % 10 for i in range(60)], "c": ["ab"[i % 2] for i in range(60)],
    ...          "y": ["low" if i % 10 < 5 else "high" for i in range(60)]}
    >>> model = learn(table, "y", time=5)
    >>> model.predict({"x": [1, None], "c": ["a", "b"]}).tolist()[0]
    'low'
    """
    table = _table(frame)
    hidden = list(identifiers)
    if isinstance(groups, str):
        hidden.append(groups)
        groups = [_cell(value) for value in _columns(frame)[groups]]
    keys = [] if groups is None else [str(key) for key in groups]
    settings = {
        "time": float(time),
        "test": float(test),
        "by_time": bool(by_time),
        "seed": int(seed),
        "predict": predict,
    }
    with _threads(n_jobs):
        model, summary = _core.learn_table(
            table, target, list((kinds or {}).items()), list(drop), hidden, keys, settings
        )
    for warning in summary["warnings"]:
        warnings.warn(warning, stacklevel=2)
    return TableModel(model, summary)


def judge(machine: Any, X: Any, y: Any = None, *, positive: str = "") -> dict[str, Any]:
    """How good a machine is on rows it has not seen, from every side.

    Parameters
    ----------
    machine : a fitted classifier or regression of this package, or a `TableModel`
    X : its rows; of a `TableModel` a table with the target among its columns
    y : their labels, where X has none
    positive : str
        Of two classes the one that counts as positive; default: the last.

    Returns
    -------
    dict
        Classes: accuracy with its interval of 95 % (Wilson), balanced_accuracy, baseline (the most
        frequent class), confusion, precision, recall and f1 a class; of two classes roc_area and
        average_precision; with probabilities log_loss and brier. Numbers: rmse with its interval
        (Student's t in the logarithm), mae, r2, and those of the mean. accuracy_again and rmse_again
        are where the figure of as many other rows is expected, by chance of theirs too.

    Examples
    --------
    >>> from mercer import SVC, judge
    >>> from mercer.data import read
    >>> X, y = read("@iris")
    >>> found = judge(SVC().fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> found["accuracy"] > found["baseline"]
    True
    """
    if isinstance(machine, TableModel):
        return machine.judge(X, positive=positive)
    if y is None:
        raise ValueError("y is missing: there is nothing to judge by")
    machine._check_fitted()
    rows = machine._rows_to_predict(X)
    y = np.asarray(y)
    if hasattr(machine, "classes_"):
        found = {value: place for place, value in enumerate(machine.classes_.tolist())}
        unknown = [value for value in y.tolist() if value not in found]
        if unknown:
            raise ValueError(f"y holds {unknown[0]!r}, which is none of the classes of the machine")
        y = np.asarray([found[value] for value in y.tolist()])
    with _threads(getattr(machine, "n_jobs", None)):
        return _core.judge_rows(machine._model, rows, y.astype(np.float64), [], str(positive))
