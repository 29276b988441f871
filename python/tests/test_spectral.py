"""Spectral clustering beside scikit-learn's, and under kernels that it does not have."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mercer

sklearn = pytest.importorskip("sklearn", minversion="1.6")

from sklearn.cluster import SpectralClustering  # noqa: E402
from sklearn.datasets import make_blobs, make_moons  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402


@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors", "laplacian", "polynomial"])
@pytest.mark.parametrize("assign_labels", ["kmeans", "cluster_qr"])
def test_groups_are_scikit_learns(affinity: str, assign_labels: str) -> None:
    X, _ = make_moons(150, noise=0.06, random_state=1)
    settings = {"affinity": affinity, "assign_labels": assign_labels, "gamma": 6.0, "random_state": 0}
    X = X + 3 if affinity == "polynomial" else X
    ours = mercer.SpectralClustering(2, **settings).fit(X)
    theirs = SpectralClustering(2, **settings).fit(X)
    theirs_matrix = theirs.affinity_matrix_
    if hasattr(theirs_matrix, "toarray"):
        theirs_matrix = theirs_matrix.toarray()
    np.testing.assert_allclose(ours.affinity_matrix_, theirs_matrix, rtol=1e-9, atol=1e-12)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1
    assert ours.residuals_.max() < 1e-9


@pytest.mark.parametrize("assign_labels", ["kmeans", "discretize", "cluster_qr"])
def test_a_kernel_expression_is_an_affinity(assign_labels: str) -> None:
    X, y = make_blobs(90, centers=[[0, 0], [4, 0], [0, 4]], cluster_std=0.5, random_state=0)
    kernel = mercer.rbf(gamma=2) + 0.01 * mercer.laplacian(gamma=0.5)
    machine = mercer.SpectralClustering(3, affinity=kernel, assign_labels=assign_labels).fit(X)
    np.testing.assert_allclose(machine.affinity_matrix_, kernel(X), atol=1e-12)
    assert adjusted_rand_score(machine.labels_, y) == 1
    again = mercer.SpectralClustering(3, affinity="precomputed", assign_labels=assign_labels)
    assert adjusted_rand_score(again.fit_predict(kernel(X)), y) == 1


def test_layout_is_of_eigenvectors_of_the_normalised_graph() -> None:
    X, _ = make_moons(60, noise=0.1, random_state=2)
    machine = mercer.SpectralClustering(3, gamma=3.0).fit(X)
    A = machine.affinity_matrix_ - np.diag(np.diag(machine.affinity_matrix_))
    roots = np.sqrt(A.sum(axis=1))
    values = np.linalg.eigvalsh(A / roots[:, None] / roots[None])[::-1]
    np.testing.assert_allclose(machine.eigenvalues_, values[:3], atol=1e-10)


def test_parts_that_nothing_joins_are_told_and_found() -> None:
    A = np.kron(np.eye(2), np.ones((4, 4)))
    with pytest.warns(UserWarning, match="not fully connected"):
        labels = mercer.SpectralClustering(2, affinity="precomputed").fit_predict(A)
    assert len(set(labels[:4])) == len(set(labels[4:])) == 1 and labels[0] != labels[4]


def test_what_makes_no_sense_is_refused() -> None:
    X = np.random.default_rng(0).normal(size=(12, 3))
    for settings, message in [
        ({"affinity": "linear"}, "affinity of rows .* none may be below 0"),
        ({"affinity": "precomputed"}, "square matrix, not 12 x 3"),
        ({"n_clusters": 13}, "n_clusters = 13 must be 1 to n_samples = 12"),
        ({"n_components": 0}, "n_components = 0 must be 1 to"),
        ({"assign_labels": "chance"}, "assign_labels = 'chance' must be one of"),
    ]:
        with pytest.raises(ValueError, match=message):
            mercer.SpectralClustering(**{"n_clusters": 2, **settings}).fit(X)
    lopsided = np.abs(X @ X.T)
    lopsided[0, 1] += 1
    with pytest.raises(ValueError, match="must be symmetric"):
        mercer.SpectralClustering(2, affinity="precomputed").fit(lopsided)


def test_check_estimator() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(mercer.SpectralClustering(), on_skip=None)
    assert set(SpectralClustering().get_params()) == set(mercer.SpectralClustering().get_params())
