"""Image completion by kernel dependency estimation (001; Weston and others 2002): the lower half of
a USPS digit from its upper half.

    python3 repro/usps_completion.py [TRAIN] [TEST]          # digits of each, default 2000 and 1000

Three kinds of answer: the pre-image of the prediction ("KDE"), the lower half of the training digit
whose image is nearest to the prediction ("KDE, chosen"), and beside them the lower half that belongs
to the nearest upper half (1-NN), or of the k nearest the one nearest to their mean (k-NN). A mistake
is counted in two ways:

  reading  the completed digit is read as another class than the true one by a support vector
           machine trained on whole digits that are in neither set
  class    the half chosen belongs to a digit of another class than the true one

The lecture prints 73 mistakes of k-NN against 23, and neither the number of digits nor what counts as
a mistake: the counts here are not those. Prints them,
the mean squared error of a pixel and the mean distance in the output feature space (the loss that
is minimised), and writes a picture of all digits that one of the two completes wrongly by reading.
"""

from __future__ import annotations

import gzip
import math
import sys

from common import OUT, Row, data_file, mean_squared, mercer, read_rows, write_rows, write_sheet

INPUT, OUTPUT = "rbf(gamma=0.015)", "rbf(gamma=0.015)"
COMPONENTS, NEIGHBOURS = 128, (1, 3, 5)


def digits(name: str) -> list[tuple[int, Row]]:
    with gzip.open(data_file(f"usps/{name}"), "rt") as file:
        lines = [line.split() for line in file]
    return [(round(float(words[0])), [float(v) for v in words[1:]]) for words in lines]


def loss(a: Row, b: Row, gamma: float = 0.015) -> float:
    """The distance of two lower halves in the output feature space."""
    return math.sqrt(2 - 2 * math.exp(-gamma * sum((x - y) ** 2 for x, y in zip(a, b))))


def plain(*words: object) -> tuple[object, ...]:
    return (*words, "--label", "none", "--header", "no")


def by_neighbours(upper: list[Row], fresh: list[Row], lower: list[Row], k: int) -> list[int]:
    """For each new upper half the lower half nearest to the mean of those of its k neighbours."""
    a, b = write_rows(OUT / "nn-train.csv", upper), write_rows(OUT / "nn-test.csv", fresh)
    mercer(*plain("gram", "negative_distance(beta=2)", b, "--against", a, "-o", OUT / "nn.csv"))
    chosen = []
    for row in read_rows(OUT / "nn.csv"):
        near = sorted(range(len(row)), key=lambda i: -row[i])[:k]
        mean = [sum(lower[i][j] for i in near) / k for j in range(len(lower[0]))]
        chosen.append(min(near, key=lambda i: sum((x - y) ** 2 for x, y in zip(lower[i], mean))))
    return chosen


def reader(rest: list[tuple[int, Row]]) -> str:
    """A support vector machine on whole digits."""
    source = write_rows(OUT / "whole.csv", [row + [float(label)] for label, row in rest])
    model = OUT / "reader.mercer"
    mercer("train", source, model, "-C", 10, "--kernel", "rbf(gamma=0.0078125)", "--label", "last",
           "--header", "no")
    return str(model)


def read_digits(model: str, rows: list[Row]) -> list[int]:
    source = write_rows(OUT / "completed.csv", rows)
    target = OUT / "labels.txt"
    mercer(*plain("predict", model, source, "-o", target))
    return [round(float(word)) for word in target.read_text().split()]


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    counts = [int(word) for word in sys.argv[1:3]]
    train_count, test_count = counts + [2000, 1000][len(counts) :]
    everything = digits("zip.train.gz")
    train, rest = everything[:train_count], everything[train_count:]
    test = digits("zip.test.gz")[:test_count]
    truth = [label for label, _ in test]
    upper, lower = [r[:128] for _, r in train], [r[128:] for _, r in train]
    fresh = [r[:128] for _, r in test]
    model = OUT / "completion.mercer"
    report = mercer(*plain("depend", write_rows(OUT / "upper.csv", upper),
                           write_rows(OUT / "lower.csv", lower), model, "--kernel", INPUT,
                           "--kernel-y", OUTPUT, "--components", COMPONENTS, "--lambda-path",
                           "0.01,0.03,0.1,0.3,1,3"))
    print(f"{train_count} to learn from, {test_count} to complete; lambda {report['lambda']}, "
          f"{report['components']} components explain {100 * report['output_explained']:.1f} %")
    source = write_rows(OUT / "fresh.csv", fresh)
    positions = OUT / "positions.txt"
    mercer(*plain("answer", model, source, "--positions", positions, "-o", OUT / "answers.csv"))
    mercer(*plain("answer", model, source, "--preimage", "fixed-point", "-o", OUT / "made.csv"))
    chosen = {"KDE, chosen": [int(word) for word in positions.read_text().split()]}
    for k in NEIGHBOURS:
        chosen[f"{k}-NN"] = by_neighbours(upper, fresh, lower, k)
    answers = {"KDE": read_rows(OUT / "made.csv")}
    answers |= {name: [lower[i] for i in which] for name, which in chosen.items()}
    machine = reader(rest)
    whole = read_digits(machine, [row for _, row in test])
    print(f"the reader errs on {sum(a != b for a, b in zip(whole, truth))} of the whole digits")
    names = ("method", "mistakes (reading)", "mistakes (class)", "squared error of a pixel",
             "distance in feature space")  # fmt: skip
    lines = ["| " + " | ".join(names) + " |", "|---|---:|---:|---:|---:|"]
    wrong: dict[str, list[bool]] = {}
    real = [row[128:] for _, row in test]
    for name, halves in answers.items():
        read = read_digits(machine, [a + b for a, b in zip(fresh, halves)])
        wrong[name] = [a != b for a, b in zip(read, truth)]
        other = "-"
        if name in chosen:
            other = str(sum(train[i][0] != label for i, label in zip(chosen[name], truth)))
        far = sum(map(loss, halves, real)) / len(real)
        lines.append(f"| {name} | {sum(wrong[name])} | {other} | "
                     f"{mean_squared(halves, real):.3f} | {far:.4f} |")
        print(lines[-1], flush=True)
    (OUT / "usps_completion.md").write_text("\n".join(lines) + "\n")
    shown = [i for i in range(len(test)) if wrong["KDE"][i] or wrong["1-NN"][i]][:120]
    sheet = []
    for first in range(0, len(shown), 20):
        part = shown[first : first + 20]
        sheet.append([test[i][1] for i in part])
        for name in ("1-NN", "KDE"):
            sheet.append([fresh[i] + answers[name][i] for i in part])
        sheet.append([[1.0] * 256 for _ in part])
    write_sheet(OUT / "usps_completion.png", sheet, 16, -1, 1)
    print(f"{OUT / 'usps_completion.png'}: original, 1-NN, KDE, where one of the two is misread")


if __name__ == "__main__":
    main()
