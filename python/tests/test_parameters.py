"""Parameters of the wrong kind or size: refused in the words of the parameter, by every estimator."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import mercer
from mercer._common.base import Machine
from mercer._common.parameters import KINDS, PARAMETER_OF, _signature

ESTIMATORS = [
    value
    for name, value in sorted(vars(mercer).items())
    if isinstance(value, type) and issubclass(value, Machine) and value is not Machine
]
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
WRONG = {
    "float": ("much", None, [1.0], {}, float("nan"), np.ones(2), True),
    "int": ("many", None, [1], 1.5, float("nan"), float("inf"), 2**70, np.ones(2), True),
    "bool": ("no", None, [True], 0.5, np.ones(2)),
    "str": (None, 1, ["best"], np.ones(2)),
    "dict": ("gamma", 1, [1], np.ones(2)),
}


def fit(estimator: Machine) -> Machine:
    if type(estimator).__name__ in ("KernelCCA", "KernelDependency"):
        return estimator.fit(X, X[:, :2] ** 2)
    return estimator.fit(X, (X[:, 0] > 0).astype(int))


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda e: e.__name__)
def test_wrong_kinds_are_refused_by_name(kind) -> None:
    checked = 0
    for name, annotation, may_be_none in _signature(kind):
        for wrong in WRONG[annotation]:
            if wrong is None and may_be_none:
                continue
            with pytest.raises((TypeError, ValueError), match=f"^{name} = .* must be "):
                fit(kind(**{name: wrong}))
            checked += 1
    assert checked > 10 or len(inspect.signature(kind.__init__).parameters) < 4


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda e: e.__name__)
def test_every_parameter_has_a_kind_or_is_read_with_care(kind) -> None:
    known = {name for name, _, _ in _signature(kind)}
    free = {"kernel", "kernel_y", "gamma", "callback", "random_state", "class_weight", "alphas"}
    free |= {"fixed", "shares", "path", "loss", "loss_slope", "regularizer"}
    free |= {"tube", "dual", "optimizer", "iterated_power"} | ({"alpha"} if "optimizer" in vars(kind()) else set())
    assert set(inspect.signature(kind.__init__).parameters) - {"self"} <= known | free
    assert set(KINDS) == set(WRONG)


@pytest.mark.parametrize(
    "estimator, message",
    [
        (mercer.KernelRidge(alpha=-1), "^alpha = -1 must be"),
        (mercer.KernelRidge(alphas="x"), "^alphas = 'x' must be a sequence"),
        (mercer.KernelRidge(alphas=3), "^alphas = 3 must be a sequence"),
        (mercer.KernelLogisticRegression(alpha=0), "^alpha = 0 must be"),
        (mercer.GaussianProcessRegressor(alpha=-1), "^alpha = -1 must be"),
        (mercer.GaussianProcessRegressor(n_restarts_optimizer=-1), "^n_restarts_optimizer = -1"),
        (mercer.KernelKMeans(n_clusters=0), "^n_clusters = 0 must be"),
        (mercer.KernelKMeans(n_init=0), "^n_init = 0 must be"),
        (mercer.KernelPerceptron(max_iter=0), "^max_iter = 0 must be"),
        (mercer.SVC(C=-1), "^C = -1 must be"),
        (mercer.SVC(cache_size=-1), "^cache_size = -1 must be"),
        (mercer.SVC(class_weight=3), "^class_weight = 3 must be"),
        (mercer.SVC(class_weight={0: "x"}), "^class_weight of 0 = 'x' must be"),
        (mercer.SVC(gamma=[1]), r"^gamma = \[1\] must be"),
        (mercer.SVC(n_jobs=10**6), "^n_jobs = 1000000 must be"),
        (mercer.SVC(random_state="x"), "^random_state = 'x' must be"),
        (mercer.Nystroem(random_state=-1), "^random_state = -1 must be"),
        (mercer.KernelCCA(kernel_y=3), "^kernel_y: kernel must be"),
        (mercer.LabelSpreading(n_neighbors=0), "^n_neighbors = 0 must be"),
    ],
    ids=lambda v: repr(v)[:50],
)
def test_wrong_sizes_are_refused_in_the_words_of_the_parameter(estimator, message) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((TypeError, ValueError), match=message):
            fit(estimator)


def test_whole_numbers_and_numpys_are_taken() -> None:
    assert fit(mercer.SVC(C=np.float32(2), degree=3.0, max_iter=np.int64(10**6), shrinking=np.True_))
    assert fit(mercer.KernelPCA(np.int8(2), whiten=np.False_))
    assert fit(mercer.SVC(time_limit=float("inf"))).report_.converged


def test_every_setting_of_the_table_is_some_parameter() -> None:
    names = {name for kind in ESTIMATORS for name in inspect.signature(kind.__init__).parameters}
    assert {name for several in PARAMETER_OF.values() for name in several} <= names


def test_a_sample_is_drawn_alike_where_no_seed_is_given() -> None:
    one, two = (mercer.Nystroem(n_components=5).fit(X).component_indices_ for _ in range(2))
    assert one.tolist() == two.tolist()


def test_labels_without_an_order_are_told_of() -> None:
    with pytest.raises(TypeError, match="kinds that have no order among them .NoneType, str"):
        mercer.SVC().fit(X, [None if i == 3 else "ab"[i % 2] for i in range(40)])


K = mercer.rbf(gamma=1)
BAD = np.where(np.arange(120).reshape(40, 3) == 7, np.nan, X)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: K(BAD), "X is nan at row 2, column 1"),  # was a matrix of 1e308
        (lambda: K(X, BAD), "Z is nan at row 2, column 1"),
        (lambda: K(BAD[2], X[0]), "X is nan at place 1"),
        (lambda: K.diag(BAD), "X is nan"),
        (lambda: K(X * 1j), "complex"),
        (lambda: K(np.ones((2, 2, 2))), "2 dimensions, not of 3"),
        (lambda: K(3.0), "2 dimensions, not of 0"),
        (lambda: K([["a"]]), "must hold numbers"),
        (lambda: K[1.5], "columns are numbers"),
        (lambda: mercer.rbf(gamma=[1]), "number or a word"),
        (lambda: mercer.normalize(3), "made of text"),
        (lambda: mercer.kernels.bilinear([1, 2]), "square matrix"),
        (lambda: mercer.alignment(K, X * 1j, X[:, 0] > 0), "complex"),
        (lambda: mercer.learn_combination([K, "linear"], X, X[:, 0] > 0, C="x"), "C = 'x' must be"),
        (lambda: fit(mercer.SVC()).reduced("x"), "n_vectors = 'x' must be"),
        (lambda: fit(mercer.SVC()).reduced(error=-1), "error = -1 must be above 0"),
        (lambda: fit(mercer.SVC()).save(3), "PathLike"),
        (lambda: mercer.SVC().fit(X, X[:, 0] > 0, sample_weight=["a"] * 40), "sample_weight must"),
        (lambda: mercer.SVC().fit(X, X[:, 0] > 0, sample_weight=BAD[:, 1]), "sample_weight of row"),
        (lambda: mercer.prediction_sets(fit(mercer.SVC()), X, X, X[:, 0], coverage="x"), "no class"),
        (lambda: mercer.prediction_sets(fit(mercer.SVR()), X, X, X[:, 0]), "classifiers, not of SVR"),
        (lambda: mercer.prediction_intervals(fit(mercer.SVC()), X, X, X[:, 0]), "not of SVC"),
        (lambda: mercer.outlier_p_values(fit(mercer.SVC()), X, X), "one class, not of SVC"),
        (lambda: mercer.data.make("moons", n="many"), "n = 'many' must be"),
    ],
)
def test_functions_say_what_is_wrong(call, message) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_a_function_that_returns_nan_is_told_of() -> None:
    model = fit(mercer.SVC(kernel=lambda A, B: A @ B.T + 1))
    model._block_kernel = mercer.function(lambda A, B: np.full((len(A), len(B)), np.nan))
    with pytest.raises(ValueError, match="the kernel matrix is nan"):
        model.predict(X)


def test_warnings_point_at_the_line_that_called() -> None:
    y = (np.arange(40) < 3).astype(int)
    for call in (
        lambda: mercer.NuSVC(nu=0.9).fit(X, y),
        lambda: mercer.SVC(max_iter=1, C=1e6).fit(X, X[:, 0] > 0),
        lambda: mercer.Nystroem(n_components=99).fit(X),
    ):
        with pytest.warns(UserWarning) as told:
            call()
        assert {w.filename for w in told} == {__file__}
