"""Tables that come as streams of Arrow's: the same machines and answers as from arrays."""

import os

import numpy as np
import pytest

import mercer
from mercer import (
    SVC,
    FeatureScaling,
    GaussianProcessRegressor,
    KernelKMeans,
    KernelLogisticRegression,
    KernelPCA,
    KernelRidge,
    OneClassSVM,
    data,
    predict_blocks,
)

polars = pytest.importorskip("polars")


class Once:
    """A stream that can be read once, of a frame."""

    def __init__(self, frame):
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        frame, self.frame = self.frame, None
        assert frame is not None, "the stream was opened twice"
        return frame.__arrow_c_stream__(requested_schema)

    def read_next_batch(self):  # as readers of Arrow's have it: not to be looked at again
        raise NotImplementedError


@pytest.fixture
def spooled():
    """Ten kilobytes of rows in memory, the others in a file."""
    data.set_spool(memory=0.01)
    yield
    data.set_spool()


@pytest.fixture
def table():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 4))
    y = np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")
    return X, y


def frame_of(X, **more):
    return polars.DataFrame({**{f"x{j}": X[:, j] for j in range(X.shape[1])}, **more})


def is_mapped(X):
    """Whether an array lies in a file that has no name any more."""
    place = X.__array_interface__["data"][0]
    with open("/proc/self/maps") as maps:
        for line in maps:
            first, last = (int(part, 16) for part in line.split(" ")[0].split("-"))
            if first <= place < last:
                return "(deleted)" in line
    return False


def test_machines_learn_the_same(table):
    X, y = table
    for machine in (
        SVC(C=2.0),
        KernelLogisticRegression(alpha=0.1, approximate="nystroem(centres=20)"),
    ):
        plain = mercer_clone(machine).fit(X, y)
        stream = mercer_clone(machine).fit(Once(frame_of(X)), y)
        assert stream.feature_names_in_.tolist() == ["x0", "x1", "x2", "x3"]
        assert (plain.decision_function(X) == stream.decision_function(Once(frame_of(X)))).all()
        assert (plain.predict(X) == stream.predict(Once(frame_of(X)))).all()
    for machine in (KernelRidge(alpha=0.1), GaussianProcessRegressor()):
        plain = mercer_clone(machine).fit(X[:300], X[:300, 0])
        stream = mercer_clone(machine).fit(frame_of(X[:300]), X[:300, 0])
        assert (plain.predict(X) == stream.predict(Once(frame_of(X)))).all()
    for machine in (KernelPCA(2, kernel="rbf"), FeatureScaling("standard")):
        plain = mercer_clone(machine).fit(X[:300])
        stream = mercer_clone(machine).fit(Once(frame_of(X[:300])))
        assert (plain.transform(X) == stream.transform(Once(frame_of(X)))).all()
    assert (
        KernelKMeans(3).fit(X).predict(X) == KernelKMeans(3).fit(Once(frame_of(X))).predict(X)
    ).all()
    assert (OneClassSVM().fit(X).predict(X) == OneClassSVM().fit(frame_of(X)).predict(X)).all()


def mercer_clone(machine):
    return type(machine)(**machine.get_params())


def test_rows_that_do_not_fit_wait_in_a_file(table, spooled, tmp_path):
    X, y = table
    rows = mercer._common.streams.read_rows(Once(frame_of(X)))
    assert is_mapped(rows) and rows.names == ("x0", "x1", "x2", "x3")
    assert (np.asarray(rows) == X).all()
    with pytest.raises(ValueError):
        rows[0, 0] = 1
    plain = KernelLogisticRegression(alpha=0.1, approximate="nystroem(centres=20)").fit(X, y)
    stream = KernelLogisticRegression(alpha=0.1, approximate="nystroem(centres=20)")
    stream.fit(Once(frame_of(X, kind=y)), "kind")
    assert stream.classes_.tolist() == ["no", "yes"]
    assert (plain.decision_function(X) == stream.decision_function(Once(frame_of(X)))).all()
    data.set_spool(memory=0.01, folder=str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match="no temporary file can be made"):
        stream.fit(Once(frame_of(X)), y)
    # A machine of all rows takes them as well.
    data.set_spool(memory=0.01, folder=str(tmp_path))
    assert (
        SVC().fit(X[:500], y[:500]).predict(X) == SVC().fit(Once(frame_of(X[:500])), y[:500]).predict(X)
    ).all()
    assert os.listdir(tmp_path) == []


def test_labels_and_weights_may_be_columns(table):
    X, y = table
    weights = np.linspace(0.5, 2, len(X))
    plain = SVC(gamma=0.5).fit(X, y, sample_weight=weights)
    whole = frame_of(X, kind=y, w=weights)
    stream = SVC(gamma=0.5).fit(Once(whole), "kind", sample_weight="w")
    assert (plain.decision_function(X) == stream.decision_function(X)).all()
    # Columns are found by their names, in any order and with others beside them.
    turned = whole.select(["w", "x3", "kind", "x1", "x0", "x2"])
    assert (stream.predict(Once(turned)) == plain.predict(X)).all()
    with pytest.raises(ValueError, match="lacks the column"):
        stream.predict(Once(frame_of(X[:, :3])))
    for y, kind in ((X[:, 0] > 0, "b"), ((X[:, 0] > 0) + 5, "i")):
        machine = SVC().fit(Once(frame_of(X, kind=y)), "kind")
        assert machine.classes_.dtype.kind == kind
    ridge = KernelRidge().fit(Once(frame_of(X[:200], t=X[:200, 1])), "t")
    assert (ridge.predict(X) == KernelRidge().fit(X[:200], X[:200, 1]).predict(X)).all()


def test_kinds_of_numbers(table):
    X, _ = table
    single = frame_of(X.astype(np.float32))
    rows = mercer._common.streams.read_rows(Once(single))
    assert rows.dtype == np.float32
    assert (np.asarray(rows) == X.astype(np.float32)).all()
    mixed = single.with_columns(i=polars.lit(3, polars.Int16), b=polars.lit(True))
    rows = mercer._common.streams.read_rows(Once(mixed))
    assert rows.dtype == np.float32 and rows[5, 4:].tolist() == [3, 1]
    rows = mercer._common.streams.read_rows(Once(mixed.with_columns(l=polars.lit(2**40))))
    assert rows.dtype == np.float64 and rows[7, 6] == 2**40


def test_mistakes_are_named(table):
    X, y = table
    holes = frame_of(X).with_columns(x1=polars.when(polars.col("x0") > 0).then(polars.col("x1")))
    first = int(np.flatnonzero(X[:, 0] <= 0)[0]) + 1
    with pytest.raises(ValueError, match=rf"row {first}, column 2 \(x1\): found no value"):
        SVC().fit(Once(holes), y)
    with pytest.raises(ValueError, match="holds texts"):
        SVC().fit(Once(frame_of(X, kind=y)), y)
    with pytest.raises(ValueError, match="no label column 'colour'"):
        SVC().fit(Once(frame_of(X)), "colour")
    with pytest.raises(ValueError, match="inconsistent"):
        SVC().fit(Once(frame_of(X)), y[:-1])
    with pytest.raises(TypeError, match="opens int"):
        SVC().fit(lambda: 7, y)
    with pytest.raises(ValueError):  # a capsule of something else
        mercer._core.ArrowStream(mercer_capsule(), "X", False, "none", "", [], False, "refuse", 0, "")


def mercer_capsule():
    return polars.Series([1.0]).__arrow_c_stream__()  # a column is no table


def test_functions_open_streams_again(table):
    X, y = table
    opened = []

    def open_it():
        opened.append(1)
        return Once(frame_of(X))

    machine = SVC().fit(open_it, y)
    assert (machine.predict(open_it) == machine.predict(X)).all()
    assert len(opened) == 2


def test_answers_block_by_block(table):
    X, y = table
    machine = SVC(probability=True).fit(X, y)
    named = SVC(probability=True).fit(Once(frame_of(X)), y)
    for method in ("predict", "decision_function", "predict_proba"):
        whole = getattr(machine, method)(X)
        for of, given in ((machine, X), (named, Once(frame_of(X))), (machine, list(X[:50]))):
            blocks = [*predict_blocks(of, given, method=method, rows=700)]
            assert [len(block) for block in blocks[:-1]] == [700] * (len(blocks) - 1)
            assert (np.concatenate(blocks) == whole[: sum(map(len, blocks))]).all()
    with pytest.raises(ValueError, match="rows = 0"):
        predict_blocks(machine, X, rows=0)
    with pytest.raises(ValueError, match="has no such method"):
        predict_blocks(machine, X, method="prophesy")


def test_files_that_do_not_fit(table, tmp_path):
    X, y = table
    path = tmp_path / "rows.csv"
    data.write(str(path), X.round(3), y)
    whole, labels = data.read(path, double=False)
    rows, found = data.read(path, double=False, memory=0.01)
    assert is_mapped(rows) and not is_mapped(whole)
    assert rows.dtype == np.float32 and (rows == whole).all() and (found == labels).all()
    sparse = tmp_path / "rows.libsvm"
    spread = np.where(X > 1, X.round(2), 0)
    data.write(str(sparse), spread, X[:, 0].round(3))
    whole, _ = data.read(sparse)
    rows, _ = data.read(sparse, memory=0.01)
    assert (rows != whole).nnz == 0 if hasattr(whole, "nnz") else (rows == whole).all()
    if hasattr(rows, "nnz"):
        machine = KernelRidge(approximate="nystroem(centres=10)")
        plain = mercer_clone(machine).fit(whole, X[:, 0])
        assert (plain.predict(whole) == machine.fit(rows, X[:, 0]).predict(rows)).all()


def test_arrows_own_tables_readers_and_scanners(table, tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    dataset = pytest.importorskip("pyarrow.dataset")
    X, y = table
    whole = pyarrow.table({**{f"x{j}": X[:, j] for j in range(4)}, "kind": y})
    plain = SVC().fit(X, y)
    assert (SVC().fit(whole.drop(["kind"]), y).predict(X) == plain.predict(X)).all()
    path = str(tmp_path / "t.parquet")
    parquet.write_table(whole, path, row_group_size=500)
    for open_it in (
        lambda: pyarrow.RecordBatchReader.from_batches(whole.schema, whole.to_batches(200)),
        lambda: dataset.dataset(path).scanner(batch_size=300),
        lambda: whole,
        lambda: whole.slice(0, 3000),
    ):
        machine = SVC().fit(open_it(), "kind")
        assert (machine.decision_function(X) == plain.decision_function(X)).all()
        assert (machine.predict(open_it()) == plain.predict(X)).all()
    levels = whole.set_column(4, "kind", whole["kind"].dictionary_encode())
    assert SVC().fit(levels, "kind").classes_.tolist() == ["no", "yes"]

    def batches():
        yield from whole.to_batches(100)
        raise RuntimeError("the line was cut")

    with pytest.raises(ValueError, match="the line was cut"):
        SVC().fit(pyarrow.RecordBatchReader.from_batches(whole.schema, batches()), "kind")


def test_tables_of_several_kinds():
    frame = polars.DataFrame(
        {
            "age": [31.0, None, 45.0, 28.0] * 10,
            "city": polars.Series(["Rome", "Oslo", "Rome", "Bern"] * 10, dtype=polars.Categorical),
            "left": [True, False] * 20,
        }
    )
    kinds = {column["name"]: column["kind"] for column in mercer.column_kinds(lambda: Once(frame))}
    assert kinds == {"age": "number", "city": "category", "left": "yes-no"}
    machine = mercer.learn(Once(frame), "left", time=1)
    assert (machine.predict(Once(frame.drop("left"))) == machine.predict(frame)).all()


def test_parquet_files(table, tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    X, y = table
    path, text = tmp_path / "t.parquet", tmp_path / "t.csv"
    whole = {**{f"x{j}": X[:, j].round(3) for j in range(4)}, "kind": y}
    parquet.write_table(pyarrow.table(whole), path, row_group_size=700)
    data.write(str(text), frame_of(X.round(3)), y)
    with pytest.raises(ValueError, match=r"column 5 \(kind\) holds texts"):
        data.read(path, label="x1")
    for options in ({}, {"double": False}, {"memory": 0.01}):
        rows, labels = data.read(path, **options)
        expected, names = data.read(text, **options)
        assert rows.dtype == expected.dtype and (rows == expected).all() and (labels == names).all()
        assert is_mapped(rows) == ("memory" in options)
    machine = SVC().fit(frame_of(X), y)
    machine.save(tmp_path / "m.mercer")
    rows, labels = data.read(path, machine=mercer.load(tmp_path / "m.mercer"))
    assert rows.shape == X.shape and len(labels) == len(X)
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises((ValueError, OSError)):
        data.read(path)


def test_frames_of_pandas(table, spooled):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    X, y = table
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(4)])
    machine = SVC().fit(frame, y)
    assert (machine.predict(frame) == SVC().fit(X, y).predict(X)).all()
    assert machine.feature_names_in_.tolist() == [f"x{j}" for j in range(4)]


def test_relations_of_duckdb(table):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    X, y = table
    frame = frame_of(X, kind=y)  # noqa: F841, named in the query
    pytest.importorskip("pyarrow", reason="duckdb reads frames of polars by pyarrow")
    relation = duckdb.sql("select x0, x1, x2, x3 from frame")
    machine = SVC().fit(relation, y)
    assert (machine.predict(duckdb.sql("select * from frame")) == SVC().fit(X, y).predict(X)).all()
