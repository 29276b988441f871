"""The representer machine with a loss and a regulariser of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common.arrays import check_targets, check_weights
from .._common.base import Machine
from .._common.classify import Classifier
from .._common.compat import RegressorMixin


class _GivenRisk(Machine):
    """What classes and numbers share."""

    def __init__(
        self,
        loss: Any = None,
        *,
        loss_slope: Any = None,
        regularizer: Any = "norm^2",
        alpha: float = 1.0,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 200,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
    ) -> None:
        self.loss = loss
        self.loss_slope = loss_slope
        self.regularizer = regularizer
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

    #: What is taken where no loss is given.
    _usual = ("", "")

    def _risk_settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = {
            "lambda": float(self.alpha),
            "bias": bool(self.fit_intercept),
            "tolerance": float(self.tol),
            "iteration_limit": int(self.max_iter),
        }
        loss, slope = (self.loss, self.loss_slope) if self.loss is not None else self._usual
        for name, given, text, function in (
            ("loss", loss, "loss", "loss_function"),
            ("loss_slope", slope, "slope", "slope_function"),
            ("regularizer", self.regularizer, "regulariser", "regulariser_function"),
        ):
            if callable(given):
                settings[function] = given
            elif isinstance(given, str):
                settings[text] = given
            elif given is not None or name == "regularizer":
                raise TypeError(f"{name} = {given!r} must be a function or the text of a formula")
        if callable(slope) != callable(loss) and slope is not None:
            raise ValueError("loss and loss_slope must both be functions or both formulas")
        return settings

    def _read_figures(self) -> None:
        self.intercept_ = self._model.bias
        self.dual_coef_ = self._model.coefficients
        self.n_iter_ = max(1, int(self.report_.iterations))

    _after_loading = _read_figures


class KernelRiskRegressor(RegressorMixin, _GivenRisk):
    """Numbers learnt by any convex loss and any regulariser that rises with the norm.

    Minimises ``sum_i w_i loss(y_i, f(x_i) + b) + alpha regularizer(norm of f)``.

    Parameters
    ----------
    loss : function or str, optional
        ``loss(y, z)`` of two arrays, convex in z, or a formula such as ``"|y - z|"``; None: squares.
        One that is found not to be convex is refused.
    loss_slope : function or str, optional
        Its slope in z; None: by differences.
    regularizer : function or str
        Of the norm, a number; ``"norm^2"``, ``"norm"``, ``"exp(norm)"``.
    alpha : float
        Weight of the regulariser.
    kernel, gamma, degree, coef0
        As `SVR`.
    fit_intercept : bool
    tol : float
        On the relative duality gap, by conjugates found numerically.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRiskRegressor
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> def quartic(y, z):
    ...     return (y - z) ** 4 + (y - z) ** 2
    >>> model = KernelRiskRegressor(quartic, alpha=1e-3, gamma=1).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.]])[0] - np.sin(1)) < .05), model.report_.certifies
    (True, 'optimum')
    """

    _task = "risk"
    _usual = ("(y - z)^2", "2*(z - y)")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KernelRiskRegressor":
        """Learns one number a row.

        Returns
        -------
        self
        """
        settings = self._risk_settings()
        X = self._take(X)
        y = check_targets(self, y, X.shape[0])
        self._train(X, y, check_weights(sample_weight, X.shape[0]), **settings)
        self._read_figures()
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The value at every row."""
        return self._decision(X)[:, 0]


class KernelRiskClassifier(_GivenRisk, Classifier):
    """Classes learnt by any convex loss and any regulariser that rises with the norm.

    Parameters
    ----------
    loss : function or str, optional
        As `KernelRiskRegressor`, with y = +1 or -1; None: ``"max(0, 1 - y*z)^2"``. Several classes are
        each taken against the rest.
    loss_slope, regularizer, alpha, kernel, gamma, degree, coef0, fit_intercept, tol
        As `KernelRiskRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRiskClassifier
    >>> X = np.array([[0.], [1.], [2.], [3.]])
    >>> def exponential(y, z):
    ...     return np.exp(-y * z)
    >>> KernelRiskClassifier(exponential, gamma=1).fit(X, [0, 0, 1, 1]).predict(X).tolist()
    [0, 0, 1, 1]
    """

    _task = "risk-classes"
    _usual = ("max(0, 1 - y*z)^2", "-2*y*max(0, 1 - y*z)")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KernelRiskClassifier":
        """Learns from rows, their classes and, if given, their weights.

        Returns
        -------
        self
        """
        self._fit_classes(X, y, sample_weight, **self._risk_settings())
        self._read_figures()
        return self
