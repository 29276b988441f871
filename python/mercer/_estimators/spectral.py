"""Groups of rows by the eigenvectors of a graph whose edges are kernel values."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._common.arrays import check_rows, is_sparse
from .._common.base import _threads
from .._common.call import outside
from .._common.compat import BaseEstimator, ClusterMixin
from .._common.kernel_choice import KernelChoice
from .._kernel.block_kernel import BlockKernel
from .components import KernelPCA
from .machines import KernelKMeans

#: Ways to make groups of the eigenvectors.
ASSIGNMENTS = ("kmeans", "discretize", "cluster_qr")
#: Affinities that are no kernels of the rows.
GRAPHS = ("precomputed", "nearest_neighbors", "precomputed_nearest_neighbors")


class SpectralClustering(ClusterMixin, KernelChoice, BaseEstimator):
    """Groups of a graph of all rows that few and weak edges join: normalised cuts.

    Parameters and answers are those of scikit-learn's class of this name, and ``affinity`` takes any
    kernel of this package beside its names. Rows are laid out by the leading eigenvectors of
    ``D^-1/2 A D^-1/2``, with A the affinities without their diagonal and D their row sums (Ng, Jordan and
    Weiss 2001), and grouped there.

    Parameters
    ----------
    n_clusters : int
    eigen_solver, eigen_tol
        Scikit-learn's, taken and not needed: there is one solver, and ``residuals_`` certify what it found.
    n_components : int, optional
        Eigenvectors; None: ``n_clusters``.
    random_state, n_init
        Of k-means, the best of so many starts.
    affinity
        "rbf", another name of a kernel, a mercer kernel or its text, or a function of two rows (with
        ``kernel_params``); "nearest_neighbors"; "precomputed" (X has the affinities) or
        "precomputed_nearest_neighbors" (X is a sparse matrix of distances). No value may be below 0.
    gamma, degree, coef0
        Of the kernels named by scikit-learn.
    n_neighbors : int
        Of the graph of nearest neighbours.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    affinity_matrix_ : ndarray of shape (n_samples, n_samples)
    eigenvalues_ : ndarray of shape (n_components,)
        Of ``D^-1/2 A D^-1/2``; as many 1s as the graph has parts.
    residuals_ : ndarray of shape (n_components,)
        How far each eigenvector is from being one: the certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SpectralClustering, rbf
    >>> t = np.linspace(0, 6.2, 40)
    >>> ring = np.c_[np.cos(t), np.sin(t)]
    >>> labels = SpectralClustering(2, affinity=rbf(gamma=9)).fit_predict(np.r_[ring, 3*ring])
    >>> [len(set(labels[:40])), len(set(labels[40:])), len(set(labels))]
    [1, 1, 2]
    """

    _functions_of_pairs = True

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        eigen_solver: Any = None,
        n_components: int | None = None,
        random_state: Any = None,
        n_init: int = 10,
        gamma: float = 1.0,
        affinity: Any = "rbf",
        n_neighbors: int = 10,
        eigen_tol: Any = "auto",
        assign_labels: str = "kmeans",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.eigen_solver = eigen_solver
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.eigen_tol = eigen_tol
        self.assign_labels = assign_labels
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is("precomputed", "precomputed_nearest_neighbors")
        return tags

    @property
    def kernel(self) -> Any:
        """The affinity, by the name other machines have for it."""
        return self.affinity

    def fit(self, X: Any, y: Any = None) -> "SpectralClustering":
        """Finds the groups of the rows; ``y`` is ignored.

        Returns
        -------
        self
        """
        X = check_rows(self, X, reset=True, minimum=2)
        components = self._check(X.shape[0])
        self.affinity_matrix_ = self._affinities(X)
        layout = self._layout(components)
        if self.verbose:
            print(f"Computing label assignment using {self.assign_labels}")
        if self.assign_labels == "kmeans":
            means = KernelKMeans(
                int(self.n_clusters), kernel="linear", n_init=int(self.n_init), precision="double",
                random_state=self.random_state, n_jobs=self.n_jobs,
            )  # fmt: skip
            self.labels_ = means.fit(layout).labels_
        else:
            assign = _discretize if self.assign_labels == "discretize" else _by_pivots
            self.labels_ = assign(layout).astype(np.int32)
        return self

    # ---- the graph

    def _is(self, *names: str) -> bool:
        return isinstance(self.affinity, str) and self.affinity in names

    def _check(self, rows: int) -> int:
        """The number of eigenvectors, of parameters that make sense."""
        components = self.n_clusters if self.n_components is None else self.n_components
        for name, value in (("n_clusters", self.n_clusters), ("n_components", components)):
            if not 1 <= int(value) <= rows:
                raise ValueError(f"{name} = {value} must be 1 to n_samples = {rows}")
        if not int(self.n_neighbors) >= 1:
            raise ValueError(f"n_neighbors = {self.n_neighbors} must be 1 or more")
        if self.assign_labels not in ASSIGNMENTS:
            raise ValueError(f"assign_labels = {self.assign_labels!r} must be one of {ASSIGNMENTS}")
        return int(components)

    def _affinities(self, X: Any) -> np.ndarray:
        if self._is(*GRAPHS) and not self._is("nearest_neighbors") and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"affinity={self.affinity!r} wants a square matrix, not {X.shape[0]} x {X.shape[1]}"
            )
        if self._is("precomputed"):
            matrix = X.toarray() if is_sparse(X) else np.array(X, dtype=np.float64)
        elif self._is("nearest_neighbors"):
            matrix = self._joined(self._distances(X))
        elif self._is("precomputed_nearest_neighbors"):
            # What a sparse matrix of distances leaves out is far; its diagonal may be left out too.
            matrix = np.full(X.shape, np.inf)
            if is_sparse(X):
                known = X.tocoo()
                matrix[known.row, known.col] = known.data
            else:
                matrix[...] = X
            np.fill_diagonal(matrix, -1)
            matrix = self._joined(matrix)
        else:
            kernel = self._resolve_kernel(X)
            rows = X.toarray() if isinstance(kernel, BlockKernel) and is_sparse(X) else X
            with _threads(self.n_jobs):
                matrix = np.array(kernel(rows, rows), dtype=np.float64)
        _require_affinities(matrix)
        return matrix

    def _distances(self, X: Any) -> np.ndarray:
        dense = np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
        dense = dense - dense.mean(axis=0)
        lengths = (dense * dense).sum(axis=1)
        squares = lengths[:, None] + lengths[None] - 2 * dense @ dense.T
        np.fill_diagonal(squares, -1)  # of rows that lie on one another each is its own first neighbour
        return squares

    def _joined(self, distances: np.ndarray) -> np.ndarray:
        """1 where both rows are among the other's nearest, 1/2 where one is; each counts itself."""
        count = min(int(self.n_neighbors), len(distances))
        nearest = np.argsort(distances, axis=1, kind="stable")[:, :count]
        known = np.take_along_axis(distances, nearest, axis=1) < np.inf
        graph = np.zeros_like(distances)
        np.put_along_axis(graph, nearest, known.astype(np.float64), axis=1)
        return 0.5 * (graph + graph.T)

    # ---- the layout

    def _layout(self, components: int) -> np.ndarray:
        edges = self.affinity_matrix_.copy()
        np.fill_diagonal(edges, 0)
        if _parts(edges) > 1:
            warnings.warn(
                "Graph is not fully connected, spectral embedding may not work as expected.",
                stacklevel=outside(),
            )
        sums = edges.sum(axis=1)
        roots = np.where(sums > 0, np.sqrt(sums), 1.0)
        edges /= roots[:, None]
        edges /= roots[None]
        # No eigenvalue is below -1: with 1 added, the leading ones are those of a kernel matrix. A row
        # without edges is a part of its own.
        edges[np.diag_indices_from(edges)] += 1.0 + (sums == 0)
        found = KernelPCA(
            components, kernel="precomputed", center=False, precision="double", n_jobs=self.n_jobs
        ).fit(edges)
        self.eigenvalues_ = found.eigenvalues_ - 1
        self.residuals_ = found.residuals_
        return found.eigenvectors_ / roots[:, None]


def _require_affinities(matrix: np.ndarray) -> None:
    worst = np.unravel_index(np.argmin(matrix), matrix.shape)
    if matrix[worst] < 0:
        raise ValueError(
            f"the affinity of rows {worst[0]} and {worst[1]} is {matrix[worst]:.4g}, and none may be below "
            "0: take a kernel such as 'rbf', or its square (k*k)"
        )
    if not np.allclose(matrix, matrix.T, rtol=1e-5, atol=1e-8):
        raise ValueError("affinities must be symmetric: those of X and of its transpose differ")


def _parts(edges: np.ndarray) -> int:
    """How many parts of a graph no edge joins."""
    left = np.ones(len(edges), dtype=bool)
    parts = 0
    while left.any():
        parts += 1
        front = np.zeros(len(edges), dtype=bool)
        front[np.argmax(left)] = True
        while front.any():
            left &= ~front
            front = (edges[front] > 0).any(axis=0) & left
    return parts


def _by_pivots(layout: np.ndarray) -> np.ndarray:
    """Groups by the polar factor of as many rows, chosen by QR with pivots (Damle, Minden, Ying 2019)."""
    rest = layout.T.copy()
    chosen = []
    for _ in range(layout.shape[1]):
        pivot = int(np.argmax((rest * rest).sum(axis=0)))
        chosen.append(pivot)
        direction = rest[:, pivot] / max(np.linalg.norm(rest[:, pivot]), np.finfo(float).tiny)
        rest -= np.outer(direction, direction @ rest)
    left, _, right = np.linalg.svd(layout[chosen].T)
    return np.abs(layout @ (left @ right)).argmax(axis=1)


def _discretize(layout: np.ndarray, passes: int = 100) -> np.ndarray:
    """Groups nearest to the eigenvectors up to a rotation, found by turns (Yu and Shi 2003)."""
    size = np.linalg.norm(layout, axis=1, keepdims=True)
    unit = layout / np.where(size > 0, size, 1)
    # Rows as far from one another as they come, from the one that lies most by itself.
    count = unit.shape[1]
    rotation = np.empty((count, count))
    rotation[:, 0] = unit[np.argmax(size)]
    seen = np.zeros(len(unit))
    for j in range(1, count):
        seen += np.abs(unit @ rotation[:, j - 1])
        rotation[:, j] = unit[np.argmin(seen)]
    before = -np.inf
    labels = np.zeros(len(unit), dtype=np.intp)
    for _ in range(passes):
        labels = (unit @ rotation).argmax(axis=1)
        indicator = np.eye(count)[labels]
        left, values, right = np.linalg.svd(indicator.T @ unit)
        if values.sum() <= before * (1 + 1e-12):
            break
        before = values.sum()
        rotation = (left @ right).T
    return labels


__all__ = ["SpectralClustering"]
