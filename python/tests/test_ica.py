"""Independent components: sources found again, and what they are made of."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from mercer import ConvergenceWarning, KernelICA, KernelTDSEP, load

MIXING = np.array([[1.0, 0.6], [0.5, 1.2]])


def mixture(rows: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A flat noise and one of two bumps, and what two microphones hear of them."""
    rng = np.random.default_rng(seed)
    S = np.c_[rng.uniform(-1, 1, rows), rng.choice([-1, 1], rows) + 0.3 * rng.normal(size=rows)]
    return S, S @ MIXING.T + [3.0, -2.0]


def likeness(found: np.ndarray, S: np.ndarray) -> np.ndarray:
    return np.abs(np.corrcoef(found.T, S.T)[:2, 2:])


@pytest.mark.parametrize("contrast", ["correlation", "variance"])
def test_two_sources_are_separated(contrast) -> None:
    S, X = mixture()
    ica = KernelICA(contrast=contrast).fit(X)
    found = ica.transform(X)
    # One of each, and neither in the columns as they were.
    near = likeness(found, S) > 0.99
    assert near.sum(axis=0).tolist() == near.sum(axis=1).tolist() == [1, 1]
    assert (likeness(X, S) < 0.97).any()
    np.testing.assert_allclose(found.std(axis=0), 1, atol=1e-9)
    assert (np.diff(ica.report_.history) <= 1e-12).all()
    assert ica.report_.converged and ica.contrast_ == ica.report_.history[-1]
    new, heard = mixture(seed=1)
    assert (likeness(ica.transform(heard), new).max(axis=1) > 0.99).all()


def test_attributes_are_the_mixture() -> None:
    _, X = mixture()
    ica = KernelICA().fit(X)
    np.testing.assert_allclose(ica.components_ @ ica.mixing_, np.eye(2), atol=1e-9)
    np.testing.assert_allclose((X - ica.mean_) @ ica.components_.T, ica.transform(X), atol=1e-9)
    np.testing.assert_allclose(ica.inverse_transform(ica.transform(X)), X, atol=1e-9)
    # Columns of the mixing matrix are those of the truth, up to order, sign and size.
    found, true = (A / np.linalg.norm(A, axis=0) for A in (ica.mixing_, MIXING))
    assert (np.abs(found.T @ true).max(axis=0) > 0.99).all()
    again = pickle.loads(pickle.dumps(ica))
    np.testing.assert_array_equal(again.transform(X), ica.transform(X))


def test_fewer_sources_than_columns() -> None:
    S, X = mixture()
    wide = np.c_[X, X @ [[1.0], [2.0]] + 1e-3 * np.random.default_rng(2).normal(size=(400, 1))]
    ica = KernelICA(2).fit(wide)
    assert ica.components_.shape == (2, 3) and ica.mixing_.shape == (3, 2)
    assert (likeness(ica.transform(wide), S).max(axis=1) > 0.99).all()


def test_errors_are_the_expected_ones() -> None:
    _, X = mixture(60)
    for bad in (
        dict(n_sources=1),
        dict(n_sources=3),
        dict(contrast="entropy"),
        dict(kappa=-1.0),
        dict(max_iter=0),
        dict(kernel="precomputed"),
        dict(tol=0.0),
    ):
        with pytest.raises(ValueError):
            KernelICA(**bad).fit(X)
    with pytest.raises(TypeError, match="expression"):
        KernelICA(kernel=lambda A, B: A @ B.T).fit(X)
    with pytest.raises(ValueError, match="dependent"):
        KernelICA().fit(np.c_[X, X.sum(axis=1)])
    with pytest.raises(ValueError, match="3 components"):
        KernelICA().fit(X).inverse_transform(np.zeros((1, 3)))
    with pytest.warns(ConvergenceWarning, match="contrast"):
        KernelICA(max_iter=1, tol=1e-12).fit(X)


def bent(rows: int = 1500) -> tuple[np.ndarray, np.ndarray]:
    """Two sines, and a mixture of them that no linear map undoes."""
    S = np.sin(2 * np.pi * np.outer(np.arange(rows), [0.0073, 0.0191]))
    X = np.c_[np.exp(S[:, 0]) - np.exp(S[:, 1]), np.exp(-S[:, 0]) + np.exp(-S[:, 1])]
    return S, (X - X.mean(axis=0)) / X.std(axis=0)


def test_sources_are_separated_by_their_course_in_time(tmp_path) -> None:
    S, X = bent()
    straight = KernelTDSEP().fit(S @ MIXING.T)
    assert (likeness(straight.transform(S @ MIXING.T), S).max(axis=1) > 0.999).all()
    machine = KernelTDSEP(kernel="rbf(sigma=1)").fit(X)
    found = machine.transform(X)
    assert (likeness(found, S).max(axis=1) > 0.99).all()
    np.testing.assert_allclose(np.cov(found.T, bias=True), np.eye(2), atol=1e-6)
    assert machine.shares_[0] >= machine.shares_[1] > 0
    assert machine.off_diagonal_ < machine.report_.figures["off_diagonal_at_first"]
    assert np.array_equal(pickle.loads(pickle.dumps(machine)).transform(X), found)
    machine.save(tmp_path / "bent.mercer")
    again = load(tmp_path / "bent.mercer")
    assert np.array_equal(again.transform(X), found)
    assert np.array_equal(again.shares_, machine.shares_)


def test_courses_in_time_that_are_the_same_are_told() -> None:
    noise = np.random.default_rng(0).normal(size=(500, 2))
    with pytest.warns(UserWarning, match="same course in time"):
        KernelTDSEP().fit(noise)
    with pytest.raises(ValueError, match="lags"):
        KernelTDSEP(lags=300).fit(noise)
