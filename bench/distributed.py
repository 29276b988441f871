#!/usr/bin/env python3
"""Several processes: equal bytes, memory a rank, kills, ranks beside threads, and what more ranks bring.

    python3 bench/distributed.py --data ../shared/data --mercer build/bin/mercer [PART ...]

Parts:
  bytes       four machines on three sets, 1, 2, 3, 5 and 8 ranks: is the model file the same?
  dask        the same estimators on 1, 2 and 4 Dask workers, each a process, and with one killed on the way
  memory      the peak of each of 4 ranks under a limit on its data, beside
              1.2 (n/P) d 4 + 2 M^2 4 bytes + 256 MiB
  kills       20 runs of logistic and 20 of k-means killed at random moments, each gone on with by another
              number of ranks
  threads     two ranks of one thread beside one process of two threads
  efficiency  8 ranks at n = 10^6, M = 2000: one rank's work timed alone, its messages counted; and a model
              of both, fitted to more such runs, for 64 nodes
The first four can be run on a busy machine, the last two want a quiet one; each says the load it met.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import math
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

# Dask's package has the name of this file, which stands first where modules are looked for.
_OWN = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [place for place in sys.path if os.path.abspath(place or os.curdir) != _OWN]

MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n"]
#: Of one rank: a limit on what it may allocate, and its peak in a file, in kilobytes.
LIMITED = """
import os, resource, sys
limit, folder = int(sys.argv[1]), sys.argv[2]
child = os.fork()
if child == 0:
    if limit > 0:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    os.execv(sys.argv[3], sys.argv[3:])
_, status, usage = os.wait4(child, 0)
rank = os.environ.get("OMPI_COMM_WORLD_RANK", "0")
open(os.path.join(folder, "peak." + rank), "w").write(str(usage.ru_maxrss))
sys.exit(os.waitstatus_to_exitcode(status))
"""


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f}"


def digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:12]


class Bench:
    def __init__(self, options: argparse.Namespace, folder: str) -> None:
        self.mercer = os.path.abspath(options.mercer)
        self.data = options.data
        self.folder = folder
        self.rows = options.rows
        self.random = random.Random(options.seed)
        self.tasks = options.tasks

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def train(self, ranks: int, words: list[str], **more: Any) -> subprocess.CompletedProcess:
        start = [*MPIRUN, str(ranks)] if ranks > 1 else []
        command = [*start, self.mercer, "train", *words, "--quiet"]
        return subprocess.run(command, capture_output=True, text=True, **more)

    def seconds(self, ranks: int, words: list[str], repeats: int = 1, processor: bool = False) -> float:
        """The least time from start to end, or that of the processor, which others disturb less."""

        def now() -> float:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime if processor else time.monotonic()

        best = math.inf
        for _ in range(repeats):
            begin = now()
            done = self.train(ranks, words)
            if done.returncode != 0:
                raise SystemExit(done.stderr)
            best = min(best, now() - begin)
        return best

    # ---- data

    def write(self, name: str, x: np.ndarray, y: np.ndarray) -> tuple[str, str]:
        rows, targets = self.path(name + ".npy"), self.path(name + ".targets.npy")
        np.save(rows, np.ascontiguousarray(x, dtype=np.float32))
        np.save(targets, np.ascontiguousarray(y, dtype=np.float64))
        return rows, targets

    def sets(self) -> dict[str, tuple[str, str]]:
        """Rows and classes (1 or 2) of parts of three sets."""
        skin = np.load(os.path.join(self.data, "skin", "skin.npz"))
        keys = list(skin.keys())
        x, y = skin[keys[0]], skin[keys[1]].ravel()
        order = np.random.default_rng(1).permutation(len(x))[: self.rows]
        found = {"skin": self.write("skin", x[order], y[order])}
        with gzip.open(os.path.join(self.data, "covtype", "covtype.csv.gz"), "rt") as file:
            table = np.loadtxt(file, delimiter=",", max_rows=self.rows, comments=None, skiprows=1)
        found["covtype"] = self.write("covtype", table[:, :-1], 1 + (table[:, -1] == 2))
        with gzip.open(os.path.join(self.data, "mnist", "train-images-idx3-ubyte.gz")) as file:
            pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
        with gzip.open(os.path.join(self.data, "mnist", "train-labels-idx1-ubyte.gz")) as file:
            digits = np.frombuffer(file.read(), np.uint8, offset=8)
        found["mnist"] = self.write("mnist", pixels[: self.rows], 1 + digits[: self.rows] % 2)
        return found

    def made(self, n: int, d: int) -> tuple[str, str]:
        rng = np.random.default_rng(n)
        x = rng.standard_normal((n, d), dtype=np.float32)
        return self.write(f"made.{n}", x, np.sin(2 * x[:, 0]) + 0.1 * rng.standard_normal(n))

    def signs(self, targets: str) -> str:
        path = self.path("signs.npy")
        np.save(path, (np.load(targets) > 0).astype(np.float64))
        return path

    @staticmethod
    def span(task: str, centres: int) -> list[str]:
        more = {"k-means": ["--clusters", "5"], "kpca": ["--components", "5"]}.get(task, [])
        return ["--task", task, "--approximate", f"nystroem(centres={centres})", *more]

    # ---- parts

    def bytes(self) -> None:
        print("bytes: model files of 1, 2, 3, 5 and 8 ranks")
        for name, (rows, targets) in self.sets().items():
            for task in ("ridge", "logistic", "kpca", "k-means"):
                found = []
                for ranks in (1, 2, 3, 5, 8):
                    model = self.path("model.mercer")
                    words = [rows, model, "--labels", targets, "--scale", "standard"]
                    done = self.train(ranks, [*words, *self.span(task, 60)])
                    if done.returncode not in (0, 3):
                        raise SystemExit(done.stderr)
                    found.append(digest(model))
                verdict = "equal" if len(set(found)) == 1 else "DIFFERENT"
                print(f"  {name:8} {task:9} {verdict}  {' '.join(sorted(set(found)))}", flush=True)

    def dask(self) -> None:
        import dask.array
        from distributed import Client, LocalCluster

        import mercer
        import mercer.distributed

        span = "nystroem(centres=60)"
        makers = {
            "ridge": lambda: mercer.KernelRidge(kernel="rbf", gamma=0.1, approximate=span),
            "logistic": lambda: mercer.KernelLogisticRegression(approximate=span),
            "kpca": lambda: mercer.KernelPCA(5, kernel="rbf", gamma=0.1, approximate=span),
            "k-means": lambda: mercer.KernelKMeans(5, approximate=span),
        }

        def file_of(machine: Any) -> str:
            machine.save(self.path("dask.mercer"))
            return digest(self.path("dask.mercer"))

        print("dask: model files of one process, of 1, 2 and 4 workers, and of 2 of which one is killed")
        data = {n: (np.load(a), np.load(b)) for n, (a, b) in self.sets().items()}
        data = {n: ((x - x.mean(0)) / (x.std(0) + 1e-9), y) for n, (x, y) in data.items()}
        found = {(n, m): [file_of(makers[m]().fit(*data[n]))] for n in data for m in makers}
        for workers in (1, 2, 4, -2):
            options = {"threads_per_worker": 1, "dashboard_address": ":0"}
            with LocalCluster(n_workers=abs(workers), **options) as cluster, Client(cluster) as client:
                for name, machine in found:
                    client.wait_for_workers(abs(workers))
                    x, y = (dask.array.from_array(v, chunks=(10_000, *v.shape[1:])) for v in data[name])
                    own = makers[machine]()
                    killed: list[int] = []
                    if workers < 0:
                        own.callback = self.killer(client, killed)
                    begin = time.monotonic()
                    own.fit(x, y)
                    found[name, machine].append(file_of(own))
                    same = found[name, machine][-1] == found[name, machine][0]
                    what = f"{workers} workers" if workers > 0 else f"2, {len(killed)} killed"
                    print(f"  {name:8} {machine:9} {what:16} {'equal' if same else 'DIFFERENT'}"
                          f"  {time.monotonic() - begin:.1f} s, {load()}", flush=True)  # fmt: skip

    def killer(self, client: Any, killed: list[int]) -> Any:
        """A callback that kills a worker at a random moment, once, and notes that it did."""
        left = [self.random.randint(3, 25)]

        def listen(moment: dict[str, Any]) -> None:
            left[0] -= 1
            if left[0] == 0:
                killed.append(self.random.choice(sorted(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        return listen

    def memory(self) -> None:
        n, d, centres, ranks = 1_500_000, 100, 1000, 4
        bar = 1.2 * (n / ranks) * d * 4 + 2 * centres**2 * 4 + (256 << 20)
        rows, targets = self.made(n, d)
        print(f"memory: n = {n}, d = {d}, M = {centres}, {ranks} ranks; bar {bar / 1e6:.0f} MB a rank,")
        print("  which is also the limit on the data of each (RLIMIT_DATA)")
        words = ["train", rows, self.path("model.mercer"), "--labels", targets, "--threads", "1"]
        for task in ("ridge", "huber"):
            command = [*MPIRUN, str(ranks), sys.executable, "-c", LIMITED, str(int(bar)), self.folder]
            command += [self.mercer, *words, *self.span(task, centres)]
            done = subprocess.run(command, capture_output=True, text=True)
            peaks = []
            for r in range(ranks):
                with open(self.path(f"peak.{r}")) as file:
                    peaks.append(int(file.read()) * 1024)
            verdict = "kept" if done.returncode == 0 and max(peaks) <= bar else "MISSED"
            print(f"  {task:6} exit {done.returncode}, peaks {[round(p / 1e6) for p in peaks]} MB: {verdict}",
                  flush=True)  # fmt: skip
            if done.returncode != 0:
                print(done.stderr)

    def kills(self) -> None:
        n = 300_000
        rng = np.random.default_rng(5)
        x = rng.standard_normal((n, 8), dtype=np.float32)
        rows, targets = self.write("kills", x, 1 + (x[:, 0] * x[:, 1] > 0))
        tasks = {
            "logistic": ["--labels", targets, "--lambda", "1e-3", *self.span("logistic", 150)],
            "k-means": ["--labels", targets, *self.span("k-means", 150), "--starts", "1", "--passes", "15"],
        }
        for task in self.tasks or tasks:
            self.kill_and_resume(task, rows, [*tasks[task], "--threads", "1"])

    def kill_and_resume(self, task: str, rows: str, words: list[str]) -> None:
        whole, model, state = (self.path(n) for n in ("whole.mercer", "resumed.mercer", "state"))
        if (done := self.train(1, [rows, whole, *words])).returncode != 0:
            raise SystemExit(done.stderr)
        took = self.seconds(2, [rows, whole, *words], 1)
        print(f"kills: {task}, 20 runs of about {took:.1f} s, one rank of each killed at a random moment; {load()}",
              flush=True)  # fmt: skip
        kept = [*words, "--checkpoint", state, "--checkpoint-every", "0"]
        equal = killed = named = 0
        slowest = 0.0
        for _ in range(20):
            ranks = self.random.randint(2, 4)
            for path in (model, state):
                if os.path.exists(path):
                    os.remove(path)
            command = [*MPIRUN, str(ranks), self.mercer, "train", rows, model, *kept]
            run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(self.random.uniform(0.2, 1.0) * took)
            victims = ranks_below(run.pid)
            begin = time.monotonic()
            if victims and run.poll() is None:
                os.kill(self.random.choice(victims), signal.SIGKILL)
            said = run.communicate()[1]
            ended = time.monotonic() - begin
            if run.returncode != 0:
                killed += 1
                slowest = max(slowest, ended)
                named += f"is told to end; {state}" in said
                done = self.train(self.random.randint(1, 5), [rows, model, *kept, "--resume"])
                if done.returncode != 0:
                    raise SystemExit(done.stderr)
            equal += digest(model) == digest(whole)
        print(f"  {killed} of 20 killed before their end, jobs over within {slowest:.1f} s, the checkpoint named by "
              f"{named}; {equal} of 20 have the bytes of a run that was not disturbed", flush=True)  # fmt: skip

    def threads(self) -> None:
        print("threads: two ranks of one thread beside two threads, least of 4: seconds from start to end, and of the")
        print("  processor (a rank that waits for another one keeps its processor busy)")
        rows, targets = self.made(400_000, 28)
        sets = self.sets()
        few, classes = sets["mnist"]
        cover, kinds = sets["covtype"]
        runs = {
            "ridge M = 1000": [rows, "--labels", targets, *self.span("ridge", 1000)],
            "huber M = 500": [rows, "--labels", targets, *self.span("huber", 500)],
            "svc, all rows": [few, "--labels", classes, "--kernel", "rbf(gamma=3e-7)", "-C", "3"],
            "svc, narrow": [cover, "--labels", kinds, "--kernel", "rbf(gamma=32)", "--scale", "minmax", "-C", "3"],
            "svc M = 300": [rows, "--labels", self.signs(targets), *self.span("svc", 300), "--memory", "4096"],
        }
        for name, words in runs.items():
            words = [words[0], self.path("model.mercer"), *words[1:]]
            least = [math.inf] * 4
            for _ in range(4):  # in turns, so that both meet the same disturbances
                found = [*self.times(1, [*words, "--threads", "2"]), *self.times(2, [*words, "--threads", "1"])]
                least = [min(a, b) for a, b in zip(least, found)]
            wall, processor, spread, spread_processor = least
            print(f"  {name}: {wall:.2f} s by threads, {spread:.2f} s by ranks: {wall / spread:.2f}; of the processor "
                  f"{processor:.2f} s and {spread_processor:.2f} s: {processor / spread_processor:.2f}, {load()}",
                  flush=True)  # fmt: skip

    def times(self, ranks: int, words: list[str]) -> tuple[float, float]:
        begin = time.monotonic()
        used = self.seconds(ranks, words, processor=True)
        return time.monotonic() - begin, used

    def efficiency(self) -> None:
        """One rank's work is that of one process with its share of the rows."""
        d = 28
        print(f"efficiency: ridge, d = {d}, one thread a rank, seconds of the processor, {load()}")
        runs = []
        part = most_rows(1_000_000, 8)
        for n, centres in ((1_000_000, 2000), (part, 2000), (part, 1000), (500_000, 500), (part, 500)):
            rows, targets = self.made(n, d)
            words = [rows, self.path("model.mercer"), "--labels", targets, "--threads", "1"]
            took = self.seconds(1, [*words, *self.span("ridge", centres)], 1 if n > 500_000 else 3, True)
            runs.append((n, centres, took))
            print(f"  n = {n:8}, M = {centres}: {took:.2f} s alone, {load()}", flush=True)
            os.remove(rows)
        report_model(runs)


def leaves_of(n: int) -> tuple[int, int]:
    """How many leaves so many rows are cut into, and the rows of each."""
    rows = 8192
    while -(-n // rows) > 128:
        rows *= 2
    return -(-n // rows), rows


def most_rows(n: int, ranks: int) -> int:
    """Of the rank that has most: whole leaves."""
    leaves, rows = leaves_of(n)
    return min(n, rows * max((r + 1) * leaves // ranks - r * leaves // ranks for r in range(ranks)))


def message_bytes(n: int, centres: int, ranks: int) -> float:
    """Sent and received by the rank with most nodes of the tree, for one sum of M(M + 1)/2 doubles: its nodes
    cut into slices, the nodes of all for its own slice, and the sum."""
    leaves, _ = leaves_of(n)
    counts = []
    for r in range(ranks):
        at, end, count = r * leaves // ranks, (r + 1) * leaves // ranks, 0
        while at < end:
            size = at & -at if at else 1 << 30
            while size > 1 and at + size > end and not (end == leaves and at + size // 2 < end):
                size //= 2
            at, count = at + size, count + 1
        counts.append(count)
    triangle = centres * (centres + 1) / 2 * 8
    return triangle * (max(counts) + sum(counts) / ranks + 1 + 1 / ranks)


def report_model(runs: list[tuple[int, int, float]]) -> None:
    ranks = 8
    (n, centres, whole), (_, _, part) = runs[:2]
    moved = message_bytes(n, centres, ranks)
    for name, rate in (("1 Gbit/s", 125e6), ("10 Gbit/s", 1.25e9)):
        at = part + moved / rate
        print(f"  8 ranks, {moved / 1e6:.0f} MB to and from each at {name}: {at:.2f} s, efficiency "
              f"{whole / (ranks * at):.2f}")  # fmt: skip
    table = np.array([[1, n * m * m, n * m, m**3] for n, m, _ in runs], dtype=float)
    took = np.array([t for _, _, t in runs])
    from scipy.optimize import nnls

    scale = table.max(axis=0)
    fit, _ = nnls(table / scale / took[:, None], np.ones(len(took)))
    fit /= scale
    print(f"  model: {fit[0]:.2f} + {fit[1]:.3g} r M² + {fit[2]:.3g} r M + {fit[3]:.3g} M³ s, r rows of the rank that "
          f"has most; off by at most {np.max(np.abs(table @ fit / took - 1)):.0%} of these runs")  # fmt: skip
    for n, m in ((10_000_000, 2000), (100_000_000, 2000), (100_000_000, 5000)):
        alone = 0.0
        for p in (1, 8, 64):
            r = most_rows(n, p)
            at = float(np.array([1, r * m * m, r * m, m**3]) @ fit)
            at += message_bytes(n, m, p) / 1.25e9 if p > 1 else 0
            alone = alone or at
            print(f"  estimate: n = {n:.0e}, M = {m}, {p} nodes of one thread at 10 Gbit/s: {at:.0f} s, efficiency "
                  f"{alone / (p * at):.2f}")  # fmt: skip


def ranks_below(pid: int) -> list[int]:
    """The processes that an mpirun has started."""
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout
    return [int(word) for word in found.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--mercer", default="build/bin/mercer")
    parser.add_argument("--rows", type=int, default=40_000, help="of each set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tasks", nargs="+", choices=("logistic", "k-means"), help="of kills: all unless said")
    parts = ("bytes", "dask", "memory", "kills", "threads", "efficiency")
    parser.add_argument("parts", nargs="*", default=parts, metavar="PART", help="some of " + ", ".join(parts))
    options = parser.parse_args()
    for part in options.parts:
        if part not in parts:
            parser.error(f"there is no part {part!r}: choose among {', '.join(parts)}")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        for part in options.parts:
            getattr(bench, part)()


if __name__ == "__main__":
    main()
