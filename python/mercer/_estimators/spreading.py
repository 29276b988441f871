"""Labels that spread from some rows to all."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import _core
from .._common.arrays import _same_length, check_labels, names_of
from .._common.base import Report, _threads
from .._common.call import outside
from .._common.classify import Classifier
from .._common.compat import HAVE_SKLEARN


class LabelSpreading(Classifier):
    """Labels spread over a graph of all rows, labelled or not.

    ``F = (1 - alpha) (I - alpha S)^-1 Y`` with S the kernel matrix without its diagonal, divided by
    the roots of its row sums; solved exactly. Other rows belong where their neighbours in the graph
    do: `predict` takes the class of the largest ``sum_j k(x, x_j) F_jc / sqrt(d_j)``.

    Parameters
    ----------
    kernel, gamma, degree, coef0
        As `SVC`; values below 0 are an error.
    n_neighbors : int, optional
        Only the nearest so many of each row count; None: all.
    alpha : float
        Share that comes from the neighbours, between 0 and 1.
    max_iter, tol
        Scikit-learn's, taken and not needed: the equations are solved, not iterated.

    Attributes
    ----------
    classes_ : ndarray
    transduction_ : ndarray of shape (n_samples,)
        The class found for every row; for labelled ones it may be another than was given.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        F, each row divided by its sum.
    residual_ : float
        Largest entry of ``(I - alpha S) F - (1 - alpha) Y``: the certificate.
    n_unreached_ : int
        Rows that no label reaches: they get the first class, with a warning.
    report_ : Report
        The two numbers above, and the number of rows without a label, among its ``figures``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LabelSpreading
    >>> X = np.array([[0.], [.1], [.2], [5.], [5.1], [5.2]])
    >>> model = LabelSpreading(gamma=1.).fit(X, [0, -1, -1, -1, -1, 1])
    >>> model.transduction_.tolist()
    [0, 0, 0, 1, 1, 1]
    >>> model.predict([[.3], [4.]]).tolist()
    [0, 1]
    """

    _task = "spreading"

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        n_neighbors: int | None = None,
        alpha: float = 0.99,
        max_iter: int = 30,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        callback: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.callback = callback

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.classifier_tags.poor_score = True  # alpha = 0.99 trusts neighbours more than labels
        return tags

    def fit(self, X: Any, y: Any) -> "LabelSpreading":
        """Spreads the labels ``y``, of which -1 means none (for names also "-1").

        Returns
        -------
        self
        """
        X = self._take(X, minimum=2)
        positions = self._labels(y, X.shape[0])
        if self.n_neighbors is not None and not int(self.n_neighbors) >= 1:
            raise ValueError(f"n_neighbors = {self.n_neighbors} must be 1 or more, or None")
        rows, expression = self._kernel_rows(self._resolve_kernel(), X)
        settings = {
            "alpha": float(self.alpha),
            "neighbours": int(self.n_neighbors or 0),
            "memory_bytes": max(1 << 30, 17 * X.shape[0] ** 2),
        }
        with _threads(self.n_jobs):
            F, self._model = _core.spread_labels(
                expression, settings, rows, positions, self._column_names(rows), self.callback,
                *names_of(self.classes_),
            )  # fmt: skip
        self.report_ = Report(self._model.report())
        self._after_loading()
        self.n_iter_ = 1
        sums = F.sum(axis=1, keepdims=True)
        self.label_distributions_ = np.divide(F, sums, out=np.zeros_like(F), where=sums > 0)
        self.transduction_ = self.classes_[F.argmax(axis=1)]
        if self.n_unreached_:
            warnings.warn(
                f"{self.n_unreached_} rows are reached by no label and get the first class: take a "
                "wider kernel or more neighbours",
                stacklevel=outside(),
            )
        return self

    def _after_loading(self) -> None:
        self.residual_ = self.report_.figures["residual"]
        self.n_unreached_ = int(self.report_.figures["unreached"])

    def _labels(self, y: Any, rows: int) -> np.ndarray:
        """The position of the class of each row, -1 for those without a label."""
        known = np.ones(rows, dtype=bool)
        if y is not None:
            y = _same_length(np.asarray(y), rows)
            if y.ndim == 2 and y.shape[1] == 1 and HAVE_SKLEARN:
                from sklearn.utils.validation import column_or_1d

                y = column_or_1d(y, warn=True)
            if y.ndim != 1:
                raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead")
            known = y != ("-1" if y.dtype.kind in "US" else -1)
            y = y[known]
            if not known.any():
                raise ValueError("there are no labels to spread: every one is -1")
        self.classes_, found = check_labels(self, y, int(known.sum()))
        positions = np.full(rows, -1.0)
        positions[known] = found
        return positions
