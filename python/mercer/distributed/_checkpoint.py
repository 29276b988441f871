"""Training that can be gone on with."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

from .. import _core
from ._ranks import is_first, is_spread


class Checkpoint:
    """From a ``with`` statement's beginning to its end, machines write down how far they are."""

    def __init__(self, path: Any, *, resume: bool = False, every: float = 10.0) -> None:
        self._path = os.fspath(path)
        self._resume = bool(resume)
        self._every = float(every)
        self._state = _core.KeptState()
        if not 0 <= self._every < float("inf"):
            raise ValueError(f"every = {every} must be 0 or a number of seconds")

    def __enter__(self) -> Checkpoint:
        if os.path.exists(self._path) and not self._resume:
            raise ValueError(
                f"{self._path} is there already: say resume=True to go on with it, or remove it"
            )
        self._state.begin(self._path, self._resume, self._every)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._state.end(error is None and (is_first() or not is_spread()))


def checkpoint(path: Any, *, resume: bool = False, every: float = 10.0) -> Checkpoint:
    """Within ``with checkpoint("model.state", resume=True):`` a fit in the span of some rows writes down
    after each step how far it is, and begins there where such a file is found.

    Parameters
    ----------
    path : str or path
        Written whole or not at all, and removed at the end of the block, unless that is an exception.
    resume : bool
        Go on from the file where there is one; else one that is there is refused.
    every : float
        Seconds between two checkpoints, at least.

    The model has the bytes of a fit that was not disturbed, by any number of processes under mpirun. On
    Dask, where lost workers are made good anyway, nothing is written.
    """
    return Checkpoint(path, resume=resume, every=every)
