"""Exported models, judged by onnxruntime: the same labels, and the same scores to 1e-5."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from sklearn.datasets import load_iris

from test_sklearn import PROGRAM, Files, files, mercer, wave  # noqa: F401

onnxruntime = pytest.importorskip("onnxruntime")


def session_of(path) -> "onnxruntime.InferenceSession":
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def answers(path, x) -> dict:
    session = session_of(path)
    wanted = session.get_inputs()[0]
    x = np.asarray(x, np.float32 if "float" in wanted.type else np.float64)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {wanted.name: x})))


def exported(files: Files, *words):  # noqa: F811
    path = files.folder / "m.onnx"
    mercer("export", files.folder / "m.mercer", path, *words)
    return path


def rows(count: int, columns: int, seed: int):
    return np.abs(np.random.default_rng(seed).standard_normal((count, columns)))


def compare(files: Files, x, *words, atol=1e-5):  # noqa: F811
    ours = files.predict(x, "--decision", *words)
    theirs = answers(exported(files), x)
    scores = theirs.get("scores", theirs.get("values"))
    np.testing.assert_allclose(scores, ours["decision"]["rows"], atol=atol, rtol=1e-5)
    if "label" in theirs:
        assert theirs["label"].tolist() == ours["labels"]
    if "probability" in ours:
        np.testing.assert_allclose(
            theirs["probabilities"], ours["probability"]["rows"], atol=1e-5
        )
    return theirs


KERNELS = [
    "linear",
    "rbf(gamma=0.4)",
    "polynomial(degree=3, gamma=0.3, coef0=1)",
    "0.1*sigmoid(gamma=0.05, coef0=0) + rbf(gamma=1)",
    "laplacian(gamma=0.3)",
    "laplacian(gamma=0.3, norm=2)",
    "matern(nu=0.5, length=2)",
    "matern(nu=1.5)",
    "matern(nu=2.5)",
    "rational_quadratic(alpha=0.8, length=1.2)",
    "periodic(period=1.3, length=2)",
    "chi2(gamma=0.5)",
    "intersection",
    "anova(gamma=0.3, degree=2)",
    "anova(gamma=0.3, degree=3)",
    "exp(0.2*linear)",
    "bilinear([[2,1,0,0],[1,2,0,0],[0,0,1,0],[0,0,0,3]])",
    "outer(1 + x0^2 - sin(x1)*cos(x2)*norm) + rbf(gamma=0.2)",
    "rbf(gamma=0.7)[0:2]*linear[2,3] + 0.5",
    "normalize(polynomial(degree=2))",
    "center(rbf(gamma=0.7))",
    "normalize(center(rbf(gamma=0.7)))",
    "map(rbf(gamma=0.2), max(x0, x1), tan(x2/4), |x3|^1.5, 2)",
    "rbf_of(polynomial(degree=2), gamma=0.01)",
]


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_of_vectors(files, kernel):  # noqa: F811
    x = rows(90, 4, 1)
    y = np.sin(2 * x[:, 0]) + x[:, 3]
    files.train(x, y, "--task", "ridge", "--kernel", kernel, "--lambda", 0.3)
    compare(files, rows(40, 4, 2))


@pytest.mark.parametrize("scale", ["none", "standard", "minmax(-1,1)", "unit", "0.25"])
@pytest.mark.parametrize("way", ["ovo", "ovr"])
def test_classes_scaling_and_probabilities(files, scale, way):  # noqa: F811
    x, y = load_iris(return_X_y=True)
    more = ("--probability",) if way == "ovo" else ()
    files.train(
        x, y, "--kernel", "rbf(gamma=0.5)", "-C", 5, "--scale", scale, "--multi-class", way, *more
    )
    random = np.random.default_rng(3)
    compare(files, x + 0.3 * random.standard_normal(x.shape), *more)


@pytest.mark.parametrize("method", ["platt", "isotonic", "temperature"])
@pytest.mark.parametrize("classes, way", [(2, "ovo"), (3, "ovo"), (3, "ovr")])
def test_calibrations(files, method, classes, way):  # noqa: F811
    x, y = load_iris(return_X_y=True)
    x, y = (x, y) if classes == 3 else (x[y > 0, 1:3], y[y > 0])
    files.train(x[::2], y[::2], "--kernel", "rbf(gamma=0.5)", "-C", 5, "--multi-class", way)
    held = files.put("held", x[1::2], y[1::2])
    model = files.folder / "m.mercer"
    mercer("calibrate", model, held, "--method", method, "-o", files.folder / "n.mercer")
    (files.folder / "n.mercer").replace(model)
    random = np.random.default_rng(3)
    compare(files, x + 0.3 * random.standard_normal(x.shape), "--probability")


@pytest.mark.parametrize(
    "words",
    [
        ("--task", "svr", "--kernel", "matern(nu=1.5)"),
        ("--task", "nu-svr", "--kernel", "rbf(gamma=0.2)", "--scale", "standard"),
        ("--task", "gp", "--kernel", "2*rbf(sigma=1.5)", "--noise", 0.05),
    ],
)
def test_regressions(files, words):  # noqa: F811
    x, y = wave(120, 3, 3)
    files.train(x, y, *words)
    theirs = compare(files, wave(50, 3, 4)[0])
    assert set(theirs) == {"values"}


@pytest.mark.parametrize("task", ["one-class", "svdd"])
def test_regions(files, task):  # noqa: F811
    x, _ = wave(150, 3, 3)
    files.train(x, np.zeros(len(x)), "--task", task, "--kernel", "rbf(gamma=0.3)")
    theirs = compare(files, 1.5 * wave(80, 3, 4)[0])
    assert set(theirs["label"]) == {1, -1}


def test_components(files):  # noqa: F811
    x, _ = wave(60, 3, 3)
    files.train(x, np.zeros(len(x)), "--task", "kpca", "--kernel", "rbf(gamma=0.3)",
                "--components", 4)
    test = wave(20, 3, 4)[0]
    np.savez(files.folder / "test.npz", X=test)
    done = subprocess.run(
        [PROGRAM, "transform", files.folder / "m.mercer", files.folder / "test.npz", "-o",
         files.folder / "t.npy", "--quiet"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    theirs = answers(exported(files), test)["values"]
    np.testing.assert_allclose(theirs, np.load(files.folder / "t.npy")[:, :4], atol=1e-5)


def test_text_labels_and_single_precision(files):  # noqa: F811
    model = files.folder / "m.mercer"
    mercer("train", "@iris", model, "--kernel", "rbf(gamma=0.5)", "-C", 5)
    x, y = load_iris(return_X_y=True)
    path = exported(files, "--precision", "single")
    theirs = answers(path, x)
    assert set(theirs["label"]) == {"setosa", "versicolor", "virginica"}
    ours = mercer("predict", model, "@iris", "--decision")
    assert list(theirs["label"]) == ours["labels"]
    np.testing.assert_allclose(theirs["scores"], ours["decision"]["rows"], atol=1e-4)
    assert "float" in session_of(path).get_outputs()[-1].type


def test_tables_of_several_kinds(files):  # noqa: F811
    random = np.random.default_rng(5)
    lines = ["age,colour,member,income,born,seen,y"]
    for i in range(200):
        age = "" if random.random() < 0.1 else f"{random.normal(40, 9):.1f}"
        colour = random.choice(["red", "green", "blue", ""], p=[0.4, 0.3, 0.2, 0.1])
        member = random.choice(["yes", "no"])
        income = f"{np.exp(random.normal(2, 2)):.3f}"
        born = np.datetime64("1931-01-01") + random.integers(0, 30000)
        seen = np.datetime64("2020-01-01T00:00") + np.timedelta64(random.integers(0, 10**6), "m")
        seen = "" if random.random() < 0.1 else str(seen).replace("T", " ")
        label = "a" if random.random() < 0.5 else "b"
        lines.append(f"{age},{colour},{member},{income},{born},{seen},{label}")
    table = files.folder / "t.csv"
    table.write_text("\n".join(lines) + "\n")
    mercer("train", table, files.folder / "m.mercer", "--kernel", "rbf(gamma=0.3)", "-C", 3)
    session = session_of(exported(files))
    about = session.get_modelmeta().custom_metadata_map["columns"].split("\n")
    assert len(about) == 6 and about[5] == "seen (days since 1970-01-01)"
    levels = {}
    for place, line in enumerate(about[:4]):
        if "(" not in line:
            continue
        for entry in line[line.index("(") + 1 : -1].split(", "):
            number, name = entry.split(" = ")
            levels[place, name] = int(number)
    cells = [line.split(",")[:6] for line in lines[1:]]

    def number(place, cell):
        if not cell:
            return np.nan
        if place >= 4:
            return np.datetime64(cell.replace(" ", "T"), "m").astype(float) / (24 * 60)
        return levels[place, cell] if (place, cell) in levels else float(cell)

    x = np.array([[number(*place) for place in enumerate(row)] for row in cells])
    theirs = answers(files.folder / "m.onnx", x)
    ours = mercer("predict", files.folder / "m.mercer", table, "--decision")
    assert list(theirs["label"]) == ours["labels"]
    np.testing.assert_allclose(theirs["scores"], ours["decision"]["rows"], atol=2e-5)


def test_the_judge_can_say_no(files):  # noqa: F811
    x, y = wave(60, 3, 3)
    files.train(x, y, "--task", "ridge", "--kernel", "rbf(gamma=0.3)", "--lambda", 0.3)
    path = exported(files)
    files.train(x, y, "--task", "ridge", "--kernel", "rbf(gamma=0.31)", "--lambda", 0.3)
    ours = files.predict(x, "--decision")["decision"]["rows"]
    assert np.abs(answers(path, x)["values"] - ours).max() > 1e-4
