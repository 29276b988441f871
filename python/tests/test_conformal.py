"""Sets, intervals and p-values that hold as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

import mercer
from mercer import outlier_p_values, prediction_intervals, prediction_sets


def three_clouds(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping classes, the last of them rare."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(rows) % 10 == 0, 2, np.arange(rows) % 2)
    centres = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 2.0]])
    return rng.normal(size=(rows, 2)) + centres[y], np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize(
    "machine",
    [mercer.SVC(), mercer.SVC(probability=True), mercer.ParzenClassifier()],
    ids=["pairs", "probabilities", "means"],
)
def test_sets_cover_the_true_class(machine) -> None:
    X, y = three_clouds(300, 0)
    aside, new = three_clouds(1000, 1), three_clouds(4000, 2)
    machine.fit(X, y)
    places = np.searchsorted(machine.classes_, new[1])
    sizes = []
    for coverage in (0.6, 0.9, 0.97):
        sets = prediction_sets(machine, new[0], *aside, coverage=coverage)
        assert sets.dtype == bool and sets.shape == (4000, 3)
        # Four standard deviations of what 1000 rows aside and 4000 new ones leave to chance.
        slack = 4 * np.sqrt(coverage * (1 - coverage) * (1 / 1000 + 1 / 4000)) + 1 / 1000
        assert abs(sets[np.arange(4000), places].mean() - coverage) < slack
        sizes.append(sets.sum(axis=1).mean())
    assert sizes == sorted(sizes) and sizes[0] < sizes[2]
    within = prediction_sets(machine, new[0], *aside, coverage=0.9, by_class=True)
    for c in range(3):
        assert within[places == c, c].mean() > 0.8


def noisy_sine(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 6, size=(rows, 1))
    return X, np.sin(X[:, 0]) + rng.normal(scale=0.2, size=rows)


@pytest.mark.parametrize("name", ["SVR", "KernelRidge", "KernelHuberRegressor"])
def test_intervals_cover_the_true_number(name) -> None:
    machine = getattr(mercer, name)(kernel="rbf", gamma=1.0).fit(*noisy_sine(200, 0))
    aside, (X, y) = noisy_sine(1000, 1), noisy_sine(4000, 2)
    for coverage in (0.5, 0.9):
        low, high = prediction_intervals(machine, X, *aside, coverage=coverage).T
        slack = 4 * np.sqrt(coverage * (1 - coverage) * (1 / 1000 + 1 / 4000)) + 1 / 1000
        assert abs(np.mean((low <= y) & (y <= high)) - coverage) < slack
        np.testing.assert_allclose((low + high) / 2, machine.predict(X), atol=1e-5)
    # The threshold is the 901st of 1000 errors.
    errors = np.sort(np.abs(machine.predict(aside[0]) - aside[1]))
    np.testing.assert_allclose((high - low) / 2, errors[900], atol=1e-5)


def test_intervals_of_a_process_are_wider_where_it_knows_less() -> None:
    X, y = noisy_sine(60, 0)
    left = X[:, 0] < 3
    gp = mercer.GaussianProcessRegressor(alpha=0.04, optimizer=None).fit(X[left], y[left])
    for scaled, wider in ((False, False), (True, True)):
        band = prediction_intervals(gp, [[1.0], [5.5]], *noisy_sine(200, 1), scaled=scaled)
        widths = np.diff(band, axis=1).ravel()
        assert (widths[1] > 1.5 * widths[0]) == wider


def test_p_values_are_uniform_for_usual_rows() -> None:
    rng = np.random.default_rng(0)
    train, aside, new = (rng.normal(size=(n, 2)) for n in (100, 500, 2000))
    for machine in (mercer.OneClassSVM(nu=0.2), mercer.SVDD(), mercer.ParzenRegion()):
        p = outlier_p_values(machine.fit(train), new, aside)
        for level in (0.05, 0.3):
            assert abs(np.mean(p <= level) - level) < 0.1
        assert outlier_p_values(machine, [[30.0, 30.0]], aside)[0] == pytest.approx(1 / 501)


def test_too_few_rows_promise_nothing() -> None:
    X, y = noisy_sine(50, 0)
    machine = mercer.KernelRidge(kernel="rbf").fit(X, y)
    assert np.isinf(prediction_intervals(machine, X, X[:5], y[:5], coverage=0.9)).all()


def test_kernels_by_their_values_alone(moons) -> None:
    X, y = moons
    kernel = mercer.rbf(gamma=2)
    want = prediction_sets(mercer.SVC(kernel=kernel).fit(X[:60], y[:60]), X, X[60:], y[60:])
    machine = mercer.SVC(kernel=lambda A, B: kernel(A, B)).fit(X[:60], y[:60])
    np.testing.assert_array_equal(prediction_sets(machine, X, X[60:], y[60:]), want)


def test_errors_are_the_expected_ones(moons) -> None:
    X, y = moons
    machine = mercer.SVC().fit(X, y)
    ridge = mercer.KernelRidge().fit(X, y)
    with pytest.raises(mercer.NotFittedError):
        prediction_sets(mercer.SVC(), X, X, y)
    with pytest.raises(TypeError, match="estimator of mercer"):
        prediction_sets("SVC", X, X, y)
    for wrong, text in (
        (lambda: prediction_sets(machine, X, X, y + 5), "knows no class"),
        (lambda: prediction_sets(machine, X, X, y[:5]), "inconsistent"),
        (lambda: prediction_sets(machine, X, X, y, coverage=1.0), "coverage"),
        (lambda: prediction_sets(machine, X, X[:1], y[:1], by_class=True), "no row of class 1"),
        (lambda: prediction_sets(ridge, X, X, y), "classifiers"),
        (lambda: prediction_intervals(machine, X, X, y), "intervals"),
        (lambda: prediction_intervals(ridge, X, X, y[:5]), "inconsistent"),
        (lambda: prediction_intervals(ridge, X, X, y, scaled=True), "Gaussian process"),
        (lambda: outlier_p_values(ridge, X, X), "label|p-values"),
        (lambda: prediction_sets(machine, np.ones((2, 3)), X, y), "3 features"),
    ):
        with pytest.raises(ValueError, match=text):
            wrong()
