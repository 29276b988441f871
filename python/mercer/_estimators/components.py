"""Kernel principal components."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._common.arrays import is_sparse
from .._common.base import _threads, seed_of
from .._common.parameters import _is_whole
from .._common.transform import Transformer
from .regression import KernelRidge

#: scikit-learn's names of solvers; here one certified solver answers to all of them.
SOLVERS = ("auto", "dense", "arpack", "randomized")


class Components(Transformer):
    """Components in feature space: a model of the library's kernel PCA, however it was learnt."""

    #: Components beyond those that the rows have: they are 0.
    _n_null = 0

    def _read_components(self) -> None:
        table = np.pad(self._model.arrays()["eigenvalues"], ((0, self._n_null), (0, 0)))
        self.eigenvalues_ = table[:, 0].copy()
        self.explained_variance_ratio_ = table[:, 1].copy()
        self.residuals_ = table[:, 2].copy()
        self._n_features_out = len(self.eigenvalues_)

    def _after_loading(self) -> None:
        self._read_components()

    def _deviations(self) -> np.ndarray:
        found = self._model.arrays()["eigenvalues"][:, 0]
        return np.sqrt(found / self._model.arrays()["moments"][0, 0])

    def transform(self, X: Any) -> np.ndarray:
        """The components of every row.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        features = self._decision(X)
        if self.whiten:
            features = features / self._deviations()
        return np.pad(features, ((0, 0), (0, self._n_null))) if self._n_null else features

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows whose images lie nearest to the given components: pre-images.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        projections = self._check_features(X)
        projections = np.ascontiguousarray(projections[:, : self._n_features_out - self._n_null])
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


class KernelPCA(Components):
    """Kernel principal components.

    Parameters
    ----------
    n_components : int, optional
        How many; None: all with an eigenvalue above rounding. Those the rows do not have are 0.
    kernel, gamma, degree, coef0, kernel_params
        As scikit-learn's KernelPCA, or a mercer kernel. A function is called on two rows, with
        ``kernel_params``; `mercer.function` makes a kernel that is called on blocks.
    fit_inverse_transform : bool
        Learn `inverse_transform` from the rows, by ridge regression with the same kernel and the penalty
        ``alpha``, as scikit-learn does. Otherwise it finds pre-images as ``preimage`` says.
    alpha : float
        The penalty of that regression.
    eigen_solver, max_iter, iterated_power
        Taken and not needed: there is one solver, and ``residuals_`` certify what it found.
    remove_zero_eig : bool
        Leave components out that the rows do not have.
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
    copy_X : bool
        Keep a copy of the rows as ``X_fit_``, or the rows themselves.
    approximate : str, optional
        ``"nystroem(centres=1000)"``: components in the span of so many rows, by one pass over all of
        them. Eigenvalues are then at most those of all rows, and there are no ``eigenvectors_``.

    Attributes
    ----------
    eigenvalues_ : ndarray
        Of the centred matrix, descending.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        The entry of largest size in each is positive.
    explained_variance_ratio_ : ndarray
    residuals_ : ndarray
        Length of K v - eigenvalue v for each eigenvector v: the certificate.
    gamma_ : float
        1 / columns where gamma is None.
    dual_coef_, X_transformed_fit_
        With ``fit_inverse_transform``, as in scikit-learn.

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
    _functions_of_pairs = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        iterated_power: Any = "auto",
        remove_zero_eig: bool = False,
        center: bool = True,
        whiten: bool = False,
        preimage: str = "best",
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "auto",
        approximate: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.center = center
        self.whiten = whiten
        self.preimage = preimage
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision
        self.approximate = approximate

    def fit(self, X: Any, y: Any = None) -> "KernelPCA":
        """Finds the components of the rows; ``y`` is ignored.

        Returns
        -------
        self
        """
        self._check_settings()
        X = self._take(X)
        rows = X.shape[0]
        if rows < 2 and self.center:
            raise ValueError("n_samples = 1: one row has no principal components about its centre")
        if self._pairwise_input:
            X = (X + X.T) / 2  # rounding, or two halves that differ
        asked = 0 if self.n_components is None else min(int(self.n_components), rows)
        # Whoever wants all components means the matrix and its eigenvectors.
        many = asked == 0 or 4 * asked > rows
        memory = 17 * rows * rows if many and not self.approximate else 0
        self._train(
            X,
            components=asked,
            center=bool(self.center),
            tolerance=float(self.tol),
            memory_bytes=max(1 << 30, memory),
        )
        self.X_fit_ = X.copy() if self.copy_X else X
        self.gamma_ = 1 / X.shape[1] if self.gamma is None else self.gamma
        if self.approximate:
            self._n_null = 0
            self._read_components()
            return self
        self._fill_up(X, asked)
        self._read_components()
        self.eigenvectors_ = np.zeros((rows, self._n_features_out))
        found = self._n_features_out - self._n_null
        vectors = self._model.coefficients.T * np.sqrt(self.eigenvalues_[:found])
        self.eigenvectors_[self._model.origins, :found] = vectors
        if self.fit_inverse_transform:
            self._learn_the_way_back(X)
        return self

    def _check_settings(self) -> None:
        if self.n_components is not None and not self.n_components >= 1:
            raise ValueError(f"n_components = {self.n_components} must be 1 or more, or None")
        if self.eigen_solver not in SOLVERS:
            raise ValueError(
                f"eigen_solver = {self.eigen_solver!r} must be one of {', '.join(SOLVERS)}"
            )
        if self.iterated_power != "auto" and not _is_whole(self.iterated_power):
            raise ValueError(
                f"iterated_power = {self.iterated_power!r} must be 'auto' or a whole number"
            )
        if self.fit_inverse_transform and self._pairwise_input:
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        if self.fit_inverse_transform and self.approximate:
            raise ValueError(
                "fit_inverse_transform learns from the eigenvectors of all rows, which approximate does "
                "not find; leave one of them out"
            )

    def _fill_up(self, X: Any, asked: int) -> None:
        """Components that the rows do not have, unless what they lack is positive definiteness."""
        missing = max(0, asked - len(self._model.arrays()["eigenvalues"]))
        if missing and not (self.kernel_.definiteness.positive and not self._pairwise_input):
            self._require_no_negative_eigenvalue(X)
        self._n_null = 0 if self.remove_zero_eig else missing

    def _require_no_negative_eigenvalue(self, X: Any) -> None:
        K = X if self._pairwise_input else np.asarray(self.kernel_(X))
        if self.center:
            K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
        values = np.linalg.eigvalsh((K + K.T) / 2)
        if values[0] < -1e-5 * max(values[-1], 0.0):
            raise ValueError(
                f"There are significant negative eigenvalues ({values[0]:.6g} beside {values[-1]:.6g}): the "
                f"kernel is not positive definite on these rows, and they have only "
                f"{len(self._model.arrays()['eigenvalues'])} principal components; ask for no more"
            )

    def _learn_the_way_back(self, X: Any) -> None:
        if is_sparse(X) or not isinstance(X, np.ndarray):
            raise NotImplementedError("Inverse transform not implemented for sparse matrices!")
        self.X_transformed_fit_ = self.eigenvectors_ * np.sqrt(self.eigenvalues_)
        self._way_back = KernelRidge(
            alpha=self.alpha,
            kernel=self.kernel,
            gamma=self.gamma_,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
            n_jobs=self.n_jobs,
        ).fit(self.X_transformed_fit_, X)
        self.dual_coef_ = self._way_back.dual_coef_

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows whose images lie nearest to the given components: pre-images; with
        ``fit_inverse_transform`` rows that a regression makes of the components.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        self._check_fitted()
        if self.fit_inverse_transform:
            rows = self._way_back.predict(self._check_features(X))
            return rows if rows.ndim == 2 else rows[:, None]
        return super().inverse_transform(X)
