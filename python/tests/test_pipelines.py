"""SearchCV over pipelines, beside scikit-learn's GridSearchCV on the same folds."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.decomposition import PCA  # noqa: E402
from sklearn.model_selection import GridSearchCV, PredefinedSplit  # noqa: E402
from sklearn.pipeline import Pipeline, make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import SVC as TheirSVC  # noqa: E402

from mercer import SVC, SVR, FeatureScaling, KernelRidge, SearchCV, rbf  # noqa: E402


@pytest.fixture
def folds() -> np.ndarray:
    return np.random.default_rng(5).integers(0, 4, 120)


@pytest.fixture
def stretched(moons) -> tuple[np.ndarray, np.ndarray]:
    """Columns so far apart in scale that nothing is learnt without a step that mends it."""
    X, y = moons
    return X * [1.0, 1e4] + [0.0, 3e4], y


def scores_beside(ours: SearchCV, theirs: GridSearchCV, tolerance: float) -> None:
    order = [theirs.cv_results_["params"].index(point) for point in ours.cv_results_["params"]]
    for fold in range(4):
        name = f"split{fold}_test_score"
        np.testing.assert_allclose(
            ours.cv_results_[name], theirs.cv_results_[name][order], atol=tolerance
        )


def test_behind_our_scaling_kernel_values_are_shared(stretched, folds, monkeypatch) -> None:
    X, y = stretched
    whole = Pipeline([("scale", FeatureScaling("standard")), ("svc", SVC())])
    grid = {"svc__C": [0.1, 1.0, 30.0], "svc__gamma": [0.1, 2.0]}
    theirs = GridSearchCV(whole, grid, cv=PredefinedSplit(folds)).fit(X, y)
    monkeypatch.setattr("mercer._select.search.search_points", None)  # the library's own search
    ours = SearchCV(whole, grid, cv=folds).fit(X, y)
    scores_beside(ours, theirs, 0.035)
    assert ours.best_params_ == theirs.best_params_ and ours.best_score_ > 0.9
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    # Without the step there is nothing to learn: it was not left out.
    assert SearchCV(SVC(), {"C": [1.0], "gamma": [2.0]}, cv=folds).fit(X, y).best_score_ < 0.8


def test_behind_other_steps_every_point_is_trained_by_itself(stretched, folds) -> None:
    X, y = stretched
    whole = make_pipeline(StandardScaler(), PCA(), SVC())
    grid = {"svc__C": [1.0, 30.0], "pca__n_components": [1, 2], "svc__gamma": "0.1:2:log2"}
    ours = SearchCV(whole, grid, cv=folds).fit(X, y)
    theirs = GridSearchCV(whole, {**grid, "svc__gamma": [0.1, 2.0]}, cv=PredefinedSplit(folds))
    theirs.fit(X, y)
    scores_beside(ours, theirs, 1e-12)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert isinstance(ours.best_estimator_, Pipeline) and ours.score(X, y) == theirs.score(X, y)
    assert ours.decision_function(X).shape == (120,) and ours.classes_.tolist() == [0, 1]


def test_errors_are_negative_and_drawings_repeat(stretched) -> None:
    X, _ = stretched
    y = np.sin(2 * X[:, 0])
    whole = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))
    grid = {"kernelridge__alpha": [1e-3, 1.0], "kernelridge__gamma": [0.1, 1.0]}
    a = SearchCV(whole, grid, cv=3, repeats=2, random_state=3).fit(X, y)
    b = SearchCV(whole, grid, cv=3, repeats=2, random_state=3).fit(X, y)
    assert a.best_score_ == b.best_score_ < 0 and a.n_splits_ == 6
    some = SearchCV(whole, grid, cv=3, method="random", n_iter=2, random_state=3).fit(X, y)
    assert len(some.cv_results_["params"]) == 2
    scaled = SearchCV(make_pipeline(FeatureScaling(), SVR()), {"svr__C": [1, 10]}).fit(X, y)
    assert set(scaled.best_params_) == {"svr__C"}


def test_steps_learn_nothing_from_the_rows_they_are_judged_by(folds) -> None:
    """A step that remembers labels would be perfect if it saw those of the fold."""

    class Remembers(StandardScaler):
        def fit(self, X, y=None):
            self.known_ = {row.tobytes(): label for row, label in zip(X, y)}
            return self

        def transform(self, X):
            return np.array([[self.known_.get(row.tobytes(), 0.5)] for row in X], dtype=float)

        def fit_transform(self, X, y=None):
            return self.fit(X, y).transform(X)

    random = np.random.default_rng(1)
    X, y = random.normal(size=(120, 2)), random.integers(0, 2, 120)
    whole = make_pipeline(Remembers(), SVC())
    assert SearchCV(whole, {"svc__C": [1.0]}, cv=folds).fit(X, y).best_score_ < 0.7


def test_groups_and_kernels_behind_steps(stretched) -> None:
    X, y = stretched
    twice, labels = np.vstack([X, X]), np.r_[y, 1 - y]  # every row contradicts its twin
    groups = np.r_[np.arange(120), np.arange(120)]
    for step in (StandardScaler(), FeatureScaling()):
        whole = make_pipeline(step, SVC(gamma=50.0))
        apart = SearchCV(whole, {"svc__C": [100.0]}).fit(twice, labels)
        together = SearchCV(whole, {"svc__C": [100.0]}).fit(twice, labels, groups=groups)
        assert together.best_score_ > apart.best_score_ + 0.1
    grid = {"svc__C": [1.0], "svc__kernel": ["linear", rbf(gamma=2)]}
    kernels = SearchCV(make_pipeline(FeatureScaling(), SVC()), grid).fit(X, y)
    assert kernels.best_params_ == {"svc__C": 1.0, "svc__kernel": rbf(gamma=2)}


def test_what_cannot_be_searched_is_said(stretched) -> None:
    X, y = stretched
    whole = make_pipeline(StandardScaler(), SVC())
    for wrong, kind, message in (
        (SearchCV(whole), ValueError, "param_grid = None is for machines alone"),
        (SearchCV(whole, {"svc__C": [1]}, method="bayesian"), ValueError, "method = 'bayesian'"),
        (SearchCV(whole, {"svc__C": [1]}, journal="j"), ValueError, "journal = 'j'"),
        (SearchCV(whole, {"svc__C": []}), ValueError, "has no values"),
        (SearchCV(whole, {"svc__C": [1]}, cv=1), ValueError, "cv = 1"),
        (SearchCV(make_pipeline(TheirSVC()), {"svc__C": [1]}), TypeError, "machines of mercer"),
    ):
        with pytest.raises(kind, match=message):
            wrong.fit(X, y)
