"""How many threads work: a number of the call, after fork too, and what the environment allows."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import mercer
from mercer import _core

FAMILY = [
    lambda n: mercer.SVC(C=10, n_jobs=n),
    lambda n: mercer.SVR(C=10, n_jobs=n),
    lambda n: mercer.KernelRidge(alpha=0.1, kernel="rbf", gamma=1, n_jobs=n),
    lambda n: mercer.KernelLogisticRegression(alpha=0.1, n_jobs=n),
]


def answers(make, n_jobs: int | None, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    model = make(n_jobs).fit(X, y)
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def test_threads_with_numbers_of_their_own_do_not_disturb_each_other() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=400) > 0).astype(float)
    want = [answers(make, 1, X, y) for make in FAMILY]
    wrong: list[str] = []

    def work(caller: int) -> None:
        try:
            for k in range(6):
                which, n_jobs = (caller + k) % len(FAMILY), (1, 2, 3, 4, None)[(caller + k) % 5]
                if not np.array_equal(answers(FAMILY[which], n_jobs, X, y), want[which]):
                    wrong.append(f"machine {which} with n_jobs={n_jobs}")
                with _core.Threads(7 + caller):
                    if _core.threads() != 7 + caller:
                        wrong.append(f"{_core.threads()} threads in caller {caller}")
        except Exception as error:  # noqa: BLE001
            wrong.append(repr(error))

    before = _core.threads()
    callers = [threading.Thread(target=work, args=(c,)) for c in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong
    assert _core.threads() == before  # nothing is left behind


@pytest.mark.parametrize(
    "make",
    [
        lambda n: mercer.KernelPCA(4, kernel="rbf", n_jobs=n),
        lambda n: mercer.KernelPCA(kernel="rbf", n_jobs=n),
        lambda n: mercer.KernelRidge(alphas=[0.1, 1], kernel="rbf", n_jobs=n),
        lambda n: mercer.Nystroem(n_components=100, random_state=1, n_jobs=n),
    ],
)
def test_eigenvectors_are_the_same_for_any_number_of_threads(make) -> None:
    X = np.random.default_rng(0).normal(size=(300, 5))

    def numbers(n: int) -> np.ndarray:
        model = make(n).fit(X, X[:, 0])
        return model.transform(X) if hasattr(model, "transform") else model.predict(X)

    for n in (2, 3):
        np.testing.assert_array_equal(numbers(n), numbers(1))


def test_n_jobs_count_as_joblib_does() -> None:
    from mercer._common.base import _threads

    with _core.Threads(4):
        for n_jobs, want in ((None, 4), (-1, 4), (-2, 3), (-9, 1), (2, 2), (np.int64(3), 3)):
            with _threads(n_jobs):
                assert _core.threads() == want
        assert _core.threads() == 4
    for bad in (1.5, "2", True):
        with pytest.raises(TypeError, match="n_jobs"):
            _threads(bad)
    with pytest.raises(ValueError, match="n_jobs"):
        _threads(0)


def run(code: str, **variables: str) -> str:
    """What a program prints that must be done within minutes, also on a busy machine."""
    names = {"MERCER_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
    environment = {k: v for k, v in os.environ.items() if k not in names}
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code],
        capture_output=True, text=True, timeout=300, env={**environment, **variables},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


FORKED = """
import os, signal, sys, threading
import numpy as np, mercer
X = np.random.default_rng(0).normal(size=(600, 5)); y = (X[:, 0] * X[:, 1] > 0).astype(float)
def answers(n):
    parts = [mercer.SVC(C=10, n_jobs=n).fit(X, y).decision_function(X),
             mercer.KernelRidge(.1, kernel="rbf", n_jobs=n).fit(X, y).predict(X),
             mercer.KernelPCA(3, kernel="rbf", n_jobs=n).fit_transform(X).ravel()]
    return np.concatenate(parts)
want = answers(2)
def others():
    while not stop.is_set():
        mercer.SVC(C=10, n_jobs=2).fit(X, y)
stop = threading.Event()
busy = threading.Thread(target=others, daemon=True); busy.start()
for child in range(3):
    pid = os.fork()
    if pid == 0:
        signal.alarm(100)  # a quiet machine needs one second
        right = all(np.allclose(answers(n), want, atol=1e-8) for n in (2, 3, 1))
        os._exit(0 if right else 1)
    _, status = os.waitpid(pid, 0)
    assert status == 0, status
stop.set(); busy.join()
"""


def test_a_child_after_fork_learns_with_any_number_of_threads() -> None:
    run(FORKED)


BUSY = """
import os, time, numpy as np, mercer
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 20)); y = rng.integers(0, 2, 3000)
threads = lambda: len(os.listdir("/proc/self/task"))
before, seen = threads(), []
start, processor = time.time(), time.process_time()
look = lambda moment: seen.append(threads())
model = mercer.SVC(C=1e4, gamma=.05, tol=1e-6, time_limit=2., callback=look)
import warnings; warnings.simplefilter("ignore")
model.fit(X, y)
busy = (time.process_time() - processor) / (time.time() - start)
print(mercer._core.threads(), max(seen) - before, busy)
"""


def test_one_openmp_thread_is_one_busy_thread() -> None:
    count, more, busy = run(BUSY, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1").split()
    assert (count, more) == ("1", "1")  # the one that works beside the one that listens
    assert float(busy) < 1.2


@pytest.mark.parametrize(
    "variables, want",
    [
        ({"OMP_NUM_THREADS": "1,4"}, "1"),
        ({"MERCER_NUM_THREADS": "3", "OMP_NUM_THREADS": "1"}, "3"),
        ({"MERCER_NUM_THREADS": "", "OMP_NUM_THREADS": "1"}, "1"),
        # OpenBLAS's own: what it is given is the number of threads of the call.
        ({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "7"}, "1"),
        ({"MERCER_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "1"}, "3"),
    ],
)
def test_the_environment_says_how_many(variables, want) -> None:
    assert run("import mercer; print(mercer._core.threads())", **variables).strip() == want


def test_processes_of_joblib_share_the_processors() -> None:
    joblib = pytest.importorskip("joblib")
    code = """
import joblib
def threads():
    import mercer
    return mercer._core.threads()
print(max(joblib.Parallel(n_jobs=2)(joblib.delayed(threads)() for _ in range(4))))
"""
    assert int(run(code)) == max(1, joblib.cpu_count() // 2)
