"""The rules by which bench/machines.py compares answers. No peer and no package."""

from __future__ import annotations

import math
import pathlib
import unittest

from bench.machine_cases.rules import OURS, Case, Check, Place, judge


def case(**checks: Check) -> Case:
    return Case("one", "", lambda place: None, {OURS: lambda data, place: None}, checks)


class Checks(unittest.TestCase):
    def test_same_is_a_share_of_the_largest_of_theirs(self):
        check = Check("same", 0.01)
        self.assertTrue(check.holds([1.0, 100.0], [0.1, 100.0]))
        self.assertFalse(check.holds([1.2, 100.0], [0.1, 100.0]))
        self.assertAlmostEqual(check.off(-2.0, -4.0), 0.5)

    def test_no_more_lets_ours_be_better_by_any_amount(self):
        check = Check("no more", 0.1)
        self.assertTrue(check.holds(-50.0, 100.0))
        self.assertTrue(check.holds(110.0, 100.0))
        self.assertFalse(check.holds(110.1, 100.0))
        self.assertTrue(check.holds(-91.0, -100.0))  # of values below 0, too
        self.assertFalse(check.holds(-89.0, -100.0))

    def test_agree_counts_entries(self):
        check = Check("agree", 0.25)
        self.assertTrue(check.holds([1, 2, 3, 4], [1, 2, 3, 5]))
        self.assertFalse(check.holds([1, 2, 3, 4], [1, 2, 4, 5]))

    def test_what_is_no_number_or_of_another_length_never_holds(self):
        for kind in ("same", "no more", "agree"):
            check = Check(kind, 1e9)
            for mine, theirs in ((math.nan, 1.0), (1.0, math.inf), ([1.0], [1.0, 2.0])):
                self.assertFalse(check.holds(mine, theirs), (kind, mine, theirs))

    def test_one_answer_that_is_off_makes_the_case_void(self):
        both = case(error=Check("no more", 0.1), labels=Check("agree", 0.0))
        good, words = judge(both, {"error": 1.0, "labels": [1]}, {"error": 1.0, "labels": [1]})
        self.assertTrue(good)
        self.assertNotIn("VOID", words)
        good, words = judge(both, {"error": 1.0, "labels": [1]}, {"error": 1.0, "labels": [2]})
        self.assertFalse(good)
        self.assertEqual(words.count("VOID"), 1)

    def test_quick_takes_a_quarter_but_not_next_to_nothing(self):
        self.assertEqual(Place(pathlib.Path(), True, 2).rows(8_000), 2_000)
        self.assertEqual(Place(pathlib.Path(), True, 2).rows(600), 500)
        self.assertEqual(Place(pathlib.Path(), False, 2).rows(600), 600)


if __name__ == "__main__":
    unittest.main()
