"""Support vector classifiers under scikit-learn's names."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from .._common.call import outside
from .._common.classify import Classifier
from .._common.compat import NotFittedError, available_if
from ..distributed._ranks import joined_of_all
from .support import SupportVectorMachine


def _asks_for_probability(estimator: Any) -> bool:
    """Whether ``probability`` is true; "deprecated" is scikit-learn's word for not asked."""
    asked = estimator.probability
    return bool(asked) and not (isinstance(asked, str) and asked == "deprecated")


def _has_probability(estimator: Any) -> bool:
    if not _asks_for_probability(estimator):
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class _SupportVectorClassifier(SupportVectorMachine, Classifier):
    """SVC and NuSVC but for their penalty."""

    _by_pairs = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learns from rows and their classes.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            float32 and float64 are used where they lie. With ``kernel="precomputed"`` the square
            matrix of kernel values.
        y : array of shape (n_samples,)
            Classes, numbers or text.
        sample_weight : array of shape (n_samples,), optional
            Multiplies C row by row.

        Returns
        -------
        self
        """
        if self.decision_function_shape not in ("ovr", "ovo"):
            raise ValueError(
                f"decision_function_shape = {self.decision_function_shape!r} must be 'ovr' or 'ovo'"
            )
        if self.multi_class not in ("ovo", "ovr"):
            raise ValueError(f"multi_class = {self.multi_class!r} must be 'ovo' or 'ovr'")
        if self.decide not in ("margin", "probability"):
            raise ValueError(f"decide = {self.decide!r} must be 'margin' or 'probability'")
        if self.decide == "probability" and not _asks_for_probability(self):
            raise ValueError("decide='probability' needs probability=True")
        positions = self._fit_classes(
            X,
            y,
            sample_weight,
            probability=_asks_for_probability(self),
            multi_class=self.multi_class,
            **self._penalty(),
        )
        if self.report_.status in ("not separable", "no margin found"):
            raise ValueError(
                f"C = inf: the classes are {self.report_.status} in feature space, so that no machine is "
                "without errors; take a finite C, or another kernel"
            )
        self._read_model(joined_of_all(positions))
        return self

    def _penalty(self) -> dict[str, Any]:
        raise NotImplementedError

    def _after_loading(self) -> None:
        self.probability = self._model.has_probabilities
        if self._model.task == "hard":
            self.C = math.inf

    def _read_model(self, positions: np.ndarray) -> None:
        """The attributes scikit-learn has, in its order: support vectors class by class."""
        model, count = self._model, len(self.classes_)
        origins = model.origins
        owner = positions[origins]
        order = np.lexsort((origins, owner))
        self.support_ = origins[order].astype(np.int32)
        self.n_support_ = np.bincount(owner, minlength=count).astype(np.int32)
        points = self._points()
        self.support_vectors_ = points[order] if points.shape[0] == len(order) else points
        table = self._dual_coefficients(model.coefficients[:, order], owner[order])
        self.dual_coef_ = self._as_fitted(-table if count == 2 else table)
        self.support_vectors_ = self._as_fitted(self.support_vectors_)
        self.intercept_ = -model.bias if count == 2 else model.bias
        steps = [report["iterations"] for report in model.reports()]
        self.n_iter_ = np.maximum(steps, 1).astype(np.int32)
        self.fit_status_ = 0 if self.report_.converged else 1
        self.shape_fit_ = (len(positions), self.n_features_in_)

    def _dual_coefficients(self, pairs: np.ndarray, owner: np.ndarray) -> np.ndarray:
        """LIBSVM's table: of a vector of class c, one row for each other class in order. Of machines of
        one class against the rest each has a row of its own."""
        count = len(self.classes_)
        if self._model.one_vs_rest and count > 2:
            return pairs
        table = np.zeros((count - 1, len(owner)))
        k = 0
        for a in range(count):
            for b in range(a + 1, count):
                table[b - 1, owner == a] = pairs[k, owner == a]
                table[a, owner == b] = pairs[k, owner == b]
                k += 1
        return table

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row: one vote a pair, ties to the first class or, with
        ``break_ties``, to the largest decision; with ``decide="probability"`` the likeliest."""
        if self.decide == "probability":
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        self._check_fitted()
        breaks_ties = self.break_ties and len(self.classes_) > 2
        if breaks_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        decisions = self._decision(X)
        if breaks_ties:
            return self.classes_[self._shaped(decisions).argmax(axis=1)]
        return self.classes_[self._model_classes(decisions)]

    @available_if(_has_probability)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes by Platt's sigmoids, pairs coupled.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), classes in the order of ``classes_``
        """
        self._check_fitted()
        if not self._model.has_probabilities:
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False; fit again with "
                "probability=True"
            )
        return self._probabilities(X)

    @available_if(_has_probability)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))

    def _sigmoids(self, name: str, column: int) -> np.ndarray:
        warnings.warn(
            f"Attribute `{name}` was deprecated in version 1.8 of scikit-learn and will be removed "
            "there; predict_proba says what it was for",
            FutureWarning,
            stacklevel=outside(),
        )
        self._check_fitted()
        return self._model.sigmoids[:, column].copy()

    @property
    def probA_(self) -> np.ndarray:  # noqa: N802, scikit-learn's name
        """A of 1 / (1 + exp(A f + B)), one a pair of classes; empty without ``probability``."""
        return self._sigmoids("probA_", 0)

    @property
    def probB_(self) -> np.ndarray:  # noqa: N802, scikit-learn's name
        """B of 1 / (1 + exp(A f + B)), one a pair of classes; empty without ``probability``."""
        return self._sigmoids("probB_", 1)


class SVC(_SupportVectorClassifier):
    """C-support vector classification, several classes by pairs.

    Parameters as scikit-learn's SVC; ``kernel`` also takes mercer kernels and their text, and ``C=inf`` is
    the hard margin, a ValueError where no plane separates the classes. What is
    new: ``n_jobs``, ``time_limit``, ``callback``, ``precision``, ``on_interrupt`` (see `Machine`), and
    ``decide="probability"``: `predict` gives the likeliest class of `predict_proba`, which need not be the
    one the margin decides for, above all when classes are weighted; ``multi_class="ovr"``: each class
    against the rest instead of pairs; ``bias=False``: planes through the origin of feature space;
    ``method``: how the dual is solved, "automatic", "decomposition", "smo", "chunking" or "weights" (linear
    kernels, in the space of weights); ``gap``: stop also at this relative gap, 0: not used.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, classes_, class_weight_, coef_
        As in scikit-learn.
    report_ : Report
        The certificate: primal, dual, gap, violation.
    kernel_ : Kernel
        The kernel with its rules settled.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, rbf, poly
    >>> X = np.array([[0., 0.], [1., 1.], [1., 0.], [0., 1.]])
    >>> y = ["same", "same", "other", "other"]
    >>> model = SVC(kernel=rbf(gamma=1) + .5*poly(2), C=10).fit(X, y)
    >>> model.predict([[.9, .1]]).tolist()
    ['other']
    >>> model.report_.relative_gap < 1e-3
    True
    """

    _task = "svc"

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool = False,
        tol: float = 1e-3,
        cache_size: float = 1024,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "auto",
        on_interrupt: str = "raise",
        warm_start: bool = False,
        method: str = "automatic",
        gap: float = 0.0,
        decide: str = "margin",
        multi_class: str = "ovo",
        bias: bool = True,
        approximate: str | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start
        self.method = method
        self.gap = gap
        self.decide = decide
        self.multi_class = multi_class
        self.bias = bias
        self.approximate = approximate

    def _penalty(self) -> dict[str, Any]:
        penalty = {"task": "hard"} if self.C == math.inf else {"C": float(self.C)}
        return {**penalty, "bias": bool(self.bias)}


class NuSVC(_SupportVectorClassifier):
    """ν-support vector classification: ν bounds the share of margin errors from above and that of
    support vectors from below.

    Parameters and attributes as `SVC`, with ``nu`` in the place of C. ``class_weight`` multiplies the
    bound on the coefficients of a class, as ``sample_weight`` does that of a row; scikit-learn's takes
    one and ignores it. Where a class is too small for ν, the largest feasible value is used, with a
    warning.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NuSVC
    >>> X = np.array([[-1., 0.], [-2., 1.], [1., 0.], [2., 1.]])
    >>> NuSVC(nu=.5).fit(X, [1, 1, 2, 2]).predict([[-1.5, .5]]).tolist()
    [1]
    """

    _task = "nu-svc"

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool = False,
        tol: float = 1e-3,
        cache_size: float = 1024,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "auto",
        on_interrupt: str = "raise",
        warm_start: bool = False,
        method: str = "automatic",
        gap: float = 0.0,
        decide: str = "margin",
        multi_class: str = "ovo",
        approximate: str | None = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start
        self.method = method
        self.gap = gap
        self.decide = decide
        self.multi_class = multi_class
        self.approximate = approximate

    def _penalty(self) -> dict[str, Any]:
        return {"nu": float(self.nu)}
