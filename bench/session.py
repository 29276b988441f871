"""One session of the comparison: who is there, where the files are, one peer on one case."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shutil
import sys
from collections.abc import Sequence
from typing import Any

from bench import measure, peers
from bench.judge import Row
from bench.peers.base import Failed, Job, Late, Outcome, Unsupported
from bench.suite import Case, Limits


def say(text: str) -> None:
    print(text, flush=True)


@dataclasses.dataclass
class Bench:
    """One session: where things are and who is there."""

    mode: str
    limits: Limits
    build: pathlib.Path
    programs: pathlib.Path
    source: pathlib.Path
    present: dict[str, dict[str, str]]
    machine: dict[str, object]
    disturbance: measure.Disturbance
    partial: bool  # some cases were left out by choice: no result for the docs

    @property
    def data(self) -> pathlib.Path:
        return self.build / "bench-data"

    @property
    def work(self) -> pathlib.Path:
        """Of this process alone, so that two sittings do not mix their models."""
        return self.data / f"work-{os.getpid()}"

    @property
    def results(self) -> pathlib.Path:
        return self.build / "bench-results"

    def here(self, name: str) -> bool:
        return "version" in self.present.get(name, {})

    def libsvm(self) -> str | None:
        """The newest LIBSVM there is."""
        return next((name for name in reversed(peers.LIBSVM) if self.here(name)), None)

    def prepare(self, names: Sequence[str]) -> list[str]:
        """Makes the data files; gives the names of those that cannot be made."""
        missing = []
        for name in dict.fromkeys(names):
            command = [sys.executable, "-B", "-m", "bench.data"]
            command += [str(self.source), str(self.data), name]
            finished = measure.run(command, 1800)
            if finished.code != 0:
                reason = (finished.errors.strip().splitlines() or ["no message"])[-1]
                say(f"{name}: left out, its files cannot be made: {reason}")
                missing.append(name)
        return missing

    def job(self, case: Case, peer: str) -> Job:
        facts = json.loads((self.data / f"{case.data}.json").read_text())
        work = self.work / peer
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        train, test = self.data / f"{case.data}.train", self.data / f"{case.data}.test"
        return Job(case, self.limits, train, test, facts["columns"], facts["density"],
                   self.programs, work)  # fmt: skip

    def save(self, kind: str, content: dict[str, Any]) -> pathlib.Path:
        self.results.mkdir(parents=True, exist_ok=True)
        date = measure.now()
        whole = {
            "kind": kind,
            "mode": self.mode,
            "partial": self.partial,
            "date": date,
            "machine": {**self.machine, "others": self.disturbance.cores()},
            "limits": dataclasses.asdict(self.limits),
            "peers": self.present,
            **content,
        }
        path = self.results / f"{kind}-{self.mode}-{date.replace(':', '')}.json"
        path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
        return path


def best_of(bench: Bench, job: Job, peer: str, predict: bool = True) -> tuple[Outcome, int]:
    """The quickest of several runs, part by part; long ones are run once."""
    chosen = peers.peer(peer)
    best = chosen.run(job, predict)
    runs = 1
    while runs < bench.limits.repeats and best.train < bench.limits.repeat_below:
        again = chosen.run(job, predict)
        best = dataclasses.replace(
            best,
            load=min(best.load, again.load),
            train=min(best.train, again.train),
            again=None if best.again is None or again.again is None else min(best.again, again.again),
            predict=min(best.predict, again.predict),
            peak_mib=max(best.peak_mib, again.peak_mib),
        )
        runs += 1
    return best, runs


def objective(job: Job) -> dict[str, Any]:
    case = job.case
    words = [repr(case.C), repr(case.epsilon), repr(case.nu)]
    finished = measure.run([job.programs / "dual_objective", job.model, job.train, *words], 1800)
    if finished.code != 0:
        raise Failed(finished.errors.strip() or f"dual_objective: exit code {finished.code}")
    said: dict[str, Any] = json.loads(finished.output)
    return said


def measure_row(bench: Bench, case: Case, peer: str, predict: bool = True) -> Row:
    """One peer on one case. Never raises for what a peer does."""
    row = Row(case.name, peer, threads=peers.peer(peer).threads or bench.limits.threads)
    said = bench.present[peer]
    if "version" not in said:
        row.status, row.note = "absent", said["absent"]
        return row
    job = bench.job(case, peer)
    disturbance = measure.Disturbance()
    try:
        outcome, row.runs = best_of(bench, job, peer, predict)
        row.others = disturbance.cores()
        value = objective(job)
    except (Unsupported, Late, Failed) as reason:
        names = {Unsupported: "unsupported", Late: "limit", Failed: "failed"}
        row.status, row.note = names[type(reason)], "" if isinstance(reason, Late) else str(reason)
        return row
    row.load, row.train, row.predict = outcome.load, outcome.train, outcome.predict
    row.again = outcome.again
    row.score, row.peak_mib, row.note = outcome.score, round(outcome.peak_mib, 1), outcome.note
    row.objective, row.infeasibility = value["objective"], value["infeasibility"]
    row.support_vectors = value["support_vectors"]
    return row
