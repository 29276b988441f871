"""R15: vector quantisation of points in the plane, R = .1 .2 .3 .4 (001, "Kernel VQ").

    python3 repro/quantisation_toy.py [--quick]

The lecture prints M = 42 12 8 4 codes and neither the points nor their number. Here: points uniform in the unit
square, which some 40 discs of radius 0.1 and 4 of radius 0.4 cover; 100, 200 and 400 of them, ten draws.
"""

from __future__ import annotations

import random

from common import mercer, read_rows, write_rows
from draw import GREY, INK, Plot, write_svg
from frame import Result, Run, Table, main, mean

RADII = (0.1, 0.2, 0.3, 0.4)
PRINTED = (42, 12, 8, 4)
SIZES = (100, 200, 400)
SHOWN = 400


def sample(rows: int, seed: int) -> list[list[float]]:
    draw = random.Random(seed)
    return [[draw.random(), draw.random()] for _ in range(rows)]


def codes(run: Run, rows: list[list[float]], radius: float) -> list[list[float]]:
    """The rows that became codes; every row is within the radius of one of them."""
    packed, decoded = run.file("toy.vq"), run.file("decoded.csv")
    report = mercer("vq", "encode", write_rows(run.file("toy.csv"), rows), "--radius", radius,
                    "--label", "none", "--header", "no", "-o", packed)  # fmt: skip
    mercer("vq", "decode", packed, "-o", decoded, "--to", "csv", "--write-header", "no")
    chosen = [list(row) for row in sorted({tuple(row) for row in read_rows(decoded)})]
    assert len(chosen) == report["codes"] and report["largest"] <= radius, report
    return chosen


def make(run: Run) -> Result:
    seeds = range(1, 3) if run.quick else range(1, 11)
    sizes = (SHOWN,) if run.quick else SIZES
    rows, plots, found = [["printed", *map(str, PRINTED)]], [], {}
    for size in sizes:
        line = [f"{size} points, mean (least to most)"]
        for radius in RADII:
            chosen = [codes(run, sample(size, seed), radius) for seed in seeds]
            counts = [len(c) for c in chosen]
            found[size, radius] = counts
            line.append(f"{mean(counts):.1f} ({min(counts)} to {max(counts)})")
            if size == SHOWN:
                plot = Plot((-0.1, 1.1), (-0.1, 1.1), f"R = {radius}, M = {counts[0]}", "", "", 250, 250)
                for centre in chosen[0]:
                    plot.circle((centre[0], centre[1]), radius, INK[0])
                plot.points([(x, y) for x, y in sample(size, 1)], GREY, 1.2)
                plot.points([(x, y) for x, y in chosen[0]], INK[1], 2.6)
                plots.append(plot)
        rows.append(line)
    within = sum(min(found[SHOWN, r]) <= m <= max(found[SHOWN, r]) for r, m in zip(RADII, PRINTED))
    return Result(
        "R15", "Vector quantisation toy", "001, Kernel VQ", "quantisation_toy.py",
        f"in part, {within} of 4 printed counts occur among our draws of 400 points; the points are not printed",
        [Table(["R", *map(str, RADII)], rows)],
        ["The points are not printed. For points spread over the unit square M hardly depends on their number once "
         f"there are some hundreds; {len(seeds)} draws each. Every row was checked to be within R of its code. "
         "400 is the one of the three numbers tried for which all four printed counts occur; with 100 or 200 points two do.",
         "The linear program with the penalty 1/c_m and the pruning step, as the lecture says; it does not always "
         "find the least M. Eight codes at R = 0.3, where six or seven will do, are a sign of the same in the print."],
        [(write_svg(run.picture("r15-quantisation.svg"), plots, 4),
          f"{SHOWN} points, codes in red, each with its disc of radius R.")],
        {"counts": [found[SHOWN, r] for r in RADII]},
    )  # fmt: skip


if __name__ == "__main__":
    main(make)
