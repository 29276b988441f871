"""The rules of the studio's server, each broken once, and what it answers."""

from __future__ import annotations

import base64
import json
import math
import os
import pathlib
import socket
import subprocess

import pytest
from conftest import PROGRAM, Studio


def state(studio, **headers):
    reply, text = studio.request("GET", "/api/state", **headers)
    return reply.status


def learnt(studio, **asked):
    job = studio.ask("/api/train", asked)[1]["job"]
    return studio.ended_jobs([job])[job]["result"]["run"]


def test_answers_whoever_has_the_cookie(studio):
    assert state(studio) == 200


def test_listens_on_the_loopback_interface_alone(studio):
    listening = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    here = [line.split()[1] for line in listening
            if line.split()[3] == "0A" and line.split()[1].endswith(f":{studio.port:04X}")]  # fmt: skip
    assert here == [f"0100007F:{studio.port:04X}"]
    with pytest.raises(OSError):
        socket.create_connection(("::1", studio.port), timeout=2)


def test_the_token_becomes_a_strict_cookie_that_scripts_cannot_read(studio):
    reply, _ = studio.request("GET", f"/?token={studio.token}", Cookie="")
    assert reply.status == 303 and reply.getheader("Location") == "/"
    cookie = reply.getheader("Set-Cookie")
    assert cookie.startswith(studio.cookie)
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert len(studio.token) == 32 and int(studio.token, 16) >= 0


def test_two_studios_have_two_tokens(studio):
    other = Studio()
    try:
        assert other.token != studio.token
        status = state(other, Cookie=f"mercer_studio_{other.port}={studio.token}")
        assert status == 403
    finally:
        assert other.end() == 0


@pytest.mark.parametrize("cookie", ["", "mercer_studio_1=0", "mercer_studio_{port}=" + "0" * 32])
def test_without_the_cookie_nothing_is_answered(studio, cookie):
    assert state(studio, Cookie=cookie.replace("{port}", str(studio.port))) == 403
    reply, text = studio.request("GET", "/main.js", Cookie="")
    assert reply.status == 403 and "import" not in text


def test_a_wrong_token_opens_nothing(studio):
    reply, _ = studio.request("GET", "/?token=" + "0" * 32, Cookie="")
    assert reply.status == 403 and reply.getheader("Set-Cookie") is None


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "", "[::1]:{port}"])
def test_another_host_is_refused_whoever_asks(studio, host):
    reply, _ = studio.request("GET", "/api/state", Host=host.replace("{port}", str(studio.port)))
    assert reply.status in ((400, 403) if not host else (403,))


def test_localhost_is_this_host(studio):
    assert state(studio, Host=f"localhost:{studio.port}") == 200


@pytest.mark.parametrize("origin", ["", "null", "http://evil.example", "http://127.0.0.1"])
def test_posts_come_from_the_own_page(studio, origin):
    reply, _ = studio.request("POST", "/api/kernel", '{"kernel":"linear"}', Origin=origin)
    assert reply.status == 403


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_posts_are_json(studio, kind):
    reply, _ = studio.request("POST", "/api/kernel", '{"kernel":"linear"}', Content_Type=kind)
    assert reply.status == 415


def test_bodies_that_are_no_json_are_refused(studio):
    for body in ("", "{", "[]", '{"kernel": 3}', '"' + "[" * 2000):
        reply, _ = studio.request("POST", "/api/kernel", body)
        assert reply.status == 400, body


def test_large_bodies_are_refused_before_they_are_read(studio):
    reply, _ = studio.request("POST", "/api/kernel", None, Content_Length=str(10**9))
    assert reply.status == 413
    reply, _ = studio.request("POST", "/api/kernel", None, Content_Length="9" * 30)
    assert reply.status in (400, 413)


def test_other_methods_are_refused(studio):
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        reply, _ = studio.request(method, "/api/state")
        assert reply.status == 405, method


def test_no_other_origin_may_read_and_pages_load_from_here_alone(studio):
    for path in ("/", "/main.js", "/api/state", "/nothing"):
        reply, _ = studio.request("GET", path, Origin="http://evil.example")
        assert reply.getheader("Access-Control-Allow-Origin") is None
        policy = reply.getheader("Content-Security-Policy")
        assert policy.startswith("default-src 'self';") and "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert reply.getheader("X-Content-Type-Options") == "nosniff"
        assert reply.getheader("Cache-Control") == "no-store"


def test_files_come_from_below_the_root_alone(studio):
    status, answer = studio.ask("/api/data", {"source": "file", "name": "inside.csv"})
    assert status == 200 and answer["data"]["rows"] == 4
    for name in ("../outside.csv", "/etc/passwd", "x/../../outside.csv"):
        status, answer = studio.ask("/api/data", {"source": "file", "name": name})
        assert status == 422 and "--root" in answer["error"], name
    other = Studio()
    try:
        status, answer = other.ask("/api/data", {"source": "file", "name": "inside.csv"})
        assert status == 422 and "--root" in answer["error"]
    finally:
        assert other.end() == 0


def test_a_link_out_of_the_root_is_not_followed(studio, tmp_path):
    outside = tmp_path / "secret.csv"
    outside.write_text("a,b,label\n1,2,x\n2,1,y\n")
    root = tmp_path / "root"
    root.mkdir()
    os.symlink(outside, root / "link.csv")
    other = Studio("--root", str(root))
    try:
        status, _ = other.ask("/api/data", {"source": "file", "name": "link.csv"})
        assert status == 422
    finally:
        assert other.end() == 0


def test_jobs_have_a_limit_and_can_be_stopped(studio):
    studio.ask("/api/data", {"source": "make", "name": "checkerboard", "n": 20000, "noise": 0.3})
    heavy = {"task": "svc", "kernel": "rbf(gamma=50)", "settings": {"C": 1e6}}
    answers = [studio.ask("/api/train", heavy) for _ in range(14)]
    assert answers[0][0] == 200 and answers[-1][0] == 422
    assert "waiting" in answers[-1][1]["error"]
    for status, answer in answers:
        if status == 200:
            studio.ask("/api/stop", {"job": answer["job"]})
    jobs = studio.ended_jobs()
    assert jobs and all(j["state"] in ("stopped", "done") for j in jobs.values()), jobs
    studio.ask("/api/data", {"source": "make", "name": "moons", "n": 60, "noise": 0.2})


def test_mistakes_of_the_asker_are_told(studio):
    status, answer = studio.ask("/api/train", {"task": "svc", "settings": {"C": -1}})
    assert status == 422 and "C" in answer["error"]
    status, answer = studio.ask("/api/train", {"task": "nothing"})
    assert status == 422
    status, answer = studio.ask("/api/view?run=99999")
    assert status == 422
    status, answer = studio.ask("/api/data", {"source": "make", "name": "moons", "n": 10**8})
    assert status == 422


def test_idle_connections_do_not_keep_others_waiting(studio):
    idle = [socket.create_connection(("127.0.0.1", studio.port)) for _ in range(8)]
    try:
        assert state(studio) == 200
    finally:
        for one in idle:
            one.close()


def test_the_page_is_small():
    folder = pathlib.Path(__file__).resolve().parents[2] / "studio" / "page"
    assert sum(f.stat().st_size for f in folder.iterdir()) <= 150_000
    for f in folder.iterdir():
        text = f.read_text()
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https://" not in text, f


def test_the_verdict_and_the_certificate_are_those_of_the_library(studio):
    status, answer = studio.ask("/api/kernel", {"kernel": "sigmoid(gamma=2, coef0=-1)"})
    assert status == 200 and answer["test"]["indefinite"]
    assert answer["test"]["witness"]["value"] < 0
    status, answer = studio.ask("/api/kernel", {"kernel": "rbf(gama=1)"})
    assert not answer["ok"] and "^" in answer["error"]
    run = learnt(studio, task="svc", kernel="rbf(gamma=1)", settings={"C": 10})
    status, checked = studio.ask("/api/verify", {"run": run})
    assert status == 200 and checked["holds"]
    status, view = studio.ask(f"/api/view?run={run}&size=20")
    assert view["kind"] == "two" and len(view["values"]) == 400 and min(view["values"]) < 0 < max(view["values"])
    assert json.dumps(studio.ask(f"/api/copies?run={run}")[1]).count("rbf(gamma=1)") == 3


def test_what_was_learnt_and_its_rows_can_be_taken_away(studio, tmp_path):
    table = 'a,"b, c",label\n' + "".join(f"{i % 5},{i % 3},{'yes' if i % 5 < 2 else 'no'}\n" for i in range(30))
    assert studio.ask("/api/data", {"source": "text", "name": "t.csv", "text": table})[0] == 200
    reply, text = studio.request("GET", "/api/data.csv")
    assert reply.status == 200 and text == table
    run = learnt(studio, task="svc", kernel="rbf(gamma=1)", settings={"C": 10})
    reply, picture = studio.request("GET", f"/api/picture?run={run}")
    assert reply.status == 200 and picture.startswith("<svg") and picture.rstrip().endswith("</svg>")
    assert f"run{run}.svg" in reply.getheader("Content-Disposition")
    (tmp_path / "t.csv").write_text(table)
    (tmp_path / "m.mercer").write_bytes(studio.bytes_of(f"/api/model?run={run}"))
    told = subprocess.run([PROGRAM, "verify", "m.mercer", "t.csv", "--json"],
                          cwd=tmp_path, check=True, capture_output=True).stdout  # fmt: skip
    assert json.loads(told)["holds"]


def test_a_regression_on_rows_without_targets_has_no_slack(studio):
    rows = [k / 10 for k in range(40)]
    studio.ask("/api/data", {"source": "text", "name": "sine.csv",
                             "text": "x,y\n" + "".join(f"{x},{math.sin(x)}\n" for x in rows)})  # fmt: skip
    run = learnt(studio, task="svr", kernel="rbf(gamma=1)", settings={"C": 10, "epsilon": 0.01})
    status, view = studio.ask(f"/api/view?run={run}")
    assert view["kind"] == "curve" and view["tube"] == pytest.approx(0.01)
    assert all(abs(y - math.sin(x)) < 0.1 for x, y in zip(view["x"], view["y"]))
    status, point = studio.ask(f"/api/point?run={run}&row=3")
    assert status == 200 and point["slack"] < 0.1
    model = base64.b64encode(studio.bytes_of(f"/api/model?run={run}")).decode()
    studio.ask("/api/data", {"source": "text", "name": "x.csv", "label": "none", "text": "x\n1\n2\n3\n4\n"})
    opened = studio.ask("/api/open", {"name": "m.mercer", "base64": model})[1]["run"]
    status, point = studio.ask(f"/api/point?run={opened}&row=3")
    assert status == 200 and "slack" not in point
    assert abs(float(point["predicted"]) - math.sin(4)) < 0.2


def test_sequences_are_not_taken_away_as_a_table(studio):
    fasta = ">a\nACGT\n>b\nGGTT\n"
    assert studio.ask("/api/data", {"source": "text", "name": "s.fasta", "text": fasta})[0] == 200
    status, answer = studio.ask("/api/data.csv")
    assert status == 422 and "rows of numbers" in answer["error"]


@pytest.mark.parametrize("method", ["perceptron", "adatron", "smo"])
def test_lectures_go_step_by_step(studio, method):
    points = {"x": [[-1, 0], [-1, 1], [1, 0], [1, -1]], "y": [0, 0, 1, 1]}
    frames = [studio.ask("/api/lecture", {"method": method, "kernel": "linear", "C": 10, "step": k, **points})
              for k in (1, 2, 50)]  # fmt: skip
    assert all(status == 200 for status, _ in frames), frames
    assert frames[-1][1]["finished"]
    if method != "perceptron":
        duals = [frame["dual"] for _, frame in frames]
        assert duals[0] <= duals[1] + 1e-9 <= duals[2] + 1e-6


def test_ctrl_c_ends_it_well():
    other = Studio("@iris")
    assert other.ask("/api/state")[1]["data"]["rows"] == 150
    assert other.end() == 0
