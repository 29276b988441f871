"""Results as Markdown tables, which are also what the terminal shows. Pure functions."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from bench import judge
from bench.judge import Row

NOTHING = "–"
LONGEST_REMARK = 70


def width(text: str) -> int:
    return sum(0 if unicodedata.combining(c) else 1 for c in text)


def markdown(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose columns line up; all but the first are numbers and stand to the right."""
    widths = [max(width(line[k]) for line in (headers, *rows)) for k in range(len(headers))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell + " " * (w - width(cell)) if k == 0 else " " * (w - width(cell)) + cell
            for k, (cell, w) in enumerate(zip(cells, widths))
        ]
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * widths[0], *("-" * (w - 1) + ":" for w in widths[1:])]
    return "\n".join([line(headers), line(rule), *(line(row) for row in rows)])


def seconds(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def times(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:.0f}×" if value >= 100 else f"{value:.2g}×" if value < 10 else f"{value:.1f}×"


def state(row: Row, limit: float) -> str:
    """What stands in place of a time that does not count."""
    return f"> {limit:g} s" if row.status == "limit" else row.status


def score(case_task: str, value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"mse {value:.4g}" if case_task == "svr" else f"{100 * value:.2f} %"


def details(rows: Sequence[Row], tasks: Mapping[str, str], titles: Mapping[str, str],
            limit: float) -> str:  # fmt: skip
    headers = ("case, peer", "load s", "train s", "predict s", "dual objective", "breach", "score",
               "support", "peak MiB", "threads", "remark")  # fmt: skip
    lines = []
    for row in rows:
        name = f"{row.case}, {titles[row.peer]}"
        if row.status not in ("ok", "void"):
            lines.append((name, *[NOTHING] * 9, _remark(state(row, limit), row.note)))
            continue
        lines.append((
            name, seconds(row.load), seconds(row.train), seconds(row.predict),
            NOTHING if row.objective is None else f"{row.objective:.8g}",
            NOTHING if row.infeasibility is None else f"{row.infeasibility:.0e}",
            score(tasks[row.case], row.score), str(row.support_vectors),
            f"{row.peak_mib or 0:.0f}", str(row.threads),
            _remark("void" if row.status == "void" else "", _disturbed(row)),
        ))  # fmt: skip
    return markdown(headers, lines)


def _disturbed(row: Row) -> str:
    """The note, and that other work was in the way."""
    said = f"disturbed, others took {row.others:.1f} cores" if row.disturbed() else ""
    return "; ".join(part for part in (row.note, said) if part)


def _remark(word: str, note: str) -> str:
    text = ": ".join(part for part in (word, note.replace("|", "/")) if part)
    return text if len(text) <= LONGEST_REMARK else text[: LONGEST_REMARK - 1] + "…"


def ratios(rows: Sequence[Row], peers: Sequence[str], titles: Mapping[str, str], ours: str,
           libsvm: Sequence[str], limit: float) -> str:  # fmt: skip
    """How many times faster ours trains than each peer, and the geometric means."""
    cases = list(dict.fromkeys(row.case for row in rows))
    found = {(row.case, row.peer): row for row in rows}
    others = [peer for peer in peers if peer != ours]
    columns: dict[str, list[float]] = {peer: [] for peer in (*others, "fastest")}
    lines = []
    for case in cases:
        mine = found.get((case, ours))
        cells = [case, _own(mine, limit)]
        for peer in others:
            cells.append(_ratio_cell(found.get((case, peer)), mine, limit, columns[peer]))
        group = [row for row in rows if row.case == case]
        fastest = judge.fastest_other(group, ours, libsvm)
        cells.append(_ratio_cell(fastest, mine, limit, columns["fastest"]))
        lines.append(cells)
    means = [f"{times(judge.geometric_mean(values))} ({len(values)})" if values else NOTHING
             for values in columns.values()]  # fmt: skip
    lines.append(["geometric mean (cases)", "", *means])
    headers = ["case", f"{titles[ours]} s", *(titles[peer] for peer in others),
               "fastest other than LIBSVM"]  # fmt: skip
    return markdown(headers, lines)


def _own(row: Row | None, limit: float) -> str:
    if row is None:
        return NOTHING
    return seconds(row.train) if row.counts() else state(row, limit)


def _ratio_cell(theirs: Row | None, ours: Row | None, limit: float, sums: list[float]) -> str:
    if theirs is None or ours is None:
        return NOTHING
    value = judge.ratio(theirs, ours)
    if value is not None:
        sums.append(value)
        return times(value)
    if theirs.status == "limit" and ours.counts() and ours.train:
        return "> " + times(limit / ours.train)
    return NOTHING if theirs.status == "ok" else state(theirs, limit)


def growth(points: Sequence[Mapping[str, Any]], titles: Mapping[str, str]) -> str:
    """Exponent of the time in the rows, a line for each case and peer."""
    lines = []
    for (case, peer), group in series(points).items():
        sizes, taken = [n for n, _ in group], [t for _, t in group]
        exponent = judge.growth_exponent(sizes, taken)
        spelled = ", ".join(f"{n:.0f}: {seconds(t)}" for n, t in group)
        lines.append((f"{case}, {titles[peer]}", spelled,
                      NOTHING if exponent is None else f"{exponent:.2f}"))  # fmt: skip
    return markdown(("case, peer", "rows: seconds", "exponent"), lines)


Lines = dict[tuple[str, str], list[tuple[float, float]]]  # by case and peer: rows, seconds


def series(points: Sequence[Mapping[str, Any]]) -> Lines:
    """Points of one line each, in order of size."""
    lines: Lines = {}
    for point in points:
        key = (str(point["case"]), str(point["peer"]))
        lines.setdefault(key, []).append((float(point["rows"]), float(point["seconds"])))
    return {key: sorted(group) for key, group in lines.items()}
