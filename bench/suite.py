"""What is trained, with which numbers. The same for every peer."""

from __future__ import annotations

import dataclasses
import json
import pathlib


@dataclasses.dataclass(frozen=True)
class Case:
    """One problem: a data set (bench/data.py makes its files) and the machine to train on it."""

    name: str
    data: str
    task: str = "svc"  # svc, svr or one-class
    C: float = 1.0
    gamma: float = 1.0
    kernel: str = "rbf"  # or polynomial: (gamma x.z + 0)^degree, LIBSVM's -t 1
    degree: int = 3
    epsilon: float = 0.1
    nu: float = 0.5
    quick: bool = False  # part of --quick
    slow: bool = False  # only with --full

    def describe(self) -> str:
        words = [] if self.task == "svc" else [self.task]
        if self.kernel == "polynomial":
            words.append(f"degree {self.degree}")
        words.append(f"ν={self.nu:g}" if self.task == "one-class" else f"C={self.C:g}")
        words.append(f"γ={self.gamma:g}")
        if self.task == "svr":
            words.append(f"ε={self.epsilon:g}")
        return " ".join(words)


@dataclasses.dataclass(frozen=True)
class Limits:
    """How every peer is run."""

    tolerance: float = 1e-3
    threads: int = 2
    cache_mib: int = 1024
    seconds: float = 900.0
    repeats: int = 3
    repeat_below: float = 5.0  # seconds: only such short trainings are repeated, the best counts


# Sets whose C and γ a search has found (bench/settings.py), and the machine of each. Small ones, of
# fewer than 2000 rows, are there for what starting, reading and writing costs.
SEARCHED = (
    ("a9a", "svc"), ("w8a", "svc"), ("ijcnn1", "svc"), ("usps", "svc"), ("mnist", "svc"),
    ("reuters", "svc"), ("spambase", "svc"), ("covtype.5000", "svc"), ("covtype.20k", "svc"),
    ("higgs", "svc"), ("dna", "svc"), ("svmguide1", "svc"), ("digits", "svc"), ("splice", "svc"),
    ("acceptors", "svc"), ("news", "svc"), ("messages", "svc"), ("reviews", "svc"),
    ("faces", "svc"), ("skin", "svc"), ("clouds.26", "svc"), ("clouds.10", "svc"),
    ("clouds.6", "svc"), ("cpusmall", "svr"), ("abalone", "svr"), ("space_ga", "svr"),
    ("california", "svr"), ("concrete", "svr"), ("airfoil", "svr"), ("people", "svc"),
    ("heart", "svc"), ("australian", "svc"), ("diabetes", "svc"), ("breast-cancer", "svc"),
    ("ionosphere", "svc"), ("sonar", "svc"), ("housing", "svr"),
)  # fmt: skip
QUICK = ("usps", "reuters", "spambase", "higgs", "cpusmall", "dna", "clouds.6", "heart", "housing")
SLOW = ("mnist",)


def _searched() -> tuple[Case, ...]:
    path = pathlib.Path(__file__).with_name("settings.json")
    settings = json.loads(path.read_text()) if path.exists() else {}
    return tuple(
        Case(name, name, task, quick=name in QUICK, slow=name in SLOW, **settings[name])
        for name, task in SEARCHED
        if name in settings
    )


SUITE = (
    *_searched(),
    Case("a9a, large C", "a9a", C=100, gamma=1 / 123, slow=True),
    Case("mnist eights", "mnist.8", task="one-class", nu=0.1, gamma=0.02),
    Case("usps, polynomial", "usps", kernel="polynomial", C=10, gamma=1 / 128, quick=True),
)

# Training time against rows: shares of the rows, drawn at random by a fixed seed.
GROWTH = (
    Case("a9a", "a9a", C=1, gamma=0.05),
    Case("ijcnn1", "ijcnn1", C=32, gamma=2),
)
GROWTH_SHARES = (16, 8, 4, 2, 1)  # one row in so many
GROWTH_SHARES_QUICK = (32, 16, 8)

# Further than any file goes: a board of 4 x 4 squares with noise, the program's own sample.
SYNTHETIC = Case("checkerboard", "checkerboard", C=10, gamma=10)
SYNTHETIC_ROWS = (10_000, 100_000, 1_000_000)

# The grid of a search, and where LIBSVM is trained for comparison when no search says better.
SEARCH = (
    Case("covtype.5000", "covtype.5000", C=100, gamma=4, quick=True),
    Case("spambase", "spambase", C=10, gamma=0.02, quick=True),
    Case("svmguide1", "svmguide1", C=8, gamma=8),
    Case("splice", "splice", C=8, gamma=0.03),
    Case("digits", "digits", C=8, gamma=0.03),
    Case("diabetes", "diabetes", C=8, gamma=0.1),
)
SEARCH_C = tuple(2.0**k for k in range(-3, 17, 2))
SEARCH_GAMMA = tuple(2.0**k for k in range(-13, 7, 2))
SEARCH_FOLDS = 5


def training_cases(mode: str) -> list[Case]:
    """The cases of a mode: quick, normal (all but the slow ones) or full."""
    if mode == "quick":
        return [case for case in SUITE if case.quick]
    return [case for case in SUITE if mode == "full" or not case.slow]


def search_cases(mode: str) -> list[Case]:
    return [case for case in SEARCH if case.quick or mode != "quick"]
