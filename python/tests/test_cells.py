"""Machines of cells."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import mercer


def board(rows: int, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (rows, 2))
    return X, np.where(np.floor(X).sum(1) % 2 == 0, "white", "black")


@pytest.mark.parametrize(
    "machine",
    [
        mercer.SVC(gamma=10, C=10),
        mercer.NuSVC(gamma=10, nu=0.2),
        mercer.KernelLogisticRegression(gamma=10, alpha=0.01),
        mercer.SquaredHingeClassifier(gamma=10, alpha=0.01),
    ],
    ids=lambda machine: type(machine).__name__,
)
def test_classifiers_learn_in_cells(machine) -> None:
    X, y = board(1500)
    machine = type(machine)(**{**machine.get_params(), "approximate": "cells(rows=200)"}).fit(X, y)
    fresh, truth = board(500, 6)
    assert machine.score(fresh, truth) > 0.9
    assert machine.report_.certifies == "optimum of each cell"
    assert sum(cell["rows"] for cell in machine.cells_) == 1500
    assert {cell["state"] for cell in machine.cells_} <= {"learnt", "one-class"}
    learnt = [cell["report"]["dual"] for cell in machine.cells_ if cell["state"] == "learnt"]
    assert machine.report_.dual == pytest.approx(sum(learnt))
    assert list(machine.classes_) == ["black", "white"]


def test_regressors_learn_in_cells() -> None:
    X, _ = board(1500)
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    for machine in (
        mercer.KernelRidge(kernel="rbf", gamma=1, alpha=0.01),
        mercer.SVR(gamma=1, C=100, epsilon=0.01),
        mercer.KernelHuberRegressor(gamma=1, alpha=0.01),
    ):
        machine.set_params(approximate="cells(rows=200)").fit(X, y)
        assert np.abs(machine.predict(X) - y).mean() < 0.05
    both = mercer.KernelRidge(kernel="rbf", gamma=1, alpha=0.01, approximate="cells(rows=200)")
    assert both.fit(X, np.c_[y, -y]).predict(X).shape == (1500, 2)


def test_a_saved_machine_answers_the_same_and_can_be_verified(tmp_path) -> None:
    X, y = board(900)
    machine = mercer.SVC(gamma=10, approximate="cells(rows=150)").fit(X, y)
    machine.save(tmp_path / "m.mercer")
    assert (mercer.load(tmp_path / "m.mercer").predict(X) == machine.predict(X)).all()
    assert (pickle.loads(pickle.dumps(machine)).predict(X) == machine.predict(X)).all()
    assert all(check.holds for check in mercer.verify(machine, X, y))


def test_a_search_chooses_in_each_cell() -> None:
    X, y = board(900)
    search = mercer.SearchCV(
        mercer.SVC(approximate="cells(rows=200)"), {"C": [1, 30], "gamma": "1:30:log3"}, cv=3
    ).fit(X, y)
    found = search.cell_results_
    assert set(found) == {"rows", "score", "param_C", "param_gamma"}
    assert found["rows"].sum() == 900
    assert search.best_params_ == {} and search.best_score_ > 0.85
    assert search.score(*board(400, 6)) > 0.85
    chosen = [cell["C"] for cell in search.best_estimator_.cells_ if cell["state"] == "learnt"]
    assert chosen == [C for C in found["param_C"] if not np.isnan(C)]
    with pytest.raises(ValueError, match="journal"):
        mercer.SearchCV(mercer.SVC(approximate="cells"), {"C": [1]}, journal="j").fit(X, y)


def test_a_search_in_the_span_of_some_rows() -> None:
    X, y = board(600)
    search = mercer.SearchCV(
        mercer.SVC(approximate="nystroem(centres=80)"), {"C": [1, 10], "gamma": [1, 10]}, cv=3
    ).fit(X, y)
    assert search.best_score_ > 0.8
    assert len(search.best_estimator_._model.origins) <= 80
    with pytest.raises(ValueError, match="told which"):
        mercer.SearchCV(mercer.SVC(approximate="auto"), {"C": [1]}).fit(X, y)


def test_a_plan_weighs_cells() -> None:
    X, y = board(9000)
    found = mercer.plan(mercer.SVC(gamma=10, C=10), X, y)
    assert [way["approximate"] for way in found.ways][:2] == [None, "cells(rows=2000)"]
    assert found.ways[1]["certificate"] == "optimum of each cell"
    assert 0 <= found.ways[1]["expected_error"] < 0.2


def test_what_cannot_be_is_refused() -> None:
    X, y = board(300)
    with pytest.raises(ValueError, match="cells"):
        mercer.SVC(approximate="cells(rows=3)").fit(X, y)
    with pytest.raises(ValueError, match="expansion"):
        mercer.SVC(approximate="cells(rows=50)", probability=True).fit(X, y)
    with pytest.raises(ValueError, match="cells"):
        mercer.SVC(approximate="cells(rows=50)").fit(X, y).reduced(10)
