"""Machines of two sets of rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from mercer import KernelCCA, linear, rbf


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
