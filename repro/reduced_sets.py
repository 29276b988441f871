"""Reduced sets of ten-class machines (001, "Speeding up the decision rule").

    python3 repro/reduced_sets.py [usps] [mnist]

Gaussian machines, one per pair of digits, reduced to a tenth of their vectors, shared by all 45 pairs:
chosen, and moved together. Prints vectors, squared distance, test accuracy and changed predictions.
"""

from __future__ import annotations

import sys

from common import OUT, data_file, mercer, write_table

SETS = {
    "usps": ("usps/zip.train.gz", "usps/zip.test.gz", ("--label", "first"),
             ("--kernel", "rbf(gamma=0.0078125)")),
    "mnist": ("mnist/train-images-idx3-ubyte.gz", "mnist/t10k-images-idx3-ubyte.gz", (),
              ("--kernel", "rbf(gamma=0.02)", "--scale", "1/255")),
}  # fmt: skip


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    lines = ["| data | vectors | way | ‖w − w'‖² / ‖w‖² | accuracy % | changed % | seconds |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    for name in sys.argv[1:] or SETS:
        train, test, reading, kernel = SETS[name]
        model = OUT / f"{name}.mercer"
        mercer("train", data_file(train), model, "-C", 10, *kernel, *reading)
        for way, words in (("chosen", ("--no-joint",)), ("chosen and moved", ("--iterations", 100))):
            report = mercer("reduce", model, OUT / f"{name}-small.mercer", "--speedup", 10,
                            "--data", data_file(test), *reading, *words)  # fmt: skip
            data = report["data"]
            if way == "chosen":
                lines.append(f"| {name} | {report['vectors_before']} | whole | 0 | "
                             f"{100 * data['accuracy_before']:.2f} | 0 | |")  # fmt: skip
            lines.append(f"| {name} | {report['vectors']} | {way} | {report['relative_distance']:.3f} | "
                         f"{100 * data['accuracy']:.2f} | {100 * data['changed']:.2f} | "
                         f"{report['seconds']:.1f} |")  # fmt: skip
    write_table("reduced_sets", lines)


if __name__ == "__main__":
    main()
