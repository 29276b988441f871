"""The processes of mpirun, and what estimators ask of all of them."""

from __future__ import annotations

import io
import threading
from types import TracebackType
from typing import Any

import numpy as np

from .. import _core


class _Here(threading.local):
    """The ranks of this thread, the innermost last."""

    def __init__(self) -> None:
        self.all: list[Ranks] = []


_here = _Here()


class Ranks:
    """The processes that mpirun has started; this one alone where there is no mpirun."""

    def __init__(self, own: _core.Ranks | None = None, rows: str = "own") -> None:
        if rows not in ("own", "all"):
            raise ValueError(f"rows = {rows!r} must be 'own' or 'all'")
        self._ranks = _core.Ranks() if own is None else own
        self.rows = rows

    @property
    def rank(self) -> int:
        """The number of this process, from 0."""
        return self._ranks.rank

    @property
    def size(self) -> int:
        """How many there are."""
        return self._ranks.size

    def own_rows(self, total: int) -> slice:
        """Which of all rows this process is to have. Each must have some."""
        first, last = self._ranks.own_rows(total)
        return slice(first, last)

    def __enter__(self) -> Ranks:
        self._ranks.begin(self.rows == "all")
        _here.all.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _here.all.pop()
        self._ranks.end()
        # The others must not wait for a process that will not come.
        if error is not None and not isinstance(error, _core.RankFailed):
            self._tell_failure(error)

    def _tell_failure(self, error: BaseException) -> None:
        self._ranks.fail(str(error))


def ranks(rows: str = "own") -> Ranks:
    """Within ``with ranks() as all:`` what is learnt is learnt by all processes together.

    Parameters
    ----------
    rows : {"own", "all"}
        What each process gives to `fit`: its `own_rows`, or all of them. Support vector machines of all
        rows (without ``approximate``) need them all in every process, and are quicker told so.
    """
    return Ranks(rows=rows)


def is_spread() -> bool:
    """Whether this thread learns from rows of which other processes have the rest."""
    return bool(_here.all) and _here.all[-1].size > 1 and _here.all[-1].rows == "own"


def is_first() -> bool:
    """Whether this process speaks for all."""
    return not _here.all or _here.all[-1].rank == 0


def _of_all(own: np.ndarray) -> list[np.ndarray]:
    """The arrays of all processes, one after another."""
    buffer = io.BytesIO()
    np.save(buffer, own, allow_pickle=False)
    parts = _here.all[-1]._ranks.all_gather(buffer.getvalue())
    return [np.load(io.BytesIO(part), allow_pickle=False) for part in parts]


def labels_of_all(y: Any) -> np.ndarray | None:
    """The different labels of all processes; None where there is one alone."""
    if not is_spread():
        return None
    own = np.unique(np.asarray(y))
    text = own.dtype == object
    found = np.unique(np.concatenate(_of_all(own.astype(str) if text else own)))
    return found.astype(object) if text else found


def joined_of_all(own: np.ndarray) -> np.ndarray:
    """One number a row: those of the rows of all processes, in their order."""
    return np.concatenate(_of_all(own)) if is_spread() else own


def sums_of_all(own: Any) -> np.ndarray:
    """Whole numbers of this process, added up over all."""
    if not is_spread():
        return np.asarray(own)
    return np.sum(_of_all(np.asarray(own, dtype=np.int64)), axis=0)
