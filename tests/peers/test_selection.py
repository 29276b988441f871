"""Folds, scores, calibration and reliability beside scikit-learn's, where the definitions agree.

MERCER_PROGRAMS names the folder of the program.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import PredefinedSplit, cross_val_score
from sklearn.svm import SVC, SVR
from test_sklearn import Files, mercer, wave


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


def clouds(rows: int, seed: int, classes: int = 2):
    random = np.random.default_rng(seed)
    y = np.arange(rows) % classes
    centres = np.array([[0, 0], [1.6, 0.4], [0.2, 1.9]])[:classes]
    return centres[y] + random.standard_normal((rows, 2)), y


def folds_of(rows: int, seed: int):
    return np.random.default_rng(seed).permutation(np.arange(rows) % 4)


def tuned(files, x, y, fold, *words) -> list[float]:
    data = files.put("data", x, y)
    names = files.folder / "folds"
    names.write_text("".join(f"{f}\n" for f in fold))
    report = mercer(
        "tune", data, "--fold-file", names, "--double-precision", "--alone", "--quiet", *words
    )
    return report["points"][0]["scores"]


SCORES = {
    "accuracy": "accuracy",
    "balanced-accuracy": "balanced_accuracy",
    "auc": "roc_auc",
    "f1": "f1",
}


@pytest.mark.parametrize("score", SCORES)
def test_scores_of_the_same_folds(files, score):
    x, y = clouds(160, 1)
    fold = folds_of(160, 2)
    ours = tuned(
        files, x, y, fold, "--kernel", "rbf(gamma=0.5)", "--grid", "C=2", "--tol", 1e-8,
        "--score", score,
    )
    theirs = cross_val_score(
        SVC(C=2, gamma=0.5, tol=1e-8), x, y, cv=PredefinedSplit(fold), scoring=SCORES[score]
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_f1_of_three_classes_is_the_macro_mean(files):
    x, y = clouds(180, 3, classes=3)
    fold = folds_of(180, 4)
    ours = tuned(
        files, x, y, fold, "--kernel", "rbf(gamma=0.5)", "--grid", "C=2", "--tol", 1e-8,
        "--score", "f1",
    )
    theirs = cross_val_score(
        SVC(C=2, gamma=0.5, tol=1e-8), x, y, cv=PredefinedSplit(fold), scoring="f1_macro"
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


REGRESSION = {
    "mse": metrics.mean_squared_error,
    "mae": metrics.mean_absolute_error,
    "r2": metrics.r2_score,
}


@pytest.mark.parametrize("score", REGRESSION)
def test_regression_scores_of_our_own_predictions(files, score):
    # The machine is judged by our predictions, so that only the definition of the score counts.
    x, y = wave(120, 2, 5)
    fold = folds_of(120, 6)
    words = ("--task", "svr", "--kernel", "rbf(gamma=0.5)", "--epsilon", 0.1, "--tol", 1e-8)
    ours = tuned(files, x, y, fold, *words, "--grid", "C=3", "--score", score)
    theirs = cross_val_score(
        SVR(C=3, gamma=0.5, tol=1e-8, epsilon=0.1), x, y, cv=PredefinedSplit(fold),
        scoring=metrics.make_scorer(REGRESSION[score]),
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
    for f in range(4):
        files.train(x[fold != f], y[fold != f], *words, "-C", 3)
        found = np.array(files.predict(x[fold == f])["labels"])
        assert ours[f] == pytest.approx(REGRESSION[score](y[fold == f], found), abs=1e-9)


def calibrated(files, method: str, classes: int = 2):
    x, y = clouds(240, 7, classes)
    files.train(x, y, "--kernel", "rbf(gamma=0.5)")
    aside, answers = clouds(300, 8, classes)
    decisions = np.array(files.predict(aside, "--decision")["decision"]["rows"])
    test, truth = clouds(200, 9, classes)
    held = files.put("aside", aside, answers)
    sure = files.folder / "sure.mercer"
    report = mercer(
        "calibrate", files.folder / "m.mercer", held, "--method", method, "-o", sure,
        "--test", files.put("judged", test, truth),
    )
    rows = mercer("predict", sure, files.put("judged", test, truth), "--probability",
                  "--decision")
    return {
        "decisions": decisions, "answers": answers, "truth": truth, "report": report,
        "test_decisions": np.array(rows["decision"]["rows"]),
        "p": np.array(rows["probability"]["rows"]),
    }


def test_isotonic_is_isotonic_regression(files):
    c = calibrated(files, "isotonic")
    curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    curve.fit(c["decisions"][:, 0], c["answers"] == 0)
    theirs = np.clip(curve.predict(c["test_decisions"][:, 0]), 1e-7, 1 - 1e-7)
    np.testing.assert_allclose(c["p"][:, 0], theirs, atol=1e-9)


def test_temperature_minimises_the_log_loss(files):
    c = calibrated(files, "temperature")
    f = c["decisions"][:, 0]
    sign = np.where(c["answers"] == 0, 1, -1)

    def loss(t):
        return np.mean(np.logaddexp(0, -sign * f / t))

    ours = np.log(c["p"][:, 0] / c["p"][:, 1]) / c["test_decisions"][:, 0]
    t = 1 / np.median(ours)
    assert loss(t) <= min(loss(s) for s in np.geomspace(t / 5, t * 5, 400)) + 1e-9


@pytest.mark.parametrize("method", ["platt", "isotonic", "temperature"])
def test_report_is_made_of_the_usual_scores(files, method):
    c = calibrated(files, method)
    report, p, truth = c["report"], c["p"], c["truth"]
    assert report["brier"] == pytest.approx(metrics.brier_score_loss(truth, p[:, 1]), abs=1e-9)
    assert report["log_loss"] == pytest.approx(metrics.log_loss(truth, p), abs=1e-9)
    observed, predicted = calibration_curve(truth, p[:, 1], n_bins=10)
    ours = [b for b in report["bins"] if b["rows"]]
    np.testing.assert_allclose([b["predicted"] for b in ours], predicted, atol=1e-9)
    np.testing.assert_allclose([b["observed"] for b in ours], observed, atol=1e-9)


def test_brier_of_three_classes(files):
    c = calibrated(files, "temperature", classes=3)
    wanted = np.mean(np.sum((c["p"] - np.eye(3)[c["truth"]]) ** 2, axis=1))
    assert c["report"]["brier"] == pytest.approx(wanted, abs=1e-9)
