"""Kernels as Python objects."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import mercer
from mercer.kernels import Kernel, bilinear, center, exp, function, linear, matern, normalize, outer
from mercer.kernels import poly, rbf, rbf_of

X = np.random.default_rng(0).normal(size=(40, 12))
Z = np.random.default_rng(1).normal(size=(25, 12))


def gaussian(A, B, gamma):
    return np.exp(-gamma * ((A[:, None, :] - B[None, :, :]) ** 2).sum(-1))


def test_operators_print_as_the_text_syntax() -> None:
    k = rbf(gamma=0.1) + 0.5 * poly(degree=2)[0:10]
    assert str(k) == "rbf(gamma=0.1) + 0.5*polynomial(degree=2)[0:10]"
    assert Kernel(str(k)) == k
    assert str(2 - linear() ** 2 / 4) == "2 - 0.25*linear^2"
    assert str(np.float64(3) * linear()) == "3*linear"
    assert str(-rbf(sigma=2)) == "-rbf(sigma=2)"
    assert str(linear()["age", 3, 5:]) == "linear[age,3,5:]"


def test_matrix_is_the_formula() -> None:
    k = rbf(gamma=0.1) + 0.5 * poly(degree=2)[0:10]
    want = gaussian(X, Z, 0.1) + 0.5 * (1 + X[:, :10] @ Z[:, :10].T) ** 2
    np.testing.assert_allclose(k(X, Z), want, rtol=1e-12)
    np.testing.assert_allclose(k(X), k(X, X), rtol=1e-12)
    np.testing.assert_allclose(k.diag(X), np.diagonal(k(X)), rtol=1e-12)
    assert k(X[0], Z[1]) == pytest.approx(want[0, 1])


def test_precision_follows_the_array() -> None:
    single = rbf(gamma=0.3)(X.astype(np.float32), Z.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, gaussian(X, Z, 0.3), rtol=2e-5, atol=1e-6)


def test_algebra_beyond_operators() -> None:
    np.testing.assert_allclose(exp(0.1 * linear())(X, Z), np.exp(0.1 * X @ Z.T))
    np.testing.assert_allclose(np.diagonal(normalize(poly(2))(X)), 1)
    np.testing.assert_allclose(center(linear())(X).sum(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(rbf_of(linear(), gamma=0.2)(X, Z), gaussian(X, Z, 0.2))
    A = np.diag(np.arange(12.0))
    np.testing.assert_allclose(bilinear(A)(X, Z), X @ A @ Z.T)
    np.testing.assert_allclose(outer("1 + x0^2")(X), np.outer(1 + X[:, 0] ** 2, 1 + X[:, 0] ** 2))
    assert str(matern(nu=2.5)) == "matern(nu=2.5)"


def test_definiteness_has_reasons() -> None:
    found = (rbf() + poly(2)).definiteness
    assert found.positive and found.strict and str(found) == "strictly positive definite"
    assert poly(2).definiteness.positive and not poly(2).definiteness.strict
    assert str(poly(2).definiteness) == "positive definite"
    assert {reason.part for reason in found.reasons} >= {"rbf", "polynomial(degree=2)"}
    assert not mercer.sigmoid().definiteness.positive
    assert mercer.kernels.negative_distance().definiteness.conditional


def test_strictly_positive_definite_is_full_rank_on_distinct_rows() -> None:
    distinct = np.random.default_rng(3).normal(size=(15, 3))
    for k in (rbf(gamma=1), mercer.laplacian(gamma=1), mercer.kernels.exp(linear()), matern()):
        assert k.definiteness.strict
        assert np.linalg.matrix_rank(k(distinct)) == 15
    for k in (linear(), poly(2), rbf(gamma=1)[0:2], rbf(gamma=1)[0] + rbf(gamma=1)[1:]):
        assert k.definiteness.positive and not k.definiteness.strict


def test_feature_dimension_is_the_rank_on_many_rows() -> None:
    rows = np.random.default_rng(4).normal(size=(60, 4))
    for k in (linear(), poly(2), poly(3), poly(2, coef0=0), linear() ** 2 + linear()[0:2]):
        found = k.feature_dimension(4)
        rank = np.linalg.matrix_rank(k(rows))
        assert rank == found.count if found.kind == "exact" else rank <= found.count
        assert found.kind in ("exact", "at most") and found.because
    assert str(poly(7).feature_dimension(256)) == str(poly(7).feature_dimension(256).count)
    assert rbf(gamma=1).feature_dimension(4).kind == "infinite"
    assert isinstance(poly(100).feature_dimension(256).count, float)
    assert mercer.sigmoid().feature_dimension(4).count is None
    with pytest.raises(ValueError):
        poly(2).feature_dimension(-1)


def test_rules_wait_for_data() -> None:
    k = rbf(gamma="scale")
    assert k.needs_data
    number = dict((name, value) for name, _, value in k.resolve(X).parameters)["gamma"]
    assert number == pytest.approx(1 / (12 * X.var()))


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_sparse_is_dense(index, real) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.where(np.abs(X) > 1, X, 0).astype(real)
    A = sparse.csr_matrix(dense)
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    np.testing.assert_allclose(rbf(gamma=0.1)(A), rbf(gamma=0.1)(dense), rtol=1e-5)


def test_values_survive_copies() -> None:
    k = rbf(gamma=0.1) * linear()
    assert pickle.loads(pickle.dumps(k)) == copy.deepcopy(k) == k
    assert hash(k) == hash(Kernel(str(k)))


def test_mistakes_are_shown_where_they_stand() -> None:
    with pytest.raises(ValueError, match="did you mean gamma"):
        rbf(gama=1)
    with pytest.raises(TypeError):
        rbf() + "text"
    with pytest.raises(ValueError, match="no step"):
        rbf()[0:10:2]
    with pytest.raises(TypeError):
        Kernel(3)
    with pytest.raises(ValueError):
        Kernel("rbf(gamma=0.1)[0:50]")(X)


def dot(A, B):
    return A @ B.T


def test_functions_are_called_on_blocks() -> None:
    shapes = []

    def counted(A, B):
        shapes.append((len(A), len(B)))
        return A @ B.T

    k = function(counted)
    np.testing.assert_allclose(k(X, Z), X @ Z.T)
    assert shapes == [(40, 25)]
    mixed = 2 * function(dot, known_pd=True) ** 2 + rbf(gamma=0.1)
    np.testing.assert_allclose(mixed(X, Z), 2 * (X @ Z.T) ** 2 + gaussian(X, Z, 0.1))
    np.testing.assert_allclose(mixed.diag(X), np.diagonal(mixed(X, X)))
    assert mixed.definiteness.positive and not (1 - mixed).definiteness.positive
    np.testing.assert_allclose(function(dot)[0:3](X, Z), X[:, :3] @ Z[:, :3].T)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(mixed))(X, Z), mixed(X, Z))
    with pytest.raises(ValueError, match="returned shape"):
        function(lambda A, B: np.zeros(3))(X, Z)


def test_kernels_work_inside_scikit_learn() -> None:
    svm = pytest.importorskip("sklearn.svm")
    from sklearn.decomposition import KernelPCA
    from sklearn.kernel_ridge import KernelRidge

    y = X[:, 0] * X[:, 1] > 0
    ours = svm.SVC(kernel=rbf(gamma=0.1)).fit(X, y).decision_function(Z)
    theirs = svm.SVC(kernel="rbf", gamma=0.1).fit(X, y).decision_function(Z)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
    ours = KernelRidge(kernel=rbf(gamma=0.1)).fit(X, X[:, 0]).predict(Z)
    theirs = KernelRidge(kernel="rbf", gamma=0.1).fit(X, X[:, 0]).predict(Z)
    np.testing.assert_allclose(ours, theirs)
    assert KernelPCA(2, kernel=rbf(gamma=0.1)).fit_transform(X).shape == (40, 2)


def test_every_kernel_of_the_text_is_a_function() -> None:
    with pytest.raises(ValueError, match="there are") as refused:
        Kernel("qqqqqqqqqq")
    names = str(refused.value).split("there are ")[1].split("\n")[0].split()
    assert len(names) > 25 and {"map", "sets"} <= set(names)
    missing = [n for n in names if n != "user" and n not in mercer.kernels.__all__]
    assert not missing
    assert mercer.kernels.matern.__name__ == "matern"
    assert mercer.kernels.matern.__doc__.endswith("(docs/kernels.md): nu, length.")
    assert str(mercer.kernels.rational_quadratic(2, length=0.5)) == (
        "rational_quadratic(alpha=2, length=0.5)"
    )
    # words for parameters; a name that is a word of Python takes an underscore
    assert str(mercer.kernels.spectrum(3, alphabet="dna", from_=2)) == (
        "spectrum(k=3, alphabet=dna, from=2)"
    )
    assert str(mercer.kernels.words(lowercase=False)) == "words(lowercase=false)"
    assert str(mercer.kernels.random_walk(lambda_=0.5)) == "random_walk(lambda=0.5)"


def test_maps_and_sets() -> None:
    X = np.random.default_rng(0).normal(size=(7, 4))
    k = mercer.rbf(gamma=1)
    mapped = mercer.kernels.map(k, "x0*x1", "abs(x2)")
    assert str(mapped) == "map(rbf(gamma=1), x0*x1, abs(x2))"
    np.testing.assert_allclose(mapped(X), k(np.c_[X[:, 0] * X[:, 1], abs(X[:, 2])]), atol=1e-12)
    sets = mercer.kernels.sets(k, 2)
    want = sum(k(X[:, i : i + 2], X[:, j : j + 2]) for i in (0, 2) for j in (0, 2))
    np.testing.assert_allclose(sets(X), want, atol=1e-12)
    assert str(mercer.kernels.sets(k, width=2, counted=True)).endswith("counted=true)")
    with pytest.raises(TypeError, match="formula"):
        mercer.kernels.map(k)
