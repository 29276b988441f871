"""Kernel principal components learnt online: those of the whole matrix, and the way there."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from mercer import ConvergenceWarning, KernelHebbian, KernelPCA, rbf


def uneven(rows: int, seed: int) -> np.ndarray:
    """Rows whose images have well-separated variances."""
    return np.random.default_rng(seed).normal(size=(rows, 2)) * [2.0, 0.7]


def likeness(F: np.ndarray, G: np.ndarray) -> np.ndarray:
    """How far the columns of two matrices go together, signs aside."""
    return np.abs([np.corrcoef(f, g)[0, 1] for f, g in zip(F.T, G.T)])


@pytest.mark.parametrize("center", [True, False])
def test_whole_batches_reach_the_components_of_the_matrix(center) -> None:
    X = uneven(120, 1)
    told = dict(kernel=rbf(gamma=0.5), center=center)
    pca = KernelPCA(4, **told).fit(X)
    kha = KernelHebbian(4, batch_size=120, passes=400, anneal=1e6, **told).fit(X)
    assert kha.report_.converged and kha.lost_ < 1e-9
    np.testing.assert_allclose(kha.eigenvalues_, pca.eigenvalues_, rtol=1e-4)
    assert (kha.residuals_ < 1e-2 * kha.eigenvalues_[0]).all()
    new = uneven(30, 2)
    assert (likeness(kha.transform(new), pca.transform(new)) > 0.9999).all()
    np.testing.assert_allclose(
        kha.reconstruction_error(new), pca.reconstruction_error(new), atol=1e-3
    )


def test_a_stream_finds_the_components_of_rows_it_has_not_seen() -> None:
    told = dict(kernel=rbf(gamma=0.5), dictionary_size=40)
    kha = KernelHebbian(2, **told)
    for part in range(30):
        assert kha.partial_fit(uneven(200, part)) is kha
        assert kha.n_samples_seen_ == 200 * (part + 1)
        assert len(kha.dictionary_) <= 40
    new = uneven(500, 99)
    exact = KernelPCA(2, kernel=rbf(gamma=0.5)).fit_transform(new)
    late = likeness(kha.transform(new), exact)
    early = likeness(KernelHebbian(2, **told).partial_fit(uneven(20, 0)).transform(new), exact)
    assert (late > 0.97).all()
    assert late.min() > early.min()


def test_what_stops_early_says_so() -> None:
    X = uneven(100, 3)
    with pytest.warns(ConvergenceWarning, match="residual"):
        early = KernelHebbian(5, passes=1).fit(X)
    assert early.report_.figures["residual"] > early.tol


def test_the_way_back_and_pickles() -> None:
    X = uneven(100, 4)
    kha = KernelHebbian(2, kernel="linear", batch_size=100, passes=300, anneal=1e6).fit(X)
    np.testing.assert_allclose(kha.inverse_transform(kha.transform(X)), X, atol=1e-6)
    white = KernelHebbian(
        2, kernel="linear", batch_size=100, passes=300, anneal=1e6, whiten=True
    ).fit_transform(X)
    np.testing.assert_allclose(white.std(axis=0), 1, atol=1e-6)
    assert kha.get_feature_names_out().tolist() == ["kernelhebbian0", "kernelhebbian1"]
    again = pickle.loads(pickle.dumps(kha))
    np.testing.assert_array_equal(again.transform(X), kha.transform(X))


def test_a_stream_that_cannot_go_on_begins_anew_and_says_so() -> None:
    X = uneven(50, 5)
    stream = KernelHebbian(2).partial_fit(X)
    again = pickle.loads(pickle.dumps(stream))
    np.testing.assert_array_equal(again.transform(X), stream.transform(X))
    for ended in (again, KernelHebbian(2, passes=200, tol=0.5).fit(X)):
        with pytest.warns(UserWarning, match="begins anew"):
            ended.partial_fit(X[:40])
        assert ended.n_samples_seen_ == 40
    with pytest.raises(ValueError, match="3 features"):
        stream.partial_fit(np.ones((4, 3)))
    assert stream.partial_fit(X[:1]).n_samples_seen_ == 51


def test_errors_are_the_expected_ones() -> None:
    X = uneven(20, 6)
    for bad in (
        dict(n_components=0),
        dict(dictionary_size=0),
        dict(batch_size=-1),
        dict(rate=2.0),
        dict(kernel="precomputed"),
        dict(kernel="center(rbf(gamma=1))"),
    ):
        for learn in ("fit", "partial_fit"):
            with pytest.raises(ValueError):
                getattr(KernelHebbian(**bad), learn)(X)
    with pytest.raises(TypeError, match="expression"):
        KernelHebbian(kernel=lambda A, B: A @ B.T).fit(X)
    with pytest.raises(ValueError, match="do not vary"):
        KernelHebbian().fit(np.ones((5, 2)))

    def fail(moment):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        KernelHebbian(2, window=10, callback=fail).partial_fit(X)
