"""Memory, interruption, pickles, sparse data, errors: what users run into."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import mercer
from mercer import _core
from mercer._common.arrays import to_rows


def resident() -> int:
    """Bytes of memory in use."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_dense_rows_are_not_copied(real) -> None:
    X = np.ones((100_000, 200), dtype=real)
    before, references = resident(), sys.getrefcount(X)
    rows = to_rows(X)
    assert rows.address == X.ctypes.data
    assert resident() - before < X.nbytes / 20
    del X
    assert rows.arrays()[0].sum() == 20_000_000  # the rows keep the array alive
    assert references >= 2


def test_sparse_rows_are_not_copied() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    A = sparse.random(1000, 300, density=0.1, format="csr", dtype=np.float32, random_state=0)
    for kind in (np.int32, np.int64):
        A.indices, A.indptr = A.indices.astype(kind), A.indptr.astype(kind)
        rows = to_rows(A)
        assert rows.address == A.data.ctypes.data
        assert len(rows) == 1000 and rows.columns == 300


@pytest.mark.parametrize(
    "estimator",
    [
        mercer.ParzenClassifier(),
        mercer.KernelRidge(kernel="rbf"),
        mercer.GaussianProcessRegressor(optimizer=None),
        mercer.KernelKMeans(2),
        mercer.SVC(kernel=mercer.center(mercer.rbf(gamma=1))),
        mercer.SVC(kernel=lambda A, B: A @ B.T),
    ],
    ids=lambda e: type(e).__name__,
)
def test_models_do_not_look_at_the_callers_array(estimator, moons) -> None:
    X, y = moons
    before = estimator.fit(X, y).predict(X)
    own = X.copy()
    estimator.fit(own, y)
    own[:] = 0  # before anything was prepared for predictions
    np.testing.assert_array_equal(estimator.predict(X), before)


def test_damaged_sparse_rows_are_refused() -> None:
    values, index = np.ones(2), np.array([0, 9], dtype=np.int32)
    with pytest.raises(ValueError, match="strictly increasing"):
        _core.Rows.sparse(values, index, np.array([0, 2], dtype=np.int32), 3)
    with pytest.raises(ValueError, match="starts"):
        _core.Rows.sparse(values, index, np.array([0, 7], dtype=np.int32), 3)
    with pytest.raises(ValueError):
        _core.Rows.sparse(values, -index.astype(np.int64), np.array([0, 2], dtype=np.int64), 3)


def hard_problem(rows: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Pure noise: a machine that works on it for minutes, however fast the solver becomes."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(rows, 20)), rng.integers(0, 2, rows)


def slow(**settings) -> mercer.SVC:
    return mercer.SVC(kernel="rbf", gamma=0.01, C=1e6, tol=1e-9, **settings)


def test_interrupt_raises_at_once() -> None:
    X, y = hard_problem()
    sent = []
    timer = threading.Timer(
        1.0, lambda: (sent.append(time.time()), os.kill(os.getpid(), signal.SIGINT))
    )
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        slow().fit(X, y)
    assert time.time() - sent[0] < 3  # a quiet machine needs less than one second


def test_interrupt_may_keep_what_there_is() -> None:
    X, y = hard_problem()
    threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.time()
    with pytest.warns(mercer.ConvergenceWarning):
        model = slow(on_interrupt="keep").fit(X, y)
    assert time.time() - start < 10
    assert not model.report_.converged and model.report_.gap > 0
    assert model.predict(X[:5]).shape == (5,)


def test_others_run_while_training() -> None:
    X, y = hard_problem()
    ticks = []

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.time())
            time.sleep(0.01)

    done = threading.Event()
    thread = threading.Thread(target=tick, daemon=True)  # a failure must not keep Python alive
    thread.start()
    try:
        with pytest.warns(mercer.ConvergenceWarning):
            slow(time_limit=0.5).fit(X, y)
    finally:
        done.set()
    thread.join()
    assert len(ticks) > 10


def test_callback_sees_and_stops(moons) -> None:
    X, y = hard_problem()
    moments = []

    def stop(moment):
        moments.append(moment)
        return len(moments) < 3

    with pytest.warns(mercer.ConvergenceWarning, match="on request"):
        slow(callback=stop).fit(X, y)
    assert moments[0]["task"] == "training" and moments[0]["violation"] > 0

    def fail(moment):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        slow(callback=fail).fit(X, y)


def test_same_answer_for_any_number_of_threads(moons) -> None:
    X, y = moons
    one, two = (mercer.SVC(n_jobs=n).fit(X, y).decision_function(X) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    "name", ["SVC", "SVR", "OneClassSVM", "KernelKMeans", "Nystroem", "KernelRidge"]
)
def test_pickles_are_the_same_machine(name, moons) -> None:
    X, y = moons
    model = getattr(mercer, name)().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    use = "predict" if hasattr(model, "predict") else "transform"
    np.testing.assert_array_equal(getattr(again, use)(X), getattr(model, use)(X))


def test_damaged_pickles_are_refused(moons) -> None:
    X, y = moons
    bytes_ = mercer.SVC().fit(X, y)._model.to_bytes()
    for cut in (b"", bytes_[:50], bytes_[:-9], bytes_[:-1] + bytes([bytes_[-1] ^ 1])):
        with pytest.raises(ValueError, match="model"):
            _core.Model.from_bytes(cut)


def test_saved_models_are_model_files(moons, tmp_path) -> None:
    X, y = moons
    model = mercer.SVC().fit(X, y)
    model.save(tmp_path / "moons.mercer")
    loaded = _core.Model.load(str(tmp_path / "moons.mercer"))
    np.testing.assert_array_equal(loaded.decision(to_rows(X))[:, 0], -model.decision_function(X))


def test_functions_and_matrices_as_kernels(moons) -> None:
    X, y = moons
    want = mercer.SVC(kernel=mercer.rbf(gamma=2)).fit(X, y)

    def gaussian(A, B):
        return np.exp(-2 * ((A[:, None] - B[None]) ** 2).sum(-1))

    for kernel in (gaussian, mercer.function(gaussian)):
        model = mercer.SVC(kernel=kernel).fit(X, y)
        np.testing.assert_allclose(model.decision_function(X), want.decision_function(X), atol=1e-7)
    K = gaussian(X, X)
    model = mercer.SVC(kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(model.decision_function(K), want.decision_function(X), atol=1e-7)
    with pytest.raises(ValueError, match="square"):
        mercer.SVC(kernel="precomputed").fit(X, y)


def test_attributes(moons) -> None:
    X, y = moons
    model = mercer.SVC(kernel="linear").fit(X, y)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    f = X @ model.coef_[0] + model.intercept_
    np.testing.assert_allclose(f, model.decision_function(X), atol=1e-9)
    K = mercer.linear()(X, model.support_vectors_)
    np.testing.assert_allclose(K @ model.dual_coef_[0] + model.intercept_, f, atol=1e-9)
    assert model.n_support_.sum() == len(model.support_)
    assert model.report_.relative_gap < 1e-6 and model.report_["status"] == "converged"
    assert str(model.kernel_) == "linear"


def test_probabilities(moons) -> None:
    X, y = moons
    model = mercer.SVC(probability=True).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.mean(p.argmax(axis=1) == y) > 0.9
    assert not hasattr(mercer.SVC(), "predict_proba")


def test_errors_are_the_expected_ones(moons) -> None:
    X, y = moons
    with pytest.raises(mercer.NotFittedError, match="not fitted"):
        mercer.SVC().predict(X)
    for bad in (
        dict(C=-1),
        dict(gamma=-1),
        dict(gamma="wide"),
        dict(tol=0),
        dict(precision="half"),
        dict(kernel="rbff"),
        dict(n_jobs=0),
        dict(time_limit=-1),
        dict(on_interrupt="no"),
        dict(decision_function_shape="x"),
        dict(class_weight="even"),
    ):
        with pytest.raises(ValueError):
            mercer.SVC(**bad).fit(X, y)
    for bad in (dict(kernel=3), dict(callback=3)):
        with pytest.raises(TypeError):
            mercer.SVC(**bad).fit(X, y)
    with pytest.raises(ValueError, match="weight"):
        mercer.SVC().fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="class"):
        mercer.SVC().fit(X, np.zeros(len(y)))


def test_class_weights_move_the_border(moons) -> None:
    X, y = moons
    shares = [
        np.mean(mercer.SVC(class_weight=w, gamma=0.1).fit(X, y).predict(X))
        for w in ({0: 10, 1: 1}, None, {0: 1, 1: 10})
    ]
    assert shares[0] < shares[1] < shares[2]
    balanced = mercer.SVC(class_weight="balanced").fit(X[20:], y[20:])
    counts = np.bincount(y[20:])
    np.testing.assert_allclose(balanced.class_weight_, len(y[20:]) / (2 * counts))


def test_version_is_the_librarys() -> None:
    assert mercer.__version__ == _core.version


WITHOUT = """
import sys
for name in ("sklearn", "scipy", "pandas", "matplotlib", "tqdm"):
    sys.modules[name] = None
import numpy as np, pickle, mercer
from mercer._common.compat import HAVE_SKLEARN
assert not HAVE_SKLEARN
X = np.random.default_rng(0).normal(size=(60, 3)); y = (X[:, 0] * X[:, 1] > 0).astype(int)
for model in (mercer.SVC(C=5), mercer.NuSVC(nu=.2), mercer.ParzenClassifier(), mercer.Adatron()):
    assert model.fit(X, y).score(X, y) > .6, model
    assert pickle.loads(pickle.dumps(model)).predict(X).shape == (60,)
assert mercer.SVR(C=100).fit(X, X[:, 0]).score(X, X[:, 0]) > .9
assert set(mercer.OneClassSVM().fit_predict(X)) == {-1, 1}
assert mercer.Nystroem(n_components=9).fit_transform(X).shape == (60, 9)
assert mercer.KernelICA().fit_transform(X).shape == (60, 3)
assert mercer.KernelHebbian(2).partial_fit(X).transform(X).shape == (60, 2)
assert mercer.KernelDependency(9, alpha=.01).fit(X, X[:, :2]).score(X, X[:, :2]) > .9
assert mercer.LabelSpreading().fit(X, y).transduction_.shape == (60,)
assert mercer.prediction_sets(mercer.SVC().fit(X, y), X, X, y).shape == (60, 2)
assert mercer.SVC(C=5).set_params(C=2).get_params()["C"] == 2
assert repr(mercer.SVC(C=5)) == "SVC(C=5)"
try:
    mercer.SVC().predict(X)
except mercer.NotFittedError:
    pass
for bad in (X[0], np.full((3, 3), np.nan)):
    try:
        mercer.SVC().fit(bad, [0, 1, 1])
    except ValueError:
        continue
    raise SystemExit("accepted " + repr(bad))
assert not hasattr(mercer.SVC(), "predict_proba")
"""


def test_numpy_alone_is_enough() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_warm_start_begins_at_the_last_machine(moons) -> None:
    X, y = moons
    X = np.vstack([X, X + 0.01])
    y = np.r_[y, y]
    warm = mercer.SVC(C=100, gamma=5, warm_start=True).fit(X, y)
    first = warm.report_.iterations
    again = warm.fit(X, y).report_
    assert again.iterations < first / 4
    changed = warm.set_params(C=120).fit(X, y)
    fresh = mercer.SVC(C=120, gamma=5).fit(X, y)
    assert changed.report_.dual == pytest.approx(fresh.report_.dual, rel=1e-4)
    # Other rows: from scratch, without a word.
    warm.fit(X[:100], y[:100])
    assert warm.report_.converged


def test_reduced_machines_are_shorter_and_nearly_as_good() -> None:
    from mercer.data import read

    X, y = read("@digits")
    whole = mercer.SVC(C=10).fit(X[::2], y[::2])
    small = whole.reduced(60)
    assert small._model.size == 60 < whole._model.size / 5
    assert small.score(X[1::2], y[1::2]) > whole.score(X[1::2], y[1::2]) - 0.01
    figures = small.report_.figures
    assert 0 < figures["squared_distance"] < 0.2 * figures["squared_norm"]
    assert whole.support_.size == whole._model.size  # untouched
    assert pickle.loads(pickle.dumps(small)).predict(X[:5]).tolist() == small.predict(X[:5]).tolist()
    with pytest.raises(ValueError, match="either"):
        whole.reduced()


def test_probabilities_are_not_bent_where_classes_are_weighted() -> None:
    random = np.random.default_rng(0)
    y = np.arange(400) % 10 == 0
    X = random.normal(size=(400, 2)) + 1.2 * y[:, None]
    told = {"class_weight": "balanced", "probability": True, "gamma": 0.3}
    by_margin = mercer.SVC(**told).fit(X, y)
    likeliest = mercer.SVC(**told, decide="probability").fit(X, y)
    P = by_margin.predict_proba(X)
    assert np.array_equal(P, likeliest.predict_proba(X))
    assert np.array_equal(likeliest.predict(X), P.argmax(axis=1).astype(bool))
    # Weighted ten to one the label comes long before the rare class is likely.
    marked = by_margin.predict(X)
    assert np.mean(P[marked, 1] < 0.5) > 0.3
    assert abs(P[marked, 1].mean() - y[marked].mean()) < 0.1
    with pytest.raises(ValueError, match="probability=True"):
        mercer.SVC(decide="probability").fit(X, y)
    with pytest.raises(ValueError, match="'margin' or 'probability'"):
        mercer.SVC(decide="likely").fit(X, y)


def test_a_function_of_the_user_is_not_saved_as_a_matrix(moons, tmp_path) -> None:
    X, y = moons
    model = mercer.SVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    with pytest.raises(ValueError, match="pickle"):
        model.save(str(tmp_path / "m.mercer"))
    assert not (tmp_path / "m.mercer").exists()


def test_a_machine_is_made_ready_to_predict_once(moons) -> None:
    X, y = moons
    model = mercer.SVC(gamma=1.0, probability=True).fit(X, y)
    first = model.decision_function(X)
    ready = model._predictor()
    assert np.array_equal([model.decision_function(row[None])[0] for row in X[:5]], first[:5])
    assert model._predictor() is ready
    found: list[np.ndarray] = [first] * 8

    def ask(place: int) -> None:
        found[place] = model.decision_function(X)

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(values, first) for values in found)
    # Another model means another predictor; a pickle holds the model once.
    small = model.reduced(5)
    assert not np.array_equal(small.decision_function(X), first)
    assert np.array_equal(model.decision_function(X), first)
    assert not any(isinstance(value, type(ready)) for value in model.__dict__.values())
    assert np.array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), first)
    model.fit(X, 1 - y)
    assert model._predictor() is not ready


def test_masked_arrays_that_hide_values_are_refused() -> None:
    X = np.ma.masked_array(np.arange(8.0).reshape(4, 2), mask=np.zeros((4, 2), bool))
    y = np.array([0, 1, 0, 1])
    mercer.SVC().fit(X, y)  # nothing is hidden
    hidden = X.copy()
    hidden[1, 1] = np.ma.masked
    with pytest.raises(ValueError, match="X is a masked array that hides 1 of its values"):
        mercer.SVC().fit(hidden, y)
    with pytest.raises(ValueError, match="masked"):
        mercer.SVC().fit(X, y).predict(hidden)
    with pytest.raises(ValueError, match="y is a masked array"):
        mercer.SVC().fit(X, np.ma.masked_array(y, mask=[0, 0, 1, 0]))


def test_columns_of_sparse_rows_are_copied() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    A = sparse.random(40, 30, 0.2, "csr", dtype=np.float64, random_state=1)
    before = A.toarray()
    rows = to_rows(A)
    A.indices[:] = 2**31 - 1  # what another thread may do during a call
    A.indptr[:] = 0
    values, index, starts = rows.arrays()
    assert rows.address == A.data.ctypes.data
    assert np.array_equal(sparse.csr_matrix((values, index, starts), A.shape).toarray(), before)


@pytest.mark.parametrize(
    "labels",
    [
        [1.0, -1.0, 1.0],
        [0.0, 0.0],
        [True, False],
        [3, 3, 7],
        [np.nan, 1.0, 2.0],
        [np.nan, np.nan],
        [-0.0, 0.0, 1.0],
        [1, 2, 3],
        ["b", "a"],
    ],
)
def test_classes_are_those_that_numpy_finds(labels):
    from mercer._common.arrays import _classes_of

    y = np.array(labels)
    found, expected = _classes_of(y), np.unique(y, return_inverse=True)
    assert found[0].dtype == expected[0].dtype
    assert np.array_equal(found[0], expected[0], equal_nan=y.dtype.kind == "f")
    assert np.array_equal(found[1], expected[1])
