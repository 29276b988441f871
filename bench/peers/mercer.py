"""This project's own program."""

from __future__ import annotations

import json
import pathlib

from bench import measure
from bench.peers.base import Absent, Job
from bench.peers.program import Command, ProgramPeer


def kernel_text(job: Job) -> str:
    case = job.case
    if case.kernel == "polynomial":
        return f"polynomial(degree={case.degree}, gamma={case.gamma!r}, coef0=0)"
    return f"rbf(gamma={case.gamma!r})"


class Mercer(ProgramPeer):
    name = "mercer"
    title = "Mercer"

    def version(self, programs: pathlib.Path) -> str:
        if not (programs / "mercer").exists():
            raise Absent("build/bin/mercer is not built")
        return measure.run([programs / "mercer", "--version"], 60).output.split()[-1]

    def train_command(self, job: Job) -> Command:
        case, limits = job.case, job.limits
        words = [
            *self._start(job), "--json", "--task", case.task, "--kernel", kernel_text(job),
            "--tol", repr(limits.tolerance), "--memory", str(limits.cache_mib),
        ]  # fmt: skip
        words += ["--nu", repr(case.nu)] if case.task == "one-class" else ["-C", repr(case.C)]
        return words + (["--epsilon", repr(case.epsilon)] if case.task == "svr" else [])

    def read_command(self, job: Job) -> Command:
        return [*self._start(job), "--task", "one-class", "--nu", "2"]

    def _start(self, job: Job) -> list[str]:
        return [
            str(job.programs / "mercer"), "train", str(job.train), str(job.model), "--quiet",
            "--format", "libsvm", "--threads", str(job.limits.threads),
        ]  # fmt: skip

    def predict_command(self, job: Job, rows: pathlib.Path, output: pathlib.Path) -> Command:
        return [
            job.programs / "mercer", "predict", job.model, rows, "--output", output, "--quiet",
            "--json", "--format", "libsvm", "--threads", str(job.limits.threads),
        ]  # fmt: skip

    # --json may say what each part took: "seconds": {"read": …, "train": …} and
    # "seconds": {"read": …, "predict": …}. Programs that do not are measured from outside.

    def split(self, job: Job, finished: measure.Finished) -> tuple[float, float] | None:
        seconds = json.loads(finished.output).get("seconds")
        return (seconds["read"], seconds["train"]) if isinstance(seconds, dict) else None

    def predicting(self, finished: measure.Finished) -> float | None:
        seconds = json.loads(finished.output).get("seconds")
        return seconds["predict"] if isinstance(seconds, dict) else None


def search_command(
    job: Job, grid_c: tuple[float, ...], grid_gamma: tuple[float, ...], folds: int
) -> Command:
    """A grid over C and γ with cross-validation. The one place to change with the command line."""
    return [
        job.programs / "mercer", "tune", job.train, "--json", "--quiet", "--format", "libsvm",
        "--kernel", "rbf(gamma=1)", "--cv", str(folds), "--tol", repr(job.limits.tolerance),
        "--threads", str(job.limits.threads), "--memory", str(job.limits.cache_mib),
        "--grid", "C=" + ",".join(f"{c!r}" for c in grid_c),
        "--grid", "gamma=" + ",".join(f"{g!r}" for g in grid_gamma),
    ]  # fmt: skip


def search_obstacle(programs: pathlib.Path) -> str:
    """Why no search can be run; empty when it can."""
    finished = measure.run([programs / "mercer", "tune", "--help"], 60)
    return "" if finished.code == 0 else "not available: this program has no `mercer tune` yet"


PEER = Mercer()
