"""What a worker does for a fit: one part of the rows, learnt as far as what it has heard allows.

What a part says next is a function of its rows and of the answers to all it said before. `advance` is that
function. A thread that stands where the last call left it saves going over everything again; where there
is none (the worker is another one), it is begun anew and told all answers from the first.
"""

from __future__ import annotations

import atexit
import collections
import dataclasses
import threading
from typing import Any

import numpy as np

from .. import _core
from ._ranks import Ranks


class Part(Ranks):
    """Within it, this thread learns one part; whoever carries its messages hears of its failures."""

    def _tell_failure(self, error: BaseException) -> None:
        pass


@dataclasses.dataclass(frozen=True)
class InFile:
    """Rows of an array in a file, read where they are wanted."""

    path: str
    first: int
    last: int

    def read(self) -> np.ndarray:
        return np.load(self.path, mmap_mode="r", allow_pickle=False)[self.first : self.last]


@dataclasses.dataclass
class Said:
    """What a part says: a message to be answered, or its end."""

    kind: str  # "gather", "exchange", "end", or "lost": the answers before these are wanted too
    bytes: bytes = b""
    counts: list[int] = dataclasses.field(default_factory=list)
    moment: dict[str, Any] = dataclasses.field(default_factory=dict)
    machine: Any = None
    error: BaseException | None = None
    worker: str = ""  # where it was said


class _Learner:
    """A thread that learns one part, and where it stands."""

    def __init__(self, rank: int, size: int, machine: Any, data: dict[str, Any]) -> None:
        self.part = _core.CarriedPart(rank, size)
        self.answers = 0  # heard so far
        self.moment: dict[str, Any] = {}
        self.is_to_stop = False
        self.error: BaseException | None = None
        self.machine = machine
        own = {name: _in_memory(value) for name, value in data.items() if value is not None}
        self._thread = threading.Thread(target=self._learn, args=(own,), daemon=True)
        with _lock:
            _at_work.add(self)
        self._thread.start()

    def _learn(self, data: dict[str, Any]) -> None:
        try:
            self.machine.callback = self._hear
            with Part(self.part):
                self.machine.fit(**data)
        except BaseException as error:  # told to the client, who raises it
            self.error = error
        finally:
            self.machine.callback = None
            self.part.say_end()
            with _lock:
                _at_work.discard(self)

    def _hear(self, moment: dict[str, Any]) -> bool:
        self.moment = moment
        return not self.is_to_stop

    def wait(self) -> Said:
        """What it says next."""
        found = None
        while found is None:
            found = self.part.message(1.0)
        kind, text, counts = found
        if kind != "end":
            return Said(kind, text, counts, self.moment)
        self._thread.join()
        for name in ("X_fit_", "labels_"):  # what belongs to rows stays where they are
            vars(self.machine).pop(name, None)
        first = self.part.rank == 0 and self.error is None
        return Said(kind, machine=self.machine if first else None, error=self.error)

    def hear(self, answer: bytes) -> None:
        self.wait()
        self.part.answer(answer)
        self.answers += 1

    def abandon(self) -> None:
        self.is_to_stop = True
        self.part.abandon()

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)


#: By worker (a process may have several), fit and rank.
_learners: dict[tuple[str, str, int], _Learner] = {}
#: Fits that are over, whose steps may still come.
_over: collections.deque[str] = collections.deque(maxlen=1000)
#: All whose thread has not ended.
_at_work: set[_Learner] = set()
_lock = threading.Lock()


def _in_memory(value: Any) -> Any:
    return value.read() if isinstance(value, InFile) else value


def copy_of(machine: Any, **changes: Any) -> Any:
    """A machine with the same parameters but for these, of which it may not have all."""
    own = machine.get_params()
    own.update({name: value for name, value in changes.items() if name in own})
    return type(machine)(**own)


def advance(
    fit: str,
    rank: int,
    size: int,
    machine: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    known: int,
    answers: list[bytes],
) -> Said:
    """What part `rank` says, given all answers; those before number `known` are left out, in the hope
    that the thread is here which has heard them."""
    from distributed import get_worker

    worker = get_worker()
    key = (worker.address, fit, rank)
    with _lock:
        if fit in _over:
            return Said("end", worker=worker.address)
        learner = _learners.get(key)
    heard = known + len(answers)
    if learner is None or not known <= learner.answers <= heard:
        if known > 0:
            return Said("lost", worker=worker.address)
        if learner is not None:
            learner.abandon()
        threads = worker.state.nthreads if machine.n_jobs is None else machine.n_jobs
        data = {"X": X, "y": y, "sample_weight": sample_weight}
        learner = _Learner(rank, size, copy_of(machine, n_jobs=threads), data)
        with _lock:
            _learners[key] = learner
            is_over = fit in _over
        if is_over:
            forget(fit)
    while learner.answers < heard:
        learner.hear(answers[learner.answers - known])
    said = learner.wait()
    said.worker = worker.address
    return said


def stop(fit: str) -> None:
    """Wishes that the fit ended early with what there is: the first part tells the others."""
    with _lock:
        first = [learner for key, learner in _learners.items() if key[1:] == (fit, 0)]
    for learner in first:
        learner.is_to_stop = True


def forget(fit: str) -> None:
    """The fit is over: threads that wait for an answer end."""
    with _lock:
        _over.append(fit)
        mine = [key for key in _learners if key[1] == fit]
        learners = [_learners.pop(key) for key in mine]
    for learner in learners:
        learner.abandon()


@atexit.register
def _end_all() -> None:
    """A thread must not outlive the interpreter that it wants to come back to."""
    with _lock:
        learners = list(_at_work)
    for learner in learners:
        learner.abandon()
    for learner in learners:
        learner.join(10)

