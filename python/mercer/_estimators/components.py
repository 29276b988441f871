"""Kernel principal components: of all rows at once, and online."""

from __future__ import annotations

import copyreg
import warnings
from typing import Any

import numpy as np

from .. import _core
from .._common.arrays import check_rows, to_rows
from .._common.base import Report, _threads, seed_of
from .._common.call import outside
from .._common.transform import Transformer


def no_stream() -> None:
    """What a stream is in a pickle: it lives in its process."""


copyreg.pickle(_core.HebbianStream, lambda stream: (no_stream, ()))


class _Components(Transformer):
    """Components in feature space: a model of the library's kernel PCA, however it was learnt."""

    def _read_components(self) -> None:
        table = self._model.arrays()["eigenvalues"]
        self.eigenvalues_ = table[:, 0].copy()
        self.explained_variance_ratio_ = table[:, 1].copy()
        self.residuals_ = table[:, 2].copy()
        self._n_features_out = len(self.eigenvalues_)

    def _after_loading(self) -> None:
        self._read_components()

    def _deviations(self) -> np.ndarray:
        return np.sqrt(self.eigenvalues_ / self._model.arrays()["moments"][0, 0])

    def transform(self, X: Any) -> np.ndarray:
        """The components of every row.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        features = self._decision(X)
        return features / self._deviations() if self.whiten else features

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows whose images lie nearest to the given components: pre-images.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        projections = self._check_features(X)
        if self._pairwise_input or "_block_kernel" in self.__dict__:
            raise ValueError("a kernel known by its values alone has no pre-images")
        if self.whiten:
            projections *= self._deviations()
        with _threads(self.n_jobs):
            rows, self.preimage_distances_ = _core.preimages(
                self._model, projections, self.preimage, seed_of(self.random_state)
            )
        return rows

    def reconstruction_error(self, X: Any) -> np.ndarray:
        """How much of every row the components miss: squared distances in feature space, large for
        rows unlike those seen.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        rows = self._rows_to_predict(X)
        with _threads(self.n_jobs):
            return _core.reconstruction_errors(self._model, rows)


class KernelPCA(_Components):
    """Kernel principal components.

    Parameters
    ----------
    n_components : int, optional
        How many; None: all with an eigenvalue above rounding. Where the rows have fewer, there are
        fewer.
    kernel, gamma, degree, coef0
        As scikit-learn's KernelPCA, or a mercer kernel, or a function.
    center : bool
        About the centre of mass in feature space, or about the origin.
    whiten : bool
        Components divided by their deviation.
    tol : float
        On the residual of each eigenvector, relative to the largest eigenvalue; 0: 1e-10 in double
        precision, 1e-6 in single.
    preimage : str
        How `inverse_transform` finds rows: "best", "fixed-point", "gradient", "distance" or
        "regression".

    Attributes
    ----------
    eigenvalues_ : ndarray
        Of the centred matrix, descending.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        The entry of largest size in each is positive.
    explained_variance_ratio_ : ndarray
    residuals_ : ndarray
        Length of K v - eigenvalue v for each eigenvector v: the certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA, rbf
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> pca = KernelPCA(2, kernel="rbf").fit(X)
    >>> pca.transform(X).shape
    (20, 2)
    >>> pca.inverse_transform(pca.transform(X)).shape
    (20, 3)
    """

    _task = "kpca"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: int = 3,
        coef0: float = 1.0,
        center: bool = True,
        whiten: bool = False,
        tol: float = 0.0,
        preimage: str = "best",
        random_state: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "auto",
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.center = center
        self.whiten = whiten
        self.tol = tol
        self.preimage = preimage
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision

    def fit(self, X: Any, y: Any = None) -> "KernelPCA":
        """Finds the components of the rows; ``y`` is ignored.

        Returns
        -------
        self
        """
        X = self._take(X)
        rows = X.shape[0]
        if rows < 2 and self.center:
            raise ValueError("n_samples = 1: one row has no principal components about its centre")
        if self.n_components is not None and not self.n_components >= 1:
            raise ValueError(f"n_components = {self.n_components} must be 1 or more, or None")
        count = 0 if self.n_components is None else min(int(self.n_components), rows)
        # Whoever wants all components means the matrix and its eigenvectors.
        memory = 17 * rows * rows if count == 0 or 4 * count > rows else 0
        self._train(
            X,
            components=count,
            center=bool(self.center),
            tolerance=float(self.tol),
            memory_bytes=max(1 << 30, memory),
        )
        self.X_fit_ = X.copy()
        self._read_components()
        self.eigenvectors_ = self._model.coefficients.T * np.sqrt(self.eigenvalues_)
        return self


class KernelHebbian(_Components):
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
