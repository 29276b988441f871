"""The page in a real browser: load, look, train, click, tune, open, copy; and what it looks like."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import subprocess

import pytest
from conftest import PROGRAM, Studio, new_context, wait_for

SHOTS = os.environ.get("MERCER_SCREENSHOTS", "")  # a folder to keep pictures of the main states in


def until(page, expression: str, arg: str | None = None) -> None:
    """Waits for an expression to hold. The page's own rules forbid what playwright's waiting does."""
    words = [] if arg is None else [arg]
    held = wait_for(lambda: page.evaluate(expression, *words), lambda: page.wait_for_timeout(50))
    assert held, f"{expression} never held; {page.inner_text('#status')!r}"


def keep(page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(pathlib.Path(SHOTS) / f"{name}.png"), full_page=True)


@pytest.fixture(scope="module")
def studio():
    running = Studio()
    yield running
    assert running.end() == 0


@pytest.fixture
def page(browser, studio):
    context = new_context(browser, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    mistakes = []
    page.on("pageerror", lambda error: mistakes.append(str(error)))
    # What the server refuses is told in the page; the browser's own note of it is no mistake.
    page.on("console", lambda m: mistakes.append(m.text)
            if m.type == "error" and "422" not in m.text else None)  # fmt: skip
    page.goto(studio.address)
    until(page, "document.getElementById('verdict').textContent !== ''")
    yield page
    context.close()
    assert not mistakes, mistakes


CSV = "a,b,kind\n" + "".join(f"{i % 7},{i % 5},{'left' if i % 7 < 3 else 'right'}\n" for i in range(70))


def load_csv(page, text: str = CSV, name: str = "table.csv") -> None:
    page.set_input_files("#file", {"name": name, "mimeType": "text/csv", "buffer": text.encode()})
    until(page, f"document.getElementById('status').textContent.includes('{name} is loaded')")


def train(page) -> None:
    before = page.locator("#runs tbody tr").count()
    page.click("#train")
    until(page, f"document.querySelectorAll('#runs tbody tr').length > {before} || "
                           "document.getElementById('status').className === 'bad'")  # fmt: skip
    until(page, "document.getElementById('status').textContent.includes('is trained')")


def load_set(page, name: str, rows: int = 120) -> None:
    page.select_option("#sample", name)
    page.fill("#sample-n", str(rows))
    page.click("#load")
    until(page, "document.getElementById('status').textContent.includes('is loaded')")


def test_the_key_is_not_left_in_the_address(page):
    assert "token" not in page.url


def test_a_table_is_loaded(page):
    load_csv(page)
    assert "70 rows, 2 columns, 2 classes" in page.inner_text("#data-about")
    assert "left" in page.inner_text("#legend")


def test_a_broken_table_says_where(page):
    page.set_input_files("#file", {"name": "bad.csv", "mimeType": "text/csv", "buffer": b"a,b,c\n1,2,x\n1,2\n"})
    page.wait_for_selector("#status.bad")
    assert "bad.csv:3" in page.inner_text("#status")


def test_an_indefinite_kernel_shows_its_witness(page):
    page.fill("#kernel", "sigmoid(gamma=2, coef0=-1)")
    page.wait_for_selector("#witness:not([hidden])")
    assert "a′Ka = -" in page.inner_text("#witness")
    assert page.locator("#spectrum circle[fill='var(--bad)']").count() > 0
    keep(page, "indefinite")
    page.fill("#kernel", "rbf(gama=1)")
    page.wait_for_selector("#kernel-error:not([hidden])")
    assert "^" in page.inner_text("#kernel-error")
    page.fill("#kernel", "rbf(gamma=1)")
    page.wait_for_selector("#verdict.good")
    assert not page.is_visible("#witness")


def test_training_shows_the_gap_fall_and_the_certificate_holds(page):
    load_set(page, "moons", 3000)
    page.fill("#kernel", "rbf(gamma=1)")
    train(page)
    curve = page.evaluate("fetch('/api/state').then((r) => r.json())")["jobs"][-1]["curve"]
    gaps = [g for _, g, _ in curve if g is not None]
    assert len(gaps) >= 2 and gaps[-1] < gaps[0]
    assert page.locator("#gap polyline").count() == 2
    page.click("#verify")
    page.wait_for_selector("#verified.good")
    assert "holds" in page.inner_text("#verified")


def test_a_support_vector_shows_alpha_slack_and_neighbours(page):
    load_set(page, "moons", 80)
    train(page)
    row = page.evaluate("fetch('/api/state').then((r) => r.json())")["runs"][-1]["id"]
    view = page.evaluate(f"fetch('/api/view?run={row}').then((r) => r.json())")
    points = page.evaluate("fetch('/api/points').then((r) => r.json())")
    at = points["row"].index(view["support"][0])
    box = page.locator("#plane").bounding_box()
    x = (points["x"][at] - view["left"]) / (view["right"] - view["left"]) * box["width"]
    y = box["height"] * (1 - (points["y"][at] - view["bottom"]) / (view["top"] - view["bottom"]))
    page.locator("#plane").click(position={"x": x, "y": y})
    until(page, "document.getElementById('point').textContent.includes('slack')")
    text = page.inner_text("#point")
    assert "nearest support vectors" in text and "no support vector" not in text
    keep(page, "bench")
    page.focus("#plane")
    page.keyboard.press("ArrowRight")
    until(page, f"!document.getElementById('point').textContent.startsWith('row{view['support'][0] + 1}v')")


def test_a_reload_loses_nothing(page):
    load_set(page, "rings", 90)
    train(page)
    rows = page.locator("#runs tbody tr").count()
    chosen = page.inner_text("#run-name")
    page.reload()
    until(page, "document.getElementById('certificate').textContent.includes('dual')")
    assert page.locator("#runs tbody tr").count() == rows
    assert page.inner_text("#run-name") == chosen
    assert "rings: 90 rows" in page.inner_text("#data-about")


def test_a_cell_of_the_tuning_map_trains(page):
    load_set(page, "moons", 100)
    page.fill("#kernel", "rbf(gamma=1)")
    page.click("#tune")
    page.wait_for_selector("#map .cell")
    assert page.locator("#map .cell").count() == 25
    keep(page, "map")
    before = page.locator("#runs tbody tr").count()
    page.locator("#map .cell").nth(12).focus()
    page.keyboard.press("Enter")
    until(page, f"document.querySelectorAll('#runs tbody tr').length === {before + 1}")


def test_a_model_file_is_opened(page, tmp_path):
    subprocess.run([PROGRAM, "make", "moons", "-n", "60", "-o", "m.csv"], cwd=tmp_path, check=True)
    subprocess.run([PROGRAM, "train", "m.csv", "m.mercer", "--quiet"], cwd=tmp_path, check=True, capture_output=True)
    load_csv(page, (tmp_path / "m.csv").read_text(), "m.csv")
    page.set_input_files("#file", str(tmp_path / "m.mercer"))
    until(page, "document.getElementById('status').textContent.includes('m.mercer is opened')")
    assert "svc" in page.inner_text("#runs tbody tr:first-child")


def test_the_copied_command_gives_the_same_objective(page, tmp_path):
    load_set(page, "moons", 150)
    page.fill("#kernel", "rbf(gamma=0.7)")
    train(page)
    until(page, "document.getElementById('copied').textContent.includes('mercer train moons.csv')")
    command = page.inner_text("#copied")
    page_dual = page.evaluate("fetch('/api/state').then((r) => r.json())")["runs"][-1]["dual"]
    command = re.sub(r"(^|&& )mercer ", r"\1" + shlex.quote(PROGRAM) + " ", command) + " --json"
    out = subprocess.run(command, shell=True, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    told = json.loads(out)
    assert told["certificate"]["dual"] == pytest.approx(page_dual, rel=1e-12)


def test_painted_points_are_learnt_and_taught(page):
    page.click("#paint")
    plane = page.locator("#plane")
    box = plane.bounding_box()
    for k in range(8):
        second = k % 2
        page.click(f".brush[data-class='{second}']")
        plane.click(position={"x": box["width"] * (0.25 + 0.4 * second + 0.02 * k), "y": box["height"] * (0.3 + 0.05 * k)})
    until(page, "document.getElementById('data-about').textContent.includes('painted: 8 rows')")
    page.click("#mode-lecture")
    page.fill("#kernel", "linear")
    page.select_option("#method", "smo")
    for _ in range(3):
        before = page.inner_text("#lecture-figures")
        page.click("#step")
        until(page, "(t) => document.getElementById('lecture-figures').innerText !== t", before)
    assert "dual objective" in page.inner_text("#lecture-figures") and "moved" in page.inner_text("#lecture-figures")
    keep(page, "lecture")


def test_kernel_pca_is_a_view(page):
    page.select_option("#sample", "@iris")
    page.click("#load")
    until(page, "document.getElementById('data-about').textContent.includes('iris: 150 rows')")
    page.select_option("#axis-x", "pca")
    until(page, "document.getElementById('axis-y').value === 'pca'")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_its_window(browser, studio, scheme, width):
    context = new_context(browser, viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    page.goto(studio.address)
    until(page, "document.getElementById('verdict').textContent !== ''")
    load_set(page, "moons", 120)
    train(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(18, 21, 26)") == (scheme == "dark")
    page.wait_for_timeout(300)
    keep(page, f"{scheme}-{width}")
    context.close()


def test_it_is_quick_and_takes_many_rows(page):
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    print("first paint after", paint, "ms")  # told, not judged: machines differ
    load_set(page, "moons", 100000)
    assert "100000 rows" in page.inner_text("#data-about")
