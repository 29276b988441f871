"""One model from several processes, each with its own rows, the same to the last byte for any number.

Run a program by ``mpirun -n 8 python program.py``. Every process runs all of it, and gives `fit` its own
part of the rows:

>>> import numpy as np
>>> from mercer import KernelRidge
>>> from mercer.distributed import ranks
>>> X = np.linspace(0, 1, 50, dtype=np.float32)[:, None]  # or np.load("rows.npy", mmap_mode="r")
>>> with ranks() as all:
...     own = all.own_rows(len(X))
...     machine = KernelRidge(
...         alpha=1e-3, kernel="rbf", gamma=9, approximate="nystroem(centres=5)"
...     )
...     model = machine.fit(X[own], X[own, 0] ** 2)
>>> bool(abs(model.predict([[.5]])[0] - .25) < .02)
True

`KernelRidge`, `KernelLogisticRegression`, `SquaredHingeClassifier` and `KernelHuberRegressor`, each with
``approximate="nystroem(...)"``, can be spread so; others refuse more than one process.
"""

from __future__ import annotations

import io
from types import TracebackType
from typing import Any

import numpy as np

from . import _core

__all__ = ["Ranks", "ranks"]

_current: list[Ranks] = []


class Ranks:
    """The processes that mpirun has started; this one alone where there is no mpirun."""

    def __init__(self) -> None:
        self._ranks = _core.Ranks()

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
        self._ranks.begin()
        _current.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _current.pop()
        self._ranks.end()
        # The others must not wait for a process that will not come.
        if error is not None and not isinstance(error, _core.RankFailed):
            self._ranks.fail(str(error))


def ranks() -> Ranks:
    """Within ``with ranks() as all:`` what is learnt is learnt by all processes together."""
    return Ranks()


def labels_of_all(y: Any) -> np.ndarray | None:
    """The different labels of all processes; None where there is one alone."""
    if not _current or _current[-1].size == 1:
        return None
    own = np.unique(np.asarray(y))
    text = own.dtype == object
    buffer = io.BytesIO()
    np.save(buffer, own.astype(str) if text else own, allow_pickle=False)
    parts = _current[-1]._ranks.all_gather(buffer.getvalue())
    found = np.unique(np.concatenate([np.load(io.BytesIO(p), allow_pickle=False) for p in parts]))
    return found.astype(object) if text else found
