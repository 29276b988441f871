"""Tables that come as a stream of Arrow's, batch by batch, read without a copy of the whole."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import _core

#: Rows that take more bytes than that are put into a temporary file; None: see `held_bytes`.
_most_bytes: int | None = None
_folder = ""

#: Rows of a block, where rows are looked at block by block.
BLOCK = 1 << 16


class StreamRows(np.ndarray):
    """Rows that were read from a stream: numbers that have been checked, under the names of their
    columns. Those in a temporary file are fetched as they are looked at."""

    names: tuple[str, ...] = ()

    def __array_finalize__(self, other: Any) -> None:
        self.names = ()  # those of a part are no longer known


def set_spool(memory: float | None = None, folder: str = "") -> None:
    """Where rows of a stream go that memory is not to hold.

    Parameters
    ----------
    memory : float, optional
        MiB of rows that are held; more are put into a temporary file, and looked at block by block.
        Default: 1024, or a quarter of what this process may have where that is less.
    folder : str
        The folder of that file, which has no name and is gone when the rows are. Default: TMPDIR of
        the environment, else /var/tmp.

    Examples
    --------
    >>> from mercer import data
    >>> data.set_spool(memory=512, folder="/var/tmp")
    >>> data.set_spool()
    """
    global _most_bytes, _folder
    if memory is not None and not 0 < memory < 2**40:
        raise ValueError(f"memory = {memory} must be a number of MiB above 0, or None")
    _most_bytes = None if memory is None else max(1, int(memory * 2**20))
    _folder = str(folder)


def held_bytes() -> int:
    """How many bytes of rows are held in memory."""
    return min(2**30, _core.memory_limit() // 3) if _most_bytes is None else _most_bytes


def spool_folder() -> str:
    """What `set_spool` was told."""
    return _folder


def is_frame(X: Any) -> bool:
    """Whether this is a frame of pandas or polars."""
    return type(X).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(X, "shape")


def is_stream(X: Any) -> bool:
    """Whether X is to be read as a stream: a table of Arrow's, a result of DuckDB, a reader, a scanner, a
    function that opens one, or a frame that takes more memory than rows may."""
    if isinstance(X, (np.ndarray, list, tuple)):
        return False
    if hasattr(X, "__arrow_c_stream__"):
        if not is_frame(X):
            return not is_one_column(X)
        shape = X.shape
        return len(shape) == 2 and shape[0] * shape[1] * 8 > held_bytes()
    if hasattr(X, "__array__") or hasattr(X, "__len__"):
        return False
    return hasattr(X, "to_reader") or callable(X)


def is_one_column(X: Any) -> bool:
    """Arrow's arrays have a stream as well."""
    return hasattr(X, "__array__") and not hasattr(X, "column_names")


def opened(X: Any) -> Any:
    """What a function opens, and the reader of a scanner; all else is what it is."""
    if not is_stream(X) or hasattr(X, "__arrow_c_stream__"):
        return X
    if not hasattr(X, "to_reader"):
        X = X()
    if not hasattr(X, "__arrow_c_stream__") and hasattr(X, "to_reader"):
        X = X.to_reader()
    if not hasattr(X, "__arrow_c_stream__"):
        raise TypeError(
            f"X opens {type(X).__name__}, expected a table or reader with a stream of Arrow's "
            "(__arrow_c_stream__)"
        )
    return X


def _open(X: Any, known: Any = (), label: str = "none", weights: str = "") -> _core.ArrowStream | None:
    """A stream of numbers; None for a table that has texts and can be looked at again."""
    table = opened(X)
    try:
        capsule = table.__arrow_c_stream__()
    except ImportError:  # a frame of pandas needs pyarrow for it
        return None
    try:
        return _core.ArrowStream(
            capsule, "X", False, label, weights, [str(name) for name in known], False, "refuse",
            held_bytes(), _folder,
        )  # fmt: skip
    except ValueError:
        if callable(X) or hasattr(table, "read_next_batch"):
            raise
        return None


def _array(values: np.ndarray, names: Any) -> StreamRows:
    rows = values.view(StreamRows)
    rows.names = tuple(names)
    return rows


def _known(estimator: Any) -> Any:
    return getattr(estimator, "feature_names_in_", ()) if estimator is not None else ()


def read_rows(X: Any, estimator: Any = None) -> StreamRows | None:
    """All rows of a stream, in memory or in a temporary file; None where it is no table of numbers.

    With an estimator that knows its columns by their names, those columns in their order.
    """
    stream = _open(X, _known(estimator))
    if stream is None:
        return None
    (values,), *_ = stream.rest()
    return _array(values, stream.names)


def read_with_label(X: Any, label: str, weights: str) -> tuple[Any, Any, Any]:
    """Rows, and the labels and weights that stand in columns of the stream under these names."""
    stream = _open(X, label=label or "none", weights=weights)
    if stream is None:
        raise ValueError(
            f"y = {label!r} names a column of a table of numbers, and X has other columns too"
        )
    (values,), y, names, given = stream.rest()
    kind = stream.label_kind
    if kind == "text":
        y = np.asarray(names, dtype=object)[y.astype(np.intp)]
    elif kind in ("boolean", "whole"):
        y = y.astype(bool if kind == "boolean" else np.int64)
    return _array(values, stream.names), (y if kind else None), (given if weights else None)


def parquet_reader(path: Any, format: str) -> Any:
    """A reader of a Parquet file's batches; None for other files, and without pyarrow."""
    if format not in ("auto", "parquet"):
        return None
    try:
        with open(path, "rb") as file:
            if file.read(4) != b"PAR1":
                return None
        import pyarrow.parquet
    except (OSError, TypeError, ImportError):
        return None
    # Pages are read as they are wanted: a row group may be larger than memory.
    file = pyarrow.parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
    return pyarrow.RecordBatchReader.from_batches(
        file.schema_arrow, file.iter_batches(1 << 15, use_threads=False)
    )


def read_file_stream(
    reader: Any, name: str, double: bool, label: str, model: Any, most_bytes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of a file that a reader of batches was opened for."""
    stream = _core.ArrowStream(
        reader.__arrow_c_stream__(), name, True, label, "", [], double, "refuse", most_bytes, _folder,
        model,
    )  # fmt: skip
    (values,), y, names, _ = stream.rest()
    if not most_bytes:
        values = values.copy()  # to be written to, as other files are
    return values, (np.asarray(names)[y.astype(np.intp)] if names else y)


def blocks_of(X: Any, estimator: Any = None, rows: int = BLOCK) -> Iterator[np.ndarray]:
    """The rows of X, block by block; of a stream no more than a block is in memory."""
    if not is_stream(X):
        for first in range(0, _length(X), rows):
            yield _part(X, first, first + rows)
        return
    stream = _open(X, _known(estimator))
    if stream is None:
        raise ValueError("X is a table with texts among its columns: give frames block by block")
    while (found := stream.next(rows)) is not None:
        yield _array(found[0], stream.names)


def _length(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _part(X: Any, first: int, last: int) -> Any:
    return X.iloc[first:last] if hasattr(X, "iloc") else X[first:last]


def predict_blocks(
    machine: Any, X: Any, *, method: str = "predict", rows: int = BLOCK
) -> Iterator[np.ndarray]:
    """What a machine says of rows, block by block: for more rows than memory holds answers of.

    Parameters
    ----------
    machine : a fitted machine
    X : array, frame, or anything with a stream of Arrow's
        Of a stream only the rows of one block are in memory.
    method : str
        "predict", "decision_function", "predict_proba", "transform", …
    rows : int
        Rows of a block.

    Yields
    ------
    ndarray
        The answers of the rows of one block, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, predict_blocks
    >>> X = np.array([[0.], [1.], [2.], [3.]])
    >>> machine = SVC().fit(X, [0, 0, 1, 1])
    >>> [block.tolist() for block in predict_blocks(machine, X, rows=3)]
    [[0, 0, 1], [1]]
    """
    if isinstance(rows, bool) or not isinstance(rows, (int, np.integer)) or rows < 1:
        raise ValueError(f"rows = {rows!r} must be a whole number above 0")
    answer = getattr(machine, method, None)
    if not callable(answer):
        raise ValueError(f"method = {method!r}: {type(machine).__name__} has no such method")
    return _answers(machine, answer, X, int(rows))


def _answers(machine: Any, answer: Any, X: Any, rows: int) -> Iterator[np.ndarray]:
    for block in blocks_of(X, machine, rows):
        yield answer(block)


def _joined(parts: list[Any]) -> Any:
    if isinstance(parts[0], tuple):
        return tuple(_joined(list(some)) for some in zip(*parts))
    return np.concatenate(parts)


def by_blocks(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of rows that takes a stream block by block."""

    @functools.wraps(method)
    def over_blocks(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_stream(X) or args or any(kwargs.values()) or "_model" not in self.__dict__:
            return method(self, X, *args, **kwargs)
        if callable(getattr(self, "kernel", None)) or getattr(self, "_kinds", None):
            return method(self, X, *args, **kwargs)
        stream = _open(X, _known(self))
        if stream is None:
            return method(self, X, *args, **kwargs)
        parts = []
        while (found := stream.next(BLOCK)) is not None:
            parts.append(method(self, _array(found[0], stream.names)))
        if not parts:
            raise ValueError("X holds no rows")
        return _joined(parts)

    return over_blocks
