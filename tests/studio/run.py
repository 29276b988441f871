"""Runs the tests of the studio by pytest: its server by sockets, its page in a real browser.

Exit code 77, "skipped", without pytest; the page's tests are skipped, with a message, where playwright
(PyPI) or Chromium (Debian: apt-get install chromium) is absent. MERCER_PYTHON may name an interpreter
that has the packages of tests/requirements.txt, MERCER_CHROMIUM another browser.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import sys


def main() -> int:
    chosen = os.environ.pop("MERCER_PYTHON", "")
    if chosen and os.access(chosen, os.X_OK):
        os.execv(chosen, [chosen, "-B", *sys.argv])
    if importlib.util.find_spec("pytest") is None:
        print(f"[  SKIPPED ] studio.server (no pytest for {sys.executable})")
        return 77
    import pytest

    folder = pathlib.Path(__file__).resolve().parent
    return pytest.main(["-q", "-rs", "-p", "no:cacheprovider", str(folder), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
