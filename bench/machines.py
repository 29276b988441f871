#!/usr/bin/env python3
"""Machines beside the peers people would use, from Python: the same rows, the same threads, answers compared.

    PYTHONPATH=build/python-package python3 -m bench.machines [NAME ...] [--quick] [--list]

Each run is a process of its own, which reads its rows, and times learning (or what the case is about) alone:
processor seconds (user and system, of all threads) and seconds by the clock. Everybody has one thread unless
--threads says more: those of some libraries look for work while they wait, which counts. What takes less
than half a second is run three times in it, so that libraries are open and pages touched. Runs of the
programs are interleaved, and the least of --repeats counts. An answer of ours that is further from the
peer's than the case allows makes the comparison void, and the program fails. Peers that are absent say so
in their line; a case whose data are not there is skipped. Cases are in bench/machine_cases.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.metadata
import json
import os
import pathlib
import sys
import time
import warnings
from collections.abc import Mapping, Sequence

from bench import measure
from bench.machine_cases.every import CASES
from bench.machine_cases.rules import OURS, Answers, Case, Place, judge, shown

SHORT = 0.5  # seconds, below which a run is repeated in its process
PACKAGES = ("numpy", "scipy", "scikit-learn", "tslearn", "mapie")


@dataclasses.dataclass
class Times:
    """The least of all runs of one program, and its answers."""

    cpu: float = float("inf")
    wall: float = float("inf")
    answers: Answers = dataclasses.field(default_factory=dict)
    failure: str = ""

    def take(self, told: Mapping) -> None:
        self.cpu, self.wall = min(self.cpu, told["cpu"]), min(self.wall, told["wall"])
        self.answers = told["answers"]


def run_here(case: Case, program: str, place: Place) -> dict:
    """One run, in this process."""
    warnings.filterwarnings("ignore")  # of peers that stop early: their answers are looked at
    work = case.programs[program](case.load(place), place)
    cpu, wall = float("inf"), float("inf")
    for _ in range(3):
        begin, spent = time.perf_counter(), time.process_time()
        result = work.run()
        cpu = min(cpu, time.process_time() - spent)
        last = time.perf_counter() - begin
        wall = min(wall, last)
        if last >= SHORT:
            break
    return {"cpu": cpu, "wall": wall, "answers": work.answers(result)}


def run_child(case: Case, program: str, arguments: argparse.Namespace, times: Times) -> None:
    threads = str(arguments.threads)
    command = [sys.executable, "-B", "-m", "bench.machines", "--child", program, case.name, "--data", arguments.data,
               "--threads", threads, *(["--quick"] if arguments.quick else [])]  # fmt: skip
    limits = {name: threads for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    done = measure.run(command, arguments.limit, limits)
    if done.late:
        times.failure = f"> {arguments.limit:g} s"
    elif done.code != 0:
        times.failure = (done.errors.strip().splitlines() or ["failed"])[-1]
    else:
        times.take(json.loads(done.output.splitlines()[-1]))


def compare(case: Case, arguments: argparse.Namespace) -> bool:
    found = {program: Times() for program in case.programs}
    for _ in range(1 if arguments.quick else arguments.repeats):
        for program, times in found.items():
            if not times.failure:
                run_child(case, program, arguments, times)
    if found[OURS].failure.startswith("FileNotFoundError"):
        print(f"\n{case.name}: skipped, {found[OURS].failure}")
        return True
    print(f"\n{case.name}: {case.what}\n\n| | processor s | wall s | over Mercer's | |\n|---|---|---|---|---|")
    mine, good = found[OURS], not found[OURS].failure
    for program, times in found.items():
        if times.failure:
            print(f"| {program} | – | – | – | {times.failure} |")
            continue
        words = ""
        if program != OURS and not mine.failure:
            fine, words = judge(case, mine.answers, times.answers)
            good = good and fine
        told = "; ".join(f"{name} {shown(times.answers[name])}" for name in case.told)
        ratio = "" if program == OURS else f"{times.cpu / mine.cpu:.2f}"
        notes = "; ".join(filter(None, (words, told)))
        print(f"| {program} | {times.cpu:.4f} | {times.wall:.4f} | {ratio} | {notes} |", flush=True)
    return good


def versions() -> str:
    words = []
    for package in PACKAGES:
        try:
            words.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            words.append(f"{package} is absent")
    return ", ".join(words)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench machines", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases; all of them if none is named")
    parser.add_argument("--quick", action="store_true", help="fewer rows, one run each")
    parser.add_argument("--list", action="store_true", help="the cases and what they are")
    parser.add_argument("--data", default=os.environ.get("MERCER_DATA", "../shared/data"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300, help="seconds of one run")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    told = parser.parse_args(arguments)
    unknown = [name for name in told.names if name not in CASES]
    if unknown:
        parser.error(f"there is no case {unknown[0]!r}, but {', '.join(CASES)}")
    return told


def main() -> int:
    arguments = parse()
    place = Place(pathlib.Path(arguments.data), arguments.quick, arguments.threads)
    if arguments.child:
        print(json.dumps(run_here(CASES[arguments.names[0]], arguments.child, place)))
        return 0
    chosen = [CASES[name] for name in arguments.names or CASES]
    if arguments.list:
        print("\n".join(f"{case.name}: {case.what}" for case in chosen))
        return 0
    runs = 1 if arguments.quick else arguments.repeats
    load = os.getloadavg()[0]
    print(f"{arguments.threads} threads, the least of {runs} runs, load before {load:.2f}; {versions()}")
    void = [case.name for case in chosen if not compare(case, arguments)]
    if void:
        print(f"\nvoid: {', '.join(void)}")
    return 1 if void else 0


if __name__ == "__main__":
    sys.exit(main())
