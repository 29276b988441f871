"""Labels spread over the graph of all rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import mercer
from mercer import LabelSpreading, rbf
from mercer.data import make
from mercer.kernels import ball


def few_labels(y: np.ndarray, each: int = 1) -> np.ndarray:
    """All labels hidden but the first ones of each class."""
    hidden = np.full(len(y), -1)
    for label in np.unique(y):
        places = np.flatnonzero(y == label)[:each]
        hidden[places] = label
    return hidden


def test_one_label_a_moon_is_enough() -> None:
    X, y = make("moons", n=200, noise=0.05, seed=3)
    y = (y > 0).astype(int)
    given = few_labels(y)
    model = LabelSpreading(kernel=rbf(gamma=30)).fit(X, given)
    assert np.mean(model.transduction_ == y) > 0.95
    assert model.residual_ < 1e-9 and model.n_unreached_ == 0
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)
    labelled = given >= 0
    alone = mercer.SVC(kernel=rbf(gamma=30)).fit(X[labelled], y[labelled]).score(X, y)
    assert alone < 0.95  # the rows without labels are what told


def test_scores_solve_the_equation(moons) -> None:
    X, y = moons
    given = few_labels(y, 3)
    alpha = 0.7
    W = rbf(gamma=2)(X)
    np.fill_diagonal(W, 0)
    root = np.sqrt(W.sum(axis=1))
    Y = np.stack([given == 0, given == 1], axis=1).astype(float)
    F = (1 - alpha) * np.linalg.solve(np.eye(len(X)) - alpha * W / np.outer(root, root), Y)
    model = LabelSpreading(kernel=rbf(gamma=2), alpha=alpha).fit(X, given)
    np.testing.assert_allclose(
        model.label_distributions_, F / F.sum(axis=1, keepdims=True), atol=1e-10
    )


def test_agrees_with_scikit_learn(moons) -> None:
    theirs = pytest.importorskip("sklearn.semi_supervised").LabelSpreading
    X, y = moons
    given = few_labels(y, 3)
    ours = LabelSpreading(gamma=5, alpha=0.5).fit(X, given)
    other = theirs(gamma=5, alpha=0.5, tol=1e-14, max_iter=10_000).fit(X, given)
    np.testing.assert_allclose(ours.label_distributions_, other.label_distributions_, atol=1e-9)
    np.testing.assert_array_equal(ours.transduction_, other.transduction_)
    np.testing.assert_array_equal(ours.classes_, other.classes_)


def test_all_kinds_of_kernels_and_rows_give_the_same(moons) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    X, y = moons
    given = few_labels(y, 3)
    kernel = rbf(gamma=5)
    want = LabelSpreading(kernel=kernel, n_neighbors=10).fit(X, given).label_distributions_
    matrix = kernel(X)
    for k, rows in (
        (lambda A, B: kernel(A, B), X),
        ("precomputed", matrix),
        (kernel, sparse.csr_array(X)),
    ):
        model = LabelSpreading(kernel=k, n_neighbors=10).fit(rows, given)
        np.testing.assert_allclose(model.label_distributions_, want, atol=1e-9)
    every = LabelSpreading(kernel=kernel).fit(X, given).label_distributions_
    assert np.abs(every - want).max() > 1e-3  # the neighbours count


def test_names_as_labels_and_rows_out_of_reach() -> None:
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    for given in (["a", "-1", "b", "-1"], np.array(["a", -1, "b", -1], dtype=object)):
        model = LabelSpreading(gamma=1).fit(X, given)
        assert model.transduction_.tolist() == ["a", "a", "b", "b"]
    far = np.r_[X, [[9.0]]]
    with pytest.warns(UserWarning, match="1 rows are reached by no label"):
        model = LabelSpreading(kernel=ball(radius=1)).fit(far, [0, -1, 1, -1, -1])
    assert model.n_unreached_ == 1
    assert model.label_distributions_[-1].tolist() == [0, 0]


def test_errors_are_the_expected_ones(moons) -> None:
    X, y = moons
    for bad in (dict(alpha=1.0), dict(alpha=0.0), dict(n_neighbors=0), dict(kernel="linear")):
        with pytest.raises(ValueError):
            LabelSpreading(**bad).fit(X, y)
    for labels, text in (
        (np.full(len(y), -1), "no labels"),
        (np.zeros(len(y)), "greater than one"),
        (y[:7], "inconsistent"),
        (np.c_[y, y], "1d array"),
        (None, "requires y"),
    ):
        with pytest.raises(ValueError, match=text):
            LabelSpreading().fit(X, labels)


@pytest.mark.parametrize("neighbors", [None, 10])
def test_other_rows_are_predicted_also_from_a_file(tmp_path, neighbors) -> None:
    X, y = make("moons", n=200, noise=0.05, seed=3)
    fresh, truth = make("moons", n=100, noise=0.05, seed=4)
    names = np.where(y > 0, "up", "down")
    given = np.where(few_labels((y > 0).astype(int)) >= 0, names, "-1")
    model = LabelSpreading(kernel=rbf(gamma=30), n_neighbors=neighbors).fit(X, given)
    assert model.score(fresh, np.where(truth > 0, "up", "down")) > 0.95
    same = np.mean(model.predict(X) == model.transduction_)
    assert same > 0.97 if neighbors else same == 1
    model.save(tmp_path / "spread.mercer")
    for again in (mercer.load(tmp_path / "spread.mercer"), pickle.loads(pickle.dumps(model))):
        assert type(again) is LabelSpreading
        np.testing.assert_array_equal(again.predict(fresh), model.predict(fresh))
        np.testing.assert_array_equal(
            again.decision_function(fresh), model.decision_function(fresh)
        )
        assert again.residual_ == model.residual_ and again.n_unreached_ == 0
        assert again.classes_.tolist() == ["down", "up"]


def test_kernels_of_every_kind_predict_alike(moons) -> None:
    X, y = moons
    given = few_labels(y, 3)
    kernel = rbf(gamma=5)
    want = LabelSpreading(kernel=kernel).fit(X, given).decision_function(X[:20])
    ours = LabelSpreading(kernel=lambda A, B: kernel(A, B)).fit(X, given)
    np.testing.assert_allclose(ours.decision_function(X[:20]), want, rtol=1e-6)
    matrix = LabelSpreading(kernel="precomputed").fit(kernel(X), given)
    np.testing.assert_allclose(matrix.decision_function(kernel(X[:20], X)), want, rtol=1e-6)
