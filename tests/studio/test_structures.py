"""Rows that are no numbers are shown as what they are: sequences, words, graphs, pictures."""

from __future__ import annotations

import pytest
from conftest import Studio, new_context
from test_page import keep, load_csv, load_set, train, until

SEQUENCES = "sequence,kind\n" + "".join(
    f"{'ACGT' * 3 if i % 2 else 'AATTGG' * 2}{'CA' * (i % 4)},{'x' if i % 2 else 'y'}\n" for i in range(40)
)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    """Rings and stars of four to seven nodes, in the files of a benchmark of graphs."""
    folder = tmp_path_factory.mktemp("graphs") / "TOY"
    folder.mkdir()
    edges, owner, labels, nodes = [], [], [], []
    for g in range(16):
        n, first = 4 + g % 4, len(owner) + 1
        owner += [g + 1] * n
        labels.append(g % 2)
        nodes += [k % 3 for k in range(n)]
        pairs = [(k, (k + 1) % n) for k in range(n)] if g % 2 else [(0, k) for k in range(1, n)]
        edges += [(first + a, first + b) for a, b in pairs] + [(first + b, first + a) for a, b in pairs]
    (folder / "TOY_A.txt").write_text("".join(f"{a}, {b}\n" for a, b in edges))
    for name, values in (("graph_indicator", owner), ("graph_labels", labels), ("node_labels", nodes)):
        (folder / f"TOY_{name}.txt").write_text("".join(f"{v}\n" for v in values))
    running = Studio(str(folder))
    yield running
    assert running.end() == 0


@pytest.fixture(scope="module")
def studio():
    running = Studio()
    yield running
    assert running.end() == 0


def open_page(browser, running):
    page = new_context(browser, viewport={"width": 1280, "height": 1000}).new_page()
    page.goto(running.address)
    until(page, "document.getElementById('verdict').textContent !== ''")
    return page


def test_graphs_are_told_as_nodes_and_edges(graphs):
    status, told = graphs.ask("/api/structures")
    assert status == 200 and len(told["rows"]) == 16
    star, ring = (told["rows"][g]["parts"][0] for g in (0, 1))
    assert star["kind"] == ring["kind"] == "graph" and star["whole"]
    assert star["edges"] == [[0, 1], [0, 2], [0, 3]]
    assert sorted(map(tuple, ring["edges"])) == [(0, 1), (0, 4), (1, 2), (2, 3), (3, 4)]
    assert ring["labels"] == [0, 1, 2, 0, 1]


def test_texts_are_told_whole_or_cut(studio):
    long = "text,label\n" + "".join(f"{'ab ' * (200 if i == 0 else 2)}word{i},{i % 2}\n" for i in range(12))
    status, _ = studio.ask("/api/data", {"source": "text", "name": "texts.csv", "text": long})
    assert status == 200
    rows = studio.ask("/api/structures")[1]["rows"]
    assert [r["parts"][0]["whole"] for r in rows] == [False] + [True] * 11
    assert rows[1]["parts"][0]["text"] == "ab ab word1"
    assert len(rows[0]["parts"][0]["text"]) == 400


def test_numbers_with_names_are_no_picture(studio):
    studio.ask("/api/data", {"source": "embedded", "name": "iris"})
    assert not studio.ask("/api/state")[1]["data"]["structured"]
    studio.ask("/api/data", {"source": "embedded", "name": "digits"})
    part = studio.ask("/api/structures")[1]["rows"][0]["parts"][0]
    assert part["kind"] == "picture" and part["side"] ** 2 == len(part["values"])


def test_graphs_are_drawn_learnt_and_clicked(browser, graphs):
    page = open_page(browser, graphs)
    until(page, "document.querySelectorAll('#structures svg').length === 16")
    assert page.input_value("#kernel").startswith("normalize(wl")
    assert page.locator("#structures .card").nth(1).locator("circle").count() == 5
    assert page.locator("#structures .card").nth(1).locator("line").count() == 5
    train(page)
    page.locator("#structures .card").nth(1).click()
    until(page, "document.querySelectorAll('#point-parts svg').length === 1")
    assert "predicted" in page.inner_text("#point")
    keep(page, "graphs")
    page.context.close()


def test_sequences_have_a_colour_a_letter(browser, studio):
    page = open_page(browser, studio)
    load_csv(page, SEQUENCES, "sequences.csv")
    until(page, "document.querySelectorAll('#structures .sequence').length > 10")
    colours = page.evaluate("""[...document.querySelectorAll('#structures .sequence')[1].children]
        .map((s) => s.textContent[0] + s.style.color)""")
    assert len(set(colours)) == 4
    train(page)
    keep(page, "sequences")
    load_set(page, "moons")
    assert not page.is_visible("#structures-section")
    page.context.close()
