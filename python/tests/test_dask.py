"""One model from the workers of a Dask client: the same bytes as in one process."""

from __future__ import annotations

import pathlib
from typing import Any, Iterator

import numpy as np
import pytest

import mercer
import mercer.distributed
from mercer.distributed import _part

pytest.importorskip("distributed", reason="dask and distributed are not installed")
import dask.array  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

SPAN = "nystroem(centres=12)"
ROWS = 33_000  # five leaves


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(ROWS, 2)).astype(np.float32)
    wave = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=ROWS)
    # The classes come one after another: no worker has both.
    order = np.argsort(wave > 0, kind="stable")
    return X[order], wave[order], np.where(wave[order] > 0, "up", "down")


def in_chunks(values: np.ndarray, rows: int = 7000) -> Any:
    return dask.array.from_array(values, chunks=(rows, *values.shape[1:]))


def content(machine: Any, folder: pathlib.Path) -> bytes:
    path = folder / "model.mercer"
    machine.save(str(path))
    return path.read_bytes()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    # Threads for workers: processes take seconds to begin (bench/distributed.py has them).
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as own:
        yield own


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    with Client(cluster) as own:
        yield own


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_the_bytes_are_those_of_one_process(
    client: Any, tmp_path: pathlib.Path, parts: int
) -> None:
    X, wave, _ = data()
    machine = mercer.KernelRidge(kernel="rbf", gamma=0.5, approximate=SPAN)
    alone = content(machine.fit(X, wave), tmp_path)
    machine = mercer.KernelRidge(kernel="rbf", gamma=0.5, approximate=SPAN)
    spread = mercer.distributed.fit(machine, in_chunks(X), in_chunks(wave, 9000), parts=parts)
    assert spread is machine
    assert content(spread, tmp_path) == alone
    assert spread.dual_coef_.shape == (12,) or parts == 1
    assert not hasattr(spread, "X_fit_")


def test_estimators_take_arrays_of_dask_and_paths(client: Any, tmp_path: pathlib.Path) -> None:
    X, _, names = data()
    machine = mercer.SquaredHingeClassifier(approximate=SPAN)
    alone = content(machine.fit(X, names), tmp_path)
    machine = mercer.SquaredHingeClassifier(approximate=SPAN)
    machine.fit(in_chunks(X), names)
    assert content(machine, tmp_path) == alone
    assert machine.classes_.tolist() == ["down", "up"]
    np.save(tmp_path / "rows.npy", X)
    machine = mercer.SquaredHingeClassifier(approximate=SPAN)
    mercer.distributed.fit(machine, tmp_path / "rows.npy", names)
    assert content(machine, tmp_path) == alone
    answers = mercer.distributed.predict(machine, in_chunks(X)).compute()
    assert np.array_equal(answers, machine.predict(X))
    values = mercer.distributed.predict(machine, str(tmp_path / "rows.npy"), "decision_function")
    assert np.array_equal(values.compute(), machine.decision_function(X))


def test_a_lost_worker_costs_its_computations_alone(tmp_path: pathlib.Path) -> None:
    X, wave, _ = data()
    machine = mercer.KernelRidge(kernel="rbf", gamma=0.5, approximate=SPAN)
    alone = content(machine.fit(X, wave), tmp_path)
    heard = []
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster, Client(cluster) as client:

        def lose_a_worker(moment: dict[str, Any]) -> None:
            heard.append(moment)
            if len(heard) == 10:  # in the middle
                cluster.sync(cluster.workers[0].close, nanny=False)

        machine.callback = lose_a_worker
        mercer.distributed.fit(machine, in_chunks(X), wave, client=client)
        assert len(client.scheduler_info()["workers"]) == 1
    assert len(heard) > 10
    assert content(machine, tmp_path) == alone


def test_a_part_may_begin_anew_at_any_step(client: Any, tmp_path: pathlib.Path) -> None:
    X, wave, _ = data()
    machine = mercer.KernelRidge(kernel="rbf", gamma=0.5, approximate=SPAN)
    alone = content(machine.fit(X, wave), tmp_path)
    lost = []

    def lose_a_part(moment: dict[str, Any]) -> None:
        with _part._lock:  # the workers are threads of this process
            mine = [key for key in _part._learners if key[2] == len(lost) % 2]
            learners = [_part._learners.pop(key) for key in mine]
        for learner in learners:
            learner.abandon()
        lost.append(len(learners))

    machine.callback = lose_a_part
    mercer.distributed.fit(machine, in_chunks(X), wave, client=client, parts=2)
    assert sum(lost) > 10
    assert content(machine, tmp_path) == alone


def test_what_is_wrong_is_said_once_by_the_client(client: Any, tmp_path: pathlib.Path) -> None:
    X, wave, names = data()
    machine = mercer.KernelRidge(kernel="rbf", gamma=0.5, approximate=SPAN)
    bad = wave.copy()
    bad[-1] = np.nan
    with pytest.raises(ValueError, match="NaN|finite"):
        machine.fit(in_chunks(X), bad)
    with pytest.raises(ValueError, match="X has 33000 rows, and y has 5"):
        machine.fit(in_chunks(X), wave[:5])
    with pytest.raises(ValueError, match="approximate='nystroem"):
        mercer.SVC().fit(in_chunks(X), names)
    (tmp_path / "rows.csv").write_text("1,2\n")
    with pytest.raises(ValueError, match="must name a file with one array"):
        mercer.distributed.fit(machine, tmp_path / "rows.csv", wave)
    with pytest.raises(ValueError, match="give gamma as a number"):
        machine = mercer.KernelLogisticRegression(gamma="scale", approximate=SPAN)
        mercer.distributed.fit(machine, in_chunks(X), names, np.ones(ROWS))


def test_a_callback_stops_all_parts(client: Any) -> None:
    X, _, names = data()
    machine = mercer.KernelLogisticRegression(approximate=SPAN, callback=lambda moment: False)
    with pytest.raises(RuntimeError, match="stopped by the callback"):
        machine.fit(in_chunks(X), names)
    limited = mercer.KernelLogisticRegression(approximate=SPAN, time_limit=1e-6)
    with pytest.raises(ValueError, match="time_limit of 1e-06 seconds passed"):
        limited.fit(in_chunks(X), names)


def test_frames_are_learnt_from(client: Any, tmp_path: pathlib.Path) -> None:
    frames = pytest.importorskip("dask.dataframe", reason="Dask's frames want pyarrow")
    pandas = pytest.importorskip("pandas")
    X, wave, _ = data()
    table = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "wave": wave})
    machine = mercer.KernelRidge(kernel="rbf", gamma=0.5, approximate=SPAN)
    alone = content(machine.fit(table[["a", "b"]], table["wave"]), tmp_path)
    spread = frames.from_pandas(table, npartitions=4)
    machine = mercer.KernelRidge(kernel="rbf", gamma=0.5, approximate=SPAN)
    machine.fit(spread[["a", "b"]], spread["wave"])
    assert content(machine, tmp_path) == alone
    answers = mercer.distributed.predict(machine, spread[["a", "b"]]).compute()
    assert np.array_equal(answers.to_numpy(), machine.predict(table[["a", "b"]]))
