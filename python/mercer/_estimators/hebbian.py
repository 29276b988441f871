"""Kernel principal components of rows that come one after another."""

from __future__ import annotations

import copyreg
import warnings
from typing import Any

from .. import _core
from .._common.arrays import check_rows, to_rows
from .._common.base import Report, _threads, seed_of
from .._common.call import outside
from .components import Components


def no_stream() -> None:
    """What a stream is in a pickle: it lives in its process."""


copyreg.pickle(_core.HebbianStream, lambda stream: (no_stream, ()))


class KernelHebbian(Components):
    """Kernel principal components learnt online, by the kernel Hebbian algorithm.

    Rows come one after another and are not kept: the components live in the span of a dictionary of
    rows, so memory does not grow with the data. `fit` goes through the rows at hand several times;
    `partial_fit` takes them as they come.

    Parameters
    ----------
    n_components : int
        How many; where the dictionary has fewer directions, there are fewer.
    kernel, gamma, degree, coef0
        As `SVC`, but no functions and no matrices.
    dictionary_size : int
        Rows in the dictionary at most, each the one that the others explain least.
    window : int
        The dictionary is chosen among so many of the first rows.
    batch_size : int
        Rows that a step is averaged over; 1: Sanger's rule as it stands.
    rate, anneal : float
        Steps are of rate × anneal / (step + anneal), divided by the variance along the component.
    passes : int
        `fit` alone: times through the rows.
    tol : float
        `fit` alone: on the largest residual relative to the largest eigenvalue; above it there is a
        warning.
    center, whiten, preimage
        As `KernelPCA`.

    Attributes
    ----------
    eigenvalues_, explained_variance_ratio_, residuals_
        As `KernelPCA`; exact on all rows after `fit`, measured on the way after `partial_fit`.
    dictionary_ : ndarray of shape (n_rows, n_features)
    lost_ : float
        Share of the squared lengths of the images that the dictionary misses.
    n_samples_seen_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelHebbian, rbf
    >>> X = np.random.default_rng(0).normal(size=(400, 3)) * [3., 1., .3]
    >>> stream = KernelHebbian(2, kernel=rbf(gamma=.1), dictionary_size=50)
    >>> for part in np.split(X, 4):
    ...     stream = stream.partial_fit(part)
    >>> stream.n_samples_seen_, stream.dictionary_.shape, stream.transform(X).shape
    (400, (50, 3), (400, 2))
    """

    _task = "kha"

    def __init__(
        self,
        n_components: int = 16,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        dictionary_size: int = 500,
        window: int = 2000,
        batch_size: int = 32,
        rate: float = 0.5,
        anneal: float = 100.0,
        passes: int = 20,
        tol: float = 0.01,
        center: bool = True,
        whiten: bool = False,
        preimage: str = "best",
        random_state: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.dictionary_size = dictionary_size
        self.window = window
        self.batch_size = batch_size
        self.rate = rate
        self.anneal = anneal
        self.passes = passes
        self.tol = tol
        self.center = center
        self.whiten = whiten
        self.preimage = preimage
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback

    def _settings(self) -> dict[str, Any]:
        counts = {
            "components": "n_components",
            "dictionary": "dictionary_size",
            "window": "window",
            "batch": "batch_size",
            "passes": "passes",
        }
        settings: dict[str, Any] = {}
        for setting, name in counts.items():
            value = getattr(self, name)
            if not int(value) >= 1:
                raise ValueError(f"{name} = {value} must be 1 or more")
            settings[setting] = int(value)
        numbers = {"rate": self.rate, "anneal": self.anneal, "tolerance": self.tol}
        settings.update((name, float(value)) for name, value in numbers.items())
        settings["center"] = bool(self.center)
        return settings

    def _take_first(self, X: Any) -> Any:
        self._expression_only()
        return self._take(X, minimum=2)

    def _learnt(self) -> None:
        self._read_components()
        self.dictionary_ = self._points()
        self.lost_ = self.report_.figures["lost"]
        self.n_samples_seen_ = self.report_.rows

    def fit(self, X: Any, y: Any = None) -> "KernelHebbian":
        """Learns the components of the rows; ``y`` is ignored.

        Returns
        -------
        self
        """
        self._train(self._take_first(X), **self._settings())
        self._stream = None
        self._learnt()
        self._warn_unless_converged(f"residual {self.report_.figures['residual']:.2e}")
        return self

    def partial_fit(self, X: Any, y: Any = None) -> "KernelHebbian":
        """Learns from some more rows, in their order; ``y`` is ignored.

        The dictionary is chosen from the rows of the first call, of which there should be many. A
        stream does not go into pickles: out of one, and after `fit`, a new stream begins, with a
        warning.

        Returns
        -------
        self
        """
        stream = self.__dict__.get("_stream")
        if stream is None:
            X = self._take_first(X)
            settings = {**self._settings(), "seed": seed_of(self.random_state)}
            stream = _core.HebbianStream(self._expression_only()._expression, settings)
            if "_model" in self.__dict__:
                warnings.warn(
                    "partial_fit begins anew: fit and pickles leave no stream to go on from",
                    stacklevel=outside(),
                )
        else:
            X = check_rows(self, X, reset=False)
        callback, _ = self._listener()
        with _threads(self.n_jobs):
            stream.feed(to_rows(X), callback)
            self._model = stream.model()
        self._stream = stream
        self.report_ = Report(self._model.report())
        self._learnt()
        return self
