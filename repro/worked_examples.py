"""R13: the worked examples of 000, 002, 003 and 004, step by step.

    python3 repro/worked_examples.py [--quick]

Each row: what the lecture works out, what it comes to, and what the program says.
"""

from __future__ import annotations

import csv
import math

from common import Row, mercer, read_rows, write_rows
from draw import INK, Plot, write_svg
from frame import Result, Run, Table, main

PLAIN = ("--label", "none", "--header", "no")
LAST = ("--label", "last", "--header", "no")
QUADRATIC = "polynomial(degree=2, gamma=1, coef0=1)"


def gram(run: Run, kernel: str, rows: list[Row]) -> list[Row]:
    target = run.file("gram.csv")
    mercer("gram", kernel, write_rows(run.file("rows.csv"), rows), *PLAIN, "--double", "-o", target)
    return read_rows(target)


def mapped(run: Run, rows: list[Row], *words: object) -> list[Row]:
    target = run.file("mapped.csv")
    mercer("map", write_rows(run.file("rows.csv"), rows), *PLAIN, *words, "--write-header", "no", "-o", target)
    return read_rows(target)


def dot(a: Row, b: Row) -> float:
    return sum(x * y for x, y in zip(a, b))


def shown(row: Row) -> str:
    return "(" + ", ".join(f"{v:.4g}" for v in row) + ")"


def hard(run: Run, rows: list[Row], kernel: str, *words: object) -> dict:
    source = write_rows(run.file("rows.csv"), rows)
    return mercer("train", source, "--task", "hard", "--kernel", kernel, *LAST, "--double", "--tol", 1e-6,
                  "--double-precision", *words, codes=(0, 1))["certificate"]  # fmt: skip


def products(run: Run) -> list[list[str]]:
    """Dot products in feature space and the kernels that give them."""
    x, y = [1.0, -1.0], [-1.0, 2.0]
    a, b = mapped(run, [x, y], "--kind", "monomial", "--degree", 2, "--coef0", 1)
    lines = [["004: Φ(x) for x = (1, −1), all monomials to order 2", "1, √2x₁, √2x₂, x₁², √2x₁x₂, x₂²", shown(a)],
             ["004: Φ(y) for y = (−1, 2)", "", shown(b)],
             ["004: Φ(x)·Φ(y)", "4", f"{dot(a, b):.6g}"],
             ["004: (1 + x·y)²", "(1 − 3)² = 4", f"{gram(run, QUADRATIC, [x, y])[0][1]:.6g}"]]  # fmt: skip
    a, b = mapped(run, [x, y], "--kind", "monomial", "--degree", 2, "--coef0", 0)
    lines.append(["001, 003: (x₁², √2x₁x₂, x₂²) against (x·y)²", "9", f"{dot(a, b):.6g}, "
                  f"{gram(run, 'polynomial(degree=2, gamma=1, coef0=0)', [x, y])[0][1]:.6g}"])  # fmt: skip
    u, v = [0.7, 0.2], [-0.4, 1.1]
    t = dot(u, v)
    lines.append(["000: x·y + (x·y)² = (x·y + ½)² − ¼ at (.7, .2), (−.4, 1.1)", f"{(t + 0.5) ** 2 - 0.25:.6g}",
                  f"{gram(run, 'linear + linear^2', [u, v])[0][1]:.6g}"])  # fmt: skip
    return lines


def series(run: Run) -> tuple[list[list[str]], str]:
    """e^{xz} as a sum over the features x^k/√k!."""
    x, z = 1.3, 0.9
    exact = gram(run, "expdot(gamma=1)", [[x], [z]])[0][1]
    sums = []
    for degree in range(1, 9):
        a, b = mapped(run, [[x], [z]], "--kind", "exponential", "--degree", degree)
        sums.append(dot(a, b))
    plot = Plot((1, 8), (1.5, 4.5), "e^{xz}, xz = 1.17", "features up to x^k/√k!", "Φ(x)·Φ(z)", 360, 230)
    plot.line([(1, exact), (8, exact)], INK[1], f"kernel, {exact:.4f}", 1, True)
    plot.line([(k + 1, s) for k, s in enumerate(sums)], INK[0], "partial sums")
    name = write_svg(run.picture("r13-series.svg"), [plot])
    return [["000: e^{xz}, x = 1.3, z = 0.9, first 2, 4, 8 features and the kernel", f"{math.exp(x * z):.6f}",
             f"{sums[0]:.4f}, {sums[2]:.4f}, {sums[6]:.6f}, {exact:.6f}"]], name  # fmt: skip


def lifts(run: Run) -> list[list[str]]:
    line = [[-2.0, 1], [-1.0, -1], [0.5, -1], [1.0, -1], [2.0, 1], [3.0, 1]]
    ring = [[r * math.cos(t), r * math.sin(t), s] for r, s in ((1.0, -1), (2.0, 1))
            for t in (0.3 + k * math.pi / 4 for k in range(8))]  # fmt: skip
    words = []
    for rows, lift in ((line, QUADRATIC), (ring, "polynomial(degree=2, gamma=1, coef0=0)")):
        flat, lifted = hard(run, rows, "linear"), hard(run, rows, lift)
        words.append(f"{flat['status']}; after the lift {lifted['status']}, margin {lifted['margin']:.4g}")
    return [["003: six points of a line, outer ones of one class; x → (x, x²)", "separable after the lift", words[0]],
            ["003: two rings; (x₁, x₂) → (x₁², √2x₁x₂, x₂²)", "separable after the lift: the planes z₁ + z₃ = 1 "
             f"and 4 hold the rings, margin 3/(2√2) = {3 / (2 * math.sqrt(2)):.4g}", words[1]]]  # fmt: skip


def duality(run: Run) -> list[list[str]]:
    """min x² subject to x ≤ −2 (and −3 ≤ x) is the machine through the origin with w = √2 x: its constraint
    −w/(2√2) ≥ 1 is that of the row 1/(2√2) with label −1."""
    step = 1 / (2 * math.sqrt(2))
    proof = hard(run, [[step, -1], [-step, 1]], "linear", "--no-bias")
    best = max((-(a * a + b * b) / 4 - 3 * a + 2 * b + a * b / 2, a, b)
               for a in (0.05 * k for k in range(200)) for b in (0.05 * k for k in range(200)))  # fmt: skip
    return [["004: min x², x = 2; q(λ) = −λ²/4 − 2λ", "f(2) = q(−4) = 4", f"q(−4) = {-((-4.0) ** 2) / 4 + 8:.6g}"],
            ["004: min x², −3 ≤ x ≤ −2, by the machine", "4", f"primal {proof['primal']:.6g}, dual {proof['dual']:.6g}"],
            ["004: the same, q(λ₁, λ₂) on a grid", "4 at (0, 4)", f"{best[0]:.6g} at ({best[1]:.3g}, {best[2]:.3g})"]]  # fmt: skip


def two_points(run: Run) -> list[list[str]]:
    """One step of theorem 2 solves two points."""
    trace = run.file("trace.csv")
    mercer("train", write_rows(run.file("rows.csv"), [[0.0, -1], [2.0, 1]]), "-C", 10, "--kernel", "linear",
           "--method", "smo", "--trace", trace, *LAST, "--tol", 1e-9)  # fmt: skip
    with trace.open() as file:
        first = next(csv.DictReader(file))
    told = ", ".join(f"{key} = {float(first[key]):g}" for key in ("E_1", "E_2", "curvature", "unclipped", "U", "V"))
    return [["002, theorem 2: rows 0 and 2 of two classes, one step", "α = 0 + y₂(E₁ − E₂)/𝒦 = 2/4 = ½, within [0, 10]",
             f"{told}; α = {float(first['new_alpha_1']):g}, {float(first['new_alpha_2']):g}"]]  # fmt: skip


def distances(run: Run) -> list[list[str]]:
    k = gram(run, "rbf(sigma=1)", [[0.0, 0.0], [1.0, 1.0]])
    squared = k[0][0] - 2 * k[0][1] + k[1][1]
    return [["002: ‖φ(x) − φ(z)‖² = K(x,x) − 2K(x,z) + K(z,z), Gaussian, x = (0,0), z = (1,1)",
             f"2 − 2e⁻¹ = {2 - 2 / math.e:.6f}", f"{squared:.6f}"]]  # fmt: skip


def make(run: Run) -> Result:
    summed, picture = series(run)
    rows = products(run) + summed + lifts(run) + duality(run) + two_points(run) + distances(run)
    return Result(
        "R13", "Worked examples", "000, 002, 003 and 004, throughout", "worked_examples.py",
        "reproduced, every one of them to the digits shown",
        [Table(["example", "the lecture", "the program"], rows)],
        ["004 calls the image of (1, −1) seven-dimensional: there are six monomials up to order 2 of two variables. "
         "002 writes the distance of two images without its square, and the Gaussian with ‖x − z‖ where it needs "
         "‖x − z‖². The program does what the derivations need."],
        [(picture, "000: the kernel e^{xz} and the sum over its first features.")],
        {"rows": [row[2] for row in rows]},
    )  # fmt: skip


if __name__ == "__main__":
    main(make)
