"""R1: USPS digits by polynomials of degree 1 to 7, each class against the rest (000, table 12.7).

    python3 repro/polynomial_usps.py [--quick]

Schölkopf, Burges and Vapnik 1995: 7291 digits to learn from, 2007 to judge on, pixels in [-1, 1], smoothed by a
Gaussian of width 0.75, k(x, z) = (x·z/256)^d, the class of the largest of ten outputs. C is not printed. It is
chosen by the training rows alone: the C at which the linear machine has the printed 282 support vectors a
class; the same C serves all degrees.
"""

from __future__ import annotations

import gzip
import math

from common import Row, data_file, mercer
from draw import INK, Plot, write_svg
from feature_dimensions import short
from frame import Result, Run, Table, main

DEGREES = range(1, 8)
ERRORS = (8.9, 4.7, 4.0, 4.2, 4.3, 4.5, 4.5)
VECTORS = (282, 227, 274, 321, 374, 377, 422)
WIDTH, COSTS = 0.75, (10, 30, 60, 100, 300)


def smoothed(row: Row, width: float, side: int = 16, reach: int = 3) -> Row:
    """The picture convolved with a Gaussian; around it is background, -1."""
    weights = [math.exp(-k * k / (2 * width * width)) for k in range(-reach, reach + 1)]
    weights = [w / sum(weights) for w in weights]
    edge = [-1.0] * reach
    for _ in range(2):  # along the lines, then, turned, along the columns
        lines = [edge + row[i * side : (i + 1) * side] + edge for i in range(side)]
        row = [sum(map(float.__mul__, weights, line[j : j + 2 * reach + 1])) for j in range(side) for line in lines]
    return row


def prepare(run: Run, name: str, count: int) -> object:
    target = run.file(f"smooth-{name}.csv")
    with gzip.open(data_file(f"usps/zip.{name}.gz"), "rt") as file, target.open("w") as out:
        for number, line in enumerate(file):
            if number == count:
                break
            label, *words = line.split()
            row = smoothed([float(w) for w in words], WIDTH)
            out.write(",".join([label, *(f"{v:.5g}" for v in row)]) + "\n")
    return target


def fit(run: Run, train, degree: int, cost: float) -> tuple[object, float]:
    """The machine and its support vectors a class, on average."""
    model = run.file("polynomial.mercer")
    report = mercer("train", train, model, "--kernel", f"polynomial(degree={degree}, gamma=0.00390625, coef0=0)",
                    "-C", cost, "--multi-class", "ovr", "--label", "first", "--text-labels",
                    "--header", "no")  # fmt: skip
    return model, sum(part["support_vectors"] for part in report["parts"]) / len(report["parts"])


def make(run: Run) -> Result:
    train, test = prepare(run, "train", 700 if run.quick else 7291), prepare(run, "test", 200 if run.quick else 2007)
    linear = {cost: fit(run, train, 1, cost)[1] for cost in COSTS}
    cost = min(COSTS, key=lambda c: abs(linear[c] - VECTORS[0]))
    errors, vectors = [], []
    for degree in DEGREES:
        model, count = fit(run, train, degree, cost)
        right = mercer("predict", model, test, "--label", "first", "--text-labels", "--header", "no",
                       "-o", run.file("labels.txt"))["accuracy"]  # fmt: skip
        errors.append(100 * (1 - right))
        vectors.append(count)
    rows = [["dimension of the feature space", *(short(math.comb(255 + d, d)) for d in DEGREES)],
            ["raw error %, printed", *(f"{e:.1f}" for e in ERRORS)],
            ["ours", *(f"{e:.1f}" for e in errors)],
            ["support vectors a class, printed", *map(str, VECTORS)],
            ["ours", *(f"{v:.0f}" for v in vectors)]]  # fmt: skip
    apart = [ours - printed for ours, printed in zip(errors, ERRORS)]
    near = sum(abs(round(a, 1)) <= 0.3 for a in apart)
    worse = sum(round(a, 1) > 0.3 for a in apart)
    plots = []
    for title, ours, printed, high in (("raw error", errors, ERRORS, 10), ("support vectors", vectors, VECTORS, 700)):
        plot = Plot((1, 7), (0, high), title, "degree", "%" if high == 10 else "a class", 330, 240)
        plot.line(list(zip(DEGREES, ours)), INK[0], "ours")
        plot.points(list(zip(DEGREES, printed)), INK[1], 3.5, "printed", True)
        plots.append(plot)
    better = f", {7 - near - worse} lower by more" if near + worse < 7 else ""
    higher = f", {worse} higher by more" if worse else ""
    return Result(
        "R1", "USPS by polynomials of degree 1 to 7", "000, table 12.7", "polynomial_usps.py",
        f"{'reproduced' if near == 7 else 'in part'}, {near} of 7 errors within 0.3 points{better}{higher}",
        [Table(["degree", *map(str, DEGREES)], rows)],
        [f"C = {cost} a row, by the support vectors of the linear machine alone: "
         + ", ".join(f"{v:.0f} at C = {c}" for c, v in linear.items()) + f" against {VECTORS[0]} printed. Smoothing and kernel "
         "are those of Schölkopf, Burges and Vapnik (1995). Without the smoothing the counts of support vectors are far from "
         "the printed ones (344 at degree 2 and 859 at degree 5, with C = 10), which is how one can tell that the table was "
         "made with it.",
         "The rule for C was settled after test errors of some thirty other settings had been seen (smoothing of width 0 to 1, C "
         "from 1 to 1000, with and without a constant in the kernel; 4.0 to 5.5 % at degree 3), though it does not use them. A "
         "width of 0.5 with C = 100 would be within 0.3 points at every degree, and far off in support vectors (603 at degree "
         "5); it was not taken, because only its test error speaks for it.",
         "An error of 4.4 % on 2007 digits has a deviation of 0.46 points: the errors of degrees 2 to 7 cannot be told "
         "apart. From degree 5 on we find more support vectors than are printed; a count then depends on how small a "
         "coefficient is taken for zero, and on how far the solver went."],
        [(write_svg(run.picture("r1-polynomials.svg"), plots), "Errors and support vectors against the degree.")],
        {"near": near, "errors": errors, "vectors": vectors, "cost": cost},
    )  # fmt: skip


if __name__ == "__main__":
    main(make)
