"""Denoising of USPS digits (001; Mika and others 1999): PCA beside kernel PCA.

    python3 repro/usps_denoising.py

300 digits of each class to learn from; five of each class of the test set with noise: Gaussian of
deviation 0.5, or speckle (40 of 100 pixels black or white). Kernel exp(-|x-z|²/c), c = 256/2, as in
the source. Prints the mean squared error of a pixel against the digit without noise, and writes it
and a contact sheet (one digit a class) to build/repro.
"""

from __future__ import annotations

import gzip
import random

from common import OUT, Row, data_file, mean_squared, mercer, read_rows, write_rows, write_sheet

COMPONENTS = (1, 4, 16, 64, 256)
EACH_TRAIN, EACH_TEST = 300, 5
KERNELS = {"PCA": "linear", "kernel PCA": "rbf(c=128)"}


def digits(name: str, each: int, seed: int) -> list[Row]:
    """So many of each class, drawn by the seed, class after class in turn."""
    by_class: dict[str, list[Row]] = {}
    with gzip.open(data_file(f"usps/{name}"), "rt") as file:
        for line in file:
            label, *values = line.split()
            by_class.setdefault(label, []).append([float(v) for v in values])
    draw = random.Random(seed)
    chosen = [draw.sample(by_class[label], each) for label in sorted(by_class)]
    return [rows[k] for k in range(each) for rows in chosen]


def gaussian(row: Row, draw: random.Random) -> Row:
    return [v + draw.gauss(0, 0.5) for v in row]


def speckle(row: Row, draw: random.Random) -> Row:
    return [draw.choice((-1.0, 1.0)) if draw.random() < 0.4 else v for v in row]


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    train = write_rows(OUT / "train.csv", digits("zip.train.gz", EACH_TRAIN, 1))
    clean = digits("zip.test.gz", EACH_TEST, 2)
    models = {}
    for name, kernel in KERNELS.items():
        models[name] = OUT / f"{name.replace(' ', '-')}.mercer"
        report = mercer("train", train, models[name], "--task", "kpca", "--kernel", kernel,
                        "--components", max(COMPONENTS), "--label", "none", "--header", "no")
        explained = report["certificate"]["figures"]["explained"]
        print(f"{name}: {report['seconds']['train']:.1f} s, explains {100 * explained:.1f} %")
    lines = ["| noise | method | noisy | " + " | ".join(f"n = {n}" for n in COMPONENTS) + " |",
             "|---|---|" + "---:|" * (1 + len(COMPONENTS))]
    columns: dict[str, list[list[Row]]] = {}
    for noise in (gaussian, speckle):
        draw = random.Random(3)
        noisy = [noise(row, draw) for row in clean]
        source = write_rows(OUT / "noisy.csv", noisy)
        columns[noise.__name__] = [clean[:10], noisy[:10]]
        for name, model in models.items():
            errors = []
            for n in COMPONENTS:
                target = OUT / "better.csv"
                mercer("denoise", source, "--model", model, "--components", n, "--label", "none",
                       "--header", "no", "-o", target)
                better = read_rows(target)
                errors.append(mean_squared(better, clean))
                columns[noise.__name__].append(better[:10])
            lines.append(f"| {noise.__name__} | {name} | {mean_squared(noisy, clean):.3f} | "
                         + " | ".join(f"{e:.3f}" for e in errors) + " |")
            print(lines[-1], flush=True)
    sheet = [a + b for a, b in zip(columns["gaussian"], columns["speckle"])]
    write_sheet(OUT / "usps_denoising.png", sheet, 16, -1, 1)
    (OUT / "usps_denoising.md").write_text("\n".join(lines) + "\n")
    print(f"{OUT / 'usps_denoising.png'}: original, noisy, PCA and kernel PCA of {COMPONENTS}")


if __name__ == "__main__":
    main()
