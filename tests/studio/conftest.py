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

import pytest

PROGRAM = str(pathlib.Path(os.environ.get("MERCER_PROGRAMS", "build/bin")).resolve() / "mercer")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip


class Studio:
    """A running `mercer studio`, and requests to it by hand."""

    def __init__(self, *words: str) -> None:
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

    def request(self, method: str, path: str, body: str | None = None, **headers: str):
        """Headers under their names with _ for -; an empty one is left out."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
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
        return reply, reply.read().decode()

    def ask(self, path: str, asked: dict | None = None):
        reply, text = self.request("GET" if asked is None else "POST", path,
                                   None if asked is None else json.dumps(asked))  # fmt: skip
        return reply.status, json.loads(text)

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=10)


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    (root / "inside.csv").write_text("a,b,label\n1,2,x\n2,1,y\n3,3,x\n0,1,y\n")
    (root.parent / "outside.csv").write_text("a,b,label\n1,2,x\n2,1,y\n")
    running = Studio("--root", str(root))
    yield running
    running.end()


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
