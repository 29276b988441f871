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
    with pytest.raises(ValueError, match="positive definite"):
        mercer.SVC(kernel="sigmoid", approximate="nystroem").fit(X, y)


def test_components_of_the_span_are_nearly_those_of_all_rows() -> None:
    X, _ = board(1200)
    exact = mercer.KernelPCA(4, kernel="rbf", gamma=0.3).fit(X)
    spanned = mercer.KernelPCA(4, kernel="rbf", gamma=0.3, approximate="nystroem(centres=150)").fit(X)
    assert np.allclose(spanned.eigenvalues_, exact.eigenvalues_, rtol=1e-3)
    assert (spanned.eigenvalues_ <= exact.eigenvalues_ * (1 + 1e-6)).all()
    # Each up to its sign.
    ours, theirs = spanned.transform(X), exact.transform(X)
    signs = np.sign((ours * theirs).sum(0))
    assert np.abs(ours * signs - theirs).max() < 0.02
    assert not hasattr(spanned, "eigenvectors_")
    with pytest.raises(ValueError, match="leave one of them out"):
        mercer.KernelPCA(2, fit_inverse_transform=True, approximate="nystroem").fit(X)


def test_a_process_in_the_span_has_deviations_and_bounds_its_evidence() -> None:
    X, _ = board(900)
    y = np.sin(2 * X[:, 0]) * X[:, 1] + np.random.default_rng(1).normal(0, 0.1, len(X))
    kernel = mercer.kernels.rbf(sigma=1)
    exact = mercer.GaussianProcessRegressor(kernel, alpha=0.01, optimizer=None).fit(X, y)
    spanned = mercer.GaussianProcessRegressor(
        kernel, alpha=0.01, optimizer=None, approximate="nystroem(centres=120)"
    ).fit(X, y)
    evidence = exact.log_marginal_likelihood()
    low, high = spanned.evidence_bounds_
    assert evidence - 0.5 < low <= evidence <= high < evidence + 100
    # What the span leaves is taken off, or the bound would be one of another kernel.
    fewer = spanned.set_params(approximate="nystroem(centres=60)").fit(X, y).evidence_bounds_
    assert fewer[0] < low and fewer[1] > high
    spanned.set_params(approximate="nystroem(centres=120)").fit(X, y)
    there = np.array([[0.3, -0.4], [5.0, 5.0]])
    mean, deviation = spanned.predict(there, return_std=True)
    wanted, wide = exact.predict(there, return_std=True)
    assert np.allclose(mean, wanted, atol=0.01)
    assert np.allclose(deviation, wide, atol=0.01)
    with pytest.raises(ValueError, match="return_std"):
        spanned.predict(there, return_cov=True)
    found = mercer.GaussianProcessRegressor(
        kernel, alpha=0.5, approximate="nystroem(centres=120)"
    ).fit(X, y)
    assert found.noise_ == pytest.approx(0.01, rel=0.5)
