"""Scaling of columns as the command line does it, in files that it reads."""

from __future__ import annotations

import copyreg
import os
from typing import Any

import numpy as np

from .. import _core
from .._common.arrays import check_rows, from_rows, to_rows
from .._common.base import Machine
from .._common.compat import NotFittedError, TransformerMixin


def load_scaling(text: str) -> _core.Scaling:
    """A scaling from its JSON: numbers and words only, safe to read."""
    return _core.Scaling.from_json(text)


copyreg.pickle(_core.Scaling, lambda scaling: (load_scaling, (scaling.json(),)))


class FeatureScaling(TransformerMixin, Machine):
    """Columns, or rows, brought to one scale; found on some rows and applied to all.

    Parameters
    ----------
    rule : str
        "standard" (mean 0, deviation 1), "minmax", "minmax(-1,1)", "unit" (rows of length 1), or a
        factor such as "1/255".

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import FeatureScaling
    >>> FeatureScaling("minmax").fit_transform([[1., 5.], [3., 9.]]).tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """

    kernel = "linear"

    def __init__(self, rule: str = "standard") -> None:
        self.rule = rule

    def fit(self, X: Any, y: Any = None) -> "FeatureScaling":
        """Finds the scale of the rows; ``y`` is ignored."""
        self._scaling = _core.Scaling.fit(self.rule, to_rows(check_rows(self, X, reset=True)))
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "_scaling" in self.__dict__

    def _known(self) -> _core.Scaling:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                "This FeatureScaling instance is not fitted yet. Call 'fit' first."
            )
        return self._scaling

    def transform(self, X: Any) -> Any:
        """The rows in the scale found; sparse ones stay sparse where 0 stays 0."""
        scaling = self._known()
        rows = to_rows(check_rows(self, X, reset=False))
        return from_rows(scaling.apply(rows), self.n_features_in_)

    def inverse_transform(self, X: Any) -> Any:
        """The rows in their own scale."""
        scaling = self._known()
        return from_rows(
            scaling.undo(to_rows(np.asarray(X, dtype=np.float64))), self.n_features_in_
        )

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns, as they were."""
        self._known()
        names = getattr(self, "feature_names_in_", None)
        if input_features is not None:
            names = np.asarray(input_features, dtype=object)
        if names is None:
            names = [f"x{i}" for i in range(self.n_features_in_)]
        return np.asarray(names, dtype=object)

    def save(self, path: Any) -> None:
        """Writes the scaling as ``mercer scale --save`` does."""
        with open(os.fspath(path), "w", encoding="utf-8") as file:
            file.write(self._known().json())
