"""Runs results and writes the page docs/results.md: ./dev repro [NAME...] [--quick] [--page] [--list].

    NAME      R1 … R17 or a script's name without .py; default: all
    --quick   small subsets through the same code, for tests; writes build/repro/quick and no page of docs
    --page    only make the page, from the results that are kept in build/repro
    --list    names and titles

A result whose data is not there is left out and told; what the page had of it stays.
"""

from __future__ import annotations

import importlib
import sys
import time

from frame import Run, perform, write_page

# Cheap ones first.
SCRIPTS = {
    "R17": "feature_dimensions",
    "R13": "worked_examples",
    "R14": "noise_levels",
    "R12": "parametric_tube",
    "R5": "one_class_toys",
    "R6": "usps_outliers",
    "R3": "sinc_regression",
    "R15": "quantisation_toy",
    "R1": "polynomial_usps",
    "R7": "usps_denoising",
    "R8": "usps_completion",
    "R9": "block_coding",
    "R10": "faces",
    "R11": "superresolution",
    "R16": "tangent_usps",
    "R4": "boston_housing",
    "R2": "mnist_classifiers",
}


def chosen(words: list[str]) -> list[str]:
    """The results named, in the order they are run in."""
    names = {script: name for name, script in SCRIPTS.items()}
    found = set()
    for word in words:
        name = names.get(word, word.upper())
        if name not in SCRIPTS:
            known = ", ".join(sorted(SCRIPTS, key=lambda n: int(n[1:])))
            sys.exit(f"repro: there is no result '{word}'; there are {known}, and their scripts' names")
        found.add(name)
    return [name for name in SCRIPTS if name in found or not words]


def main(words: list[str]) -> int:
    options = [word for word in words if word.startswith("-")]
    for option in options:
        if option in ("-h", "--help"):
            print(__doc__)
            return 0
        if option not in ("--quick", "--page", "--list"):
            sys.exit(f"repro: there is no option {option}; there are --quick, --page, --list")
    names = chosen([word for word in words if not word.startswith("-")])
    if "--list" in options:
        print("\n".join(f"{name:4} {SCRIPTS[name]}" for name in sorted(names, key=lambda n: int(n[1:]))))
        return 0
    run = Run("--quick" in options)
    missing = 0
    for name in names if "--page" not in options else []:
        begun = time.monotonic()
        try:
            result = perform(importlib.import_module(SCRIPTS[name]).make, run)
        except SystemExit as stop:  # data that is not there, or a message of the program
            missing += 1
            print(f"{name:4} left out: {stop}", file=sys.stderr, flush=True)
            continue
        print(f"{name:4} {time.monotonic() - begun:6.1f} s  {result.title}: {result.verdict}", flush=True)
    print(f"page {write_page(run)}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
