"""ThunderSVM on the processor (thundersvm-cpu)."""

from __future__ import annotations

import pathlib
import time
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from bench.peers.base import Failed, Job
from bench.peers.library import DENSE_ABOVE, LibraryPeer, Machine, read_svmlight
from bench.peers.sklearn import settings


class ThunderSVM(LibraryPeer):
    name = "thundersvm"
    title = "ThunderSVM"

    def installed(self) -> str:
        import thundersvm  # noqa: F401

        return metadata.version("thundersvm-cpu")

    def load(self, job: Job, path: pathlib.Path) -> tuple[Any, Any]:
        return read_svmlight(job, path, job.density > DENSE_ABOVE, "float32")

    def train(self, job: Job, rows: Any, targets: Any) -> Any:
        import thundersvm

        family = {"svc": thundersvm.SVC, "svr": thundersvm.SVR,
                  "one-class": thundersvm.OneClassSVM}[job.case.task]  # fmt: skip
        chosen = settings(job)
        chosen["kernel"] = job.case.kernel
        chosen["max_mem_size"] = chosen.pop("cache_size")
        trained = _timed(family)(**chosen, n_jobs=job.limits.threads)
        trained.fit(rows, targets)
        if not hasattr(trained, "dual_coef_"):
            raise Failed("training failed")
        return trained

    def seconds(self, trained: Any) -> float | None:
        return float(trained.native_seconds)

    def predict(self, job: Job, trained: Any, rows: Any) -> Sequence[float]:
        return list(trained.predict(rows))

    def machine(self, job: Job, trained: Any) -> Machine:
        classifier = job.case.task == "svc"
        return Machine(
            list(trained.support_),
            trained.dual_coef_.tolist(),
            [int(count) for count in trained.n_support_] if classifier else [],
            _labels(job, trained) if classifier else [],
            [-float(value) for value in trained.intercept_],
        )


def _labels(job: Job, trained: Any) -> list[int]:
    """Classes in ThunderSVM's order: that in which the support vectors are grouped."""
    from bench.peers.base import labels_of

    truth = labels_of(job.train)
    return list(dict.fromkeys(int(truth[row]) for row in trained.support_))


def _timed(family: type) -> type:
    """The package copies its results out number by number in Python; that is not training."""

    def wrap(method: str) -> Any:
        def call(self: Any, *arguments: Any) -> None:
            start = time.perf_counter()
            getattr(family, method)(self, *arguments)
            self.native_seconds = time.perf_counter() - start

        return call

    return type(family.__name__, (family,), {m: wrap(m) for m in ("_dense_fit", "_sparse_fit")})


PEER = ThunderSVM()
