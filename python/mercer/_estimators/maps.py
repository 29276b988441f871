"""Feature maps: Nyström's, and the monomials of a polynomial kernel."""

from __future__ import annotations

import copyreg
import warnings
from typing import Any

import numpy as np

from .. import _core
from .._common.arrays import check_rows, to_rows
from .._common.base import Machine, _threads, seed_of
from .._common.call import outside
from .._common.compat import NotFittedError, TransformerMixin
from .._kernel.structures import Structured
from .._common.transform import Transformer
from ..kernels import BlockKernel, Kernel


def restore_map(kernel: str, points: tuple, reference: tuple, columns: int, *numbers: Any) -> Any:
    """A feature map from the arrays it was pickled as."""
    from .._common.arrays import from_rows

    rows = [to_rows(from_rows(arrays, columns)) for arrays in (points, reference)]
    return _core.FeatureMap.restore(kernel, *rows, *numbers)


def _parts_of(feature_map: _core.FeatureMap) -> tuple[Any, ...]:
    points, reference = feature_map.points(), feature_map.reference()
    columns = feature_map.columns
    numbers = (feature_map.coefficients, feature_map.eigenvalues)
    return restore_map, (feature_map.kernel.text(), points, reference, columns, *numbers)


copyreg.pickle(_core.FeatureMap, _parts_of)


class _Map(Transformer):
    """A map through a sample of the rows."""

    def _make(self, kind: str, sample: Any, kernel: Kernel, components: int = 0) -> None:
        rows = to_rows(sample)
        with _threads(self.n_jobs):
            self._model = _core.FeatureMap.make(
                kind, kernel._expression, rows, components, self._column_names(rows)
            )
        self._n_features_out = self._model.features

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


class Nystroem(_Map):
    """Features whose dot products are kernel values, exactly so on a sample of the rows.

    Parameters
    ----------
    kernel, gamma, degree, coef0, kernel_params
        As scikit-learn's Nystroem (no gamma: 1 / columns), or a mercer kernel. A function is called on
        two rows, with ``kernel_params``; `mercer.function` makes a kernel that is called on blocks.
    n_components : int
        Rows in the sample.
    random_state
        Draws the sample, from a seed as scikit-learn does; None is a seed, too.

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

    _functions_of_pairs = True
    _usual_coef0 = 1.0

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict | None = None,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
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
                stacklevel=outside(),
            )
        generator = self.random_state
        if not hasattr(generator, "permutation"):
            generator = np.random.RandomState(seed_of(generator))
        self.component_indices_ = generator.permutation(X.shape[0])[:count]
        self.components_ = X[self.component_indices_]
        kernel = self._kernel_of_rows()
        if self._pairwise_input:
            self._make_of_values(self.components_[:, self.component_indices_])
        elif isinstance(kernel, BlockKernel):
            self._block_kernel, self._rows_kept = kernel, self.components_
            self._make_of_values(self._block_matrix(self.components_, self.components_))
        else:
            self.__dict__.pop("_block_kernel", None)
            if kernel.needs_data:
                kernel = kernel.resolve(X)
            self._kernel_text = str(kernel)
            self._make_whitened(kernel)
        return self

    def _make_whitened(self, kernel: Kernel) -> None:
        try:
            self._make("whitened", self.components_, kernel)
            self.normalization_ = self._model.coefficients
        except ValueError as error:
            if "no dot product" not in str(error):
                raise
            warnings.warn(
                f"Nystroem: {error}. Directions of negative eigenvalues are left out.",
                stacklevel=outside(),
            )
            self._block_kernel = BlockKernel("function", kernel, str(kernel), False)
            self._make_of_values(self._block_matrix(self.components_, self.components_))

    def _kernel_of_rows(self) -> Any:
        of_values = self._pairwise_input or callable(self.kernel)
        if of_values and any(value is not None for value in (self.gamma, self.coef0, self.degree)):
            raise ValueError(
                "Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed kernel"
            )
        return self._resolve_kernel()

    def _named_kernel(self, name: str, gamma: Any) -> Kernel:
        if name == "chi2" and gamma is not None:
            return Kernel(f"chi2(gamma={self._gamma_text(gamma)})")
        return super()._named_kernel(name, gamma)

    def _make_of_values(self, K: np.ndarray) -> None:
        """The map from kernel values of the sample alone: K**-1/2, directions of no length left out."""
        values, vectors = np.linalg.eigh((K + K.T) / 2)
        kept = values > 1e-12 * max(values[-1], 0.0)
        self.normalization_ = (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
        self._model = None
        self._n_features_out = len(values)

    def transform(self, X: Any) -> np.ndarray:
        """The features of every row.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        self._check_fitted()
        if self._model is not None:
            return super().transform(X)
        X = check_rows(self, X, reset=False)
        if self._pairwise_input:
            return X[:, self.component_indices_] @ self.normalization_.T
        return self._block_matrix(X, self.components_) @ self.normalization_.T

    def __getstate__(self) -> dict[str, Any]:
        """Of texts and graphs the sample is kept, from which the map is made again."""
        base = super()
        state = dict(base.__getstate__() if hasattr(base, "__getstate__") else self.__dict__)
        if isinstance(state.get("components_"), Structured):
            del state["_model"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        base = super()
        if hasattr(base, "__setstate__"):
            base.__setstate__(state)
        else:
            self.__dict__.update(state)
        if isinstance(state.get("components_"), Structured):
            self._make("whitened", self.components_, Kernel(self._kernel_text))


class KernelMap(_Map):
    """Features of a row from its kernel values with the training rows, or with some of them.

    Parameters
    ----------
    kind : {"eigen", "empirical", "whitened"}
        Mercer's eigenfunctions estimated on the sample, the leading ``n_components`` of them; the kernel
        values themselves; or these times K**-1/2, whose dot products are kernel values on the sample.
    kernel, gamma, degree, coef0
        As `SVC`.
    n_components : int, optional
        Of "eigen"; None: all.
    n_landmarks : int, optional
        Rows of the sample, drawn by ``random_state``; None: all.

    Attributes
    ----------
    landmarks_ : the sample
    eigenvalues_ : ndarray
        Of its Gram matrix, descending; empty of "empirical".

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelMap, rbf
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> KernelMap("eigen", kernel=rbf(gamma=1), n_components=5).fit_transform(X).shape
    (30, 5)
    >>> bool(np.allclose(KernelMap("empirical", kernel=rbf(gamma=1)).fit_transform(X), rbf(gamma=1)(X)))
    True
    """

    def __init__(
        self,
        kind: str = "eigen",
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        n_components: int | None = None,
        n_landmarks: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kind = kind
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> "KernelMap":
        """Takes the sample and prepares the map; ``y`` is ignored.

        Returns
        -------
        self
        """
        for name in ("n_components", "n_landmarks"):
            value = getattr(self, name)
            if value is not None and not value >= 1:
                raise ValueError(f"{name} = {value} must be 1 or more, or None")
        X = self._take(X)
        kernel = self._expression_only()
        if kernel.needs_data:
            kernel = kernel.resolve(X)
        self.landmarks_ = X
        if self.n_landmarks is not None and self.n_landmarks < X.shape[0]:
            generator = np.random.RandomState(seed_of(self.random_state))
            self.landmarks_ = X[np.sort(generator.permutation(X.shape[0])[: int(self.n_landmarks)])]
        self._make(self.kind, self.landmarks_, kernel, int(self.n_components or 0))
        self.eigenvalues_ = self._model.eigenvalues
        return self


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
