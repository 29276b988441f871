"""Pictures: they are drawn, and show what they say."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import mercer  # noqa: E402
from mercer import gallery, plot  # noqa: E402


def test_gallery_draws_every_picture(tmp_path) -> None:
    paths = gallery.draw(tmp_path)
    assert len(paths) == len(gallery.PICTURES) >= 12
    assert all(path.stat().st_size > 4000 for path in paths)
    assert (tmp_path / "README.md").read_text().count("![") == len(paths)
    assert gallery.main([]) == 2


def test_regions_need_two_columns(moons) -> None:
    X, y = moons
    wide = np.c_[X, X]
    with pytest.raises(ValueError, match="two columns"):
        plot.decision_regions(mercer.SVC().fit(wide, y), wide, y)


def test_tube_shows_the_width_found() -> None:
    X = np.linspace(0, 6, 60)[:, None]
    model = mercer.NuSVR(nu=0.3).fit(X, np.sin(X[:, 0]) + 0.1 * np.cos(40 * X[:, 0]))
    labels = plot.tube(model, X, np.sin(X[:, 0])).get_legend().get_texts()
    assert f"{model.report_.epsilon:.3g}" in labels[0].get_text()


def test_search_map() -> None:
    search = pytest.importorskip("sklearn.model_selection").GridSearchCV(
        mercer.SVC(), {"C": [0.1, 1.0], "gamma": [0.1, 1.0, 10.0]}, cv=2
    )
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    search.fit(X, X[:, 0] > 0)
    image = plot.search_map(search, "C", "gamma").get_images()[0].get_array()
    assert image.shape == (3, 2) and np.isfinite(image).all()


def test_roc_has_the_areas_that_scikit_learn_finds():
    metrics = pytest.importorskip("sklearn.metrics")
    X, y = mercer.data.make("moons", n=120, noise=0.5)
    model = mercer.SVC(C=1).fit(X, y)
    ax = plot.roc(model, X, y)
    area = float(ax.get_legend().get_texts()[0].get_text().split("area ")[1])
    assert area == pytest.approx(metrics.roc_auc_score(y, model.decision_function(X)), abs=1e-4)
    curve = ax.get_lines()[0].get_xydata()
    assert tuple(curve[0]) == (0, 0) and tuple(curve[-1]) == (1, 1)
    with pytest.raises(ValueError, match="others"):
        plot.roc(model, X[y == 1], y[y == 1])


def test_roc_of_scores_that_are_all_alike_is_the_diagonal():
    class Constant:
        classes_ = np.array([0, 1])

        def decision_function(self, X):
            return np.zeros(len(X))

    curve = plot.roc(Constant(), np.zeros((6, 1)), np.array([0, 1, 0, 1, 0, 1])).get_lines()[0]
    assert curve.get_xydata().tolist() == [[0, 0], [1, 1]]


def test_reliability_is_drawn_of_the_rows_of_each_bin():
    class Told:
        classes_ = np.array(["a", "b"])

        def predict_proba(self, X):
            return np.c_[1 - X[:, 0], X[:, 0]]

    X = np.array([[0.2], [0.2], [0.2], [0.8], [0.8]])
    line = plot.reliability(Told(), X, np.array(["a", "a", "b", "b", "b"]), bins=5).get_lines()[1]
    assert np.allclose(line.get_xydata(), [[0.2, 1 / 3], [0.8, 1]])


def test_steps_end_at_the_multipliers_found():
    X, y = mercer.data.make("moons", n=40, noise=0.2)
    machine = mercer.SVC(C=2, tol=1e-6)
    trace = mercer.smo_steps(machine, X, y)
    machine.fit(X, y)
    alphas = dict(zip(machine.support_, np.abs(machine.dual_coef_[0])))
    for line in plot.steps(trace, count=4).get_lines():
        row = int(line.get_label().split()[1])
        assert line.get_ydata()[-1] == pytest.approx(alphas.get(row, 0), abs=1e-3)
    with pytest.raises(ValueError, match="problem 2"):
        plot.steps(trace, problem=2)
