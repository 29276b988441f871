"""Mercer beside its peers, in one go on the same files.

python3 -m bench.run train|predict|search|report [--quick|--full]
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import random
import shutil
import sys
from collections.abc import Sequence
from typing import Any

from bench import bars, judge, measure, peers, report, suite
from bench.judge import Row
from bench.peers.base import Absent, Job, labels_of
from bench.session import Bench, measure_row, objective, say
from bench.suite import Case, Limits

ROOT = pathlib.Path(__file__).resolve().parent.parent


def progress(row: Row) -> str:
    if row.train is None or row.status == "void":
        return f"{row.status} {row.note}"
    return f"{row.train:9.3f} s" + (" (disturbed)" if row.disturbed() else "")


def train(bench: Bench, chosen: Sequence[str], only: Sequence[str], with_growth: bool) -> int:
    cases = [c for c in suite.training_cases(bench.mode) if not only or c.name in only]
    missing = bench.prepare([case.data for case in cases])
    rows: list[Row] = []
    for case in (case for case in cases if case.data not in missing):
        for peer in chosen:
            row = measure_row(bench, case, peer)
            rows.append(row)
            say(f"{case.name:18} {case.describe():28} {report.titles()[peer]:22} {progress(row)}")
    judge.judge(rows)
    growth = measure_growth(bench, chosen) if with_growth else []
    memory = measure_memory(bench, rows)
    content = {"rows": [dataclasses.asdict(row) for row in rows], "growth": growth,
               "memory": memory}  # fmt: skip
    return finish(bench, "train", content)


def measure_growth(bench: Bench, chosen: Sequence[str]) -> list[dict[str, Any]]:
    """Ours and LIBSVM's training time on shares of the rows; ours on a synthetic set to 10^6."""
    shares = suite.GROWTH_SHARES_QUICK if bench.mode == "quick" else suite.GROWTH_SHARES
    pair = [name for name in (peers.OURS, bench.libsvm()) if name is not None and name in chosen]
    points: list[dict[str, Any]] = []
    for case in suite.GROWTH:
        for share in shares:
            part = dataclasses.replace(case, data=f"{case.data}@{share}")
            if not bench.prepare([part.data]):
                points += growth_points(bench, part, pair)
    if bench.mode == "full" and bench.here(peers.OURS):
        for rows in suite.SYNTHETIC_ROWS:
            part = dataclasses.replace(suite.SYNTHETIC, data=f"checkerboard.{rows}")
            make_synthetic(bench, part.data, rows)
            points += growth_points(bench, part, pair)
    return points


def growth_points(bench: Bench, case: Case, names: Sequence[str]) -> list[dict[str, Any]]:
    """One size: the times of those who solved the problem."""
    size = json.loads((bench.data / f"{case.data}.json").read_text())["rows"]
    rows = [measure_row(bench, case, peer, predict=False) for peer in names]
    judge.judge(rows)
    for row in rows:
        say(f"{case.name:18} {size:8} rows {report.titles()[row.peer]:22} {progress(row)}")
    return [
        {"case": row.case, "peer": row.peer, "rows": size, "seconds": row.train}
        for row in rows
        if row.counts()
    ]


def make_synthetic(bench: Bench, name: str, rows: int) -> None:
    target = bench.data / f"{name}.train"
    if (bench.data / f"{name}.json").exists():
        return
    command = [str(bench.programs / "mercer"), "make", "checkerboard", "--n", str(rows)]
    measure.run([*command, "--to", "libsvm", "--output", target, "--quiet"], 600)
    facts = {"rows": rows, "columns": 2, "density": 1.0, "test": "none"}
    (bench.data / f"{name}.json").write_text(json.dumps(facts))


def measure_memory(bench: Bench, rows: Sequence[Row]) -> list[str]:
    """The two bars on MNIST: within 4 GiB, and with 256 MiB at most 4 times slower."""
    mine = (row for row in rows if row.case == "mnist" and row.peer == peers.OURS)
    ours = next((row for row in mine if row.counts()), None)
    if ours is None:
        return []
    small = dataclasses.replace(bench, limits=dataclasses.replace(bench.limits, cache_mib=256))
    case = next(case for case in suite.SUITE if case.name == "mnist")
    row = measure_row(small, case, peers.OURS, predict=False)
    peak = ours.peak_mib or 0.0
    lines = [bars.line("MNIST at its peak", f"{peak:.0f} MiB", "at most 4096", peak <= 4096)]
    if row.train is None or ours.train is None or ours.objective is None or row.objective is None:
        return [*lines, f"MNIST with --memory 256: {row.status} {row.note}"]
    behind = judge.relative_loss(row.objective, ours.objective)
    times = row.train / ours.train
    said = f"{times:.2f} times as long, peak {row.peak_mib:.0f} MiB, objective {behind:.1e} behind"
    met = times <= 4 and behind <= judge.WORST_OBJECTIVE
    lines.append(bars.line("MNIST with --memory 256", said, "at most 4 times", met))
    return lines


def predict(bench: Bench) -> int:
    """Ours against svm-predict with the same support vectors, and against the bare products."""
    names = ["usps"] if bench.mode == "quick" else ["usps", "mnist"]
    cases = [next(case for case in suite.SUITE if case.name == name) for name in names]
    missing = bench.prepare([case.data for case in cases])
    lines = [predict_line(bench, case) for case in cases if case.data not in missing]
    return finish(bench, "predict", {"lines": lines})


def predict_line(bench: Bench, case: Case) -> dict[str, Any]:
    from bench.peers import libsvm_debian

    say(f"{case.name}: training the machine to predict with")
    job = bench.job(case, peers.OURS)
    own = peers.peer(peers.OURS)
    runs = [own.run(job) for _ in range(bench.limits.repeats)]
    ours = min(run.predict for run in runs)
    facts = json.loads((bench.data / f"{case.data}.json").read_text())
    support = objective(job)["support_vectors"]
    with open(job.test) as file:
        rows = sum(1 for line in file if line.strip())
    flops = 2.0 * rows * support * facts["columns"]
    theirs, equal = None, None
    if bench.here("libsvm_debian"):
        theirs, equal = svm_predict(job, libsvm_debian.options(job))
    rate = measure.run(
        [bench.programs / "product_rate", str(rows), str(support), str(facts["columns"]),
         str(bench.limits.threads)], 600, {"OMP_NUM_THREADS": str(bench.limits.threads)},
    )  # fmt: skip
    return {"case": case.name, "rows": rows, "support_vectors": support, "ours": ours,
            "theirs": theirs, "equal": equal, "score": runs[0].score,
            "gflops": flops / ours * 1e-9, "sgemm": json.loads(rate.output)["gflops"]}  # fmt: skip


def svm_predict(job: Job, options: Sequence[str]) -> tuple[float | None, float | None]:
    """Seconds of svm-predict with our support vectors, and the share of labels it gives alike."""
    model, said = job.work / "libsvm.model", job.work / "theirs"
    measure.run([job.programs / "mercer", "svm-train", *options, job.train, model], 1800)
    first = measure.run(["svm-predict", job.work / "first", model, said], job.limits.seconds)
    whole = measure.run(["svm-predict", job.test, model, said], job.limits.seconds)
    if whole.late or whole.code != 0:
        return None, None
    ours, theirs = labels_of(job.work / "labels"), labels_of(said)
    equal = sum(a == b for a, b in zip(ours, theirs, strict=True)) / len(ours)
    return max(whole.seconds - first.seconds, 1e-4), equal


def search(bench: Bench, only: Sequence[str], splits: int) -> int:
    """A grid over C and γ with folds, against ten trainings of LIBSVM at one point."""
    from bench.peers import mercer

    cases = [c for c in suite.search_cases(bench.mode) if not only or c.name in only]
    missing = bench.prepare([case.data for case in cases])
    obstacle = mercer.search_obstacle(bench.programs)
    grid = f"{len(suite.SEARCH_C)} × {len(suite.SEARCH_GAMMA)}, {suite.SEARCH_FOLDS}"
    lines = []
    for case in (case for case in cases if case.data not in missing):
        line: dict[str, Any] = {"case": case.name, "grid": grid, "ours": None,
                                "ten_trainings": None, "note": obstacle}  # fmt: skip
        if not obstacle:
            job = bench.job(case, peers.OURS)
            command = mercer.search_command(job, suite.SEARCH_C, suite.SEARCH_GAMMA,
                                            suite.SEARCH_FOLDS)  # fmt: skip
            done = measure.run(command, bench.limits.seconds)
            if done.code == 0:
                line["ours"] = done.seconds
                best = json.loads(done.output).get("best", {})
                case = dataclasses.replace(case, C=best.get("C", case.C),
                                           gamma=best.get("gamma", case.gamma))  # fmt: skip
            else:
                line["note"] = (done.errors.strip().splitlines() or ["failed"])[-1]
        libsvm = bench.libsvm()
        if libsvm is not None:
            row = measure_row(bench, case, libsvm, predict=False)
            line["ten_trainings"] = None if row.train is None else 10 * row.train
            line["at"] = case.describe()
        line |= beside_liquidsvm(bench, case, splits)
        lines.append(line)
    return finish(bench, "search", {"lines": lines})


def redrawn(job: Job, split: int, own_test: bool) -> Job:
    """Rows to learn from and to test on, drawn anew, as many as there are; split 0: as they are. Of
    a set without a test part seven rows in ten are learnt from."""
    if split == 0 and own_test:
        return job
    rows = job.train.read_text().splitlines()
    learnt = len(rows) if own_test else 7 * len(rows) // 10
    if own_test:
        rows += job.test.read_text().splitlines()
    random.Random(split).shuffle(rows)
    files = job.work / "split.train", job.work / "split.test"
    for path, part in zip(files, (rows[:learnt], rows[learnt:]), strict=True):
        path.write_text("\n".join(part) + "\n")
    return dataclasses.replace(job, train=files[0], test=files[1])


def beside_liquidsvm(bench: Bench, case: Case, splits: int) -> dict[str, Any]:
    """Both over liquidSVM's own grid, each with the constant and the stopping rule it has: seconds
    of the search with its final machine, and errors on the test rows; means over splits."""
    from bench.peers import liquidsvm, mercer

    try:
        liquidsvm.version()
    except Absent as reason:
        return {"liquid_note": f"liquidSVM: {reason}"}
    facts = json.loads((bench.data / f"{case.data}.json").read_text())
    threads, folds = bench.limits.threads, suite.SEARCH_FOLDS
    grid = liquidsvm.grid(facts["rows"], facts["columns"], folds)
    found: dict[str, list[float]] = {}
    for split in range(splits):
        job = redrawn(bench.job(case, peers.OURS), split, facts["test"] == "test rows")
        command = mercer.search_command(job, tuple(grid[0]), tuple(grid[1]), folds)
        done = measure.run([*command, job.model], bench.limits.seconds)
        if done.code != 0:
            return {"liquid_note": (done.errors.strip().splitlines() or ["failed"])[-1]}
        said = job.work / "labels"
        measure.run(mercer.PEER.predict_command(job, job.test, said), bench.limits.seconds)
        pairs = list(zip(labels_of(job.test), labels_of(said), strict=True))
        theirs = liquidsvm.search(job.train, job.test, folds, threads, bench.limits.seconds)
        if "note" in theirs:
            return {"liquid_note": theirs["note"]}
        for name, value in (
            ("same_grid", done.seconds),
            ("same_grid_error", sum(a != b for a, b in pairs) / len(pairs)),
            ("liquid", theirs["seconds"]),
            ("liquid_error", theirs["error"]),
        ):
            found.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in found.items()} | {"splits": splits}


def finish(bench: Bench, kind: str, content: dict[str, Any]) -> int:
    path = bench.save(kind, content)
    result = json.loads(path.read_text())
    say("\n" + report.heading(result) + "\n\n" + report.SECTIONS[kind](result))
    further = "" if bench.partial else "; './dev bench report' puts it into the docs"
    say(f"\nwritten to {os.path.relpath(path)}{further}")
    return 0


def who_is_there(programs: pathlib.Path, names: Sequence[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for name in names:
        try:
            found[name] = {"version": peers.peer(name).version(programs)}
        except Absent as reason:
            found[name] = {"absent": str(reason)}
        words = found[name]
        say(f"{peers.peer(name).title:22} {words.get('version') or 'absent: ' + words['absent']}")
    return found


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dev bench", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["train", "predict", "search", "report"])
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small sets, a few minutes in all")
    size.add_argument("--full", action="store_true", help="everything, MNIST with every peer too")
    limits = Limits()
    parser.add_argument("--peers", default=",".join(peers.NAMES), help="names, by commas")
    parser.add_argument("--cases", default="", help="names of the suite's cases, by semicolons")
    parser.add_argument("--threads", type=int, default=limits.threads)
    parser.add_argument("--memory", type=int, default=limits.cache_mib, help="cache in MiB")
    parser.add_argument("--peer-limit", type=float, default=limits.seconds, help="seconds a run")
    parser.add_argument("--repeats", type=int, default=limits.repeats, help="of short trainings")
    parser.add_argument("--splits", type=int, default=1, help="of each set of a search")
    parser.add_argument("--no-growth", action="store_true", help="leave out the growth curves")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--programs", type=pathlib.Path, help="default: BUILD/bin")
    chosen = parser.parse_args(words)
    unknown = [name for name in chosen.peers.split(",") if name not in peers.NAMES]
    if unknown:
        parser.error(f"no such peer: {', '.join(unknown)}; there are {', '.join(peers.NAMES)}")
    return chosen


def main(words: Sequence[str] | None = None) -> int:
    chosen = arguments(words)
    build = chosen.build.resolve()
    if chosen.what == "report":
        if not report.write(build / "bench-results", ROOT / "docs"):
            say(f"no results in {build / 'bench-results'}: run ./dev bench train first")
            return 1
        say("docs/performance.md is up to date with the newest results")
        return 0
    programs = (chosen.programs or build / "bin").resolve()
    source = pathlib.Path(os.environ.get("MERCER_DATA", ROOT.parent / "shared" / "data"))
    if not source.is_dir():
        say("there is no folder of data sets; set MERCER_DATA to it")
        return 1
    limits = Limits(threads=chosen.threads, cache_mib=chosen.memory, seconds=chosen.peer_limit,
                    repeats=chosen.repeats)  # fmt: skip
    names = chosen.peers.split(",")
    if chosen.what == "predict":
        names = [name for name in names if name in (peers.OURS, "libsvm_debian")]
    mode = "quick" if chosen.quick else "full" if chosen.full else "normal"
    machine, disturbance = measure.machine(), measure.Disturbance()
    present = who_is_there(programs, names)
    left_out = {"absent": "left out of this session"}
    present |= {name: left_out for name in peers.NAMES if name not in chosen.peers.split(",")}
    partial = bool(chosen.cases) or chosen.no_growth
    bench = Bench(
        mode, limits, build, programs, source.resolve(), present, machine, disturbance, partial
    )
    try:
        if chosen.what == "predict":
            return predict(bench)
        only = [name.strip() for name in chosen.cases.split(";") if name.strip()]
        if chosen.what == "search":
            return search(bench, only, chosen.splits)
        return train(bench, names, only, not chosen.no_growth)
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
