"""Series of different lengths as rows of numbers, the first of which says how long each is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def series(arrays: Sequence[Any], length: int | None = None) -> np.ndarray:
    """Series as the counted rows that ``gak(counted=true)`` and other kernels on series read.

    Parameters
    ----------
    arrays : list of arrays of shape (moments,) or (moments, width)
        The width is the same for all, and the kernel's ``width``.
    length : int, optional
        Room for so many moments (default: those of the longest). What a machine is to predict must
        have the room of what it was fitted on.

    Returns
    -------
    ndarray of shape (n_series, 1 + length * width)
        The number of moments, the numbers moment by moment, zeros.

    Examples
    --------
    >>> from mercer import series
    >>> series([[1.0, 2.0, 3.0], [5.0]])
    array([[3., 1., 2., 3.],
           [1., 5., 0., 0.]])
    """
    tables = [np.asarray(array, dtype=np.float64) for array in arrays]
    if not tables:
        raise ValueError("there are no series")
    for i, table in enumerate(tables):
        if table.ndim not in (1, 2):
            raise ValueError(
                f"series {i} has {table.ndim} dimensions: give arrays of moments, or of moments and "
                "the numbers of each"
            )
    tables = [table.reshape(len(table), -1) for table in tables]
    width = tables[0].shape[1]
    for i, table in enumerate(tables):
        if table.shape[1] != width and len(table):
            raise ValueError(f"series {i} has {table.shape[1]} numbers a moment, series 0 has {width}")
    longest = max(len(table) for table in tables)
    room = longest if length is None else length
    if longest > room:
        raise ValueError(
            f"there is a series of {longest} moments, and room for {room}: fit and predict on "
            "series(arrays, length) with one length for both"
        )
    rows = np.zeros((len(tables), 1 + room * width))
    for row, table in zip(rows, tables):
        row[0] = len(table)
        row[1 : 1 + table.size] = table.ravel()
    return rows


def counted_rows(X: Any, columns: int | None = None) -> Any:
    """`series` of a list of arrays that do not make one table; anything else as it is."""
    if isinstance(X, np.ndarray):
        if X.ndim != 1 or X.dtype != object:
            return X
        X = [*X]
    if not isinstance(X, (list, tuple)) or not X:
        return X
    if not all(isinstance(array, np.ndarray) and array.ndim in (1, 2) for array in X):
        return X
    if all(array.ndim == 1 and array.shape == X[0].shape for array in X):
        return X
    if columns is None:
        return series(X)
    width = 1 if X[0].ndim == 1 else max(X[0].shape[1], 1)
    return series(X, (columns - 1) // width)
