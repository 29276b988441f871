"""Peers that are Python packages: each run is a process of its own (peers/child.py).

Importing the package is not counted; load, train and predict are timed around the calls.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import sys
import time
from collections.abc import Sequence
from typing import Any

from bench import measure
from bench.peers.base import Absent, Failed, Job, Late, Outcome, Peer, Unsupported, score_of

UNSUPPORTED = 3  # exit code of the child
DENSE_ABOVE = 0.25  # share of entries that are there


@dataclasses.dataclass(frozen=True)
class Machine:
    """A trained machine as LIBSVM lays it out: support vectors grouped by class, in the order of
    `labels`; one row of `coefficients` for each class but one."""

    support: Sequence[int]  # rows of the training file, from 0
    coefficients: Sequence[Sequence[float]]
    counts: Sequence[int]  # support vectors of each class
    labels: Sequence[int]
    rho: Sequence[float]


class LibraryPeer(Peer):
    def installed(self) -> str:
        """Imports the package; its version. Raises ImportError or OSError."""
        raise NotImplementedError

    def load(self, job: Job, path: pathlib.Path) -> tuple[Any, Any]:
        """Rows and targets as the package likes them best."""
        raise NotImplementedError

    def train(self, job: Job, rows: Any, targets: Any) -> Any:
        raise NotImplementedError

    def seconds(self, trained: Any) -> float | None:
        """Of training alone, where the call does other things too."""
        return None

    def predict(self, job: Job, trained: Any, rows: Any) -> Sequence[float]:
        raise NotImplementedError

    def save(self, job: Job, trained: Any) -> None:
        write_model(job, self.machine(job, trained))

    def machine(self, job: Job, trained: Any) -> Machine:
        raise NotImplementedError

    def note(self, trained: Any) -> str:
        return ""

    # What the runner calls.

    def version(self, programs: pathlib.Path) -> str:
        finished = measure.run([*self._child(), "version"], 120)
        if finished.code != 0:
            words = finished.errors.strip().splitlines()
            raise Absent(words[-1] if words else f"exit code {finished.code}")
        return finished.output.strip().splitlines()[-1]

    def run(self, job: Job, predict: bool = True) -> Outcome:
        asked = job.work / "job.json"
        answered = job.work / "outcome.json"
        asked.write_text(job.to_json())
        threads = str(self.threads or job.limits.threads)
        finished = measure.run(
            [*self._child(), asked, answered, "predict" if predict else "train"],
            job.limits.seconds,
            {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
        )
        words = finished.errors.strip().splitlines()
        if finished.late:
            raise Late(f"stopped after {job.limits.seconds:g} s")
        if finished.code == UNSUPPORTED:
            raise Unsupported(words[-1])
        if finished.code != 0:
            raise Failed(words[-1] if words else f"exit code {finished.code}")
        return Outcome(**{**json.loads(answered.read_text()), "peak_mib": finished.peak_mib})

    def train_again(self, job: Job, rows: Any, targets: Any, first: float) -> float | None:
        """The best of some further trainings: memory has been touched, and libraries are loaded."""
        if first > job.limits.repeat_below:
            return None
        taken = []
        for _ in range(20 if first < 0.05 else 3):
            start = time.perf_counter()
            trained = self.train(job, rows, targets)
            whole = time.perf_counter() - start
            own = self.seconds(trained)
            taken.append(whole if own is None else own)
        return min(taken)

    def _child(self) -> list[str]:
        return [sys.executable, "-B", "-m", "bench.peers.child", self.name]

    def run_here(self, job: Job, predict: bool) -> Outcome:
        """In the child."""
        self.installed()
        clock = time.perf_counter
        start = clock()
        rows, targets = self.load(job, job.train)
        loaded = clock()
        trained = self.train(job, rows, targets)
        done = clock()
        own = self.seconds(trained)
        self.save(job, trained)
        train = done - loaded if own is None else own
        again = self.train_again(job, rows, targets, train)
        outcome = Outcome(loaded - start, train, note=self.note(trained), again=again)
        if not predict:
            return outcome
        test_rows, truth = self.load(job, job.test)
        start = clock()
        said = self.predict(job, trained, test_rows)
        took = clock() - start
        score = score_of(job.case, [float(y) for y in truth], [float(y) for y in said])
        return dataclasses.replace(outcome, predict=took, score=score)


def read_svmlight(job: Job, path: pathlib.Path, dense: bool, dtype: str) -> tuple[Any, Any]:
    """scikit-learn's reader, for the packages that live with it."""
    from sklearn.datasets import load_svmlight_file

    rows, targets = load_svmlight_file(str(path), n_features=job.columns, dtype=dtype,
                                       zero_based=False)  # fmt: skip
    targets = targets.astype("float64")
    if dense:
        return rows.toarray(), targets
    # The reader counts with 64 bits where LIBSVM's port to scikit-learn takes 32 only.
    rows.indices, rows.indptr = rows.indices.astype("int32"), rows.indptr.astype("int32")
    return rows, targets


def write_model(job: Job, machine: Machine) -> None:
    """LIBSVM's model file. The support vectors are copied from the training file."""
    case = job.case
    lines = [f"svm_type {dict(svc='c_svc', svr='epsilon_svr').get(case.task, 'one_class')}"]
    lines.append(f"kernel_type {case.kernel}")
    if case.kernel == "polynomial":
        lines.append(f"degree {case.degree}")
    lines.append(f"gamma {case.gamma!r}")
    if case.kernel == "polynomial":
        lines.append("coef0 0")
    lines.append(f"nr_class {max(len(machine.labels), 2)}")
    lines.append(f"total_sv {len(machine.support)}")
    lines.append("rho " + " ".join(repr(float(value)) for value in machine.rho))
    if machine.labels:
        lines.append("label " + " ".join(str(int(label)) for label in machine.labels))
        lines.append("nr_sv " + " ".join(str(int(count)) for count in machine.counts))
    lines.append("SV")
    with open(job.train) as file:
        rows = file.read().splitlines()
    for i, row in enumerate(machine.support):
        _, _, entries = rows[row].partition(" ")
        numbers = " ".join(repr(float(row_of[i])) for row_of in machine.coefficients)
        lines.append(f"{numbers} {entries}")
    job.model.write_text("\n".join(lines) + "\n")
