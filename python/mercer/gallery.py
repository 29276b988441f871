"""Pictures of the lectures' toy examples: ``python -m mercer.gallery FOLDER``."""

from __future__ import annotations

import pathlib
import sys
from typing import Any, Callable

from . import Adatron, KernelPCA, NuSVR, OneClassSVM, ParzenClassifier, SVC, SVDD, plot, poly, rbf
from .data import make, read


def _moons(ax: Any) -> None:
    """Two moons, a Gaussian machine with its margins."""
    X, y = make("moons", n=200, noise=0.2)
    plot.decision_regions(SVC(kernel=rbf(gamma=1), C=10).fit(X, y), X, y, ax=ax)


def _xor(ax: Any) -> None:
    """XOR, which a polynomial of degree 2 solves."""
    X, y = make("xor", n=160)
    plot.decision_regions(SVC(kernel=poly(2), C=1).fit(X, y), X, y, ax=ax)


def _rings(ax: Any) -> None:
    """Two rings and the nearest class mean in feature space."""
    X, y = make("rings", n=200)
    plot.decision_regions(ParzenClassifier(kernel=rbf(gamma=1)).fit(X, y), X, y, ax=ax)


def _iris(ax: Any) -> None:
    """Three species by pairs."""
    X, y = read("@iris")
    plot.decision_regions(SVC(kernel=rbf(gamma=1)).fit(X[:, 2:], y), X[:, 2:], y, ax=ax)


def _sinc(ax: Any) -> None:
    """The noisy sinc; the tube finds its own width (001)."""
    X, y = make("sinc", n=100)
    plot.tube(NuSVR(kernel=rbf(gamma=1), C=10, nu=0.3).fit(X, y), X, y, ax=ax)


def _one_class(ax: Any) -> None:
    """The region of one class (001)."""
    X, _ = make("moons", n=150, noise=0.1)
    plot.region(OneClassSVM(kernel=rbf(gamma=2), nu=0.1).fit(X), X, ax=ax)


def _sphere(ax: Any) -> None:
    """The smallest sphere in feature space (002)."""
    X, _ = make("blobs", n=120, classes=2, seed=4)
    plot.region(SVDD(kernel=rbf(gamma=0.3), nu=0.05).fit(X), X, ax=ax)


def _components(ax: Any) -> None:
    """The first kernel principal component of three groups (001)."""
    X, _ = make("blobs", n=90, noise=0.5, seed=3)
    plot.components(KernelPCA(2, kernel=rbf(gamma=0.1)).fit(X), X, ax=ax)


def _gram(ax: Any) -> None:
    """A Gram matrix, rows by species."""
    X, y = read("@iris")
    plot.gram(rbf(gamma=0.2), X, y=y, ax=ax)


def _spectrum(ax: Any) -> None:
    """Its spectrum."""
    X, _ = read("@iris")
    plot.spectrum(rbf(gamma=0.2), X, ax=ax)


def _adatron(ax: Any) -> None:
    """The Adatron's dual, never falling (000)."""
    X, y = make("moons", n=100, noise=0.2)
    plot.convergence(Adatron(kernel=rbf(gamma=1), C=10).fit(X, y), ax=ax)


def _solver(ax: Any) -> None:
    """Violation and gap while a machine is trained."""
    X, y = make("checkerboard", n=800)
    seen = plot.Recorder()
    SVC(kernel=rbf(gamma=2), C=1e4, callback=seen).fit(X, y)
    plot.convergence(seen, ax=ax)


PICTURES: dict[str, Callable[[Any], None]] = {
    function.__name__.strip("_"): function
    for function in (
        _moons,
        _xor,
        _rings,
        _iris,
        _sinc,
        _one_class,
        _sphere,
        _components,
        _gram,
        _spectrum,
        _adatron,
        _solver,
    )
}


def draw(folder: str | pathlib.Path) -> list[pathlib.Path]:
    """Draws every picture into a folder, with a page that shows them; returns their paths."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths, lines = [], ["# Gallery", ""]
    for name, picture in PICTURES.items():
        figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
        picture(ax)
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], dpi=100, metadata={"Software": None})
        plt.close(figure)
        lines += [f"## {picture.__doc__}", "", f"![{name}]({name}.png)", ""]
    (folder / "README.md").write_text("\n".join(lines))
    return paths


def main(arguments: list[str]) -> int:
    """The command."""
    if len(arguments) != 1:
        print("usage: python -m mercer.gallery FOLDER", file=sys.stderr)
        return 2
    for path in draw(arguments[0]):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
