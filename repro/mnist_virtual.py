"""MNIST with virtual support vectors (001, "MNIST Error Rates"; DeCoste and Schölkopf 2002).

    python3 repro/mnist_virtual.py

A polynomial of degree 9, as it is; on deskewed digits; and on its support vectors with their images
moved by one pixel in eight and by two pixels in four directions; last with rotations, scalings, shears,
strokes and elastic changes besides. Some ten minutes on two processors.
"""

from __future__ import annotations

import time

from common import OUT, data_file, mercer

KERNEL = ("--kernel", "0.001953125*(normalize(linear) + 1)^9", "--memory", "5000")


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    begun = time.time()
    train = data_file("mnist/train-images-idx3-ubyte.gz")
    test = data_file("mnist/t10k-images-idx3-ubyte.gz")
    straight, straight_test = OUT / "straight.npz", OUT / "straight-test.npz"
    deskew = ("--with", "deskew", "--replace", "-o")
    mercer("virtual", train, *deskew, straight)
    mercer("virtual", test, *deskew, straight_test)
    lines = ["| machine | training rows | support vectors | test error % | seconds so far |",
             "|---|---|---|---|---|"]  # fmt: skip

    def fit(name: str, rows, tests, model, cost: int = 2) -> None:
        report = mercer("train", rows, model, *KERNEL, "-C", cost)
        right = mercer("predict", model, tests, "-o", OUT / "labels.txt")["accuracy"]
        lines.append(f"| {name} | {report['rows']} | {report['support_vectors']} | {100 * (1 - right):.2f} | "
                     f"{time.time() - begun:.0f} |")  # fmt: skip

    fit("degree 9", train, test, OUT / "plain.mercer", 5)
    first = OUT / "straight.mercer"
    fit("degree 9, deskewed", straight, straight_test, first)
    more = OUT / "more.npz"
    shifts = "shift(1), shift(2)"
    others = "rotate(8), scale(1.1), shear(0.15), thicken(0.3), elastic(0.8)"
    for name, ways in (("two pixels", shifts), ("two pixels and more", f"{shifts}, {others}")):
        mercer("virtual", straight, "--support", first, "--with", ways, "-o", more)
        fit(f"virtual support vectors, {name}", more, straight_test, OUT / "virtual.mercer")
    table = "\n".join(lines) + "\n"
    print(table, end="")
    (OUT / "mnist_virtual.md").write_text(table)


if __name__ == "__main__":
    main()
