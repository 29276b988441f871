"""Draws the pictures of the machines' pages from the program's own runs.

    python3 docs/make_pictures.py [PROGRAM]          # default: build/bin/mercer

Everything is made by `mercer make`, trained and predicted by the program, and drawn by `mercer plot`.
"""

from __future__ import annotations

import csv
import json
import math
import pathlib
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


class Program:
    """The command line, in a folder of its own."""

    def __init__(self, program: str, folder: str) -> None:
        self.program, self.folder = program, pathlib.Path(folder)

    def __call__(self, *words: str) -> str:
        command = [self.program, *words]
        return subprocess.run(
            command, cwd=self.folder, check=True, capture_output=True, text=True
        ).stdout

    def drawn(self, kind: str, names: tuple[str, ...], rows: list[tuple], *words: str) -> str:
        """A table of two columns, perhaps with labels behind, drawn by `mercer plot`."""
        with open(self.folder / "figures.csv", "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([names, *rows])
        label = "label" if names[-1] == "label" else "none"
        return self.pictured(kind, "figures.csv", "--label", label, "--header", "yes", *words)

    def pictured(self, *words: str) -> str:
        self("plot", *words, "-o", "picture.svg")
        return (self.folder / "picture.svg").read_text()

    def table(self, name: str) -> list[list[str]]:
        with open(self.folder / name, newline="") as file:
            return list(csv.reader(file))[1:]

    def write(self, name: str, rows: list[tuple[float, ...]]) -> None:
        (self.folder / name).write_text(
            "".join(",".join(f"{value:.6g}" for value in row) + "\n" for row in rows)
        )


def plotted(run: Program, made: str, trained: str) -> str:
    """What a machine makes of its rows, drawn by `mercer plot`."""
    run("make", *made.split(), "-o", "rows.csv")
    run("train", "rows.csv", "model.mercer", "--quiet", *shlex.split(trained))
    return run.pictured("regions", "model.mercer", "rows.csv")


def canonical(run: Program) -> str:
    """Points of a circle, coloured by the first canonical function of the same at twice their angle."""
    angles = [2 * math.pi * ((i * 0.6180339887) % 1) for i in range(240)]
    radii = [1 + 0.08 * math.sin(37 * i) for i in range(240)]
    for name, times in (("x.csv", 1), ("y.csv", 2)):
        run.write(name, [(r * math.cos(times * t), r * math.sin(times * t))
                         for r, t in zip(radii, angles)])  # fmt: skip
    plain = ("--label", "none", "--header", "no", "--quiet")
    run("cca", "x.csv", "y.csv", "both.mercer", "--kernel", "rbf(gamma=1)", *plain)
    run("transform", "both.mercer", "x.csv", "-o", "f.csv", *plain)
    values = [float(row[0]) for row in run.table("f.csv")]
    rows = [line.split(",") for line in (run.folder / "x.csv").read_text().split()]
    return run.drawn("points", ("x0", "x1", "label"), [(*row, v) for row, v in zip(rows, values)])


def unmixed(run: Program) -> str:
    """Two mixed columns, and the sources that come back."""
    points = []
    for i in range(500):
        a, b = ((i * 0.6180339887) % 1, (i * 0.7548776662) % 1)
        a, b = 2 * a - 1, (1 if b < 0.5 else -1) * (0.7 + 0.3 * math.sin(91 * i))
        points.append((a + 0.6 * b, b - 0.5 * a))
    run.write("mixed.csv", points)
    plain = ("--label", "none", "--header", "no", "--quiet")
    run("ica", "mixed.csv", "-o", "sources.csv", "--tol", "0.001", *plain)
    rows = [(x, y, "mixed") for x, y in points]
    rows += [(row[0], row[1], "sources found") for row in run.table("sources.csv")]
    return run.drawn("points", ("first", "second", "label"), rows)


def online(run: Program) -> str:
    """The worst residual of online components against passes over the data."""
    run("make", "moons", "-n", "160", "--noise", "0.1", "--seed", "3", "-o", "rows.csv")
    curve = []
    for passes in (1, 2, 4, 8, 16, 32, 64, 128, 256):
        report = json.loads(run("train", "rows.csv", "--json", "--task", "kha", "--components", "4",
                                "--kernel", "rbf(gamma=2)", "--passes", str(passes)))  # fmt: skip
        curve.append((passes, report["certificate"]["figures"]["residual"]))
    return run.drawn("curves", ("passes over the data", "worst residual"), curve, "--log", "both")


def completed(run: Program) -> str:
    """Lower halves of the built-in digits from the upper: truth, nearest neighbour, dependency."""
    run("convert", "@digits", "--labels-to", "none", "--write-header", "no", "-o", "digits.csv")
    digits = [[float(v) for v in line.split(",")[:64]]
              for line in (run.folder / "digits.csv").read_text().split()]  # fmt: skip
    train, test = digits[:1500], digits[1500:1516]
    run.write("upper.csv", [tuple(d[:32]) for d in train])
    run.write("lower.csv", [tuple(d[32:]) for d in train])
    run.write("new.csv", [tuple(d[:32]) for d in test])
    plain = ("--label", "none", "--header", "no", "--quiet")
    run("depend", "upper.csv", "lower.csv", "m.mercer", "--kernel", "rbf(gamma=0.002)",
        "--components", "100", "--lambda-path", "0.01,0.1,1", *plain)  # fmt: skip
    run("answer", "m.mercer", "new.csv", "--preimage", "fixed-point", "-o", "made.csv",
        "--write-header", "no", *plain)  # fmt: skip
    made = [[float(v) for v in line.split(",")]
            for line in (run.folder / "made.csv").read_text().split()]  # fmt: skip
    near = [min(train, key=lambda t: sum((a - b) ** 2 for a, b in zip(t[:32], d))) for d in test]
    lines = [test, [d[:32] + n[32:] for d, n in zip(test, near)],
             [d[:32] + m for d, m in zip(test, made)]]  # fmt: skip
    run.write("sheet.csv", [tuple(min(max(v, 0), 16) for v in d) for line in lines for d in line])
    return run.pictured("sheet", "sheet.csv", "--across", str(len(test)), "--label", "none", "--header", "no")


def enlarged(run: Program, target: pathlib.Path) -> None:
    """Pictures of lines, shrunk and enlarged again by every method of `superres`."""
    for name, seed in (("a", 1), ("b", 2), ("c", 3), ("d", 4)):
        lines = [(k * seed * 0.618 % 1 * 6.283, (k * seed * 0.755 % 1 - 0.5) * 100) for k in range(1, 7)]
        pixels = bytearray()
        for i in range(128):
            for j in range(128):
                value = 1.0
                for angle, offset in lines:
                    place = math.cos(angle) * (i - 64) + math.sin(angle) * (j - 64) - offset
                    value *= math.tanh(place / 0.6)
                pixels.append(round(127 + 100 * value))
        (run.folder / f"{name}.pgm").write_bytes(b"P5 128 128 255\n" + bytes(pixels))
    run("superres", "d.pgm", "--train", "a.pgm", "b.pgm", "c.pgm", "--evaluate", "--sheet",
        str(target), "--quiet")  # fmt: skip


def convergence(run: Program) -> str:
    """How far the Adatron and sequential minimal optimisation are from the optimum, by steps."""
    run("make", "moons", "-n", "400", "--noise", "0.15", "--seed", "1", "-o", "rows.csv")
    run("train", "rows.csv", "--quiet", "--task", "adatron", "--kernel", "rbf(gamma=2)", "-C", "10",
        "--passes", "300", "--curve", "curve.csv")  # fmt: skip
    rows = run.table("curve.csv")
    best = max(float(row[3]) for row in rows)
    points = [(steps, max((best - float(objective)) / best, 1e-9), method)
              for method, steps, _, objective, _ in rows if float(steps) > 0]  # fmt: skip
    return run.drawn("curves", ("steps", "distance from the optimum", "label"), points, "--log", "both")


def structural_risk(run: Program) -> str:
    """Training error, bound and error of cross-validation over the degree of a polynomial."""
    run("make", "moons", "-n", "2000", "--noise", "0.25", "--seed", "1", "-o", "rows.csv")
    report = json.loads(run("srm", "rows.csv", "--family", "degree", "--values", "1,2,3,4,5,6",
                            "--json", "--quiet"))  # fmt: skip
    names = {"training_error": "training error", "bound": "bound: training error + confidence term",
             "cv_error": "error of cross-validation"}  # fmt: skip
    rows = [(level["value"], level[key], words) for key, words in names.items() for level in report["levels"]]
    return run.drawn("curves", ("degree of the polynomial", "share of the rows", "label"), rows)


def reliability(run: Program) -> str:
    """Predicted against observed, of one temperature and of a rising curve, learnt on rows set aside."""
    for name, seed in (("train", "1"), ("aside", "2"), ("test", "3")):
        run("make", "moons", "-n", "2000", "--noise", "0.4", "--seed", seed, "-o", f"{name}.csv")
    run("train", "train.csv", "m.mercer", "--quiet", "--kernel", "rbf(gamma=30)", "-C", "100")
    rows = [(0, 0, "honest"), (1, 1, "honest")]
    for method in ("temperature", "isotonic"):
        report = json.loads(run("calibrate", "m.mercer", "aside.csv", "--method", method, "--test",
                                "test.csv", "--json"))  # fmt: skip
        name = f"{method}: Brier {report['brier']:.3f}"
        rows += [(b["predicted"], b["observed"], name) for b in report["bins"] if b["rows"] >= 10]
    return run.drawn("curves", ("predicted", "observed", "label"), rows)


def reductions(run: Program) -> str:
    """Squared distance against vectors: chosen, made one after another, and moved together."""
    run("make", "moons", "-n", "400", "--noise", "0.2", "--seed", "1", "-o", "rows.csv")
    run("train", "rows.csv", "moons.mercer", "--quiet", "--kernel", "rbf(gamma=2)", "-C", "10")
    ways = {
        "chosen (greedy)": ("--no-joint",),
        "chosen by L1": ("--no-joint", "--method", "l1"),
        "made one after another": ("--no-joint", "--method", "sequential"),
        "chosen and moved together": (),
    }
    rows = []
    for name, words in ways.items():
        run("reduce", "moons.mercer", "--quiet", "--vectors", "32", "--double", "--curve", "curve.csv", *words)
        rows += [(row[0], max(float(row[2]), 1e-6), name) for row in run.table("curve.csv")]
    return run.drawn("curves", ("vectors", "squared distance", "label"), rows, "--log", "both")


def rejection(run: Program) -> str:
    """Rows left after so many kernels, all of them and those of the class kept."""
    run("make", "rings", "-n", "2000", "--noise", "0.12", "--seed", "1", "-o", "rows.csv")
    kept = [row for row in run.table("rows.csv") if float(row[-1]) > 0]
    (run.folder / "kept.csv").write_text("x0,x1,label\n" + "".join(",".join(r) + "\n" for r in kept))
    run("train", "rows.csv", "rings.mercer", "--quiet", "--kernel", "rbf(gamma=1)", "-C", "5")
    run("reduce", "rings.mercer", "short.mercer", "--quiet", "--vectors", "20", "--method", "sequential",
        "--no-joint")  # fmt: skip
    report = json.loads(run("cascade", "short.mercer", "rows.csv", "--keep", "1", "--false-negatives",
                            "0.02", "--stages", "1,2,3,4,5,6,8,10,12,15", "--test", "kept.csv", "--json"))  # fmt: skip
    rows = []
    for name, part in zip(("all rows", "the class kept"), report["runs"]):
        words = f"{name}: {part['average_kernels']:.1f} of {part['vectors']} kernels on average"
        rows += [(0, 1, words)] + [(p["kernels"], p["left"], words) for p in part["left"]]
    return run.drawn("curves", ("kernels evaluated", "share of rows left", "label"), rows)


def codebook(run: Program) -> str:
    """Rows, the codes of a radius, and the circles they promise."""
    run("make", "moons", "-n", "400", "--noise", "0.1", "--seed", "3", "-o", "rows.csv")
    run("vq", "encode", "rows.csv", "--quiet", "--radius", "0.3", "-o", "rows.vq")
    return run.pictured("codes", "rows.vq", "rows.csv")


def virtual_examples(run: Program) -> str:
    """A digit of the sample and what the known changes make of it."""
    ways = "shift(1), shift(2), rotate(15), scale(1.2), shear(0.3), thicken(0.5), elastic(0.7), deskew"
    run("convert", "@digits", "-o", "digits.csv")
    (run.folder / "one.csv").write_text("\n".join((run.folder / "digits.csv").read_text().splitlines()[:4]) + "\n")
    run("virtual", "one.csv", "--with", ways, "-o", "more.csv", "--write-header", "yes")
    rows = [[float(v) for v in row[:64]] for row in run.table("more.csv")]
    run.write("sheet.csv", [tuple(d) for d in (rows[2::3] if len(rows) % 3 == 0 else rows)])
    return run.pictured("sheet", "sheet.csv", "--across", "10", "--label", "none", "--header", "no")


def main() -> None:
    default = HERE.parent / "build" / "bin" / "mercer"
    program = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else default).resolve())
    out = HERE / "pictures"
    out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        run = Program(program, folder)
        pictures = {
            "svc": plotted(run, "moons -n 200 --noise 0.2", "--kernel 'rbf(gamma=1)' -C 10"),
            "hard": plotted(run, "blobs --classes 2 -n 60 --noise 0.6 --seed 2",
                            "--task hard --kernel linear"),
            "svr": plotted(run, "sinc -n 100 --seed 1",
                           "--task svr --kernel 'rbf(gamma=2)' -C 10 --epsilon 0.2"),
            "one-class": plotted(run, "moons -n 200 --noise 0.1",
                                 "--task one-class --kernel 'rbf(gamma=2)' --nu 0.1"),
            "svdd": plotted(run, "moons -n 200 --noise 0.1",
                            "--task svdd --kernel 'poly(degree=2, gamma=1, coef0=1)' --nu 0.1"),
            "class-means": plotted(run, "moons -n 300 --noise 0.15 --seed 3",
                                   "--task class-means --kernel 'rbf(gamma=2)'"),
            "perceptron": plotted(run, "spirals -n 300 --noise 0.05 --seed 3",
                                  "--task perceptron --passes 20 --variant averaged "
                                  "--kernel 'rbf(gamma=8)'"),
            "k-means": plotted(run, "rings -n 300 --noise 0.08 --seed 3",
                               "--task k-means --clusters 2 --starts 10 "
                               "--kernel 'map(linear, x0^2 + x1^2)'"),
            "losses": plotted(run, "moons -n 300 --noise 0.25 --seed 3",
                              "--task logistic --lambda 0.1 --kernel 'rbf(gamma=2)'"),
            "gaussian-process": plotted(run, "sinc -n 40 --noise 0.1 --seed 2",
                                        "--task gp --kernel 'rbf(sigma=0.5)' --noise 0.05 --optimise"),
            "kernel-pca": plotted(run, "moons -n 160 --noise 0.08 --seed 3",
                                  "--task kpca --components 2 --kernel 'rbf(gamma=2)'"),
            "adatron": convergence(run),
            "structural-risk": structural_risk(run),
            "reliability": reliability(run),
            "cca": canonical(run),
            "ica": unmixed(run),
            "kernel-hebbian": online(run),
            "dependency": completed(run),
            "reduced-sets": reductions(run),
            "cascades": rejection(run),
            "vector-quantisation": codebook(run),
            "invariances": virtual_examples(run),
        }  # fmt: skip
        enlarged(run, out / "super-resolution.png")
    for name, svg in pictures.items():
        (out / f"{name}.svg").write_text(svg)


if __name__ == "__main__":
    main()
