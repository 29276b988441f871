"""What `tol` promises: that much or better, at a cost in proportion, and sharp answers on few rows."""

from __future__ import annotations

import numpy as np
import pytest

import mercer
from mercer._common import base

MACHINES = [
    mercer.SVC(C=10),
    mercer.NuSVC(nu=0.3),
    mercer.SVR(C=10),
    mercer.NuSVR(C=10),
    mercer.OneClassSVM(nu=0.2),
    mercer.SVDD(nu=0.2),
]


def problem(rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(rows, 3))
    return X, (X[:, 0] + rng.normal(size=rows) > 0).astype(float)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: type(m).__name__)
def test_a_weight_of_two_is_two_rows_whatever_the_tolerance(machine) -> None:
    X, y = problem()
    weights = np.arange(60) % 3 + 1.0
    often = np.repeat(np.arange(60), weights.astype(int))
    for tol in (1e-1, 1e-3):
        machine.set_params(tol=tol, gamma=0.4)
        by_weight = machine.fit(X, y, sample_weight=weights)._decision(X)
        repeated = machine.fit(X[often], y[often])._decision(X)
        np.testing.assert_allclose(by_weight, repeated, atol=1e-7)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("tol", [1e-1, 1e-6])
def test_a_tolerance_costs_at_most_about_twice_itself(machine, tol, monkeypatch) -> None:
    X, y = problem(200)
    machine.set_params(tol=tol, kernel="linear")
    fine = machine.fit(X, y).report_
    monkeypatch.setattr(base, "TINY", 0)
    plain = machine.fit(X, y).report_
    assert fine.converged and fine.kkt_violation <= max(tol, 1e-10)
    assert fine.kkt_violation <= plain.kkt_violation
    assert fine.iterations <= 2 * plain.iterations + 2500
    machine.set_params(kernel="rbf")


def test_limits_turn_the_refinement_off() -> None:
    X, y = problem()
    for told in (dict(max_iter=100_000), dict(precision="single")):
        assert 1e-10 < mercer.SVC(C=10, tol=1e-1, **told).fit(X, y).report_.kkt_violation <= 1e-1
    assert mercer.SVC(C=10, tol=1e-1).fit(X, y).report_.kkt_violation <= 1e-10


def test_refined_machines_keep_their_probabilities() -> None:
    X, y = problem()
    model = mercer.SVC(probability=True).fit(X, y)
    assert model.report_.kkt_violation <= 1e-10
    assert model.predict_proba(X).shape == (60, 2)
