"""What may be compared, and how it is summed up. Pure functions."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

WORST_OBJECTIVE = 1e-4  # relative to the best of the case; worse is void
MOST_OTHERS = 0.15  # cores; above, a row is said to be disturbed
WORST_BREACH = 1e-3  # of a bound or of Σβ = 0, relative to C: such a value proves nothing


@dataclasses.dataclass
class Row:
    """What one peer did on one case."""

    case: str
    peer: str
    status: str = "ok"  # ok, void, limit, absent, unsupported, failed
    load: float | None = None  # seconds
    train: float | None = None
    again: float | None = None  # the best further training in the same process
    predict: float | None = None
    objective: float | None = None  # of the dual, to be maximised; bench/tools/dual_objective.cpp
    infeasibility: float | None = None
    score: float | None = None  # accuracy, mean squared error or fraction inside
    support_vectors: int | None = None
    peak_mib: float | None = None
    threads: int = 1
    runs: int = 0
    others: float | None = None  # cores that other work took meanwhile
    note: str = ""

    def counts(self) -> bool:
        return self.status == "ok" and self.train is not None

    def disturbed(self) -> bool:
        return self.others is not None and self.others > MOST_OTHERS


def judge(rows: Iterable[Row]) -> None:
    """Marks as void, within each case, what did not solve the problem the others solved."""
    by_case: dict[str, list[Row]] = {}
    for row in rows:
        if row.status in ("ok", "void"):
            by_case.setdefault(row.case, []).append(row)
    for group in by_case.values():
        for row in group:
            reason = _breach(row)
            row.status = "void" if reason else "ok"
            if reason:
                row.note = reason
        values = [row.objective for row in group if row.status == "ok"]
        best = max((value for value in values if value is not None), default=0.0)
        for row in group:
            if row.status == "ok" and row.objective is not None:
                behind = relative_loss(row.objective, best)
                if behind > WORST_OBJECTIVE:
                    row.status, row.note = "void", f"objective {behind:.1e} behind the best"


def _breach(row: Row) -> str:
    if row.objective is None or not math.isfinite(row.objective):
        return "no objective"
    if row.infeasibility is not None and row.infeasibility > WORST_BREACH:
        return f"breaks the constraints by {row.infeasibility:.1e}"
    return ""


def relative_loss(value: float, best: float) -> float:
    """How far a value to be maximised stays behind the best one."""
    scale = abs(best)
    return (best - value) / scale if scale > 0 else best - value


def ratio(theirs: Row, ours: Row) -> float | None:
    """How many times faster ours trained; None where a row does not count."""
    if not (theirs.counts() and ours.counts()):
        return None
    return theirs.train / ours.train  # type: ignore[operator]


def once(rows: Iterable[Row], library: str) -> list[Row]:
    """The first training of each peer; ours is the program's."""
    return [row for row in rows if row.peer != library]


def again(rows: Iterable[Row], ours: str, library: str) -> list[Row]:
    """Further trainings in one process; ours are the package's, under the name of ours."""
    found = []
    for row in rows:
        if row.peer == ours or (row.status in ("ok", "void") and row.again is None):
            continue
        peer = ours if row.peer == library else row.peer
        found.append(dataclasses.replace(row, peer=peer, train=row.again))
    return found


def geometric_mean(values: Iterable[float]) -> float | None:
    logs = [math.log(value) for value in values]
    return math.exp(math.fsum(logs) / len(logs)) if logs else None


def growth_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float | None:
    """Slope of the least-squares line through log seconds over log rows."""
    if len(sizes) < 2 or len(set(sizes)) < 2:
        return None
    x = [math.log(size) for size in sizes]
    y = [math.log(second) for second in seconds]
    mx, my = math.fsum(x) / len(x), math.fsum(y) / len(y)
    return math.fsum((a - mx) * (b - my) for a, b in zip(x, y)) / math.fsum(
        (a - mx) ** 2 for a in x
    )


def fastest_other(rows: Iterable[Row], ours: str, libsvm: Sequence[str]) -> Row | None:
    """The quickest peer that is neither ours nor LIBSVM, of one case."""
    others = [row for row in rows if row.counts() and row.peer != ours and row.peer not in libsvm]
    return min(others, key=lambda row: row.train or math.inf, default=None)
