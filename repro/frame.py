"""What a result is, and the page that is made of them.

A result has a name (R1 to R17), the lecture it is printed in, tables in which the printed figures and
ours stand side by side, remarks that say why they differ, and pictures. It is kept as JSON, so that the
page can be made again without running anything.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import shutil
import sys
import time
from collections.abc import Callable

from common import OUT, ROOT

PAGE = ROOT / "docs" / "results.md"
PICTURES = ROOT / "docs" / "results"
VERDICTS = ("reproduced", "in part", "not reproduced", "a picture")

INTRODUCTION = """# Results of the lectures, repeated

Every table and picture that the lectures 000 to 004 ([sources.md](sources.md)) print from an experiment,
made again by the program. The printed figures and ours stand side by side, and what is not known of the
original is said. `./dev repro` runs all and writes this page, `./dev repro R5` one of them, `./dev repro
--page` only writes the page; the scripts are in [repro](../repro/README.md), one a result.

"Reproduced" means that every printed figure lies within the spread of our own repetitions, or every printed error within 0.3
points of ours; "in part" that some do, or that data or settings had to be made up; "a picture" that the lecture prints no
figures. A remark says where a setting was settled with the reported rows, or the printed figures, in view.

Settings that the lectures do not print are those of the papers they cite, as we know them: the papers' texts were not at hand
to check them against. Where figures then agree to the digit, as in R4, that speaks for the settings.
Seconds are those of two processors that had much other work to do.

| result | what | seed | verdict | seconds |
|---|---|---|---|---:|
"""


@dataclasses.dataclass
class Table:
    head: list[str]
    rows: list[list[str]]
    title: str = ""

    def markdown(self) -> str:
        lines = [f"**{self.title}**", ""] if self.title else []
        lines.append("| " + " | ".join(self.head) + " |")
        lines.append("|---|" + "---:|" * (len(self.head) - 1))
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines)


@dataclasses.dataclass
class Result:
    name: str  # R1
    title: str
    seed: str  # the lecture, and the heading there
    script: str
    verdict: str  # one of VERDICTS, and after a comma why
    tables: list[Table] = dataclasses.field(default_factory=list)
    remarks: list[str] = dataclasses.field(default_factory=list)
    pictures: list[tuple[str, str]] = dataclasses.field(default_factory=list)  # file and what is seen
    figures: dict[str, object] = dataclasses.field(default_factory=dict)  # for tests
    seconds: float = 0.0

    def section(self) -> str:
        parts = [f"## {self.name}: {self.title}", f"Seed: {self.seed}. Script: "
                 f"[{self.script}](../repro/{self.script}). **{self.verdict[0].upper()}{self.verdict[1:]}.**"]  # fmt: skip
        parts += [table.markdown() for table in self.tables]
        parts += [f"![{caption}](results/{file})\n*{caption}*" for file, caption in self.pictures]
        parts += self.remarks
        return "\n\n".join(parts) + "\n"

    def line(self) -> str:
        part = re.sub(r"[^\w -]", "", f"{self.name}: {self.title}".lower()).replace(" ", "-")
        return (f"| [{self.name}](#{part}) | {self.title} | {self.seed[:3]} | "
                f"{self.verdict} | {self.seconds:.0f} |" if self.seconds else
                f"| [{self.name}](#{part}) | {self.title} | {self.seed[:3]} | {self.verdict} | – |")  # fmt: skip


class Run:
    """Where one run of a result writes, and whether it is the small one of the tests."""

    def __init__(self, quick: bool) -> None:
        self.quick = quick
        self.folder = OUT / "quick" if quick else OUT
        self.pictures = self.folder / "pictures"
        self.pictures.mkdir(parents=True, exist_ok=True)
        self.enter("work")

    def enter(self, name: str) -> None:
        """Files for passing use go to a folder of this name, so that results made at once do not meet."""
        self.work = self.folder / "work" / name
        self.work.mkdir(parents=True, exist_ok=True)

    def file(self, name: str) -> pathlib.Path:
        """A file for passing use."""
        path = self.work / name
        path.unlink(missing_ok=True)
        return path

    def picture(self, name: str) -> pathlib.Path:
        return self.pictures / name


def keep(result: Result, run: Run) -> None:
    assert result.verdict.split(",")[0] in VERDICTS, result.verdict
    text = json.dumps(dataclasses.asdict(result), indent=1, ensure_ascii=False)
    (run.folder / f"{result.name}.json").write_text(text + "\n", encoding="utf-8")


def kept(run: Run) -> list[Result]:
    results = []
    for path in run.folder.glob("R*.json"):
        fields = json.loads(path.read_text(encoding="utf-8"))
        fields["tables"] = [Table(**table) for table in fields["tables"]]
        fields["pictures"] = [tuple(picture) for picture in fields["pictures"]]
        results.append(Result(**fields))
    return sorted(results, key=lambda r: int(r.name[1:]))


def write_page(run: Run) -> pathlib.Path:
    """The page from all results kept; what the page has of others stays as it is."""
    page, pictures = (run.folder / "results.md", run.pictures) if run.quick else (PAGE, PICTURES)
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    lines = {m[1]: m[0] for m in re.finditer(r"^\| \[(R\d+)\].*$", old, re.M)}
    sections = {m[1]: m[0] for m in re.finditer(r"^## (R\d+):.*?(?=^## |\Z)", old, re.M | re.S)}
    pictures.mkdir(parents=True, exist_ok=True)
    for result in kept(run):
        lines[result.name], sections[result.name] = result.line(), result.section()
        for file, _ in result.pictures:
            if not run.quick:
                shutil.copyfile(run.picture(file), pictures / file)
    order = sorted(sections, key=lambda name: int(name[1:]))
    seconds = [int(found[1]) for name in order if (found := re.search(r"\| (\d+) \|$", lines[name]))]
    text = INTRODUCTION + "\n".join(lines[name] for name in order) + "\n\n"
    text += f"Together {sum(seconds) / 60:.0f} minutes"
    text += ".\n\n" if len(seconds) == len(order) else ", of those whose seconds are told.\n\n"
    text += "\n".join(sections[name].rstrip() + "\n" for name in order)
    page.write_text(text, encoding="utf-8")
    return page


def perform(make: Callable[[Run], Result], run: Run) -> Result:
    begun = time.monotonic()
    run.enter(pathlib.Path(sys.argv[0]).stem if make.__module__ == "__main__" else make.__module__)
    result = make(run)
    if result.seconds == 0:  # a script that keeps parts of its result counts for itself, -1: not known
        result.seconds = time.monotonic() - begun
    result.seconds = max(result.seconds, 0)
    keep(result, run)
    return result


def main(make: Callable[[Run], Result]) -> None:
    """What a script does when it is run by itself: print its part of the page."""
    print(perform(make, Run("--quick" in sys.argv[1:])).section())


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def deviation(values: list[float]) -> float:
    middle = mean(values)
    return (sum((v - middle) ** 2 for v in values) / max(1, len(values) - 1)) ** 0.5
