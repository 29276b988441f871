"""Vector quantisation in feature space."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .. import _core
from .._common.arrays import check_rows, from_rows, to_rows
from .._common.base import Machine, _threads
from .._common.compat import ClusterMixin


class KernelVQ(ClusterMixin, Machine):
    """A codebook chosen among the rows so that every one of them lies within ``radius`` of a code.

    The codes come from a linear program and are pruned; the promise holds for every training row.

    Parameters
    ----------
    radius : float
        R, the largest distance of a row from its code.
    kernel, gamma, degree, coef0
        The distance is that of the images in feature space; "linear": the Euclidean one.
    prune : bool
        Leave out codes that the others can do without.

    Attributes
    ----------
    codes_ : ndarray of shape (n_codes, n_features)
        The codebook, rows of the training data.
    code_indices_ : ndarray
        Which rows they were.
    labels_ : ndarray of shape (n_samples,)
        The code of every training row.
    distortion_ : float
        The largest distance of a training row from its code; at most ``radius``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelVQ
    >>> X = np.array([[0.], [.1], [.2], [5.], [5.1]])
    >>> model = KernelVQ(radius=.15).fit(X)
    >>> model.codes_.ravel().tolist() in ([.1, 5.], [.1, 5.1])
    True
    >>> bool(model.distortion_ <= .15)
    True
    """

    _task = "vq"

    def __init__(
        self,
        radius: float = 1.0,
        *,
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        prune: bool = True,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "double",
    ) -> None:
        self.radius = radius
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.prune = prune
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision

    def fit(self, X: Any, y: Any = None) -> "KernelVQ":
        """Finds the codes; ``y`` is ignored.

        Returns
        -------
        self
        """
        X = self._take(X)
        self._train(X, radius=float(self.radius), prune=bool(self.prune))
        self.code_indices_ = self._model.origins
        self.codes_ = self._points()
        self.distortion_ = float(self.report_.figures["largest"])
        rows, _ = self._kernel_rows(self._resolve_kernel(X), X)
        with _threads(self.n_jobs):
            self.labels_ = self._model.decision(rows).argmax(axis=1).astype(np.int32)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The position in ``codes_`` of the nearest code of every row."""
        return self._decision(X).argmax(axis=1).astype(np.int32)

    def inverse_transform(self, labels: Any) -> np.ndarray:
        """The codes themselves, one per label."""
        self._check_fitted()
        return self.codes_[np.asarray(labels, dtype=np.intp)]

    def lbg(self, X: Any) -> np.ndarray:
        """Means of the rows that begin at the codes: the Linde-Buzo-Gray algorithm, Euclidean.

        The mean square of the distances falls, and the promise of ``radius`` is lost; how far the
        worst row is then, and the root mean square, are `lbg_distortion_` and `lbg_mean_`.

        Returns
        -------
        ndarray of shape (n_codes, n_features)
        """
        self._check_fitted()
        rows = to_rows(check_rows(self, X, reset=False))
        with _threads(self.n_jobs):
            codes, self.lbg_distortion_, self.lbg_mean_, _ = _core.lbg_codes(
                rows, to_rows(np.asarray(self.codes_, dtype=np.float64))
            )
        return from_rows(codes, self.codes_.shape[1])

    def write_codes(self, X: Any, path: Any) -> None:
        """Writes rows as the codebook and a number each, as ``mercer vq`` does; `read_codes` gives back
        the codes in their places."""
        found = self.predict(X)
        codes = to_rows(np.asarray(self.codes_, dtype=np.float64))
        _core.write_codes(codes, found.tolist(), float(self.radius), os.fspath(path))


def read_codes(path: Any) -> np.ndarray:
    """Rows from a file of `KernelVQ.write_codes` or ``mercer vq``, each replaced by its code.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer import KernelVQ, read_codes
    >>> X = [[0.], [.1], [5.]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     KernelVQ(radius=.15).fit(X).write_codes(X, os.path.join(folder, "rows.vq"))
    ...     rows = read_codes(os.path.join(folder, "rows.vq"))
    >>> rows.shape, bool(abs(rows - X).max() <= .15)
    ((3, 1), True)
    """
    codes, columns, index, _ = _core.read_codes(os.fspath(path))
    return from_rows(codes, columns)[index]
