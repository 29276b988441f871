"""Kernels beside labels: alignment, and sums of kernels that are learnt."""

from __future__ import annotations

import numpy as np
import pytest

import mercer
from mercer import ConvergenceWarning, alignment, learn_combination, linear, rbf


def by_hand(K: np.ndarray, T: np.ndarray, centered: bool) -> float:
    H = np.eye(len(K)) - centered / len(K)
    K, T = H @ K @ H, H @ T @ H
    return float((K * T).sum() / (np.linalg.norm(K) * np.linalg.norm(T)))


@pytest.mark.parametrize("centered", [True, False])
def test_alignment_is_that_of_the_matrices(moons, centered) -> None:
    X, y = moons
    kernel = rbf(gamma=2)
    K, sign = kernel(X), np.where(y > 0, 1.0, -1.0)
    want = by_hand(K, np.outer(sign, sign), centered)
    names = np.array(["lower", "upper"])[y]
    for k, labels in ((kernel, y), ("rbf(gamma=2)", names), (lambda A, B: kernel(A, B), y)):
        assert alignment(k, X, labels, centered) == pytest.approx(want, abs=1e-12)
    third = np.arange(len(y)) % 3
    three = np.where(third[:, None] == third, 1.0, -0.5)
    assert alignment(kernel, X, third, centered) == pytest.approx(by_hand(K, three, centered))
    y = X[:, 0] ** 2
    target = np.outer(y - y.mean(), y - y.mean())
    want = by_hand(K, target, centered)
    assert alignment(kernel, X, y, centered, regression=True) == pytest.approx(want)


def test_columns_go_by_their_names(moons) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = moons
    frame = pandas.DataFrame(X, columns=["width", "height"])
    want = alignment(rbf(gamma=1)[1], X, y)
    assert alignment(rbf(gamma=1)["height"], frame, y) == pytest.approx(want)
    found = learn_combination([rbf(gamma=1)["height"], linear()["width"]], frame, y, by="alignment")
    assert "[1]" in str(found.kernel)


def chequers(rows: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Two columns that tell by their product, and four of noise."""
    X = np.random.default_rng(0).normal(size=(rows, 6))
    return X, np.sign(X[:, 0] * X[:, 1])


@pytest.mark.parametrize("by", ["margin", "alignment"])
def test_the_kernel_that_tells_gets_the_weight(by) -> None:
    X, y = chequers()
    kernels = [rbf(gamma=1)[2:6], rbf(gamma=1)[0:2], "linear"]
    found = learn_combination(kernels, X, y, by=by, C=5)
    assert found.shares.argmax() == 1 and found.shares[1] > 0.5
    assert found.shares.sum() == pytest.approx(1) and (found.weights >= 0).all()
    assert found.converged and found.relative_gap <= 1e-3 and found.gap >= 0
    assert len(found.history) == found.iterations
    K = sum(w * mercer.Kernel(k)(X) for w, k in zip(found.weights, kernels))
    np.testing.assert_allclose(found.kernel(X), K, atol=1e-9)


def test_the_gap_is_a_bound() -> None:
    X, y = chequers()
    kernels = [rbf(gamma=1)[2:6], rbf(gamma=1)[0:2]]
    found = learn_combination(kernels, X, y, C=5)

    def objective(share: float) -> float:
        kernel = share * kernels[0] + (1 - share) * kernels[1]
        return mercer.SVC(kernel=kernel, C=5, tol=1e-8).fit(X, y).report_.primal

    assert found.objective == pytest.approx(objective(found.shares[0]), rel=2e-3)
    best = min(objective(share) for share in np.linspace(0, 1, 21))
    assert found.objective - found.gap <= best * (1 + 1e-6)
    aligned = learn_combination(kernels, X, y, by="alignment")
    assert aligned.objective == pytest.approx(alignment(aligned.kernel, X, y), abs=1e-9)
    assert aligned.objective >= max(alignment(k, X, y) for k in kernels)


def test_units_count_only_where_they_are_wanted() -> None:
    X, y = chequers()
    kernels = [100 * rbf(gamma=1)[2:6], rbf(gamma=1)[0:2]]
    plain = [rbf(gamma=1)[2:6], rbf(gamma=1)[0:2]]
    want = learn_combination(plain, X, y).shares
    np.testing.assert_allclose(learn_combination(kernels, X, y).shares, want, atol=1e-4)
    raw = learn_combination(kernels, X, y, normalize=False).shares
    assert raw[0] > want[0] + 0.2


def test_errors_are_the_expected_ones(moons) -> None:
    X, y = moons
    for wrong, text in (
        (lambda: alignment(rbf(), X, np.zeros(len(y))), "two classes"),
        (lambda: alignment(rbf(), X, y[:5]), "120"),
        (lambda: learn_combination([], X, y), "no kernel"),
        (lambda: learn_combination([rbf()], X, y, by="luck"), "margin or alignment"),
        (lambda: learn_combination([rbf()], X, y, C=-1), "C = -1"),
        (lambda: learn_combination([rbf()], X, y, max_iter=0), "max_iter"),
        (lambda: learn_combination([rbf()], X, np.arange(len(y)) % 3), "two classes"),
    ):
        with pytest.raises(ValueError, match=text):
            wrong()
    for wrong in (
        lambda: alignment(3, X, y),
        lambda: learn_combination(rbf(), X, y),
        lambda: learn_combination([lambda A, B: A @ B.T], X, y),
    ):
        with pytest.raises(TypeError):
            wrong()
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        learn_combination([rbf(gamma=1), linear()], X, y, tol=1e-12, max_iter=1)
