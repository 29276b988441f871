"""Kernel principal components: agreement, the way back, and what is left over."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import mercer
from mercer import KernelPCA, rbf

X = np.random.default_rng(0).normal(size=(120, 4))


def test_components_are_orthogonal_and_certified() -> None:
    pca = KernelPCA(5, kernel=rbf(gamma=0.2)).fit(X)
    F = pca.transform(X)
    np.testing.assert_allclose(F.T @ F, np.diag(pca.eigenvalues_), atol=1e-8)
    np.testing.assert_allclose(F.mean(axis=0), 0, atol=1e-10)
    assert (pca.residuals_ < 1e-10 * pca.eigenvalues_[0]).all()
    assert 0 < pca.explained_variance_ratio_.sum() < 1
    white = KernelPCA(5, kernel=rbf(gamma=0.2), whiten=True).fit_transform(X)
    np.testing.assert_allclose((white**2).mean(axis=0), 1, atol=1e-8)
    plain = KernelPCA(kernel=rbf(gamma=0.2), center=False).fit_transform(X)
    np.testing.assert_allclose(plain @ plain.T, rbf(gamma=0.2)(X), atol=1e-8)


def test_few_components_of_many_rows_come_from_products_alone() -> None:
    many = np.random.default_rng(1).normal(size=(1500, 3))
    pca = KernelPCA(4, kernel=rbf(gamma=0.3), precision="double").fit(many)
    assert pca.report_.figures["products"] > 0
    values = np.linalg.eigvalsh(_centred(rbf(gamma=0.3)(many)))[::-1][:4]
    np.testing.assert_allclose(pca.eigenvalues_, values, rtol=1e-9)


def _centred(K: np.ndarray) -> np.ndarray:
    return K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()


def test_all_kinds_of_kernels_give_the_same() -> None:
    kernel = rbf(gamma=0.2)
    a = KernelPCA(3, kernel=kernel).fit(X)
    b = KernelPCA(3, kernel=mercer.function(lambda P, Q: kernel(P, Q))).fit(X)
    c = KernelPCA(3, kernel="precomputed").fit(kernel(X))
    new = X[:7] + 0.1
    np.testing.assert_allclose(a.transform(new), b.transform(new), atol=1e-9)
    np.testing.assert_allclose(a.transform(new), c.transform(kernel(new, X)), atol=1e-9)
    with pytest.raises(ValueError, match="no pre-images"):
        c.inverse_transform(c.transform(kernel(new, X)))


def test_the_way_back() -> None:
    linear = KernelPCA(4).fit(X)
    np.testing.assert_allclose(linear.inverse_transform(linear.transform(X)), X, atol=1e-8)
    pca = KernelPCA(60, kernel=rbf(gamma=0.2)).fit(X)
    back = pca.inverse_transform(pca.transform(X[:20]))
    assert np.square(back - X[:20]).mean() < 0.05 * np.square(X).mean()
    assert pca.preimage_distances_.shape == (20,)
    for method in ("fixed-point", "gradient", "distance", "regression"):
        other = KernelPCA(60, kernel=rbf(gamma=0.2), preimage=method).fit(X)
        other.inverse_transform(other.transform(X[:20]))
        assert (pca.preimage_distances_ <= other.preimage_distances_ + 1e-9).all(), method
    with pytest.raises(ValueError, match="components"):
        pca.inverse_transform(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="fixed-point"):
        KernelPCA(2, kernel="rbf", preimage="fixpoint").fit(X).inverse_transform(np.zeros((1, 2)))


def test_novelty_and_pickles() -> None:
    pca = KernelPCA(30, kernel=rbf(gamma=0.2)).fit(X)
    error = pca.reconstruction_error(np.r_[X[:5], [[9.0, 9.0, 9.0, 9.0]]])
    assert error[-1] > 3 * error[:5].max()
    again = pickle.loads(pickle.dumps(pca))
    np.testing.assert_array_equal(again.transform(X), pca.transform(X))


def test_rows_that_do_not_vary_are_refused() -> None:
    with pytest.raises(ValueError, match="do not vary"):
        mercer.KernelPCA(kernel="rbf").fit(np.ones((5, 2)))
