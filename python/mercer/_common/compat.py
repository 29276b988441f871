"""scikit-learn where it is installed, and the little of it that is needed where it is not."""

from __future__ import annotations

import inspect
import warnings
from typing import Any, Callable

#: The first scikit-learn whose estimators ours can be: `validate_data` and tags as they are now.
OLDEST_SKLEARN = "1.6"


def _tell_of_old_sklearn() -> None:
    """Says that a scikit-learn is there but too old for ours to be its estimators."""
    try:
        from sklearn import __version__ as found
    except ImportError:
        return
    warnings.warn(
        f"scikit-learn {found} is too old: the machines of mercer train and predict, but they are no "
        "scikit-learn estimators here, and its clone, pipelines and searches do not take them; "
        f"install 'scikit-learn>={OLDEST_SKLEARN}'",
        stacklevel=4,
    )


try:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClusterMixin,
        OutlierMixin,
        RegressorMixin,
        TransformerMixin,
    )
    from sklearn.exceptions import ConvergenceWarning, NotFittedError
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.validation import validate_data as _present  # noqa: F401, since 1.6

    HAVE_SKLEARN = True
except ImportError:
    HAVE_SKLEARN = False
    _tell_of_old_sklearn()

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """An estimator was asked for something it only knows after `fit`."""

    class ConvergenceWarning(UserWarning):  # type: ignore[no-redef]
        """Training stopped before the tolerance was reached."""

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters by the names of ``__init__``, as scikit-learn's class of this name."""

        @classmethod
        def _get_param_names(cls) -> list[str]:
            names = inspect.signature(cls.__init__).parameters
            return sorted(name for name in names if name != "self")

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The parameters by name."""
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params: Any) -> "BaseEstimator":
            """Sets parameters by name and returns the estimator."""
            known = self._get_param_names()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(
                        f"Invalid parameter {name!r} for estimator {type(self).__name__}. "
                        f"Valid parameters are: {known!r}."
                    )
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            defaults = inspect.signature(type(self).__init__).parameters
            given = ", ".join(
                f"{name}={value!r}"
                for name, value in self.get_params().items()
                if value is not defaults[name].default and value != defaults[name].default
            )
            return f"{type(self).__name__}({given})"

    class ClassifierMixin:  # type: ignore[no-redef]
        """`score` as the share of right answers."""

        _estimator_type = "classifier"

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """The (weighted) share of rows whose class is predicted."""
            import numpy as np

            right = np.asarray(self.predict(X)) == np.asarray(y)
            return float(np.average(right, weights=sample_weight))

    class RegressorMixin:  # type: ignore[no-redef]
        """`score` as the coefficient of determination."""

        _estimator_type = "regressor"

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """1 − squared error / squared error of the mean."""
            import numpy as np

            y = np.asarray(y, dtype=float)
            mean = np.average(y, axis=0, weights=sample_weight)
            off = np.average((y - self.predict(X)) ** 2, axis=0, weights=sample_weight)
            return float(
                np.mean(1 - off / np.average((y - mean) ** 2, axis=0, weights=sample_weight))
            )

    class OutlierMixin:  # type: ignore[no-redef]
        """`fit_predict` for machines of one class."""

        _estimator_type = "outlier_detector"

        def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> Any:
            """Fits, and says +1 or −1 of every row."""
            return self.fit(X, y, **kwargs).predict(X)

    class ClusterMixin:  # type: ignore[no-redef]
        """`fit_predict` for machines that find groups."""

        _estimator_type = "clusterer"

        def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> Any:
            """Fits, and returns the group of every row."""
            return self.fit(X, y, **kwargs).labels_

    class TransformerMixin:  # type: ignore[no-redef]
        """`fit_transform` in two steps."""

        def fit_transform(self, X: Any, y: Any = None, **kwargs: Any) -> Any:
            """Fits, and maps the same rows."""
            return self.fit(X, y, **kwargs).transform(X)

    class available_if:  # type: ignore[no-redef]  # noqa: N801
        """A method that is there only while a condition on its object holds."""

        def __init__(self, check: Callable[[Any], bool]) -> None:
            self.check = check

        def __call__(self, method: Callable[..., Any]) -> "available_if":
            self.method = method
            self.__doc__ = method.__doc__
            return self

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self.method
            if not self.check(instance):
                raise AttributeError(f"this {owner.__name__} has no '{self.method.__name__}'")
            return self.method.__get__(instance, owner)


__all__ = [
    "HAVE_SKLEARN",
    "BaseEstimator",
    "ClassifierMixin",
    "ClusterMixin",
    "ConvergenceWarning",
    "NotFittedError",
    "OutlierMixin",
    "RegressorMixin",
    "TransformerMixin",
    "available_if",
]
