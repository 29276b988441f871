"""This project's Python package, for trainings again in one process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.peers.base import Job
from bench.peers.library import DENSE_ABOVE, LibraryPeer, read_svmlight
from bench.peers.mercer import kernel_text


class MercerLibrary(LibraryPeer):
    name = "mercer_library"
    title = "Mercer (Python)"

    def installed(self) -> str:
        import mercer

        return str(mercer.__version__)

    def load(self, job: Job, path: Any) -> tuple[Any, Any]:
        return read_svmlight(job, path, job.density > DENSE_ABOVE, "float32")

    def train(self, job: Job, rows: Any, targets: Any) -> Any:
        import mercer

        case, limits = job.case, job.limits
        common = {"kernel": mercer.Kernel(kernel_text(job)), "tol": limits.tolerance,
                  "cache_size": limits.cache_mib, "n_jobs": limits.threads}  # fmt: skip
        if case.task == "one-class":
            return mercer.OneClassSVM(nu=case.nu, **common).fit(rows)
        if case.task == "svr":
            return mercer.SVR(C=case.C, epsilon=case.epsilon, **common).fit(rows, targets)
        return mercer.SVC(C=case.C, **common).fit(rows, targets)

    def predict(self, job: Job, trained: Any, rows: Any) -> Sequence[float]:
        return list(trained.predict(rows))

    def save(self, job: Job, trained: Any) -> None:
        trained.save(str(job.model))


PEER = MercerLibrary()
