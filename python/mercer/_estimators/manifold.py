"""Isomap, locally linear embedding and Laplacian eigenmaps: kernels of a sample for kernel PCA."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._common.arrays import check_rows
from .._common.base import _threads
from .._common.compat import BaseEstimator
from .components import KernelPCA
from .._kernel.expression import Kernel


def gram_function(K: Any, functions: str, *, n_jobs: int | None = None) -> np.ndarray:
    """A function of a whole Gram matrix, itself the Gram matrix of other features of the sample.

    Parameters
    ----------
    K : array of shape (n_samples, n_samples)
        Symmetric.
    functions : str
        ``"isomap(k)"``, ``"lle(k)"``, ``"laplacian(k)"`` with k neighbours, ``"power(p)"``,
        ``"exp(p)"``, ``"log"``, ``"clip"``, ``"flip"``, ``"shift"``, or several with spaces
        between, applied from left to right.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import gram_function
    >>> gram_function(np.diag([4., 9.]), "power(0.5)").tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    with _threads(n_jobs):
        return _core.gram_function(np.ascontiguousarray(K, dtype=np.float64), functions)


class _Embedding(BaseEstimator):
    """A sample laid out in few numbers a row, by the leading components of a Gram function."""

    _function = ""
    _unit_columns = True

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 5,
        kernel: Any = "linear",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Any:
        """Lays out the rows; ``y`` is ignored.

        Returns
        -------
        self
        """
        X = check_rows(self, X, reset=True, minimum=2)
        for name in ("n_components", "n_neighbors"):
            if not int(getattr(self, name)) >= 1:
                raise ValueError(f"{name} = {getattr(self, name)} must be 1 or more")
        if not int(self.n_neighbors) < X.shape[0]:
            raise ValueError(
                f"n_neighbors = {self.n_neighbors} must be less than n_samples = {X.shape[0]}"
            )
        kernel = self.kernel if isinstance(self.kernel, Kernel) else Kernel(self.kernel)
        with _threads(self.n_jobs):
            gram = kernel(X)
        function = f"{self._function}({int(self.n_neighbors)})"
        self.gram_ = gram_function(gram, function, n_jobs=self.n_jobs)
        pca = KernelPCA(
            int(self.n_components), kernel="precomputed", precision="double", n_jobs=self.n_jobs
        ).fit(self.gram_)
        self.eigenvalues_ = pca.eigenvalues_
        self.embedding_ = pca.transform(self.gram_)
        if self._unit_columns:
            self.embedding_ /= np.sqrt(self.eigenvalues_)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """The same, and the layout itself.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return self.fit(X).embedding_


_SHARED = """

    Parameters
    ----------
    n_components : int
        Numbers a row; where the matrix has fewer directions, there are fewer.
    n_neighbors : int
        Each row is joined to so many nearest ones.
    kernel
        Distances are those of its feature space, a mercer kernel or its text; "linear": Euclidean.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The entry of largest size in each component comes from a positive coefficient.
    gram_ : ndarray of shape (n_samples, n_samples)
        The kernel of the sample whose components they are.
    eigenvalues_ : ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import {name}
    >>> t = np.linspace(0, 3, 60)
    >>> X = np.column_stack([np.cos(t), np.sin(t)])
    >>> line = {name}(1, n_neighbors=4).fit_transform(X).ravel()
    >>> bool(abs(np.corrcoef(line, t)[0, 1]) > .97)
    True
    """


class Isomap(_Embedding):
    __doc__ = (
        """Rows laid out so that distances are those along the shortest paths between neighbours.

    There is no `transform`: lengths of paths are those of the sample."""
        + _SHARED.format(name="Isomap")
    )
    _function = "isomap"
    _unit_columns = False


class LocallyLinearEmbedding(_Embedding):
    __doc__ = (
        """Rows laid out so that each is the same average of its neighbours as it was.

    Components have length 1, as scikit-learn's. There is no `transform`."""
        + _SHARED.format(name="LocallyLinearEmbedding")
    )
    _function = "lle"


class LaplacianEigenmaps(_Embedding):
    __doc__ = (
        """Rows laid out so that neighbours stay near, by the Laplacian D - A of their graph.

    Components are its eigenvectors, of length 1. There is no `transform`."""
        + _SHARED.format(name="LaplacianEigenmaps")
    )
    _function = "laplacian"


__all__ = ["Isomap", "LaplacianEigenmaps", "LocallyLinearEmbedding", "gram_function"]
