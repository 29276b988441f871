"""scikit-learn's own tests of its kernel machines, run with mercer's in their place."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

sklearn = pytest.importorskip("sklearn", minversion="1.6")

HERE = pathlib.Path(__file__).parent / "in_place"
sys.path.insert(0, str(HERE))

import excluded  # noqa: E402

#: How many of scikit-learn 1.9's tests in each module pass at least, and how many there are.
MODULES = {
    "svm/tests/test_svm.py": (117, 124),
    "svm/tests/test_sparse.py": (158, 158),
    "decomposition/tests/test_kernel_pca.py": (34, 38),
    "tests/test_kernel_ridge.py": (10, 10),
    "gaussian_process/tests/test_gpr.py": (195, 195),
    "tests/test_kernel_approximation.py": (78, 78),
    "cluster/tests/test_spectral.py": (36, 37),
}
#: Of those that do not look into scikit-learn's private parts; what it expects to fail of its own counts
#: as passed.
SHARE = 0.98


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory) -> dict[str, str]:
    """What became of every test, by the name it has within scikit-learn."""
    root = pathlib.Path(sklearn.__file__).parent
    missing = [name for name in MODULES if not (root / name).exists()]
    if missing:
        pytest.skip(f"scikit-learn's tests are not installed: {', '.join(missing)}")
    report = tmp_path_factory.mktemp("in_place") / "outcomes.json"
    paths = [str(HERE), *sys.path]
    environment = {
        **os.environ,
        "MERCER_IN_PLACE_REPORT": str(report),
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
    }
    command = [
        sys.executable,
        "-B",
        "-m",
        "pytest",
        "-p",
        "mercer_in_place",
        "-p",
        "no:cacheprovider",
    ]
    command += [
        "-q",
        "--no-header",
        "--tb=no",
        "-W",
        "ignore",
        *(str(root / name) for name in MODULES),
    ]
    done = subprocess.run(
        command, cwd=report.parent, env=environment, capture_output=True, text=True, timeout=600
    )
    assert report.exists(), done.stdout + done.stderr
    return json.loads(report.read_text(encoding="utf-8"))


def judged(outcomes: dict[str, str]) -> dict[str, str]:
    """Those that ran and are not excluded."""
    return {
        name: outcome
        for name, outcome in outcomes.items()
        if outcome != "skipped" and name not in excluded.EXCLUDED
    }


def test_nearly_all_pass(outcomes) -> None:
    left = judged(outcomes)
    passed = [name for name, outcome in left.items() if outcome in ("passed", "expected")]
    assert len(left) > 500
    assert len(passed) >= SHARE * len(left), sorted(set(left) - set(passed))


@pytest.mark.skipif(
    not sklearn.__version__.startswith(excluded.VERSION + "."),
    reason=f"the lists are of scikit-learn {excluded.VERSION}",
)
def test_what_fails_is_known(outcomes) -> None:
    left = judged(outcomes)
    assert set(excluded.EXCLUDED) | set(excluded.DIFFERENT) <= set(outcomes)
    assert {name for name in left if left[name] == "failed"} == set(excluded.DIFFERENT)
    for module, (passed, count) in MODULES.items():
        here = [outcome for name, outcome in left.items() if name.startswith(module)]
        assert (len(here) - here.count("failed"), len(here)) == (passed, count), module
