"""docs/results.md is complete, and every result of it can be made: `./dev repro --quick`, the same code on little data.

Without the data sets (MERCER_DATA) only the page and the frame are looked at.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "repro"))

import common  # noqa: E402
import draw  # noqa: E402
import frame  # noqa: E402
import run as runner  # noqa: E402

NAMES = [f"R{k}" for k in range(1, 18)]


class Page(unittest.TestCase):
    def setUp(self) -> None:
        self.text = (ROOT / "docs/results.md").read_text(encoding="utf-8")
        parts = re.finditer(r"^## (R\d+):.*?(?=^## |\Z)", self.text, re.M | re.S)
        self.sections = {part[1]: part[0] for part in parts}

    def test_all_results_are_there_with_figures(self) -> None:
        self.assertEqual(list(self.sections), NAMES)
        for name in NAMES:
            section = self.sections[name]
            self.assertRegex(self.text, rf"(?m)^\| \[{name}\]\(#")
            figures = re.findall(r"^\|.*\d.*\|$", section, re.M)
            self.assertTrue(figures, f"{name} has no figures")
            self.assertRegex(section, r"\*\*(Reproduced|In part|Not reproduced|A picture)\b", name)
            self.assertIn("Seed: 00", section)

    def test_pictures_are_there_and_no_others(self) -> None:
        shown = set(re.findall(r"!\[[^\]]*\]\(results/([^)]+)\)", self.text))
        there = {path.name for path in (ROOT / "docs/results").iterdir()}
        self.assertEqual(shown, there)
        for name in shown:
            self.assertLess((ROOT / "docs/results" / name).stat().st_size, 260_000, name)

    def test_there_is_a_script_a_result(self) -> None:
        self.assertEqual(sorted(runner.SCRIPTS), sorted(NAMES))
        for name, script in runner.SCRIPTS.items():
            self.assertTrue((ROOT / "repro" / f"{script}.py").exists(), script)
            self.assertIn(f"repro/{script}.py", self.sections[name])


class Frame(unittest.TestCase):
    def result(self, name: str, verdict: str = "a picture, of nothing") -> frame.Result:
        return frame.Result(name, f"title of {name}", "000, nowhere", "x.py", verdict,
                            [frame.Table(["a", "b"], [["printed", "1"], ["ours", "2"]])])  # fmt: skip

    def in_folder(self, folder: str) -> frame.Run:
        run = frame.Run(True)
        run.folder = pathlib.Path(folder)
        run.pictures = run.folder / "pictures"
        return run

    def test_a_page_keeps_what_is_not_made_again(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run = self.in_folder(folder)
            frame.keep(self.result("R2"), run)
            frame.keep(self.result("R10"), run)
            page = frame.write_page(run)
            (run.folder / "R2.json").unlink()
            changed = self.result("R10")
            changed.title = "another title"
            frame.keep(changed, run)
            text = frame.write_page(run).read_text(encoding="utf-8")
            self.assertEqual(re.findall(r"^## (R\d+)", text, re.M), ["R2", "R10"])
            self.assertIn("another title", text)
            self.assertNotIn("title of R10", text)
            self.assertEqual(text, frame.write_page(run).read_text(encoding="utf-8"))
            self.assertEqual(page.parent, run.folder)

    def test_a_verdict_is_one_of_four(self) -> None:
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(AssertionError):
            frame.keep(self.result("R1", "splendid"), self.in_folder(folder))

    def test_names_of_results_and_scripts(self) -> None:
        self.assertEqual(runner.chosen(["r3", "one_class_toys"]), ["R5", "R3"])
        self.assertEqual(set(runner.chosen([])), set(NAMES))
        with self.assertRaises(SystemExit):
            runner.chosen(["R18"])

    def test_ticks_are_round_and_inside(self) -> None:
        for low, high in ((0, 1), (-3, 3), (0, 40), (0.13, 0.57), (1e3, 7e4)):
            marks = draw.ticks(low, high)
            self.assertTrue(3 <= len(marks) <= 9, marks)
            self.assertTrue(all(low - 1e-9 <= m <= high + 1e-9 for m in marks))

    def test_a_contour_is_where_the_function_has_its_value(self) -> None:
        plot = draw.Plot((-1, 1), (-1, 1), wide=draw.LEFT + draw.RIGHT + 200, high=draw.TOP + draw.BOTTOM + 200)
        side = 41
        values = [x * x + y * y for x, y in plot.grid(side)]
        plot.contour([values[i * side : (i + 1) * side] for i in range(side)], 0.25, "#000")
        found = [(float(a), float(b)) for a, b in re.findall(r"[ML]([\d.]+) ([\d.]+)", plot.parts[0])]
        self.assertGreater(len(found), 30)
        centre = plot.at(0, 0)
        for x, y in found:  # a circle of radius 0.5, which is 50 pixels
            self.assertAlmostEqual(((x - centre[0]) ** 2 + (y - centre[1]) ** 2) ** 0.5, 50, delta=0.6)


class Course(unittest.TestCase):
    """Every number after `# →` on the pages of docs/course is in the output of its line."""

    def lines_of(self, page: pathlib.Path) -> list[str]:
        blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
        return [line for block in blocks for line in block.splitlines() if line.strip()]

    def test_answers(self) -> None:
        pages = sorted((ROOT / "docs/course").glob("0*.md"))
        self.assertEqual([page.stem for page in pages], ["000", "001", "002", "003", "004"])
        for page in pages:
            text = page.read_text(encoding="utf-8")
            self.assertEqual(len(re.findall(r"^\d\. ", text, re.M)), 6, "three exercises and their answers")
            checked = 0
            with tempfile.TemporaryDirectory() as folder, self.subTest(page=page.stem):
                path = f"{common.PROGRAM.parent}:{os.environ['PATH']}"
                work = {"cwd": folder, "text": True, "capture_output": True, "env": os.environ | {"PATH": path}}
                subprocess.run(["sh", ROOT / "tests/docs/stand_ins.sh", page.stem], check=True, **work)
                for line in self.lines_of(page):
                    done = subprocess.run(["sh", "-c", line], check=False, **work)
                    self.assertEqual(done.returncode, 0, f"{line}\n{done.stderr}")
                    if "# → " in line:
                        self.assertIn(line.split("# → ")[1].strip(), done.stdout, line)
                        checked += 1
            self.assertGreaterEqual(checked, 6, page)


@unittest.skipUnless((common.DATA / "usps").exists(), f"no data under {common.DATA}; set MERCER_DATA")
class Quick(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        done = subprocess.run([sys.executable, "-B", "repro/run.py", "--quick"], cwd=ROOT, text=True,
                              capture_output=True, check=False)  # fmt: skip
        cls.code, cls.told = done.returncode, done.stdout + done.stderr
        folder = frame.Run(True).folder
        cls.made = {}
        for name in NAMES:
            path = folder / f"{name}.json"
            cls.made[name] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def test_every_result_is_made(self) -> None:
        self.assertEqual(self.code, 0, self.told)
        for name in NAMES:
            self.assertTrue(self.made[name].get("tables"), f"{name}\n{self.told}")
            for picture, _ in self.made[name]["pictures"]:
                path = frame.Run(True).picture(picture)
                if picture.endswith(".svg"):
                    self.assertTrue(xml.parse(path).getroot().tag.endswith("svg"), picture)
                else:
                    self.assertEqual(path.read_bytes()[:8], b"\x89PNG\r\n\x1a\n", picture)

    def figures(self, name: str) -> dict:
        return self.made[name]["figures"]

    def test_the_nu_property(self) -> None:
        three, six = self.figures("R3"), self.figures("R6")
        self.assertLessEqual(max(three["errors"]), three["nu"] + 1e-9)
        self.assertGreaterEqual(min(three["vectors"]), three["nu"] - 1e-9)
        self.assertLessEqual(six["outliers"], six["nu"])
        self.assertGreaterEqual(six["vectors"], six["nu"])
        for nu, shares in self.figures("R5")["shares"]:
            for vectors, outliers in shares:
                self.assertLessEqual(outliers, nu)
                self.assertGreaterEqual(vectors, nu)
        four = self.figures("R4")
        for nu, errors, vectors in zip(four["nus"], four["errors"], four["vectors"]):
            self.assertLessEqual(errors, nu + 0.01)
            self.assertGreaterEqual(vectors, nu - 0.01)

    def test_what_the_lectures_say_of_their_pictures(self) -> None:
        self.assertEqual(self.figures("R5")["least"], 34)
        widths = self.figures("R14")["widths"]
        self.assertEqual(widths, sorted(widths), "the tube of nu-SVR grows with the noise")
        self.assertLess(widths[0], 0.05)
        constant, shaped = self.figures("R12")["errors"]
        self.assertLess(shaped, constant)
        self.assertTrue(self.figures("R9")["kept"], "no block is farther than R from its code")
        self.assertTrue(self.figures("R17")["agree"])
        counts = [frame.mean(c) for c in self.figures("R15")["counts"]]
        self.assertEqual(counts, sorted(counts, reverse=True))
        alone, other_way = self.figures("R8")["alone"]
        self.assertGreater(alone, other_way, "k-NN errs more often alone")

    def test_the_worked_examples(self) -> None:
        told = self.figures("R13")["rows"]
        for part in ("4 at (0, 4)", "primal 4, dual 4", "9, 9", "unclipped = 0.5", "1.264241", "margin 1.061"):
            self.assertTrue(any(part in row for row in told), (part, told))
        self.assertEqual(told[2:4], ["4", "4"])


if __name__ == "__main__":
    unittest.main()
