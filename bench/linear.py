#!/usr/bin/env python3
"""Linear kernels: the program beside LIBLINEAR, at the same loss and without a constant.

    python3 bench/linear.py --data ../shared/data --mercer build/bin/mercer [SET ...]

Sets: a9a, w8a, reuters and covtype (all 581 012 rows, class 2 against the rest, columns scaled to
[0, 1]). Minimised is ½‖w‖² + C Σ max(0, 1 − y f(x)). LIBLINEAR is asked through scikit-learn's
LinearSVC and, where it is installed, liblinear-official; both with iterations enough to converge.
Printed: seconds of training alone, the best of --repeats (ours with the certificate and what is
made ready for it), and the objective reached, which has to agree.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable

import numpy as np
import scipy.sparse

Data = tuple[scipy.sparse.csr_matrix, np.ndarray]
FILES = {"a9a": "a9a/a9a.gz", "w8a": "w8a/w8a.gz", "reuters": "reuters_lasvm/reuters.trn.gz"}
SETS = (*FILES, "covtype")


def read(name: str, folder: str) -> Data:
    if name in FILES:
        from sklearn.datasets import load_svmlight_file

        x, y = load_svmlight_file(os.path.join(folder, FILES[name]))
        # LinearSVC takes indices of 32 bits only.
        x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
        return x, np.where(y > 0, 1.0, -1.0)
    with gzip.open(os.path.join(folder, "covtype/covtype.csv.gz"), "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32)
    x = table[:, :-1]
    low, high = x.min(0), x.max(0)
    x = (x - low) / np.where(high > low, high - low, 1)
    return scipy.sparse.csr_matrix(x), np.where(table[:, -1] == 2, 1.0, -1.0)


def objective(data: Data, w: np.ndarray, penalty: float) -> float:
    x, y = data
    return float(0.5 * w @ w + penalty * np.maximum(0, 1 - y * (x @ w)).sum())


def best(repeats: int, once: Callable[[], tuple[float, float]]) -> tuple[float, float]:
    """The quickest run: seconds and objective."""
    return min(once() for _ in range(repeats))


def ours(arguments: argparse.Namespace, data: Data, folder: str) -> tuple[float, float]:
    from sklearn.datasets import dump_svmlight_file

    rows, model = os.path.join(folder, "rows"), os.path.join(folder, "model")
    if not os.path.exists(rows):
        dump_svmlight_file(*data, rows, zero_based=False)

    def once() -> tuple[float, float]:
        said = subprocess.run(
            [arguments.mercer, "train", rows, model, "--kernel", "linear", "-C", str(arguments.C),
             "--no-bias", "--tol", str(arguments.tol), "--threads", str(arguments.threads),
             "--format", "libsvm", "--json", "--quiet"],
            stdout=subprocess.PIPE, check=True)  # fmt: skip
        answer = json.loads(said.stdout)
        return answer["seconds"]["train"], answer["certificate"]["primal"]

    return best(arguments.repeats, once)


def linear_svc(arguments: argparse.Namespace, data: Data) -> tuple[float, float]:
    from sklearn.svm import LinearSVC

    def once() -> tuple[float, float]:
        machine = LinearSVC(loss="hinge", C=arguments.C, tol=arguments.tol, fit_intercept=False,
                            max_iter=100_000)  # fmt: skip
        begin = time.perf_counter()
        machine.fit(*data)
        seconds = time.perf_counter() - begin
        return seconds, objective(data, machine.coef_[0], arguments.C)

    return best(arguments.repeats, once)


def official(arguments: argparse.Namespace, data: Data) -> tuple[float, float] | None:
    """liblinear-official stops after 300 passes over the rows, converged or not."""
    try:
        from liblinear import liblinearutil
    except ImportError:
        return None
    x, y = data
    problem = liblinearutil.problem(y, x)
    options = liblinearutil.parameter(f"-s 3 -c {arguments.C} -e {arguments.tol} -B -1 -q")

    def once() -> tuple[float, float]:
        begin = time.perf_counter()
        model = liblinearutil.train(problem, options)
        seconds = time.perf_counter() - begin
        w = np.array(model.w[: x.shape[1]]) * (1 if model.get_labels()[0] == 1 else -1)
        return seconds, objective(data, w, arguments.C)

    return best(arguments.repeats, once)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--data", default=os.environ.get("MERCER_DATA", "../shared/data"))
    parser.add_argument("--mercer", default="build/bin/mercer")
    parser.add_argument("-C", type=float, default=1.0)
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    print("| set | rows × columns | Mercer | LinearSVC | liblinear-official |\n|---|---|---|---|---|")
    for name in arguments.sets:
        data = read(name, arguments.data)
        with tempfile.TemporaryDirectory() as folder:
            found = [ours(arguments, data, folder), linear_svc(arguments, data)]
        other = official(arguments, data)
        cells = [f"{seconds:.3f} s ({value:.6g})" for seconds, value in found]
        cells.append("absent" if other is None else f"{other[0]:.3f} s ({other[1]:.6g})")
        size = f"{data[0].shape[0]} × {data[0].shape[1]}"
        print(f"| {name} | {size} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
