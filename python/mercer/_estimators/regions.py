"""Nested regions that hold given shares of a sample."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .._common.arrays import check_weights
from .._common.base import FINEST, TINY, Machine
from .._common.compat import OutlierMixin
from .._common.parameters import numbers_of


class QuantileRegions(OutlierMixin, Machine):
    """Regions that hold given shares of the rows, each inside the next.

    One-class machines of different ν need not be nested. Here all planes share one normal vector, so
    that they are, and each keeps its ν-property [Glazer, Lindenbaum and Markovitch 2013].

    Parameters
    ----------
    shares : sequence of float
        Between 0 and 1, all different: at least so much of the rows lies inside.

    Attributes
    ----------
    shares_ : ndarray
        Ascending.
    thresholds_ : ndarray
        The least decision value inside each region; 0 for the largest.
    inside_ : ndarray
        The share of the training rows inside each.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import QuantileRegions
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = QuantileRegions(shares=[.5, .9], gamma=.1).fit(X)
    >>> model.region([[0., 0.], [9., 9.]]).tolist()
    [0.5, -1.0]
    >>> bool((model.inside_ >= [.5, .9]).all())
    True
    """

    _task = "regions"

    def __init__(
        self,
        *,
        shares: Sequence[float] = (0.5, 0.75, 0.95),
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        callback: Any = None,
        precision: str = "auto",
    ) -> None:
        self.shares = shares
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.n_jobs = n_jobs
        self.callback = callback
        self.precision = precision

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "QuantileRegions":
        """Learns the regions of the rows; ``y`` is ignored.

        Returns
        -------
        self
        """
        X = self._take(X)
        weights = check_weights(sample_weight, X.shape[0])
        shares = numbers_of("shares", self.shares)
        # Few rows cost next to nothing, and repeated rows are then rows of that weight to the last digits.
        tolerance = min(self.tol, FINEST) if X.shape[0] <= TINY else self.tol
        self._train(X, None, weights, shares=shares, tolerance=float(tolerance))
        self._after_loading()
        return self

    def _after_loading(self) -> None:
        self.offset_ = -self._model.bias
        self.shares_, self.thresholds_, self.inside_ = self._model.arrays()["regions"].T.copy()

    def decision_function(self, X: Any) -> np.ndarray:
        """Positive inside the largest region; in region j where it is at least ``thresholds_[j]``."""
        return self._decision(X)[:, 0]

    def predict(self, X: Any) -> np.ndarray:
        """+1 inside the largest region, −1 outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def region(self, X: Any) -> np.ndarray:
        """The share of the smallest region that each row lies in; −1 for rows in none."""
        inside = self.decision_function(X)[:, None] >= self.thresholds_
        smallest = np.where(inside, self.shares_, 1.0).min(axis=1)
        return np.where(smallest < 1, smallest, -1.0)

    def score_samples(self, X: Any) -> np.ndarray:
        """The decision before the threshold of the largest region is taken off."""
        return self.decision_function(X) + self.offset_


__all__ = ["QuantileRegions"]
