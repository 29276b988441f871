"""R16: USPS error against λ of the tangent covariance (001, "USPS Digit Recognition Application").

    python3 repro/tangent_usps.py [--quick]

Chapelle and Schölkopf 2002. Four translations by half a pixel. Test error against λ, λ = 1 being the machine as it was: a
linear machine on B x, and a linear machine on B ψ(x) with ψ the kernel PCA map of a Gaussian kernel.
"""

from __future__ import annotations

import gzip

from common import data_file, mercer
from draw import INK, Plot, write_svg
from frame import Result, Run, Table, main

LAMBDAS = (1, 0.8, 0.6, 0.4, 0.2, 0.1, 0.05, 0.02)
WAYS = {
    "linear": ("0.1", ()),
    "kernel PCA map": ("10", ("--kernel", "rbf(gamma=0.0078125)", "--landmarks", "2000", "--components", "500")),
}


def rows_of(run: Run, name: str, count: int) -> object:
    """The data file, or its first rows."""
    source = data_file(f"usps/zip.{name}.gz")
    if not run.quick:
        return source
    target = run.file(f"tangent-{name}.csv")
    with gzip.open(source, "rt") as file:
        target.write_text("".join(",".join(next(file).split()) + "\n" for _ in range(count)))
    return target


def error(run: Run, cost: str, words: tuple[str, ...], value: float, sample, fresh) -> float:
    train, test, model = run.file("tangent-train.npz"), run.file("tangent-test.npz"), run.file("tangent.mercer")
    common = ("--label", "first", "--with", "shift(0.5)", "--background", "-1", "--lambda", value, "--relative", *words)
    mercer("tangent", sample, *common, "-o", train)
    mercer("tangent", fresh, "--sample", sample, *common, "-o", test)
    mercer("train", train, model, "--kernel", "linear", "-C", cost)
    return 100 * (1 - mercer("predict", model, test, "-o", run.file("labels.txt"))["accuracy"])


def make(run: Run) -> Result:
    lambdas = LAMBDAS[::4] if run.quick else LAMBDAS
    ways = dict(list(WAYS.items())[:1]) if run.quick else WAYS
    sample, fresh = rows_of(run, "train", 600), rows_of(run, "test", 200)
    curves = {name: [error(run, cost, words, value, sample, fresh) for value in lambdas]
              for name, (cost, words) in ways.items()}  # fmt: skip
    plot = Plot((0, len(lambdas) - 1), (0, 10), "USPS test error", "λ (left: as it was)", "%", 460, 260,
                x_names=[f"{v:g}" for v in lambdas])  # fmt: skip
    for k, (name, curve) in enumerate(curves.items()):
        plot.line(list(enumerate(curve)), INK[k], name)
        plot.points(list(enumerate(curve)), INK[k], 2.5)
    fall = [curve[0] - min(curve) for curve in curves.values()]
    return Result(
        "R16", "USPS error against λ", "001, USPS Digit Recognition Application", "tangent_usps.py",
        "a picture, the error falls by " + " and ".join(f"{f:.1f}" for f in fall) + " points from its left end",
        [Table(["λ", *(f"{v:g}" for v in lambdas)],
               [[name, *(f"{v:.2f}" for v in curve)] for name, curve in curves.items()], "Test error %")],
        ["The lecture prints a curve without figures: the standard machine at its left, a lower error in between. C_λ is "
         "(1 − λ) C + λ I with C divided by its mean eigenvalue, so that λ has no unit; the source's scale of λ is not "
         "known, so that only the shapes can be compared. C = 0.1 and 10 for the two machines; 500 components of "
         "the map through 2000 digits. All λ are shown; none was chosen."],
        [(write_svg(run.picture("r16-lambda.svg"), [plot]), "Test error against λ for four translations by half a pixel.")],
        {"curves": curves},
    )  # fmt: skip


if __name__ == "__main__":
    main(make)
