"""Estimators inside scikit-learn's own tools, and with pandas."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

import mercer  # noqa: E402


def test_search_over_kernels_in_a_pipeline(moons) -> None:
    X, y = moons
    pipe = make_pipeline(StandardScaler(), mercer.SVC())
    grid = {"svc__C": [0.1, 10], "svc__kernel": ["linear", mercer.rbf(gamma=1) + mercer.poly(2)]}
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.85
    assert "rbf" in str(search.best_params_["svc__kernel"])


def test_joblib_processes(moons) -> None:
    X, y = moons
    scores = cross_val_score(mercer.SVC(kernel=mercer.rbf(gamma=1)), X, y, cv=3, n_jobs=2)
    assert scores.mean() > 0.85


def test_precomputed_in_cross_validation(moons) -> None:
    X, y = moons
    K = mercer.rbf(gamma=1)(X)
    a = cross_val_score(mercer.SVC(kernel="precomputed"), K, y, cv=3)
    b = cross_val_score(mercer.SVC(kernel=mercer.rbf(gamma=1)), X, y, cv=3)
    np.testing.assert_allclose(a, b)


def test_frames_keep_their_names(moons) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = moons
    frame = pandas.DataFrame(X, columns=["width", "height"])
    model = mercer.SVC(kernel=mercer.rbf(gamma=1)["height"]).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["width", "height"]
    assert str(model.kernel_) == "rbf(gamma=1)[1]"
    by_hand = mercer.SVC(kernel=mercer.rbf(gamma=1)).fit(X[:, 1:], y)
    np.testing.assert_allclose(model.decision_function(frame), by_hand.decision_function(X[:, 1:]))
    mapped = mercer.Nystroem(n_components=3).set_output(transform="pandas").fit_transform(frame)
    assert mapped.columns.tolist() == ["nystroem0", "nystroem1", "nystroem2"]


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("name", ["SVC", "ParzenClassifier", "KernelRidge", "OneClassSVM"])
def test_sparse_equals_dense(name, index, moons) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    X, y = moons
    X = np.where(np.abs(X) > 0.3, X, 0)
    A = sparse.csr_array(X)
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    estimator = getattr(mercer, name)
    dense, other = estimator().fit(X, y), estimator().fit(A, y)
    np.testing.assert_allclose(dense.predict(X), other.predict(A), atol=1e-9)


def test_covariance_of_scikit_learns_own_process(moons) -> None:
    from sklearn.base import clone
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    from mercer.sklearn_gp import Covariance

    X, y = moons
    covariance = Covariance(mercer.rbf(gamma=0.5))
    ours = GaussianProcessRegressor(covariance, alpha=0.1, optimizer=None).fit(X, y)
    theirs = GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None).fit(X, y)
    for a, b in zip(ours.predict(X, return_std=True), theirs.predict(X, return_std=True)):
        assert np.allclose(a, b, atol=1e-8)
    assert ours.log_marginal_likelihood() == pytest.approx(theirs.log_marginal_likelihood())
    assert repr(clone(ours.kernel_)) == "Covariance(rbf(gamma=0.5))"


def test_gradients_of_a_covariance_are_those_of_its_values(moons) -> None:
    from mercer.sklearn_gp import Covariance

    X, _ = moons
    covariance = Covariance("2*rbf(sigma=0.7) + polynomial(degree=2, gamma=0.3, coef0=0)*laplacian(gamma=1)")
    _, slopes = covariance(X[:15], eval_gradient=True)
    assert slopes.shape == (15, 15, covariance.n_dims) and covariance.n_dims == 4  # coef0 = 0 stays
    for k in range(covariance.n_dims):
        up, down = (covariance.theta + h * np.eye(covariance.n_dims)[k] for h in (1e-5, -1e-5))
        change = covariance.clone_with_theta(up)(X[:15]) - covariance.clone_with_theta(down)(X[:15])
        np.testing.assert_allclose(slopes[..., k], change / 2e-5, atol=1e-7)


def test_scikit_learns_process_finds_the_parameters_of_a_mercer_kernel(moons) -> None:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    from mercer.sklearn_gp import Covariance

    X, y = moons
    ours = GaussianProcessRegressor(Covariance("1.5*rbf(sigma=2)"), alpha=0.1).fit(X, y)
    theirs = GaussianProcessRegressor(ConstantKernel(1.5) * RBF(2.0), alpha=0.1).fit(X, y)
    best = theirs.log_marginal_likelihood_value_
    assert ours.log_marginal_likelihood_value_ == pytest.approx(best, abs=1e-6)
    np.testing.assert_allclose(ours.kernel_.theta, theirs.kernel_.theta, atol=1e-3)
