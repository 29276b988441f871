"""Kernel principal components and pre-images of the program mercer beside scikit-learn's.

MERCER_PROGRAMS names the folder of the program.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
from sklearn import datasets
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.preprocessing import StandardScaler

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("MERCER_PROGRAMS", ROOT / "build/bin")) / "mercer"


def mercer(*words) -> dict:
    done = subprocess.run(
        [PROGRAM, *map(str, words), "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def put(path: pathlib.Path, x: np.ndarray) -> pathlib.Path:
    np.savez(path, X=np.ascontiguousarray(x), y=np.zeros(len(x)))
    return path


SETS = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast_cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
    "digits": datasets.load_digits,
}
KERNELS = {
    "linear": ("linear", {}),
    "rbf": ("rbf(gamma=0.05)", {"gamma": 0.05}),
    "poly": ("polynomial(degree=2, gamma=0.1, coef0=1)", {"degree": 2, "gamma": 0.1, "coef0": 1}),
    "laplacian": ("laplacian(gamma=0.05)", {"gamma": 0.05}),
}


def rows(name: str) -> np.ndarray:
    x = SETS[name](return_X_y=True)[0]
    return x[:900] / 8 - 1 if name == "digits" else StandardScaler().fit_transform(x)


def same_up_to_sign(ours: np.ndarray, theirs: np.ndarray) -> float:
    sign = np.sign((ours * theirs).sum(axis=0))
    return float(np.abs(ours * sign - theirs).max())


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", SETS)
def test_components_are_scikit_learns(tmp_path, name, kernel):
    x = rows(name)
    train, test = x[::2], x[1::2]
    text, numbers = KERNELS[kernel]
    report = mercer(
        "train", put(tmp_path / "train.npz", train), tmp_path / "m.mercer", "--task", "kpca",
        "--components", 4, "--kernel", text, "--double-precision",
    )
    assert report["certificate"]["figures"]["residual"] < 1e-9
    told = mercer(
        "transform", tmp_path / "m.mercer", put(tmp_path / "test.npz", test), "-o",
        tmp_path / "out.npz",
    )
    ours = np.load(tmp_path / "out.npz")["X"]
    theirs = KernelPCA(4, kernel="precomputed", eigen_solver="dense")
    theirs.fit(pairwise_kernels(train, metric=kernel, **numbers))
    expected = theirs.transform(pairwise_kernels(test, train, metric=kernel, **numbers))
    np.testing.assert_allclose(told["eigenvalues"], theirs.eigenvalues_, rtol=1e-8)
    assert same_up_to_sign(ours, expected) < 1e-6


def test_block_method_finds_the_same(tmp_path):
    """More rows than LAPACK is asked for: products with K alone, stored and computed anew."""
    x = datasets.load_digits(return_X_y=True)[0] / 16
    theirs = KernelPCA(8, kernel="rbf", gamma=0.1, eigen_solver="dense").fit(x)
    for memory in (1024, 4):
        report = mercer(
            "train", put(tmp_path / "x.npz", x), tmp_path / "m.mercer", "--task", "kpca",
            "--components", 8, "--kernel", "rbf(gamma=0.1)", "--double-precision", "--memory",
            memory,
        )
        assert report["certificate"]["figures"]["products"] > 0
        told = mercer(
            "transform", tmp_path / "m.mercer", tmp_path / "x.npz", "-o", tmp_path / "out.npz"
        )
        np.testing.assert_allclose(told["eigenvalues"], theirs.eigenvalues_, rtol=1e-8)
        ours = np.load(tmp_path / "out.npz")["X"]
        assert same_up_to_sign(ours, theirs.transform(x)) < 1e-6


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("name", ["iris", "wine", "digits"])
def test_preimages_lie_no_farther_than_scikit_learns(tmp_path, name, kernel):
    x = rows(name)
    text, numbers = KERNELS[kernel]
    train = x[::2][:200]
    noisy = x[1::2][:30] + 0.3 * np.random.default_rng(1).standard_normal((30, x.shape[1]))
    theirs = KernelPCA(6, kernel=kernel, fit_inverse_transform=True, alpha=0.1, **numbers)
    theirs.fit(train)
    projected = theirs.transform(noisy)
    mercer(
        "denoise", put(tmp_path / "noisy.npz", noisy), "--train", put(tmp_path / "t.npz", train),
        "--kernel", text, "--components", 6, "--double", "-o", tmp_path / "out.npz",
    )
    ours = np.load(tmp_path / "out.npz")["X"]

    # |Φ(z) − PΦ(x)|² with PΦ(x) = mean + Σ p_j V_j, V_j = Σ_i a_ij (Φ(x_i) − mean)
    k = pairwise_kernels(train, metric=kernel, **numbers)
    n = len(train)
    alpha = theirs.eigenvectors_ / np.sqrt(theirs.eigenvalues_)
    alpha = alpha - alpha.mean(axis=0)
    target = projected @ alpha.T + 1 / n

    def distance(z):
        cross = pairwise_kernels(z, train, metric=kernel, **numbers)
        own = np.array([pairwise_kernels(r[None], metric=kernel, **numbers)[0, 0] for r in z])
        square = np.einsum("ti,ij,tj->t", target, k, target)
        return own - 2 * (cross * target).sum(axis=1) + square

    mine, other = distance(ours), distance(theirs.inverse_transform(projected))
    assert (mine <= other + 1e-8 * np.abs(other).max()).all(), (mine - other).max()
