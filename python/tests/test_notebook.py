"""What notebooks show, and tables of other libraries."""

from __future__ import annotations

import html.parser

import numpy as np
import pytest

import mercer


class Checker(html.parser.HTMLParser):
    """Every tag is closed in its turn; keeps the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attributes) -> None:
        if tag not in ("input", "br", "meta", "link", "path", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        if tag != "path":
            assert self.open and self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.text += data


def shown(value) -> str:
    checker = Checker()
    checker.feed(value._repr_html_())
    checker.close()
    assert not checker.open
    return checker.text


def test_kernels_show_their_tree() -> None:
    text = shown(mercer.rbf(gamma=1) + mercer.sigmoid(gamma=2) * mercer.linear())
    assert "rbf(gamma=1)" in text and "sigmoid(gamma=2)" in text
    assert text.count("positive definite") >= 3
    assert "strictly positive definite" in shown(mercer.rbf(gamma=1))
    assert "function(<lambda>)" in shown(mercer.function(lambda X, Z: X @ Z.T))  # escaped


def test_reports_and_machines_show_the_certificate(moons) -> None:
    X, y = moons
    fresh = mercer.SVC(gamma=1)
    before = fresh._repr_html_()
    fresh.fit(X, y)
    assert "relative gap" not in before
    assert "relative gap" in shown(fresh.report_) and "converged" in shown(fresh.report_)
    after = fresh._repr_html_()
    assert "relative gap" in after and "rbf(gamma=1)" in after
    nystroem = mercer.Nystroem(n_components=5).fit(X)
    assert isinstance(nystroem._repr_html_(), str)


class Stream:
    """A table that has nothing but Arrow's stream."""

    def __init__(self, table) -> None:
        self.table = table

    def __arrow_c_stream__(self, schema=None):
        return self.table.__arrow_c_stream__(schema)


def test_frames_of_polars_and_streams_of_arrow(moons) -> None:
    polars = pytest.importorskip("polars")
    X, y = moons
    frame = polars.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    names = polars.Series("y", np.where(y == 1, "yes", "no"))
    by_array = mercer.SVC(gamma=1).fit(X, np.where(y == 1, "yes", "no"))
    for table in (frame, Stream(frame)):
        model = mercer.SVC(gamma=1).fit(table, names)
        assert model.feature_names_in_.tolist() == ["a", "b"]
        np.testing.assert_allclose(model.decision_function(table), by_array.decision_function(X))
        assert (model.predict(table) == by_array.predict(X)).all()
        np.testing.assert_allclose(mercer.rbf(gamma=1)["b"](table), mercer.rbf(gamma=1)(X[:, 1:]))
        assert [c["kind"] for c in mercer.column_kinds(table)] == ["number", "number"]
    with pytest.raises(TypeError, match=r"X\.collect\(\)"):
        mercer.SVC().fit(frame.lazy(), names)


def test_tables_of_arrow(moons) -> None:
    arrow = pytest.importorskip("pyarrow")
    X, y = moons
    table = arrow.table({"a": X[:, 0], "b": X[:, 1]})
    by_array = mercer.SVC(gamma=1).fit(X, y)
    model = mercer.SVC(gamma=1).fit(table, arrow.array(y))
    assert model.feature_names_in_.tolist() == ["a", "b"]
    for rows in (table, table.to_batches()[0]):
        np.testing.assert_allclose(model.decision_function(rows), by_array.decision_function(X))


def test_one_row_is_answered_as_all_of_them_are(moons) -> None:
    X, y = moons
    for machine in (mercer.SVC(gamma=1, probability=True), mercer.OneClassSVM(gamma=1)):
        machine.fit(X, y)
        answers = ["decision_function"] + (
            ["predict_proba"] if hasattr(machine, "predict_proba") else []
        )
        for answer in answers:
            ask = getattr(machine, answer)
            many = np.vstack([X] * 2000)  # enough for the way of many rows
            np.testing.assert_allclose(ask(X[3:4])[0], ask(many)[3], atol=1e-12)
        with pytest.raises(ValueError, match="NaN"):
            machine.predict(np.array([[np.nan, 1.0]]))
        with pytest.raises(ValueError, match="3 features"):
            machine.predict(np.ones((1, 3)))
