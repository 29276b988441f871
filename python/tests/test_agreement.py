"""The same answers as scikit-learn: ten data sets, four kernels, five machines."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn import datasets, svm  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

import mercer  # noqa: E402

KERNELS = ("linear", "poly", "rbf", "sigmoid")


def _made(maker, **settings):
    return maker(random_state=1, **settings)


def classification() -> dict:
    first = {
        "iris": datasets.load_iris(return_X_y=True),
        "wine": datasets.load_wine(return_X_y=True),
        "cancer": datasets.load_breast_cancer(return_X_y=True),
        "digits": [a[:300] for a in datasets.load_digits(return_X_y=True)],
        "moons": _made(datasets.make_moons, n_samples=200, noise=0.2),
        "circles": _made(datasets.make_circles, n_samples=200, noise=0.1, factor=0.5),
        "blobs": _made(datasets.make_blobs, n_samples=150, centers=4, cluster_std=2.0),
        "quantiles": _made(datasets.make_gaussian_quantiles, n_samples=150, n_features=4),
        "informative": _made(datasets.make_classification, n_samples=200, n_features=15),
        "hastie": [a[:200] for a in datasets.make_hastie_10_2(random_state=1)],
    }
    return {name: (StandardScaler().fit_transform(X), y) for name, (X, y) in first.items()}


def regression() -> dict:
    first = {
        "diabetes": datasets.load_diabetes(return_X_y=True),
        "friedman1": _made(datasets.make_friedman1, n_samples=150, noise=0.5),
        "friedman2": _made(datasets.make_friedman2, n_samples=150, noise=5.0),
        "friedman3": _made(datasets.make_friedman3, n_samples=150, noise=0.1),
        "linear": _made(datasets.make_regression, n_samples=150, n_features=6, noise=5.0),
        "sparse": _made(datasets.make_sparse_uncorrelated, n_samples=150),
        "low rank": _made(datasets.make_regression, n_samples=120, n_features=20, effective_rank=4),
        "curve": datasets.make_s_curve(150, noise=0.1, random_state=1),
        "roll": datasets.make_swiss_roll(150, noise=0.1, random_state=1),
        "petals": (lambda iris: (iris[:, :3], iris[:, 3]))(datasets.load_iris().data),
    }
    return {
        name: (StandardScaler().fit_transform(X), (y - y.mean()) / y.std())
        for name, (X, y) in first.items()
    }


def pairs(makers: dict, names: tuple) -> list:
    return [(data, name) for data in makers for name in names]


CLASSES, NUMBERS = classification(), regression()


def compare(ours, theirs, X, value) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a, b = np.asarray(value(ours)(X)), np.asarray(value(theirs)(X))
    assert a.shape == b.shape
    # Decisions grow with the scale of the problem: 1e-3 of it where it is above 1.
    worst, scale = np.abs(a - b).max(), np.abs(b).max()
    assert worst <= 1e-3 * max(1.0, scale)


def agree_on_classes(ours, theirs, X) -> None:
    near_tie = np.zeros(len(X), dtype=bool)
    for machine in (ours, theirs):
        machine.set_params(decision_function_shape="ovo")
        f = machine.decision_function(X)
        near_tie |= (np.abs(f) < 2e-3) if f.ndim == 1 else (np.abs(f) < 2e-3).any(axis=1)
    assert (ours.predict(X) == theirs.predict(X))[~near_tie].all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("data", CLASSES)
def test_svc(data, kernel) -> None:
    X, y = CLASSES[data]
    settings = dict(kernel=kernel, C=1.0, tol=1e-6)
    ours, theirs = mercer.SVC(**settings).fit(X, y), svm.SVC(**settings).fit(X, y)
    if (
        kernel != "sigmoid"
        or abs(ours.decision_function(X) - theirs.decision_function(X)).max() < 1e-3
    ):
        compare(ours, theirs, X, lambda m: m.decision_function)
        agree_on_classes(ours, theirs, X)
        for machine in (ours, theirs):
            machine.set_params(decision_function_shape="ovo")
        compare(ours, theirs, X, lambda m: m.decision_function)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-3)
        assert ours.dual_coef_.shape[0] == theirs.dual_coef_.shape[0]
        assert ours.support_vectors_.shape[1] == theirs.support_vectors_.shape[1]
        assert len(ours.n_support_) == len(theirs.n_support_)
    else:
        no_worse(ours, theirs, data)


def no_worse(ours, theirs, data) -> None:
    """A kernel that is not positive definite has many local optima; then ours must be as good."""
    X, y = CLASSES[data]
    assert dual_value(ours, X) >= dual_value(theirs, X) - 1e-3 * abs(dual_value(theirs, X))


def dual_value(machine, X) -> float:
    """Σ|α| − ½ α'Kα over all pairs, from the attributes both have."""
    K = np.tanh(X[machine.support_] @ X[machine.support_].T / (X.shape[1] * X.var()))
    owner = np.repeat(np.arange(len(machine.classes_)), machine.n_support_)
    total = 0.0
    for a in range(len(machine.classes_)):
        for b in range(a + 1, len(machine.classes_)):
            beta = np.where(owner == a, machine.dual_coef_[b - 1], 0.0)
            beta = np.where(owner == b, machine.dual_coef_[a], beta)
            total += np.abs(beta).sum() - 0.5 * beta @ K @ beta
    return total


def has_margin(data, kernel) -> bool:
    """Whether every pair has a ν-machine: where the reduced hulls of two classes meet, w = 0, and
    all that is left of a decision is rounding."""
    X, y = CLASSES[data]
    machine = mercer.NuSVC(kernel=kernel, nu=nu_for(y)).fit(X, y)
    return all(r["rho"] > 1e-4 * r["rows"] for r in machine._model.reports())


def nu_for(y) -> float:
    """Large, because then hulls are small, and a share of rows that is no whole number of them."""
    counts = np.unique(y, return_counts=True)[1]
    return 0.773 * 2 * counts.min() / (counts.min() + counts.max())


NU_CASES = [(d, k) for d in CLASSES for k in KERNELS[:3] if has_margin(d, k)]


def test_most_sets_have_a_nu_machine() -> None:
    assert len(NU_CASES) >= 20 and {d for d, _ in NU_CASES} == set(CLASSES)


@pytest.mark.parametrize(("data", "kernel"), NU_CASES)
def test_nu_svc(data, kernel) -> None:
    X, y = CLASSES[data]
    settings = dict(kernel=kernel, nu=nu_for(y), tol=1e-8)
    ours, theirs = mercer.NuSVC(**settings).fit(X, y), svm.NuSVC(**settings).fit(X, y)
    compare(ours, theirs, X, lambda m: m.decision_function)
    agree_on_classes(ours, theirs, X)


@pytest.mark.parametrize("kernel", KERNELS[:3])
@pytest.mark.parametrize("data", NUMBERS)
@pytest.mark.parametrize("name", ["SVR", "NuSVR"])
def test_regression(data, kernel, name) -> None:
    X, y = NUMBERS[data]
    settings = dict(kernel=kernel, C=1.0, tol=1e-6)
    ours = getattr(mercer, name)(**settings).fit(X, y)
    theirs = getattr(svm, name)(**settings).fit(X, y)
    compare(ours, theirs, X, lambda m: m.predict)
    assert ours.dual_coef_.shape[0] == 1 and ours.intercept_.shape == theirs.intercept_.shape


@pytest.mark.parametrize("kernel", KERNELS[:3])
@pytest.mark.parametrize("data", CLASSES)
def test_one_class(data, kernel) -> None:
    # Away from the origin, from which a linear machine of one class separates.
    X = CLASSES[data][0] + 3.0
    settings = dict(kernel=kernel, nu=0.213, tol=1e-8)
    if kernel == "poly":
        settings.update(degree=2, gamma=0.05)
    ours, theirs = mercer.OneClassSVM(**settings).fit(X), svm.OneClassSVM(**settings).fit(X)
    compare(ours, theirs, X, lambda m: m.decision_function)
    compare(ours, theirs, X, lambda m: m.score_samples)
    clear = np.abs(theirs.decision_function(X)) > 2e-3
    assert (ours.predict(X) == theirs.predict(X))[clear].all()


def test_the_others() -> None:
    from sklearn.decomposition import KernelPCA
    from sklearn.kernel_approximation import Nystroem
    from sklearn.kernel_ridge import KernelRidge

    X, y = NUMBERS["diabetes"]
    for settings in (dict(kernel="rbf", gamma=0.05), dict(kernel="poly", degree=2), dict()):
        ours, theirs = mercer.KernelRidge(**settings).fit(X, y), KernelRidge(**settings).fit(X, y)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-8)
        np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-7)
    two = np.c_[y, y**2]
    ours, theirs = (
        mercer.KernelRidge(kernel="rbf").fit(X, two),
        KernelRidge(kernel="rbf").fit(X, two),
    )
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-8)

    settings = dict(kernel="rbf", gamma=0.1, n_components=40, random_state=5)
    a, b = mercer.Nystroem(**settings).fit(X), Nystroem(**settings).fit(X)
    np.testing.assert_array_equal(a.component_indices_, b.component_indices_)
    np.testing.assert_allclose(a.transform(X), b.transform(X), atol=1e-6)

    a, b = mercer.KernelPCA(3, kernel="rbf").fit(X), KernelPCA(3, kernel="rbf").fit(X)
    np.testing.assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(np.abs(a.transform(X)), np.abs(b.transform(X)), atol=1e-6)


def test_gaussian_process() -> None:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    X, y = NUMBERS["friedman1"]
    theirs = GaussianProcessRegressor(RBF(2.0), alpha=0.1, optimizer=None).fit(X, y)
    ours = mercer.GaussianProcessRegressor(mercer.rbf(sigma=2), alpha=0.1, optimizer=None).fit(X, y)
    for a, b in zip(ours.predict(X, return_std=True), theirs.predict(X, return_std=True)):
        np.testing.assert_allclose(a, b, atol=1e-8)
    assert ours.log_marginal_likelihood_value_ == pytest.approx(
        theirs.log_marginal_likelihood_value_
    )
    best = mercer.GaussianProcessRegressor(mercer.rbf(sigma=2), alpha=0.1).fit(X, y)
    assert best.log_marginal_likelihood_value_ > ours.log_marginal_likelihood_value_


@pytest.mark.parametrize("normalize", [False, True])
def test_gaussian_process_normalises_targets_as_scikit_learn_does(normalize: bool) -> None:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    X, y = NUMBERS["friedman1"]
    y = 1000 + 70 * y
    theirs = GaussianProcessRegressor(
        ConstantKernel(1.5) * RBF(2.0), alpha=0.1, optimizer=None, normalize_y=normalize
    ).fit(X, y)
    ours = mercer.GaussianProcessRegressor(
        1.5 * mercer.rbf(sigma=2), alpha=0.1, optimizer=None, normalize_y=normalize
    ).fit(X, y)
    for a, b in zip(ours.predict(X + 1, return_std=True), theirs.predict(X + 1, return_std=True)):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-6)
    assert ours.log_marginal_likelihood_value_ == pytest.approx(
        theirs.log_marginal_likelihood_value_
    )
    np.testing.assert_allclose(ours.alpha_, theirs.alpha_.ravel(), rtol=1e-6, atol=1e-8)


def test_gaussian_process_learns_a_height_of_one_and_holds_what_is_fixed() -> None:
    X, y = NUMBERS["friedman1"]
    free = mercer.GaussianProcessRegressor(1.0 * mercer.rbf(sigma=2), normalize_y=True).fit(X, y)
    assert not str(free.kernel_).startswith("1*")
    held = mercer.GaussianProcessRegressor(
        1.0 * mercer.rbf(sigma=2), normalize_y=True, fixed=["sigma", "noise"], max_iter=50
    ).fit(X, y)
    assert "sigma=2)" in str(held.kernel_) and held.noise_ == 0.1
    assert free.log_marginal_likelihood_value_ > held.log_marginal_likelihood_value_
    assert held.at_limit_ == {}
    with pytest.raises(ValueError, match="sigma"):
        mercer.GaussianProcessRegressor(1.0 * mercer.rbf(sigma=2), fixed=["gamma"]).fit(X, y)
