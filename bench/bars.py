"""What Mercer sets itself to reach, against what was measured. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench import judge, tables
from bench.judge import Row

LIBSVM_MEAN = 25.0  # geometric mean over the suite
OTHERS_MEAN = 2.0  # the same against the fastest other peer of each case
MNIST = 50.0
EXPONENT = 0.3  # below LIBSVM's


def line(what: str, value: str, wanted: str, met: bool) -> str:
    return f"{what}: {value} (wanted: {wanted}) {'met' if met else 'MISSED'}"


def training(rows: Sequence[Row], ours: str, libsvm: Sequence[str]) -> list[str]:
    """Means against the faster LIBSVM and the fastest other peer; where anyone is faster."""
    by_case: dict[str, list[Row]] = {}
    for row in rows:
        by_case.setdefault(row.case, []).append(row)
    against: dict[str, list[float]] = {"LIBSVM": [], "others": []}
    slower, lines = [], []
    for case, group in by_case.items():
        mine = next((row for row in group if row.peer == ours and row.counts()), None)
        if mine is None:
            lines.append(line(case, "no row of ours that counts", "one", False))
            continue
        ratios = {row.peer: judge.ratio(row, mine) or 0.0 for row in group
                  if row.counts() and row.peer != ours}  # fmt: skip
        slower += [f"{case} ({peer}, {value:.2f})" for peer, value in ratios.items() if value < 1]
        theirs = [value for peer, value in ratios.items() if peer in libsvm]
        others = [value for peer, value in ratios.items() if peer not in libsvm]
        against["LIBSVM"] += [min(theirs)] if theirs else []
        against["others"] += [min(others)] if others else []
        if case == "mnist" and theirs:
            lines.append(_at_least("MNIST against the faster LIBSVM", min(theirs), MNIST))
    for name, wanted in (("LIBSVM", LIBSVM_MEAN), ("others", OTHERS_MEAN)):
        mean = judge.geometric_mean(against[name])
        if mean is not None:
            said = f"geometric mean of {len(against[name])} cases, fastest of {name}"
            lines.append(_at_least(said, mean, wanted))
    lines.append(line("slower than a peer on", "; ".join(slower) or "none", "none", not slower))
    return lines


def _at_least(what: str, value: float, wanted: float) -> str:
    return line(what, tables.times(value), f"at least {tables.times(wanted)}", value >= wanted)


def growth(points: Sequence[Mapping[str, Any]], ours: str) -> list[str]:
    """The exponent of the training time in the rows, beside the peer's."""
    exponents: dict[str, dict[str, float]] = {}
    for (case, peer), group in tables.series(points).items():
        value = judge.growth_exponent([n for n, _ in group], [t for _, t in group])
        if value is not None:
            exponents.setdefault(case, {})[peer] = value
    lines = []
    for case, found in exponents.items():
        others = [value for peer, value in found.items() if peer != ours]
        if ours in found and others:
            most = others[0] - EXPONENT
            value = found[ours]
            said = f"{value:.2f} against {others[0]:.2f}"
            lines.append(line(f"growth on {case}", said, f"at most {most:.2f}", value <= most))
    return lines
