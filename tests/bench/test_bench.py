"""The comparison with other programs: its rules, its tables, its files. No peer and no network."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import xml.dom.minidom

from bench import bars, data, judge, measure, plot, report, run, session, sets, suite, tables
from bench.judge import Row
from bench.peers import LIBSVM, NAMES, OUR_LIBRARY, OURS, base, library, peer


def row(peer: str, train: float, objective: float = 100.0, case: str = "one", **more) -> Row:
    return Row(case, peer, train=train, objective=objective, infeasibility=0.0, **more)


class Splits(unittest.TestCase):
    """Rows of a search drawn anew: every row once, none on both sides."""

    def files_of(self, split: int, own_test: bool) -> tuple[list[str], list[str]]:
        with tempfile.TemporaryDirectory() as name:
            work = pathlib.Path(name)
            train, test = work / "a.train", work / "a.test"
            rows = [f"1 1:{k}" for k in range(100)]
            train.write_text("\n".join(rows[:70] if own_test else rows) + "\n")
            test.write_text("\n".join(rows[70:] if own_test else rows[::10]) + "\n")
            case = suite.SEARCH[0]
            job = base.Job(case, suite.Limits(), train, test, 1, 1.0, work, work)
            made = run.redrawn(job, split, own_test)
            return made.train.read_text().splitlines(), made.test.read_text().splitlines()

    def test_every_row_is_on_one_side(self):
        for split, own_test in ((0, True), (1, True), (0, False), (2, False)):
            train, test = self.files_of(split, own_test)
            self.assertEqual((len(train), len(test)), (70, 30))
            self.assertEqual(len({*train, *test}), 100)

    def test_splits_differ_and_can_be_had_again(self):
        self.assertEqual(self.files_of(0, True)[1], [f"1 1:{k}" for k in range(70, 100)])
        self.assertNotEqual(self.files_of(1, True), self.files_of(2, True))
        self.assertEqual(self.files_of(1, True), self.files_of(1, True))


class VoidRule(unittest.TestCase):
    def test_worse_than_the_best_by_more_than_the_limit_is_void(self):
        rows = [row("mercer", 1, 100.0), row("sklearn", 1, 99.9905), row("thundersvm", 1, 99.9895)]
        judge.judge(rows)
        self.assertEqual([r.status for r in rows], ["ok", "ok", "void"])
        self.assertIn("behind the best", rows[2].note)

    def test_negative_objectives_are_compared_the_same_way(self):
        rows = [row("mercer", 1, -50.0), row("sklearn", 1, -50.004), row("sklearnex", 1, -50.006)]
        judge.judge(rows)
        self.assertEqual([r.status for r in rows], ["ok", "ok", "void"])

    def test_what_breaks_the_constraints_is_void_and_sets_no_standard(self):
        rows = [row("mercer", 1, 100.0), row("sklearn", 1, 120.0)]
        rows[1].infeasibility = 0.01
        judge.judge(rows)
        self.assertEqual([r.status for r in rows], ["ok", "void"])

    def test_no_number_is_void(self):
        for value in (None, math.nan, math.inf):
            rows = [row("mercer", 1), row("sklearn", 1)]
            rows[1].objective = value
            judge.judge(rows)
            self.assertEqual([r.status for r in rows], ["ok", "void"], value)

    def test_cases_are_judged_apart_and_ours_can_be_void_too(self):
        rows = [row("mercer", 1, 10.0), row("sklearn", 1, 11.0), row("mercer", 1, 5.0, "two")]
        judge.judge(rows)
        self.assertEqual([r.status for r in rows], ["void", "ok", "ok"])

    def test_absent_and_late_rows_stay_what_they_are(self):
        rows = [Row("one", "sklearn", "absent"), Row("one", "thundersvm", "limit")]
        judge.judge(rows)
        self.assertEqual([r.status for r in rows], ["absent", "limit"])


class Sums(unittest.TestCase):
    def test_geometric_mean(self):
        self.assertAlmostEqual(judge.geometric_mean([2, 8]), 4)
        self.assertAlmostEqual(judge.geometric_mean([3.0]), 3)
        self.assertIsNone(judge.geometric_mean([]))

    def test_growth_exponent_of_a_power_is_its_exponent(self):
        sizes = [100.0, 200.0, 400.0, 1600.0]
        self.assertAlmostEqual(judge.growth_exponent(sizes, [3e-5 * n**1.7 for n in sizes]), 1.7)
        self.assertIsNone(judge.growth_exponent([5.0], [1.0]))
        self.assertIsNone(judge.growth_exponent([5.0, 5.0], [1.0, 2.0]))

    def test_ratio_needs_two_rows_that_count(self):
        self.assertEqual(judge.ratio(row("sklearn", 6.0), row("mercer", 2.0)), 3)
        self.assertIsNone(judge.ratio(row("sklearn", 6.0, status="void"), row("mercer", 2.0)))
        self.assertIsNone(judge.ratio(Row("one", "sklearn", "absent"), row("mercer", 2.0)))

    def test_fastest_other_leaves_out_ours_libsvm_and_void_rows(self):
        rows = [row("mercer", 1), row("libsvm_debian", 2), row("sklearn", 5), row("sklearnex", 4),
                row("thundersvm", 3, status="void")]  # fmt: skip
        self.assertEqual(judge.fastest_other(rows, OURS, LIBSVM).peer, "sklearnex")
        self.assertIsNone(judge.fastest_other(rows[:2], OURS, LIBSVM))


    def test_trainings_again_stand_for_ours_and_leave_programs_out(self):
        rows = [row("mercer", 1.0), row("mercer_library", 0.9, again=0.5),
                row("libsvm_newest", 8.0, again=6.0), row("libsvm_debian", 9.0),
                Row("one", "thundersvm", "limit")]  # fmt: skip
        again = judge.again(rows, OURS, OUR_LIBRARY)
        self.assertEqual([(r.peer, r.train) for r in again],
                         [("mercer", 0.5), ("libsvm_newest", 6.0), ("thundersvm", None)])  # fmt: skip
        once = [(r.peer, r.train) for r in judge.once(rows, OUR_LIBRARY)]
        self.assertEqual(once[:2], [("mercer", 1.0), ("libsvm_newest", 8.0)])


class Tables(unittest.TestCase):
    def test_columns_line_up(self):
        lines = tables.markdown(("a", "γ"), [("long name", "1"), ("b", "12345")]).splitlines()
        self.assertEqual(len({len(line) for line in lines}), 1)
        self.assertEqual(lines[2], "| long name |     1 |")

    def test_ratios_void_limits_and_means(self):
        rows = [
            row("mercer", 1.0), row("libsvm_debian", 4.0), row("sklearnex", 2.0, status="void"),
            Row("one", "thundersvm", "limit"), Row("one", "libsvm_newest", "absent"),
            row("mercer", 2.0, case="two"), row("libsvm_debian", 32.0, case="two"),
            row("sklearn", 5.0, case="two"),
        ]  # fmt: skip
        text = tables.ratios(rows, NAMES, report.titles(), OURS, LIBSVM, 900)
        cells = [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines()]
        head = cells[0]
        one, two, mean = cells[2:]
        at = {title: head.index(title) for title in head}
        self.assertEqual(one[at["LIBSVM (Debian)"]], "4×")
        self.assertEqual(one[at["scikit-learn-intelex"]], "void")
        self.assertEqual(one[at["ThunderSVM"]], "> 900×")
        self.assertEqual(one[at["LIBSVM (newest)"]], "absent")
        self.assertEqual(one[-1], "–")
        self.assertEqual(two[-1], "2.5×")
        self.assertEqual(mean[at["LIBSVM (Debian)"]], "8× (2)")
        self.assertEqual(mean[at["scikit-learn-intelex"]], "–")

    def test_details_say_why_a_row_does_not_count(self):
        rows = [row("mercer", 1.0, support_vectors=7, load=0.1, predict=0.2, score=0.5),
                Row("one", "sklearn", "failed", note="broke | off"),
                Row("one", "sklearnex", "limit")]  # fmt: skip
        text = tables.details(rows, {"one": "svc"}, report.titles(), 60)
        self.assertIn("50.00 %", text)
        self.assertIn("failed: broke / off", text)
        self.assertIn("> 60 s", text)
        rows[0].others = 0.8
        text = tables.details(rows, {"one": "svc"}, report.titles(), 60)
        self.assertIn("disturbed, others took 0.8 cores", text)
        self.assertEqual(len({line.count("|") for line in text.splitlines()}), 1)

    def test_growth_is_sorted_and_summed_up(self):
        points = [{"case": "a", "peer": "mercer", "rows": n, "seconds": n**2 / 1e6}
                  for n in (4000, 1000, 2000)]  # fmt: skip
        line = tables.growth(points, report.titles()).splitlines()[2]
        self.assertIn("1000: 1, 2000: 4, 4000: 16", line)
        self.assertIn("2.00", line)


class Bars(unittest.TestCase):
    def test_the_fastest_of_each_kind_counts(self):
        rows = [row("mercer", 1.0), row("libsvm_debian", 40.0), row("libsvm_newest", 30.0),
                row("sklearnex", 3.0), row("sklearn", 1.5), row("thundersvm", 0.1, status="void"),
                row("mercer", 2.0, case="mnist"), row("libsvm_newest", 120.0, case="mnist"),
                row("sklearnex", 1.0, case="mnist")]  # fmt: skip
        said = bars.training(rows, OURS, LIBSVM)
        self.assertEqual(
            said[0], "MNIST against the faster LIBSVM: 60.0× (wanted: at least 50.0×) met"
        )
        self.assertIn("of LIBSVM: 42.4× (wanted: at least 25.0×) met", said[1])
        self.assertIn("of others: 0.87× (wanted: at least 2×) MISSED", said[2])
        self.assertIn("mnist (sklearnex, 0.50) (wanted: none) MISSED", said[3])

    def test_without_a_row_of_ours_nothing_is_met(self):
        rows = [row("mercer", 1.0, status="void"), row("sklearn", 9.0)]
        self.assertIn("MISSED", bars.training(rows, OURS, LIBSVM)[0])

    def test_growth(self):
        points = [
            {"case": "a", "peer": peer, "rows": n, "seconds": n**power}
            for peer, power in (("mercer", 1.5), ("libsvm_newest", 1.9))
            for n in (10, 100)
        ]
        self.assertEqual(
            bars.growth(points, OURS), ["growth on a: 1.50 against 1.90 (wanted: at most 1.60) met"]
        )
        self.assertEqual(bars.growth(points[:2], OURS), [])


class Pages(unittest.TestCase):
    def test_only_what_lies_between_the_markers_changes(self):
        once = report.inserted("# Title\n\nkept\n", "old")
        self.assertTrue(once.startswith("# Title\n\nkept\n"))
        twice = report.inserted(once + "\nalso kept\n", "new")
        self.assertIn("new", twice)
        self.assertNotIn("old", twice)
        self.assertTrue(twice.endswith("also kept\n"))
        self.assertEqual(report.inserted(twice, "new"), twice)
        with self.assertRaises(ValueError):
            report.inserted(report.BEGIN + "\nno end", "new")

    def test_plot_is_well_formed_and_inside_its_frame(self):
        lines = {"a & b": [(100, 0.01), (1000, 0.5)], "c": [(100, 0.02), (10000, 100.0)], "e": []}
        picture = xml.dom.minidom.parseString(plot.log_log(lines, "rows", "seconds"))
        circles = picture.getElementsByTagName("circle")
        self.assertEqual(len(circles), 4)
        for circle in circles:
            x, y = (float(circle.getAttribute(name)) for name in ("cx", "cy"))
            self.assertTrue(plot.LEFT <= x <= plot.WIDTH - plot.RIGHT)
            self.assertTrue(plot.TOP <= y <= plot.HEIGHT - plot.BOTTOM)
        self.assertEqual(plot.log_log({"e": []}, "", ""), "")

    def test_the_fullest_then_latest_result_is_reported(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for mode, date in (("full", "2026-01"), ("full", "2026-02"), ("quick", "2026-03")):
                said = {"mode": mode, "date": date}
                (folder / f"train-{mode}-{date}.json").write_text(json.dumps(said))
            said = {"mode": "full", "date": "2026-04", "partial": True}
            (folder / "train-full-2026-04.json").write_text(json.dumps(said))
            self.assertEqual(report.newest(folder, "train"), {"mode": "full", "date": "2026-02"})
            self.assertIsNone(report.newest(folder, "search"))


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def test_scaling(self):
        train = [("1", [1.0, 5.0]), ("2", [3.0, 5.0])]
        scaled, other = sets.standardise(train, [("1", [5.0, 6.0])])
        self.assertEqual([values for _, values in scaled], [[-1, 0], [1, 0]])
        self.assertEqual(other[0][1], [3, 0])
        self.assertEqual([v for _, v in sets.unit_ranges(train)], [[0, 0], [1, 0]])
        self.assertEqual(sets.libsvm_lines(scaled), ["1 1:-1", "2 1:1"])

    def test_shares_lie_within_one_another(self):
        lines = [f"1 1:{i}" for i in range(1, 65)]
        data.write(self.folder, "set", (lines, None))
        for share in ("4", "16"):
            data.make(self.folder, self.folder, f"set@{share}")
        parts = [set((self.folder / f"set@{k}.train").read_text().splitlines()) for k in (4, 16)]
        self.assertEqual([len(part) for part in parts], [16, 4])
        self.assertTrue(parts[1] < parts[0] < set(lines))
        facts = json.loads((self.folder / "set.json").read_text())
        self.assertEqual((facts["rows"], facts["columns"], facts["density"]), (64, 1, 1.0))
        self.assertEqual(facts["test"], "every tenth training row")

    def test_every_case_has_files_and_its_own_name(self):
        for case in (*suite.SUITE, *suite.GROWTH, *suite.SEARCH):
            self.assertIn(case.data, sets.SETS)
        names = [case.name for case in suite.SUITE]
        self.assertEqual(len(set(names)), len(names))
        quick, normal = (set(suite.training_cases(mode)) for mode in ("quick", "normal"))
        self.assertTrue(quick < normal < set(suite.training_cases("full")))

    def job(self, case: suite.Case) -> base.Job:
        train = self.folder / "train"
        train.write_text("1 1:1\n-1 2:0.5\n1\n-1 1:0.25 2:3\n")
        programs = pathlib.Path(os.environ.get("MERCER_PROGRAMS", "build/bin"))
        return base.Job(case, suite.Limits(), train, train, 2, 0.5, programs, self.folder)

    def test_a_job_survives_its_journey_to_the_child(self):
        job = self.job(suite.SUITE[0])
        self.assertEqual(base.Job.from_json(job.to_json()), job)

    def test_a_model_file_has_the_value_of_its_coefficients(self):
        """β = (1, −2, 1) on rows 1, 2, 3 with γ = 0.5; the tool must find Σ|β| − ½ β'Kβ."""
        job = self.job(suite.Case("x", "x", C=2, gamma=0.5))
        machine = library.Machine([0, 2, 1], [[1.0, 1.0, -2.0]], [2, 1], [1, -1], [0.0])
        library.write_model(job, machine)
        if not (job.programs / "dual_objective").exists():
            self.skipTest("dual_objective is not built")
        k = [math.exp(-0.5 * d) for d in (1.25, 1.0, 0.25)]  # rows 1-2, 1-3, 2-3
        quadratic = 1 + 4 + 1 + 2 * (-2 * k[0] + k[1] - 2 * k[2])
        said = session.objective(job)
        self.assertAlmostEqual(said["objective"], 4 - quadratic / 2, places=12)
        self.assertEqual(said["infeasibility"], 0)
        self.assertEqual(said["support_vectors"], 3)

    def test_a_regression_is_valued_with_its_targets(self):
        job = self.job(suite.Case("x", "x", task="svr", C=2, gamma=0.5, epsilon=0.1))
        library.write_model(job, library.Machine([0, 3], [[3.0, -2.0]], [], [], [0.0]))
        if not (job.programs / "dual_objective").exists():
            self.skipTest("dual_objective is not built")
        k = math.exp(-0.5 * (0.75**2 + 9))
        said = session.objective(job)
        self.assertAlmostEqual(said["objective"], 5 - 0.5 - (9 + 4 - 12 * k) / 2, places=12)
        self.assertAlmostEqual(said["infeasibility"], 0.5, places=3)  # 3 > C, and Σβ = 1


class Children(unittest.TestCase):
    def test_clock_memory_and_limit(self):
        code = "x = bytearray(200 << 20); print('done')"
        finished = measure.run([sys.executable, "-c", code], 60)
        self.assertEqual((finished.code, finished.output, finished.late), (0, "done\n", False))
        self.assertGreater(finished.peak_mib, 200)
        late = measure.run([sys.executable, "-c", "import time; time.sleep(60)"], 0.2)
        self.assertTrue(late.late)
        self.assertLess(late.seconds, 30)

    def test_other_work_is_noticed_and_our_own_is_not(self):
        spin = "import time; e = time.perf_counter() + 0.6\nwhile time.perf_counter() < e: pass"
        watch = measure.Disturbance()
        before = watch.cores()
        self.assertIsNone(before, "too short to tell")
        other = subprocess.Popen([sys.executable, "-c", spin])  # not yet waited for: not ours
        time.sleep(0.5)
        alone = watch.cores()
        other.wait()
        if alone is None:
            self.skipTest("this system does not count its busy time")
        self.assertGreater(alone, 0.2)

    def test_scores(self):
        svc, svr, one = (suite.Case("x", "x", task=task) for task in ("svc", "svr", "one-class"))
        self.assertEqual(base.score_of(svc, [1, 2, 3, 4], [1, 2, 0, 4]), 0.75)
        self.assertEqual(base.score_of(svr, [1, 2], [2, 4]), 2.5)
        self.assertEqual(base.score_of(one, [1, 1], [1, -1]), 0.5)
        with self.assertRaises(base.Failed):
            base.score_of(svc, [1, 2], [1])

    def test_every_peer_is_there_or_says_why_not(self):
        for name in NAMES:
            self.assertEqual(peer(name).name, name)
        with self.assertRaises(base.Absent):
            peer(OURS).version(pathlib.Path("no such folder"))

    def test_wrong_words_are_refused(self):
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit):
            run.main(["train", "--peers", "nobody"])
        self.assertIn("no such peer: nobody", said.getvalue())


if __name__ == "__main__":
    unittest.main()
