"""Machines behind steps that change rows, searched: scikit-learn's pipelines.

Each fold learns its steps from its own training rows. Where the steps are this package's scaling, the
library's search does that itself and shares kernel values; behind any other steps every point is trained by
itself, on rows that the steps have changed once a fold.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .._common.base import Machine, seed_of
from .._common.compat import HAVE_SKLEARN
from .._estimators.scaling import FeatureScaling

#: What scikit-learn calls the library's scores.
SCORERS = {
    "balanced-accuracy": "balanced_accuracy",
    "auc": "roc_auc",
    "log-loss": "neg_log_loss",
    "mse": "neg_mean_squared_error",
    "mae": "neg_mean_absolute_error",
}


@dataclass(frozen=True)
class Chain:
    """A machine and the steps before it."""

    machine: Machine
    #: Before the names of its parameters: "svc__".
    prefix: str = ""
    #: The rule of the one step of scaling, "" without one, None behind steps that are not ours.
    scaling: str | None = ""

    def shares(self, grid: Mapping[str, Any] | None) -> bool:
        """Whether the library's own search can do it."""
        names = grid or {}
        return self.scaling is not None and all(name.startswith(self.prefix) for name in names)


def chain_of(estimator: Any) -> Chain:
    """What is searched: a machine of ours, or a pipeline that ends in one."""
    if isinstance(estimator, Machine):
        return Chain(estimator)
    steps = getattr(estimator, "steps", None)
    if not HAVE_SKLEARN or not steps or not isinstance(steps[-1][1], Machine):
        raise TypeError(
            f"estimator is a {type(estimator).__name__}; SearchCV searches machines of mercer and pipelines "
            "that end in one, others are for scikit-learn's GridSearchCV"
        )
    before = [step for _, step in steps[:-1] if step is not None and step != "passthrough"]
    name, machine = steps[-1]
    if not before:
        return Chain(machine, f"{name}__")
    ours = len(before) == 1 and isinstance(before[0], FeatureScaling)
    return Chain(machine, f"{name}__", before[0].rule if ours else None)


def search_points(search: Any, chain: Chain, X: Any, y: Any, groups: Any) -> dict[str, Any]:
    """Scores of every point of the grid, of independent training in each fold."""
    from sklearn.base import clone, is_classifier
    from sklearn.metrics import get_scorer

    points = _points(search)
    name = search.scoring
    if name is None:
        name = "accuracy" if is_classifier(search.estimator) else "neg_mean_squared_error"
    scorer = get_scorer(SCORERS.get(name, name))
    splits = list(_splits(search, is_classifier(search.estimator), X, y, groups))
    scores = np.full((len(points), len(splits)), np.nan)
    seconds = np.zeros(len(points))
    y = np.asarray(y)
    for fold, (train, test) in enumerate(splits):
        for members in _alike(points, chain.prefix):
            begun = time.perf_counter()
            whole = clone(search.estimator).set_params(**points[members[0]])
            seen, unseen = _through(whole, X, y, train, test)
            shared = (time.perf_counter() - begun) / len(members)
            for i in members:
                begun = time.perf_counter()
                machine = clone(search.estimator).set_params(**points[i]).steps[-1][1]
                machine.fit(seen, y[train])
                seconds[i] += shared + time.perf_counter() - begun
                scores[i, fold] = scorer(machine, unseen, y[test])
    return {"params": points, "scores": scores, "seconds": seconds, "scorer": name}


def _points(search: Any) -> list[dict[str, Any]]:
    """The points of the grid, or so many of them drawn."""
    refused = {
        "method": search.method not in ("grid", "random"),
        "journal": bool(search.journal),
        "one_standard_error": bool(search.one_standard_error),
        "param_grid": not search.param_grid,
    }
    for name, wrong in refused.items():
        if wrong:
            raise ValueError(
                f"{name} = {getattr(search, name)!r} is for machines alone and behind FeatureScaling: behind "
                "other steps SearchCV tries the values of param_grid, all (method='grid') or n_iter of them "
                "(method='random')"
            )
    lists = {}
    for name, values in search.param_grid.items():
        lists[name] = _core.axis_values(f"{name}={values}") if isinstance(values, str) else list(values)
        if not lists[name]:
            raise ValueError(f"param_grid[{name!r}] has no values")
    points = [dict(zip(lists, values)) for values in itertools.product(*lists.values())]
    if search.method == "random" and int(search.n_iter) < len(points):
        drawn = np.random.default_rng(seed_of(search.random_state)).permutation(len(points))
        points = [points[i] for i in sorted(drawn[: int(search.n_iter)])]
    return points


def _splits(
    search: Any, classes: bool, X: Any, y: Any, groups: Any
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    from sklearn import model_selection as folds

    if np.ndim(search.cv) == 1:
        return folds.PredefinedSplit(np.unique(search.cv, return_inverse=True)[1]).split()
    how = {"n_splits": search.folds(), "n_repeats": int(search.repeats)}
    seed = seed_of(search.random_state) % 2**32
    if groups is None:
        kind = folds.RepeatedStratifiedKFold if classes else folds.RepeatedKFold
        return kind(**how, random_state=seed).split(np.zeros(len(y)), y)
    drawings = [
        folds.GroupKFold(how["n_splits"], shuffle=True, random_state=(seed + i) % 2**32)
        for i in range(how["n_repeats"])
    ]
    return itertools.chain(*(one.split(np.zeros(len(y)), y, groups) for one in drawings))


def _alike(points: list[dict[str, Any]], prefix: str) -> list[list[int]]:
    """Points whose steps before the machine are the same."""
    groups: list[tuple[dict[str, Any], list[int]]] = []
    for i, point in enumerate(points):
        own = {name: value for name, value in point.items() if not name.startswith(prefix)}
        for known, members in groups:
            if all(known[name] is value or known[name] == value for name, value in own.items()):
                members.append(i)
                break
        else:
            groups.append((own, [i]))
    return [members for _, members in groups]


def _through(
    whole: Any, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> tuple[Any, Any]:
    """Rows to learn from and to judge by as the steps, learnt from the former, leave them."""
    from sklearn.utils import _safe_indexing

    seen, unseen = _safe_indexing(X, train), _safe_indexing(X, test)
    if len(whole.steps) > 1:
        before = whole[:-1]
        seen = before.fit_transform(seen, y[train])
        unseen = before.transform(unseen)
    return seen, unseen
