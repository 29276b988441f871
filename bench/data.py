"""Makes the files every peer reads: LIBSVM text, scaled where the suite says so, once for all.

    python3 -m bench.data SOURCE TARGET NAME...

SOURCE is the folder of data sets, TARGET gets NAME.train, NAME.test and NAME.json (rows, columns,
density, what the test rows are). Runs in a process of its own because a child process inherits the
memory peak of the one that started it.
"""

from __future__ import annotations

import json
import pathlib
import random
import sys
from collections.abc import Sequence

from bench.sets import SEED, SETS, Parts


def describe(lines: Sequence[str], others: Sequence[str], test: str) -> dict[str, object]:
    columns = max(
        (int(line.rsplit(" ", 1)[1].split(":")[0]) for line in (*lines, *others) if ":" in line),
        default=0,
    )
    entries = sum(line.count(":") for line in lines)
    density = entries / (len(lines) * columns) if lines and columns else 0.0
    return {"rows": len(lines), "columns": columns, "density": density, "test": test}


def write(target: pathlib.Path, name: str, parts: Parts) -> None:
    """The three files of a set. Without a test part every tenth training row is scored instead."""
    train, test = parts
    said = "test rows" if test is not None else "every tenth training row"
    scored = test if test is not None else train[::10]
    (target / f"{name}.train").write_text("\n".join(train) + "\n")
    (target / f"{name}.test").write_text("\n".join(scored) + "\n")
    (target / f"{name}.json").write_text(json.dumps(describe(train, scored, said)))


def make(source: pathlib.Path, target: pathlib.Path, name: str) -> None:
    """NAME, or NAME@K: one row in K of it, at random, the smaller sets within the larger."""
    whole, _, share = name.partition("@")
    if not share:
        write(target, name, SETS[whole](source))
        return
    if not (target / f"{whole}.json").exists():
        make(source, target, whole)
    train = (target / f"{whole}.train").read_text().splitlines()
    order = list(range(len(train)))
    random.Random(SEED).shuffle(order)
    kept = order[: len(train) // int(share)]
    write(
        target,
        name,
        ([train[i] for i in kept], (target / f"{whole}.test").read_text().splitlines()[:1000]),
    )


def main(arguments: Sequence[str]) -> int:
    source, target = pathlib.Path(arguments[0]), pathlib.Path(arguments[1])
    target.mkdir(parents=True, exist_ok=True)
    for name in arguments[2:]:
        if not (target / f"{name}.json").exists():
            make(source, target, name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
