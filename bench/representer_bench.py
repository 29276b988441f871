"""Kernel ridge regression and the evidence of a Gaussian process beside scikit-learn.

python3 bench/representer_bench.py [--program build/bin/bench_representer] [--threads 2]

Both see the same numbers, kernel and threads; the answers must agree, or the comparison is void.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def sample(rows: int, columns: int):
    import numpy as np

    random = np.random.default_rng(0)
    x = random.standard_normal((rows, columns))
    return x, np.sin(x[:, 0]) + 0.1 * random.standard_normal(rows)


def best(runs: int, work):
    """The shortest time of several runs, and the last answer."""
    shortest = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        answer = work()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, answer


def ours(program: pathlib.Path, ridge, process) -> dict:
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, (x, y) in (("ridge", ridge), ("gp", process)):
            files.append(os.path.join(folder, name + ".npz"))
            np.savez(files[-1], X=x, y=y)
        return json.loads(subprocess.run([program, *files], check=True, capture_output=True).stdout)


def theirs(ridge, process) -> dict:
    import numpy as np
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    from sklearn.kernel_ridge import KernelRidge

    machine = KernelRidge(alpha=1, kernel="rbf", gamma=0.02)
    ridge_seconds, fitted = best(3, lambda: machine.fit(*ridge))
    kernel = ConstantKernel(2.0) * RBF(5.0) + WhiteKernel(0.1)
    gp = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(*process)
    theta = gp.kernel_.theta
    gp_seconds, (value, slope) = best(
        5, lambda: gp.log_marginal_likelihood(theta, eval_gradient=True)
    )
    # scikit-learn differentiates in the logarithms.
    gradient = slope / np.exp(theta)
    return {
        "ridge_seconds": ridge_seconds,
        "ridge_norm": float(np.linalg.norm(fitted.dual_coef_)),
        "gp_seconds": gp_seconds,
        "log_evidence": float(value),
        "gradient": gradient.tolist(),
    }


def agree(a: dict, b: dict) -> bool:
    pairs = [(a["ridge_norm"], b["ridge_norm"]), (a["log_evidence"], b["log_evidence"])]
    pairs += zip(a["gradient"], b["gradient"])
    return all(abs(x - y) <= 1e-6 * max(1.0, abs(y)) for x, y in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=ROOT / "build/bin/bench_representer")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    # The libraries read these when they are loaded, so before anything is imported.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(options.threads)
    try:
        import sklearn
    except ImportError:
        print("scikit-learn is absent: ./dev bench train fetches it into build/bench-venv")
        return 77
    ridge = sample(10000, 50)
    process = sample(2000, 50)
    mine = ours(options.program, ridge, process)
    other = theirs(ridge, process)
    if not agree(mine, other):
        print(f"void: the answers differ\n  {mine}\n  {other}")
        return 1
    print(f"scikit-learn {sklearn.__version__}, {options.threads} threads")
    for what, name in (("ridge", "ridge_seconds"), ("evidence and gradient", "gp_seconds")):
        print(
            f"{what}: {mine[name]:.3f} s, scikit-learn {other[name]:.3f} s, "
            f"ratio {other[name] / mine[name]:.1f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
