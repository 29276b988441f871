#!/usr/bin/env python3
"""Check the certificate of a Mercer model from its file and its training data.

    python tools/check_certificate.py MODEL DATA.csv [--label NAME|first|last|none] [--json]

Needs Python 3.9 and NumPy, shares no code with Mercer, and is short enough to be read before it is
believed. It reads the model file (docs/model-format.md), puts the coefficients back on their rows,
computes the kernel matrix K anew, and for every problem of the model (a pair of classes, a target, a
sample) prints the bracket [dual, primal], in which the optimum lies by weak duality where K has no
negative curvature; the smallest eigenvalue of K on the directions the coefficients can take; and by
how much they break a bound or an equality.

Exit code 0: every bracket holds and agrees with what the model claims to 1e-3; 1: one does not;
3: K has negative curvature, so that no bracket is proved. All in double precision, rounding ignored:
`mercer verify --rigorous` is the one that does not ignore it.

Tasks: svc, nu-svc, hard, svr, nu-svr, one-class, svdd. Kernels: linear, polynomial, sigmoid, rbf,
laplacian, negative_distance. Rows of weight 1, dense, unscaled or scaled by --scale standard.
"""

import argparse
import csv
import json
import re
import sys

import numpy as np


def read_model(path):
    """Arrays and texts of a safetensors file."""
    data = open(path, "rb").read()
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    meta = header.pop("__metadata__")
    kinds = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "U32": "<u4"}
    arrays = {
        name: np.frombuffer(body[slice(*a["data_offsets"])], kinds[a["dtype"]]).reshape(a["shape"])
        for name, a in header.items()
    }
    return arrays, meta


def read_table(path, label):
    """Rows of numbers, and the label column as texts (None without one)."""
    lines = [line for line in csv.reader(open(path, newline="")) if line]
    try:
        [float(cell) for cell in lines[0][:-1]]
        names = []
    except ValueError:
        names, lines = lines[0], lines[1:]
    places = {"none": None, "first": 0, "last": len(lines[0]) - 1}
    column = places[label] if label in places else names.index(label)
    rows = [[float(c) for j, c in enumerate(line) if j != column] for line in lines]
    return np.array(rows), None if column is None else [line[column] for line in lines]


def scaled(x, rule):
    if rule["kind"] == "none":
        return x
    if rule["kind"] != "standard":
        raise SystemExit(f"scaling {rule['kind']} is not known here")
    spread = np.array(rule["spread"])
    inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread != 0)
    return (x - np.array(rule["center"])) * inverse


def kernel_matrix(text, x):
    name, inside = re.fullmatch(r"(\w+)(?:\((.*)\))?", text).groups()
    given = {k: float(v) for k, v in re.findall(r"(\w+)\s*=\s*([^,)]+)", inside or "")}
    gamma, dot = given.get("gamma", 1.0), x @ x.T
    if name == "linear":
        return dot
    if name == "polynomial":
        return (given.get("coef0", 1.0) + gamma * dot) ** int(given.get("degree", 3))
    if name == "sigmoid":
        return np.tanh(gamma * dot + given.get("coef0", 0.0))
    difference = np.array([row - x for row in x])
    squared = (difference**2).sum(axis=2)
    if name == "rbf" and "gamma" in given:
        return np.exp(-gamma * squared)
    if name == "laplacian" and given.keys() == {"gamma"}:
        return np.exp(-gamma * np.abs(difference).sum(axis=2))
    if name == "negative_distance":
        return -(squared ** (given.get("beta", 1.0) / 2))
    raise SystemExit(f"the kernel {text} is not known here")


def least_curvature(k, balanced):
    """The smallest eigenvalue of K, among vectors of sum 0 if the coefficients' sum is given."""
    n = len(k)
    size = max(np.abs(k).max(), 1e-300)
    if balanced:  # the vector 1 itself is no direction, and gets a large eigenvalue
        k = (np.eye(n) - 1 / n) @ k @ (np.eye(n) - 1 / n) + size
    return np.linalg.eigvalsh(k)[0], 1e-12 * n * size


def check(task, k, beta, bias, y, c, told, claim):
    """Dual, primal and infeasibility of f = sum beta_j k(x_j, .) + bias."""
    v = k @ beta
    norm = beta @ v
    width = np.where(np.isfinite(c), c, 1)  # hard margins and spheres have no bounds
    if task in ("svc", "nu-svc", "hard"):
        alpha = y * beta
        broken = [(-alpha / width).max(), ((alpha - c) / width).max()]
        if told["bias"]:
            broken.append(abs(beta.sum()) / max(alpha.sum(), 1e-300))
        value = y * (v + bias)
        if task == "hard":
            primal = norm / 2 / value.min() ** 2 if value.min() > 0 else np.inf
        else:
            primal = norm / 2 + c @ np.maximum(0, 1 - value)
        return alpha.sum() - norm / 2, primal, max(broken)
    if task in ("svr", "nu-svr"):
        total = np.abs(beta).sum()
        broken = [((np.abs(beta) - c) / c).max(), abs(beta.sum()) / max(total, 1e-300)]
        epsilon = claim["epsilon"] if task == "nu-svr" else told["epsilon"]
        primal = norm / 2 + c @ np.maximum(0, np.abs(y - v - bias) - epsilon)
        if task == "svr":
            return y @ beta - epsilon * total - norm / 2, primal, max(broken)
        allowed = told["nu"] * c.sum()
        broken.append((total - allowed) / allowed)
        return y @ beta - norm / 2, primal + allowed * epsilon, max(broken)
    broken = [(-beta / width).max(), ((beta - c) / width).max()]
    if task == "one-class":
        total, rho = told["nu"] * c.sum(), -bias
        broken.append(abs(beta.sum() - total) / total)
        return -norm / 2, norm / 2 - rho * total + c @ np.maximum(0, rho - v), max(broken)
    broken.append(abs(beta.sum() - 1))
    distance = k.diagonal() - 2 * v + norm
    r2 = claim["radius"] ** 2
    primal = distance.max() if np.isinf(c).any() else r2 + c @ np.maximum(0, distance - r2)
    return beta @ k.diagonal() - norm, primal, max(broken)


def problems(task, meta, told, labels, n):
    """(rows, targets, bounds) of every problem, in the order of the model's outputs."""
    ones = np.ones(n)
    if task in ("svr", "nu-svr"):
        return [(np.arange(n), np.array([float(t) for t in labels]), told["C"] * ones)]
    if task == "one-class":
        return [(np.arange(n), None, ones)]
    if task == "svdd":
        c = told["C"] if told["C"] > 0 else 1 / (told["nu"] * n) if told["nu"] > 0 else np.inf
        return [(np.arange(n), None, c * ones)]
    names, values = json.loads(meta["class_names"]), json.loads(meta["class_values"])
    keys = [float(t) for t in labels] if values else labels
    index = np.array([(values or names).index(key) for key in keys])
    weight = np.array(told["class_weights"] or [1.0] * len(names))[index]
    bound = {"svc": told["C"] * weight, "nu-svc": weight, "hard": np.inf * ones}[task]
    if meta["multi_class"] == "one-vs-rest" and len(names) > 2:
        return [(np.arange(n), np.where(index == a, 1.0, -1.0), bound) for a in range(len(names))]
    pairs = [(a, b) for a in range(len(names)) for b in range(a + 1, len(names))]
    chosen = [(a, np.flatnonzero((index == a) | (index == b))) for a, b in pairs]
    return [(rows, np.where(index[rows] == a, 1.0, -1.0), bound[rows]) for a, rows in chosen]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("data")
    parser.add_argument("--label", default="last")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    arrays, meta = read_model(options.model)
    if "cells" in meta:
        raise SystemExit("a model of cells has a certificate in each of them: ask 'mercer verify'")
    task, told, claims = meta["task"], json.loads(meta["trained"]), json.loads(meta["reports"])
    x, labels = read_table(options.data, options.label)
    x = scaled(x, json.loads(meta["scaling"])).astype(arrays["points"].dtype).astype(float)
    k = kernel_matrix(meta["kernel"], x)
    origins = arrays["origins"]
    if not np.allclose(x[origins], arrays["points"], rtol=1e-5, atol=1e-6):
        raise SystemExit("the support vectors are no rows of this data")
    found = []
    for output, (rows, y, c) in enumerate(problems(task, meta, told, labels, len(x))):
        beta = np.zeros(len(x))
        beta[origins] = arrays["coefficients"][output] / (2 if task == "svdd" else 1)
        claim, part = claims[output], k[np.ix_(rows, rows)]
        gap = float(claim["relative_gap"])  # "nan" where none is claimed
        bound = c / claim["rho"] if task == "nu-svc" else c
        dual, primal, broken = check(task, part, beta[rows], arrays["bias"][output], y, bound, told, claim)
        least, error = least_curvature(part, told["bias"] or task not in ("svc", "hard"))
        size = max(abs(dual), abs(primal), 1e-300)
        agrees = abs(dual - claim["dual"]) <= 1e-3 * size and broken <= 1e-6
        if convex := least >= -error:
            agrees &= -1e-9 <= (primal - dual) / size <= 2 * max(0, gap) + 1e-3
        found.append(dict(name=claim["name"], dual=dual, primal=primal if convex else None,
                          curvature=least, infeasibility=max(broken, 0), agrees=bool(agrees)))
        if not options.json:
            bracket = f"[{dual:.12g}, {primal:.12g}]" if convex else f"none, objective {dual:.12g}"
            print(f"{claim['name'] or task}: bracket {bracket}, curvature {least:.3g}, "
                  f"infeasibility {broken:.2g}: {'agrees' if agrees else 'DIFFERS'}")
    print(json.dumps(found) if options.json else "", end="")
    curved = any(part["primal"] is None for part in found)
    return 1 if not all(part["agrees"] for part in found) else 3 if curved else 0


if __name__ == "__main__":
    sys.exit(main())
