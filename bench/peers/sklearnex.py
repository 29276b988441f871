"""scikit-learn-intelex: scikit-learn's classes on oneDAL's threaded solver."""

from __future__ import annotations

import pathlib
from importlib import metadata
from typing import Any

from bench.peers.base import Job, Unsupported
from bench.peers.library import read_svmlight
from bench.peers.sklearn import Sklearn, settings

# Its quickest form, tried out on a9a (density 0.11), w8a (0.04) and reuters: single precision,
# dense rows already from a tenth on.
DENSE_ABOVE = 0.1


class Sklearnex(Sklearn):
    name = "sklearnex"
    title = "scikit-learn-intelex"
    threads = None

    def installed(self) -> str:
        import sklearnex.svm  # noqa: F401

        return metadata.version("scikit-learn-intelex")

    def load(self, job: Job, path: pathlib.Path) -> tuple[Any, Any]:
        return read_svmlight(job, path, job.density > DENSE_ABOVE, "float32")

    def train(self, job: Job, rows: Any, targets: Any) -> Any:
        import daal4py
        from sklearnex import svm

        if job.case.task == "one-class":
            raise Unsupported("has no one-class machine of its own")
        daal4py.daalinit(job.limits.threads)
        family = svm.SVR if job.case.task == "svr" else svm.SVC
        return family(**settings(job)).fit(rows, targets)

    def note(self, trained: Any) -> str:
        return "" if hasattr(trained, "_onedal_estimator") else "fell back to scikit-learn"


PEER = Sklearnex()
