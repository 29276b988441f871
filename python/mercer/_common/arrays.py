"""Data as users have it, checked, and seen by the library without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .compat import HAVE_SKLEARN
from .frames import as_frame
from .streams import StreamRows, is_stream, read_rows
from .._kernel.series import counted_rows
from .._kernel.structures import Structured, structured

FLOATS = (np.float64, np.float32)


def is_sparse(X: Any) -> bool:
    """Whether this is a matrix or array of ``scipy.sparse``."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def is_row(X: Any) -> bool:
    """Whether this is one row of numbers, and not many rows or a list of texts or graphs."""
    if is_sparse(X) or isinstance(X, Structured):
        return False
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in "biuf"
    if not isinstance(X, (list, tuple)) and not hasattr(X, "tolist"):
        return False
    return len(X) > 0 and all(np.isscalar(x) and not isinstance(x, (str, bytes)) for x in X)


def to_rows(X: Any) -> _core.Rows:
    """Rows over an array, not copied if it is C-contiguous float32 or float64, or such CSR.

    Numbers are looked at where they lie, so whoever writes to them during a call gets an answer of
    nonsense. Columns and starts of CSR are copied: changed ones would point outside.

    Parameters
    ----------
    X : array of shape (n_samples, n_features) or CSR matrix
        Other types and layouts are converted first. CSR may have 32- or 64-bit indices.

    Returns
    -------
    Rows
        Keeps what it looks at alive.
    """
    if isinstance(X, Structured):
        return X.rows()
    if not is_sparse(X):
        X = np.asarray(X)
        if X.dtype not in FLOATS:
            X = X.astype(np.float64)
        return _core.Rows.dense(np.ascontiguousarray(X))
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    values = X.data if X.data.dtype in FLOATS else X.data.astype(np.float64)
    index, starts = X.indices, X.indptr
    if index.dtype != starts.dtype or index.dtype not in (np.int32, np.int64):
        index, starts = index.astype(np.int64), starts.astype(np.int64)
    pieces = [np.ascontiguousarray(piece) for piece in (values, index, starts)]
    return _core.Rows.sparse(*pieces, X.shape[1])


def refuse_masked(values: Any, name: str) -> None:
    """Refuses a masked array of NumPy that hides anything: what is masked would be taken for numbers."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(
            f"{name} is a masked array that hides {np.ma.count_masked(values)} of its values: leave their "
            f"rows out, or fill them in ({name}.filled(…))"
        )


def as_table(X: Any, estimator: Any = None) -> Any:
    """X, or where it is a stream its rows (`StreamRows`), or a frame where it has columns of texts."""
    if not isinstance(X, StreamRows) and is_stream(X):
        rows = read_rows(X, estimator)
        if rows is not None:
            return rows
    return as_frame(X)


def checked_rows(X: Any, name: str = "X") -> _core.Rows:
    """`to_rows` of whatever a user gives where no estimator looks at it first."""
    refuse_masked(X, name)
    X = as_table(X)
    if isinstance(X, StreamRows):
        return to_rows(np.asarray(X))
    objects = structured(X)
    if objects is not None:
        return objects.rows()
    X = counted_rows(X)
    values = X.data if is_sparse(X) else np.asarray(X)
    if np.iscomplexobj(values):
        raise ValueError(f"{name} holds complex numbers, and kernels are of real ones")
    if not is_sparse(X) and values.ndim != 2:
        raise ValueError(
            f"{name} must be rows of numbers, an array of 2 dimensions, not of {values.ndim}: "
            "reshape(-1, 1) makes rows of one column, reshape(1, -1) one row"
        )
    if values.dtype not in FLOATS:
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must hold numbers; of kind {values.dtype} it does not") from None
    require_finite(values, name)
    return to_rows(X if is_sparse(X) else values)


def require_finite(values: np.ndarray, name: str) -> None:
    """Refuses NaN and infinity, with the place of the first."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
    place = np.argwhere(~np.isfinite(values))[0]
    where = f"row {place[0]}, column {place[1]}" if len(place) == 2 else f"place {place[0]}"
    raise ValueError(
        f"{name} is {values[tuple(place)]} at {where}: values must be finite; leave the row out or "
        "fill the value in"
    )


def from_rows(arrays: tuple[np.ndarray, ...], columns: int) -> Any:
    """The arrays of `Rows.arrays` as a matrix, sparse where they are."""
    if len(arrays) == 1:
        return arrays[0]
    from scipy.sparse import csr_matrix

    values, index, starts = arrays
    return csr_matrix((values, index, starts), shape=(len(starts) - 1, columns))


def check_rows(estimator: Any, X: Any, *, reset: bool, minimum: int = 1) -> Any:
    """Checked rows, float32 or float64, dense or CSR; sets or compares ``n_features_in_``.

    Texts and graphs come back as `Structured`.
    """
    if not reset and _is_ready(estimator, X):
        return X
    refuse_masked(X, "X")
    X = as_table(X, None if reset else estimator)
    if isinstance(X, StreamRows):
        return _check_stream(estimator, X, reset, minimum)
    objects = structured(X)
    if objects is not None:
        return _check_structured(estimator, X, objects, reset, minimum)
    X = counted_rows(X, None if reset else getattr(estimator, "n_features_in_", None))
    if not reset and getattr(estimator, "_kinds", None):
        raise ValueError(
            f"{type(estimator).__name__} was fitted on {estimator._kinds}, and X holds numbers alone"
        )
    if reset:
        estimator.__dict__.pop("_kinds", None)
    if HAVE_SKLEARN:
        from sklearn.utils.validation import validate_data

        return validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype=list(FLOATS),
            order="C",
            ensure_min_samples=minimum,
        )
    return _check_plainly(estimator, X, reset)


def _is_ready(estimator: Any, X: Any) -> bool:
    """Whether X is as the library wants it and as the estimator knows it: nothing is left to check.

    The checks of scikit-learn take longer than the prediction of one row; beside that of many they are
    nothing.
    """
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.size <= 1 << 16
        and X.dtype in FLOATS
        and X.flags.c_contiguous
        and X.shape[0] > 0
        and X.shape[1] == getattr(estimator, "n_features_in_", -1)
        and "feature_names_in_" not in estimator.__dict__
        and not getattr(estimator, "_kinds", None)
        and bool(np.isfinite(X).all())
    )


def _check_stream(estimator: Any, X: StreamRows, reset: bool, minimum: int) -> np.ndarray:
    """Rows of a stream, whose numbers were looked at as they came."""
    if X.shape[0] < minimum:
        raise ValueError(
            f"Found array with {X.shape[0]} sample(s) while a minimum of {minimum} is required."
        )
    if not reset and getattr(estimator, "_kinds", None):
        raise ValueError(
            f"{type(estimator).__name__} was fitted on {estimator._kinds}, and X holds numbers alone"
        )
    if reset:
        estimator.__dict__.pop("_kinds", None)
        estimator.__dict__.pop("feature_names_in_", None)
        estimator.n_features_in_ = X.shape[1]
        if X.names:
            estimator.feature_names_in_ = np.asarray(X.names, dtype=object)
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    return np.asarray(X)


def _check_structured(
    estimator: Any, X: Any, objects: Structured, reset: bool, minimum: int
) -> Structured:
    if len(objects) < minimum:
        raise ValueError(
            f"Found array with {len(objects)} sample(s) while a minimum of {minimum} is required."
        )
    require_finite(objects.numbers, "X")
    if reset:
        estimator._kinds = objects.kinds
        estimator.n_features_in_ = objects.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
        if hasattr(X, "columns"):
            estimator.feature_names_in_ = np.asarray([str(name) for name in X.columns], dtype=object)
        return objects
    known = getattr(estimator, "_kinds", {})
    unnamed = not hasattr(X, "columns")
    if unnamed and list(known.values()) == list(objects.kinds.values()) and len(known) == 1:
        return _renamed(objects, next(iter(known)))
    missing = [name for name, kind in known.items() if objects.kinds.get(name) != kind]
    if missing or objects.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has the columns {objects.kinds} and {objects.numbers.shape[1]} of numbers; "
            f"{type(estimator).__name__} was fitted on {known} among {estimator.n_features_in_}"
        )
    return objects


def _renamed(objects: Structured, name: str) -> Structured:
    """The one column under the name it was fitted by."""
    texts = {name: column for column in objects.texts.values()}
    graphs = {name: column for column in objects.graphs.values()}
    return Structured(objects.numbers, texts, graphs)


def _check_plainly(estimator: Any, X: Any, reset: bool) -> Any:
    """The same without scikit-learn."""
    names = getattr(X, "columns", None)
    if not is_sparse(X):
        X = np.asarray(X)
        if np.iscomplexobj(X):
            raise ValueError("Complex data not supported")
        if X.dtype not in FLOATS:
            X = X.astype(np.float64)
        X = np.ascontiguousarray(X)
        if X.ndim != 2:
            raise ValueError(
                f"Expected 2D array, got {X.ndim}D array instead: give one row of numbers for each "
                "sample; reshape(-1, 1) for one column, reshape(1, -1) for one row"
            )
        if not np.isfinite(X).all():
            raise ValueError("Input X contains NaN or infinity; leave the rows out or fill them in")
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"Found array with shape {X.shape}: there must be rows and columns")
    if reset:
        estimator.n_features_in_ = X.shape[1]
        if names is not None and all(isinstance(name, str) for name in names):
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    return X


def check_targets(estimator: Any, y: Any, rows: int, *, several: bool = False) -> np.ndarray:
    """Numbers to learn, one per row, or one row of them each where several outputs are possible."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None"
        )
    refuse_masked(y, "y")
    if HAVE_SKLEARN:
        from sklearn.utils.validation import _check_y

        y = np.asarray(_check_y(y, multi_output=several, y_numeric=True, estimator=estimator))
    y = np.ascontiguousarray(y, dtype=np.float64)
    if not several and y.ndim == 2 and y.shape[1] == 1:
        y = y.ravel()
    if y.ndim > (2 if several else 1):
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead")
    if not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity")
    return _same_length(y, rows)


def check_labels(estimator: Any, y: Any, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The classes, sorted, and the position of each row's class among them."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None"
        )
    refuse_masked(y, "y")
    if HAVE_SKLEARN:
        from sklearn.utils.multiclass import check_classification_targets
        from sklearn.utils.validation import column_or_1d

        y = column_or_1d(y, warn=True)
        _check_order(np.asarray(y))
        check_classification_targets(y)
    y = _same_length(np.asarray(y), rows)
    _check_order(y)
    classes, positions = _classes_of(y)
    if len(classes) < 2:
        raise ValueError(
            f"The number of classes has to be greater than one; got {len(classes)} class"
        )
    return classes, positions


def _classes_of(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As NumPy's ``unique`` finds them; of two numbers without sorting, which may take longer than learning."""
    if y.dtype.kind in "biuf" and y.size > 0:
        low, high = y.min(), y.max()
        upper = y == high
        if low != high and bool((upper | (y == low)).all()):
            return np.array([low, high], dtype=y.dtype), upper.astype(np.intp)
    return np.unique(y, return_inverse=True)


def _check_order(y: np.ndarray) -> None:
    """Refuses labels that cannot be sorted, such as None among text."""
    if y.dtype.kind != "O":
        return
    try:
        np.unique(y)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in y.tolist()})
        raise TypeError(
            f"y holds labels of kinds that have no order among them ({', '.join(kinds)}): make all of "
            "them text, or all numbers, and leave rows without a label out"
        ) from None


def names_of(classes: np.ndarray) -> tuple[list[str], list[float]]:
    """Classes as a model file holds them: names, or numbers where they are such.

    Text stays as it is, False and True are names, and so are whole numbers too large for a double.
    """
    labels = classes.tolist()
    numbers = all(isinstance(c, (int, float)) and not isinstance(c, bool) for c in labels)
    if numbers and all(abs(c) <= 2**53 for c in labels):
        return [], [float(c) for c in labels]
    names = [c.decode(errors="replace") if isinstance(c, bytes) else str(c) for c in labels]
    if len(set(names)) < len(names):  # different things that print alike
        names = [repr(c) for c in labels]
    return names, []


def check_weights(weights: Any, rows: int, *, leave_out: bool = False) -> np.ndarray | None:
    """None, or one number per row, finite and not negative; with ``leave_out`` those below 0 are 0."""
    if weights is None:
        return None
    refuse_masked(weights, "sample_weight")
    try:
        weights = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must hold numbers, one per row") from None
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(weights) != rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(rows,)}!")
    if leave_out:
        weights = np.where(weights < 0, 0.0, weights)
    wrong = np.flatnonzero(~(weights >= 0) | np.isinf(weights))
    if len(wrong):
        raise ValueError(
            f"sample_weight of row {wrong[0]} = {weights[wrong[0]]} must be finite and not negative"
        )
    if not weights.any():
        raise ValueError(
            "Invalid input - all samples have zero or negative weights. There is nothing to learn from: "
            "sample_weight must be above 0 for some rows"
        )
    return np.ascontiguousarray(weights)


def _same_length(y: np.ndarray, rows: int) -> np.ndarray:
    if len(y) != rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{rows}, {len(y)}]"
        )
    return y
