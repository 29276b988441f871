"""Rows that belong to several classes at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common.arrays import _same_length, check_labels
from .._common.base import Machine


class MultiLabelClassifier(Machine):
    """Several labels per row, ranked and cut (Elisseeff and Weston 2001).

    One function per label, learnt together so that on every row the labels it has rank above those it
    has not; and a threshold, linear in the scores, below which labels are left out.

    Parameters
    ----------
    C : float
        Penalty of wrong orders.
    kernel, gamma, degree, coef0
        As `SVC`.
    bias : bool
        Add 1 to the kernel.
    tol : float
        Relative gap between primal and dual value to stop at.
    max_iter : int
        Passes over the rows, at most.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        What the labels are called: columns of a frame, or their positions.
    report_ : Report
        The certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MultiLabelClassifier
    >>> X = np.array([[-2.], [-1.], [0.], [1.], [2.]])
    >>> Y = np.c_[X < .5, X > -.5]
    >>> MultiLabelClassifier(C=10).fit(X, Y).predict([[-1.5], [0.], [1.5]]).tolist()
    [[1, 0], [1, 1], [0, 1]]
    """

    _task = "multilabel"

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        bias: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.bias = bias
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any) -> "MultiLabelClassifier":
        """Learns from rows and the labels each has.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        y : array of shape (n_samples, n_labels), 1 (had) or 0
            Or of shape (n_samples,): one class a row, each of them a label.

        Returns
        -------
        self
        """
        X = self._take(X, minimum=2)
        targets = self._label_sets(y, X.shape[0])
        self._train(
            X,
            targets=targets,
            target_names=[str(name) for name in self.classes_.tolist()],
            C=float(self.C),
            bias=bool(self.bias),
            tolerance=float(self.tol),
            passes=int(self.max_iter),
            memory_bytes=max(1 << 30, 9 * X.shape[0] ** 2),
        )
        self._warn_unless_converged(f"relative gap {self.report_.relative_gap:.2e}")
        self.n_iter_ = max(1, int(self.report_.iterations))
        return self

    def _label_sets(self, y: Any, rows: int) -> np.ndarray:
        """0 or 1, one column a label, whose names become ``classes_``."""
        sets = np.asarray(y.toarray() if hasattr(y, "toarray") else y) if y is not None else None
        self._one_class_a_row = sets is None or sets.ndim < 2 or sets.shape[1] == 1
        if not self._one_class_a_row:
            columns = getattr(y, "columns", None)
            self.classes_ = np.arange(sets.shape[1]) if columns is None else np.asarray(columns)
            return np.ascontiguousarray(_same_length(sets, rows), dtype=np.float64)
        self.classes_, positions = check_labels(self, y, rows)
        return np.eye(len(self.classes_))[positions]

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of every label: the higher, the sooner a row has it.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
        """
        return self._decision(X)

    def predict(self, X: Any) -> np.ndarray:
        """1 for the labels a row has, 0 for the others.

        Returns
        -------
        ndarray of shape (n_samples, n_labels); after a `fit` on one class a row of shape
        (n_samples,), the class that ranks first.
        """
        decisions = self._decision(X)
        if self._one_class_a_row:
            return self.classes_[decisions.argmax(axis=1)]
        return self._model.sets_of(decisions).astype(np.int64)

    def _after_loading(self) -> None:
        self._one_class_a_row = False
        names = self._model.target_names
        count = self._model.coefficients.shape[0]
        numbers = names == [str(k) for k in range(count)]
        self.classes_ = np.arange(count) if numbers or not names else np.asarray(names)
