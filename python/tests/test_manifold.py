"""Isomap, locally linear embedding and Laplacian eigenmaps beside scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest

import mercer


def roll(rows: int = 150) -> np.ndarray:
    rng = np.random.default_rng(3)
    t = 1.5 * np.pi * (1 + 2 * rng.uniform(size=rows))
    return np.c_[t * np.cos(t), 10 * rng.uniform(size=rows), t * np.sin(t)]


def same_up_to_signs(a: np.ndarray, b: np.ndarray, atol: float) -> None:
    signs = np.sign((a * b).sum(axis=0))
    np.testing.assert_allclose(a * signs, b, atol=atol * np.abs(b).max())


def test_isomap_is_scikit_learns() -> None:
    manifold = pytest.importorskip("sklearn.manifold")
    X = roll()
    ours = mercer.Isomap(2, n_neighbors=7).fit_transform(X)
    theirs = manifold.Isomap(n_components=2, n_neighbors=7, eigen_solver="dense").fit_transform(X)
    same_up_to_signs(ours, theirs, 1e-6)


def test_locally_linear_embedding_is_scikit_learns() -> None:
    manifold = pytest.importorskip("sklearn.manifold")
    X = roll()
    ours = mercer.LocallyLinearEmbedding(2, n_neighbors=9).fit_transform(X)
    theirs = manifold.LocallyLinearEmbedding(
        n_components=2, n_neighbors=9, eigen_solver="dense"
    ).fit_transform(X)
    same_up_to_signs(ours, theirs, 1e-4)


def test_laplacian_eigenmaps_are_eigenvectors_of_the_laplacian() -> None:
    X = roll(80)
    machine = mercer.LaplacianEigenmaps(3, n_neighbors=6)
    found = machine.fit_transform(X)
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    near = np.argsort(distances, axis=1)[:, 1:7]
    adjacency = np.zeros((80, 80))
    np.put_along_axis(adjacency, near, 1, axis=1)
    adjacency = np.maximum(adjacency, adjacency.T)
    laplacian = np.diag(adjacency.sum(axis=1)) - adjacency
    np.testing.assert_allclose(laplacian @ found, found / machine.eigenvalues_, atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), 1, atol=1e-9)


def test_distances_may_be_those_of_a_feature_space() -> None:
    X = roll(60)
    plain = mercer.Isomap(2, n_neighbors=8).fit(X)
    wide = mercer.Isomap(2, n_neighbors=8, kernel=mercer.rbf(gamma=1e-3)).fit(X)
    assert not np.allclose(plain.embedding_, wide.embedding_)
    K = mercer.rbf(gamma=1e-3)(X)
    np.testing.assert_allclose(wide.gram_, mercer.gram_function(K, "isomap(8)"), atol=1e-12)


def test_gram_functions_and_what_they_refuse() -> None:
    K = np.array([[2.0, 1.0], [1.0, 2.0]])
    root = mercer.gram_function(K, "power(0.5)")
    np.testing.assert_allclose(root @ root, K, atol=1e-12)
    with pytest.raises(ValueError, match="isomop"):
        mercer.gram_function(K, "isomop(3)")
    with pytest.raises(ValueError, match="n_neighbors = 60"):
        mercer.Isomap(n_neighbors=60).fit(roll(60))
    with pytest.raises(ValueError, match="n_components = 0"):
        mercer.Isomap(0).fit(roll(60))
    two = np.r_[roll(30), roll(30) + 1000]
    with pytest.raises(ValueError, match="falls into 2 parts"):
        mercer.Isomap(n_neighbors=4).fit(two)


def test_lbg_begins_at_the_codes_and_lowers_the_mean() -> None:
    X = np.random.default_rng(1).uniform(size=(300, 2))
    machine = mercer.KernelVQ(radius=0.2).fit(X)
    means = machine.lbg(X)
    assert means.shape == machine.codes_.shape

    def mean_square(codes: np.ndarray) -> float:
        return float(((X[:, None] - codes[None]) ** 2).sum(axis=2).min(axis=1).mean())

    assert mean_square(means) < mean_square(machine.codes_)
    np.testing.assert_allclose(machine.lbg_mean_**2, mean_square(means), rtol=1e-5)
    # A fixed point: each is the mean of its rows.
    own = ((X[:, None] - means[None]) ** 2).sum(axis=2).argmin(axis=1)
    for c in range(len(means)):
        np.testing.assert_allclose(X[own == c].mean(axis=0), means[c], atol=1e-5)
