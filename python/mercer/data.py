"""Data sets: files in any format the library reads, built-in sets, points made by formula.

Examples
--------
>>> from mercer.data import make, read
>>> X, y = read("@iris")
>>> X.shape, sorted(set(y.tolist()))
((150, 4), ['setosa', 'versicolor', 'virginica'])
>>> X, y = make("moons", n=10)
>>> X.shape, y[:2].tolist()
((10, 2), [-1.0, 1.0])
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _core
from ._common.arrays import checked_rows, from_rows
from ._common.frames import as_frame
from ._common.streams import parquet_reader, read_file_stream, set_spool, spool_folder
from ._kernel.expression import _names

_OPTIONS = ("n", "noise", "seed", "classes", "columns", "turns", "cells")


def _pair(parts: tuple) -> tuple[Any, np.ndarray]:
    arrays, columns, labels, names, _ = parts
    y = np.asarray(names)[labels.astype(int)] if names else labels
    return from_rows(arrays, columns), y


def formats() -> dict[str, str]:
    """The formats that `read` knows: the word for each and what it is.

    Examples
    --------
    >>> from mercer.data import formats
    >>> "csv" in formats()
    True
    """
    return _core.formats()


def set_memory_limit(mebibytes: float | None) -> None:
    """Lets reading take so many MiB, whatever the size of the file.

    By default it is three quarters of what this process may have, and for a single file 64 MiB and 100
    times its size: one that claims to be larger was made to harm.

    Parameters
    ----------
    mebibytes : float or None
        None goes back to the default.

    Examples
    --------
    >>> from mercer import data
    >>> data.set_memory_limit(4096)
    >>> data.set_memory_limit(None)
    """
    if mebibytes is not None and not 0 < mebibytes < 2**40:
        raise ValueError(f"mebibytes = {mebibytes} must be a number above 0, or None")
    _core.set_memory_limit(0 if mebibytes is None else max(1, int(mebibytes * 2**20)))


def read(
    path: str,
    *,
    double: bool = True,
    format: str = "auto",
    label: str | int | None = None,
    machine: Any = None,
    memory: float | None = None,
) -> tuple[Any, np.ndarray]:
    """Rows and labels of a file, compressed or not.

    Parameters
    ----------
    path : str
        A file, or "@digits" or "@iris". Parquet is read by pyarrow, where that is installed.
    double : bool
        float64 numbers; else float32.
    format : str
        One of `formats`; "auto" finds it from the content.
    label : str or int, optional
        The column of a table that holds the labels: its name; its number from 1, or from the end,
        −1; "first", "last" or "none". Default: the column named label, class, target or y, else the
        last one.
    machine : a fitted machine, optional
        Read the file as one for this machine, such as `mercer.load` returns: features by their names
        in the machine's order, or by their places, the label where it was in the file it learnt
        from, if there is one. A file that lacks a feature is refused.
    memory : float, optional
        MiB of rows that are held. More of them stay in their file (arrays of float32), or are put into
        a temporary one (tables of numbers and LIBSVM text; the folder is that of `set_spool`), and X is
        an array over it that cannot be written to: machines with ``approximate`` look at it block by
        block. None: all are held.

    Returns
    -------
    X : ndarray, or CSR matrix where the file is sparse
    y : ndarray
        Numbers, or names of classes; empty without labels.
    """
    known = None
    if machine is not None:
        machine._check_fitted()
        known = machine._model
    column = "" if label is None else str(label)
    word = "" if format == "auto" else format
    if memory is not None and not 0 < memory < 2**40:
        raise ValueError(f"memory = {memory} must be a number of MiB above 0, or None")
    most = 0 if memory is None else max(1, int(memory * 2**20))
    reader = parquet_reader(path, format)
    if reader is not None:
        return read_file_stream(reader, os.fspath(path), double, column, known, most)
    return _pair(
        _core.read(os.fspath(path), double, word, column, known, most, spool_folder())
    )


def write(
    path: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    format: str = "auto",
) -> None:
    """Writes rows and labels into a file, in any format the library writes.

    Parameters
    ----------
    path : str
        "auto" takes the format of its ending, .gz, .bz2, .xz and .zst compress; any other name is
        LIBSVM text.
    X : array, CSR matrix or frame
    y : array of numbers or names, optional

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer.data import read, write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(os.path.join(folder, "a.csv"), [[.5, 2.], [3., 4.]], ["yes", "no"])
    ...     X, y = read(os.path.join(folder, "a.csv"))
    >>> X.tolist(), y.tolist()
    ([[0.5, 2.0], [3.0, 4.0]], ['yes', 'no'])
    """
    X = as_frame(X)
    rows = checked_rows(X)
    names: list[str] = []
    values = np.zeros(0) if y is None else np.ravel(y)
    if y is not None and values.dtype.kind not in "biuf":
        classes, values = np.unique(values.astype(str), return_inverse=True)
        names = classes.tolist()
    weights = np.zeros(0) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    for name, given in (("y", values), ("sample_weight", weights)):
        if len(given) not in (0, len(rows)):
            raise ValueError(f"{name} has {len(given)} entries, and X {len(rows)} rows")
    word = "" if format == "auto" else format
    numbers = np.ascontiguousarray(values, dtype=np.float64)
    _core.write(os.fspath(path), rows, numbers, names, _names(X), np.ascontiguousarray(weights), word)


def make(kind: str, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Points by formula: sinc, moons, rings, spirals, checkerboard, xor or blobs.

    Parameters
    ----------
    kind : str
    **options
        n, noise, seed; classes and columns (blobs), turns (spirals), cells (checkerboard).

    Returns
    -------
    X, y : ndarray
    """
    unknown = sorted(set(options) - set(_OPTIONS))
    if unknown:
        raise TypeError(f"make has no option {unknown[0]!r}; there are {', '.join(_OPTIONS)}")
    X, y = _pair(_core.make(kind, options))
    return np.asarray(X, dtype=np.float64), y
