"""What the studio copies as Python and as C++ learns the machine that the studio learnt."""

import http.client
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

import mercer

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = ROOT / "build/bin/mercer"
PATIENCE = 300  # seconds until something counts as never coming, on a loaded machine too
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="build/bin/mercer is not there")


class Studio:
    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [PROGRAM, "studio", "--json"], stdout=subprocess.PIPE, text=True
        )
        text = ""
        while not text.rstrip().endswith("}"):
            line = self.process.stdout.readline()
            if not line:
                pytest.skip("no studio here: its server library is absent")
            text += line
        told = json.loads(text)
        self.port = told["port"]
        self.token = told["address"].split("token=")[1]

    def ask(self, path, asked=None):
        here = f"127.0.0.1:{self.port}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request(
            "GET" if asked is None else "POST",
            path,
            None if asked is None else json.dumps(asked),
            {
                "Host": here,
                "Origin": f"http://{here}",
                "Content-Type": "application/json",
                "Cookie": f"mercer_studio_{self.port}={self.token}",
            },
        )
        reply = connection.getresponse()
        answer = json.loads(reply.read())
        assert reply.status == 200, answer
        return answer

    def train(self, **asked):
        """The summary of the run, and its copies."""
        job = self.ask("/api/train", asked)["job"]
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            state = self.ask("/api/state")
            found = next(j for j in state["jobs"] if j["id"] == job)
            if found["state"] in ("done", "failed"):
                break
            time.sleep(0.05)
        assert found["state"] == "done", found["error"]
        run = found["result"]["run"]
        summary = next(r for r in state["runs"] if r["id"] == run)
        return summary, self.ask(f"/api/copies?run={run}")


@pytest.fixture(scope="module")
def studio():
    running = Studio()
    yield running
    running.process.send_signal(signal.SIGINT)
    running.process.wait(timeout=PATIENCE)


def run_python(code, folder):
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True,
        env={"PYTHONPATH": str(pathlib.Path(mercer.__file__).parents[1])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def load(studio, folder, name):
    table = studio.ask("/api/data", {"source": "make", "name": name, "n": 80, "noise": 0.2})
    made = ["make", name, "-n", "80", "--seed", "1", "--noise", "0.2", "-o", f"{name}.csv"]
    subprocess.run([PROGRAM, *made], cwd=folder, check=True, capture_output=True)
    return table


CLASSES = [
    ("svc", {"C": 10}),
    ("nu-svc", {"nu": 0.3}),
    ("one-class", {"nu": 0.2}),
    ("svdd", {"nu": 0.2}),
    ("logistic", {"lambda": 0.1}),
    ("adatron", {"C": 5}),
    ("perceptron", {}),
]
NUMBERS = [
    ("svr", {"C": 10, "epsilon": 0.05}),
    ("nu-svr", {"C": 10, "nu": 0.4}),
    ("ridge", {"lambda": 0.1}),
    ("gp", {"noise": 0.1}),
]


SCALES = ["standard", "none", "minmax"]


@pytest.mark.parametrize(
    "task, settings, scale",
    [(*case, SCALES[k % 3]) for k, case in enumerate(CLASSES + NUMBERS)],
)
def test_copied_python_has_the_same_objective(studio, tmp_path, task, settings, scale):
    load(studio, tmp_path, "sinc" if (task, settings) in NUMBERS else "moons")
    run, copies = studio.train(
        task=task, kernel="rbf(gamma=5)", scale=scale, settings=settings
    )
    assert copies["python"], task
    told = run_python(copies["python"], tmp_path)
    assert told == pytest.approx(run["dual"], rel=2e-3, abs=1e-6)


def test_a_machine_without_a_class_says_so(studio, tmp_path):
    load(studio, tmp_path, "moons")
    _, copies = studio.train(task="hard", kernel="rbf(gamma=20)", scale="none", settings={})
    assert copies["python"] == "" and "--task hard" in copies["command"]


@pytest.mark.skipif(not shutil.which("c++"), reason="no compiler")
def test_copied_cpp_has_the_same_objective(studio, tmp_path):
    load(studio, tmp_path, "moons")
    run, copies = studio.train(
        task="svc", kernel="rbf(gamma=0.7)", scale="standard", settings={"C": 10}
    )
    (tmp_path / "copied.cpp").write_text(copies["cpp"])
    built = subprocess.run(
        ["c++", "-std=c++20", "-O0", "copied.cpp", "-o", "copied", f"-I{ROOT / 'src'}",
         f"-I{ROOT / 'build/src/generated'}", f"-L{ROOT / 'build/lib'}", "-lmercer",
         f"-Wl,-rpath,{ROOT / 'build/lib'}"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    subprocess.run(["./copied"], cwd=tmp_path, check=True)
    shown = subprocess.run(
        [PROGRAM, "show", "model.mercer", "--json"], cwd=tmp_path, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    assert f"{run['dual']:.6g}" in shown.stdout or run["dual"] == pytest.approx(
        mercer.load(str(tmp_path / "model.mercer")).report_.dual, rel=1e-6
    )
