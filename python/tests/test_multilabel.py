"""Rows with several labels each."""

from __future__ import annotations

import pathlib
import pickle
import subprocess

import numpy as np
import pytest

import mercer
from mercer import MultiLabelClassifier, rbf

PROGRAM = pathlib.Path(__file__).parents[2] / "build/bin/mercer"


def sides(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of a square, and on which sides of three lines they lie."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, 2))
    return X, np.c_[X[:, 0] < 0, X[:, 1] < 0.3, X.sum(axis=1) > -0.2].astype(int)


def test_sets_of_labels_are_learnt_and_proved() -> None:
    X, Y = sides(150, 1)
    new, truth = sides(200, 2)
    model = MultiLabelClassifier(C=30, kernel=rbf(gamma=1)).fit(X, Y)
    found = model.predict(new)
    assert found.shape == truth.shape and set(np.unique(found)) == {0, 1}
    assert np.mean(found != truth) < 0.1
    assert model.report_.converged and model.report_.relative_gap <= 1e-3
    assert model.report_.certifies == "optimum"
    scores = model.decision_function(new)
    assert scores.shape == truth.shape
    # Labels had score above those not had, on most rows.
    pairs = [(s[t == 1].min(), s[t == 0].max()) for s, t in zip(scores, truth) if 0 < t.sum() < 3]
    assert np.mean([low > high for low, high in pairs]) > 0.85


def test_saved_loaded_and_pickled_it_says_the_same(tmp_path) -> None:
    pandas = pytest.importorskip("pandas")
    X, Y = sides(80, 1)
    frame = pandas.DataFrame(Y, columns=["left", "low", "far"])
    model = MultiLabelClassifier(C=10).fit(X, frame)
    assert model.classes_.tolist() == ["left", "low", "far"]
    path = tmp_path / "tags.mercer"
    model.save(path)
    for again in (mercer.load(path), pickle.loads(pickle.dumps(model))):
        assert type(again) is MultiLabelClassifier
        assert again.classes_.tolist() == ["left", "low", "far"]
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
        assert again.report_.relative_gap == model.report_.relative_gap
    bare = MultiLabelClassifier().fit(X, Y)
    bare.save(path)
    assert mercer.load(path).classes_.tolist() == [0, 1, 2]


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program mercer is not built")
def test_the_command_line_predicts_the_same(tmp_path) -> None:
    X, Y = sides(60, 1)
    model = MultiLabelClassifier(C=10).fit(X, Y)
    model.save(tmp_path / "tags.mercer")
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", fmt="%.17g")
    done = subprocess.run(
        [PROGRAM, "predict", "tags.mercer", "rows.csv"],
        capture_output=True, text=True, cwd=tmp_path, check=True,
    )  # fmt: skip
    said = [[int(word) for word in line.split()] for line in done.stdout.split("\n")[:-1]]
    assert said == [np.flatnonzero(row).tolist() for row in model.predict(X)]


def test_one_class_a_row_is_a_label_each() -> None:
    X, Y = sides(80, 1)
    names = np.where(Y[:, 0] == 1, "left", "right")
    model = MultiLabelClassifier(C=10).fit(X, names)
    assert model.classes_.tolist() == ["left", "right"]
    assert np.mean(model.predict(X) == names) > 0.95


def test_errors_are_told() -> None:
    X, Y = sides(60, 1)
    for bad, message in (
        (dict(y=2 * Y), "1 .had. or 0"),
        (dict(y=np.zeros_like(Y)), "no ranking"),
        (dict(y=Y[:7]), "inconsistent"),
        (dict(y=None), "requires y"),
    ):
        with pytest.raises(ValueError, match=message):
            MultiLabelClassifier().fit(X, **bad)
    with pytest.raises(ValueError, match="^C = 0 must be"):
        MultiLabelClassifier(C=0).fit(X, Y)
    with pytest.warns(mercer.ConvergenceWarning, match="relative gap"):
        MultiLabelClassifier(C=1000, tol=1e-9, max_iter=2).fit(X, Y)
