"""Python functions as kernels, called on blocks of rows."""

from __future__ import annotations

import copy
import operator
from numbers import Real
from typing import Any, Callable

import numpy as np

from .._common.arrays import is_sparse
from .._common.html import kernel_html
from .expression import Definiteness, Kernel, _columns


class Things:
    """Whatever a function of the user's compares, as it was given: texts, trees, objects of any class."""

    def __init__(self, items: Any) -> None:
        self.items = items

    @property
    def shape(self) -> tuple[int, int]:
        """So many things, of one column."""
        return len(self.items), 1

    def __len__(self) -> int:
        return len(self.items)

    def copy(self) -> "Things":
        """A list of its own of the same things."""
        return Things(copy.copy(self.items))


def things_in(X: Any) -> Things | None:
    """X as things where it is neither rows of numbers nor a frame, else None."""
    if isinstance(X, Things):
        return X
    if is_sparse(X) or hasattr(X, "columns") or not hasattr(X, "__len__"):
        return None
    try:
        table = np.asarray(X)
    except ValueError:  # of unequal lengths
        return Things(X)
    numbers = table.dtype.kind in "biufc" or (table.dtype.kind == "O" and table.ndim == 2)
    return None if numbers or table.ndim == 0 else Things(X)


class PairFunction:
    """A function of two rows and further parameters, as one of blocks of rows.

    So scikit-learn's KernelPCA, KernelRidge and Nystroem call functions, and ours do as well.
    """

    def __init__(self, f: Callable[..., Any], parameters: dict[str, Any]) -> None:
        self.f, self.parameters = f, parameters
        self.__name__ = getattr(f, "__name__", "function")

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """The matrix of all pairs; of a block with itself each pair is asked for once."""
        rows, columns = (A.shape[0] if hasattr(A, "shape") else len(A) for A in (X, Z))
        values = np.empty((rows, columns))
        for i in range(rows):
            for j in range(i if X is Z else 0, columns):
                value = np.asarray(self.f(X[i], Z[j], **self.parameters), dtype=np.float64)
                if value.size != 1:
                    raise ValueError(
                        f"the kernel function {self.__name__} returned shape {value.shape} for two rows; "
                        "here functions are called on pairs of rows, as in scikit-learn: "
                        "mercer.function(f) is a kernel that is called on blocks of them"
                    )
                values[i, j] = value.reshape(())
        return np.triu(values) + np.triu(values, 1).T if X is Z else values


class BlockKernel:
    """A Python function of two blocks of rows as a kernel; made by `function`.

    Adds, multiplies and raises to powers with other kernels. Machines compute its matrix once, in
    blocks, and go on as with a precomputed one.
    """

    __array_ufunc__ = None
    block = 1024

    def __init__(self, kind: str, *parts: Any) -> None:
        self.kind = kind
        self.parts = parts

    def __str__(self) -> str:
        a, *rest = self.parts
        if self.kind == "function":
            return f"function({rest[0]})"
        if self.kind == "power":
            return f"({a})^{rest[0]:g}"
        if self.kind == "columns":
            return f"({a})[{_columns(rest[0])}]"
        return f"({a}) {self.kind} ({rest[0]})"

    def __repr__(self) -> str:
        return f"<kernel {self}>"

    def _repr_html_(self) -> str:
        return kernel_html(self)

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        """The matrix of the rows of X and Z, computed a block of rows of X at a time."""
        X, Z = things_in(X) or X, things_in(Z) or Z
        if isinstance(X, Things):
            return self._values(X, X if Z is None else Z)
        if not is_sparse(X):
            X = np.asarray(X)
            if X.ndim == 1:
                Z = X if Z is None else np.asarray(Z)
                return float(self._values(X[None, :], Z[None, :])[0, 0])
        Z = X if Z is None else (Z if is_sparse(Z) else np.asarray(Z))
        if X.shape[0] <= self.block:
            return self._values(X, Z)
        out = np.empty((X.shape[0], Z.shape[0]))
        for first in range(0, X.shape[0], self.block):
            out[first : first + self.block] = self._values(X[first : first + self.block], Z)
        return out

    def diag(self, X: Any) -> np.ndarray:
        """k(x, x) for every row of X, from small blocks on the diagonal."""
        X = X if is_sparse(X) else np.asarray(X)
        pieces = [X[i : i + 32] for i in range(0, X.shape[0], 32)]
        return np.concatenate([np.diagonal(self._values(piece, piece)) for piece in pieces])

    @property
    def definiteness(self) -> Definiteness:
        """What the user said, carried through sums, products and whole powers."""
        return Definiteness(
            "positive definite" if self._known() else "not known to be positive definite"
        )

    def _known(self) -> bool:
        a, *rest = self.parts
        if self.kind == "function":
            return bool(rest[1])
        if self.kind == "power":
            return a._known() and rest[0] == int(rest[0]) and rest[0] >= 0
        if self.kind == "columns":
            return a._known()
        if self.kind == "-":
            return False
        return all(
            part.definiteness.positive if hasattr(part, "definiteness") else part >= 0
            for part in self.parts
        )

    def _values(self, X: Any, Z: Any) -> np.ndarray:
        a, *rest = self.parts
        if self.kind == "function":
            given = [part.items if isinstance(part, Things) else part for part in (X, Z)]
            values = a(*given)
            values = np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)
            if values.shape != (X.shape[0], Z.shape[0]):
                raise ValueError(
                    f"the kernel function {rest[0]} returned shape {values.shape} for blocks of "
                    f"{X.shape[0]} and {Z.shape[0]} rows; it must return one value for each pair"
                )
            return values
        if self.kind == "columns":
            return a._values(X[:, rest[0]], Z[:, rest[0]])
        first = _block_values(a, X, Z)
        if self.kind == "power":
            return first ** rest[0]
        second = _block_values(rest[0], X, Z)
        return {"+": operator.add, "-": operator.sub, "*": operator.mul}[self.kind](first, second)

    def __add__(self, other: Any) -> Any:
        return BlockKernel("+", self, other) if _joins(other) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return BlockKernel("+", other, self) if _joins(other) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        return BlockKernel("-", self, other) if _joins(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return BlockKernel("-", other, self) if _joins(other) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        return BlockKernel("*", self, other) if _joins(other) else NotImplemented

    def __rmul__(self, other: Any) -> Any:
        return BlockKernel("*", other, self) if _joins(other) else NotImplemented

    def __pow__(self, exponent: Any) -> Any:
        return (
            BlockKernel("power", self, float(exponent))
            if isinstance(exponent, Real)
            else NotImplemented
        )

    def __getitem__(self, key: Any) -> "BlockKernel":
        _columns(key)
        return BlockKernel(
            "columns", self, key if isinstance(key, slice) else list(np.atleast_1d(key))
        )

    __iter__ = None


def _joins(other: Any) -> bool:
    return isinstance(other, (Kernel, BlockKernel, Real))


def _block_values(part: Any, X: Any, Z: Any) -> Any:
    if isinstance(part, BlockKernel):
        return part._values(X, Z)
    return part(X, Z) if isinstance(part, Kernel) else float(part)


def function(
    f: Callable[[Any, Any], Any], *, name: str = "", known_pd: bool = False
) -> BlockKernel:
    """Any Python function as a kernel, called on blocks of rows.

    Parameters
    ----------
    f : callable
        ``f(X, Z)`` returns the matrix of values for the rows of X and Z.
    name : str
        How it prints; the function's own name if empty.
    known_pd : bool
        Your word that it is positive definite.

    Examples
    --------
    >>> k = function(lambda X, Z: X @ Z.T, name="dot", known_pd=True) + 1
    >>> k([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[12.,  3.]])
    """
    if not callable(f):
        raise TypeError(f"a kernel function must be callable, not {type(f).__name__}")
    return BlockKernel("function", f, name or getattr(f, "__name__", "function"), known_pd)
