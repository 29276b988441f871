"""Gaussian process classification."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._common.base import _threads
from .._common.classify import Classifier


class GaussianProcessClassifier(Classifier):
    """Gaussian process classification by Laplace's approximation, with its evidence.

    Several classes are each taken against the rest, all with one kernel, and their probabilities are
    divided by their sum.

    Parameters
    ----------
    kernel
        The covariance; None: ``rbf(sigma=1)``, which is then left as it is.
    optimizer : {"fmin_l_bfgs_b", None}
        Maximise the evidence over all real parameters of the kernel, or keep them.
    n_restarts_optimizer : int
        Further starts, drawn by ``random_state``.
    fixed : str or sequence of str
        Parameters that the search leaves where they are, such as ``"gamma"`` (all of them) or
        ``"gamma_2"`` (the second).
    max_iter : int
        Iterations of the search from each start.
    average : {"exact", "error-functions"}
        How probabilities are averaged over the process: the integral, or the sum of five error
        functions that scikit-learn takes for it, which is off by up to 4e-4.

    Attributes
    ----------
    classes_ : ndarray
    kernel_ : Kernel
        With the parameters found.
    log_marginal_likelihood_value_ : float
        The evidence; of several classes the mean of theirs.
    n_iter_ : int
        Steps of the search, 1 where there was none.
    at_limit_ : dict
        Parameters that ended at a limit of the search, with their values.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GaussianProcessClassifier
    >>> X = np.array([[0.], [1.], [2.], [3.]])
    >>> model = GaussianProcessClassifier().fit(X, ["a", "a", "b", "b"])
    >>> near, far = model.predict_proba([[3.], [60.]])[:, 1]
    >>> bool(near > .6), float(round(far, 6))
    (True, 0.5)
    """

    _task = "gpc"

    def __init__(
        self,
        kernel: Any = None,
        *,
        optimizer: str | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        fixed: Any = (),
        max_iter: int = 100,
        average: str = "exact",
        random_state: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
    ) -> None:
        self.kernel = kernel
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.fixed = fixed
        self.max_iter = max_iter
        self.average = average
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback

    def _named_kernel(self, name: str, gamma: Any) -> Any:
        from ..kernels import Kernel

        return Kernel("rbf(sigma=1)" if name == "rbf" else name)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "GaussianProcessClassifier":
        """Learns from rows, their classes and, if given, their weights.

        Returns
        -------
        self
        """
        if self.optimizer not in (None, "fmin_l_bfgs_b"):
            raise ValueError(f"optimizer = {self.optimizer!r} must be 'fmin_l_bfgs_b' or None")
        self._fit_classes(
            X,
            y,
            sample_weight,
            optimise=self.optimizer is not None and self.kernel is not None,
            restarts=int(self.n_restarts_optimizer),
            fixed=[self.fixed] if isinstance(self.fixed, str) else [str(n) for n in self.fixed],
            iteration_limit=int(self.max_iter),
            average=self.average,
            memory_bytes=1 << 33,
        )
        self._after_loading()
        return self

    def _after_loading(self) -> None:
        parts = self._model.reports()
        figures = parts[0]["figures"]
        limit = "at_limit_"
        searched = "evaluations" in figures
        self.n_iter_ = max(1, int(parts[0]["iterations"])) if searched else 1
        self.at_limit_ = {k[len(limit) :]: v for k, v in figures.items() if k.startswith(limit)}
        self.log_marginal_likelihood_value_ = float(
            np.mean([part["figures"]["log_evidence"] for part in parts])
        )

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, in the order of ``classes_``."""
        return self._probabilities(X)

    def latent_mean_and_variance(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the process at every row.

        Returns
        -------
        mean, variance : ndarray of shape (n_samples,), positive for ``classes_[1]``; of several
        classes of shape (n_samples, n_classes), of each against the rest.
        """
        rows = self._rows_to_predict(X)
        with _threads(self.n_jobs):
            mean, variance = _core.latent(self._model, rows)
        # The library's positive means the first class, scikit-learn's the second.
        return (-mean[:, 0], variance[:, 0]) if len(self.classes_) == 2 else (mean, variance)
