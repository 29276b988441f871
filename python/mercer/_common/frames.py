"""Tables of other libraries: whatever speaks Arrow, as a frame with named columns."""

from __future__ import annotations

from typing import Any

from .streams import is_one_column


def as_frame(X: Any) -> Any:
    """X, or a frame of pandas or polars where X is a table or a stream of Arrow's.

    Frames of pandas and polars stay what they are, and so does everything that is no table. A stream
    (``__arrow_c_stream__``) is what Arrow's tables and batches, results of DuckDB and many others have.
    """
    if _is_frame(X) and type(X).__name__ == "LazyFrame":
        raise TypeError("X is a polars LazyFrame, which has no rows yet: give X.collect()")
    if not hasattr(X, "__arrow_c_stream__") or _is_frame(X) or is_one_column(X):
        return X
    if hasattr(X, "to_pandas") and _has("pandas"):
        return X.to_pandas()
    if _has("polars"):
        import polars

        return polars.DataFrame(X)
    if _has("pyarrow") and _has("pandas"):
        import pyarrow

        return pyarrow.table(X).to_pandas()
    raise TypeError(
        f"X is a stream of Arrow's ({type(X).__name__}); to read it polars is needed, or pyarrow and "
        "pandas: install one of them, or give an array"
    )


def _is_frame(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] in ("pandas", "polars")


def _has(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None
