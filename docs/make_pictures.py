"""Draws the pictures of the machines' pages from the program's own runs.

    python3 docs/make_pictures.py [PROGRAM]          # default: build/bin/mercer

Everything is made by `mercer make`, trained and predicted by the program; only the drawing is here.
"""

from __future__ import annotations

import csv
import itertools
import math
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SIZE = 320
INK = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e5ea2")
TINT = ("#d9e8f4", "#f6dcd9", "#dcefe3", "#ebe1f0")


class Picture:
    """A square of the plane, drawn in pixels."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float], wide: int = SIZE) -> None:
        self.x, self.y, self.wide = x, y, wide
        self.parts: list[str] = []

    def at(self, x: float, y: float) -> tuple[float, float]:
        across = (x - self.x[0]) / (self.x[1] - self.x[0]) * self.wide
        down = SIZE - (y - self.y[0]) / (self.y[1] - self.y[0]) * SIZE
        return across, down

    def dot(self, x: float, y: float, colour: str, radius: float = 2.2) -> None:
        across, down = self.at(x, y)
        self.parts.append(f'<circle cx="{across:.1f}" cy="{down:.1f}" r="{radius}" fill="{colour}"/>')

    def bar(self, x: float, y: tuple[float, float], step: float, colour: str) -> None:
        across, down = self.at(x, y[1])
        width = step / (self.x[1] - self.x[0]) * self.wide + 0.5
        height = (y[1] - y[0]) / (self.y[1] - self.y[0]) * SIZE + 0.5
        self.parts.append(
            f'<rect x="{across:.1f}" y="{down:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{colour}"/>'
        )

    def line(self, points: list[tuple[float, float]], colour: str) -> None:
        path = " ".join("{:.1f},{:.1f}".format(*self.at(x, y)) for x, y in points)
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )

    def area(self, points: list[tuple[float, float]], colour: str) -> None:
        path = " ".join("{:.1f},{:.1f}".format(*self.at(x, y)) for x, y in points)
        self.parts.append(f'<polygon points="{path}" fill="{colour}"/>')

    def words(self, across: float, down: float, text: str, colour: str = "#333") -> None:
        self.parts.append(f'<text x="{across}" y="{down}" fill="{colour}">{text}</text>')

    def svg(self) -> str:
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.wide} {SIZE}" '
            f'width="{self.wide}" height="{SIZE}" font-family="sans-serif" font-size="12">\n'
            f'<rect width="{self.wide}" height="{SIZE}" fill="white"/>\n'
            + "\n".join(self.parts)
            + "\n</svg>\n"
        )


class Program:
    """The command line, in a folder of its own."""

    def __init__(self, program: str, folder: str) -> None:
        self.program, self.folder = program, pathlib.Path(folder)

    def __call__(self, *words: str) -> str:
        command = [self.program, *words]
        return subprocess.run(
            command, cwd=self.folder, check=True, capture_output=True, text=True
        ).stdout

    def table(self, name: str) -> list[list[str]]:
        with open(self.folder / name, newline="") as file:
            return list(csv.reader(file))[1:]

    def write(self, name: str, rows: list[tuple[float, ...]]) -> None:
        (self.folder / name).write_text(
            "".join(",".join(f"{value:.6g}" for value in row) + "\n" for row in rows)
        )


def grid(low: float, high: float, step: float) -> list[tuple[float, float]]:
    count = round((high - low) / step)
    return [(low + i * step, low + j * step) for i in range(count) for j in range(count)]


def regions(run: Program, kind: str, noise: str, limit: float, *options: str) -> str:
    """Rows and the regions a machine makes of the plane."""
    run("make", kind, "-n", "300", "--noise", noise, "--seed", "3", "-o", "rows.csv")
    run("train", "rows.csv", "model.mercer", "--quiet", *options)
    step = limit / 40
    places = grid(-limit, limit, step)
    run.write("grid.csv", [(x + step / 2, y + step / 2) for x, y in places])
    labels = run("predict", "model.mercer", "grid.csv", "--label", "none", "--header", "no").split()
    names = sorted(set(labels), key=float)
    picture = Picture((-limit, limit), (-limit, limit))
    cells = zip(places, labels)  # column by column, from below: equal neighbours are one bar
    for (x, label), bar in itertools.groupby(cells, key=lambda cell: (cell[0][0], cell[1])):
        heights = [y for (_, y), _ in bar]
        picture.bar(x, (heights[0], heights[-1] + step), step, TINT[names.index(label) % len(TINT)])
    rows = run.table("rows.csv")
    classes = sorted({row[-1] for row in rows}, key=float)
    for row in rows:
        picture.dot(float(row[0]), float(row[1]), INK[classes.index(row[-1])])
    return picture.svg()


def process(run: Program) -> str:
    """Mean of a Gaussian process and twice its deviation."""
    run("make", "sinc", "-n", "40", "--noise", "0.1", "--seed", "2", "-o", "rows.csv")
    run("train", "rows.csv", "gp.mercer", "--quiet", "--task", "gp", "--kernel", "rbf(sigma=0.5)",
        "--noise", "0.05", "--optimise")  # fmt: skip
    places = [-4.5 + 0.05 * i for i in range(181)]
    run.write("grid.csv", [(x,) for x in places])
    text = run("predict", "gp.mercer", "grid.csv", "--label", "none", "--header", "no", "--std")
    values = [[float(word) for word in line.split()] for line in text.splitlines()[1:]]
    picture = Picture((-4.5, 4.5), (-1.2, 1.8), 560)
    upper = [(x, mean + 2 * deviation) for x, (mean, deviation) in zip(places, values)]
    lower = [(x, mean - 2 * deviation) for x, (mean, deviation) in zip(places, values)]
    picture.area(upper + lower[::-1], TINT[0])
    picture.line([(x, value[0]) for x, value in zip(places, values)], INK[0])
    for row in run.table("rows.csv"):
        picture.dot(float(row[0]), float(row[1]), INK[1], 3)
    return picture.svg()


def convergence(run: Program) -> str:
    """How far the Adatron and sequential minimal optimisation are from the optimum, by seconds."""
    run("make", "moons", "-n", "400", "--noise", "0.15", "--seed", "1", "-o", "rows.csv")
    run("train", "rows.csv", "--quiet", "--task", "adatron", "--kernel", "rbf(gamma=2)", "-C", "10",
        "--passes", "300", "--curve", "curve.csv")  # fmt: skip
    rows = run.table("curve.csv")
    best = max(float(row[3]) for row in rows)
    curves: dict[str, list[tuple[float, float]]] = {}
    for method, steps, _, objective, _ in rows:
        missing = max((best - float(objective)) / best, 1e-9)
        curves.setdefault(method, []).append((float(steps), missing))
    most = max(steps for curve in curves.values() for steps, _ in curve)
    picture = Picture((0, math.log10(most + 1)), (-9.2, 0.4), 560)
    for index, (method, curve) in enumerate(curves.items()):
        points = [(math.log10(steps + 1), math.log10(missing)) for steps, missing in curve]
        picture.line(points, INK[index])
        picture.words(20, SIZE - 48 + 16 * index, method, INK[index])
    picture.words(20, SIZE - 8, "steps, against the distance from the optimum, 1 to 1e-9: both log")
    return picture.svg()


def main() -> None:
    default = HERE.parent / "build" / "bin" / "mercer"
    program = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else default).resolve())
    out = HERE / "pictures"
    out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        run = Program(program, folder)
        gaussian = ("--kernel", "rbf(gamma=2)")
        pictures = {
            "class-means": regions(run, "moons", "0.15", 2.5, "--task", "class-means", *gaussian),
            "perceptron": regions(run, "spirals", "0.05", 1.4, "--task", "perceptron", "--passes",
                                  "20", "--variant", "averaged", "--kernel", "rbf(gamma=8)"),
            "k-means": regions(run, "rings", "0.08", 2.5, "--task", "k-means", "--clusters", "2",
                               "--starts", "10", "--kernel", "map(linear, x0^2 + x1^2)"),
            "losses": regions(run, "moons", "0.25", 2.5, "--task", "logistic", "--lambda", "0.1",
                              *gaussian),
            "gaussian-process": process(run),
            "adatron": convergence(run),
        }  # fmt: skip
    for name, svg in pictures.items():
        (out / f"{name}.svg").write_text(svg)


if __name__ == "__main__":
    main()
