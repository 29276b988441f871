"""What a case of bench/machines.py is made of: its rows, who works on them, and what must be equal. Needs no
package."""

from __future__ import annotations

import dataclasses
import math
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

#: Numbers by name; a list where answers are compared row by row.
Answers = Mapping[str, float | list[float]]

OURS = "Mercer"


@dataclasses.dataclass(frozen=True)
class Work:
    """What is timed, and what its result is worth, which is not."""

    run: Callable[[], Any]
    answers: Callable[[Any], Answers]


@dataclasses.dataclass(frozen=True)
class Check:
    """How near an answer of ours must be to the peer's.

    "same": within a share of the largest of theirs; "no more": at most theirs, and that share; "agree":
    entries that are not equal are at most that share of them.
    """

    kind: str
    share: float

    def off(self, mine: float | list[float], theirs: float | list[float]) -> float:
        """What is compared with the share; below 0 where ours is the better."""
        a = mine if isinstance(mine, list) else [mine]
        b = theirs if isinstance(theirs, list) else [theirs]
        if len(a) != len(b) or not all(map(math.isfinite, (*a, *b))):
            return math.inf
        if self.kind == "agree":
            return sum(x != y for x, y in zip(a, b)) / len(a)
        scale = max(*map(abs, b), 1e-300)
        if self.kind == "no more":
            return max(x - y for x, y in zip(a, b)) / scale
        return max(abs(x - y) for x, y in zip(a, b)) / scale

    def holds(self, mine: float | list[float], theirs: float | list[float]) -> bool:
        return self.off(mine, theirs) <= self.share


@dataclasses.dataclass(frozen=True)
class Place:
    """Where data lie, how much of them is taken, and on how many threads everybody works."""

    folder: pathlib.Path
    quick: bool
    threads: int

    def rows(self, usual: int) -> int:
        """A quarter of them where it has to be quick."""
        return max(usual // 4, 500) if self.quick else usual


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    what: str  #: rows, settings, what is the same for all
    load: Callable[[Place], Any]
    programs: Mapping[str, Callable[[Any, Place], Work]]  #: ours first
    checks: Mapping[str, Check]
    told: tuple[str, ...] = ()  #: answers that are printed beside those checked


def shown(value: float | list[float]) -> str:
    return f"{value:.6g}" if not isinstance(value, list) else f"{len(value)} numbers"


def judge(case: Case, mine: Answers, theirs: Answers) -> tuple[bool, str]:
    """Whether the answers agree as the case asks, and how far they are apart."""
    words, good = [], True
    for name, check in case.checks.items():
        a, b = mine[name], theirs[name]
        fine = check.holds(a, b)
        good = good and fine
        values = "" if isinstance(a, list) else f" {shown(a)} and {shown(b)},"
        apart = f"off by {check.off(a, b):.1e} (allowed {check.share:g}, {check.kind})"
        words.append(f"{name}:{values} {apart}" + ("" if fine else " VOID"))
    return good, "; ".join(words)
