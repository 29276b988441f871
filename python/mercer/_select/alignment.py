"""How well kernels agree with labels, and sums of kernels that are learnt."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from .. import _core
from .._common.arrays import checked_rows
from .._common.base import _threads
from .._common.call import outside
from .._common.compat import ConvergenceWarning
from .._kernel.expression import _names
from .._common.parameters import number
from ..kernels import BlockKernel, Kernel, function


def _class_numbers(y: Any) -> np.ndarray:
    """The labels as positions of their classes."""
    _, positions = np.unique(np.asarray(y), return_inverse=True)
    return positions.reshape(-1).astype(np.float64)


def _memory(matrices: int, rows: int) -> int:
    """Whoever wants matrices of all rows means them; never less than the library's own bound."""
    return max(1 << 30, (matrices + 1) * 8 * rows**2)


def alignment(
    kernel: Any, X: Any, y: Any, centered: bool = True, *, regression: bool = False
) -> float:
    """How well a kernel agrees with the labels, before any machine is trained: between -1 and 1.

    ``<K, T> / (|K| |T|)`` for the Gram matrix K and the matrix T that it ought to be: y y' of the
    labels ±1 of two classes; of more, 1 for pairs of one class and -1/(classes - 1) for others.

    Parameters
    ----------
    kernel : Kernel, text, or function of two blocks of rows
    X : array or CSR matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Classes; with ``regression`` numbers, of which T is y y' about their mean.
    centered : bool
        Both matrices about their centre, so that what all pairs have in common counts for nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import alignment, linear, rbf
    >>> X = np.array([[0., 0.], [1., 1.], [1., 0.], [0., 1.]])
    >>> y = [0, 0, 1, 1]
    >>> alignment(linear(), X, y) < .01 < alignment(rbf(gamma=1), X, y)
    True
    """
    if isinstance(kernel, str):
        kernel = Kernel(kernel)
    if isinstance(kernel, Kernel):
        expression, rows, names = kernel._expression, checked_rows(X), _names(X)
    elif callable(kernel):
        block = kernel if isinstance(kernel, BlockKernel) else function(kernel)
        rows, names = checked_rows(block(X), "the kernel matrix"), []
        expression = _core.Expression.parse("precomputed")
    else:
        raise TypeError(f"a kernel is a kernel, a text or a function, not {type(kernel).__name__}")
    numbers = np.array(y, dtype=np.float64).ravel() if regression else _class_numbers(y)
    plain, about_centre = _core.kernel_alignment(
        expression, rows, numbers, bool(regression), _memory(2, len(rows)), names
    )
    return about_centre if centered else plain


def _told(kernel: Any, X: Any, y: Any, regression: bool) -> tuple[Any, ...]:
    kernel, rows, names = Kernel(kernel), checked_rows(X), _names(X)
    if kernel.needs_data:
        kernel = kernel.resolve(X)
    numbers = np.array(y, dtype=np.float64).ravel() if regression else _class_numbers(y)
    return kernel._expression, rows, numbers, bool(regression), _memory(4, len(rows)), names


def alignment_gradient(
    kernel: Any, X: Any, y: Any, *, regression: bool = False, n_jobs: int | None = None
) -> tuple[float, np.ndarray]:
    """The centred `alignment`, and its slope in each of ``kernel.parameters``.

    Examples
    --------
    >>> from mercer import alignment_gradient, rbf
    >>> value, slope = alignment_gradient(rbf(gamma=.1), [[0.], [1.], [5.], [6.]], [0, 0, 1, 1])
    >>> round(value, 2), slope.shape
    (0.99, (1,))
    """
    with _threads(n_jobs):
        return _core.alignment_gradient(*_told(kernel, X, y, regression))


@dataclass(frozen=True)
class AlignedKernel:
    """A kernel at the parameters that agree best with labels nearby."""

    kernel: Kernel
    before: float  #: centred alignment at the values given
    after: float
    status: str


def align_parameters(
    kernel: Any, X: Any, y: Any, *, regression: bool = False, n_jobs: int | None = None
) -> AlignedKernel:
    """The parameters of a kernel by the gradient of its centred alignment with the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import align_parameters, rbf
    >>> X = np.random.default_rng(0).normal(size=(60, 2)); y = X[:, 0] * X[:, 1] > 0
    >>> found = align_parameters(rbf(gamma=.01), X, y)
    >>> found.after > found.before
    True
    """
    with _threads(n_jobs):
        found = _core.align_parameters(*_told(kernel, X, y, regression))
    return AlignedKernel(**{**found, "kernel": Kernel(found["kernel"])})


@dataclass(frozen=True)
class Combination:
    """A sum of kernels that was learnt, and how far it can be from the best."""

    kernel: Kernel  #: the sum, without those of weight 0
    weights: np.ndarray  #: one per kernel as given, 0 or more
    shares: np.ndarray  #: the same of the normalised kernels; their sum is 1
    objective: float  #: primal value of the machine, or the alignment
    gap: float  #: how far at most the objective is from the best
    relative_gap: float
    iterations: int
    converged: bool
    history: np.ndarray  #: of the relative gap


def learn_combination(
    kernels: Sequence[Any],
    X: Any,
    y: Any,
    *,
    by: str = "margin",
    C: float = 1.0,
    normalize: bool = True,
    tol: float = 1e-3,
    max_iter: int = 1000,
    n_jobs: int | None = None,
    callback: Any = None,
) -> Combination:
    """Weights of kernels in a sum, 0 or more, learnt from labels: multiple kernel learning.

    Parameters
    ----------
    kernels : sequence of Kernel or text
    X : array or CSR matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Classes; two of them for ``by="margin"``.
    by : {"margin", "alignment"}
        The weights with which a support vector machine has the best objective, or those of the
        largest centred alignment.
    C : float
        The machine's penalty of errors.
    normalize : bool
        Divide each kernel by its mean k(x, x) first, so that none wins by its unit of measure.
    tol : float
        On the duality gap, relative to the objective.

    Returns
    -------
    Combination

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, learn_combination, linear, rbf
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = np.sign(X[:, 0] * X[:, 1])
    >>> sum_ = learn_combination([rbf(gamma=1.)[0:2], rbf(gamma=1.)[2:6]], X, y)
    >>> bool(sum_.shares[0] > .8), sum_.relative_gap <= 1e-3
    (True, True)
    >>> bool(SVC(kernel=sum_.kernel).fit(X, y).score(X, y) > .9)
    True
    """
    if isinstance(kernels, (str, Kernel)):
        raise TypeError("kernels must be several: a list of kernels or texts")
    if not number("max_iter", max_iter) >= 1:
        raise ValueError(f"max_iter = {max_iter} must be 1 or more")
    expressions = [Kernel(kernel)._expression for kernel in kernels]
    rows = checked_rows(X)
    settings = {
        "C": number("C", C),
        "normalise": bool(normalize),
        "tolerance": number("tol", tol),
        "iteration_limit": int(max_iter),
        "memory_bytes": _memory(len(expressions) + 2, len(rows)),
    }
    with _threads(n_jobs):
        found = _core.combine_kernels(
            expressions, by, settings, rows, _class_numbers(y), _names(X), callback
        )
    found["kernel"] = Kernel(found["kernel"])
    if not found["converged"]:
        warnings.warn(
            f"learn_combination: stopped after {found['iterations']} steps at a relative gap of "
            f"{found['relative_gap']:.2e}",
            ConvergenceWarning,
            stacklevel=outside(),
        )
    return Combination(**found)
