"""Which C and γ each set of the suite is trained with: found by `mercer tune`, not by hand.

    python3 -m bench.settings SOURCE FOLDER [NAME...]

SOURCE is the folder of data sets, FOLDER keeps what is made of them. Searches LIBSVM's usual grid
(Hsu, Chang and Lin, A practical guide to support vector classification: C and γ by powers of 4)
with five folds on at most 3000 rows, and writes what is best into bench/settings.json. ε of a
regression is a tenth of the deviation of its targets.
"""

from __future__ import annotations

import json
import pathlib
import statistics
import subprocess
import sys
from collections.abc import Sequence

from bench import data, suite

ROOT = pathlib.Path(__file__).resolve().parent.parent
SETTINGS = ROOT / "bench" / "settings.json"
MOST_ROWS = 3000


def deviation(path: pathlib.Path) -> float:
    with open(path) as file:
        return statistics.pstdev(float(line.split(maxsplit=1)[0]) for line in file)


def found(source: pathlib.Path, folder: pathlib.Path, name: str, task: str) -> dict[str, float]:
    data.main([str(source), str(folder), name])
    rows = json.loads((folder / f"{name}.json").read_text())["rows"]
    part = name if rows <= MOST_ROWS else f"{name}@{-(-rows // MOST_ROWS)}"
    data.main([str(source), str(folder), part])
    file = folder / f"{part}.train"
    values = {"C": suite.SEARCH_C, "gamma": suite.SEARCH_GAMMA}
    grids = [f"--grid={key}={','.join(f'{v:.10g}' for v in some)}" for key, some in values.items()]
    command = [str(ROOT / "build/bin/mercer"), "tune", str(file), "--task", task, *grids,
               "--kernel", "rbf(gamma=1)", "--folds", str(suite.SEARCH_FOLDS), "--json"]  # fmt: skip
    epsilon = float(f"{deviation(file) / 10:.2g}") if task == "svr" else None
    if epsilon is not None:
        command += ["--epsilon", str(epsilon)]
    best = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["best"]
    chosen = {key: float(best["parameters"][key]) for key in values}
    return chosen if epsilon is None else {**chosen, "epsilon": epsilon}


def main(arguments: Sequence[str]) -> int:
    source, folder = pathlib.Path(arguments[0]), pathlib.Path(arguments[1])
    known = json.loads(SETTINGS.read_text()) if SETTINGS.exists() else {}
    wanted = arguments[2:] or [name for name, _ in suite.SEARCHED]
    for name in wanted:
        known[name] = found(source, folder, name, dict(suite.SEARCHED)[name])
        print(name, known[name], flush=True)
        lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(known[key])}" for key in sorted(known))
        SETTINGS.write_text(f"{{\n{lines}\n}}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
