"""Gaussian process regression, under mercer kernels and under those of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common.arrays import check_rows, check_targets
from .._common.base import Machine, _threads
from .._common.compat import RegressorMixin
from .._common.parameters import _is_number
from ..kernels import BlockKernel, Kernel
from .process import Process


def _is_sklearn_kernel(kernel: Any) -> bool:
    return hasattr(kernel, "theta") and hasattr(kernel, "diag") and not isinstance(kernel, Kernel)


class GaussianProcessRegressor(RegressorMixin, Machine):
    """Gaussian process regression with noise, its evidence and its deviation.

    Parameters
    ----------
    kernel
        The covariance, a mercer kernel or one of scikit-learn; None: ``rbf(sigma=1)``. Under a kernel of
        scikit-learn everything is as there: parameters within their bounds, noise by a WhiteKernel.
    alpha : float or array of shape (n_samples,), optional
        Variance of the noise. Under a mercer kernel, where the evidence is maximised, its first value
        (None: 0.1); an array, one for each row, stays as it is. Under a kernel of scikit-learn it stays,
        too (None: 1e-10). With ``normalize_y`` it is that of the scaled targets, as in scikit-learn.
    optimizer : {"fmin_l_bfgs_b", None} or callable
        Maximise the evidence over the noise and all real parameters of the kernel, or keep both. A
        function is called as in scikit-learn and turns the parameters of the kernel alone.
    n_restarts_optimizer : int
        Further starts, drawn by ``random_state``.
    normalize_y : bool
        Learn the targets less their mean and by their standard deviation, as scikit-learn does:
        kernel, noise and evidence are those of the scaled targets, while ``predict`` answers in the
        units of ``y``. Needed for targets that are not of mean 0 and of the kernel's height.
    copy_X_train : bool
        Keep a copy of the rows as ``X_train_``, or the rows themselves.
    n_targets : int, optional
        How many outputs a process has that is asked before `fit`; 1 if not given.
    fixed : str or sequence of str
        Parameters that the search leaves where they are: ``"noise"`` and names of a mercer kernel's,
        such as ``"gamma"`` (all of them) or ``"gamma_2"`` (the second).
    max_iter : int
        Iterations of the search from each start.
    approximate : str, optional
        ``"nystroem(centres=1000)"``: a process in the span of so many rows, for more of them than a matrix
        holds; one output, a mercer kernel. The evidence is then maximised on at most 2000 rows, and that of
        all lies between the two of ``evidence_bounds_``.

    Attributes
    ----------
    kernel_ : Kernel
        With the parameters found.
    noise_ : float
    log_marginal_likelihood_value_ : float
    L_, alpha_, X_train_, y_train_
        As in scikit-learn.
    n_iter_ : int
        Steps of the search, 1 where there was none or they were not counted.
    evidence_bounds_ : tuple of two floats
        With ``approximate`` alone.
    at_limit_ : dict
        Parameters that ended at a limit of the search, a factor of a million from where it began,
        with their values; such a fit warns and is not converged.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GaussianProcessRegressor
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> model = GaussianProcessRegressor(alpha=.01).fit(X, np.sin(X[:, 0]))
    >>> mean, std = model.predict([[1.], [60.]], return_std=True)
    >>> bool(std[0] < .1 < std[1])
    True
    >>> model.sample_y([[1.], [2.], [3.]], n_samples=5).shape
    (3, 5)
    """

    _task = "gp"

    def __init__(
        self,
        kernel: Any = None,
        *,
        alpha: Any = None,
        optimizer: Any = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = False,
        copy_X_train: bool = True,
        n_targets: int | None = None,
        fixed: Any = (),
        max_iter: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        approximate: str | None = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.copy_X_train = copy_X_train
        self.n_targets = n_targets
        self.fixed = fixed
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.approximate = approximate

    def _named_kernel(self, name: str, gamma: Any) -> Any:
        return Kernel("rbf(sigma=1)" if name == "rbf" else name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False  # before there are data the prior answers
        tags.target_tags.multi_output = True
        return tags

    # ---- learning

    def fit(self, X: Any, y: Any) -> "GaussianProcessRegressor":
        """Learns numbers from rows, one or several a row; several share the covariance.

        Returns
        -------
        self
        """
        known = self.optimizer is None or self.optimizer == "fmin_l_bfgs_b"
        if not known and not callable(self.optimizer):
            raise ValueError(
                f"optimizer = {self.optimizer!r} must be 'fmin_l_bfgs_b', a function or None"
            )
        X = self._rows_of(X, reset=True)
        y = check_targets(self, y, X.shape[0], several=True)
        self._check_numbers(y)
        self._y_train_mean, self._y_train_std = self._scale_of(y)
        self.X_train_ = X.copy() if self.copy_X_train else X
        self.y_train_ = (y - self._y_train_mean) / self._y_train_std
        self.__dict__.pop("_process", None)
        self.__dict__.pop("_sklearn_kernel", None)
        if self._is_for_the_library(y):
            self._fit_in_library(X, y if y.ndim == 1 else y[:, 0])
        elif self.approximate:
            raise ValueError(
                "approximate takes one output, one noise, a mercer kernel and the optimizer "
                "'fmin_l_bfgs_b' or None"
            )
        else:
            self._fit_here()
        return self

    def _is_for_the_library(self, y: np.ndarray) -> bool:
        """One output, one noise, and a kernel and a search that the library has."""
        one = y.ndim == 1 or y.shape[1] == 1
        plain = not _is_sklearn_kernel(self.kernel) and not callable(self.optimizer)
        return one and plain and not np.iterable(self.alpha)

    def _check_numbers(self, y: np.ndarray) -> None:
        outputs = 1 if y.ndim == 1 else y.shape[1]
        if self.n_targets is not None and self.n_targets != outputs:
            raise ValueError(
                "The number of targets seen in `y` is different from the parameter `n_targets`. Got "
                f"{outputs} != {self.n_targets}."
            )
        if np.iterable(self.alpha) and len(self.alpha) not in (1, len(y)):
            raise ValueError(
                "alpha must be a scalar or an array with same number of entries as y. "
                f"({len(self.alpha)} != {len(y)})"
            )
        alphas = [0.0] if self.alpha is None else np.atleast_1d(self.alpha).tolist()
        wrong = [alpha for alpha in alphas if not _is_number(alpha) or not 0 <= alpha < np.inf]
        if wrong:
            kind = ValueError if _is_number(wrong[0]) else TypeError
            raise kind(f"alpha = {wrong[0]!r} must be a number, 0 or more, or one for each row")
        if self.n_restarts_optimizer < 0:
            raise ValueError(
                f"n_restarts_optimizer = {self.n_restarts_optimizer} must be a whole number, 0 or more"
            )

    def _scale_of(self, y: np.ndarray) -> tuple[Any, Any]:
        """Mean and deviation of each output, or 0 and 1."""
        shape = y.shape[1:] or 1
        if not self.normalize_y:
            return np.zeros(shape), np.ones(shape)
        deviation = np.std(y, axis=0)
        return np.mean(y, axis=0), np.where(deviation > 10 * np.finfo(float).eps, deviation, 1.0)

    def _first_noise(self) -> Any:
        if self.alpha is None:
            return 1e-10 if _is_sklearn_kernel(self.kernel) else 0.1
        alpha = np.asarray(self.alpha, dtype=np.float64).reshape(-1)
        return alpha if len(alpha) > 1 else float(alpha[0])

    def _fit_in_library(self, X: Any, y: np.ndarray) -> None:
        noise = self._first_noise()
        self._train(
            X,
            y,
            noise=noise,
            optimise=self.optimizer is not None,
            restarts=int(self.n_restarts_optimizer),
            fixed=[self.fixed] if isinstance(self.fixed, str) else [str(n) for n in self.fixed],
            iteration_limit=int(self.max_iter),
            target_scale="standard" if self.normalize_y else "none",
            memory_bytes=1 << 33,
        )
        figures = self.report_.figures
        limit = "at_limit_"
        self.n_iter_ = max(1, int(self.report_.iterations))
        self.at_limit_ = {k[len(limit) :]: v for k, v in figures.items() if k.startswith(limit)}
        self.noise_ = figures.get("noise", noise)
        if self.approximate:
            self.evidence_bounds_ = (figures["log_evidence_at_least"], figures["log_evidence_at_most"])
        self.log_marginal_likelihood_value_ = (
            self.evidence_bounds_[0] if self.approximate else figures["log_evidence"]
        )
        # Coefficients of the model answer in the units of y, scikit-learn's in those of the scaled y.
        self.alpha_ = self._model.coefficients[0] / float(np.max(self._y_train_std))

    def _fit_here(self) -> None:
        """By Cholesky's factor, for what the library has no machine for."""
        covariance = self._covariance(self.X_train_)
        targets = self.y_train_ if self.y_train_.ndim == 2 else self.y_train_[:, None]
        self.noise_ = self._first_noise()
        process = Process(covariance, self.noise_, self.X_train_, targets)
        if self.optimizer is not None and len(getattr(covariance, "theta", ())) > 0:
            generator = _generator_of(self.random_state)
            restarts = int(self.n_restarts_optimizer)
            self.log_marginal_likelihood_value_ = process.search(
                self.optimizer, restarts, generator
            )
        else:
            self.log_marginal_likelihood_value_ = process.evidence(covariance)
        process.settle()
        self._process, self._model = process, None
        self.n_iter_, self.at_limit_ = 1, {}
        self.alpha_ = process.weights if self.y_train_.ndim == 2 else process.weights[:, 0]
        if _is_sklearn_kernel(self.kernel):
            self._sklearn_kernel = covariance

    # ---- the covariance

    def _covariance(self, X: Any) -> Any:
        """The kernel as it was given, in scikit-learn's language."""
        from ..sklearn_gp import Covariance

        if _is_sklearn_kernel(self.kernel):
            from sklearn.base import clone

            return clone(self.kernel)
        kernel = self._resolve_kernel()
        if isinstance(kernel, BlockKernel):
            return kernel
        return Covariance(kernel.resolve(X) if kernel.needs_data else kernel)

    @property
    def kernel_(self) -> Any:
        """The kernel with its parameters found."""
        self._check_fitted()
        if self._model is not None:
            return self.__dict__.get("_block_kernel") or Kernel(self._model.kernel)
        covariance = self.__dict__.get("_sklearn_kernel") or self._process.covariance
        return Kernel(covariance.kernel) if hasattr(covariance, "kernel") else covariance

    def _exact(self) -> Process:
        """The fitted process with its factor, made when first asked for."""
        self._check_fitted()
        if self.approximate:
            raise ValueError(
                "GaussianProcessRegressor: covariances, samples and L_ belong to a process of all rows; one "
                "with approximate has mean and deviation (return_std)"
            )
        if "_process" not in self.__dict__ and "X_train_" not in self.__dict__:
            raise ValueError(
                "GaussianProcessRegressor: a model file holds no targets; a process from one has mean and "
                "deviation (return_std), and covariances only where it was fitted"
            )
        if "_process" not in self.__dict__:
            from ..sklearn_gp import Covariance

            kernel = self.kernel_
            covariance = kernel if isinstance(kernel, BlockKernel) else Covariance(kernel)
            targets = self.y_train_.reshape(len(self.y_train_), -1)
            process = Process(covariance, self.noise_, self.X_train_, targets)
            process.settle()
            self._process = process
        return self._process

    @property
    def L_(self) -> np.ndarray:  # noqa: N802, scikit-learn's name
        """Cholesky's factor of the matrix of the training rows with noise, lower triangular."""
        return self._exact().factor

    def log_marginal_likelihood(
        self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """The logarithm of the evidence, at other logarithms theta of the kernel's parameters if given.

        Parameters
        ----------
        theta : array, optional
            As ``kernel_.theta``.
        eval_gradient : bool
            Also its gradient in theta.
        clone_kernel : bool
            False: leave ``kernel_`` at theta.
        """
        if theta is None:
            if eval_gradient:
                raise ValueError("Gradient can only be evaluated for theta!=None")
            self._check_fitted()
            return self.log_marginal_likelihood_value_
        process = self._exact()
        covariance = process.covariance
        if clone_kernel:
            covariance = covariance.clone_with_theta(np.asarray(theta, dtype=np.float64))
        else:
            covariance.theta = theta
        return process.evidence(covariance, gradient=eval_gradient)

    # ---- answers

    def _rows_of(self, X: Any, *, reset: bool) -> Any:
        """Rows of numbers; under a kernel of scikit-learn that compares anything, anything."""
        if not getattr(self.kernel, "requires_vector_input", True):
            return np.asarray(X)
        if reset:
            return self._take(X)
        return check_rows(self, X, reset=False)

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """The mean of the process at every row and, if wanted, its standard deviation or covariance.

        Before `fit` the prior answers: mean 0, and the kernel as it was given.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets), or a pair of it and the deviation of that
        shape, or the covariance of shape (n_samples, n_samples) or (n_samples, n_samples, n_targets)
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        if "_model" not in self.__dict__:
            return self._prior(X, return_std, return_cov)
        if self._model is not None and not return_cov and self._has_one_output():
            return self._predict_by_library(X, return_std)
        rows = self._rows_of(X, reset=False)
        process = self._exact()
        mean = _squeezed(process.mean(rows) * self._y_train_std + self._y_train_mean)
        if return_std:
            return mean, np.sqrt(self._per_output(process.variance(rows)))
        return (mean, self._per_output(process.joint(rows))) if return_cov else mean

    def _has_one_output(self) -> bool:
        """Whether there is one output, which the library's model holds."""
        targets = self.__dict__.get("y_train_")
        return targets is None or targets.ndim == 1 or targets.shape[1] == 1

    def _predict_by_library(self, X: Any, return_std: bool) -> Any:
        rows = self._rows_to_predict(X)
        with _threads(self.n_jobs):
            mean = self._predictor().decision(rows)[:, 0]
            return (mean, self._model.deviation(rows, False)) if return_std else mean

    def _per_output(self, variance: np.ndarray) -> np.ndarray:
        """In the units of each output."""
        scale = np.atleast_1d(self._y_train_std) ** 2
        return _squeezed(variance[..., None] * scale)

    def _prior(self, X: Any, return_std: bool, return_cov: bool) -> Any:
        vectors = getattr(self.kernel, "requires_vector_input", True)
        rows = np.asarray(X, dtype=np.float64) if vectors else np.asarray(X)
        covariance = self._covariance(rows)
        outputs = 1 if self.n_targets is None else int(self.n_targets)
        mean = _squeezed(np.zeros((len(rows), outputs)))
        if return_std:
            spread = np.sqrt(np.asarray(covariance.diag(rows)))
        elif return_cov:
            spread = covariance(rows)
        else:
            return mean
        return mean, _squeezed(np.repeat(spread[..., None], outputs, axis=-1))

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Functions drawn from the process, at the rows of X.

        Returns
        -------
        ndarray of shape (n_samples_X, n_samples) or (n_samples_X, n_targets, n_samples)
        """
        generator = _generator_of(random_state)
        mean, covariance = self.predict(X, return_cov=True)
        if mean.ndim == 1:
            return generator.multivariate_normal(mean, covariance, n_samples).T
        drawn = [
            generator.multivariate_normal(mean[:, k], covariance[..., k], n_samples).T
            for k in range(mean.shape[1])
        ]
        return np.stack(drawn, axis=1)

    def save(self, path: str) -> None:
        """Writes the model file; see `Machine.save`. A kernel of scikit-learn is translated, its
        WhiteKernel becoming the noise, which is then no part of the deviation; a process of several outputs,
        of noise that differs from row to row, or under a kernel that cannot be translated has no file.
        """
        self._check_fitted()
        if self._model is None:
            self._twin().save(path)
        else:
            super().save(path)

    def _twin(self) -> "GaussianProcessRegressor":
        """The same process under a mercer kernel, by the library."""
        why = "a model file holds one output and one noise; pickle the estimator instead"
        if not self._has_one_output() or np.iterable(self.noise_):
            raise ValueError(f"GaussianProcessRegressor: {why}")
        kernel, noise = self.kernel_, 0.0
        if _is_sklearn_kernel(kernel):
            from ..sklearn_gp import translated

            kernel, noise = translated(kernel, self.n_features_in_)
        twin = GaussianProcessRegressor(
            kernel, alpha=self.noise_ + noise, optimizer=None, normalize_y=self.normalize_y
        )
        return twin.fit(self.X_train_, self.y_train_ * self._y_train_std + self._y_train_mean)


def _squeezed(values: np.ndarray) -> np.ndarray:
    """Without the last dimension where that is of one output."""
    return values[..., 0] if values.ndim > 1 and values.shape[-1] == 1 else values


def _generator_of(random_state: Any) -> Any:
    """A generator of NumPy's older kind, as scikit-learn makes one of a seed."""
    if hasattr(random_state, "multivariate_normal"):
        return random_state
    if random_state is None:
        return np.random.RandomState(1)
    if not _is_number(random_state):
        raise TypeError(
            f"random_state = {random_state!r} must be None, a whole number or a generator"
        )
    return np.random.RandomState(int(random_state))
