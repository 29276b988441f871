"""Machines in the span of some rows."""

from __future__ import annotations

import numpy as np
import pytest

import mercer


def board(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
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
def test_classifiers_answer_as_those_of_all_rows(machine) -> None:
    X, y = board(1500)
    exact = machine.set_params(approximate=None).fit(X, y)
    answers = exact.predict(X)
    spanned = type(machine)(**{**machine.get_params(), "approximate": "nystroem(centres=300)"})
    spanned.fit(X, y)
    assert len(spanned._model.origins) <= 300
    assert np.mean(spanned.predict(X) == answers) > 0.98
    assert spanned.report_.relative_gap < 1e-2


def test_regressors_and_their_certificates() -> None:
    X, _ = board(1500)
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    for machine in (
        mercer.KernelRidge(kernel="rbf", gamma=1, alpha=0.1),
        mercer.SVR(gamma=1, C=10),
        mercer.KernelHuberRegressor(gamma=1, alpha=0.1),
    ):
        exact = machine.fit(X, y).predict(X)
        spanned = machine.set_params(approximate="nystroem(centres=200)").fit(X, y)
        assert np.abs(spanned.predict(X) - exact).max() < 0.05
    report = mercer.SVR(gamma=1, C=10, approximate="nystroem(centres=100)").fit(X, y).report_
    whole = mercer.SVR(gamma=1, C=10).fit(X, y).report_
    assert (report.certifies, whole.certifies) == ("optimum in the span", "optimum")
    assert report.figures["exact_dual"] <= whole.primal
    assert report.primal >= whole.dual


def test_a_saved_machine_answers_the_same(tmp_path) -> None:
    X, y = board(600)
    machine = mercer.SVC(gamma=10, approximate="nystroem(centres=100)").fit(X, y)
    machine.save(tmp_path / "m.mercer")
    assert (mercer.load(tmp_path / "m.mercer").predict(X) == machine.predict(X)).all()


def test_auto_takes_all_of_few_rows() -> None:
    X, y = board(400)
    machine = mercer.SVC(gamma=10, approximate="auto").fit(X, y)
    exact = mercer.SVC(gamma=10).fit(X, y)
    assert (machine.predict(X) == exact.predict(X)).all()
    found = mercer.plan(mercer.SVC(gamma=10), X, y)
    assert found.chosen["approximate"] is None
    assert "400 rows" in found.why


def test_what_cannot_be_is_refused() -> None:
    X, y = board(200)
    with pytest.raises(ValueError, match="nystroem"):
        mercer.SVC(approximate="some").fit(X, y)
    with pytest.raises(ValueError, match="all rows"):
        mercer.SearchCV(mercer.SVC(approximate="nystroem"), {"C": [1, 2]}).fit(X, y)
    with pytest.raises(ValueError, match="positive definite"):
        mercer.SVC(kernel="sigmoid", approximate="nystroem").fit(X, y)
