"""What machines that make features of rows share."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Machine
from .compat import TransformerMixin


class Transformer(TransformerMixin, Machine):
    """A machine whose `transform` gives ``_n_features_out`` numbers per row."""

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """A name for each feature: the class in small letters and a number."""
        self._check_fitted()
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{i}" for i in range(self._n_features_out)], dtype=object)

    def _check_features(self, X: Any) -> np.ndarray:
        """A copy of rows as `transform` gives them."""
        self._check_fitted()
        features = np.array(X, dtype=np.float64, ndmin=2, order="C")
        if features.ndim != 2 or features.shape[1] != self._n_features_out:
            raise ValueError(
                f"X has {features.shape[-1]} components, but {type(self).__name__} has "
                f"{self._n_features_out}"
            )
        return features
