"""Bounds, capacity on data, margins of planes, and columns that matter."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mercer import OneClassSVM, QuantileRegions, SVC, eliminate_features, linear, poly, rbf, sigmoid, theory
from mercer import zero_norm_features

X = np.random.default_rng(5).normal(size=(90, 3))
y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "yes", "no")


def test_numbers_have_formula_and_meaning() -> None:
    cover = theory.cover_separation(60, 30)
    assert cover.value == pytest.approx(0.5) and cover.formula and cover.about
    assert theory.sauer(100, 5).value <= theory.growth_function(100, 5).value
    assert theory.half_space_growth(4, 3).value == pytest.approx(4 * math.log(2))
    assert theory.half_space_growth(4, 3).vacuous
    phi = math.sqrt((20 * (math.log(100) + 1) - math.log(0.0125)) / 1000)
    assert theory.vc_risk(1000, 20, error=0.1).value == pytest.approx(0.1 + phi)
    assert theory.rademacher_risk(1000, 0.1, delta=0.1).confidence == 0.9
    assert theory.compression_risk(1000, 10).value < theory.compression_risk(1000, 20).value
    assert theory.margin_description(2, 1, 5).value == pytest.approx(5 * math.log2(5))
    assert theory.description_risk(100, 8).value == pytest.approx((math.log(256 * 20)) / 100)
    assert theory.margin_dimension(1, 3).value == 10
    assert theory.chernoff_risk(100).value < theory.union_risk(100, 5).value
    with pytest.raises(ValueError, match="delta"):
        theory.chernoff_risk(100, delta=2)


def test_random_labels_lie_between_the_bounds() -> None:
    for k in (linear(), rbf(gamma=0.5), poly(2)):
        found = theory.rademacher_complexity(k, X, norm=2, draws=400)
        assert found.by_trace == pytest.approx(2 * math.sqrt(k.diag(X).sum()) / len(X))
        assert found.by_trace / math.sqrt(2) * 0.97 <= found.estimate <= found.by_trace * 1.03
    with pytest.raises(ValueError, match="not positive definite"):
        theory.rademacher_complexity(sigmoid(coef0=-1), X)
    with pytest.raises(TypeError):
        theory.rademacher_complexity(3, X)


def test_entropy_is_what_half_spaces_and_gaussians_have() -> None:
    for level in theory.vc_entropy("linear", X, [4, 9], draws=10):
        assert level.entropy == pytest.approx(theory.half_space_growth(level.rows, 3).value)
        assert level.entropy <= level.annealed + 1e-12 <= level.growth + 2e-12
    (level,) = theory.vc_entropy(rbf(gamma=1), X, [12], draws=5)
    assert level.entropy == pytest.approx(12 * math.log(2)) and level.exact == 5


def test_machines_have_bounds() -> None:
    (bounds,) = theory.machine_bounds(SVC(kernel="linear", C=10).fit(X, y), X, y).values()
    named = {bound.name: bound for bound in bounds}
    assert {"rademacher", "compression", "support-vectors", "vc-margin"} <= set(named)
    assert not named["rademacher"].estimate and named["vc-margin"].estimate
    (single,) = theory.machine_bounds(OneClassSVM(nu=0.2).fit(X), X).values()
    assert [bound.name for bound in single] == ["single-class"]


def test_margin_of_a_plane_is_the_formula() -> None:
    w, b = np.array([1.0, -2.0, 0.5]), 0.25
    found = theory.plane_margin(w, b, X, y)
    want = np.where(y == "yes", 1, -1) * (X @ w + b)
    np.testing.assert_allclose(found.rows, want, rtol=1e-12)
    assert found.functional == pytest.approx(want.min())
    assert found.geometric == pytest.approx(want.min() / np.linalg.norm(w))
    assert found.errors == (want <= 0).sum() and not found.separates
    turned = theory.plane_margin(-w, -b, X, y, positive="no")
    np.testing.assert_allclose(turned.rows, found.rows)
    machine = SVC(kernel="linear", C=1e4).fit(X, y)
    best = theory.machine_margin(machine, X, y)
    assert best.separates
    assert best.geometric == pytest.approx(
        theory.plane_margin(machine.coef_[0], machine.intercept_[0], X, y).geometric, rel=1e-4
    )
    for wrong in (
        lambda: theory.plane_margin(w[:2], b, X, y),
        lambda: theory.plane_margin(0 * w, b, X, y),
        lambda: theory.plane_margin(w, b, X, y, positive="perhaps"),
        lambda: theory.plane_margin(w, b, X, np.zeros(len(X))),
    ):
        with pytest.raises(ValueError):
            wrong()


def test_columns_that_matter_are_found() -> None:
    Z = np.random.default_rng(6).normal(size=(200, 8))
    labels = Z[:, 3] + 0.5 * Z[:, 6] > 0
    found = zero_norm_features(Z, labels, C=10, folds=4)
    assert sorted(found.selected) == [3, 6] and found.converged
    assert (np.flatnonzero(found.scale) == [3, 6]).all()
    assert found.rounds[-1].cv_accuracy > 0.9
    ranked = eliminate_features(Z, labels, kernel="linear", keep=2)
    assert sorted(ranked.ranking[:2]) == [3, 6]
    with pytest.raises(ValueError, match="keep"):
        zero_norm_features(Z, labels, keep=9)


def test_separation_from_the_origin_without_errors() -> None:
    away = X + [6, 5, 4]
    machine = OneClassSVM(nu=0, kernel="linear", tol=1e-8).fit(away)
    assert machine.decision_function(away).min() > -1e-5
    # No direction keeps the rows farther from the origin.
    best = 1 / np.linalg.norm(machine.coef_)
    directions = machine.coef_ + np.random.default_rng(1).normal(scale=0.02, size=(200, 3))
    lengths = np.linalg.norm(directions, axis=1)
    assert ((directions @ away.T).min(axis=1) / lengths).max() <= best * (1 + 1e-6)
    with pytest.raises(ValueError, match="origin"):
        OneClassSVM(nu=0, kernel="linear").fit(X)


def test_regions_are_nested_and_hold_their_shares() -> None:
    machine = QuantileRegions(shares=[0.9, 0.3, 0.6], gamma=0.5).fit(X)
    assert machine.shares_.tolist() == [0.3, 0.6, 0.9]
    assert (np.diff(machine.thresholds_) < 0).all() and machine.thresholds_[-1] == 0
    found = machine.region(X)
    for share, inside in zip(machine.shares_, machine.inside_):
        assert ((found > 0) & (found <= share)).mean() == pytest.approx(inside)
        assert share <= inside < share + 0.1
    assert ((machine.predict(X) == 1) == (found > 0)).all()
    with pytest.raises((TypeError, ValueError), match="shares"):
        QuantileRegions(shares=[0.5, 1.5]).fit(X)
