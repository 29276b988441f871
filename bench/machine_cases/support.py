"""Support vector machines for other ends, perceptrons, and what is done after training."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bench.machine_cases.rules import OURS, Case, Check, Place, Work
from bench.machine_cases.sets import mnist, spambase, usps


def _eights(place: Place) -> tuple[np.ndarray, np.ndarray]:
    """Images of an 8, and some of all digits to ask about."""
    x, y = mnist(place, 15_000 if place.quick else 60_000)
    return x[y == 8], mnist(place, 1_000, "t10k")[0]


def _one_class(module: str):
    def make(data: Any, place: Place) -> Work:
        more = {}
        if module == OURS:
            from mercer import OneClassSVM

            more = {"n_jobs": place.threads}
        else:
            from sklearn.svm import OneClassSVM

        x, test = data
        machine = OneClassSVM(kernel="rbf", gamma=0.02, nu=0.1, tol=1e-4, **more)

        def answers(m: Any) -> dict[str, list[float]]:
            inside = (m.predict(test) > 0).astype(int).tolist()
            return {"decisions": np.ravel(m.decision_function(test)).tolist(), "inside": inside}

        return Work(lambda: machine.fit(x), answers)

    return make


def _ball(data: Any, place: Place) -> Work:
    from mercer import SVDD

    x, test = data
    machine = SVDD(kernel="rbf", gamma=0.02, nu=0.1, tol=1e-4, n_jobs=place.threads)
    return Work(lambda: machine.fit(x), lambda m: {"inside": (m.predict(test) > 0).astype(int).tolist()})


def _signs(place: Place) -> tuple[np.ndarray, ...]:
    x, y = mnist(place, place.rows(10_000))
    test, _ = mnist(place, 2_000, "t10k")
    return x, np.where(y % 2 == 0, 1.0, -1.0), test


PASSES = 10


def _perceptron_ours(data: Any, place: Place) -> Work:
    from mercer import KernelPerceptron

    x, y, test = data
    machine = KernelPerceptron(kernel="rbf", gamma=0.02, max_iter=PASSES, bias=False, n_jobs=place.threads)
    return Work(lambda: machine.fit(x, y), lambda m: {"labels": m.predict(test).tolist()})


def _perceptron_numpy(data: Any, place: Place) -> Work:
    """The kernel matrix once, and a row of it added at each mistake."""
    from sklearn.metrics.pairwise import rbf_kernel

    x, y, test = data

    def run() -> np.ndarray:
        kernel = rbf_kernel(x, gamma=0.02)
        alpha, values = np.zeros(len(x)), np.zeros(len(x))
        for _ in range(PASSES):
            mistakes = 0
            for i in range(len(x)):
                if y[i] * values[i] <= 0:
                    alpha[i] += y[i]
                    values += y[i] * kernel[i]
                    mistakes += 1
            if mistakes == 0:
                break
        return alpha

    def answers(alpha: np.ndarray) -> dict[str, list[float]]:
        return {"labels": np.where(rbf_kernel(test, x, gamma=0.02) @ alpha > 0, 1.0, -1.0).tolist()}

    return Work(run, answers)


def _labels(place: Place) -> tuple[np.ndarray, ...]:
    from sklearn.datasets import make_multilabel_classification

    rows = place.rows(4_000)
    x, y = make_multilabel_classification(rows + 1_000, 50, n_classes=10, random_state=0)
    x = (x - x.mean(0)) / x.std(0)
    return x[:rows], y[:rows], x[rows:], y[rows:]


def _several(module: str):
    def make(data: Any, place: Place) -> Work:
        if module == OURS:
            from mercer import MultiLabelClassifier

            machine = MultiLabelClassifier(C=1.0, kernel="rbf", gamma=0.01, n_jobs=place.threads)
        else:
            from sklearn.multiclass import OneVsRestClassifier
            from sklearn.svm import SVC

            machine = OneVsRestClassifier(SVC(C=1.0, gamma=0.01))
        x, y, test, truth = data
        return Work(lambda: machine.fit(x, y), lambda m: {"wrong": float(np.mean(m.predict(test) != truth))})

    return make


def _mails(place: Place) -> tuple[np.ndarray, ...]:
    x, y = spambase(place, 4_601)
    cut = place.rows(2_800)
    return x[:cut], y[:cut], x[2_800:3_700], y[2_800:3_700], x[3_700:], y[3_700:]


def _log_loss(machine: Any, x: np.ndarray, y: np.ndarray) -> float:
    from sklearn.metrics import log_loss

    return float(log_loss(y, machine.predict_proba(x)))


def _probabilities(module: str):
    def make(data: Any, place: Place) -> Work:
        if module == OURS:
            from mercer import SVC

            machine = SVC(C=1.0, gamma=0.02, probability=True, n_jobs=place.threads)
        else:
            from sklearn.calibration import CalibratedClassifierCV
            from sklearn.svm import SVC

            machine = CalibratedClassifierCV(SVC(C=1.0, gamma=0.02), ensemble=False)
        x, y, _, _, test, truth = data
        return Work(lambda: machine.fit(x, y), lambda m: {"log loss": _log_loss(m, test, truth)})

    return make


def _sure(data: Any, place: Place) -> Any:
    from mercer import SVC

    return SVC(C=1.0, gamma=0.02, probability=True, n_jobs=place.threads).fit(*data[:2])


def _coverage(sets: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    places = truth.astype(int)
    return {"not covered": 1 - float(sets[np.arange(len(sets)), places].mean()), "size": float(sets.sum(1).mean())}


def _sets_ours(data: Any, place: Place) -> Work:
    from mercer import prediction_sets

    machine = _sure(data, place)
    x, y, test, truth = data[2:]
    return Work(lambda: prediction_sets(machine, test, x, y, coverage=0.95), lambda s: _coverage(s, truth))


def _sets_mapie(data: Any, place: Place) -> Work:
    from mapie.classification import SplitConformalClassifier

    machine = _sure(data, place)
    x, y, test, truth = data[2:]

    def run() -> np.ndarray:
        sets = SplitConformalClassifier(machine, confidence_level=0.95, prefit=True).conformalize(x, y)
        return sets.predict_set(test)[1][:, :, 0]

    return Work(run, lambda s: _coverage(s, truth))


def _importance(module: str):
    def make(data: Any, place: Place) -> Work:
        threads = 1  # in one process: scikit-learn's helpers would not be counted
        if module == OURS:
            from mercer import SVC, permutation_importance

            threads = place.threads
        else:
            from sklearn.inspection import permutation_importance
            from sklearn.svm import SVC
        x, y, _, _, test, truth = data
        machine = SVC(C=1.0, gamma=0.02).fit(x, y)

        def run() -> Any:
            return permutation_importance(machine, test, truth, n_repeats=5, random_state=1, n_jobs=threads)

        def answers(found: Any) -> dict[str, list[float]]:
            means = found[0] if isinstance(found, tuple) else found.importances_mean
            return {"losses": np.asarray(means).tolist()}

        return Work(run, answers)

    return make


def _reduced(data: Any, place: Place) -> Work:
    from mercer import SVC

    x, y = data
    machine = SVC(C=10.0, gamma=0.01, n_jobs=place.threads).fit(x, y)

    def answers(small: Any) -> dict[str, float]:
        lost = small.report_.figures
        return {"vectors before": len(machine.support_),
                "share lost": lost["squared_distance"] / lost["squared_norm"],
                "labels changed": float(np.mean(small.predict(x) != machine.predict(x)))}  # fmt: skip

    return Work(lambda: machine.reduced(200, method="greedy"), answers)


ROWS = 2_000


def _row_by_row(module: str):
    def make(data: Any, place: Place) -> Work:
        if module == OURS:
            from mercer import SVC
        else:
            from sklearn.svm import SVC

        x, y, _, _, test, _ = data
        machine = SVC(C=1.0, gamma=0.02).fit(x, y)
        machine.predict(test[:1])

        def run() -> tuple[list[float], float]:
            begin = time.perf_counter()
            found = [float(machine.predict(test[i % len(test)][None])[0]) for i in range(ROWS)]
            return found, (time.perf_counter() - begin) / ROWS * 1e6

        return Work(run, lambda found: {"labels": found[0], "µs": found[1]})

    return make


CASES = (
    Case("one-class", "MNIST's images of an 8, 5851 × 784, rbf(gamma=0.02), ν = 0.1; decisions on 1000 rows",
         _eights,
         {OURS: _one_class(OURS), "scikit-learn OneClassSVM": _one_class("scikit-learn")},
         {"decisions": Check("same", 1e-3)}),
    Case("svdd", "the same rows; with a Gaussian its ball and the half-space of OneClassSVM have the same rows "
         "inside", _eights, {OURS: _ball, "scikit-learn OneClassSVM": _one_class("scikit-learn")},
         {"inside": Check("agree", 0.005)}),
    Case("perceptron", "MNIST's first 10 000, even against odd, rbf(gamma=0.02), 10 passes; peer: a loop in NumPy",
         _signs, {OURS: _perceptron_ours, "NumPy": _perceptron_numpy}, {"labels": Check("agree", 0.005)}),
    Case("multi-label", "made, 4000 × 50, 10 labels, C = 1, rbf(gamma=0.01); ours ranks the labels, another "
         "machine; wrong labels of 1000 rows", _labels,
         {OURS: _several(OURS), "scikit-learn OneVsRestClassifier(SVC)": _several("scikit-learn")},
         {"wrong": Check("no more", 0.05)}),
    Case("probabilities", "spambase, 2800 × 57, SVC with C = 1, rbf(gamma=0.02), a sigmoid from 5 folds; log loss "
         "on 901 rows", _mails,
         {OURS: _probabilities(OURS), "scikit-learn CalibratedClassifierCV(SVC)": _probabilities("scikit-learn")},
         {"log loss": Check("no more", 0.02)}),
    Case("conformal", "spambase: sets that hold the class with 0.95, of 900 rows set aside for 901 others, of the "
         "same machine of ours", _mails, {OURS: _sets_ours, "MAPIE SplitConformalClassifier": _sets_mapie},
         {"not covered": Check("same", 0.5), "size": Check("no more", 0.05)}),
    Case("importance", "spambase: 57 columns of 901 rows, shuffled 5 times each", _mails,
         {OURS: _importance(OURS), "scikit-learn permutation_importance": _importance("scikit-learn")},
         # Each shuffles in its own order; ours with two seeds differs from itself by 0.1 to 0.36.
         {"losses": Check("same", 0.4)}),
    Case("reduced", "usps, 7291 × 256, SVC with C = 10, rbf(gamma=0.01), to 200 vectors; no peer",
         lambda place: usps(place, place.rows(7_291)), {OURS: _reduced}, {},
         ("vectors before", "share lost", "labels changed")),
    Case("one-row", "spambase, SVC: predict of one row a call from Python, 2000 calls", _mails,
         {OURS: _row_by_row(OURS), "scikit-learn SVC": _row_by_row("scikit-learn")},
         {"labels": Check("agree", 0.005)}, ("µs",)),
)  # fmt: skip
