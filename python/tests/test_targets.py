"""Targets of any scale, columns of a file, and the steps of a training."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mercer
from mercer import data

REGRESSORS = [mercer.SVR, mercer.NuSVR]


def prices(rows: int = 80) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(rows, 2))
    return X, 200_000 + 50_000 * np.sin(X[:, 0]) + 5_000 * rng.normal(size=rows)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_scaled_targets_are_the_machine_of_targets_scaled_by_hand(kind) -> None:
    X, y = prices()
    shift, scale = y.mean(), y.std()
    model = kind(C=2, gamma=0.5, target_scale="standard").fit(X, y)
    by_hand = kind(C=2, gamma=0.5).fit(X, (y - shift) / scale)
    np.testing.assert_allclose(model.predict(X), shift + scale * by_hand.predict(X), rtol=1e-7)
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("kind", REGRESSORS)
def test_targets_that_make_the_penalty_useless_are_told_of(kind) -> None:
    X, y = prices()
    with pytest.warns(UserWarning, match="target_scale='standard'.*or a larger C"):
        assert kind().fit(X, y).score(X, y) < 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(target_scale="standard").fit(X, y)
        kind().fit(X, (y - y.mean()) / y.std())


def test_a_tube_that_swallows_the_targets_is_told_of() -> None:
    X, y = prices()
    with pytest.warns(UserWarning, match="tube of epsilon = 1 .* smaller epsilon"):
        mercer.SVR(epsilon=1).fit(X, 1e-6 * y)


def test_a_rule_for_targets_that_is_none_is_refused() -> None:
    X, y = prices()
    with pytest.raises(ValueError, match="target_scale = 'wide' must be auto, none"):
        mercer.SVR(target_scale="wide").fit(X, y)


def test_one_fixed_parameter_may_be_a_bare_name() -> None:
    X = np.linspace(0, 6, 30)[:, None]
    y = np.sin(X[:, 0])
    alone = mercer.GaussianProcessRegressor(alpha=0.03, fixed="noise").fit(X, y)
    listed = mercer.GaussianProcessRegressor(alpha=0.03, fixed=["noise"]).fit(X, y)
    free = mercer.GaussianProcessRegressor(alpha=0.03).fit(X, y)
    assert alone.noise_ == listed.noise_ == 0.03 != free.noise_
    np.testing.assert_array_equal(alone.predict(X), listed.predict(X))


@pytest.mark.parametrize(
    "machine", [mercer.KernelHuberRegressor(alpha=0.1), mercer.KernelQuantileRegressor(alpha=0.1)]
)
def test_other_losses_meet_their_tolerance_and_are_refined(machine) -> None:
    X, y = prices(60)
    y = (y - y.mean()) / y.std()
    machine.set_params(tol=1e-3)
    fine = machine.fit(X, y)
    assert fine.report_.relative_gap <= 1e-10
    assert fine._model.trained()["tol"] == 1e-3
    weights = np.arange(60) % 3 + 1.0
    often = np.repeat(np.arange(60), weights.astype(int))
    machine.set_params(gamma=0.4)
    by_weight = machine.fit(X, y, sample_weight=weights).predict(X)
    np.testing.assert_allclose(by_weight, machine.fit(X[often], y[often]).predict(X), atol=1e-6)
    more = np.tile(X, (4, 1)) + np.arange(240)[:, None] * 1e-3  # beyond 200 rows: tol, and no more
    plain = machine.fit(more, np.tile(y, 4)).report_
    assert 1e-10 < plain.relative_gap <= 1e-3


def test_the_steps_of_two_points_end_at_the_machine() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=60) > 0, "up", "down")
    machine = mercer.SVC(C=2, gamma=1, tol=1e-8).fit(X, y)
    steps = mercer.smo_steps(machine, X, y)
    count = len(steps["step"])
    assert np.array_equal(steps["step"], np.arange(1, count + 1))
    assert np.all(np.diff(steps["objective"]) >= -1e-12)
    assert steps["objective"][-1] == pytest.approx(machine.report_.dual, rel=1e-6)
    clipped = np.clip(steps["unclipped"], steps["U"], steps["V"])
    np.testing.assert_allclose(steps["new_alpha_2"], clipped, atol=1e-9)
    error = steps["y_2"] * (steps["E_1"] - steps["E_2"]) / steps["curvature"]
    np.testing.assert_allclose(steps["unclipped"], steps["alpha_2"] + error, atol=1e-6)
    alpha = np.zeros(60)
    for k in range(count):
        for row, new in (("row_1", "new_alpha_1"), ("row_2", "new_alpha_2")):
            alpha[steps[row][k]] = steps[new][k]
    found = np.zeros(60)
    found[machine.support_] = np.abs(machine.dual_coef_[0])
    np.testing.assert_allclose(alpha, found, atol=1e-5)
    assert "_steps_taken" not in machine.__dict__
    with pytest.raises(TypeError, match="KernelRidge"):
        mercer.smo_steps(mercer.KernelRidge(), X, y)


def test_several_problems_have_their_steps_one_after_another() -> None:
    X, y = data.read("@iris")
    steps = mercer.smo_steps(mercer.SVC(), X, y)
    assert set(steps["problem"]) == {0, 1, 2} and np.all(np.diff(steps["problem"]) >= 0)
    assert steps["row_1"].max() < 150


def test_a_file_is_read_for_the_machine_that_knows_its_columns(tmp_path) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    kind = np.where(X[:, 0] > 0, "yes", "no")
    train, other = tmp_path / "train.csv", tmp_path / "other.csv"
    train.write_text(
        "kind,a,b,c\n" + "".join(f"{k},{r[0]},{r[1]},{r[2]}\n" for k, r in zip(kind, X.tolist()))
    )
    other.write_text(
        "c,b,kind,a\n" + "".join(f"{r[2]},{r[1]},{k},{r[0]}\n" for k, r in zip(kind, X.tolist()))
    )
    first, labels = data.read(train, label="kind")
    np.testing.assert_array_equal(first, X)
    assert labels.tolist() == kind.tolist()
    np.testing.assert_array_equal(data.read(train, label=1)[0], X)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    machine = mercer.SVC(C=10).fit(frame, kind)
    again, names = data.read(other, machine=machine, label="kind")
    np.testing.assert_array_equal(again, X)
    assert names.tolist() == kind.tolist()
    (tmp_path / "less.csv").write_text("kind,a,b\nyes,1,2\n")
    with pytest.raises(ValueError, match="c"):
        data.read(tmp_path / "less.csv", machine=machine)


def test_a_gap_that_proves_nothing_is_not_told() -> None:
    X = np.random.default_rng(2).normal(size=(50, 2))
    gaps: list[float] = []
    with pytest.warns(UserWarning, match="stationary point"):
        mercer.SVC(
            kernel="sigmoid", gamma=1, coef0=-1, callback=lambda moment: gaps.append(moment["gap"])
        ).fit(X, X[:, 0] * X[:, 1] > 0)
    assert gaps and np.all(np.isnan(gaps))
