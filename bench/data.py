"""Makes the files every peer reads: LIBSVM text, scaled where the suite says so, once for all.

    python3 -m bench.data SOURCE TARGET NAME...

SOURCE is the folder of data sets, TARGET gets NAME.train, NAME.test and NAME.json (rows, columns,
density, what the test rows are). Runs in a process of its own because a child process inherits the
memory peak of the one that started it.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import pathlib
import random
import sys
from collections.abc import Callable, Iterable, Sequence

Row = tuple[str, Sequence[float]]  # label, values
SEED = 1


def lines_of(path: pathlib.Path) -> list[str]:
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
    with opened as file:
        return [line.rstrip() for line in file if line.strip()]


def table(path: pathlib.Path, separator: str | None, label: int) -> list[Row]:
    """Rows of a text table; `label` is the column of the label, 0 or -1."""
    rows: list[Row] = []
    for line in lines_of(path):
        fields = next(csv.reader([line])) if separator == "," else line.split(separator)
        name = fields.pop(label)
        rows.append((f"{float(name):g}", [float(field) for field in fields]))
    return rows


def standardise(train: list[Row], others: list[Row]) -> tuple[list[Row], list[Row]]:
    """Mean 0 and variance 1 in every column of the training rows."""
    moments = []
    for column in zip(*(values for _, values in train)):
        mean = math.fsum(column) / len(column)
        spread = math.sqrt(math.fsum((v - mean) ** 2 for v in column) / len(column))
        moments.append((mean, 1 / spread if spread > 0 else 0.0))
    return _mapped(train, moments), _mapped(others, moments)


def unit_ranges(train: list[Row]) -> list[Row]:
    """Smallest value 0, largest 1 in every column; constant columns become 0."""
    moments = []
    for column in zip(*(values for _, values in train)):
        width = max(column) - min(column)
        moments.append((min(column), 1 / width if width > 0 else 0.0))
    return _mapped(train, moments)


def _mapped(rows: list[Row], moments: list[tuple[float, float]]) -> list[Row]:
    return [(y, [(v - a) * b for v, (a, b) in zip(values, moments)]) for y, values in rows]


def libsvm_lines(rows: Iterable[Row]) -> list[str]:
    """9 digits: every number of single precision is told from its neighbours."""
    return [
        y + "".join(f" {k}:{v:.9g}" for k, v in enumerate(values, 1) if v != 0)
        for y, values in rows
    ]


def mnist_lines(folder: pathlib.Path, part: str, only: int | None = None) -> list[str]:
    pixels = gzip.decompress((folder / f"{part}-images-idx3-ubyte.gz").read_bytes())[16:]
    labels = gzip.decompress((folder / f"{part}-labels-idx1-ubyte.gz").read_bytes())[8:]
    value = [f":{v / 255:.9g}" for v in range(256)]
    index = [f" {k}" for k in range(1, 785)]
    lines = []
    for i, label in enumerate(labels):
        if only is not None and label != only:
            continue
        image = pixels[784 * i : 784 * (i + 1)]
        name = str(label) if only is None else "1"
        lines.append(name + "".join(index[k] + value[v] for k, v in enumerate(image) if v))
    return lines


Parts = tuple[list[str], list[str] | None]  # training lines, test lines


def _plain(train: str, test: str | None = None) -> Callable[[pathlib.Path], Parts]:
    return lambda source: (lines_of(source / train), lines_of(source / test) if test else None)


def _usps(source: pathlib.Path) -> Parts:
    train, test = (
        libsvm_lines(table(source / f"usps/zip.{part}.gz", None, 0)) for part in ("train", "test")
    )
    return train, test


def _spambase(source: pathlib.Path) -> Parts:
    rows = table(source / "spambase/spam.data.gz", None, -1)
    aside = [line == "1" for line in lines_of(source / "spambase/spam.traintest")]
    train, test = standardise(
        [row for row, out in zip(rows, aside, strict=True) if not out],
        [row for row, out in zip(rows, aside, strict=True) if out],
    )
    return libsvm_lines(train), libsvm_lines(test)


def _higgs(source: pathlib.Path) -> Parts:
    parts = [table(source / f"higgs_7500/binary.{part}.gz", "\t", 0) for part in ("train", "test")]
    train, test = standardise(*parts)
    return libsvm_lines(train), libsvm_lines(test)


def _covtype_5000(source: pathlib.Path) -> Parts:
    train, test = (
        libsvm_lines(table(source / f"covtype/covtype.5000.{part}.csv.gz", ",", 0))
        for part in ("train", "test")
    )
    return train, test


SETS: dict[str, Callable[[pathlib.Path], Parts]] = {
    "a9a": _plain("a9a/a9a.gz", "a9a/a9a.t.gz"),
    "w8a": _plain("w8a/w8a.gz"),
    "ijcnn1": _plain("ijcnn1/ijcnn1.gz", "ijcnn1/ijcnn1.t.gz"),
    "usps": _usps,
    "mnist": lambda source: (
        mnist_lines(source / "mnist", "train"),
        mnist_lines(source / "mnist", "t10k"),
    ),
    "mnist.8": lambda source: (
        mnist_lines(source / "mnist", "train", only=8),
        mnist_lines(source / "mnist", "t10k", only=8),
    ),
    "reuters": _plain("reuters_lasvm/reuters.trn.gz", "reuters_lasvm/reuters.tst.gz"),
    "spambase": _spambase,
    "covtype.20k": lambda source: (
        libsvm_lines(unit_ranges(table(source / "covtype/covtype.20k.data.gz", ",", -1))),
        None,
    ),
    "covtype.5000": _covtype_5000,
    "higgs": _higgs,
    "cpusmall": _plain("cpusmall/cpusmall_scale.gz"),
}


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
