"""Series, nodes of a graph and generative models against published figures, or against plain kernels on
the same rows where there are none (001, kernels on structured data). Texts: structures.py.

    python3 repro/series_and_nodes.py [NAME ...]

Writes build/repro/series_and_nodes.md. What a kernel leaves open is chosen by folds inside the rows that
are learnt from.
"""

from __future__ import annotations

import gzip
import math
import pathlib
import random
import statistics
import sys

from common import OUT, data_file, mercer, read_rows

DRAWS = 10


def fresh(*names: str) -> list[pathlib.Path]:
    """Places for files, none of them there yet."""
    paths = [OUT / name for name in names]
    for path in paths:
        path.unlink(missing_ok=True)
    return paths


# ---- series


def one_series(kind: int, draw: random.Random) -> list[float]:
    """Cylinder, bell or funnel [Saito 1994]: 128 moments, of mean 0 and deviation 1."""
    begin = draw.randint(16, 32)
    end = begin + draw.randint(32, 96)
    height = 6 + draw.gauss(0, 1)
    values = []
    for t in range(1, 129):
        shape = (1.0, (t - begin) / (end - begin), (end - t) / (end - begin))[kind]
        values.append((height * shape if begin <= t <= end else 0.0) + draw.gauss(0, 1))
    mean, deviation = statistics.mean(values), statistics.pstdev(values)
    return [(v - mean) / deviation for v in values]


def write_series(path: pathlib.Path, count: int, draw: random.Random) -> None:
    lines = []
    for i in range(count):
        values = one_series(i % 3, draw)
        lines.append("cbf"[i % 3] + "".join(f",{v:.6g}" for v in values) + "\n")
    path.write_text("".join(lines))


def waves():
    """30 series to learn from and 900 to test on, as in the UCR archive, whose figures are printed:
    the nearest neighbour by Euclidean distance and by dynamic time warping."""
    kernels = {
        "Gaussian": ("rbf(gamma=1)", ["gamma=0.001,0.003,0.01,0.03"]),
        "`gak`": ("normalize(gak(sigma=1))", ["sigma=0.5,1,2,4"]),
        "`signature`": ("normalize(signature(level=$level, time=true))", ["level=2,3,4"]),
    }
    scores: dict[str, list[float]] = {"nearest": [], **{name: [] for name in kernels}}
    for seed in range(DRAWS):
        train, test = OUT / "waves-train.csv", OUT / "waves-test.csv"
        draw = random.Random(seed)
        write_series(train, 30, draw)
        write_series(test, 900, draw)
        model, labels = fresh("waves.mercer", "waves.txt")
        mercer("train", train, model, "--task", "knn", "--neighbours", 1, "--kernel", "linear", "--label", 1)
        found = mercer("predict", model, test, "-o", labels, "--label", 1)
        scores["nearest"].append(100 * found["accuracy"])
        for name, (kernel, grids) in kernels.items():
            model, labels = fresh("waves.mercer", "waves.txt")
            axes = [word for grid in [*grids, "C=1,10,100"] for word in ("--grid", grid)]
            mercer("tune", train, model, "--kernel", kernel, *axes, "--folds", 5, "--label", 1)
            found = mercer("predict", model, test, "-o", labels, "--label", 1)
            scores[name].append(100 * found["accuracy"])
    how = f"30 to learn from, 900 held out, {DRAWS} drawings"
    printed = {"nearest": 85.2}
    for name, values in scores.items():
        what = "nearest neighbour" if name == "nearest" else name
        yield f"cylinder, bell, funnel, {what}", how, printed.get(name), spread(values)


# ---- nodes


def neighbours(rows: list[list[float]], count: int) -> set[tuple[int, int]]:
    """Edges between each row and those nearest to it."""
    edges = set()
    for i, row in enumerate(rows):
        distances = sorted((math.dist(row, other), j) for j, other in enumerate(rows) if j != i)
        edges |= {(min(i, j), max(i, j)) for _, j in distances[:count]}
    return edges


def digits():
    """1797 digits of 8 x 8 points, five of each with their labels: a machine on the graph of the ten
    nearest beside a Gaussian on the points, both tried on all others."""
    table, answers = fresh("digits.csv", "digits-labels.txt")
    mercer(
        "convert", "@digits", "-o", table, "--to", "csv", "--write-header", "no", "--labels-to", answers
    )  # fmt: skip
    rows, truth = read_rows(table), answers.read_text().split()
    edges = sorted(neighbours(rows, 10))
    scores: dict[str, list[float]] = {"`diffusion`": [], "`regularized_laplacian`": [], "Gaussian": []}
    for seed in range(DRAWS):
        known = labelled(truth, 5, random.Random(seed))
        others = [i for i in range(len(rows)) if i not in known]
        for name, kernel in (
            ("`diffusion`", "normalize(diffusion(beta=1, laplacian=normalized))"),
            ("`regularized_laplacian`", "normalize(regularized_laplacian(beta=1, laplacian=normalized))"),
        ):
            graph, model, said = fresh("digits.edges", "digits.mercer", "digits-said.txt")
            lines = [f"n{a:04} n{b:04}\n" for a, b in edges]
            lines += [f"n{i:04}: {truth[i]}\n" for i in sorted(known)]
            graph.write_text("".join(lines))
            beta = ("--grid", "beta=1,3,10,30,100")
            mercer("tune", graph, model, "--kernel", kernel, *beta, "-C", 10, "--folds", 5)
            mercer("predict", model, graph, "--label", "none", "-o", said)
            words = [line.split("\t")[-1] for line in said.read_text().splitlines()][-len(rows) :]
            scores[name].append(100 * statistics.mean(words[i] == truth[i] for i in others))
        scores["Gaussian"].append(gaussian_on(rows, truth, known, others))
    for name, values in scores.items():
        how = f"five labels a class, all others held out, {DRAWS} drawings"
        yield f"digits, {name}", how, None, spread(values)


def labelled(truth: list[str], each: int, draw: random.Random) -> set[int]:
    known: set[int] = set()
    for label in sorted(set(truth)):
        known |= set(draw.sample([i for i, own in enumerate(truth) if own == label], each))
    return known


def gaussian_on(rows, truth, known, others) -> float:
    train, test, model, said = fresh("few.csv", "rest.csv", "few.mercer", "few.txt")
    for path, chosen in ((train, sorted(known)), (test, others)):
        lines = [truth[i] + "".join(f",{v:g}" for v in rows[i]) + "\n" for i in chosen]
        path.write_text("".join(lines))
    more = ("--label", 1, "--text-labels")
    gamma = ("--grid", "gamma=0.0001,0.0003,0.001,0.003,0.01")
    mercer("tune", train, model, "--kernel", "rbf(gamma=1)", *gamma, "-C", 10, "--folds", 5, *more)
    return 100 * mercer("predict", model, test, "-o", said, *more)["accuracy"]


# ---- generative models


def models_inside():
    """Promoters, and splice junctions of the two kinds: Fisher and TOP kernels of hidden Markov models
    beside the chain's own letters counted (Tsuda and others 2002 have other data)."""
    junctions, two = data_file("splice_junctions/splice.data.gz"), OUT / "two-kinds.csv"
    with gzip.open(junctions, "rt") as file:
        fields = [[word.strip() for word in line.split(",")] for line in file]
    chosen = [(kind, text) for kind, _, text in fields if kind in ("EI", "IE")]
    random.Random(0).shuffle(chosen)
    two.write_text("".join(f"{kind},{text}\n" for kind, text in chosen))
    model = "hmm(states=4, alphabet=dna)"
    for what, path in (("promoters", data_file("promoters/promoters.csv")), ("EI or IE", two)):
        for name, kernel in (
            ("Fisher", f"normalize(fisher({model}))"),
            ("TOP", f"normalize(top({model}))"),
            ("marginalised", f"normalize(marginalised({model}, order=2))"),
            ("spectrum 2", "normalize(spectrum(k=2, alphabet=dna))"),
        ):
            report = mercer("train", path, "--kernel", kernel, "-C", 10, "--cv", 10, "--label", 1)
            yield f"{what}, {name}", "10 folds", None, 100 * report["cross_validation"]["accuracy"]


# ---- the table


def spread(values: list[float]) -> tuple[float, float]:
    return statistics.mean(values), statistics.pstdev(values)


EXPERIMENTS = {f.__name__: f for f in (waves, digits, models_inside)}


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    lines = ["| experiment | how | printed | here |", "|---|---|---|---|"]
    for name in sys.argv[1:] or EXPERIMENTS:
        if name not in EXPERIMENTS:
            sys.exit(f"there is no experiment {name}; there are {', '.join(EXPERIMENTS)}")
        for what, how, printed, found in EXPERIMENTS[name]():
            figure = "" if printed is None else f"{printed:.1f}"
            ours = f"{found[0]:.1f} ± {found[1]:.1f}" if isinstance(found, tuple) else f"{found:.1f}"
            lines.append(f"| {what} | {how} | {figure} | {ours} |")
            print(lines[-1], flush=True)
    (OUT / "series_and_nodes.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
