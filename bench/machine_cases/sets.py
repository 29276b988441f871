"""Rows of the cases, from the folder of data sets."""

from __future__ import annotations

import gzip

import numpy as np

from bench.machine_cases.rules import Place


def mnist(place: Place, rows: int, part: str = "train") -> tuple[np.ndarray, np.ndarray]:
    """The first rows, pixels from 0 to 1."""
    folder = place.folder / "mnist"
    pixels = gzip.decompress((folder / f"{part}-images-idx3-ubyte.gz").read_bytes())[16:]
    labels = gzip.decompress((folder / f"{part}-labels-idx1-ubyte.gz").read_bytes())[8:]
    x = np.frombuffer(pixels, np.uint8).reshape(-1, 784)[:rows]
    return x.astype(np.float32) / np.float32(255), np.frombuffer(labels, np.uint8)[:rows].astype(int)


def table(place: Place, path: str, label: int, delimiter: str | None = None, header: bool = False):
    """Columns of mean 0 and deviation 1, and the labels, in an order drawn once."""
    with gzip.open(place.folder / path, "rt") as file:
        values = np.loadtxt(file, delimiter=delimiter, skiprows=int(header))
    values = values[np.random.default_rng(0).permutation(len(values))]
    x = np.delete(values, label, axis=1)
    deviation = x.std(0)
    return (x - x.mean(0)) / np.where(deviation > 0, deviation, 1), values[:, label]


def california(place: Place, rows: int) -> tuple[np.ndarray, np.ndarray]:
    x, y = table(place, "california_housing/cal_housing.csv.gz", -1, ",", header=True)
    return x[:rows], (y[:rows] - y.mean()) / y.std()


def spambase(place: Place, rows: int) -> tuple[np.ndarray, np.ndarray]:
    x, y = table(place, "spambase/spam.data.gz", -1)
    return x[:rows], y[:rows]


def usps(place: Place, rows: int) -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(place.folder / "usps/zip.train.gz", "rt") as file:
        values = np.loadtxt(file)
    return np.ascontiguousarray(values[:rows, 1:]), values[:rows, 0].astype(int)
