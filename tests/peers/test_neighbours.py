"""Nearest neighbours and Gaussian process classification beside scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from test_sklearn import Files, files, mercer, wave  # noqa: F401


def blobs(rows: int, classes: int, seed: int):
    random = np.random.default_rng(seed)
    y = np.arange(rows) % classes
    centres = 1.5 * np.random.default_rng(99).standard_normal((classes, 3))
    return centres[y] + random.standard_normal((rows, 3)), y


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("k", [1, 4, 7])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_neighbours_vote_alike(files: Files, classes, k, weights):  # noqa: F811
    x, y = blobs(150, classes, 1)
    test, _ = blobs(80, classes, 2)
    files.train(
        x, y, "--task", "knn", "--kernel", "linear", "--neighbours", k, "--vote", weights
    )
    theirs = KNeighborsClassifier(k, weights=weights).fit(x, y)
    ours = files.predict(test, "--probability")
    assert list(map(int, ours["labels"])) == theirs.predict(test).tolist()
    np.testing.assert_allclose(
        ours["probability"]["rows"], theirs.predict_proba(test), atol=1e-6
    )


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_neighbours_have_the_same_mean(files: Files, weights):  # noqa: F811
    x, y = wave(150, 3, 3)
    test, _ = wave(60, 3, 4)
    files.train(
        x, y, "--task", "knn-regression", "--kernel", "rbf(gamma=0.01)", "--neighbours", 6,
        "--vote", "uniform",
    )
    theirs = KNeighborsRegressor(6).fit(x, y)  # rbf orders rows as distances do
    np.testing.assert_allclose(files.predict(test)["labels"], theirs.predict(test), atol=1e-9)
    files.train(
        x, y, "--task", "knn-regression", "--kernel", "linear", "--neighbours", 6, "--vote", weights
    )
    theirs = KNeighborsRegressor(6, weights=weights).fit(x, y)
    np.testing.assert_allclose(files.predict(test)["labels"], theirs.predict(test), atol=1e-9)


def test_leave_one_out_is_cross_validation(files: Files):  # noqa: F811
    x, y = blobs(120, 3, 5)
    report = files.train(x, y, "--task", "knn", "--kernel", "linear", "--neighbours", 5, "--loo")
    theirs = cross_val_score(KNeighborsClassifier(5), x, y, cv=LeaveOneOut()).mean()
    assert report["certificate"]["figures"]["loo_error"] == pytest.approx(1 - theirs, abs=1e-12)


PROCESSES = {
    "2*rbf(sigma=1.5)": ConstantKernel(2.0) * RBF(1.5),
    "4*matern(nu=1.5, length=2)": ConstantKernel(4.0) * Matern(2.0, nu=1.5),
    "rbf(sigma=0.4)": RBF(0.4),
}


@pytest.mark.parametrize("text", PROCESSES)
@pytest.mark.parametrize("classes", [2, 3])
def test_process_has_the_same_probabilities(files: Files, text, classes):  # noqa: F811
    x, y = blobs(90, classes, 6)
    test, _ = blobs(40, classes, 7)
    words = ("--task", "gpc", "--kernel", text)
    report = files.train(x, y, *words, "--average", "error-functions")
    theirs = GaussianProcessClassifier(PROCESSES[text], optimizer=None).fit(x, y)
    parts = report.get("parts") or [report["certificate"]]
    evidence = [p["figures"]["log_evidence"] for p in parts]
    assert np.mean(evidence) == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-6)
    ours = files.predict(test, "--probability")
    np.testing.assert_allclose(
        ours["probability"]["rows"], theirs.predict_proba(test), atol=1e-5
    )
    assert list(map(int, ours["labels"])) == theirs.predict(test).tolist()
    if classes > 2:
        return
    # The integral itself, over the process that scikit-learn finds.
    files.train(x, y, *words)
    ours = np.asarray(files.predict(test, "--probability")["probability"]["rows"])[:, 1]
    means, variances = theirs.latent_mean_and_variance(test)
    for p, mean, variance in zip(ours, means, variances):
        root = np.sqrt(variance)
        exact, _ = quad(
            lambda t: np.exp(-t * t / 2) / (1 + np.exp(-mean - root * t)), -12, 12, epsabs=1e-12
        )
        assert p == pytest.approx(exact / np.sqrt(2 * np.pi), abs=1e-6)


def test_search_finds_no_worse_evidence_for_classes(files: Files):  # noqa: F811
    x, y = blobs(80, 2, 8)
    report = files.train(x, y, "--task", "gpc", "--kernel", "2*rbf(sigma=1)", "--optimise")
    kernel = ConstantKernel(2.0, (1e-6, 1e6)) * RBF(1.0, (1e-6, 1e6))
    theirs = GaussianProcessClassifier(kernel).fit(x, y)
    evidence = report["certificate"]["figures"]["log_evidence"]
    assert evidence >= theirs.log_marginal_likelihood_value_ - 1e-4
