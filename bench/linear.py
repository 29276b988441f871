#!/usr/bin/env python3
"""Linear machines beside LIBLINEAR and scikit-learn: the same loss, the same objective reached.

    PYTHONPATH=build/python-package python3 bench/linear.py --data ../shared/data [SET ...] [--losses hinge ...]

Sets: a9a, w8a, reuters and covtype (all 581 012 rows, class 2 against the rest, columns scaled to
[0, 1]). Minimised is ½‖w‖² + C Σ ℓ(y w·x), without a constant, by the hinge, its square and the logistic
loss. Everybody gets rows in memory (CSR of float64, and LIBLINEAR its own structures ready made) and the
loosest tolerance out of 0.1, 0.01, … with which the objective comes within --excess of the optimum, as a
share of it; who does not get there with any of them is marked by >, and his time is that of the tightest
one tried. The optimum is ours at a certified gap of 1e-9.

Runs are interleaved, the least of --repeats counts. Printed are processor seconds (user and system) of
training from Python, of one thread and of two, and the time of each peer over ours. Peers have one thread.
"""

from __future__ import annotations

import argparse
import gzip
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse

FILES = {"a9a": "a9a/a9a.gz", "w8a": "w8a/w8a.gz", "reuters": "reuters_lasvm/reuters.trn.gz"}
SETS = (*FILES, "covtype")
LOSSES = {
    "hinge": lambda margin: np.maximum(0, 1 - margin),
    "squared hinge": lambda margin: np.maximum(0, 1 - margin) ** 2,
    "logistic": lambda margin: np.logaddexp(0, -margin),
}
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


@dataclass
class Problem:
    x: scipy.sparse.csr_matrix
    y: np.ndarray
    loss: str
    C: float

    def objective(self, w: np.ndarray) -> float:
        return float(0.5 * w @ w + self.C * LOSSES[self.loss](self.y * (self.x @ w)).sum())


# Of a problem and a tolerance what trains, and what tells the weights then.
Fit = tuple[Callable[[], object], Callable[[], np.ndarray]]
Maker = Callable[[Problem, float], Fit | None]


def estimator(problem: Problem, machine: object) -> Fit:
    return lambda: machine.fit(problem.x, problem.y), lambda: machine.coef_[0]


@dataclass
class Entry:
    """One program with the tolerance it has been given."""

    name: str
    train: Callable[[], object]
    excess: float
    reached: bool
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def run(self) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        self.train()
        self.cpu.append(time.process_time() - cpu)
        self.wall.append(time.perf_counter() - wall)


def read(name: str, folder: str) -> tuple[scipy.sparse.csr_matrix, np.ndarray]:
    if name in FILES:
        from sklearn.datasets import load_svmlight_file

        x, y = load_svmlight_file(os.path.join(folder, FILES[name]))
        # LinearSVC takes indices of 32 bits only.
        x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
        return x, np.where(y > 0, 1.0, -1.0)
    with gzip.open(os.path.join(folder, "covtype/covtype.csv.gz"), "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32, skiprows=1)
    x = table[:, :-1]
    low, high = x.min(0), x.max(0)
    x = (x - low) / np.where(high > low, high - low, 1)
    return scipy.sparse.csr_matrix(x.astype(np.float64)), np.where(table[:, -1] == 2, 1.0, -1.0)


def ours(threads: int) -> Maker:
    def make(problem: Problem, tolerance: float) -> Fit:
        from mercer import KernelLogisticRegression, LinearSVC

        if problem.loss == "logistic":
            machine = KernelLogisticRegression(1 / (2 * problem.C), kernel="linear", fit_intercept=False,
                                               tol=tolerance, n_jobs=threads)  # fmt: skip
            unit = scipy.sparse.identity(problem.x.shape[1], format="csr")
            return lambda: machine.fit(problem.x, problem.y), lambda: machine.decision_function(unit)
        return estimator(problem, LinearSVC(loss=problem.loss.replace(" ", "_"), C=problem.C, tol=tolerance,
                                            fit_intercept=False, n_jobs=threads))  # fmt: skip

    return make


def sklearn_dual(problem: Problem, tolerance: float) -> Fit:
    """LIBLINEAR as scikit-learn carries it, in the dual."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    if problem.loss == "logistic":
        machine = LogisticRegression(solver="liblinear", dual=True, C=problem.C, tol=tolerance,
                                     fit_intercept=False, max_iter=20_000)  # fmt: skip
    else:
        machine = LinearSVC(loss=problem.loss.replace(" ", "_"), dual=True, C=problem.C, tol=tolerance,
                            fit_intercept=False, max_iter=20_000)  # fmt: skip
    return estimator(problem, machine)


def sklearn_primal(problem: Problem, tolerance: float) -> Fit | None:
    """The same in the primal, by a trust region Newton method."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    if problem.loss == "hinge":
        return None
    if problem.loss == "logistic":
        machine = LogisticRegression(solver="liblinear", C=problem.C, tol=tolerance, fit_intercept=False,
                                     max_iter=20_000)  # fmt: skip
    else:
        machine = LinearSVC(dual=False, C=problem.C, tol=tolerance, fit_intercept=False, max_iter=20_000)
    return estimator(problem, machine)


def lbfgs(problem: Problem, tolerance: float) -> Fit | None:
    from sklearn.linear_model import LogisticRegression

    if problem.loss != "logistic":
        return None
    machine = LogisticRegression(C=problem.C, tol=tolerance, fit_intercept=False, max_iter=20_000)
    return estimator(problem, machine)


def official(dual: bool) -> Maker:
    """liblinear-official, which stops after 300 passes of the dual, converged or not."""

    def make(problem: Problem, tolerance: float) -> Fit | None:
        try:
            from liblinear import liblinearutil
        except ImportError:
            return None
        kinds = {("hinge", True): 3, ("squared hinge", True): 1, ("squared hinge", False): 2,
                 ("logistic", True): 7, ("logistic", False): 0}  # fmt: skip
        kind = kinds.get((problem.loss, dual))
        if kind is None:
            return None
        key = (id(problem.x), id(problem.y))
        if key not in ready:
            ready.clear()
            ready[key] = liblinearutil.problem(problem.y, problem.x)
        options = liblinearutil.parameter(f"-s {kind} -c {problem.C} -e {tolerance} -B -1 -q")

        found = []

        def train() -> None:
            found[:] = [liblinearutil.train(ready[key], options)]

        def weights() -> np.ndarray:
            sign = 1 if found[0].get_labels()[0] == 1 else -1
            return sign * np.ctypeslib.as_array(found[0].w, (problem.x.shape[1],))

        return train, weights

    ready: dict = {}
    return make


PEERS: dict[str, Maker] = {
    "scikit-learn, dual": sklearn_dual,
    "scikit-learn, primal": sklearn_primal,
    "scikit-learn, lbfgs": lbfgs,
    "liblinear-official, dual": official(True),
    "liblinear-official, primal": official(False),
}


def tuned(name: str, make: Maker, problem: Problem, optimum: float, goal: float) -> Entry | None:
    """With the loosest tolerance that is enough."""
    best = None
    for tolerance in TOLERANCES:
        fit = make(problem, tolerance)
        if fit is None:
            return None
        begin = time.perf_counter()
        train, weights = fit
        train()
        excess = problem.objective(weights()) / optimum - 1
        best = Entry(f"{name} ({tolerance:g})", train, excess, excess <= goal)
        # A tighter one takes longer still.
        if best.reached or time.perf_counter() - begin > 120:
            break
    return best


def compare(arguments: argparse.Namespace, name: str, problem: Problem) -> None:
    train, weights = ours(2)(problem, 1e-9)
    train()
    optimum = problem.objective(weights())
    makers = {"Mercer": ours(1), "Mercer, two threads": ours(2), **PEERS}
    entries = [tuned(*item, problem, optimum, arguments.excess) for item in makers.items()]
    present = [entry for entry in entries if entry is not None]
    for _ in range(arguments.repeats):
        for entry in present:
            entry.run()
    own = min(present[0].cpu)
    print(f"\n{name}, {problem.loss}, C = {problem.C:g}: {problem.x.shape[0]} × {problem.x.shape[1]}, optimum "
          f"{optimum:.9g}\n\n| | processor s | wall s | excess | over Mercer's |\n|---|---|---|---|---|")  # fmt: skip
    for entry in present:
        mark = "" if entry.reached else "> "
        print(f"| {entry.name} | {mark}{min(entry.cpu):.4f} | {min(entry.wall):.4f} | {entry.excess:.1e} | "
              f"{min(entry.cpu) / own:.2f} |", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--data", default=os.environ.get("MERCER_DATA", "../shared/data"))
    parser.add_argument("--losses", nargs="+", default=list(LOSSES), choices=list(LOSSES))
    parser.add_argument("-C", type=float, default=1.0)
    parser.add_argument("--excess", type=float, default=1e-5)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")  # of peers that are not there yet
    for name in arguments.sets:
        x, y = read(name, arguments.data)
        for loss in arguments.losses:
            compare(arguments, name, Problem(x, y, loss, arguments.C))


if __name__ == "__main__":
    main()
