"""The lectures' other machines: class means, Adatron, k-means."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common.base import Machine
from .._common.classify import Classifier
from .._common.compat import ClusterMixin, OutlierMixin
from ..distributed._ranks import sums_of_all


class ParzenClassifier(Classifier):
    """Classification by the nearest class mean in feature space, or by Parzen windows.

    Nothing is optimised: one pass over kernel values.

    Parameters
    ----------
    kernel, gamma, degree, coef0
        As `SVC`.
    bias : bool
        False compares Parzen estimates of the classes' densities instead of distances to means.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import ParzenClassifier
    >>> X = np.array([[0., 0.], [0., 1.], [4., 4.], [4., 5.]])
    >>> ParzenClassifier().fit(X, ["a", "a", "b", "b"]).predict([[3., 4.]]).tolist()
    ['b']
    """

    _task = "class-means"

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        bias: bool = True,
        n_jobs: int | None = None,
        callback: Any = None,
        precision: str = "auto",
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.bias = bias
        self.n_jobs = n_jobs
        self.callback = callback
        self.precision = precision

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ParzenClassifier":
        """Learns from rows, their classes and, if given, their weights.

        Returns
        -------
        self
        """
        self._fit_classes(X, y, sample_weight, bias=bool(self.bias))
        self.intercept_ = self._model.bias
        return self


class ParzenRegion(OutlierMixin, Machine):
    """A region by a threshold on the density that Parzen windows estimate.

    Parameters
    ----------
    nu : float
        At most this share of the training rows is left outside.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import ParzenRegion
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> ParzenRegion(nu=.1).fit(X).predict([[0., 0.], [9., 9.]]).tolist()
    [1, -1]
    """

    _task = "parzen"

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        n_jobs: int | None = None,
        callback: Any = None,
        precision: str = "auto",
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_jobs = n_jobs
        self.callback = callback
        self.precision = precision

    def fit(self, X: Any, y: Any = None) -> "ParzenRegion":
        """Learns the region of the rows; ``y`` is ignored.

        Returns
        -------
        self
        """
        self._train(self._take(X), nu=float(self.nu))
        self._after_loading()
        return self

    def _after_loading(self) -> None:
        self.offset_ = -self._model.bias

    def decision_function(self, X: Any) -> np.ndarray:
        """Positive inside the region, negative outside."""
        return self._decision(X)[:, 0]

    def predict(self, X: Any) -> np.ndarray:
        """+1 inside the region, −1 outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def score_samples(self, X: Any) -> np.ndarray:
        """The estimated density, up to a factor."""
        return self.decision_function(X) + self.offset_


class Adatron(Classifier):
    """The Adatron: the maximum margin by one-row steps, each of which raises the dual.

    Parameters
    ----------
    C : float
        Bound on the coefficients; 0: hard margin.
    rate : float
        Step η = rate / max k(x, x), between 0 and 2.
    max_iter : int
        Passes over the data, at most.
    bias : bool
        A bias as one more coordinate that is 1 in every row.
    tol : float
        On the violation of the optimality conditions.
    multi_class : {"ovo", "ovr"}
        More than two classes: every pair, or each against the rest.
    kernel, gamma, degree, coef0
        As `SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Adatron
    >>> X = np.array([[0., 0.], [1., 1.], [1., 0.], [0., 1.]])
    >>> model = Adatron(gamma=1).fit(X, [0, 0, 1, 1])
    >>> bool((np.diff(model.report_.history) >= -1e-12).all())
    True
    """

    _task = "adatron"
    _by_pairs = True

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        rate: float = 1.0,
        bias: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        multi_class: str = "ovo",
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "auto",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.rate = rate
        self.bias = bias
        self.tol = tol
        self.max_iter = max_iter
        self.multi_class = multi_class
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision

    def fit(self, X: Any, y: Any) -> "Adatron":
        """Learns from rows and their classes.

        Returns
        -------
        self
        """
        self._fit_classes(
            X,
            y,
            None,
            C=float(self.C),
            rate=float(self.rate),
            bias=bool(self.bias),
            tolerance=float(self.tol),
            passes=int(self.max_iter),
            multi_class=self.multi_class,
        )
        self.support_ = self._model.origins
        self.intercept_ = self._model.bias
        self.n_iter_ = max(1, max((len(r["history"]) for r in self._model.reports()), default=1))
        return self


class KernelKMeans(ClusterMixin, Machine):
    """k-means with centres that are means in feature space.

    Parameters
    ----------
    n_clusters : int
    n_init : int
        The best of so many starts is kept.
    max_iter : int
        Passes of each start, at most.
    kernel, gamma, degree, coef0
        As `SVC`.
    approximate : str, optional
        ``"nystroem(centres=500)"``: centres in the span of some rows, for many rows.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Of several processes, those of this one's rows.
    inertia_ : float
        Sum of squared distances to the nearest centre, in feature space.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelKMeans
    >>> X = np.array([[0., 0.], [0., 1.], [9., 9.], [9., 8.]])
    >>> labels = KernelKMeans(n_clusters=2, kernel="linear").fit(X).labels_
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    _task = "k-means"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        n_init: int = 4,
        max_iter: int = 300,
        random_state: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "auto",
        approximate: str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision
        self.approximate = approximate

    def fit(self, X: Any, y: Any = None) -> "KernelKMeans":
        """Finds the groups of the rows; ``y`` is ignored.

        Returns
        -------
        self
        """
        X = self._take(X)
        rows = int(sums_of_all(X.shape[0]))
        if rows < self.n_clusters:
            raise ValueError(f"n_samples={rows} should be >= n_clusters={self.n_clusters}.")
        self._train(
            X,
            clusters=int(self.n_clusters),
            starts=int(self.n_init),
            passes=int(self.max_iter),
        )
        self.labels_ = self.predict(self._training_rows(X))
        self.inertia_ = self.report_.primal
        self.n_iter_ = max(1, int(self.report_.figures.get("passes", 1)))
        return self

    def _training_rows(self, X: Any) -> Any:
        """X again, with the names it came with, so that nothing is warned about."""
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return X
        import pandas

        return pandas.DataFrame(X, columns=names)

    def predict(self, X: Any) -> np.ndarray:
        """The nearest centre of every row."""
        return self._decision(X).argmax(axis=1).astype(np.int32)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of squared distances to the nearest centres."""
        return float(self._decision(X).max(axis=1).sum())
