"""A studio, started once, and a browser where there is one."""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

PROGRAM = str(pathlib.Path(os.environ.get("MERCER_PROGRAMS", "build/bin")).resolve() / "mercer")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip
# Seconds until a wait for something that must happen gives up. It tells what never comes from what comes late, and
# judges no machine: under a sanitizer, or beside other work, all takes many times as long.
PATIENCE = 300


def wait_for(ready, pause=lambda: time.sleep(0.05)):
    """What `ready` answers, as soon as that is something; None when it never is."""
    end = time.monotonic() + PATIENCE
    while not (answer := ready()):
        if time.monotonic() > end or any(s.process.poll() for s in Studio.all_of_them):
            return None
        pause()
    return answer


def new_context(browser, **words):
    context = browser.new_context(**words)
    context.set_default_timeout(1000 * PATIENCE)
    return context


class Studio:
    """A running `mercer studio`, and requests to it by hand."""

    all_of_them: list[Studio] = []  # one that has ended badly is waited for no longer

    def __init__(self, *words: str) -> None:
        Studio.all_of_them.append(self)
        self.process = subprocess.Popen(
            [PROGRAM, "studio", *words, "--json"], stdout=subprocess.PIPE, text=True
        )
        text = ""
        while not text.rstrip().endswith("}"):
            line = self.process.stdout.readline()
            assert line, "the studio ended before it had an address"
            text += line
        told = json.loads(text)
        self.address, self.port = told["address"], told["port"]
        self.token = self.address.split("token=")[1]
        self.cookie = f"mercer_studio_{self.port}={self.token}"

    def request(self, method: str, path: str, body: str | None = None, raw: bool = False, **headers: str):
        """Headers under their names with _ for -; an empty one is left out."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        all_headers = {
            "Host": f"127.0.0.1:{self.port}",
            "Cookie": self.cookie,
            "Origin": f"http://127.0.0.1:{self.port}",
            "Content-Type": "application/json",
        }
        all_headers.update({k.replace("_", "-"): v for k, v in headers.items()})
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in all_headers.items():
            if value:
                connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body.encode())))
        connection.endheaders()
        if body is not None:
            connection.send(body.encode())
        reply = connection.getresponse()
        return reply, reply.read().decode("latin-1" if raw else "utf-8")

    def bytes_of(self, path: str) -> bytes:
        reply, text = self.request("GET", path, raw=True)
        assert reply.status == 200, text
        return text.encode("latin-1")

    def ask(self, path: str, asked: dict | None = None):
        reply, text = self.request("GET" if asked is None else "POST", path,
                                   None if asked is None else json.dumps(asked))  # fmt: skip
        return reply.status, json.loads(text)

    def ended_jobs(self, among: list[int] | None = None) -> dict[int, dict] | None:
        """The jobs by their numbers, once those among them (default: all) work and wait no more."""

        def ended():
            jobs = {j["id"]: j for j in self.ask("/api/state")[1]["jobs"]}
            own = jobs if among is None else among
            return jobs if all(jobs[k]["state"] in ("stopped", "done", "failed") for k in own) else None

        return wait_for(ended)

    def end(self) -> int:
        Studio.all_of_them.remove(self)
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=PATIENCE)


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    (root / "inside.csv").write_text("a,b,label\n1,2,x\n2,1,y\n3,3,x\n0,1,y\n")
    (root.parent / "outside.csv").write_text("a,b,label\n1,2,x\n2,1,y\n")
    running = Studio("--root", str(root))
    yield running
    assert running.end() == 0


@pytest.fixture(scope="session")
def browser():
    if importlib.util.find_spec("playwright") is None:
        pytest.skip("no playwright: pip install playwright")
    path = os.environ.get("MERCER_CHROMIUM") or shutil.which("chromium")
    if not path:
        pytest.skip("no Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()
