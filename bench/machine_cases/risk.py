"""Machines of the representer theorem: ridge, processes, and smooth losses.

The peers of the losses see a feature map written down: of the exact kernel the rows of a factor of its
matrix, whose products are the kernel, so that their linear machine has the same objective.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.machine_cases.rules import OURS, Case, Check, Place, Work
from bench.machine_cases.sets import california, spambase

GAMMA = 0.05
LAMBDA = 0.1


def _parts(x: np.ndarray, y: np.ndarray, train: int) -> tuple[np.ndarray, ...]:
    return x[:train], y[:train], x[train:], y[train:]


def _houses(rows: int):
    return lambda place: _parts(*california(place, place.rows(rows) + 2_000), place.rows(rows))


def _mails(place: Place) -> tuple[np.ndarray, ...]:
    x, y = spambase(place, 4_601)
    return _parts(x, np.where(y > 0, 1.0, -1.0), place.rows(3_000))


def factor(x: np.ndarray) -> np.ndarray:
    """Rows whose products are the kernel."""
    from sklearn.metrics.pairwise import rbf_kernel

    kernel = rbf_kernel(x, gamma=GAMMA)
    kernel[np.diag_indices(len(x))] += 1e-8
    return np.linalg.cholesky(kernel)


def objective(loss: str, decision: np.ndarray, y: np.ndarray, norm: float) -> float:
    """λ‖f‖² + Σ ℓ, which is what all of them minimise."""
    if loss == "logistic":
        losses = np.logaddexp(0, -y * decision)
    elif loss == "squared-hinge":
        losses = np.maximum(0, 1 - y * decision) ** 2
    else:  # Huber's, as mercer.KernelHuberRegressor has it: r²/2 within delta
        error = np.abs(y - decision)
        losses = np.where(error <= 1, error**2 / 2, error - 0.5)
    return float(LAMBDA * norm + losses.sum())


def _ridge(module: str):
    def make(data: Any, place: Place) -> Work:
        if module == OURS:
            from mercer import KernelRidge

            machine = KernelRidge(1.0, kernel="rbf", gamma=GAMMA, n_jobs=place.threads)
        else:
            from sklearn.kernel_ridge import KernelRidge

            machine = KernelRidge(alpha=1.0, kernel="rbf", gamma=GAMMA)
        x, y, test, _ = data
        return Work(lambda: machine.fit(x, y), lambda m: {"predictions": m.predict(test).tolist()})

    return make


def _span(data: Any, place: Place) -> Work:
    from mercer import KernelRidge

    x, y, test, truth = data
    machine = KernelRidge(1.0, kernel="rbf", gamma=GAMMA, approximate="nystroem(centres=500)",
                          n_jobs=place.threads)  # fmt: skip
    return Work(lambda: machine.fit(x, y), lambda m: {"rmse": _rmse(m.predict(test), truth)})


def _span_sklearn(data: Any, place: Place) -> Work:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    x, y, test, truth = data
    machine = make_pipeline(Nystroem(gamma=GAMMA, n_components=500, random_state=1), Ridge(1.0))
    return Work(lambda: machine.fit(x, y), lambda m: {"rmse": _rmse(m.predict(test), truth)})


def _rmse(found: np.ndarray, truth: np.ndarray) -> float:
    return float(np.sqrt(np.mean((np.ravel(found) - truth) ** 2)))


def _evidence(machine: Any) -> dict[str, float]:
    return {"minus evidence": -float(machine.log_marginal_likelihood_value_)}


def _process_ours(data: Any, place: Place) -> Work:
    from mercer import GaussianProcessRegressor

    machine = GaussianProcessRegressor("1.0*rbf(gamma=0.125)", alpha=0.1, n_jobs=place.threads)
    return Work(lambda: machine.fit(*data[:2]), _evidence)


def _process_sklearn(data: Any, place: Place) -> Work:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    machine = GaussianProcessRegressor(ConstantKernel(1.0) * RBF(2.0) + WhiteKernel(0.1))
    return Work(lambda: machine.fit(*data[:2]), _evidence)


def _loss_ours(loss: str):
    def make(data: Any, place: Place) -> Work:
        import mercer

        kinds = {"logistic": mercer.KernelLogisticRegression, "squared-hinge": mercer.SquaredHingeClassifier,
                 "huber": mercer.KernelHuberRegressor}  # fmt: skip
        x, y = data[:2]
        machine = kinds[loss](LAMBDA, kernel="rbf", gamma=GAMMA, fit_intercept=False, n_jobs=place.threads)
        return Work(lambda: machine.fit(x, y), lambda m: {"objective": float(m.report_.primal)})

    return make


def _loss_sklearn(loss: str):
    def make(data: Any, place: Place) -> Work:
        from sklearn.linear_model import LogisticRegression
        from sklearn.svm import LinearSVC

        x, y = data[:2]
        cost = 1 / (2 * LAMBDA)
        if loss == "logistic":
            machine = LogisticRegression(C=cost, fit_intercept=False, tol=1e-5, max_iter=10_000)
        else:
            machine = LinearSVC(C=cost, dual=False, fit_intercept=False, tol=1e-5, max_iter=10_000)

        def run() -> tuple[np.ndarray, np.ndarray]:
            rows = factor(x)
            return rows, machine.fit(rows, y).coef_[0]

        def answers(found: tuple[np.ndarray, np.ndarray]) -> dict[str, float]:
            rows, w = found
            return {"objective": objective(loss, rows @ w, y, float(w @ w))}

        return Work(run, answers)

    return make


def _huber_scipy(data: Any, place: Place) -> Work:
    from scipy.optimize import minimize

    x, y = data[:2]

    def run() -> Any:
        rows = factor(x)

        def value(w: np.ndarray) -> tuple[float, np.ndarray]:
            decision = rows @ w
            slope = rows.T @ np.clip(decision - y, -1, 1)
            return objective("huber", decision, y, float(w @ w)), slope + 2 * LAMBDA * w

        return minimize(value, np.zeros(len(x)), jac=True, method="L-BFGS-B",
                        options={"maxiter": 5_000, "maxfun": 10_000, "ftol": 1e-10})  # fmt: skip

    return Work(run, lambda found: {"objective": float(found.fun)})


def pinball(found: np.ndarray, truth: np.ndarray, quantile: float = 0.9) -> float:
    error = truth - np.ravel(found)
    return float(np.mean(np.maximum(quantile * error, (quantile - 1) * error)))


def _quantile_ours(data: Any, place: Place) -> Work:
    from mercer import KernelQuantileRegressor

    x, y, test, truth = data
    machine = KernelQuantileRegressor(quantile=0.9, alpha=LAMBDA, kernel="rbf", gamma=GAMMA, n_jobs=place.threads)
    return Work(lambda: machine.fit(x, y), lambda m: {"pinball": pinball(m.predict(test), truth)})


def _quantile_sklearn(data: Any, place: Place) -> Work:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import QuantileRegressor
    from sklearn.pipeline import make_pipeline

    x, y, test, truth = data
    machine = make_pipeline(Nystroem(gamma=GAMMA, n_components=200, random_state=1),
                            QuantileRegressor(quantile=0.9, alpha=1e-5))  # fmt: skip
    return Work(lambda: machine.fit(x, y), lambda m: {"pinball": pinball(m.predict(test), truth)})


_SAME = {"objective": Check("no more", 1e-5)}

CASES = (
    Case("ridge", "California housing, 6000 × 8, rbf(gamma=0.05), λ = 1; predictions of 2000 rows", _houses(6_000),
         {OURS: _ridge(OURS), "scikit-learn KernelRidge": _ridge("scikit-learn")},
         {"predictions": Check("same", 1e-5)}),
    Case("ridge-span", "the same, 18 000 rows, 500 centres; test error", _houses(18_000),
         {OURS: _span, "scikit-learn Nystroem + Ridge": _span_sklearn}, {"rmse": Check("no more", 0.02)}),
    Case("process", "California housing, 1500 × 8, evidence maximised over height, width and noise from the same "
         "start", _houses(1_500),
         {OURS: _process_ours, "scikit-learn GaussianProcessRegressor": _process_sklearn},
         {"minus evidence": Check("no more", 1e-4)}),
    Case("logistic", "spambase, 3000 × 57, rbf(gamma=0.05), λ = 0.1; peer: the factor of the matrix and "
         "LogisticRegression on its rows", _mails,
         {OURS: _loss_ours("logistic"), "factor + LogisticRegression": _loss_sklearn("logistic")}, _SAME),
    Case("squared-hinge", "the same with the squared hinge; peer: the factor and LinearSVC", _mails,
         {OURS: _loss_ours("squared-hinge"), "factor + LinearSVC": _loss_sklearn("squared-hinge")}, _SAME),
    Case("huber", "California housing, 3000 × 8, Huber's loss, λ = 0.1; peer: the factor and scipy's L-BFGS-B, as "
         "HuberRegressor has another objective", _houses(3_000),
         {OURS: _loss_ours("huber"), "factor + scipy L-BFGS-B": _huber_scipy}, _SAME),
    Case("quantile", "California housing, 3000 × 8, the 0.9 quantile; peer: Nystroem with 200 centres and "
         "QuantileRegressor, another penalty; pinball loss on 2000 rows", _houses(3_000),
         {OURS: _quantile_ours, "scikit-learn Nystroem + QuantileRegressor": _quantile_sklearn},
         {"pinball": Check("no more", 0.05)}),
)  # fmt: skip
