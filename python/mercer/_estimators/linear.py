"""Linear machines under scikit-learn's names, over the library's solver in the space of weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common.arrays import check_rows, check_targets, check_weights
from .._common.base import Machine
from .._common.classify import Classifier
from .._common.compat import RegressorMixin
from ..kernels import Kernel


class _Linear(Machine):
    """A machine that is a plane: ``coef_`` and ``intercept_`` are all of it."""

    kernel = "linear"

    def _constant(self) -> float:
        """k = x·z + s²: a column of the constant s beside the others, whose weight is the intercept."""
        return 0.0

    def _resolve_kernel(self, X: Any = None, weights: Any = None) -> Kernel:
        return Kernel(f"linear + {self._constant()!r}") if self._constant() else Kernel("linear")

    def _check_linear(self, **allowed: tuple[str, ...]) -> None:
        for name, words in allowed.items():
            if getattr(self, name) not in words:
                raise ValueError(
                    f"{name} = {getattr(self, name)!r} must be {' or '.join(repr(w) for w in words)} here"
                )
        if not self.C > 0 or not np.isfinite(self.C):
            raise ValueError(f"C = {self.C} must be a finite number above 0")

    def _read_plane(self) -> None:
        model = self._model
        coefficients = model.coefficients
        self.coef_ = np.asarray(coefficients @ self._points())
        if self.coef_.size == 0:
            self.coef_ = np.zeros((coefficients.shape[0], self.n_features_in_))
        self.intercept_ = self._constant() * coefficients.sum(axis=1) + model.bias
        self.n_iter_ = max(1, int(self.report_.iterations))

    def _after_loading(self) -> None:
        self._read_plane()

    def _plane(self, X: Any) -> np.ndarray:
        """The value of every plane at every row."""
        self._check_fitted()
        X = check_rows(self, X, reset=False)
        return np.asarray(X @ np.atleast_2d(self.coef_).T) + self.intercept_


class LinearSVC(_Linear, Classifier):
    """Linear support vector classification, each class against the rest, for many rows and columns.

    Parameters and attributes as scikit-learn's LinearSVC, whose machine this is, intercept included: it is
    the weight of a column of ``intercept_scaling``, and penalised with the others. What is new as in
    `SVC`. ``penalty`` is "l2" and ``multi_class`` "ovr", there are no others here; ``dual``, ``max_iter`` and
    ``random_state`` are taken and not needed.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge"}

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    classes_, report_, n_iter_

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LinearSVC
    >>> X = np.array([[0., 1.], [1., 0.], [3., 4.], [4., 3.]])
    >>> model = LinearSVC().fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[5., 5.]]).tolist(), model.coef_.shape
    (['high'], (1, 2))
    """

    _task = "squared-hinge"

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        verbose: bool = False,
        random_state: Any = None,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "auto",
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision

    def _constant(self) -> float:
        return float(self.intercept_scaling) ** 2 if self.fit_intercept else 0.0

    def _weigh_classes(self, settings: dict[str, Any], positions: np.ndarray, weights: Any) -> Any:
        by_class = self.class_weight_[positions]
        return (
            weights if (by_class == 1).all() else by_class * (1.0 if weights is None else weights)
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LinearSVC":
        """Learns from rows and their classes.

        Returns
        -------
        self
        """
        self._check_linear(penalty=("l2",), loss=("hinge", "squared_hinge"), multi_class=("ovr",))
        if self.loss == "hinge":
            task = {"task": "svc", "C": float(self.C), "multi_class": "ovr"}
        else:
            task = {"task": "squared-hinge", "lambda": 1 / (2 * float(self.C))}
        # Of the one a violation, of the other a relative gap: the same number bounds less by the latter.
        tolerance = float(self.tol) if self.loss == "hinge" else min(float(self.tol), 1e-6)
        self._fit_classes(X, y, sample_weight, bias=False, tolerance=tolerance, **task)
        self._read_plane()
        return self

    def _read_plane(self) -> None:
        super()._read_plane()
        if len(self.classes_) == 2:  # the library's positive is the first class
            self.coef_, self.intercept_ = -self.coef_, -self.intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """How clearly each row belongs to each class, as `SVC` says it."""
        values = self._plane(X)
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row."""
        values = self.decision_function(X)
        found = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[found]


class LinearSVR(RegressorMixin, _Linear):
    """Linear support vector regression, for many rows and columns.

    Parameters and attributes as scikit-learn's LinearSVR. The intercept is not penalised here, so that
    ``intercept_scaling`` is taken and not needed, as are ``dual``, ``max_iter`` and ``random_state``. What is
    new as in `SVR`.

    Parameters
    ----------
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LinearSVR
    >>> X = np.arange(20.)[:, None]
    >>> model = LinearSVR(C=10).fit(X, 3*X[:, 0] - 2)
    >>> model.coef_.round(3).tolist(), model.intercept_.round(3).tolist()
    ([3.0], [-2.0])
    """

    _task = "svr"

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: Any = "auto",
        verbose: bool = False,
        random_state: Any = None,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "auto",
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LinearSVR":
        """Learns numbers from rows.

        Returns
        -------
        self
        """
        self._check_linear(loss=("epsilon_insensitive", "squared_epsilon_insensitive"))
        X = self._take(X)
        y = check_targets(self, y, X.shape[0])
        weights = check_weights(sample_weight, X.shape[0])
        self._train(X, y, weights, **self._machine())
        self._read_plane()
        self.coef_ = self.coef_[0]
        return self

    def _machine(self) -> dict[str, Any]:
        if not self.epsilon >= 0:
            raise ValueError(f"epsilon = {self.epsilon} must be a number, 0 or more")
        plain = self.loss == "epsilon_insensitive"
        if plain and self.fit_intercept:
            told = {
                "C": float(self.C),
                "epsilon": float(self.epsilon),
                "tolerance": float(self.tol),
            }
            return {"task": "svr", **told}
        loss = f"max(0, abs(y - z) - {float(self.epsilon)!r})"
        return {
            "task": "risk",
            "loss": loss if plain else f"{loss}^2",
            "lambda": 1 / (2 * float(self.C)),
            "bias": bool(self.fit_intercept),
            "tolerance": min(float(self.tol), 1e-6),
        }

    def predict(self, X: Any) -> np.ndarray:
        """The value of the plane at every row."""
        return self._plane(X)[:, 0]
