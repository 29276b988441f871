"""Models saved from Python, read elsewhere: classes keep their names."""

from __future__ import annotations

import pathlib
import pickle
import subprocess
import warnings

import numpy as np
import pytest

import mercer
from mercer import _core

PROGRAM = pathlib.Path(__file__).parents[2] / "build/bin/mercer"
LABELS = {
    "text": ["no", "yes"],
    "numbers": [3, 7],
    "halves": [-1.0, 1.0],
    "bools": [False, True],
    "natural order is another": ["c10", "c2"],
    "three": ["Zebra", "ant", "bee 2"],
    "objects": np.array(["no", "yes"], dtype=object),
    "large": [2**60, 2**60 + 1],
}


def problem(labels) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    place = rng.integers(0, len(labels), 90)
    return rng.normal(size=(90, 2)) + 4.0 * np.c_[place == 1, place == 2], np.asarray(labels)[place]


def written(label) -> str:
    return format(label, "g") if isinstance(label, float) else str(label)


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", ["SVC", "ParzenClassifier", "KernelLogisticRegression", "Adatron"])
def test_a_saved_model_knows_its_classes(kind, name, tmp_path) -> None:
    X, y = problem(LABELS[kind])
    model = getattr(mercer, name)().fit(X, y)
    path = tmp_path / "model.mercer"
    model.save(path)
    assert _core.Model.load(str(path)).class_names == [written(c) for c in model.classes_.tolist()]
    loaded = mercer.load(path)
    assert type(loaded) is type(model)
    if kind != "large":  # no double holds them, so the file has text
        assert loaded.classes_.tolist() == model.classes_.tolist()
        assert isinstance(loaded.classes_.tolist()[0], bool) == (kind == "bools")
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    again = pickle.loads(pickle.dumps(model))
    assert again.classes_.tolist() == model.classes_.tolist()
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program mercer is not built")
@pytest.mark.parametrize("kind", LABELS)
def test_the_command_line_prints_the_classes(kind, tmp_path) -> None:
    X, y = problem(LABELS[kind])
    model = mercer.SVC(class_weight={y[0]: 2}, probability=True).fit(X, y)
    model.save(tmp_path / "model.mercer")
    lines = [f"{label},{a!r},{b!r}" for label, (a, b) in zip(map(written, y.tolist()), X.tolist())]
    (tmp_path / "rows.csv").write_text("\n".join(["y,x0,x1", *lines, ""]))

    def run(*words: str) -> str:
        done = subprocess.run(
            [PROGRAM, *words], capture_output=True, text=True, cwd=tmp_path, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("predict", "model.mercer", "rows.csv", "--label", "y", "-o", "said.txt")
    said = (tmp_path / "said.txt").read_text().splitlines()
    assert said[-len(y) :] == [written(c) for c in model.predict(X).tolist()]
    # Its certificate holds on the same rows, whatever order the names have there. (Numbers that no
    # double can tell apart are one class in a file.)
    if kind != "large":
        run("verify", "model.mercer", "rows.csv", "--label", "y")


def test_several_classes_name_their_parts(tmp_path) -> None:
    X, y = problem(LABELS["three"])
    model = mercer.SVC().fit(X, y)
    names = [report["name"] for report in model._model.reports()]
    assert names == ["Zebra vs ant", "Zebra vs bee 2", "ant vs bee 2"]


def test_warm_starts_and_prediction_sets_go_by_the_same_classes() -> None:
    X, y = problem(LABELS["three"])
    model = mercer.SVC(warm_start=True).fit(X, y)
    steps = model.report_.iterations
    assert model.fit(X, y).report_.iterations <= steps
    sets = mercer.prediction_sets(model, X[60:], X[:60], y[:60], coverage=0.8)
    covered = sets[np.arange(30), np.searchsorted(model.classes_, y[60:])]
    assert covered.mean() > 0.6


def test_cca_is_no_task_of_fit_and_unknown_settings_are_refused() -> None:
    from mercer._common.arrays import to_rows

    X, y = problem([0.0, 1.0])

    def fit(task: str, **settings):
        kernel = _core.Expression.parse("rbf(gamma=1)")
        return _core.fit(task, kernel, settings, to_rows(X), y, None, None, [], None, False)

    for task in ("cca", "dependency"):
        with pytest.raises(ValueError, match="two sets of rows"):
            fit(task)
    with pytest.raises(ValueError, match="no setting 'tolerence'; did you mean tolerance"):
        fit("svc", tolerence=1e-3)
    with pytest.raises(ValueError, match="no setting 'zzz'; there are .*lambda"):
        fit("ridge", zzz=1)
    with pytest.raises(TypeError, match="C = 'much' must be a number"):
        fit("svc", C="much")
    for task in ("svc", "svr", "parzen", "perceptron", "adatron", "ridge", "gp", "kpca", "kha",
                 "ica", "k-means", "vq", "logistic", "squared-hinge", "huber", "quantile"):  # fmt: skip
        with pytest.raises(ValueError, match="no setting 'kernell'"):
            fit(task, kernell=1)


@pytest.mark.parametrize(
    "machine",
    [
        mercer.SVC(C=3, probability=True),
        mercer.NuSVC(nu=0.2),
        mercer.SVR(epsilon=0.2),
        mercer.NuSVR(),
        mercer.OneClassSVM(nu=0.2),
        mercer.SVDD(nu=0.2),
        mercer.ParzenClassifier(),
        mercer.ParzenRegion(),
        mercer.QuantileRegions(shares=[0.5, 0.9]),
        mercer.KernelPerceptron(),
        mercer.Adatron(),
        mercer.KernelRidge(kernel="rbf"),
        mercer.KernelLogisticRegression(),
        mercer.SquaredHingeClassifier(),
        mercer.KernelHuberRegressor(),
        mercer.KernelQuantileRegressor(),
        mercer.GaussianProcessRegressor(),
        mercer.KernelKMeans(3),
        mercer.KernelPCA(2, kernel="rbf"),
    ],
    ids=lambda m: type(m).__name__,
)
def test_a_loaded_machine_predicts_as_the_saved_one(machine, tmp_path) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = problem([0, 1, 2])
    X = pandas.DataFrame(X, columns=["a", "b"])
    machine.fit(X, y).save(tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    for use in ("predict", "transform", "decision_function", "predict_proba", "score_samples"):
        assert hasattr(loaded, use) == hasattr(machine, use), use
        if hasattr(machine, use):
            np.testing.assert_array_equal(getattr(loaded, use)(X), getattr(machine, use)(X))
    assert loaded.feature_names_in_.tolist() == ["a", "b"]
    assert loaded.report_.primal == machine.report_.primal
    for name in ("C", "nu", "epsilon", *(["tol"] if hasattr(machine, "shrinking") else [])):
        assert getattr(loaded, name, None) == getattr(machine, name, None)
    with pytest.raises(ValueError, match="feature"):
        loaded.predict(X[["a"]]) if hasattr(loaded, "predict") else loaded.transform(X[["a"]])


def test_models_that_no_estimator_predicts_with_are_refused(tmp_path) -> None:
    X, _ = problem([0, 1])
    mercer.KernelVQ(1.0).fit(X).save(tmp_path / "model.mercer")
    with pytest.raises(ValueError, match="task vq"):
        mercer.load(tmp_path / "model.mercer")


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program mercer is not built")
@pytest.mark.parametrize("options", [("--scale", "standard"), ("--multi-class", "ovr")])
def test_models_of_the_command_line_are_loaded(options, tmp_path) -> None:
    def run(*words: str) -> None:
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr

    run("train", "@iris", "model.mercer", *options)
    run("predict", "model.mercer", "@iris", "-o", "said.txt")
    X, y = mercer.data.read("@iris")
    model = mercer.load(tmp_path / "model.mercer")
    said = (tmp_path / "said.txt").read_text().split()[-len(y) :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the columns have names in the file
        assert model.predict(X).tolist() == said
        assert model.decision_function(X).shape == (150, 3)
        assert model.score(X, y) > 0.9
