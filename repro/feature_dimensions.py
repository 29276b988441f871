"""R17: the dimension of polynomial feature spaces (000's table; 001, "General Product Feature Space").

    python3 repro/feature_dimensions.py [--quick]

The monomials of order d in N variables are (N + d - 1 over d); ordered products, N^d. The program's explicit
map is counted for small N, and the rank of a Gram matrix of enough random points besides.
"""

from __future__ import annotations

import math
import random

from common import mercer, read_rows, write_rows
from frame import Result, Run, Table, main

PRINTED = {1: "256", 2: "33,000", 3: "10⁶", 4: "10⁹", 5: "10¹²", 6: "10¹⁴", 7: "10¹⁶"}


def short(value: int) -> str:
    if value < 10**6:
        return str(value)
    digits, power = f"{value:.2e}".split("e")
    return f"{digits}·10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(c)] for c in str(int(power)))


def counted(run: Run, columns: int, degree: int) -> tuple[int, int]:
    """Columns of the explicit map, and the rank of the kernel on more points than that."""
    draw = random.Random(columns * 10 + degree)
    expected = math.comb(columns + degree - 1, degree)
    rows = [[draw.gauss(0, 1) for _ in range(columns)] for _ in range(expected + 8)]
    source, target = write_rows(run.file("points.csv"), rows), run.file("mapped.csv")
    plain = ("--label", "none", "--header", "no")
    mercer("map", source, *plain, "--kind", "monomial", "--degree", degree, "--coef0", 0,
           "--write-header", "no", "-o", target)  # fmt: skip
    kernel = f"polynomial(degree={degree}, gamma=1, coef0=0)"
    report = mercer("kernel", kernel, "--data", source, *plain, "--double", "--sample", 0)
    return len(read_rows(target)[0]), report["data"]["numerical_rank"]


def make(run: Run) -> Result:
    size = 16 * 16
    rows = [["printed", *PRINTED.values()]]
    rows.append(["monomials of order d", *(short(math.comb(size + d - 1, d)) for d in PRINTED)])
    rows.append(["ordered products, N^d", *(short(size**d) for d in PRINTED)])
    cases = [(n, d) for n in (2, 3, 4) for d in (2, 3)] + ([] if run.quick else [(5, 4), (4, 5), (8, 3)])
    checks = []
    for columns, degree in cases:
        features, rank = counted(run, columns, degree)
        expected = math.comb(columns + degree - 1, degree)
        checks.append([f"N = {columns}, d = {degree}", str(expected), str(features), str(rank)])
    agree = all(row[1] == row[2] == row[3] for row in checks)
    return Result(
        "R17", "Dimensions of feature spaces", "000, table 12.7; 001, General Product Feature Space",
        "feature_dimensions.py",
        "in part, degrees 1 and 2 exactly and 5 as in 001; 000 counts ordered products from degree 4 on",
        [Table(["N = 256, degree", *map(str, PRINTED)], rows),
         Table(["counted by the program", "(N+d−1 over d)", "columns of the map", "rank of the Gram matrix"], checks)],
        ["000 prints rounded powers of ten. 256 and 33,000 are the numbers of monomials; 10⁹, 10¹² and 10¹⁴ for degrees 4 "
         "to 6 are the ordered products, in which x₁x₂ and x₂x₁ count twice, though the kernel is the same. "
         f"001's 10¹⁰ for N = 16 × 16 and d = 5 is {short(math.comb(size + 4, 5))} monomials; its 3.2·10²⁰ for MNIST and "
         f"degree 9 is {short(math.comb(784 + 8, 9))}.",
         "The program's explicit map and the numerical rank of the kernel on random points agree with the formula in "
         "every case tried." if agree else "The counts above do not all agree."],
        [], {"agree": agree},
    )  # fmt: skip


if __name__ == "__main__":
    main(make)
