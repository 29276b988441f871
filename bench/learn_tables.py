#!/usr/bin/env python3
"""mercer learn on raw tables, beside scikit-learn given the same time.

    python3 bench/learn_tables.py --data ../shared/data --mercer build/bin/mercer --time 60

Every table is cut once into 80 % to learn from and 20 % to judge on, as lines of the file, so that both
sides get the same raw cells. `mercer info`, `learn` and `predict` run without further options. The peers
(HistGradientBoosting, RandomForest, a tuned SVC or SVR) get the cells through a ColumnTransformer with
imputation, one-hot levels and scaling; within the time they try settings by three folds, drawn at random,
and refit the best. Printed: test error of each, and whether the interval that `learn` states from its own
rows set aside holds the error on the test file: that of other rows, which vary as those set aside do
(in brackets whether the narrower one of the expected error holds it as well).
"""

import argparse
import csv
import gzip
import io
import json
import lzma
import os
import random
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")

#: file below the data folder, has a header, separator, target column (from 0, -1: last)
RAW = [
    ("abalone/abalone.csv", False, ",", -1),
    ("airfoil/airfoil_self_noise.dat", False, "\t", -1),
    ("boston_housing/housing.data", False, None, -1),
    ("concrete/concrete.csv", True, ",", -1),
    ("california_housing/cal_housing.csv.gz", True, ",", -1),
    ("ionosphere/ionosphere.csv", False, ",", -1),
    ("sonar/sonar.csv", False, ",", -1),
    ("pima_diabetes/pima-indians-diabetes.csv", False, ",", -1),
    ("spambase/spam.data.gz", False, None, -1),
    ("sms_spam/SMSSpamCollection.gz", False, "\t", 0),
    ("mcycle/mcycle.csv", True, ",", -1),
    ("mauna_loa_co2/co2_R_1959_1997.csv", True, ",", -1),
]


def content_of(path):
    opener = gzip.open if path.endswith(".gz") else lzma.open if path.endswith(".xz") else open
    with opener(path, "rt", encoding="utf-8", errors="replace", newline="") as file:
        return file.read()


def made_tables():
    """Six tables, each with another set of nuisances: (name, text of the file, rows, target column)."""
    for number in range(6):
        rng = np.random.default_rng(number)
        n = 600
        age = rng.normal(45, 15, n)
        income = np.exp(rng.normal(10, 1, n))
        city = rng.choice(["Rome", "Oslo", "Bonn", "Léon"], n, p=[0.4, 0.3, 0.2, 0.1])
        day = rng.integers(0, 700, n)
        member = rng.random(n) < 0.5
        f = (age - 45) / 15 + (city == "Rome") * 1.5 - member + np.sin(day / 58) + rng.normal(size=n) * 0.3
        gap = rng.random((n, 3)) < 0.08
        numbers = number % 2 == 1
        separator = ";,|\t;,"[number]
        comma = number in (0, 4)
        quote = number in (2, 5)

        def cell(value):
            text = str(value)
            return '"' + text + '"' if quote or separator in text else text

        def amount(value, thousands=False):
            text = f"{value:,.2f}" if thousands else f"{value:.2f}"
            return text.replace(",", " ").replace(".", ",") if comma else text

        lines = []
        for i in range(n):
            when = np.datetime64("2024-01-01") + int(day[i])
            when = str(when) if number < 3 else "{2}.{1}.{0}".format(*str(when).split("-"))
            target = amount(f[i] * 10) if numbers else ("yes" if f[i] > 0 else "no")
            row = [f"id{i:05d}", "" if gap[i, 0] else amount(age[i]),
                   "NA" if gap[i, 1] else amount(income[i], number == 1), city[i], when,
                   "true" if member[i] else "false", "12 %", "?" if gap[i, 2] else amount(rng.random()),
                   target]
            lines.append(separator.join(cell(v) for v in row))
        head = separator.join(cell(v) for v in ["key", "age", "income", "city", "since", "member", "rate",
                                                "noise", "outcome"])
        end = "\r\n" if number in (1, 3) else "\r" if number == 4 else "\n"
        mark = "\ufeff" if number in (0, 3) else ""
        yield f"made {number + 1}", mark, head, lines, end


def run_mercer(mercer, folder, train, test, seconds):
    model = os.path.join(folder, "model.mercer")
    called = [mercer, "learn", train, "--time", str(seconds), "-o", model, "--json", "-q"]
    began = time.time()
    learnt = subprocess.run(called, capture_output=True, text=True)
    took = time.time() - began
    info = subprocess.run([mercer, "info", train], capture_output=True, text=True)
    if learnt.returncode or info.returncode:
        return {"failed": (learnt.stderr or info.stderr).strip()[-200:]}
    found = json.loads(learnt.stdout)
    predicted = subprocess.run([mercer, "predict", model, test, "-q"], capture_output=True, text=True)
    judged = subprocess.run([mercer, "judge", model, test, "--json", "-q"], capture_output=True, text=True)
    if judged.returncode or predicted.returncode:
        return {"failed": (judged.stderr + predicted.stderr).strip()[-200:]}
    outcome = json.loads(judged.stdout)
    numbers = found["target"] == "numbers"
    own = found["judgement"]
    flipped = lambda pair: [1 - v for v in reversed(pair)]
    interval = own["rmse_again"] if numbers else flipped(own["accuracy_again"])
    expected = own["rmse_interval"] if numbers else flipped(own["accuracy_interval"])
    error = outcome["rmse"] if numbers else 1 - outcome["accuracy"]
    return {"numbers": numbers, "error": error, "interval": interval, "expected": expected, "seconds": took,
            "machine": found["candidates"][found["chosen"]]["name"]}


def peer_cells(rows, target):
    """Cells as people would prepare them for scikit-learn: numbers as numbers, the rest as text."""
    columns = list(zip(*rows))
    y = np.array(columns[target])
    features = []
    for j, cells in enumerate(columns):
        if j == target % len(columns):
            continue
        values = np.array([number_of(cell) for cell in cells], dtype=object)
        there = [v for v in values if v is not None]
        if len(there) >= 0.7 * len(cells):
            features.append(("number", np.array([np.nan if v is None else v for v in values], float)))
        elif len(set(cells)) < 0.5 * len(cells):
            features.append(("category", np.array(cells, dtype=object)))
        elif np.mean([len(c) for c in cells]) > 15:
            features.append(("text", np.array(cells, dtype=object)))
    return features, y


def number_of(cell):
    text = cell.replace("\u00a0", " ").replace(" ", "").rstrip("%")
    if "," in text and "." not in text:
        text = text.replace(",", ".") if len(text.split(",")[-1]) != 3 else text.replace(",", "")
    try:
        return float(text.replace(",", ""))
    except ValueError:
        parts = cell.replace(".", "-").split("-")
        if len(parts) == 3 and all(p.isdigit() for p in parts):
            year, month, day = parts if len(parts[0]) == 4 else reversed(parts)
            return float((np.datetime64(f"{year}-{month}-{day}") - np.datetime64("1970-01-01")).astype(int))
        return None


def peer_errors(train_rows, test_rows, target, numbers, seconds):
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import (HistGradientBoostingClassifier, HistGradientBoostingRegressor,
                                  RandomForestClassifier, RandomForestRegressor)
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.model_selection import ParameterSampler, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
    from sklearn.svm import SVC, SVR
    from sklearn.base import clone

    features, y = peer_cells(train_rows + test_rows, target)
    n = len(train_rows)
    y = np.array([number_of(v) for v in y], float) if numbers else y
    kinds = [kind for kind, _ in features]
    X = np.empty((len(y), len(features)), dtype=object)
    for j, (_, values) in enumerate(features):
        X[:, j] = values
    pick = lambda kind: [j for j, k in enumerate(kinds) if k == kind]
    to_float = FunctionTransformer(lambda a: a.astype(float))
    parts = [("numbers", make_pipeline(to_float, SimpleImputer(add_indicator=True), StandardScaler()),
              pick("number")),
             ("names", OneHotEncoder(handle_unknown="ignore", sparse_output=False, max_categories=50),
              pick("category"))]
    parts += [(f"text{j}", TfidfVectorizer(max_features=5000), j) for j in pick("text")]
    dense = FunctionTransformer(lambda a: a.toarray() if hasattr(a, "toarray") else a)
    prepare = ColumnTransformer(parts)
    machines = {
        "boosting": (HistGradientBoostingRegressor(random_state=0) if numbers
                     else HistGradientBoostingClassifier(random_state=0),
                     {"learning_rate": [0.03, 0.1, 0.2], "max_leaf_nodes": [7, 15, 31, 63],
                      "l2_regularization": [0, 1, 10], "max_iter": [100, 300]}),
        "forest": ((RandomForestRegressor if numbers else RandomForestClassifier)(300, random_state=0),
                   {"max_features": [0.3, 0.5, 1.0, "sqrt"], "min_samples_leaf": [1, 2, 5]}),
        "svm": (SVR() if numbers else SVC(),
                {"C": [0.1, 1, 10, 100, 1000], "gamma": ["scale", 0.001, 0.01, 0.1, 1]}),
    }
    scoring = "neg_mean_squared_error" if numbers else "accuracy"
    errors = {}
    for name, (machine, grid) in machines.items():
        scale = y[:n].std() if numbers and name == "svm" else 1
        began = time.time()
        best, best_score = None, -np.inf
        points = list(ParameterSampler(grid, 25, random_state=0))
        for point in [{}] + points:
            if best is not None and time.time() - began > 0.7 * seconds:
                break
            pipeline = make_pipeline(clone(prepare), dense, clone(machine).set_params(**point))
            if len(y) > 8000 and name == "svm":
                rows = np.random.default_rng(0).permutation(n)[:4000]
            else:
                rows = np.arange(n)
            score = cross_val_score(pipeline, X[rows], y[rows] / scale if numbers else y[rows], cv=3,
                                    scoring=scoring).mean()
            if score > best_score:
                best, best_score = pipeline, score
        best.fit(X[:n], y[:n] / scale if numbers else y[:n])
        said = best.predict(X[n:])
        errors[name] = (float(np.sqrt(np.mean((said * scale - y[n:]) ** 2))) if numbers
                        else float(np.mean(said != y[n:])))
    return errors


def rows_of(lines, separator):
    if separator is None:
        return [line.split() for line in lines]
    quoting = csv.QUOTE_NONE if separator == "\t" else csv.QUOTE_MINIMAL
    return list(csv.reader(io.StringIO("\n".join(lines)), delimiter=separator, quoting=quoting))


def tables(data):
    for path, header, separator, target in RAW:
        full = os.path.join(data, path)
        if not os.path.exists(full):
            print(f"{path}: not there, left out", file=sys.stderr)
            continue
        lines = [line for line in content_of(full).replace("\r", "").split("\n") if line.strip()]
        head = lines.pop(0) if header else None
        yield path.split("/")[-1], "", head, lines, "\n", separator, target
    for name, mark, head, lines, end in made_tables():
        separator = max(";,|\t", key=head.count)
        yield name, mark, head, lines, end, separator, -1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--mercer", default="build/bin/mercer")
    parser.add_argument("--time", type=float, default=60)
    parser.add_argument("--only", default="", help="tables whose name holds this")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--no-made", action="store_true", help="the raw tables alone")
    options = parser.parse_args()
    print("| table | rows | error of | mercer learn | chosen | covered | boosting | forest | svm |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, mark, head, lines, end, separator, target in tables(options.data):
        if options.only not in name or (options.no_made and name.startswith("made ")):
            continue
        random.Random(7).shuffle(lines)
        cut = len(lines) // 5
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for part, rows in (("test", lines[:cut]), ("train", lines[cut:])):
                paths.append(os.path.join(folder, part + ".csv"))
                with open(paths[-1], "w", encoding="utf-8", newline="") as file:
                    file.write(mark + end.join(([head] if head else []) + rows) + end)
            found = run_mercer(options.mercer, folder, paths[1], paths[0], options.time)
        if "failed" in found:
            print(f"| {name} | {len(lines)} | failed: {found['failed']} |", flush=True)
            continue
        low, high = found["interval"]
        covered = "yes" if low <= found["error"] <= high else "no"
        covered += " (yes)" if found["expected"][0] <= found["error"] <= found["expected"][1] else " (no)"
        peers = {}
        if not options.no_peers:
            peers = peer_errors(rows_of(lines[cut:], separator), rows_of(lines[:cut], separator), target,
                                found["numbers"], options.time)
        measure = "RMSE" if found["numbers"] else "share wrong"
        cells = [f"{peers[k]:.4g}" if k in peers else "" for k in ("boosting", "forest", "svm")]
        print(f"| {name} | {len(lines)} | {measure} | {found['error']:.4g} in {found['seconds']:.0f} s | "
              f"{found['machine']} | {covered}, {low:.4g} to {high:.4g} | " + " | ".join(cells) + " |",
              flush=True)


if __name__ == "__main__":
    main()
