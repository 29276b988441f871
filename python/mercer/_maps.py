"""Feature maps: Nyström's, kernel principal components, monomials."""

from __future__ import annotations

import copyreg
import warnings
from typing import Any

import numpy as np

from . import _core
from ._arrays import check_rows, to_rows
from ._base import Machine, _threads, seed_of
from ._compat import NotFittedError, TransformerMixin
from .kernels import BlockKernel, Kernel


def restore_map(kernel: str, points: tuple, reference: tuple, columns: int, *numbers: Any) -> Any:
    """A feature map from the arrays it was pickled as."""
    from ._arrays import from_rows

    rows = [to_rows(from_rows(arrays, columns)) for arrays in (points, reference)]
    return _core.FeatureMap.restore(kernel, *rows, *numbers)


def _parts_of(feature_map: _core.FeatureMap) -> tuple[Any, ...]:
    points, reference = feature_map.points(), feature_map.reference()
    columns = feature_map.columns
    numbers = (feature_map.coefficients, feature_map.eigenvalues)
    return restore_map, (feature_map.kernel.text(), points, reference, columns, *numbers)


copyreg.pickle(_core.FeatureMap, _parts_of)


class _Map(TransformerMixin, Machine):
    """A map through a sample of the rows."""

    def _make(self, kind: str, sample: Any, kernel: Kernel, components: int = 0) -> None:
        names = [str(name) for name in getattr(self, "feature_names_in_", ())]
        with _threads(self.n_jobs):
            self._model = _core.FeatureMap.make(
                kind, kernel._expression, to_rows(sample), components, names
            )
        self._n_features_out = self._model.features

    def _expression_only(self) -> Kernel:
        kernel = self._resolve_kernel()
        if isinstance(kernel, BlockKernel):
            raise TypeError("feature maps need a kernel expression, not a Python function")
        if self._pairwise_input:
            raise ValueError("feature maps need rows: kernel='precomputed' is not possible here")
        return kernel

    def transform(self, X: Any) -> np.ndarray:
        """The features of every row.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        self._check_fitted()
        rows = to_rows(check_rows(self, X, reset=False))
        with _threads(self.n_jobs):
            return self._model(rows)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """A name for each feature: the class in small letters and a number."""
        self._check_fitted()
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{i}" for i in range(self._n_features_out)], dtype=object)


class Nystroem(_Map):
    """Features whose dot products are kernel values, exactly so on a sample of the rows.

    Parameters
    ----------
    kernel, gamma, degree, coef0
        As scikit-learn's Nystroem (no gamma: 1 / columns), or a mercer kernel.
    n_components : int
        Rows in the sample.
    random_state
        Draws the sample as scikit-learn does.

    Attributes
    ----------
    components_, component_indices_, normalization_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Nystroem, rbf
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> F = Nystroem(kernel=rbf(gamma=.5), n_components=20).fit_transform(X)
    >>> bool(np.allclose(F @ F.T, rbf(gamma=.5)(X), atol=1e-8))
    True
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = None,
        coef0: float = 1.0,
        degree: int = 3,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> "Nystroem":
        """Draws the sample and prepares the map; ``y`` is ignored.

        Returns
        -------
        self
        """
        X = self._take(X)
        count = int(self.n_components)
        if count < 1:
            raise ValueError(f"n_components = {self.n_components} must be 1 or more")
        if count > X.shape[0]:
            count = X.shape[0]
            warnings.warn(
                "n_components > n_samples. This is not possible.\nn_components was set to n_samples, "
                "which results in inefficient evaluation of the full kernel.",
                stacklevel=2,
            )
        generator = self.random_state
        if not hasattr(generator, "permutation"):
            generator = np.random.RandomState(generator)
        self.component_indices_ = generator.permutation(X.shape[0])[:count]
        self.components_ = X[self.component_indices_]
        kernel = self._expression_only()
        if kernel.needs_data:
            kernel = kernel.resolve(X)
        self._make("whitened", self.components_, kernel)
        self.normalization_ = self._model.coefficients
        return self


class KernelPCA(TransformerMixin, Machine):
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
        table = self._model.arrays()["eigenvalues"]
        self.eigenvalues_ = table[:, 0].copy()
        self.explained_variance_ratio_ = table[:, 1].copy()
        self.residuals_ = table[:, 2].copy()
        self.eigenvectors_ = self._model.coefficients.T * np.sqrt(self.eigenvalues_)
        self._n_features_out = len(self.eigenvalues_)
        return self

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
        self._check_fitted()
        if self._pairwise_input or "_block_kernel" in self.__dict__:
            raise ValueError("a kernel known by its values alone has no pre-images")
        projections = np.array(X, dtype=np.float64, ndmin=2, order="C")
        if projections.shape[1] != self._n_features_out:
            raise ValueError(
                f"X has {projections.shape[1]} components, but KernelPCA has {self._n_features_out}"
            )
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

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """kernelpca0, kernelpca1, …"""
        self._check_fitted()
        return np.asarray([f"kernelpca{i}" for i in range(self._n_features_out)], dtype=object)


class MonomialFeatures(TransformerMixin, Machine):
    """All monomials up to a degree, weighted so that dot products are polynomial kernel values.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MonomialFeatures, poly
    >>> X = np.array([[1., 2.], [3., 4.]])
    >>> F = MonomialFeatures(degree=2).fit_transform(X)
    >>> bool(np.allclose(F @ F.T, poly(degree=2)(X)))
    True
    """

    def __init__(self, degree: int = 2, *, gamma: float = 1.0, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def _numbers(self) -> tuple[int, float, float]:
        return int(self.degree), float(self.gamma), float(self.coef0)

    def fit(self, X: Any, y: Any = None) -> "MonomialFeatures":
        """Learns the number of columns; ``y`` is ignored.

        Returns
        -------
        self
        """
        X = check_rows(self, X, reset=True)
        self._names_out = _core.monomial_names(X.shape[1], *self._numbers())
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "_names_out" in self.__dict__

    def transform(self, X: Any) -> np.ndarray:
        """The monomials of every row."""
        if "_names_out" not in self.__dict__:
            raise NotFittedError(
                "This MonomialFeatures instance is not fitted yet. Call 'fit' first."
            )
        return _core.monomials(to_rows(check_rows(self, X, reset=False)), *self._numbers())

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """1, x0, x0*x1, …"""
        if "_names_out" not in self.__dict__:
            raise NotFittedError(
                "This MonomialFeatures instance is not fitted yet. Call 'fit' first."
            )
        return np.asarray(self._names_out, dtype=object)
