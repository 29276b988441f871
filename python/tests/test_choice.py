"""Choices after training, machines made quicker, and points of feature space."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import mercer
from mercer import SVC, FeatureVector, OneClassSVM, rbf, theory


def noisy(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, "up", "down")


@pytest.mark.parametrize("method", ["platt", "isotonic", "temperature"])
def test_probabilities_learnt_on_rows_aside(method, tmp_path) -> None:
    X, y = noisy(900)
    plain = SVC(gamma=0.5).fit(X[:300], y[:300])
    sure = mercer.calibrate(plain, X[300:600], y[300:600], method)
    assert not hasattr(plain, "predict_proba")
    p = sure.predict_proba(X[600:])[:, 1]
    np.testing.assert_array_equal(sure.decision_function(X), plain.decision_function(X))
    for low, high in ((0, 0.3), (0.3, 0.7), (0.7, 1)):  # as often as it says
        inside = (p >= low) & (p < high)
        assert abs((y[600:][inside] == "up").mean() - p[inside].mean()) < 0.12
    sure.save(tmp_path / "sure.mercer")
    np.testing.assert_allclose(
        mercer.load(tmp_path / "sure.mercer").predict_proba(X[600:])[:, 1], p
    )
    with pytest.raises(ValueError, match="no class"):
        mercer.calibrate(plain, X[:5], ["sideways"] * 5)


def test_rows_to_label_next() -> None:
    X, y = noisy(60)
    machine = SVC(gamma=0.5).fit(X, y)
    pool, _ = noisy(200, seed=1)
    rows, scores = mercer.query(machine, pool, 5, return_scores=True)
    sizes = np.abs(machine.decision_function(pool))
    assert rows.tolist() == np.argsort(sizes, kind="stable")[:5].tolist()
    np.testing.assert_allclose(scores, sizes[rows], atol=1e-9)
    (row,), (margin,) = mercer.query(
        machine, pool, X=X, y=y, method="halving", shortlist=4, return_scores=True
    )
    tried = np.argsort(sizes, kind="stable")[:4]
    least = [
        min(
            SVC(gamma=0.5).fit(np.vstack([X, pool[i : i + 1]]), np.r_[y, [label]]).report_.margin
            for label in ("up", "down")
        )
        for i in tried
    ]
    assert row == tried[int(np.argmax(least))] and margin == pytest.approx(max(least), rel=1e-2)


def test_columns_that_matter() -> None:
    X, y = noisy(300)
    X = np.c_[X, np.random.default_rng(2).normal(size=300)]
    machine = SVC(gamma=0.3).fit(X, y)
    drop, deviation = mercer.permutation_importance(machine, X, y, n_repeats=4)
    assert drop.argmax() == 0 and drop[0] > 0.2 and deviation.shape == (3,)


def test_two_machines_by_a_paired_test() -> None:
    X, y = noisy(400)
    good, bad = SVC(gamma=0.5).fit(X[:200], y[:200]), SVC(kernel="linear", C=1e-6).fit(
        X[:200, ::-1], y[:200]
    )
    found = mercer.compare(good, bad, X[200:], y[200:])
    right = [machine.predict(X[200:]) == y[200:] for machine in (good, bad)]
    assert found.first == pytest.approx(right[0].mean()) and found.second == pytest.approx(
        right[1].mean()
    )
    assert (
        found.only_first == (right[0] & ~right[1]).sum()
        and found.only_second == (right[1] & ~right[0]).sum()
    )
    from math import comb

    few, all_ = min(found.only_first, found.only_second), found.only_first + found.only_second
    exact = min(1.0, 2 * sum(comb(all_, k) for k in range(few + 1)) / 2**all_)
    assert found.p_value == pytest.approx(exact)


def test_a_cascade_answers_as_its_machine_after_fewer_kernels(tmp_path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = (X**2).sum(axis=1) < 0.3
    machine = SVC(gamma=1.0, C=10).fit(X, y)
    quick = mercer.cascade(machine.reduced(12), X, y, keep=True, false_negatives=0.02)
    run = mercer.run_cascade(quick, X)
    assert run.average_kernels < 8 and run.left[-1] < len(X) / 2 and run.stages[-1] == 12
    kept = machine.predict(X) & y
    assert (~quick.predict(X)[kept]).mean() <= 0.05
    quick.save(tmp_path / "quick.mercer")
    np.testing.assert_array_equal(
        mercer.load(tmp_path / "quick.mercer").predict(X), quick.predict(X)
    )
    with pytest.raises(ValueError, match="no cascade"):
        mercer.run_cascade(machine, X)


@pytest.mark.parametrize("method", ["greedy", "l1", "sequential"])
def test_reduced_sets_by_every_method(method) -> None:
    X, y = noisy(200)
    machine = SVC(gamma=0.5).fit(X, y)
    w = FeatureVector.of_machine(machine)
    small = machine.reduced(8, method=method, joint=False)
    off = w.distance(FeatureVector.of_machine(small)) ** 2
    assert off == pytest.approx(small.report_.figures["squared_distance"], rel=1e-5, abs=1e-7)
    moved = machine.reduced(8, method=method)
    assert w.distance(FeatureVector.of_machine(moved)) ** 2 <= off + 1e-9


def test_points_of_feature_space_are_measured_by_kernel_values() -> None:
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    k = rbf(gamma=0.4) + mercer.poly(2)
    a = rng.normal(size=7)
    P, Q = FeatureVector(k, X, a), FeatureVector.mean(k, Z)
    K, L, M = k(X), k(X, Z), k(Z)
    assert P @ Q == pytest.approx(a @ L.mean(axis=1))
    assert P.norm() == pytest.approx(np.sqrt(a @ K @ a))
    both = 2 * P - Q / 4
    assert both.norm() ** 2 == pytest.approx(4 * a @ K @ a - a @ L.mean(axis=1) + M.mean() / 16)
    assert (P + Q).distance(Q - (-P)) == pytest.approx(0, abs=1e-6)
    np.testing.assert_allclose(P.products(Z), a @ L)
    np.testing.assert_allclose(P.distances(Z) ** 2, np.diag(M) - 2 * a @ L + a @ K @ a)
    again = pickle.loads(pickle.dumps(P))
    assert again.distance(P) == pytest.approx(0, abs=1e-6) and again.kernel == P.kernel
    assert mercer.feature_variance(k, Z) == pytest.approx(np.diag(M).mean() - M.mean())


def test_mercers_condition_on_rows() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    k = mercer.sigmoid(gamma=1, coef0=-1)
    found = k.test_on(X)
    values = np.linalg.eigvalsh(k(X))
    assert found.smallest == pytest.approx(values[0]) and found.largest == pytest.approx(values[-1])
    assert found.indefinite and found.witness @ k(X) @ found.witness == pytest.approx(
        found.witness_value
    )
    assert not rbf(gamma=1).test_on(X).indefinite


def test_structural_risk_is_the_sum_of_error_and_confidence() -> None:
    X, y = noisy(200)
    found = theory.structural_risk(X, y, "margin", [0.01, 1.0, 100.0], kernel=rbf(gamma=0.5))
    for level in found.levels:
        assert level.bound == pytest.approx(level.training_error + level.confidence_term)
    errors = [level.cv_error for level in found.levels]
    assert errors[found.by_cross_validation] == min(errors)
    with pytest.raises(ValueError, match="two classes"):
        theory.structural_risk(X, np.arange(200) % 3, "degree", [1, 2])


def test_regions_say_how_likely_a_row_is_inside() -> None:
    X, _ = noisy(200)
    region = OneClassSVM(nu=0.2, gamma=0.5, probability=True).fit(X)
    p = region.predict_proba(X)
    assert p.shape == (200, 2) and np.allclose(p.sum(axis=1), 1)
    assert np.corrcoef(p[:, 0], region.decision_function(X))[0, 1] > 0.7
    assert not hasattr(OneClassSVM(), "predict_proba")


def test_leave_one_out_of_a_ridge() -> None:
    X, _ = noisy(25)
    y = X[:, 0] ** 2
    fitted = mercer.KernelRidge(kernel="rbf", alpha=0.1, leave_one_out=True).fit(X, y)
    left = [
        y[i]
        - mercer.KernelRidge(kernel="rbf", alpha=0.1)
        .fit(np.delete(X, i, 0), np.delete(y, i))
        .predict(X[i : i + 1])[0]
        for i in range(25)
    ]
    np.testing.assert_allclose(np.abs(fitted.loo_residuals_), np.abs(left), atol=1e-8)


def test_maps_by_the_kernel(moons) -> None:
    X, _ = moons
    k = rbf(gamma=1)
    F = mercer.KernelMap("eigen", kernel=k).fit_transform(X)
    np.testing.assert_allclose(F @ F.T, k(X), atol=1e-6)
    few = mercer.KernelMap("eigen", kernel=k, n_components=10, n_landmarks=50).fit(X)
    assert few.transform(X).shape == (120, 10) and few.landmarks_.shape == (50, 2)
    W = mercer.KernelMap("whitened", kernel=k, n_landmarks=30).fit(X)
    L = W.transform(W.landmarks_)
    np.testing.assert_allclose(L @ L.T, k(W.landmarks_), atol=1e-6)
    again = pickle.loads(pickle.dumps(few))
    np.testing.assert_array_equal(again.transform(X), few.transform(X))


def test_data_go_to_files_and_back(tmp_path) -> None:
    X, y = noisy(20)
    for name in ("a.csv", "a.libsvm.gz", "a.arff", "a.npz"):
        mercer.data.write(tmp_path / name, X, y)
        again, labels = mercer.data.read(str(tmp_path / name))
        np.testing.assert_allclose(
            again.toarray() if hasattr(again, "toarray") else again, X, rtol=1e-15
        )
        assert len(set(zip(labels.tolist(), y.tolist()))) == 2
    scaler = mercer.FeatureScaling("minmax(-1,1)").fit(X)
    Z = scaler.transform(X)
    assert Z.min() == -1 and Z.max() == 1
    np.testing.assert_allclose(scaler.inverse_transform(Z), X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(scaler)).transform(X), Z)


def test_alignment_by_its_gradient() -> None:
    X, y = noisy(60)
    kernel = 2 * rbf(gamma=0.3) + mercer.linear()
    value, slope = mercer.alignment_gradient(kernel, X, y)
    assert value == pytest.approx(mercer.alignment(kernel, X, y))
    start = np.array([v for _, _, v in kernel.parameters])
    for i in range(len(start)):
        moved = []
        for h in (1e-5, -1e-5):
            values = start + h * np.eye(len(start))[i]
            moved.append(mercer.Kernel(kernel._expression.with_parameters(values.tolist())))
        change = mercer.alignment(moved[0], X, y) - mercer.alignment(moved[1], X, y)
        assert slope[i] == pytest.approx(change / 2e-5, abs=1e-6)
    best = mercer.align_parameters(kernel, X, y)
    assert (
        mercer.alignment(best.kernel, X, y) == pytest.approx(best.after, abs=1e-9)
        and best.after >= value
    )


def test_a_perceptron_of_rows_that_come_one_after_another() -> None:
    X, y = noisy(300)
    at_once = mercer.KernelPerceptron(kernel=rbf(gamma=0.5), max_iter=1).fit(X, y)
    stream = mercer.KernelPerceptron(kernel=rbf(gamma=0.5))
    for part in np.array_split(np.arange(300), 7):
        stream.partial_fit(X[part], y[part], classes=["down", "up"])
    np.testing.assert_allclose(stream.decision_function(X), at_once.decision_function(X), atol=1e-5)
    assert stream.mistakes_.sum() == at_once.mistakes_[0] and len(stream.mistakes_) == 7
    small = mercer.KernelPerceptron(kernel=rbf(gamma=0.5), budget=10, variant="averaged")
    assert small.partial_fit(X, y).support_.size <= 10
    with pytest.raises(ValueError, match="sideways"):
        stream.partial_fit(X[:1], ["sideways"])
    with pytest.warns(UserWarning, match="begins anew"):
        pickle.loads(pickle.dumps(stream)).partial_fit(X, y)


def test_functions_as_f_and_phi(moons) -> None:
    X, y = moons
    k = mercer.kernels.map(rbf(gamma=1), lambda rows: rows**2) + mercer.kernels.outer(
        lambda rows: rows[:, 0]
    )
    same = mercer.kernels.map(rbf(gamma=1), "x0^2", "x1^2") + mercer.kernels.outer("x0")
    np.testing.assert_allclose(k(X), same(X), atol=1e-12)
    assert k.definiteness.positive
    a, b = SVC(kernel=k).fit(X, y), SVC(kernel=same).fit(X, y)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-6)
