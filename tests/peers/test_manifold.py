"""Isomap, locally linear embedding and Laplacian eigenmaps beside scikit-learn's."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from sklearn.manifold import Isomap, LocallyLinearEmbedding, spectral_embedding
from sklearn.neighbors import kneighbors_graph

from test_sklearn import PROGRAM


def roll(rows: int) -> np.ndarray:
    random = np.random.default_rng(1)
    t = 3 + 6 * random.random(rows)
    return np.stack([t * np.cos(t), 4 * random.random(rows), t * np.sin(t)], axis=1)


def components(tmp_path, x: np.ndarray, function: str, count: int = 2) -> np.ndarray:
    """The first eigenvectors of the centred kernel matrix that the program makes."""
    np.save(tmp_path / "x.npy", x)
    words = ["gram", "linear", tmp_path / "x.npy", "--label", "none", "--double", "--function"]
    subprocess.run(
        [PROGRAM, *map(str, words), function, "-o", str(tmp_path / "k.npy")], check=True
    )
    k = np.load(tmp_path / "k.npy").astype(float)
    centre = np.eye(len(x)) - 1 / len(x)
    _, vectors = np.linalg.eigh(centre @ k @ centre)
    return vectors[:, ::-1][:, :count]


def peer(function: str, x: np.ndarray) -> np.ndarray:
    if function.startswith("isomap"):
        return Isomap(n_neighbors=8, n_components=2, eigen_solver="dense").fit_transform(x)
    if function.startswith("lle"):
        return LocallyLinearEmbedding(
            n_neighbors=8, n_components=2, eigen_solver="dense"
        ).fit_transform(x)
    graph = kneighbors_graph(x, 8).maximum(kneighbors_graph(x, 8).T)
    return spectral_embedding(
        graph.toarray(), n_components=2, norm_laplacian=False, eigen_solver="arpack",
        random_state=0,
    )


@pytest.mark.parametrize("function", ["isomap(8)", "lle(8)", "laplacian(8)"])
def test_components_are_the_same_up_to_sign_and_scale(tmp_path, function):
    x = roll(200)
    ours, theirs = components(tmp_path, x, function), peer(function, x)
    for a, b in zip(ours.T, theirs.T):
        assert abs(np.corrcoef(a, b)[0, 1]) == pytest.approx(1, abs=1e-6)
