"""Nearest neighbours in feature space, and Gaussian process classification."""

from __future__ import annotations

import numpy as np
import pytest

import mercer


def sample(rows: int, classes: int, seed: int):
    random = np.random.default_rng(seed)
    y = np.arange(rows) % classes
    return random.normal(size=(rows, 3)) + 1.5 * y[:, None], y


def test_kneighbors_are_the_nearest_in_feature_space() -> None:
    X, y = sample(60, 3, 1)
    Z, _ = sample(20, 3, 2)
    kernel = mercer.rbf(gamma=0.3) + 0.1 * mercer.linear()
    model = mercer.KNeighborsClassifier(4, kernel=kernel).fit(X, y)
    K, own_x, own_z = kernel(Z, X), np.diag(kernel(X, X)), np.diag(kernel(Z, Z))
    squared = own_z[:, None] - 2 * K + own_x[None, :]
    distances, index = model.kneighbors(Z)
    expected = np.argsort(squared, axis=1, kind="stable")[:, :4]
    assert (index == expected).all()
    np.testing.assert_allclose(
        distances**2, np.take_along_axis(squared, expected, axis=1), atol=1e-9
    )
    among = model.kneighbors(n_neighbors=2, return_distance=False)
    assert among.shape == (60, 2) and (among != np.arange(60)[:, None]).all()
    votes = np.stack([(y[index] == c).mean(axis=1) for c in range(3)], axis=1)
    np.testing.assert_allclose(model.predict_proba(Z), votes, atol=1e-6)


def test_path_chooses_by_leave_one_out() -> None:
    X, y = sample(90, 3, 3)
    model = mercer.KNeighborsClassifier(path=[1, 3, 9]).fit(X, y)
    errors = []
    for k in (1, 3, 9):
        wrong = 0
        for i in range(90):
            rest = np.arange(90) != i
            one = mercer.KNeighborsClassifier(k).fit(X[rest], y[rest])
            wrong += int(one.predict(X[i : i + 1])[0] != y[i])
        errors.append(wrong / 90)
    np.testing.assert_allclose(model.path_errors_, errors, atol=1e-12)
    assert model.n_neighbors_ == (1, 3, 9)[int(np.argmin(errors))]
    assert model.loo_error_ == pytest.approx(min(errors))


def test_functions_of_python_and_files(tmp_path) -> None:
    X, y = sample(40, 2, 4)

    def cosine(A, B):
        return A @ B.T / np.linalg.norm(A, axis=1)[:, None] / np.linalg.norm(B, axis=1)

    ours = mercer.KNeighborsClassifier(3, kernel=cosine).fit(X, y)
    text = mercer.KNeighborsClassifier(3, kernel=mercer.normalize(mercer.linear())).fit(X, y)
    Z, _ = sample(30, 2, 5)
    assert (ours.predict(Z) == text.predict(Z)).all()
    path = str(tmp_path / "m.mercer")
    for model in (
        text,
        mercer.KNeighborsRegressor(2, weights="distance").fit(X, np.stack([y, 2 * y], 1)),
        mercer.GaussianProcessClassifier().fit(X, y),
    ):
        model.save(path)
        again = mercer.load(path)
        assert type(again) is type(model)
        np.testing.assert_array_equal(again.predict(Z), model.predict(Z))


def test_latent_mean_and_variance_give_the_probabilities() -> None:
    X, y = sample(50, 2, 6)
    Z, _ = sample(10, 2, 7)
    model = mercer.GaussianProcessClassifier(
        mercer.Kernel("2*rbf(sigma=1)"), optimizer=None
    ).fit(X, y)
    mean, variance = model.latent_mean_and_variance(Z)
    t = np.linspace(-10, 10, 20001)
    density = np.exp(-t * t / 2) / np.sqrt(2 * np.pi) * (t[1] - t[0])
    latent = mean[:, None] + np.sqrt(variance)[:, None] * t
    expected = (density / (1 + np.exp(-latent))).sum(axis=1)
    np.testing.assert_allclose(model.predict_proba(Z)[:, 1], expected, atol=1e-6)
    assert ((mean > 0) == (model.predict(Z) == 1)).all()
    better = mercer.GaussianProcessClassifier(mercer.Kernel("2*rbf(sigma=1)")).fit(X, y)
    assert better.log_marginal_likelihood_value_ >= model.log_marginal_likelihood_value_


def test_losses_of_python_are_those_of_other_machines() -> None:
    X, y = sample(40, 2, 8)

    def logistic(labels, z):
        return np.logaddexp(0, -labels * z)

    ours = mercer.KernelRiskClassifier(logistic, gamma=0.5, alpha=0.3).fit(X, y)
    known = mercer.KernelLogisticRegression(gamma=0.5, alpha=0.3).fit(X, y)
    assert ours.report_.certifies == "optimum" and ours.report_.relative_gap <= 1e-6
    assert ours.report_.primal == pytest.approx(known.report_.primal, rel=1e-5)
    t = X[:, 0] + np.sin(X[:, 1])
    line = mercer.KernelRiskRegressor(
        lambda labels, z: (labels - z) ** 2, regularizer=lambda norm: norm**2, gamma=0.5
    ).fit(X, t)
    ridge = mercer.KernelRidge(kernel="rbf", gamma=0.5, fit_intercept=True).fit(X, t)
    np.testing.assert_allclose(line.predict(X), ridge.predict(X), atol=1e-2)
    with pytest.raises(ValueError, match="not convex"):
        mercer.KernelRiskRegressor(lambda labels, z: -((labels - z) ** 2)).fit(X, t)
    with pytest.raises(ValueError, match="returned 1 numbers"):
        mercer.KernelRiskRegressor(lambda labels, z: np.zeros(1)).fit(X, t)
    with pytest.raises(ZeroDivisionError):
        mercer.KernelRiskRegressor(lambda labels, z: 1 / 0).fit(X, t)
    with pytest.raises(TypeError, match="loss = 3"):
        mercer.KernelRiskRegressor(3).fit(X, t)
