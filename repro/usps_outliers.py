"""R6: outliers among the 2007 USPS test digits, ν = 5 % (001, "USPS Handwritten Digit Outlier Detection").

    python3 repro/usps_outliers.py [--quick]

Schölkopf and others 2001: Gaussian kernel exp(-‖x - z‖²/c), c = 0.5 · 256, and the ten class labels appended to
the pixels as unary code, so that a digit under a wrong label can be an outlier too. The worst, ranked by f(x) - ρ.
"""

from __future__ import annotations

import gzip
import random

from common import Row, data_file, mercer, write_rows, write_sheet
from frame import Result, Run, Table, main

NU, WIDTH, SHOWN = 0.05, 128, 60


def digits(count: int) -> list[tuple[int, Row]]:
    with gzip.open(data_file("usps/zip.test.gz"), "rt") as file:
        lines = [line.split() for line in file][:count]
    return [(int(float(words[0])), [float(v) for v in words[1:]]) for words in lines]


def make(run: Run) -> Result:
    sample = digits(400 if run.quick else 2007)
    coded = [row + [1.0 if k == label else 0.0 for k in range(10)] for label, row in sample]
    model, source, target = run.file("outliers.mercer"), run.file("digits.csv"), run.file("values.txt")
    write_rows(source, coded)
    report = mercer("train", source, model, "--task", "one-class", "--nu", NU, "--kernel", f"rbf(c={WIDTH})",
                    "--label", "none", "--header", "no", "--tol", 1e-5)  # fmt: skip
    mercer("predict", model, source, "--label", "none", "--header", "no", "--decision", "-o", target)
    values = [float(line.split()[-1]) for line in target.read_text().splitlines()[1:]]
    proof, count = report["certificate"], len(sample)
    ranked = sorted(range(count), key=lambda i: values[i])
    worst = ranked[: min(SHOWN, max(20, proof["margin_errors"]))]  # from there on they lie on the edge
    lines = [[sample[i][1] for i in worst[k : k + 20]] for k in range(0, len(worst), 20)]
    write_sheet(run.picture("r6-outliers.png"), lines, 16, -1, 1, 2)
    typical = random.Random(1).sample(range(count), 20)
    write_sheet(run.picture("r6-typical.png"), [[sample[i][1] for i in typical]], 16, -1, 1, 2)
    labels = ["".join(str(sample[i][0]) for i in worst[k : k + 20]) for k in range(0, len(worst), 20)]
    held = [sum(sample[i][0] == k for i in ranked[: round(NU * count)]) for k in range(10)]
    share = proof["margin_errors"] / count
    vectors = proof["support_vectors"] / count
    return Result(
        "R6", "Outliers among USPS digits", "001, USPS Handwritten Digit Outlier Detection", "usps_outliers.py",
        f"a picture, {proof['margin_errors']} outliers of {count} at ν = 5 %",
        [Table(["share %", "ν", "outliers", "support vectors"],
               [["printed", "5", "–", "–"], ["ours", "5", f"{100 * share:.2f}", f"{100 * vectors:.2f}"]]),
         Table(["class", *map(str, range(10))], [[f"among the worst {round(NU * count)}", *map(str, held)]])],
        ["Labels of the worst, in their order: " + ", ".join(labels) + ". The lecture shows a ranked picture and no "
         "figures. Kernel and unary labels are those of the source, where the outliers are odd shapes and digits under a "
         "wrong or doubtful label, as here.",
         f"Outliers ≤ ν ≤ support vectors: {100 * share:.2f} ≤ 5 ≤ {100 * vectors:.2f} %."],
        [("r6-typical.png", "A random selection of the test digits."),
         ("r6-outliers.png", f"The {len(worst)} worst of {count}, the worst first.")],
        {"outliers": share, "vectors": vectors, "nu": NU},
    )  # fmt: skip


if __name__ == "__main__":
    main(make)
