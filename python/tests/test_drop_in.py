"""What users of scikit-learn's kernel machines find again in ours, beyond what its own tests ask."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

import mercer  # noqa: E402
from mercer import (
    GaussianProcessRegressor,
    KernelPCA,
    KernelRidge,
    Nystroem,
    NuSVC,
    SVC,
    rbf,
)  # noqa: E402


def test_an_infinite_penalty_is_the_hard_margin() -> None:
    X = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]])
    hard = SVC(kernel="linear", C=np.inf).fit(X, [0, 0, 1, 1])
    np.testing.assert_allclose(hard.coef_, [[2 / 3, 0]], atol=1e-8)  # margin 1.5
    assert hard.report_.margin == pytest.approx(1.5)
    with pytest.raises(ValueError, match="C = inf: the classes are not separable"):
        SVC(kernel="linear", C=np.inf).fit(X, [0, 1, 1, 0])


def test_a_hard_margin_comes_back_from_its_file(tmp_path, moons) -> None:
    X, y = moons
    hard = SVC(kernel=rbf(gamma=10), C=np.inf).fit(X, y)
    hard.save(tmp_path / "hard.mercer")
    again = mercer.load(tmp_path / "hard.mercer")
    assert again.C == np.inf
    np.testing.assert_allclose(again.decision_function(X), hard.decision_function(X))


def test_rows_of_weight_below_zero_are_left_out(moons) -> None:
    X, y = moons
    weights = np.where(np.arange(len(y)) < 20, -3.0, 1.0)
    np.testing.assert_allclose(
        SVC(gamma=1).fit(X, y, weights).decision_function(X),
        SVC(gamma=1).fit(X[20:], y[20:]).decision_function(X),
        atol=1e-6,
    )


def test_weights_of_classes_bound_their_coefficients(moons) -> None:
    X, y = moons
    fitted = NuSVC(gamma=1, nu=0.3, class_weight={0: 3}).fit(X, y)
    alphas = np.abs(fitted.dual_coef_[0])
    largest = [alphas[y[fitted.support_] == c].max() for c in (0, 1)]
    assert largest[0] > 1.5 * largest[1]


def test_functions_compare_anything() -> None:
    def shared(A, B):
        return np.array([[len(a & b) for b in B] for a in A], dtype=float)

    sets = [{"a", "b"}, {"a", "b", "c"}, {"x"}, {"x", "y"}]
    model = SVC(kernel=shared, C=10).fit(sets, [0, 0, 1, 1])
    assert model.predict([{"a", "z"}, {"x", "z"}]).tolist() == [0, 1]


def test_sigmoids_give_the_probabilities(moons) -> None:
    X, y = moons
    model = SVC(gamma=1, probability=True).fit(X, y)
    with pytest.warns(FutureWarning, match="probA_"):
        a = model.probA_[0]
    with pytest.warns(FutureWarning, match="probB_"):
        b = model.probB_[0]
    # As LIBSVM: f is positive for the first class.
    first = 1 / (1 + np.exp(a * -model.decision_function(X) + b))
    np.testing.assert_allclose(model.predict_proba(X)[:, 0], first, atol=1e-6)


def test_functions_of_pairs_and_of_blocks_are_one_kernel(moons) -> None:
    X, y = moons

    def pair(x, z, gamma):
        return np.exp(-gamma * np.sum((x - z) ** 2))

    told = {"kernel": pair, "kernel_params": {"gamma": 0.5}}
    for kind in (KernelPCA, KernelRidge, Nystroem):
        size = {"n_components": 5} if kind is not KernelRidge else {}
        a, b = kind(**size, **told).fit(X, y), kind(**size, kernel=rbf(gamma=0.5)).fit(X, y)
        answer = "predict" if kind is KernelRidge else "transform"
        np.testing.assert_allclose(
            np.abs(getattr(a, answer)(X)), np.abs(getattr(b, answer)(X)), atol=1e-6
        )
    with pytest.raises(ValueError, match="called on pairs of rows"):
        KernelRidge(kernel=lambda A, B: np.ones(3)).fit(X, y)


def test_the_way_back_is_scikit_learns(moons) -> None:
    from sklearn.decomposition import KernelPCA as Theirs

    X, _ = moons
    told = {
        "n_components": 6,
        "kernel": "rbf",
        "gamma": 0.5,
        "fit_inverse_transform": True,
        "alpha": 0.01,
    }
    ours, theirs = KernelPCA(**told).fit(X), Theirs(**told).fit(X)
    np.testing.assert_allclose(
        ours.inverse_transform(ours.transform(X)),
        theirs.inverse_transform(theirs.transform(X)),
        atol=1e-6,
    )


def test_processes_of_several_outputs(moons) -> None:
    from sklearn.gaussian_process import GaussianProcessRegressor as Theirs
    from sklearn.gaussian_process.kernels import RBF

    X, _ = moons
    Y = np.c_[np.sin(X[:, 0]), X[:, 1] ** 2]
    told = {"alpha": np.linspace(0.01, 0.1, len(X)), "normalize_y": True}
    theirs = Theirs(RBF(1.0), **told).fit(X, Y)
    for kernel in (RBF(1.0), rbf(sigma=1)):
        ours = GaussianProcessRegressor(kernel, **told).fit(X, Y)
        np.testing.assert_allclose(ours.kernel_.theta, theirs.kernel_.theta, atol=1e-3)
        for a, b in zip(
            ours.predict(X[:7], return_cov=True), theirs.predict(X[:7], return_cov=True)
        ):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, atol=1e-4)


def test_the_covariance_of_a_process_of_the_library(moons) -> None:
    X, y = moons
    model = GaussianProcessRegressor(rbf(sigma=1), alpha=0.1).fit(X, y)
    mean, covariance = model.predict(X[:9], return_cov=True)
    same, deviation = model.predict(X[:9], return_std=True)
    np.testing.assert_allclose(mean, same, atol=1e-8)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), deviation, atol=1e-7)
    assert model.log_marginal_likelihood(model.kernel_.theta) == pytest.approx(
        model.log_marginal_likelihood(), abs=1e-6
    )
    np.testing.assert_allclose(
        model.L_ @ model.L_.T, model.kernel_(X) + model.noise_ * np.eye(len(X))
    )


def test_before_data_the_prior_answers() -> None:
    X = np.linspace(0, 1, 4)[:, None]
    mean, covariance = GaussianProcessRegressor(3 * rbf(sigma=2)).predict(X, return_cov=True)
    assert (mean == 0).all()
    np.testing.assert_allclose(covariance, (3 * rbf(sigma=2))(X))


def test_least_squares_without_a_penalty() -> None:
    X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 5.0], [4.0, 1.0]])
    y = np.array([1.0, 2.0, 3.0, 5.0])
    exact = np.linalg.lstsq(X, y, rcond=None)[0]
    np.testing.assert_allclose(KernelRidge(alpha=0).fit(X, y).predict(X), X @ exact, atol=1e-6)


def test_processes_under_functions_and_from_files(tmp_path, moons) -> None:
    X, y = moons
    function = mercer.function(lambda A, B: rbf(sigma=1)(A, B), known_pd=True)
    told = {"alpha": 0.1, "optimizer": None}
    a = GaussianProcessRegressor(function, **told).fit(X, np.c_[y, -y])
    b = GaussianProcessRegressor(rbf(sigma=1), **told).fit(X, y)
    np.testing.assert_allclose(a.predict(X)[:, 0], b.predict(X), atol=1e-8)
    np.testing.assert_allclose(
        GaussianProcessRegressor(function, **told).fit(X, y).predict(X[:5], return_cov=True)[1],
        b.predict(X[:5], return_cov=True)[1],
        atol=1e-7,
    )
    b.save(tmp_path / "gp.mercer")
    again = mercer.load(tmp_path / "gp.mercer")
    np.testing.assert_allclose(
        again.predict(X, return_std=True)[1], b.predict(X, return_std=True)[1]
    )
    with pytest.raises(ValueError, match="holds no targets"):
        again.predict(X, return_cov=True)
    with pytest.raises(ValueError, match="pickle"):
        a.save(tmp_path / "two.mercer")


def test_processes_under_kernels_of_scikit_learn_go_into_files(tmp_path) -> None:
    from sklearn.gaussian_process import kernels

    from mercer.sklearn_gp import translated

    rng = np.random.default_rng(0)
    X = rng.uniform(0, 3, size=(40, 1))
    y = 5 + np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=40)
    kinds = [
        2.0 * kernels.RBF(0.7) + kernels.WhiteKernel(0.02),
        kernels.Matern(0.8, nu=1.5) * kernels.ConstantKernel(1.3) + kernels.DotProduct(0.4),
        kernels.RationalQuadratic(0.9, 2.0) + kernels.ExpSineSquared(1.1, 2.0) ** 2,
    ]
    for kernel in kinds:
        process = GaussianProcessRegressor(
            kernel, alpha=0.01, optimizer=None, normalize_y=True
        ).fit(X, y)
        process.save(tmp_path / "process.mercer")
        again = mercer.load(tmp_path / "process.mercer")
        np.testing.assert_allclose(again.predict(X), process.predict(X), atol=1e-7)
    wide = rng.normal(size=(9, 3))
    expression, noise = translated(kernels.RBF([0.5, 1.0, 2.0]), 3)
    np.testing.assert_allclose(expression(wide), kernels.RBF([0.5, 1.0, 2.0])(wide), atol=1e-12)
    assert noise == 0
    with pytest.raises(ValueError, match="no expression"):
        translated(kernels.ExpSineSquared(), 3)
