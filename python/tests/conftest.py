"""What the tests share: data sets, and which of scikit-learn's checks need it."""

from __future__ import annotations

import os
import pathlib

import numpy as np
import pytest

DATA = pathlib.Path(
    os.environ.get("MERCER_DATA", pathlib.Path(__file__).parents[3] / "shared/data")
)


@pytest.fixture
def moons() -> tuple[np.ndarray, np.ndarray]:
    """Two half circles with noise, 120 rows."""
    rng = np.random.default_rng(3)
    t = rng.uniform(0, np.pi, 120)
    side = np.arange(120) % 2
    X = np.where(
        side[:, None] == 0,
        np.c_[np.cos(t), np.sin(t)],
        np.c_[1 - np.cos(t), 0.5 - np.sin(t)],
    )
    return X + rng.normal(scale=0.15, size=X.shape), side
