"""What a call is told besides its data: threads, a seed, a scale."""

from __future__ import annotations

import sys
from numbers import Integral
from typing import Any

import numpy as np

from .. import _core
from .arrays import is_sparse

#: As many threads as the command line takes.
MOST_THREADS = 4096


def outside() -> int:
    """The stack level with which a warning points at the line that called this package."""
    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("mercer."):
        level, frame = level + 1, frame.f_back
    return level


def weighted_scale(X: Any, weights: np.ndarray) -> float:
    """1 / (columns × weighted variance of all entries), 1 where that variance is 0."""
    share = weights / weights.sum()
    columns = X.shape[1]
    mean = float(np.asarray(share @ X).sum()) / columns
    # Deviations where they can be had; sparse entries by the moments.
    if is_sparse(X):
        variance = float(np.asarray(share @ X.multiply(X)).sum()) / columns - mean**2
    else:
        variance = float((share @ np.square(X - mean, dtype=np.float64)).sum()) / columns
    return 1.0 / (columns * variance) if variance > 0 else 1.0


def seed_of(random_state: Any) -> int:
    """A seed from None (always the same), a number, or a NumPy generator."""
    if random_state is None:
        return 1
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(1, 2**31 - 1))
    if isinstance(random_state, np.random.RandomState) or random_state is np.random:
        return int(random_state.randint(1, 2**31 - 1))
    message = f"random_state = {random_state!r} must be None, a whole number from 0 to 2**32 - 1, or a "
    if not isinstance(random_state, Integral) or isinstance(random_state, bool):
        raise TypeError(message + "generator of NumPy")
    if not 0 <= random_state < 2**32:
        raise ValueError(message + "generator of NumPy")
    return int(random_state)


def _threads(n_jobs: int | None) -> _core.Threads:
    """Within it, calls of this Python thread use so many threads; others keep their own number."""
    if n_jobs is None:
        return _core.Threads(0)
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
        raise TypeError(f"n_jobs = {n_jobs!r} must be a whole number other than 0, or None")
    if n_jobs == 0 or n_jobs > MOST_THREADS:
        raise ValueError(
            f"n_jobs = {n_jobs} must be a whole number other than 0, {MOST_THREADS} at most, or None"
        )
    # As joblib counts: -1 is all, -2 all but one.
    return _core.Threads(n_jobs if n_jobs > 0 else max(1, _core.threads() + 1 + n_jobs))
