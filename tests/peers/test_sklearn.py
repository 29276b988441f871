"""Answers of the program mercer beside those of scikit-learn, where both have the same model.

MERCER_PROGRAMS names the folder of the program.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("MERCER_PROGRAMS", ROOT / "build/bin")) / "mercer"


def mercer(*words) -> dict:
    done = subprocess.run(
        [PROGRAM, *map(str, words), "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def wave(rows: int, columns: int, seed: int):
    random = np.random.default_rng(seed)
    x = random.standard_normal((rows, columns))
    return x, np.sin(2 * x[:, 0]) + x[:, -1] + 0.2 * random.standard_normal(rows) + 3


class Files:
    """Data on their way to the program, in double precision."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder

    def put(self, name: str, x, y) -> pathlib.Path:
        path = self.folder / (name + ".npz")
        np.savez(path, X=x, y=y)
        return path

    def train(self, x, y, *words) -> dict:
        data = self.put("train", x, y)
        return mercer("train", data, self.folder / "m.mercer", "--double-precision", *words)

    def predict(self, x, *words) -> dict:
        data = self.folder / "test.npz"
        np.savez(data, X=x)
        return mercer("predict", self.folder / "m.mercer", data, *words)


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "laplacian", "linear"])
def test_ridge_is_kernel_ridge(files, kernel):
    x, y = wave(150, 3, 1)
    ours = {
        "rbf": "rbf(gamma=0.3)",
        "polynomial": "polynomial(degree=3, gamma=0.3, coef0=1)",
        "laplacian": "laplacian(gamma=0.3)",
        "linear": "linear",
    }[kernel]
    files.train(x, y, "--task", "ridge", "--kernel", ours, "--lambda", 0.3, "--no-bias")
    theirs = KernelRidge(alpha=0.3, kernel=kernel, gamma=0.3, degree=3, coef0=1).fit(x, y)
    test, _ = wave(60, 3, 2)
    np.testing.assert_allclose(files.predict(test)["labels"], theirs.predict(test), atol=1e-6)


PROCESSES = {
    "2*rbf(sigma=1.5)": ConstantKernel(2.0) * RBF(1.5),
    "1.5*matern(nu=0.5, length=2)": ConstantKernel(1.5) * Matern(2.0, nu=0.5),
    "1.5*matern(nu=1.5, length=2)": ConstantKernel(1.5) * Matern(2.0, nu=1.5),
    "1.5*matern(nu=2.5, length=2)": ConstantKernel(1.5) * Matern(2.0, nu=2.5),
    "0.5*rational_quadratic(alpha=0.8, length=1.2) + linear + 4": ConstantKernel(0.5)
    * RationalQuadratic(1.2, 0.8)
    + DotProduct(2.0),
    "rbf(sigma=2)*matern(nu=1.5, length=3) + 0.25": RBF(2.0) * Matern(3.0, nu=1.5)
    + ConstantKernel(0.25),
}


@pytest.mark.parametrize("text", PROCESSES)
def test_process_has_the_same_mean_deviation_and_evidence(files, text):
    x, y = wave(120, 2, 3)
    report = files.train(x, y, "--task", "gp", "--kernel", text, "--noise", 0.05)
    theirs = GaussianProcessRegressor(PROCESSES[text], alpha=0.05, optimizer=None).fit(x, y)
    evidence = report["certificate"]["figures"]["log_evidence"]
    assert evidence == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-6)
    test, _ = wave(50, 2, 4)
    mean, deviation = theirs.predict(test, return_std=True)
    ours = files.predict(test, "--std")
    np.testing.assert_allclose(ours["labels"], mean, atol=1e-6)
    np.testing.assert_allclose(np.ravel(ours["deviation"]["rows"]), deviation, atol=1e-6)


def test_periodic_process_in_one_column(files):
    x, y = wave(100, 1, 5)
    # ours: exp(-2 sin²(π d / period) / length²), theirs the same in one column
    report = files.train(
        x, y, "--task", "gp", "--kernel", "periodic(period=1.7, length=1.2)", "--noise", 0.1
    )
    kernel = ExpSineSquared(length_scale=1.2, periodicity=1.7)
    theirs = GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(x, y)
    evidence = report["certificate"]["figures"]["log_evidence"]
    assert evidence == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-6)


def test_search_finds_no_worse_evidence(files):
    x, y = wave(100, 2, 6)
    y = y - 3
    report = files.train(
        x, y, "--task", "gp", "--kernel", "2*rbf(sigma=1)", "--noise", 0.5, "--optimise",
        "--restarts", 2,
    )
    kernel = ConstantKernel(2.0, (1e-6, 1e6)) * RBF(1.0, (1e-6, 1e6)) + WhiteKernel(
        0.5, (1e-8, 1e6)
    )
    theirs = GaussianProcessRegressor(
        kernel, alpha=0.0, n_restarts_optimizer=2, random_state=0
    ).fit(x, y)
    evidence = report["certificate"]["figures"]["log_evidence"]
    assert evidence >= theirs.log_marginal_likelihood_value_ - 1e-4


def test_linear_k_means_is_k_means(files):
    random = np.random.default_rng(7)
    centres = np.array([[0, 0], [6, 0], [0, 6], [6, 6]])
    x = np.concatenate([c + random.standard_normal((40, 2)) for c in centres])
    report = files.train(
        x, np.zeros(len(x)), "--task", "k-means", "--kernel", "linear", "--clusters", 4,
        "--starts", 8,
    )
    theirs = KMeans(4, n_init=8, random_state=0).fit(x)
    ours = np.array(files.predict(x)["labels"])
    # the same groups under other names
    pairs = {(a, b) for a, b in zip(ours.tolist(), theirs.labels_.tolist())}
    assert len(pairs) == 4
    inertia = sum(
        ((x[ours == c] - x[ours == c].mean(axis=0)) ** 2).sum() for c in np.unique(ours)
    )
    assert inertia == pytest.approx(theirs.inertia_, rel=1e-9)
    assert report["rows"] == 160


def test_linear_logistic_machine_is_logistic_regression(files):
    random = np.random.default_rng(8)
    x = random.standard_normal((200, 3))
    y = np.where(x[:, 0] - x[:, 1] + random.standard_normal(200) > 0, 1, 2)
    files.train(
        x, y, "--task", "logistic", "--kernel", "linear", "--lambda", 0.25, "--gap", 1e-12
    )
    # Σ ℓ + λ|w|² is C Σ ℓ + |w|²/2 with C = 1 / 2λ, divided by C.
    theirs = LogisticRegression(C=2.0, tol=1e-12, max_iter=10000).fit(x, y)
    ours = np.array(files.predict(x, "--probability")["probability"]["rows"])
    np.testing.assert_allclose(ours, theirs.predict_proba(x), atol=1e-5)
