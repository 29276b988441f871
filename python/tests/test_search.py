"""SearchCV beside scikit-learn's GridSearchCV."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone, is_classifier, is_regressor  # noqa: E402
from sklearn.model_selection import GridSearchCV, PredefinedSplit, cross_val_score  # noqa: E402

import mercer  # noqa: E402
from mercer import SVC, SVR, KernelRidge, SearchCV, rbf  # noqa: E402


@pytest.fixture
def folds() -> np.ndarray:
    return np.random.default_rng(5).integers(0, 4, 120)


def test_scores_are_those_of_machines_trained_one_by_one(moons, folds) -> None:
    X, y = moons
    grid = {"C": [0.1, 1.0, 30.0], "gamma": [0.1, 2.0]}
    ours = SearchCV(SVC(), grid, cv=folds).fit(X, y)
    theirs = GridSearchCV(SVC(), grid, cv=PredefinedSplit(folds)).fit(X, y)
    order = [theirs.cv_results_["params"].index(point) for point in ours.cv_results_["params"]]
    for name in ("mean_test_score", *(f"split{k}_test_score" for k in range(4))):
        np.testing.assert_allclose(
            ours.cv_results_[name], theirs.cv_results_[name][order], atol=0.035
        )
    assert abs(ours.best_score_ - theirs.best_score_) < 0.02
    assert ours.n_splits_ == 4 and ours.best_params_ == ours.cv_results_["params"][ours.best_index_]
    assert ours.cv_results_["rank_test_score"][ours.best_index_] == 1
    assert set(theirs.cv_results_) - set(ours.cv_results_) <= {
        "std_fit_time",
        "mean_score_time",
        "std_score_time",
    }


def test_errors_are_negative_and_alpha_is_lambda(moons, folds) -> None:
    X, _ = moons
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    grid = {"alpha": [1e-3, 1e-1, 10.0], "gamma": [0.5, 2.0]}
    ours = SearchCV(KernelRidge(kernel="rbf"), grid, cv=folds).fit(X, y)
    theirs = GridSearchCV(
        KernelRidge(kernel="rbf"), grid, cv=PredefinedSplit(folds), scoring="neg_mean_squared_error"
    ).fit(X, y)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-6)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-8)


def test_expressions_and_lists_of_kernels(moons) -> None:
    X, y = moons
    found = SearchCV(SVC(kernel=rbf(gamma=1) + 0.1 * mercer.linear()), {"gamma": [1e-4, 3.0]}).fit(
        X, y
    )
    assert str(found.best_params_["kernel"]) == "rbf(gamma=3) + 0.1*linear"
    by_name = SearchCV(SVC(), {"C": [1], "kernel": ["linear", rbf(gamma=2)]}).fit(X, y)
    assert by_name.best_params_["kernel"] == rbf(gamma=2)
    assert len(by_name.cv_results_["params"]) == 2
    degrees = SearchCV(SVC(kernel="polynomial(degree=$d, gamma=1)"), {"d": [1, 3]}).fit(X, y)
    assert "degree=3" in str(degrees.best_params_["kernel"])


def test_a_search_without_a_grid_and_by_other_methods(moons) -> None:
    X, y = moons
    usual = SearchCV(SVC()).fit(X, y)
    assert set(usual.best_params_) == {"C", "gamma"} and usual.best_score_ > 0.85
    for method in ("random", "halving", "bayesian"):
        told = {"method": method, "n_iter": 8, "random_state": 3}
        a = SearchCV(SVC(), {"C": "0.1:100:log3", "gamma": "0.01:10:log3"}, **told).fit(X, y)
        b = SearchCV(SVC(), {"C": "0.1:100:log3", "gamma": "0.01:10:log3"}, **told).fit(X, y)
        assert a.best_params_ == b.best_params_ and a.best_score_ > 0.8


def test_groups_stay_together(moons) -> None:
    X, y = moons
    twice, labels = np.vstack([X, X]), np.r_[y, 1 - y]  # every row contradicts its twin
    groups = np.r_[np.arange(120), np.arange(120)]
    apart = SearchCV(SVC(gamma=50.0), {"C": [100.0]}).fit(twice, labels)
    together = SearchCV(SVC(gamma=50.0), {"C": [100.0]}).fit(twice, labels, groups=groups)
    assert together.best_score_ > apart.best_score_ + 0.1


def test_it_is_an_estimator(moons, tmp_path) -> None:
    X, y = moons
    search = SearchCV(SVC(), {"C": [1, 10]}, cv=3)
    assert is_classifier(search) and is_regressor(SearchCV(SVR(), {"C": [1]}))
    assert cross_val_score(clone(search), X, y, cv=2).mean() > 0.7
    journal = tmp_path / "journal"
    first = SearchCV(SVC(), {"C": [1, 10]}, journal=str(journal)).fit(X, y)
    again = SearchCV(SVC(), {"C": [1, 10]}, journal=str(journal)).fit(X, y)
    np.testing.assert_array_equal(
        first.cv_results_["mean_test_score"], again.cv_results_["mean_test_score"]
    )
    assert not hasattr(search.fit(X, y), "predict_proba")
    assert search.classes_.tolist() == [0, 1] and search.decision_function(X).shape == (120,)


def test_what_cannot_be_searched_is_said(moons) -> None:
    X, y = moons
    for wrong, kind, message in (
        (SearchCV(SVC(), {"D": [1]}), ValueError, "D"),
        (SearchCV(SVC(), {"C": ["much"]}), TypeError, "param_grid"),
        (SearchCV(SVC(), {"C": [1]}, cv=1), ValueError, "cv = 1"),
        (SearchCV(SVC(), {"C": [1]}, method="luck"), ValueError, "method"),
        (SearchCV(SVC(kernel=lambda A, B: A @ B.T), {"C": [1]}), TypeError, "expression"),
        (SearchCV(object(), {"C": [1]}), TypeError, "machines of mercer"),
    ):
        with pytest.raises(kind, match=message):
            wrong.fit(X, y)
