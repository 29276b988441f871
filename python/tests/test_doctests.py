"""The examples in docstrings, and the tutorials."""

from __future__ import annotations

import doctest
import importlib
import pathlib
import pkgutil
import runpy

import numpy as np
import pytest

import mercer

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
MODULES = ["mercer"] + sorted(
    module.name
    for module in pkgutil.walk_packages(mercer.__path__, "mercer.")
    if module.name != "mercer._core"
)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name) -> None:
    if name in ("mercer.plot", "mercer.gallery"):
        pytest.importorskip("matplotlib")
    if name == "mercer.sklearn_gp":
        pytest.importorskip("sklearn")
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


def test_every_public_name_is_documented() -> None:
    for name in mercer.__all__:
        assert getattr(mercer, name).__doc__, name


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_tutorials_run(script, capsys) -> None:
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


def test_documentation_examples() -> None:
    page = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
    assert doctest.testfile(str(page), module_relative=False).failed == 0


def test_readme_example() -> None:
    text = (pathlib.Path(__file__).parents[2] / "README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    names = {"X": X, "y": X[:, 0] > 0, "Xt": X[:20], "yt": X[:20, 0] > 0}
    exec(code, names)
    assert names["model"].score(names["Xt"], names["yt"]) > 0.9
    assert names["model"].report_.relative_gap < 1e-3
