"""Estimators on the workers of a `dask.distributed.Client`.

The rows are cut into parts of whole leaves, one or more a worker. What a part says next is a function of
its rows and of what all parts have said before (`_part.advance`), and runs as one task; the client joins
what they say and answers. So a worker that is lost costs its computations over again, and the sums are
those of the fixed tree that processes under mpirun add up: the model has the same bytes.
"""

from __future__ import annotations

import functools
import os
import threading
import time
import uuid
import warnings
from typing import Any, Callable

import numpy as np

from .. import _core
from . import _part
from ._part import InFile, Said

#: Seconds between two looks at the clock while parts are at work.
_PATIENCE = 0.5


def is_dask(X: Any) -> bool:
    """Whether it is an array or a frame of Dask's."""
    return hasattr(X, "__dask_graph__")


def _is_frame(X: Any) -> bool:
    return is_dask(X) and hasattr(X, "map_partitions") and hasattr(X, "to_delayed") and not (
        hasattr(X, "chunks")
    )


def _joined(pieces: list[Any], first: int, last: int) -> Any:
    """Rows from first to last of pieces of a frame, one after another."""
    import pandas

    return pandas.concat(pieces).iloc[first:last]


def _array_in(path: str, name: str) -> np.ndarray:
    """The array of a file of NumPy's, which stays there."""
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError):
        found = None
    if not isinstance(found, np.ndarray) or found.ndim == 0:
        raise ValueError(
            f"{name} = {path!r} must name a file with one array of NumPy's, which all workers can "
            "read; 'mercer convert' makes one of another format"
        )
    return found


def _same(value: Any) -> Any:
    return value


class _Rows:
    """Rows in any form: how many there are, and those from one place to another as a future or a value."""

    def __init__(self, client: Any, given: Any, name: str) -> None:
        self._client = client
        self._given = given
        if isinstance(given, (str, os.PathLike)):
            self._path = os.path.abspath(os.fspath(given))
            self.size = len(_array_in(self._path, name))
            self.part = self._part_of_file
        elif _is_frame(given):
            self._lengths = list(given.map_partitions(len).compute(scheduler=client))
            self._pieces = client.compute(given.to_delayed())
            self.size = sum(self._lengths)
            self.part = self._part_of_frame
        elif is_dask(given):
            if any(np.isnan(sum(lengths)) for lengths in given.chunks):
                self._given = given.compute_chunk_sizes()
            self.size = int(self._given.shape[0])
            self.part = self._part_of_array
        else:
            self._given = given if hasattr(given, "iloc") else np.asarray(given)
            self.size = len(self._given)
            self.part = self._part_of_values

    part: Callable[[int, int], Any]

    def _part_of_file(self, first: int, last: int) -> Any:
        return InFile(self._path, first, last)

    def _part_of_array(self, first: int, last: int) -> Any:
        return self._client.compute(self._given[first:last])

    def _part_of_frame(self, first: int, last: int) -> Any:
        ends = np.cumsum(self._lengths)
        begins = ends - self._lengths
        touched = [k for k in range(len(ends)) if begins[k] < last and ends[k] > first]
        offset = int(begins[touched[0]])
        pieces = [self._pieces[k] for k in touched]
        return self._client.submit(_joined, pieces, first - offset, last - offset, pure=False)

    def _part_of_values(self, first: int, last: int) -> Any:
        rows = self._given.iloc[first:last] if hasattr(self._given, "iloc") else self._given[first:last]
        return self._client.submit(_same, rows, pure=False)


class _Fit:
    """One fit: its parts, and all that was answered so far."""

    def __init__(self, client: Any, machine: Any, data: list[_Rows | None], count: int | None) -> None:
        self._client = client
        self._machine = machine
        self._name = uuid.uuid4().hex
        total = data[0].size
        leaf = _core.leaf_rows(total)
        leaves = -(-total // leaf)
        workers = len(client.scheduler_info(n_workers=-1)["workers"])
        self.size = max(1, min(workers if count is None else count, leaves))
        ranges = [_core.CarriedPart(r, self.size).own_rows(total) for r in range(self.size)]
        self._rows = [[d.part(*own) if d else None for d in data] for own in ranges]
        self._log: list[bytes | list[bytes]] = []  # the same for all parts, or one for each
        self._exchange: int | None = None  # the last of the latter
        self._places: list[str | None] = [None] * self.size  # workers that the parts were on

    def run(self, out_of_time: Callable[[], bool], listener: Any) -> Any:
        """The machine that the first part has learnt."""
        is_stopping = False
        try:
            while True:
                said = self._next(out_of_time)
                for one in said:
                    if one.error is not None:
                        raise one.error
                if all(one.kind == "end" for one in said):
                    return said[0].machine
                self._answer(said)
                goes_on = listener is None or not said[0].moment or (
                    listener(said[0].moment) is not False
                )
                if not goes_on and not is_stopping:
                    is_stopping = True
                    self._tell(_part.stop)
        finally:
            self._tell(_part.forget)

    def _tell(self, what: Callable[[str], None]) -> None:
        self._client.run(what, self._name, on_error="ignore")

    def _submit(self, rank: int, whole: bool) -> Any:
        """The next step of a part; `whole`: told everything, not only what is new."""
        known = 0 if whole else max(0, len(self._log) - 1)
        log = self._log[known:]
        answers = [one if isinstance(one, bytes) else one[rank] for one in log]
        place = self._places[rank]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            return self._client.submit(
                _part.advance, self._name, rank, self.size, self._machine, *self._rows[rank],
                known, answers, pure=False,
                workers=[place] if place else None, allow_other_workers=place is not None,
            )  # fmt: skip

    def _next(self, out_of_time: Callable[[], bool]) -> list[Said]:
        futures = [self._submit(r, False) for r in range(self.size)]
        said: list[Said] = []
        is_late = False
        for rank in range(self.size):
            while len(said) == rank:
                done = threading.Event()
                futures[rank].add_done_callback(lambda _, done=done: done.set())
                while not done.wait(_PATIENCE):
                    if out_of_time() and not is_late:
                        is_late = True
                        self._tell(_part.stop)
                one = futures[rank].result()
                self._places[rank] = one.worker or None
                if one.kind == "lost":  # the worker is another one
                    futures[rank] = self._submit(rank, True)
                else:
                    said.append(one)
        if out_of_time() and not is_late:
            self._tell(_part.stop)
        return said

    def _answer(self, said: list[Said]) -> None:
        kinds = {one.kind for one in said}
        if kinds == {"gather"}:
            self._log.append(b"".join(one.bytes for one in said))
        elif kinds == {"exchange"}:
            # What a part hears in an exchange it sums up and tells all, before the next one
            # (fixed_sum.hpp). After that a part that goes over it again needs its length alone.
            if self._exchange is not None:
                self._log[self._exchange] = [bytes(len(one)) for one in self._log[self._exchange]]
            self._exchange = len(self._log)
            self._log.append([
                b"".join(one.bytes[sum(one.counts[:r]) :][: one.counts[r]] for one in said)
                for r in range(self.size)
            ])  # fmt: skip
        else:
            raise RuntimeError(f"the parts do not say the same kind of thing: {sorted(kinds)}")


def fit(
    machine: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    client: Any = None,
    parts: int | None = None,
) -> Any:
    """Learns on the workers of a Dask client; the model has the same bytes for any number of them.

    Parameters
    ----------
    machine : estimator
        One that can be spread, with ``approximate="nystroem(...)"``. ``callback``, ``verbose`` and
        ``time_limit`` are the client's; ``n_jobs`` is a worker's, by default the threads it has.
    X, y, sample_weight : Dask array, Dask frame or series, path of an array of NumPy's, or in memory
        Each worker reads its own rows of a path, which must lead to the same file everywhere.
    client : dask.distributed.Client, optional
        None: the one made last.
    parts : int, optional
        How many parts the rows are cut into; None: as many as there are workers. There are at most as
        many as leaves of 8192 rows.

    Returns
    -------
    machine
    """
    if client is None:
        from distributed import default_client

        client = default_client()
    if parts is not None and not (isinstance(parts, int) and parts >= 1):
        raise ValueError(f"parts = {parts!r} must be a whole number, 1 or more, or None")
    if not str(getattr(machine, "approximate", None) or "").startswith("nystroem"):
        raise ValueError(
            f"{type(machine).__name__} can be learnt by several workers in the span of some rows only: "
            "give approximate='nystroem(centres=1000)'"
        )
    named = {"X": X, "y": y, "sample_weight": sample_weight}
    data = [None if given is None else _Rows(client, given, name) for name, given in named.items()]
    for name, rows in zip(named, data):
        if rows is not None and rows.size != data[0].size:
            raise ValueError(f"X has {data[0].size} rows, and {name} has {rows.size}")
    if data[0].size == 0:
        raise ValueError("X has no rows")
    limit = machine.time_limit
    end = float("inf") if limit is None else time.monotonic() + float(limit)
    sent = _part.copy_of(machine, callback=None, verbose=False, time_limit=None)
    listener, bar = machine._listener()
    try:
        learnt = _Fit(client, sent, data, parts).run(lambda: time.monotonic() > end, listener)
    except RuntimeError:
        if time.monotonic() <= end:
            raise
        raise ValueError(
            f"the time_limit of {limit} seconds passed before there was a machine; give it more"
        ) from None
    finally:
        if bar is not None:
            bar.close()
    own = machine.get_params()
    for name, value in vars(learnt).items():
        if name not in own:
            setattr(machine, name, value)
    machine._warn_of_report()
    return machine


def _predicted(X: Any, machine: Any, method: str) -> np.ndarray:
    return getattr(machine, method)(X)


def predict(machine: Any, X: Any, method: str = "predict") -> Any:
    """What a fitted machine says of the rows of a Dask array or frame, as one: nothing is computed yet.

    Parameters
    ----------
    machine : estimator
    X : Dask array or frame, or path of an array of NumPy's
    method : str
        ``"predict"``, ``"predict_proba"``, ``"decision_function"``, ``"transform"``, …
    """
    import dask.array

    machine._check_fitted()
    answer = functools.partial(_predicted, machine=machine, method=method)
    if isinstance(X, (str, os.PathLike)):
        rows = _array_in(os.path.abspath(os.fspath(X)), "X")
        X = dask.array.from_array(rows, chunks=(_core.leaf_rows(len(rows)), -1))
    if _is_frame(X):
        found = answer(X._meta_nonempty)
        if np.ndim(found) != 1:
            raise ValueError(f"{method} has several columns: give X.to_dask_array(lengths=True)")
        return X.map_partitions(
            lambda part: type(part[part.columns[0]])(answer(part), index=part.index),
            meta=(None, found.dtype),
        )
    if not is_dask(X):
        return answer(X)
    X = X.rechunk({1: -1})
    one = answer(np.zeros((1, X.shape[1]), dtype=X.dtype))
    if one.ndim == 1:
        return X.map_blocks(answer, dtype=one.dtype, drop_axis=1)
    return X.map_blocks(answer, dtype=one.dtype, chunks=(X.chunks[0], one.shape[1:]))
