"""Peers that are programs with the command lines of svm-train and svm-predict, or like them.

Such a program reads, trains and writes in one go. What reading takes is found by a second run that
asks for ν = 2, which is refused as soon as the file has been read; what predicting takes is the run
on all test rows less the run on the first of them.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence

from bench import measure
from bench.peers.base import Failed, Job, Late, Outcome, Peer, labels_of, score_of

LEAST = 1e-4  # seconds: a difference of two runs may be lost in their noise

Command = Sequence["str | os.PathLike[str]"]


class ProgramPeer(Peer):
    def train_command(self, job: Job) -> Command:
        raise NotImplementedError

    def read_command(self, job: Job) -> Command:
        """Reads the training file and is then refused."""
        raise NotImplementedError

    def predict_command(self, job: Job, rows: pathlib.Path, output: pathlib.Path) -> Command:
        raise NotImplementedError

    def split(self, job: Job, finished: measure.Finished) -> tuple[float, float] | None:
        """Seconds of reading and of training where the program says so itself."""
        return None

    def predicting(self, finished: measure.Finished) -> float | None:
        """Seconds of predicting where the program says so itself."""
        return None

    def run(self, job: Job, predict: bool = True) -> Outcome:
        trained = self._run(job, self.train_command(job))
        told = self.split(job, trained)
        if told is not None:
            load, train = told
        else:
            load = min(
                self._run(job, self.read_command(job), refused=True).seconds for _ in range(2)
            )
            train = max(trained.seconds - load, LEAST)
        if not predict:
            return Outcome(load, train, peak_mib=trained.peak_mib)
        output, first = job.work / "labels", job.work / "first"
        with open(job.test) as file:
            first.write_text(file.readline())
        one = self._run(job, self.predict_command(job, first, output))
        whole = self._run(job, self.predict_command(job, job.test, output))
        took = self.predicting(whole)
        if took is None:
            took = max(whole.seconds - one.seconds, LEAST)
        score = score_of(job.case, labels_of(job.test), labels_of(output))
        return Outcome(load, train, took, score, trained.peak_mib)

    def _run(self, job: Job, command: Command, refused: bool = False) -> measure.Finished:
        finished = measure.run(command, job.limits.seconds)
        if finished.late:
            raise Late(f"{command[0]} was stopped after {job.limits.seconds:g} s")
        if (finished.code != 0) != refused:
            words = (finished.errors or finished.output).strip().splitlines()
            raise Failed(f"exit code {finished.code}: {words[-1] if words else 'no message'}")
        return finished
