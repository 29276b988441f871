"""What the runner asks of a peer."""

from __future__ import annotations

import dataclasses
import json
import pathlib

from bench.suite import Case, Limits


@dataclasses.dataclass(frozen=True)
class Job:
    """One case made ready: files that exist, and where results may go."""

    case: Case
    limits: Limits
    train: pathlib.Path  # LIBSVM text
    test: pathlib.Path
    columns: int
    density: float
    programs: pathlib.Path  # our own programs
    work: pathlib.Path  # scratch folder of this job

    @property
    def model(self) -> pathlib.Path:
        return self.work / "model"

    def to_json(self) -> str:
        fields = dataclasses.asdict(self)
        return json.dumps(fields, default=str)

    @staticmethod
    def from_json(text: str) -> Job:
        fields = json.loads(text)
        for name in ("train", "test", "programs", "work"):
            fields[name] = pathlib.Path(fields[name])
        fields["case"], fields["limits"] = Case(**fields["case"]), Limits(**fields["limits"])
        return Job(**fields)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Seconds of one run, and the model left in `job.model` for the objective to be computed."""

    load: float = 0.0
    train: float = 0.0
    predict: float = 0.0
    score: float | None = None
    peak_mib: float = 0.0
    note: str = ""
    again: float | None = None  # the best further training in the same process


class Absent(Exception):
    """The peer is not installed here."""


class Unsupported(Exception):
    """The peer has no such machine."""


class Late(Exception):
    """The limit passed."""


class Failed(Exception):
    """The peer broke off; the text says how."""


class Peer:
    name: str = ""
    title: str = ""
    threads: int | None = None  # how many it uses at most; None: as many as told

    def version(self, programs: pathlib.Path) -> str:
        """Raises Absent with a reason."""
        raise NotImplementedError

    def run(self, job: Job, predict: bool = True) -> Outcome:
        """Trains, predicts, measures. Raises Unsupported, Late or Failed."""
        raise NotImplementedError


def score_of(case: Case, truth: list[float], said: list[float]) -> float:
    """Accuracy, mean squared error (svr) or fraction inside (one-class)."""
    if len(truth) != len(said) or not truth:
        raise Failed(f"{len(said)} predictions for {len(truth)} rows")
    if case.task == "svr":
        return sum((a - b) ** 2 for a, b in zip(truth, said)) / len(truth)
    if case.task == "one-class":
        return sum(b > 0 for b in said) / len(said)
    return sum(a == b for a, b in zip(truth, said)) / len(truth)


def labels_of(path: pathlib.Path) -> list[float]:
    with open(path) as file:
        return [float(line.split(None, 1)[0]) for line in file if line.strip()]
