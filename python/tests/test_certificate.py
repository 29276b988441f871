"""Certificates: what is claimed, what is proved, and a checker that shares no code with us."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import pytest

import mercer

CHECKER = pathlib.Path(__file__).parents[2] / "tools" / "check_certificate.py"
KERNELS = ("linear", "rbf(gamma=0.7)", "polynomial(degree=2, gamma=0.5)")


def machines(kernel):
    settings = dict(kernel=kernel, precision="double")
    return {
        "svc": mercer.SVC(C=3, **settings),
        "nu-svc": mercer.NuSVC(nu=0.4, **settings),
        "svr": mercer.SVR(C=3, **settings),
        "nu-svr": mercer.NuSVR(C=3, nu=0.3, **settings),
        "one-class": mercer.OneClassSVM(nu=0.3, **settings),
        "svdd": mercer.SVDD(nu=0.3, **settings),
    }


def write_table(path, X, y) -> None:
    lines = [",".join(map(repr, [*map(float, row), label])) for row, label in zip(X, y)]
    path.write_text("a,b,label\n" + "\n".join(lines) + "\n")


def independent(model, table):
    """What the checker finds, and its exit code."""
    done = subprocess.run(
        [sys.executable, str(CHECKER), str(model), str(table), "--json"],
        capture_output=True,
        text=True,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout), done.returncode


def test_the_checker_can_be_read_at_a_sitting() -> None:
    text = CHECKER.read_text()
    assert len(text.splitlines()) <= 200
    assert "import mercer" not in text


@pytest.mark.parametrize("kernel", KERNELS)
def test_an_independent_checker_finds_the_same_brackets(kernel, moons, tmp_path) -> None:
    X, side = moons
    values = np.sin(3 * X[:, 0]) + X[:, 1]
    for task, machine in machines(kernel).items():
        y = values if task.endswith("svr") else side
        machine.fit(X, y)
        machine.save(str(tmp_path / "m.mercer"))
        write_table(tmp_path / "t.csv", X, y.tolist())
        (found,), code = independent(tmp_path / "m.mercer", tmp_path / "t.csv")
        (ours,) = mercer.verify(machine, X, y, rigorous=True)
        assert code == 0 and found["agrees"] and ours.holds, (task, found, ours.broken)
        # A single class whose mean is the origin has an optimum of 0, up to rounding.
        slack = 1e-7 * max(abs(found["dual"]), abs(found["primal"]), 1e-3)
        assert found["dual"] == pytest.approx(ours.found.dual, abs=slack)
        assert found["primal"] == pytest.approx(ours.found.primal, abs=slack)
        low, high = ours.proved
        assert low <= high
        assert low <= found["primal"] + slack and high >= found["dual"] - slack


def test_an_independent_checker_knows_several_classes_and_hard_margins(tmp_path) -> None:
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 2)) + 2.0 * np.c_[y == 1, y == 2]
    machine = mercer.SVC(C=5, kernel="rbf(gamma=0.5)").fit(X, y)
    machine.save(str(tmp_path / "m.mercer"))
    write_table(tmp_path / "t.csv", X, y.tolist())
    found, code = independent(tmp_path / "m.mercer", tmp_path / "t.csv")
    assert code == 0 and len(found) == 3
    for part, ours in zip(found, mercer.verify(machine, X, y)):
        assert part["dual"] == pytest.approx(ours.found.dual, rel=1e-6)
    other = machine._model.coefficients  # the same file with one number changed is found out
    data = (tmp_path / "m.mercer").read_bytes()
    largest = other[0, np.argmax(np.abs(other[0]))]
    changed = data.replace(largest.tobytes(), (largest * 1.5).tobytes(), 1)
    assert changed != data
    (tmp_path / "m.mercer").write_bytes(changed)
    assert independent(tmp_path / "m.mercer", tmp_path / "t.csv")[1] == 1


def test_a_stationary_point_has_no_gap_and_warns_once(moons, tmp_path) -> None:
    X, y = moons
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        machine = mercer.SVC(kernel=mercer.sigmoid(gamma=1, coef0=-1)).fit(X, y)
    assert sum("stationary point" in str(w.message) for w in told) == 1
    report = machine.report_
    assert report.certifies == "stationary point" and report.convexity == "refuted"
    assert np.isnan(report.gap) and np.isnan(report.relative_gap) and np.isnan(report.primal)
    (found,) = mercer.verify(machine, X, y)
    assert found.holds and found.found.certifies == "stationary point"
    with pytest.raises(ValueError, match="sigmoid"):
        mercer.verify(machine, X, y, rigorous=True)
    machine.save(str(tmp_path / "m.mercer"))
    write_table(tmp_path / "t.csv", X, y.tolist())
    (other,), code = independent(tmp_path / "m.mercer", tmp_path / "t.csv")
    assert code == 3 and other["primal"] is None and other["curvature"] < 0


def test_matrices_of_positive_kernels_are_known_from_their_eigenvalues(moons) -> None:
    X, y = moons
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
        report = mercer.SVC(kernel="precomputed").fit(K, y).report_
        assert report.certifies == "optimum" and report.convexity == "on the sample"
        assert mercer.KernelRidge(kernel="precomputed").fit(K, y).report_.certifies == "optimum"
        assert mercer.SVC().fit(X, y).report_.convexity == "by rule"
