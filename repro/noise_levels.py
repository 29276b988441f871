"""R14: ν-SVR and ε-SVR on the same data with little and with much noise (001, "Automatic Tube Tuning").

    python3 repro/noise_levels.py [--quick]

The sinc data of R3, 50 rows, C = 100/m a row, with noise of deviation 0 and 1 as in Schölkopf and others
2000 (their figures 2 and 3), ν = 0.2 and ε = 0.2 for both; besides 0.2 and 0.5.
"""

from __future__ import annotations

from common import mercer, read_rows, write_rows
from draw import GREY, INK, Plot, write_svg
from frame import Result, Run, Table, main

NOISES = (0.0, 0.2, 0.5, 1.0)
SHOWN = (0.0, 1.0)
ROWS, SEED, COST = 50, 3, 100
WAYS = {"ν = 0.2": ("nu-svr", "--nu", 0.2), "ε = 0.2": ("svr", "--epsilon", 0.2)}


def fit(run: Run, sample, way: tuple) -> tuple[dict, list[tuple[float, float]], list[int]]:
    """Report, the function over [-3, 3], and the support vectors' rows."""
    model, places = run.file("noise.mercer"), run.file("places.csv")
    task, *words = way
    report = mercer("train", sample, model, "--task", task, *words, "-C", COST / ROWS,
                    "--kernel", "rbf(gamma=1)", "--double-precision", "--tol", 1e-5)  # fmt: skip
    along = [-3 + 0.05 * k for k in range(121)]
    write_rows(places, [[x] for x in along])
    values = run.file("values.txt")
    mercer("predict", model, places, "--label", "none", "--header", "no", "-o", values)
    return report, list(zip(along, map(float, values.read_text().split())))


def make(run: Run) -> Result:
    plots, rows, widths = [], [], {}
    for name, way in WAYS.items():
        found = []
        for noise in NOISES:
            sample = run.file("noise.csv")
            mercer("make", "sinc", "--n", ROWS, "--noise", noise, "--seed", SEED, "-o", sample,
                   "--write-header", "no")  # fmt: skip
            report, curve = fit(run, sample, way)
            proof = report["certificate"]
            width = proof["epsilon"] if way[0] == "nu-svr" else 0.2
            found.append(f"{width:.3f}, {proof['margin_errors'] / ROWS:.2f}, {proof['support_vectors'] / ROWS:.2f}")
            if way[0] == "nu-svr":
                widths[noise] = width
            if noise not in SHOWN:
                continue
            plot = Plot((-3, 3), (-2, 3), f"{name}, noise {noise:g}: ε = {width:.2f}", "x", "y", 330, 240)
            plot.band([(x, f - width) for x, f in curve], [(x, f + width) for x, f in curve], INK[0], "tube")
            plot.line(curve, INK[0], "f(x)")
            points = [(row[0], row[1]) for row in read_rows(sample)]
            plot.points(points, GREY, 1.8, "data")
            plots.append(plot)
        rows.append([name, *found])
    picture = write_svg(run.picture("r14-noise.svg"), plots)
    return Result(
        "R14", "ν against ε at two noise levels", "001, ν-SV-Regression: Automatic Tube Tuning",
        "noise_levels.py", "a picture, the tube of ν-SVR follows the noise and that of ε-SVR cannot",
        [Table(["ε, errors, SVs at noise"] + [f"{v:g}" for v in NOISES], rows)],
        ["One machine each, 50 rows, the deviation of the noise as the column says. With ν = 0.2 the width is found: "
         "next to nothing without noise, wider than all of the signal with much of it. ε = 0.2 is too wide in the "
         "first picture, where it flattens the function, and too narrow in the second, where most rows become "
         "support vectors."],
        [(picture, "The same machine parameters at two noise levels: ν = 0.2 above, ε = 0.2 below.")],
        {"widths": [widths[v] for v in NOISES]},
    )  # fmt: skip


if __name__ == "__main__":
    main(make)
