"""Runs the comparisons of this folder by pytest; exit code 77, "skipped", where a peer is absent.

MERCER_PYTHON may name an interpreter that has the packages of tests/requirements.txt.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import sys

NEEDED = ("numpy", "sklearn", "pytest")


def main() -> int:
    chosen = os.environ.pop("MERCER_PYTHON", "")
    if chosen and os.access(chosen, os.X_OK):
        os.execv(chosen, [chosen, "-B", *sys.argv])
    absent = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if absent:
        print(f"[  SKIPPED ] peers.sklearn (no {', '.join(absent)} for {sys.executable})")
        print("./dev test fetches them where there is a network (tests/requirements.txt)")
        return 77
    import pytest

    folder = pathlib.Path(__file__).resolve().parent
    return pytest.main(["-q", "-p", "no:cacheprovider", str(folder), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
