#!/usr/bin/env python3
"""Many rows: the program in the span of some rows, beside scikit-learn where it has the same.

    python3 bench/scale.py --data ../shared/data --mercer build/bin/mercer [CASE ...]

    power         household power, published splits: ridge in the span of --centres rows
    checkerboard  10^2 … 10^7 rows (--rows), one command
    covtype       all of covtype, class 2 against the rest, exactly: four fifths to learn from
    cells         --part of covtype in cells of 2000 rows, in each of them liquidSVM's own grid of 10 x 10 and
                  5 folds, beside liquidSVM itself (PyPI: liquidsvm), both on --threads; its threads wait by
                  spinning, so that processor time is best compared on one
    nystroem      ridge and hinge at equal centres and error, beside Nystroem + Ridge and LinearSVC; threads by
                  MERCER_NUM_THREADS, OMP_NUM_THREADS and OPENBLAS_NUM_THREADS
    outofcore     CSV and LIBSVM text several times as large as --limit: training and prediction, and the
                  same models byte by byte as with all rows in memory

Printed: seconds from the file to the model, peak memory of the process, test error, relative gap. Of
outofcore the peak of the process's own memory (RssAnon and RssShmem of /proc, every 3 ms) beside that of all
that is resident, pages of files among it; more than --limit and 512 MiB of its own is an error.
"""

import argparse
import gzip
import json
import lzma
import os
import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
from datetime import datetime

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from bench.peers.liquidsvm import grid  # noqa: E402


def run(command):
    """Seconds, peak MiB and what the command prints."""
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    return time.perf_counter() - begin, usage.ru_maxrss / 1024, text


def power_table(data, folder):
    """The complete rows as published: 11 inputs, the active power as target, and the ten masks."""
    kept = os.path.join(folder, "power.npz")
    if os.path.exists(kept):
        loaded = np.load(kept)
        return loaded["x"], loaded["y"], loaded["masks"]
    rows = []
    with lzma.open(os.path.join(data, "household_power/household_power.csv.xz"), "rt") as file:
        next(file)
        for line in file:
            cells = line.rstrip("\n").split(",")
            if any(cell in ("", "?") for cell in cells[2:]):
                continue
            form = "%d/%m/%Y" if "/" in cells[0] else "%Y-%m-%d"
            day = datetime.strptime(cells[0], form)
            hour, minute = cells[1].split(":")[:2]
            rows.append([day.year, day.month, day.day, int(hour), int(minute), *map(float, cells[2:])])
    table = np.array(rows)
    y = table[:, 5]
    x = np.delete(table, 5, axis=1)
    with gzip.open(os.path.join(data, "household_power/test_mask.csv.gz"), "rt") as file:
        masks = np.loadtxt(file, delimiter=",", dtype=np.uint8)
    np.savez(kept, x=x, y=y, masks=masks)
    return x, y, masks


def write_npz(path, x, y):
    np.savez(path, X=x.astype(np.float32), y=y.astype(np.float32))


def power(arguments, folder):
    x, y, masks = power_table(arguments.data, folder)
    print(f"household power: {len(y)} rows, {x.shape[1]} columns")
    for split in range(arguments.splits):
        test = masks[:, split] == 1
        mean, deviation = x[~test].mean(0), x[~test].std(0)
        scaled = (x - mean) / deviation
        target = (y - y[~test].mean()) / y[~test].std()
        train_file, test_file = (os.path.join(folder, f"{name}.npz") for name in ("train", "test"))
        write_npz(train_file, scaled[~test], target[~test])
        write_npz(test_file, scaled[test], target[test])
        model = os.path.join(folder, "power.mercer")
        seconds, peak, text = run([
            arguments.mercer, "train", train_file, model, "--task", "ridge", "--kernel",
            f"rbf(gamma={arguments.gamma})", "--lambda", str(arguments.lambda_), "--approximate",
            f"nystroem(centres={arguments.centres})", "--memory", "1024", "--json"])
        gap = json.loads(text)["certificate"]["relative_gap"]
        later, _, answers = run([arguments.mercer, "predict", model, test_file])
        error = np.array(answers.split(), float) - target[test]
        print(f"split {split}: RMSE {np.sqrt((error ** 2).mean()):.4f}, {seconds:.1f} s, "
              f"{peak:.0f} MiB, relative gap {gap:.1e}, predicted in {later:.1f} s", flush=True)


def checkerboard(arguments, folder):
    test_file = os.path.join(folder, "board_test.npz")
    run([arguments.mercer, "make", "checkerboard", "--n", "20000", "--noise", "0", "--seed", "99",
         "-o", test_file])
    labels = np.load(test_file)["y"]
    for rows in arguments.rows:
        train_file, model = (os.path.join(folder, name) for name in ("board.npz", "board.mercer"))
        run([arguments.mercer, "make", "checkerboard", "--n", str(rows), "--noise", "0", "-o", train_file])
        seconds, peak, text = run([
            arguments.mercer, "train", train_file, model, "--task", arguments.task, "--kernel",
            "rbf(gamma=10)", "--approximate", f"nystroem(centres={arguments.centres})", "--json"])
        gap = json.loads(text)["certificate"]["relative_gap"]
        _, _, answers = run([arguments.mercer, "predict", model, test_file])
        wrong = np.mean(np.sign(np.array(answers.split(), float)) != np.sign(labels - labels.mean()))
        print(f"checkerboard {rows:>9}: {seconds:.1f} s, {peak:.0f} MiB, {100 * wrong:.2f} % wrong, "
              f"relative gap {gap:.1e}", flush=True)


def covtype_files(data, folder):
    """Columns scaled to [0, 1], rows shuffled by a seed, four fifths to learn from."""
    files = [os.path.join(folder, f"covtype_{name}.npz") for name in ("train", "test")]
    if not all(map(os.path.exists, files)):
        with gzip.open(os.path.join(data, "covtype/covtype.csv.gz"), "rt") as file:
            table = np.loadtxt(file, delimiter=",", dtype=np.float32, skiprows=1)
        x, y = table[:, :-1], np.where(table[:, -1] == 2, 1, -1)
        low, high = x.min(0), x.max(0)
        x = (x - low) / np.where(high > low, high - low, 1)
        order = np.random.default_rng(0).permutation(len(y))
        cut = len(y) * 4 // 5 + 1
        write_npz(files[0], x[order[:cut]], y[order[:cut]])
        write_npz(files[1], x[order[cut:]], y[order[cut:]])
    return files


def covtype(arguments, folder):
    train_file, test_file = covtype_files(arguments.data, folder)
    model = os.path.join(folder, "covtype.mercer")
    seconds, peak, text = run([
        arguments.mercer, "train", train_file, model, "-C", "32", "--kernel", "rbf(gamma=32)",
        "--gap", "0.001", "--memory", "4096", "--json"])
    report = json.loads(text)["certificate"]
    _, _, answers = run([arguments.mercer, "predict", model, test_file])
    right = np.mean(np.array(answers.split(), float) == np.load(test_file)["y"])
    print(f"covtype {report['rows']} rows: {seconds:.1f} s, {peak:.0f} MiB, {100 * right:.2f} % right, "
          f"relative gap {report['relative_gap']:.1e}, {report['support_vectors']} support vectors", flush=True)


def liquid(train_file, test_file, threads):
    """Run by itself, so that time and memory are its own: cells, grid and folds as its makers advise."""
    words = sysconfig.get_config_vars()
    words.setdefault("SO", words["EXT_SUFFIX"])  # it asks for a word that Python 3.11 no longer has
    import liquidSVM

    learn, held = np.load(train_file), np.load(test_file)
    x, y = learn["X"].astype(float), learn["y"].astype(float)
    before, begin = os.times(), time.perf_counter()
    machine = liquidSVM.mcSVM(x, y, folds=5, threads=threads, grid_choice=0, voronoi=[6, 2000])
    seconds, after = time.perf_counter() - begin, os.times()
    answers = machine.test(held["X"].astype(float), held["y"].astype(float))[0][:, 0]
    print(json.dumps({"seconds": seconds, "cpu": after.user + after.system - before.user - before.system,
                      "wrong": float(np.mean(answers != held["y"]))}))


def cells(arguments, folder):
    whole, test_file = covtype_files(arguments.data, folder)
    train_file, model = (os.path.join(folder, name) for name in ("cells.npz", "cells.mercer"))
    learn = np.load(whole)
    rows = int(arguments.part * len(learn["y"]))
    write_npz(train_file, learn["X"][:rows], learn["y"][:rows])
    penalties, widths = grid(2000, learn["X"].shape[1], 5)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds, peak, text = run([
        arguments.mercer, "tune", train_file, model, "--kernel", "rbf(gamma=1)",
        "--grid", f"gamma={widths[0]:.6g}:{widths[-1]:.6g}:log10",
        "--grid", f"C={penalties[0]:.6g}:{penalties[-1]:.6g}:log10",
        "--approximate", "cells(rows=2000)", "--threads", str(arguments.threads), "--json"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    count = len(json.loads(text)["cells"])
    later, _, answers = run([arguments.mercer, "predict", model, test_file])
    wrong = np.mean(np.array(answers.split(), float) != np.load(test_file)["y"])
    print(f"covtype {rows} rows, {count} cells: {seconds:.1f} s, {cpu:.1f} s of processor time, {peak:.0f} MiB, "
          f"{100 * wrong:.2f} % wrong, predicted in {later:.1f} s", flush=True)
    own = [sys.executable, __file__, "--liquid", train_file, test_file, "--threads", str(arguments.threads)]
    try:
        _, peak, text = run(own)
    except SystemExit:
        print("    liquidSVM is not at hand")
        return
    peer = json.loads(text.splitlines()[-1])
    print(f"    liquidSVM: {peer['seconds']:.1f} s, {peer['cpu']:.1f} s of processor time, {peak:.0f} MiB, "
          f"{100 * peer['wrong']:.2f} % wrong", flush=True)


def processor_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def nystroem(arguments, folder):
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    rng = np.random.default_rng(1)
    n, d = 200_000, 10
    x = rng.normal(size=(n + 20_000, d))
    f = np.sin(x[:, 0] * 2) + x[:, 1] * x[:, 2] + np.abs(x[:, 3])
    y = f + 0.1 * rng.normal(size=len(f))
    for task, target in (("ridge", y), ("svc", np.where(y > np.median(y), 1, -1))):
        train_file, test_file = (os.path.join(folder, f"n_{name}.npz") for name in ("train", "test"))
        write_npz(train_file, x[:n], target[:n])
        write_npz(test_file, x[n:], target[n:])
        model = os.path.join(folder, "n.mercer")
        options = ["--lambda", "1"] if task == "ridge" else ["-C", "1", "--tol", "0.01"]
        before = processor_of_children()
        seconds, peak, text = run([
            arguments.mercer, "train", train_file, model, "--task", task, "--kernel", "rbf(gamma=0.05)",
            "--approximate", f"nystroem(centres={arguments.centres})", "--memory", "8192", "--json",
            *options])
        processor = processor_of_children() - before
        _, _, answers = run([arguments.mercer, "predict", model, test_file])
        found = np.array(answers.split(), float)
        peer = make_pipeline(Nystroem(gamma=0.05, n_components=arguments.centres, random_state=0),
                             Ridge(alpha=1) if task == "ridge" else LinearSVC(C=1, tol=1e-3))
        begin, before = time.perf_counter(), time.process_time()
        peer.fit(x[:n].astype(np.float32), target[:n])
        theirs, their_processor = time.perf_counter() - begin, time.process_time() - before
        guess = peer.predict(x[n:].astype(np.float32))
        error = ((lambda z: np.sqrt(np.mean((z - target[n:]) ** 2))) if task == "ridge"
                 else (lambda z: np.mean(z != target[n:])))
        own_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{task}: ours {seconds:.1f} s ({processor:.2f} of processors), {peak:.0f} MiB, error "
              f"{error(found):.4f}; scikit-learn {theirs:.1f} s ({their_processor:.2f}), {own_peak:.0f} MiB, error "
              f"{error(guess):.4f}", flush=True)


def peak_of(command):
    """Seconds, own and resident MiB at most, and what the command prints."""
    begin = time.perf_counter()
    own = resident = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            try:
                with open(f"/proc/{process.pid}/status") as file:
                    lines = dict(line.split(":", 1) for line in file)
                sizes = {name: int(text.split()[0]) / 1024 for name, text in lines.items()
                         if name in ("RssAnon", "RssShmem", "VmHWM")}
                own = max(own, sizes["RssAnon"] + sizes["RssShmem"])
                resident = max(resident, sizes["VmHWM"])
            except (KeyError, OSError):  # over by now
                pass
            time.sleep(0.003)
        text = process.stdout.read()
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    return time.perf_counter() - begin, own, resident, text


def write_text(path, rows, columns, libsvm):
    """Numbers of three decimals, and a class of each row."""
    rng = np.random.default_rng(1)
    w = rng.normal(size=columns)
    words = np.array([f"{value / 1000:.3f}" for value in range(-5000, 5000)])
    places = [f"{j + 1}:" for j in range(columns)]
    with open(path, "w") as file:
        if not libsvm:
            file.write(",".join(f"x{j}" for j in range(columns)) + ",class\n")
        for first in range(0, rows, 20_000):
            count = min(20_000, rows - first)
            index = np.clip((rng.normal(size=(count, columns)) * 1000).round() + 5000, 0, 9999).astype(int)
            x = (index - 5000) / 1000
            f = np.sin(x @ w / 3) + 0.3 * x[:, 0] * x[:, 1] + 0.1 * rng.normal(size=count)
            for row, value in zip(words[index].tolist(), f):
                if libsvm:
                    file.write("+1 " if value > 0 else "-1 ")
                    file.write(" ".join(a + b for a, b in zip(places, row)) + "\n")
                else:
                    file.write(",".join(row) + (",1\n" if value > 0 else ",-1\n"))


def outofcore(arguments, folder):
    rows, columns = arguments.text_rows, 50
    most = arguments.limit + 512
    for form in ("csv", "libsvm"):
        data = os.path.join(folder, f"large.{form}")
        if not os.path.exists(data):
            write_text(data, rows, columns, form == "libsvm")
        size = os.path.getsize(data) / 2**20
        print(f"{form}: {rows} x {columns}, {size:.0f} MiB of text, {rows * columns * 4 / 2**20:.0f} MiB of "
              f"rows; --memory {arguments.limit}", flush=True)

        def told(what, seconds, own, resident, more=""):
            print(f"  {what}: {seconds:.1f} s, {own:.0f} MiB own, {resident:.0f} resident{more}", flush=True)
            if own > most:
                raise SystemExit(f"more than {most} MiB")

        for task, options in (("ridge", []), ("logistic", ["--lambda", "1"]),
                              ("svc", ["-C", "0.01", "--tol", "0.1"])):
            models = [os.path.join(folder, f"{task}.{place}") for place in ("file", "memory")]
            same = ""
            for model, memory in zip(models, (arguments.limit, arguments.all)):
                seconds, own, resident, text = peak_of([
                    arguments.mercer, "train", data, model, "--task", task, "--approximate",
                    f"nystroem(centres={arguments.few})", "--memory", str(memory), "--json", *options])
                held = json.loads(text)["held"]
                if memory == arguments.limit:
                    assert held == "temporary file", held
                    told(task, seconds, own, resident)
                else:
                    with open(models[0], "rb") as a, open(models[1], "rb") as b:
                        same = "the same bytes" if a.read() == b.read() else "ANOTHER MODEL"
                    print(f"    in memory: {seconds:.1f} s, {own:.0f} MiB own, {same}", flush=True)
                    assert held == "memory" and same == "the same bytes"
        answers = [os.path.join(folder, f"answers.{place}") for place in ("file", "memory")]
        for answer, memory in zip(answers, (arguments.limit, arguments.all)):
            seconds, own, resident, _ = peak_of([
                arguments.mercer, "predict", os.path.join(folder, "logistic.file"), data, "-o", answer,
                "--memory", str(memory), "--decision", "-q"])
            if memory == arguments.limit:
                told("predict", seconds, own, resident)
        with open(answers[0], "rb") as a, open(answers[1], "rb") as b:
            assert a.read() == b.read(), "other answers"
        print(f"    in memory: {seconds:.1f} s, {own:.0f} MiB own, the same answers", flush=True)


CASES = {"power": power, "checkerboard": checkerboard, "covtype": covtype, "cells": cells,
         "nystroem": nystroem, "outofcore": outofcore}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--data", default=os.environ.get("MERCER_DATA", "../shared/data"))
    parser.add_argument("--mercer", default="build/bin/mercer")
    parser.add_argument("--folder", help="where to keep what is made [a temporary one]")
    parser.add_argument("--centres", type=int, default=1000)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--gamma", type=float, default=0.05)
    parser.add_argument("--lambda", dest="lambda_", type=float, default=0.001)
    parser.add_argument("--task", default="ridge")
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 10_000, 1_000_000, 10_000_000])
    parser.add_argument("--text-rows", type=int, default=2_000_000, help="of outofcore")
    parser.add_argument("--limit", type=int, default=96, help="--memory of outofcore, MiB")
    parser.add_argument("--all", type=int, default=2048, help="--memory that holds all its rows, MiB")
    parser.add_argument("--few", type=int, default=100, help="centres of outofcore")
    parser.add_argument("--part", type=float, default=1, help="of covtype's training rows, for cells")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of cells and of its peer")
    parser.add_argument("--liquid", nargs=2, metavar="FILE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.liquid:
        return liquid(*arguments.liquid, arguments.threads)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or temporary
        os.makedirs(folder, exist_ok=True)
        for case in arguments.cases:
            CASES[case](arguments, folder)


if __name__ == "__main__":
    main()
