"""The newest results into docs/performance.md, between two markers, and a plot beside it."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from bench import bars, judge, peers, plot, suite, tables
from bench.judge import Row

BEGIN = "<!-- begin: made by ./dev bench report, do not edit -->"
END = "<!-- end: made by ./dev bench report -->"
PLOT = "performance-growth.svg"

Result = dict[str, Any]


def newest(folder: pathlib.Path, kind: str) -> Result | None:
    """Of the fullest mode that there is, the latest; runs with cases left out by choice do not
    count; peers left out are named in the heading."""
    found = [json.loads(path.read_text()) for path in folder.glob(f"{kind}-*.json")]
    rank = {"quick": 0, "normal": 1, "full": 2}
    found = [result for result in found if not result.get("partial")]
    return max(found, key=lambda r: (rank[r["mode"]], r["date"]), default=None)


def titles() -> dict[str, str]:
    return {name: peers.peer(name).title for name in peers.NAMES}


def heading(result: Result) -> str:
    m, limits = result["machine"], result["limits"]
    here = [f"{titles()[name]} {said['version']}" for name, said in result["peers"].items()
            if "version" in said]  # fmt: skip
    absent = [f"{titles()[name]} ({said['absent']})" for name, said in result["peers"].items()
              if "absent" in said]  # fmt: skip
    single = [titles()[name] for name in peers.NAMES if peers.peer(name).threads == 1]
    text = (
        f"{result['date'][:10]}, `./dev bench {result['kind']}"
        f"{'' if result['mode'] == 'normal' else ' --' + result['mode']}`, {m['cores']} cores of "
        f"{m['processor']} ({m['vectors']}), {m['memory_gib']} GiB, load before "
        f"{m['load_before']}. "
        f"Tolerance {limits['tolerance']:g}, {limits['threads']} threads ({', '.join(single)}: "
        f"one), cache {limits['cache_mib']} MiB, best of up to {limits['repeats']} runs. "
        f"{'; '.join(here)}."
    )
    text += f" Not there: {'; '.join(absent)}." if absent else ""
    if (m.get("others") or 0) > judge.MOST_OTHERS:
        text += (
            f" **Other work took {m['others']:.1f} cores meanwhile: these figures are not to be "
            "relied on.**"
        )
    return text


def train_section(result: Result, detailed: bool = True) -> str:
    rows = [Row(**row) for row in result["rows"]]
    names, limit = titles(), result["limits"]["seconds"]
    others = [name for name in peers.NAMES if name != peers.OUR_LIBRARY]

    def ratios(some: list[Row]) -> str:
        return tables.ratios(some, others, names, peers.OURS, peers.LIBSVM, limit)

    once = judge.once(rows, peers.OUR_LIBRARY)
    again = judge.again(rows, peers.OURS, peers.OUR_LIBRARY)
    parts = ["Training time of each peer over ours, of the program and of packages once imported:",
             ratios(once)]  # fmt: skip
    if any(row.peer == peers.OURS for row in again):
        parts += ["The same of further trainings in one process, from Python:", ratios(again)]
    if detailed:
        tasks = {case.name: case.task for case in suite.SUITE}
        parts.append(tables.details(rows, tasks, names, limit))
    if result["growth"]:
        parts += ["Growth of training time with the rows:", tables.growth(result["growth"], names)]
    wanted = bars.training(once, peers.OURS, peers.LIBSVM)
    if any(row.peer == peers.OURS for row in again):
        wanted += [f"again: {line}" for line in bars.training(again, peers.OURS, peers.LIBSVM)]
    wanted += bars.growth(result["growth"], peers.OURS) + result["memory"]
    parts += ["What is wanted:", "\n".join("- " + line for line in wanted)]
    return "\n\n".join(parts)


def predict_section(result: Result) -> str:
    headers = ("set", "rows", "support", "ours s", "svm-predict s", "ratio", "ours Gflop/s",
               "sgemm Gflop/s", "share", "equal labels")  # fmt: skip
    lines = []
    for line in result["lines"]:
        theirs = line["theirs"]
        lines.append((
            line["case"], str(line["rows"]), str(line["support_vectors"]),
            tables.seconds(line["ours"]), tables.seconds(theirs),
            tables.times(theirs / line["ours"] if theirs else None),
            f"{line['gflops']:.0f}", f"{line['sgemm']:.0f}",
            f"{100 * line['gflops'] / line['sgemm']:.0f} %",
            tables.NOTHING if line["equal"] is None else f"{100 * line['equal']:.2f} %",
        ))  # fmt: skip
    return tables.markdown(headers, lines)


def percent(share: float | None) -> str:
    return tables.NOTHING if share is None else f"{100 * share:.1f}"


def search_section(result: Result) -> str:
    headers = ("set", "grid, folds", "ours s", "10 LIBSVM trainings s", "ours / 10 trainings",
               "liquidSVM's grid s", "error %", "liquidSVM s", "its error %", "splits",
               "remark")  # fmt: skip
    lines = []
    for line in result["lines"]:
        ours, theirs = line["ours"], line["ten_trainings"]
        share = f"{ours / theirs:.2f}" if ours is not None and theirs else tables.NOTHING
        lines.append((line["case"], line["grid"], tables.seconds(ours), tables.seconds(theirs),
                      share, tables.seconds(line.get("same_grid")),
                      percent(line.get("same_grid_error")), tables.seconds(line.get("liquid")),
                      percent(line.get("liquid_error")), str(line.get("splits", tables.NOTHING)),
                      line["note"] or line.get("liquid_note", "")))  # fmt: skip
    return tables.markdown(headers, lines)


SECTIONS = {"train": train_section, "predict": predict_section, "search": search_section}
NAMES = {"train": "Training beside the peers", "predict": "Prediction", "search": "Search"}


def text_of(folder: pathlib.Path) -> tuple[str, str]:
    """The chapter and the plot; empty ones where there are no results."""
    parts, picture = [], ""
    for kind, section in SECTIONS.items():
        result = newest(folder, kind)
        if result is None:
            continue
        parts += [f"## {NAMES[kind]}", heading(result), section(result)]
        if kind == "train" and result["growth"]:
            lines = {
                f"{case}, {titles()[peer]}": points
                for (case, peer), points in tables.series(result["growth"]).items()
            }
            picture = plot.log_log(lines, "rows", "seconds")
            parts.append(f"![Training time against rows, both axes logarithmic]({PLOT})")
    return "\n\n".join(parts), picture


def inserted(document: str, chapter: str) -> str:
    """The document with what lies between the markers replaced, or the chapter added at its end."""
    block = f"{BEGIN}\n\n{chapter}\n\n{END}"
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if begin and not end:
        raise ValueError(f"docs/performance.md has '{BEGIN}' without '{END}' after it")
    return before + block + after if begin else document.rstrip("\n") + f"\n\n{block}\n"


def write(folder: pathlib.Path, docs: pathlib.Path) -> bool:
    chapter, picture = text_of(folder)
    if not chapter:
        return False
    page = docs / "performance.md"
    page.write_text(inserted(page.read_text(), chapter))
    if picture:
        (docs / PLOT).write_text(picture)
    return True
