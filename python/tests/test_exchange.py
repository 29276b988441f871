"""Models that go to other programs and come back."""

import subprocess

import numpy as np
import pytest

import mercer
from mercer import SVC, SVDD, SVR, KernelPCA, KernelRidge, NuSVC, NuSVR, OneClassSVM

svm = pytest.importorskip("sklearn.svm")
KERNELS = [
    {"kernel": "linear"},
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "poly", "degree": 2, "gamma": 0.4, "coef0": 1.0},
    {"kernel": "sigmoid", "gamma": 0.01, "coef0": -0.2},
]


def sample(classes=3, rows=120, seed=0):
    random = np.random.default_rng(seed)
    y = np.arange(rows) % classes
    x = random.standard_normal((rows, 4)) + 1.2 * y[:, None]
    return x, y


NAMES = np.array(["ant", "bee", "cat"])


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", [svm.SVC, svm.NuSVC])
def test_classifiers_from_sklearn(kernel, classes, kind):
    x, y = sample(classes)
    more = {"nu": 0.2} if kind is svm.NuSVC else {}
    theirs = kind(decision_function_shape="ovo", **kernel, **more).fit(x, NAMES[y])
    ours = mercer.from_sklearn(theirs)
    test = sample(classes, seed=1)[0]
    assert isinstance(ours, SVC if kind is svm.SVC else NuSVC)
    assert ours.predict(test).tolist() == theirs.predict(test).tolist()
    back = mercer.to_sklearn(ours)
    back.set_params(decision_function_shape="ovo")
    np.testing.assert_allclose(
        back.decision_function(test), theirs.decision_function(test), atol=1e-10
    )
    np.testing.assert_allclose(back.dual_coef_, theirs.dual_coef_)
    np.testing.assert_allclose(back.intercept_, theirs.intercept_)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])
def test_regressions_and_regions_from_sklearn(kernel):
    x, y = sample()
    test = sample(seed=1)[0]
    for kind in (svm.SVR, svm.NuSVR, svm.OneClassSVM):
        theirs = kind(**kernel).fit(x, np.sin(y + x[:, 0]))
        ours = mercer.from_sklearn(theirs)
        back = mercer.to_sklearn(ours)
        if kind is svm.OneClassSVM:
            np.testing.assert_allclose(
                ours.decision_function(test), theirs.decision_function(test), atol=1e-8
            )
            np.testing.assert_allclose(
                back.decision_function(test), theirs.decision_function(test), atol=1e-10
            )
        else:
            np.testing.assert_allclose(ours.predict(test), theirs.predict(test), atol=1e-8)
            np.testing.assert_allclose(back.predict(test), theirs.predict(test), atol=1e-10)


@pytest.mark.parametrize(
    "machine",
    [
        SVC(kernel="rbf", gamma=0.3, C=3),
        NuSVC(kernel="rbf", gamma=0.2, nu=0.4),
        SVR(kernel="rbf", gamma=0.3),
        NuSVR(kernel="linear"),
        OneClassSVM(kernel="rbf", gamma=0.3, nu=0.2),
    ],
    ids=lambda m: type(m).__name__,
)
def test_ours_as_sklearns(machine):
    x, y = sample()
    machine.fit(x, NAMES[y] if hasattr(machine, "decision_function_shape") else y.astype(float))
    theirs = mercer.to_sklearn(machine)
    test = sample(seed=1)[0]
    assert type(theirs).__module__.startswith("sklearn")
    if hasattr(machine, "classes_") or isinstance(machine, OneClassSVM):
        assert theirs.predict(test).tolist() == machine.predict(test).tolist()
    else:
        np.testing.assert_allclose(theirs.predict(test), machine.predict(test), atol=1e-5)


def test_what_sklearn_has_no_words_for_is_refused():
    x, y = sample()
    with pytest.raises(ValueError, match="matern|kernel"):
        mercer.to_sklearn(SVC(kernel=mercer.matern()).fit(x, y))
    with pytest.raises(ValueError, match="sphere"):
        mercer.to_sklearn(SVDD().fit(x))
    with pytest.raises(TypeError, match="SVC"):
        mercer.from_sklearn(object())
    with pytest.raises(ValueError, match="fitted"):
        mercer.from_sklearn(svm.SVC())
    with pytest.raises(ValueError, match="none of"):
        mercer.from_sklearn(svm.SVC(kernel=lambda a, b: a @ b.T).fit(x, y))


def test_libsvm_files_both_ways(tmp_path):
    x, y = sample()
    ours = SVC(kernel="rbf", gamma=0.3).fit(x, y)
    path = tmp_path / "m.model"
    ours.export(path)
    again = mercer.load_libsvm(path, columns=4)
    test = sample(seed=1)[0]
    assert again.predict(test).tolist() == ours.predict(test).tolist()
    np.testing.assert_allclose(
        again.decision_function(test), ours.decision_function(test), atol=1e-5
    )


@pytest.mark.parametrize(
    "machine",
    [SVC(kernel=mercer.matern()), KernelRidge(kernel=mercer.rbf(gamma=0.2) + 1.0),
     KernelPCA(n_components=2, kernel="rbf")],
    ids=lambda m: type(m).__name__,
)
def test_onnx(machine, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    x, y = sample()
    machine.fit(x, y)
    path = tmp_path / "m.onnx"
    machine.export(path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    given = session.get_inputs()[0]
    test = sample(seed=1)[0].astype(np.float32 if "float" in given.type else np.float64)
    names = [o.name for o in session.get_outputs()]
    found = dict(zip(names, session.run(names, {"x": test})))
    if isinstance(machine, SVC):
        assert found["label"].tolist() == machine.predict(test).tolist()
    elif isinstance(machine, KernelRidge):
        np.testing.assert_allclose(found["values"][:, 0], machine.predict(test), atol=1e-5)
    else:
        np.testing.assert_allclose(found["values"], machine.transform(test), atol=1e-5)


def test_c_source_tests_itself(tmp_path):
    import shutil

    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler cc")
    x, y = sample()
    source = tmp_path / "m.c"
    mercer.export(SVC(kernel="rbf", gamma=0.3).fit(x, y), source, name="three")
    assert "three_scores" in source.read_text()
    program = tmp_path / "m"
    subprocess.run(
        ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-DMERCER_TEST", str(source), "-o",
         str(program), "-lm"],
        check=True,
    )
    subprocess.run([str(program)], check=True)


def test_mistakes_are_named(tmp_path):
    x, y = sample()
    machine = SVC().fit(x, y)
    with pytest.raises(ValueError, match="onnx"):
        machine.export(tmp_path / "m.txt")
    with pytest.raises(ValueError, match="precision"):
        machine.export(tmp_path / "m.onnx", precision="half")
    with pytest.raises(mercer.NotFittedError):
        SVC().export(tmp_path / "m.onnx")
    with pytest.raises(ValueError, match="Python function"):
        SVC(kernel=lambda a, b: a @ b.T).fit(x, y).export(tmp_path / "m.onnx")
    assert list(tmp_path.iterdir()) == []
