"""The newest LIBSVM as its authors publish it for Python (libsvm-official, compiled on arrival)."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from bench.peers.base import Job
from bench.peers.library import LibraryPeer
from bench.peers.libsvm_debian import options


class LibsvmNewest(LibraryPeer):
    name = "libsvm_newest"
    title = "LIBSVM (newest)"
    threads = 1  # as it is published; this build could compute kernel rows with OpenMP

    def installed(self) -> str:
        import libsvm.svmutil  # noqa: F401

        return metadata.version("libsvm-official")

    def load(self, job: Job, path: pathlib.Path) -> tuple[Any, Any]:
        """With LIBSVM's own Python reader, into the form LIBSVM trains on."""
        from libsvm import svmutil

        targets, rows = svmutil.svm_read_problem(str(path), return_scipy=True)
        return (svmutil.svm_problem(targets, rows), rows), targets

    def train(self, job: Job, rows: Any, targets: Any) -> Any:
        from libsvm import svmutil

        return svmutil.svm_train(rows[0], " ".join(options(job)))

    def predict(self, job: Job, trained: Any, rows: Any) -> Sequence[float]:
        """Row by row as svm-predict does, without the printing of svmutil.svm_predict."""
        from libsvm import svm

        problem = rows[0]
        return [svm.libsvm.svm_predict(trained, problem.x[i]) for i in range(problem.l)]

    def save(self, job: Job, trained: Any) -> None:
        from libsvm import svmutil

        svmutil.svm_save_model(str(job.model), trained)


PEER = LibsvmNewest()
