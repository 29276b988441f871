"""Pictures of machines and matrices; needs matplotlib.

Every function draws into ``ax`` (a new picture without it) and returns it.

Examples
--------
>>> import matplotlib
>>> matplotlib.use("Agg")
>>> from mercer import SVC, plot
>>> from mercer.data import make
>>> X, y = make("moons", n=40)
>>> ax = plot.decision_regions(SVC().fit(X, y), X, y)
>>> ax.get_title()
'SVC, 2 classes'
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("mercer.plot needs matplotlib: pip install 'mercer[plot]'") from error
    return plt.subplots(figsize=(5, 4), layout="constrained")[1]


def _grid(X: Any, resolution: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"this picture needs rows of two columns, not an array of shape {X.shape}")
    room = 0.15 * (X.max(axis=0) - X.min(axis=0)) + 1e-9
    low, high = X.min(axis=0) - room, X.max(axis=0) + room
    a, b = np.meshgrid(*(np.linspace(low[i], high[i], resolution) for i in range(2)))
    return a, b, np.c_[a.ravel(), b.ravel()]


def _mark_support(ax: Any, model: Any, X: np.ndarray) -> None:
    support = getattr(model, "support_", None)
    if support is not None and len(support) < len(X):
        points = np.asarray(X)[support]
        ax.scatter(*points.T, s=60, facecolors="none", edgecolors="black", linewidths=0.8)


def decision_regions(model: Any, X: Any, y: Any, *, ax: Any = None, resolution: int = 200) -> Any:
    """The classes over the plane, for two classes with the border and both margins, and the support
    vectors ringed."""
    ax = _axes(ax)
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    a, b, points = _grid(X, resolution)
    places = np.searchsorted(model.classes_, model.predict(points)).reshape(a.shape)
    count = len(model.classes_)
    ax.contourf(
        a, b, places, levels=np.arange(count + 1) - 0.5, cmap="tab10", vmin=0, vmax=9, alpha=0.25
    )
    if count == 2:
        f = model.decision_function(points).reshape(a.shape)
        ax.contour(
            a, b, f, levels=[-1, 0, 1], colors="black", linestyles=["--", "-", "--"], linewidths=0.8
        )
    _mark_support(ax, model, X)
    ax.scatter(*X.T, c=np.searchsorted(model.classes_, y), cmap="tab10", vmin=0, vmax=9, s=14)
    ax.set_title(f"{type(model).__name__}, {count} classes")
    return ax


def tube(model: Any, X: Any, y: Any, *, ax: Any = None, resolution: int = 400) -> Any:
    """A regression on one column with its tube: of SVR the given width, of NuSVR the one found."""
    ax = _axes(ax)
    x = np.asarray(X, dtype=float).reshape(-1)
    t = np.linspace(x.min(), x.max(), resolution)
    f = model.predict(t[:, None])
    width = model.report_.epsilon
    ax.fill_between(t, f - width, f + width, alpha=0.2, label=f"tube, ε = {width:.3g}")
    ax.plot(t, f, label=type(model).__name__)
    ax.plot(x, y, ".", color="gray", markersize=4)
    ax.plot(
        x[model.support_],
        np.asarray(y)[model.support_],
        "o",
        mfc="none",
        color="black",
        markersize=6,
    )
    ax.legend()
    return ax


def region(model: Any, X: Any, *, ax: Any = None, resolution: int = 200) -> Any:
    """The contours of a machine of one class, the edge of its region thick."""
    ax = _axes(ax)
    a, b, points = _grid(X, resolution)
    f = model.decision_function(points).reshape(a.shape)
    ax.contourf(a, b, f, levels=12, cmap="Blues", alpha=0.6)
    ax.contour(a, b, f, levels=[0], colors="darkred", linewidths=2)
    inside = model.predict(X) > 0
    ax.scatter(*np.asarray(X)[inside].T, s=10, color="black")
    ax.scatter(*np.asarray(X)[~inside].T, s=22, color="darkred", marker="x")
    ax.set_title(f"{type(model).__name__}: {np.mean(~inside):.0%} outside")
    return ax


def components(model: Any, X: Any, *, which: int = 0, ax: Any = None, resolution: int = 120) -> Any:
    """Contours of one component of a map (kernel PCA, Nyström) over the plane."""
    ax = _axes(ax)
    a, b, points = _grid(X, resolution)
    f = np.asarray(model.transform(points))[:, which].reshape(a.shape)
    ax.contourf(a, b, f, levels=16, cmap="RdBu", alpha=0.7)
    ax.scatter(*np.asarray(X).T, s=8, color="black")
    ax.set_title(f"component {which + 1}")
    return ax


def gram(kernel: Any, X: Any, *, y: Any = None, ax: Any = None) -> Any:
    """The Gram matrix as a picture, rows sorted by class where ``y`` is given."""
    ax = _axes(ax)
    order = np.arange(X.shape[0]) if y is None else np.argsort(y, kind="stable")
    image = ax.imshow(kernel(X[order]), cmap="viridis")
    ax.figure.colorbar(image, ax=ax)
    ax.set_title(str(kernel))
    return ax


def spectrum(kernel: Any, X: Any, *, ax: Any = None) -> Any:
    """The eigenvalues of the Gram matrix, descending; negative ones red."""
    ax = _axes(ax)
    values = np.linalg.eigvalsh(np.asarray(kernel(X), dtype=float))[::-1]
    place = np.arange(1, len(values) + 1)
    floor = np.abs(values).max() * 1e-16
    ax.semilogy(place, np.maximum(np.abs(values), floor), ".", markersize=4)
    negative = values < -len(values) * 1e-15 * np.abs(values).max()
    ax.semilogy(place[negative], np.abs(values[negative]), "r.", markersize=5)
    ax.set_xlabel("place")
    ax.set_ylabel("|eigenvalue|")
    ax.set_title(str(kernel))
    return ax


class Recorder:
    """A callback that keeps all moments, for `convergence`.

    Examples
    --------
    >>> from mercer import SVC, plot
    >>> from mercer.data import make
    >>> seen = plot.Recorder()
    >>> _ = SVC(C=100, callback=seen).fit(*make("moons", n=200, noise=.3))
    >>> len(seen.moments) > 0
    True
    """

    def __init__(self) -> None:
        self.moments: list[dict[str, Any]] = []

    def __call__(self, moment: dict[str, Any]) -> None:
        """Keeps one moment."""
        self.moments.append(moment)


def convergence(source: Any, *, ax: Any = None) -> Any:
    """How training went: violation and gap of a `Recorder`, or ``report_.history`` of a machine."""
    ax = _axes(ax)
    if isinstance(source, Recorder):
        steps = [m.get("steps", i) for i, m in enumerate(source.moments)]
        for name in ("violation", "gap"):
            values = [m.get(name, np.nan) for m in source.moments]
            ax.semilogy(steps, values, ".-", label=name)
        ax.set_xlabel("steps")
        ax.legend()
    else:
        ax.plot(source.report_.history, ".-")
        ax.set_xlabel("passes")
        ax.set_title(type(source).__name__)
    return ax


def steps(trace: Any, *, problem: int = 0, count: int = 8, ax: Any = None) -> Any:
    """The path of training by two points: the multipliers that moved most, step by step, of what
    `smo_steps` returned; ``problem`` is counted as there, from 0."""
    ax = _axes(ax)
    mine = np.asarray(trace["problem"]) == problem
    if not mine.any():
        raise ValueError(f"the trace has no steps of problem {problem}")
    step = np.asarray(trace["step"])[mine]
    rows = np.c_[np.asarray(trace["row_1"])[mine], np.asarray(trace["row_2"])[mine]].astype(int)
    values = np.c_[np.asarray(trace["new_alpha_1"])[mine], np.asarray(trace["new_alpha_2"])[mine]]
    paths: dict[int, list[tuple[float, float]]] = {}
    for at, pair, alphas in zip(step, rows, values):
        for row, alpha in zip(pair, alphas):
            paths.setdefault(int(row), [(0.0, 0.0)]).append((float(at), float(alpha)))

    def travelled(row: int) -> float:
        return float(np.abs(np.diff([alpha for _, alpha in paths[row]])).sum())

    for row in sorted(paths, key=lambda row: (-travelled(row), row))[:count]:
        path = [*paths[row], (float(step[-1]), paths[row][-1][1])]
        ax.step(*zip(*path), where="post", label=f"row {row}")
    ax.set_xlabel("step")
    ax.set_ylabel("α")
    ax.legend()
    return ax


def roc(model: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """True against false positives of a classifier as the threshold falls, ties in one step: of two
    classes for the last, of more for each against the others by its probability. The areas stand in
    the legend."""
    ax = _axes(ax)
    y = np.asarray(y)
    classes = list(model.classes_)
    if len(classes) == 2:
        scores = {classes[1]: np.asarray(model.decision_function(X), dtype=float)}
    else:
        scores = dict(zip(classes, np.asarray(model.predict_proba(X), dtype=float).T))
    for name, score in scores.items():
        positive = y == name
        if positive.all() or not positive.any():
            raise ValueError(f"a ROC curve needs rows of class {name!r} and of others")
        order = np.argsort(-score, kind="stable")
        last = np.r_[np.diff(score[order]) != 0, True]  # of rows with one score
        hits = np.r_[0, np.cumsum(positive[order])[last]] / positive.sum()
        alarms = np.r_[0, np.cumsum(~positive[order])[last]] / (~positive).sum()
        area = float(np.sum(np.diff(alarms) * (hits[1:] + hits[:-1]) / 2))
        ax.plot(alarms, hits, label=f"{name}, area {area:.4g}")
    ax.plot([0, 1], [0, 1], "--", color="gray", linewidth=0.8)
    ax.set_xlabel("false positives")
    ax.set_ylabel("true positives")
    ax.legend()
    return ax


def reliability(model: Any, X: Any, y: Any, *, bins: int = 10, ax: Any = None) -> Any:
    """Predicted probabilities against how often they came true, with the diagonal of perfect honesty:
    of two classes for the last, of more for the likeliest."""
    ax = _axes(ax)
    p = np.asarray(model.predict_proba(X), dtype=float)
    y, classes = np.asarray(y), np.asarray(model.classes_)
    if len(classes) == 2:
        told, true = p[:, 1], y == classes[1]
    else:
        told, true = p.max(axis=1), y == classes[p.argmax(axis=1)]
    place = np.clip(np.ceil(told * bins).astype(int) - 1, 0, bins - 1)
    filled = np.unique(place)
    predicted = [told[place == b].mean() for b in filled]
    observed = [true[place == b].mean() for b in filled]
    ax.plot([0, 1], [0, 1], "--", color="gray", linewidth=0.8)
    ax.plot(predicted, observed, "o-", label=f"{len(y)} rows")
    ax.set_xlabel("predicted")
    ax.set_ylabel("observed")
    ax.legend()
    return ax


def search_map(search: Any, x: str, y: str, *, ax: Any = None) -> Any:
    """The mean test scores of a finished grid search over two of its parameters."""
    ax = _axes(ax)
    results = search.cv_results_
    names = [f"param_{x}", f"param_{y}"]
    values = [sorted({float(v) for v in results[name]}) for name in names]
    table = np.full((len(values[1]), len(values[0])), np.nan)
    for a, b, score in zip(results[names[0]], results[names[1]], results["mean_test_score"]):
        table[values[1].index(float(b)), values[0].index(float(a))] = score
    image = ax.imshow(table, origin="lower", cmap="viridis", aspect="auto")
    ax.set_xticks(range(len(values[0])), [f"{v:g}" for v in values[0]])
    ax.set_yticks(range(len(values[1])), [f"{v:g}" for v in values[1]])
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.figure.colorbar(image, ax=ax)
    return ax
