"""Regularised risk with losses other than the squared one (the representer theorem)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common.arrays import check_targets, check_weights
from .._common.base import FINEST, TINY, Machine
from .._common.classify import Classifier
from .._common.compat import RegressorMixin


class _Risk(Machine):
    """What the four share: Σ wᵢ ℓ(yᵢ, f(xᵢ) + b) + λ ‖f‖², with alpha for λ."""

    def _risk_settings(self, rows: int = TINY + 1) -> dict[str, Any]:
        bias = {"bias": bool(self.fit_intercept)} if hasattr(self, "fit_intercept") else {}
        return {
            **bias,
            "lambda": float(self.alpha),
            "tolerance": float(self.tol),
            "finest": FINEST if rows <= TINY and self.tol > FINEST else 0.0,
            "iteration_limit": int(self.max_iter),
        }

    def _read_model(self) -> None:
        self.support_ = self._model.origins
        self.dual_coef_ = self._model.coefficients
        self.intercept_ = self._model.bias
        self.n_iter_ = max(1, int(self.report_.iterations))


class _RiskClassifier(_Risk, Classifier):
    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 100,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "double",
        approximate: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision
        self.approximate = approximate

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learns from rows and their classes, each class against the rest.

        Returns
        -------
        self
        """
        self._fit_classes(X, y, sample_weight, **self._risk_settings())
        self._read_model()
        return self


class KernelLogisticRegression(_RiskClassifier):
    """Logistic loss in feature space: a classifier whose answers are probabilities.

    Parameters
    ----------
    alpha : float
        The penalty λ of Σ log(1 + exp(−y f)) + λ ‖f‖².
    kernel, gamma, degree, coef0
        As `SVC`.
    fit_intercept : bool
        A bias, which is not penalised.
    tol : float
        On the relative duality gap.

    Attributes
    ----------
    classes_, dual_coef_, intercept_, report_

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelLogisticRegression
    >>> X = np.array([[0.], [1.], [2.], [3.]])
    >>> model = KernelLogisticRegression(alpha=.1, gamma=1).fit(X, ["a", "a", "b", "b"])
    >>> model.predict_proba([[3.]]).argmax(axis=1).tolist()
    [1]
    """

    _task = "logistic"

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, in the order of ``classes_``.

        Of several classes each has a model against the rest; their probabilities are divided by
        their sum.
        """
        return self._probabilities(X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))


class SquaredHingeClassifier(_RiskClassifier):
    """The support vector machine with max(0, 1 − y f)², solved by Newton's method.

    Parameters
    ----------
    alpha : float
        The penalty λ of Σ max(0, 1 − y f)² + λ ‖f‖².
    kernel, gamma, degree, coef0
        As `SVC`.
    fit_intercept : bool
    tol : float
        On the relative duality gap.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SquaredHingeClassifier
    >>> X = np.array([[0.], [1.], [2.], [3.]])
    >>> SquaredHingeClassifier(alpha=.1, gamma=1).fit(X, [0, 0, 1, 1]).predict(X).tolist()
    [0, 0, 1, 1]
    """

    _task = "squared-hinge"


class _RiskRegressor(RegressorMixin, _Risk):
    def _fit_numbers(self, X: Any, y: Any, sample_weight: Any, **settings: Any) -> None:
        X = self._take(X)
        y = check_targets(self, y, X.shape[0])
        weights = check_weights(sample_weight, X.shape[0])
        self._train(X, y, weights, **self._risk_settings(X.shape[0]), **settings)
        self._read_model()

    def predict(self, X: Any) -> np.ndarray:
        """The value at every row."""
        return self._decision(X)[:, 0]


class KernelHuberRegressor(_RiskRegressor):
    """Regression by Huber's loss: squared for small residuals, linear beyond ``delta``.

    Parameters
    ----------
    alpha : float
        The penalty λ.
    delta : float
        Where the loss becomes linear; outliers pull with no more than this.
    kernel, gamma, degree, coef0
        As `SVR`.
    fit_intercept : bool
    tol : float
        On the relative duality gap. On at most 200 rows a machine that has met it is learnt once
        more, to 1e-10; what does not get there stays as it was, as with `SVR`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelHuberRegressor
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> y[10] = 100.
    >>> model = KernelHuberRegressor(alpha=1e-3, delta=.1, gamma=1).fit(X, y)
    >>> bool(abs(model.predict([[5.]])[0] - np.sin(5)) < .05)
    True
    """

    _task = "huber"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        delta: float = 1.0,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 100,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "double",
        approximate: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.delta = delta
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision
        self.approximate = approximate

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KernelHuberRegressor":
        """Learns one number per row.

        Returns
        -------
        self
        """
        self._fit_numbers(X, y, sample_weight, delta=float(self.delta))
        return self


class KernelQuantileRegressor(_RiskRegressor):
    """A quantile of the targets as a function of the row, by the pinball loss.

    Parameters
    ----------
    quantile : float
        τ between 0 and 1: this share of the training targets lies at or below the curve.
    alpha : float
        The penalty λ.
    kernel, gamma, degree, coef0
        As `SVR`.
    tol : float
        On the relative duality gap. On at most 200 rows a machine that has met it is learnt once
        more, to 1e-10; what does not get there stays as it was, as with `SVR`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelQuantileRegressor
    >>> X = np.linspace(0, 6, 100)[:, None]
    >>> y = np.random.default_rng(0).normal(size=100)
    >>> upper = KernelQuantileRegressor(quantile=.9, alpha=1, gamma=.1).fit(X, y)
    >>> bool(.85 <= (y <= upper.predict(X) + 1e-6).mean() <= .95)
    True
    """

    _task = "quantile"

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        tol: float = 1e-6,
        max_iter: int = 100,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "double",
        approximate: str | None = None,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision
        self.approximate = approximate

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KernelQuantileRegressor":
        """Learns one number per row.

        Returns
        -------
        self
        """
        self._fit_numbers(X, y, sample_weight, quantile=float(self.quantile))
        return self
