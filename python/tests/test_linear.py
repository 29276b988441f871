"""Linear machines beside scikit-learn's, and settings of the support vector machines."""

from __future__ import annotations

import numpy as np
import pytest

import mercer


def rows(n=900, d=6, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    planes = rng.normal(size=(classes, d))
    return X, (X @ planes.T + rng.normal(size=(n, classes))).argmax(axis=1)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("sparse", [False, True])
def test_planes_are_those_of_scikit_learn(loss, classes, sparse) -> None:
    svm = pytest.importorskip("sklearn.svm")
    X, y = rows(classes=classes)
    if sparse:
        X = pytest.importorskip("scipy.sparse").csr_matrix(np.where(np.abs(X) > 0.5, X, 0))
    told = {"loss": loss, "C": 0.3, "intercept_scaling": 2.0}
    ours = mercer.LinearSVC(**told, tol=1e-6).fit(X, y)
    theirs = svm.LinearSVC(**told, tol=1e-8, max_iter=200000, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.998
    assert ours.report_.certifies == "optimum"


def test_weights_of_classes_and_rows() -> None:
    svm = pytest.importorskip("sklearn.svm")
    X, y = rows()
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    told = {"class_weight": {0: 3.0}, "C": 0.3}
    ours = mercer.LinearSVC(**told).fit(X, y, weights)
    theirs = svm.LinearSVC(**told, tol=1e-8, max_iter=200000).fit(X, y, weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("intercept", [True, False])
def test_regression_by_planes(loss, intercept) -> None:
    svm = pytest.importorskip("sklearn.svm")
    X, _ = rows(n=300)
    y = X @ np.arange(6.0) + np.random.default_rng(2).normal(size=300)
    told = {"loss": loss, "epsilon": 0.2, "C": 5.0, "fit_intercept": intercept}
    ours = mercer.LinearSVR(**told, tol=1e-6).fit(X, y)
    # A large column of the constant is hardly penalised: ours is not at all.
    theirs = svm.LinearSVR(
        **told, intercept_scaling=30.0, tol=1e-9, max_iter=10**6, dual=True
    ).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=5e-3)
    np.testing.assert_allclose(np.ravel(ours.intercept_), np.ravel(theirs.intercept_), atol=5e-3)


def test_what_there_is_not_is_said() -> None:
    X, y = rows()
    for wrong in ({"penalty": "l1"}, {"multi_class": "crammer_singer"}, {"loss": "log"}, {"C": 0}):
        (name,) = wrong
        with pytest.raises(ValueError, match=f"^{name} = "):
            mercer.LinearSVC(**wrong).fit(X, y)


def test_one_against_the_rest_has_a_function_for_each_class() -> None:
    X, y = rows(classes=4, n=200)
    model = mercer.SVC(kernel="linear", multi_class="ovr").fit(X, y)
    assert model.dual_coef_.shape[0] == model.decision_function(X).shape[1] == 4
    np.testing.assert_allclose(
        model.decision_function(X), X @ model.coef_.T + model.intercept_, atol=1e-6
    )
    assert (model.predict(X) == model.decision_function(X).argmax(axis=1)).all()
    pair = mercer.SVC(kernel="linear").fit(X[y < 2], y[y < 2])
    alone = mercer.SVC(kernel="linear", multi_class="ovr").fit(X[y < 2], y[y < 2])
    np.testing.assert_allclose(alone.coef_, pair.coef_, atol=1e-6)


def test_a_plane_through_the_origin() -> None:
    X, y = rows(n=150)
    model = mercer.SVC(kernel="linear", bias=False).fit(X + 1, y)
    assert (model.intercept_ == 0).all()
    assert mercer.SVC(kernel="linear").fit(X + 1, y).intercept_[0] != 0


def test_methods_find_the_same_machine() -> None:
    X, y = rows(n=150)
    machines = [
        mercer.SVC(kernel="linear", method=method).fit(X, y)
        for method in ("automatic", "decomposition", "smo", "chunking", "weights")
    ]
    for machine in machines[1:]:
        np.testing.assert_allclose(machine.coef_, machines[0].coef_, atol=1e-4)
    with pytest.raises(ValueError, match="method = "):
        mercer.SVC(method="newton").fit(X, y)


def test_a_gap_ends_a_training() -> None:
    X, y = rows(n=600)
    loose = mercer.SVC(gap=0.5, tol=1e-9).fit(X, y)
    assert 1e-6 < loose.report_.relative_gap <= 0.5


@pytest.mark.parametrize("kind", ["formula", "function", "numbers"])
def test_tubes_of_any_shape(kind) -> None:
    rng = np.random.default_rng(3)
    X = np.linspace(0, 1, 120)[:, None]
    y = np.sin(6 * X[:, 0]) + X[:, 0] * rng.normal(size=120)
    tube = {"formula": "x0", "function": lambda rows: rows[:, 0], "numbers": X[:, 0]}[kind]
    model = mercer.NuSVR(nu=0.3, C=10, gamma=10, tube=tube).fit(X, y)
    plain = mercer.NuSVR(nu=0.3, C=10, gamma=10).fit(X, y)
    off = np.abs(y - model.predict(X)) - model.report_.epsilon * X[:, 0]
    # The ν-property of such a tube: errors count by the width there.
    assert X[off > 1e-6, 0].sum() <= 0.3 * len(X) + 1e-6 < X[off > -1e-6, 0].sum()
    same = mercer.NuSVR(nu=0.3, C=10, gamma=10, tube="x0").fit(X, y)
    np.testing.assert_allclose(model.predict(X), same.predict(X), atol=1e-8)
    assert not np.allclose(model.predict(X), plain.predict(X))
    if kind == "numbers":
        with pytest.raises(ValueError, match="tube must give"):
            mercer.NuSVR(tube=[1.0]).fit(X, y)


def test_many_rows_are_gone_over_in_passes() -> None:
    """Their machines have a weight for each column, and are those of scikit-learn all the same."""
    linear = pytest.importorskip("sklearn.linear_model")
    X, y = rows(n=33_000, d=4)
    logistic = mercer.KernelLogisticRegression(alpha=0.5, kernel="linear").fit(X, y)
    assert logistic.dual_coef_.shape == (1, 4) and len(logistic.support_) == 0
    theirs = linear.LogisticRegression(C=1, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(
        logistic.decision_function(X[:50]), theirs.decision_function(X[:50]), atol=1e-3
    )
    targets = X @ [1.0, -2.0, 0.5, 3.0] + 0.1 * X[:, 0] ** 2
    weights = 1.0 + np.arange(len(X)) % 2
    ridge = mercer.KernelRidge(alpha=3, kernel="linear").fit(X, targets, weights)
    plane = linear.Ridge(alpha=3, fit_intercept=False).fit(X, targets, weights)
    np.testing.assert_allclose(ridge.predict(X[:50]), plane.predict(X[:50]), atol=1e-6)
    assert ridge.dual_coef_.shape == (33_000,)
    np.testing.assert_allclose(ridge.dual_coef_ @ X, plane.coef_, rtol=1e-6)
    svc = mercer.SVC(kernel="linear", C=0.01, cache_size=1, tol=0.1).fit(X, y)
    assert len(svc.support_) > 4 and svc.coef_.shape == (1, 4)
