"""R12: a tube of constant radius and one of the shape ζ(x) = sin²((2π/3) x) (001, "Parametric Error Models").

    python3 repro/parametric_tube.py [--quick]

Schölkopf and others 2000, figure 5: the sinc function with noise that is modulated by ζ, ν = 0.1.
"""

from __future__ import annotations

import math
import random

from common import mercer, write_rows
from draw import GREY, INK, Plot, write_svg
from frame import Result, Run, Table, deviation, main, mean

ROWS, NU, COST, NOISE = 200, 0.1, 100, 1.0
SHAPE = "sin(2*pi/3*x0)^2"
WAYS = {"constant": (), "ζ(x)": ("--tube", SHAPE)}


def zeta(x: float) -> float:
    return math.sin(2 * math.pi / 3 * x) ** 2


def sinc(x: float) -> float:
    return math.sin(math.pi * x) / (math.pi * x) if x else 1.0


def sample(seed: int) -> list[list[float]]:
    draw = random.Random(seed)
    return [[x, sinc(x) + draw.gauss(0, NOISE) * zeta(x)]
            for x in (draw.uniform(-3, 3) for _ in range(ROWS))]  # fmt: skip


def fit(run: Run, rows: list[list[float]], way: tuple) -> tuple[dict, list[tuple[float, float]]]:
    model, places, values = run.file("tube.mercer"), run.file("places.csv"), run.file("values.txt")
    report = mercer("train", write_rows(run.file("tube.csv"), rows), model, "--task", "nu-svr", "--nu", NU,
                    "-C", COST / ROWS, "--kernel", "rbf(gamma=1)", "--label", "last", "--header", "no",
                    "--double-precision", *way)  # fmt: skip
    along = [-3 + 0.02 * k for k in range(301)]
    write_rows(places, [[x] for x in along])
    mercer("predict", model, places, "--label", "none", "--header", "no", "-o", values)
    return report["certificate"], list(zip(along, map(float, values.read_text().split())))


def make(run: Run) -> Result:
    seeds = range(1, 3) if run.quick else range(1, 11)
    errors: dict[str, list[float]] = {name: [] for name in WAYS}
    tubes: dict[str, list[float]] = {name: [] for name in WAYS}
    plots = []
    for seed in seeds:
        rows = sample(seed)
        for name, way in WAYS.items():
            proof, curve = fit(run, rows, way)
            errors[name].append(math.sqrt(mean([(f - sinc(x)) ** 2 for x, f in curve])))
            tubes[name].append(proof["epsilon"])
            if seed > 1:
                continue
            width = [proof["epsilon"] * (zeta(x) if way else 1) for x, _ in curve]
            plot = Plot((-3, 3), (-2, 3), f"{name} tube, ε = {proof['epsilon']:.2f}", "x", "y", 360, 260)
            plot.band([(x, f - w) for (x, f), w in zip(curve, width)],
                      [(x, f + w) for (x, f), w in zip(curve, width)], INK[0], "tube")  # fmt: skip
            plot.points([(x, y) for x, y in rows], GREY, 1.6, "data")
            plot.line([(x, sinc(x)) for x, _ in curve], INK[1], "the function", 1.2, True)
            plot.line(curve, INK[0], "estimate")
            plots.append(plot)
    picture = write_svg(run.picture("r12-tube.svg"), plots)
    table = [[name, f"{mean(tubes[name]):.3f} ± {deviation(tubes[name]):.3f}",
              f"{mean(errors[name]):.4f} ± {deviation(errors[name]):.4f}"] for name in WAYS]  # fmt: skip
    better = sum(b < a for a, b in zip(*errors.values()))
    return Result(
        "R12", "A tube of parametric shape", "001, Parametric Error Models", "parametric_tube.py",
        f"a picture, the shaped tube is nearer to the function in {better} of {len(seeds)} draws",
        [Table(["tube", "ε", "RMS distance of f from the function"], table)],
        [f"{ROWS} rows, noise of deviation ζ(x), ν = {NU}, C = 100/m a row, mean and deviation of "
         f"{len(seeds)} draws. Where ζ vanishes the data has no noise and the shaped tube has no width, so it takes "
         "those rows at their word; the constant tube must treat all alike."],
        [(picture, "Constant radius, and the shape ζ(x) = sin²((2π/3)x); first draw.")],
        {"errors": [mean(e) for e in errors.values()], "better": better},
    )  # fmt: skip


if __name__ == "__main__":
    main(make)
