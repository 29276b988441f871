"""Machines of two sets of rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from mercer import KernelCCA, KernelDependency, KernelRidge, linear, rbf


def circles(seed: int, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Points of a circle, and the points at twice their angle."""
    t = np.random.default_rng(seed).uniform(0, 2 * np.pi, n)
    return (np.column_stack([np.cos(k * t), np.sin(k * t)]) for k in (1, 2))


def test_finds_on_new_rows_what_no_linear_function_sees() -> None:
    X, Y = circles(0)
    new_x, new_y = circles(1)
    cca = KernelCCA(2, kernel=rbf(gamma=1.0)).fit(X, Y)
    assert cca.score(new_x, new_y) > 0.95
    assert abs(KernelCCA(1, kernel=linear()).fit(X, Y).score(new_x, new_y)) < 0.3
    f, g = cca.transform(X, Y)
    assert f.shape == g.shape == (200, 2)
    np.testing.assert_allclose(f.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(f.std(axis=0), 1, atol=1e-9)
    for pair in range(2):
        correlation = np.corrcoef(f[:, pair], g[:, pair])[0, 1]
        assert correlation == pytest.approx(cca.correlations_[pair], abs=1e-9)


def test_linear_kernels_without_penalty_are_the_classical_ones() -> None:
    random = np.random.default_rng(3)
    X = random.normal(size=(80, 3))
    Y = X[:, :2] @ random.normal(size=(2, 2)) + random.normal(size=(80, 2))
    cca = KernelCCA(2, kernel="linear", kappa=0.0).fit(X, Y)
    a, b = (np.linalg.qr(M - M.mean(axis=0))[0] for M in (X, Y))
    np.testing.assert_allclose(cca.correlations_, np.linalg.svd(a.T @ b)[1][:2], atol=1e-9)


def test_survives_pickling_and_refuses_what_does_not_match() -> None:
    X, Y = circles(0, 50)
    cca = KernelCCA(1, kernel=rbf(gamma=1.0), kernel_y=rbf(gamma=0.5)).fit(X, Y)
    again = pickle.loads(pickle.dumps(cca))
    np.testing.assert_array_equal(again.transform(X, Y)[1], cca.transform(X, Y)[1])
    with pytest.raises(ValueError, match="50 rows of X and 7 of Y"):
        KernelCCA().fit(X, Y[:7])
    with pytest.raises(ValueError, match="kappa"):
        KernelCCA(kappa=-1.0).fit(X, Y)


def bow(seed: int, n: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """A point of the line, and where it lies on a curve of the plane."""
    t = np.random.default_rng(seed).uniform(-2, 2, size=(n, 1))
    return t, np.c_[np.sin(2 * t), t**2 / 2]


def test_a_dependency_answers_with_rows_it_has_not_seen() -> None:
    X, Y = bow(0)
    new, truth = bow(1, 30)
    model = KernelDependency(20, kernel=rbf(gamma=2.0), kernel_y=rbf(gamma=0.5), alpha=1e-3)
    assert model.fit(X, Y) is model and 0.99 < model.output_explained_ <= 1
    assert np.abs(model.predict(new) - truth).max() < 0.1
    assert model.score(new, truth) > 0.99
    positions, distances = model.nearest(new, truth, return_distance=True)
    assert np.mean(positions == np.arange(30)) > 0.8
    np.testing.assert_array_equal(model.nearest(new, truth), positions)
    far = model.nearest(new, truth + 3, return_distance=True)[1]
    assert (far > distances).all()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(new), model.predict(new))


def test_a_dependency_of_linear_outputs_is_ridge_regression() -> None:
    X, Y = bow(0)
    told = dict(n_components=None, kernel=rbf(gamma=2.0), kernel_y="linear", alpha=0.1)
    model = KernelDependency(**told).fit(X, Y)
    ridge = KernelRidge(kernel=rbf(gamma=2.0), alpha=0.1, fit_intercept=True).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), ridge.predict(X), atol=1e-6)
    one = KernelDependency(**told).fit(X, Y[:, 0])
    np.testing.assert_allclose(one.predict(X), ridge.predict(X)[:, 0], atol=1e-6)


def test_a_dependency_chooses_its_penalty_and_knows_outputs_by_their_matrix() -> None:
    X, Y = bow(0)
    told = dict(n_components=20, kernel=rbf(gamma=2.0), alphas=[1e-3, 0.1, 1e3])
    model = KernelDependency(kernel_y=rbf(gamma=0.5), **told).fit(X, Y)
    assert model.alpha_ in (1e-3, 0.1)
    K = rbf(gamma=0.5)
    other = KernelDependency(kernel_y="precomputed", **told).fit(X, K(Y))
    new, truth = bow(1, 30)
    np.testing.assert_array_equal(other.nearest(new, K(truth, Y)), model.nearest(new, truth))
    with pytest.raises(ValueError):
        other.predict(new)


def test_a_dependency_refuses_what_does_not_match() -> None:
    X, Y = bow(0, 20)
    with pytest.raises(ValueError, match="inconsistent"):
        KernelDependency().fit(X, Y[:7])
    with pytest.raises(ValueError, match="n_components = 0"):
        KernelDependency(0).fit(X, Y)
    with pytest.raises(ValueError, match="alpha = -1"):
        KernelDependency(alpha=-1.0).fit(X, Y)
    with pytest.raises(TypeError, match="expressions"):
        KernelDependency(kernel=lambda A, B: A @ B.T).fit(X, Y)
    model = KernelDependency().fit(X, Y)
    with pytest.raises(ValueError, match="3 columns"):
        model.nearest(X, np.ones((4, 3)))
    with pytest.raises(ValueError, match="fixed-point"):
        KernelDependency(preimage="fixpoint").fit(X, Y).predict(X)
