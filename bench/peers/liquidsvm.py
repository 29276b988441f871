"""liquidSVM (PyPI `liquidsvm`): a search over its own grid with folds, to be compared with ours.

python -m bench.peers.liquidsvm version
python -m bench.peers.liquidsvm TRAIN TEST FOLDS THREADS

It trains without a constant, stops at a gap of 0.001 in the mean loss of clipped decisions
(Steinwart, Hush and Scovel 2011), keeps the best machine of each fold and averages them. So it is
no peer of single trainings, and is asked here for what it is made for.
"""

from __future__ import annotations

import json
import math
import pathlib
import sys
import sysconfig
import time
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from bench import measure
from bench.peers.base import Absent

SIZE = 10  # values of each parameter


def version() -> str:
    finished = measure.run([sys.executable, "-B", "-m", "bench.peers.liquidsvm", "version"], 120)
    if finished.code != 0:
        words = finished.errors.strip().splitlines()
        raise Absent(words[-1] if words else f"exit code {finished.code}")
    return finished.output.strip()


def grid(rows: int, columns: int, folds: int) -> tuple[list[float], list[float]]:
    """Its ten values of each parameter as ours, C and γ of exp(−γ‖x−z‖²): what it calls gamma is
    a width, what it calls lambda is 1/(2nC) for the n rows learnt from (its grid_control.cpp)."""
    learnt = rows * (folds - 1) // folds
    widths = _geometric(0.2 * learnt ** (-1 / columns), 5 * (1 + 5 / learnt) ** columns)
    penalties = _geometric(1 / (2 * learnt * 0.1), 1 / (2 * 0.001))
    return penalties, sorted(1 / width**2 for width in widths)


def _geometric(first: float, last: float) -> list[float]:
    step = (math.log(last) - math.log(first)) / (SIZE - 1)
    return [first * math.exp(step * k) for k in range(SIZE)]


def search(
    train: pathlib.Path, test: pathlib.Path, folds: int, threads: int, limit: float
) -> dict[str, Any]:
    """Seconds of the search, and the error on the test rows; or a remark."""
    words = [str(train), str(test), str(folds), str(threads)]
    finished = measure.run([sys.executable, "-B", "-m", "bench.peers.liquidsvm", *words], limit)
    if finished.late or finished.code != 0:
        said = (finished.errors.strip().splitlines() or [f"exit code {finished.code}"])[-1]
        return {"note": f"stopped after {limit:g} s" if finished.late else said}
    found: dict[str, Any] = json.loads(finished.output.strip().splitlines()[-1])
    return found


def _package() -> Any:
    # It looks for its library by a name that newer Pythons no longer have.
    names = sysconfig.get_config_vars()
    names.setdefault("SO", names["EXT_SUFFIX"])
    import liquidSVM

    return liquidSVM


def main(words: Sequence[str]) -> int:
    package = _package()
    if words[0] == "version":
        print(metadata.version("liquidSVM"))
        return 0
    from sklearn.datasets import load_svmlight_files

    x, y, test_x, test_y = load_svmlight_files([words[0], words[1]])
    begin = time.perf_counter()
    model = package.mcSVM(x.toarray(), y, folds=int(words[2]), threads=int(words[3]), display=0)
    seconds = time.perf_counter() - begin
    said = model.test(test_x.toarray(), test_y)[0][:, 0]
    print(json.dumps({"seconds": seconds, "error": float((said != test_y).mean())}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
