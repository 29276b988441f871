"""Data files: the formats are those of the library, by its own words for them."""

from __future__ import annotations

from pathlib import Path

import mercer
import numpy as np
import pytest


def test_formats_are_listed_and_taken_by_name(tmp_path: Path) -> None:
    formats = mercer.data.formats()
    assert {"libsvm", "csv", "npz"} <= set(formats)
    assert all(about for about in formats.values())
    file = tmp_path / "rows"
    file.write_text("1 2\t3\n4 5\t6\n")
    X, y = mercer.data.read(file, format="spaces")
    np.testing.assert_array_equal(X, [[1, 2], [4, 5]])
    np.testing.assert_array_equal(y, [3, 6])
    with pytest.raises(ValueError, match="'xls', expected " + ", ".join(list(formats)[:3])):
        mercer.data.read(file, format="xls")
    file.write_text("1 2:3\n-1 1:4\n")
    np.testing.assert_array_equal(mercer.data.read(file)[1], [1, -1])
