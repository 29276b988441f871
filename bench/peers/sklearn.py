"""scikit-learn's SVC, SVR and OneClassSVM: LIBSVM inside, dense rows where the data is dense."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

from bench.peers.base import Job
from bench.peers.library import DENSE_ABOVE, LibraryPeer, Machine, read_svmlight


def settings(job: Job) -> dict[str, Any]:
    case, limits = job.case, job.limits
    chosen: dict[str, Any] = {
        "kernel": "poly" if case.kernel == "polynomial" else "rbf",
        "gamma": case.gamma,
        "degree": case.degree,
        "coef0": 0.0,
        "tol": limits.tolerance,
        "cache_size": limits.cache_mib,
    }
    if case.task == "one-class":
        return {**chosen, "nu": case.nu}
    if case.task == "svr":
        return {**chosen, "C": case.C, "epsilon": case.epsilon}
    return {**chosen, "C": case.C}


def machine_of(job: Job, trained: Any) -> Machine:
    """From the attributes scikit-learn documents. For two classes it turns the signs round."""
    coefficients = trained.dual_coef_
    if hasattr(coefficients, "toarray"):
        coefficients = coefficients.toarray()
    intercept = [-float(value) for value in trained.intercept_]
    if job.case.task != "svc":
        return Machine(list(trained.support_), coefficients.tolist(), [], [], intercept)
    labels = [int(label) for label in trained.classes_]
    if len(labels) == 2:
        coefficients, intercept = -coefficients, [-value for value in intercept]
    counts = [int(count) for count in trained.n_support_]
    return Machine(list(trained.support_), coefficients.tolist(), counts, labels, intercept)


class Sklearn(LibraryPeer):
    name = "sklearn"
    title = "scikit-learn"
    threads = 1

    def installed(self) -> str:
        import sklearn
        import sklearn.svm  # noqa: F401  imported here so that it is not timed

        return str(sklearn.__version__)

    def load(self, job: Job, path: pathlib.Path) -> tuple[Any, Any]:
        return read_svmlight(job, path, job.density > DENSE_ABOVE, "float64")

    def train(self, job: Job, rows: Any, targets: Any) -> Any:
        from sklearn import svm

        if job.case.task == "one-class":
            return svm.OneClassSVM(**settings(job)).fit(rows)
        family = svm.SVR if job.case.task == "svr" else svm.SVC
        return family(**settings(job)).fit(rows, targets)

    def predict(self, job: Job, trained: Any, rows: Any) -> Sequence[float]:
        return list(trained.predict(rows))

    def machine(self, job: Job, trained: Any) -> Machine:
        return machine_of(job, trained)


PEER = Sklearn()
