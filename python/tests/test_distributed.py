"""One model from several processes under mpirun."""

from __future__ import annotations

import hashlib
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import mercer
from mercer.distributed import checkpoint, ranks

PROGRAM = """
import sys
import numpy as np
import mercer
from mercer.distributed import ranks

rng = np.random.default_rng(0)
X = rng.normal(size=(26000, 3)).astype(np.float32)
wave = np.sin(2 * X[:, 0]) + .1 * rng.normal(size=len(X))
names = np.where(wave > .5, "high", np.where(wave < -.5, "low", "middle"))
order = np.argsort(names, kind="stable")  # no process has all classes
X, wave, names = X[order], wave[order], names[order]
folder = sys.argv[1]
span = "nystroem(centres=25)"
with ranks() as all:
    own = all.own_rows(len(X))
    models = {
        "ridge": mercer.KernelRidge(gamma=.5, approximate=span).fit(X[own], wave[own]),
        "logistic": mercer.KernelLogisticRegression(approximate=span).fit(X[own], names[own]),
    }
    some = all.own_rows(17000)
    models["svc"] = mercer.SVC(C=.05, tol=.5).fit(X[some], names[some])
    assert models["svc"].shape_fit_ == (17000, 3) and models["svc"].support_.max() > 9000
with ranks(rows="all"):
    models["svr"] = mercer.SVR(C=5).fit(X[::40], wave[::40])
    models["pairs"] = mercer.SVC(C=5).fit(X[::40], names[::40])
if len(sys.argv) > 2:  # all must hear of it
    with ranks() as all:
        bad = wave[all.own_rows(len(X))].copy()
        if all.rank == all.size - 1:
            bad[7] = np.nan
        models["ridge"].fit(X[own], bad)
if all.rank == 0:
    for name, model in models.items():
        model.save(f"{folder}/{name}.mercer")
"""


def run(folder: pathlib.Path, count: int, *words: str) -> subprocess.CompletedProcess:
    program = folder / "program.py"
    program.write_text(PROGRAM)
    start = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", str(count)]
    command = [*(start if count > 0 else []), sys.executable, str(program), str(folder), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=200)


def digests(folder: pathlib.Path) -> list[str]:
    return [hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.glob("*.mercer"))]


@pytest.fixture
def mpirun() -> None:
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun here (openmpi-bin)")


def test_models_have_the_same_bytes(tmp_path: pathlib.Path, mpirun: None) -> None:
    found = []
    for count in (0, 2, 3):
        folder = tmp_path / str(count)
        folder.mkdir()
        done = run(folder, count)
        if count > 0 and "cannot join" in done.stderr:
            pytest.skip("built without MPI (libopenmpi-dev)")
        assert done.returncode == 0, done.stderr
        found.append(digests(folder))
    assert len(found[0]) == 5
    assert found[1] == found[0] and found[2] == found[0]


def test_an_error_of_one_ends_all(tmp_path: pathlib.Path, mpirun: None) -> None:
    done = run(tmp_path, 2, "bad")
    if "cannot join" in done.stderr:
        pytest.skip("built without MPI (libopenmpi-dev)")
    assert done.returncode != 0
    assert "NaN" in done.stderr or "finite" in done.stderr


def test_alone_there_is_nothing_to_spread() -> None:
    X = np.linspace(0, 1, 60)[:, None]
    y = X[:, 0] ** 2
    machine = mercer.KernelRidge(gamma=5, approximate="nystroem(centres=8)")
    with ranks() as all:
        assert (all.rank, all.size) == (0, 1)
        assert all.own_rows(60) == slice(0, 60)
        spread = machine.fit(X, y).predict(X)
    assert np.array_equal(spread, machine.fit(X, y).predict(X))
    with pytest.raises(ValueError), ranks():
        machine.fit(X, y * np.nan)


def test_a_fit_that_was_stopped_is_gone_on_with(tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 2)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=3000) > 0
    state = tmp_path / "model.state"

    class Enough(Exception):
        pass

    def made(callback: object = None) -> mercer.KernelLogisticRegression:
        return mercer.KernelLogisticRegression(
            alpha=1e-3, approximate="nystroem(centres=20)", callback=callback
        )

    def content(machine: mercer.KernelLogisticRegression) -> bytes:
        machine.save(str(tmp_path / "model.mercer"))
        return (tmp_path / "model.mercer").read_bytes()

    whole = made().fit(X, y)

    def stop_once_written(moment: dict) -> None:
        if state.exists():
            raise Enough

    with pytest.raises(Enough), checkpoint(state, every=0):
        made(stop_once_written).fit(X, y)
    assert state.exists()
    with pytest.raises(ValueError, match="resume=True"), checkpoint(state):
        made().fit(X, y)
    with checkpoint(state, resume=True, every=0):
        resumed = made().fit(X, y)
    assert not state.exists()
    assert content(resumed) == content(whole)
    assert resumed.report_.iterations == whole.report_.iterations
