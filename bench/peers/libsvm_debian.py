"""LIBSVM's own programs, as the system packages them (libsvm-tools)."""

from __future__ import annotations

import pathlib
import shutil

from bench import measure
from bench.peers.base import Absent, Job
from bench.peers.program import Command, ProgramPeer

TYPES = {"svc": "0", "one-class": "2", "svr": "3"}


def options(job: Job) -> list[str]:
    """svm-train's options; the newest LIBSVM takes the same."""
    case, limits = job.case, job.limits
    words = [
        "-s", TYPES[case.task], "-t", "1" if case.kernel == "polynomial" else "2",
        "-d", str(case.degree), "-g", repr(case.gamma), "-r", "0", "-c", repr(case.C),
        "-n", repr(case.nu), "-p", repr(case.epsilon), "-e", repr(limits.tolerance),
        "-m", str(limits.cache_mib), "-q",
    ]  # fmt: skip
    return words


class LibsvmDebian(ProgramPeer):
    name = "libsvm_debian"
    title = "LIBSVM (Debian)"
    threads = 1

    def version(self, programs: pathlib.Path) -> str:
        if shutil.which("svm-train") is None:
            raise Absent("svm-train is not installed (package libsvm-tools)")
        if shutil.which("dpkg-query") is None:
            return "unknown"
        said = measure.run(["dpkg-query", "-W", "-f", "${Version}", "libsvm-tools"], 60)
        return said.output.strip() or "unknown"

    def train_command(self, job: Job) -> Command:
        return ["svm-train", *options(job), job.train, job.model]

    def read_command(self, job: Job) -> Command:
        return ["svm-train", "-s", "2", "-n", "2", "-q", job.train, job.model.with_name("refused")]

    def predict_command(self, job: Job, rows: pathlib.Path, output: pathlib.Path) -> Command:
        return ["svm-predict", rows, job.model, output]


PEER = LibsvmDebian()
