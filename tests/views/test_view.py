"""`orvl view`: every page and its data, what may read it, and agents' output that wants to be more than text."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from helpers.crawl import MOST_BYTES, Markup, acts_nowhere, crawled
from helpers.user_project import UserProject
from helpers.viewing import LONG, PAGES, Viewer, make_store, viewing, wait_for
from orvl.store import open_store
from orvl.web.html import tag
from orvl.web.show import cut

MADE_ONCE = ("viewer",)


@pytest.fixture(scope="module")
def viewer(tmp_path_factory):
    project = UserProject(tmp_path_factory.mktemp("viewer") / "project")
    make_store(project)
    with viewing(project) as running:
        yield running


@pytest.fixture(scope="module")
def hostile(viewer) -> str:
    """The address of a run of the hostile agent."""
    (row,) = viewer.runs("hostile", "--eval=two")
    return f"/run/{row['run']}"


# -- who may read


def test_it_listens_on_loopback_alone(viewer):
    ends = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    port = f":{viewer.port:04X}"
    assert [end[1] for end in ends if end[1].endswith(port) and end[3] == "0A"] == [f"0100007F{port}"]


@pytest.mark.parametrize("path", [*PAGES, "/", "/static/orvl.css", "/board.json", "/nothing"])
def test_nobody_reads_without_the_token(viewer, path):
    for headers in (
        {},
        {"Cookie": f"orvl-{viewer.port}=wrong"},
        {"Cookie": f"orvl-1={viewer.token}"},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {viewer.token}"},
    ):
        reply = viewer.ask(path, headers)
        assert reply.status == 403
        assert "plain" not in reply.text
        assert viewer.token not in reply.text
    assert viewer.ask(f"{path}{'&' if '?' in path else '?'}token=wrong").status == 403


def test_the_token_reads_as_a_cookie_and_as_a_programs_header(viewer):
    assert viewer.get("/board").status == 200
    assert viewer.ask("/board", {"Authorization": f"Bearer {viewer.token}"}).status == 200


def test_the_printed_address_trades_the_token_for_a_cookie_and_hides_it(viewer):
    reply = viewer.ask(f"/eval/one?token={viewer.token}&judge=ann", {"Sec-Fetch-Site": "cross-site"})
    cookie = reply.headers["Set-Cookie"]
    assert cookie.startswith(f"{viewer.cookie};")
    assert {"HttpOnly", "SameSite=Strict"} <= set(cookie.split("; "))
    assert viewer.token not in reply.text
    assert 'content="0; url=/eval/one?judge=ann"' in reply.text
    assert 'href="/board"' in viewer.ask(f"//evil.example/x?token={viewer.token}").text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "localhost:{port}", "127.0.0.1", "127.0.0.1:1"]
)
def test_another_name_for_this_machine_is_refused(viewer, host):
    for path in ("/board", f"/board?token={viewer.token}"):
        reply = viewer.get(path, Host=host.format(port=viewer.port))
        assert reply.status == 421
        assert "Set-Cookie" not in reply.headers
        assert "plain" not in reply.text


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost:{port}"])
def test_another_origin_is_refused_even_with_the_token(viewer, origin):
    reply = viewer.get("/board.json", Origin=origin.format(port=viewer.port))
    assert reply.status == 403
    assert viewer.get("/board.json", Origin=viewer.origin).status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_sites_request_is_refused_and_its_link_needs_a_click(viewer, site):
    assert viewer.get("/board.json", **{"Sec-Fetch-Site": site}).status == 403
    framed = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
    assert "Go on" not in viewer.get("/board", **framed).text
    followed = viewer.get("/eval/one?judge=ann", **{**framed, "Sec-Fetch-Dest": "document"})
    assert followed.status == 403
    assert Markup(followed.text).links == ["/static/orvl.css", "/eval/one?judge=ann"]
    assert "refresh" not in followed.text
    for own in ("same-origin", "none"):
        assert viewer.get("/board", **{"Sec-Fetch-Site": own}).status == 200


def test_it_only_reads(viewer):
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        assert viewer.ask("/board", {"Cookie": viewer.cookie}, method).status == 405
    head = viewer.ask("/board", {"Cookie": viewer.cookie}, "HEAD")
    assert (head.status, head.body) == (200, b"")


def test_every_answer_forbids_scripts_frames_and_guesses(viewer, hostile):
    refused = viewer.ask("/board")
    answers = [viewer.get(path) for path in (*PAGES, "/nothing", "/board.json", f"{hostile}/raw/file/1", "/board?x=1")]
    for reply in (refused, *answers):
        policy = dict(part.strip().partition(" ")[::2] for part in reply.headers["Content-Security-Policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["frame-ancestors"] == "'none'"
        is_live = b"/static/orvl.js" in reply.body
        assert policy.get("script-src") == ("'self'" if is_live else None)
        assert policy.get("connect-src") == ("'self'" if is_live else None)
        assert "unsafe" not in reply.headers["Content-Security-Policy"]
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["X-Frame-Options"] == "DENY"
        assert reply.headers["Referrer-Policy"] in ("no-referrer", "same-origin")
        assert reply.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert reply.headers["Cache-Control"] == "no-store"
    pages = viewer.get("/board").headers["Content-Security-Policy"]
    assert "base-uri 'none'" in pages
    assert "form-action 'self'" in pages
    assert viewer.get("/board").headers["Referrer-Policy"] == "no-referrer"
    for path in ("/board", "/now", "/label?person=ann"):
        policy = viewer.get(path).headers["Content-Security-Policy"]
        assert "require-trusted-types-for 'script'" in policy and "trusted-types 'none'" in policy


def test_the_one_script_is_small_and_writes_only_texts(viewer):
    reply = viewer.get("/static/orvl.js")
    assert reply.headers["Content-Type"].startswith("text/javascript")
    assert len(reply.body) < 5_000
    assert not re.search(r"HTML|document\.write|\beval\b|Function|setAttribute|import|fetch|XMLHttp", reply.text)
    assert viewer.ask("/static/orvl.js").status == 403
    assert viewer.ask("/now/events", {"Cookie": viewer.cookie}, "HEAD").status == 404


def test_the_browser_gets_no_token_in_its_arguments(project, tmp_path):
    """Everybody on a machine can read them."""
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$1" > {seen}.part; cp "${{1#file://}}" {seen}.html; mv {seen}.part {seen}\n'
    )
    browser.chmod(0o755)
    with viewing(project, "--port=0", env={"BROWSER": str(browser), "DISPLAY": ":0"}) as running:
        deadline = time.monotonic() + 30
        while not seen.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        address = seen.read_text().strip()
        assert address.startswith("file://")
        assert running.token not in address
        assert running.token in Path(f"{seen}.html").read_text()
        folder = Path(address.removeprefix("file://")).parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert running.token.encode() not in Path(f"/proc/{running.pid}/cmdline").read_bytes()
    assert not folder.exists()


# -- hostile output


@pytest.mark.parametrize("most", [120, pytest.param(500, marks=pytest.mark.nightly)])
def test_every_link_works_and_nothing_that_an_agent_made_is_more_than_text(viewer, hostile, most):
    pages = crawled(viewer, hostile, *PAGES, most=most)
    assert len(pages) > 100
    for beginning in ("/files?file=", "/steps?tool=", "/steps?kind=", "/output", "/diff"):
        assert any(path.startswith(f"{hostile}{beginning}") for path in pages), beginning
    assert any(path.startswith("/compare/runs?l=") for path in pages)
    assert [path for path, text in pages.items() if "<script" in text] == ["/now"]
    for path, text in pages.items():
        acts_nowhere(path, text)
    steps = "".join(Markup(pages[f"{hostile}/steps"]).data)
    for text in (
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)>",
        "\\u202e",
        "\\x1b]0;",
        "*{background:url(https://evil.example)}",
        "[here](javascript:alert(1))",
    ):
        assert text in steps


@pytest.mark.parametrize(
    "words", ["<script>alert(1)</script>", "\"'><b>out", "\u202e", "\x1b[31m", "&lt;", "%00", "\n"]
)
def test_hostile_words_of_an_address_are_words(viewer, hostile, words):
    for place in ("steps?q=", "steps?tool=", "steps?kind=", "files?file=", "calls?at="):
        reply = viewer.get(f"{hostile}/{place}{quote(words)}")
        assert reply.status in (200, 404), place
        acts_nowhere(place, reply.text)
    reply = viewer.get(f"/compare/runs?l={quote(words)}&r={quote(words)}")
    assert reply.status in (200, 404)
    acts_nowhere("/compare/runs", reply.text)


def test_raw_files_are_text_to_save_and_pictures_only_by_their_bytes(viewer, hostile):
    kinds = {}
    page = viewer.get(f"{hostile}/files").text
    for number in re.findall(rf'{hostile}/raw/file/(\d+)"', page):
        reply = viewer.get(f"{hostile}/raw/file/{number}")
        kinds[reply.body[:40]] = reply
        assert "sandbox" in reply.headers["Content-Security-Policy"]
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
    for start, reply in kinds.items():
        if start.startswith(b"\x89PNG"):
            assert reply.headers["Content-Type"] == "image/png"
        else:
            assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
            assert re.fullmatch(r'attachment; filename="[a-z0-9.-]+"', reply.headers["Content-Disposition"])
    assert len(kinds) > 9
    assert b"<script>alert(1)</script>" in kinds
    assert b"<svg onload=alert(1)>" in kinds


def test_a_long_line_is_cut_counted_and_linked(viewer, hostile):
    page = viewer.get(hostile)
    assert len(page.body) <= MOST_BYTES
    alone = viewer.get(f"{hostile}/output")
    assert len(alone.body) <= MOST_BYTES
    assert "more signs on this line" in alone.text
    missing = re.search(r"(\d+) signs not shown", alone.text)
    assert missing and LONG - 1_100_000 < int(missing[1]) <= LONG
    whole = viewer.get(f"{hostile}/raw/stdout/1")
    assert len(whole.body) > LONG


@pytest.mark.parametrize("text", ["a\n" * 100_000, "b" * 200_000, f"{'c' * 5_000}\n" * 40])
def test_what_is_cut_is_counted_to_the_sign(text):
    shown, missing = cut(text, 10_000)
    told = re.findall(r" … ([\d,]+) more signs on this line", shown)
    assert len(re.sub(r" … [\d,]+ more signs on this line", "", shown)) + missing == len(text)
    assert len(shown) <= 10_000 + 60 * len(told)
    assert cut("short\n", 10_000) == ("short\n", 0)


@pytest.mark.parametrize(
    "attributes",
    [
        {"href": "javascript:alert(1)"},
        {"href": "//evil.example"},
        {"href": "/\\evil.example"},
        {"href": "https://evil.example"},
        {"src": "data:image/svg+xml;base64,AAAA"},
        {"href": "data:image/png;base64,AAAA"},
        {"onclick": "x"},
        {"style": "x"},
    ],
)
def test_no_page_can_be_built_with_an_address_or_attribute_that_acts(attributes):
    with pytest.raises(ValueError):
        tag("a", "x", **attributes)


# -- pages and their data


def test_every_figure_is_that_of_the_commands_json(viewer):
    orvl = viewer.project.orvl
    twins = {
        "/board.json": ("report", "--json"),
        "/board.json?agent=plain,empty&judge=ann": ("report", "plain,empty", "--judge=ann", "--json"),
        "/eval/one.json": ("report", "--by=eval", "--eval=one", "--json"),
        "/evals.json": ("report", "--matrix", "--json"),
        "/compare.json?a=plain&b=empty": ("compare", "plain", "empty", "--json"),
        "/endpoints.json": ("endpoints", "--json"),
    }
    for path, command in twins.items():
        assert viewer.get(path).json == orvl(*command).json, path
    runs = viewer.get("/runs.json").json
    assert runs.pop("page") == {"fitting": len(runs["ratings"]), "after": None}
    assert runs == orvl("report", "--by=run", "--json").json
    assert viewer.get("/board.csv").text == orvl("report", "--csv").out
    assert viewer.get("/history.json").json["history"] == orvl("report", "--history", "--json").json["history"]
    report = orvl("report", "--json").json
    trust = viewer.get("/trust.json").json
    assert (trust["trust"], trust["certificate"]) == (report["trust"], report["certificate"])
    for row in report["ratings"]:
        for figure in ("R", "R_pen"):
            assert f"{row[figure]:.3f}" in viewer.get("/board").text


def test_a_runs_page_says_where_the_points_went(viewer):
    (row,) = viewer.runs("plain", "--eval=one")
    page, twin = viewer.get(f"/run/{row['run']}"), viewer.get(f"/run/{row['run']}.json").json
    assert twin == viewer.project.orvl("show", row["run"], "--json").json
    most = twin["rating"]["lines"][0]
    assert most["metric"] == "readability"
    text = "".join(Markup(page.text).data)
    assert f"R {row['R']:.3f}: {1 - row['R']:.3f} was lost, {most['lost']:.3f} of it on readability." in text
    for part in ("ann", "bob", "1. ", "there", "passed", "answer.txt", "+hi", "Say hello"):
        assert part in text, part
    assert viewer.get(f"/run/{row['run']}/steps.json").json["schema_version"] == "ATIF-v1.8"


def test_filters_stand_in_the_address(viewer):
    failed = viewer.get("/runs?outcome=failed")
    assert "1 run, 1 failed, 0 errored." in failed.text
    assert len(viewer.get("/runs.json?outcome=failed").json["ratings"]) == 1
    assert 'value="failed"' in failed.text
    every = viewer.runs()
    assert len(viewer.get("/runs.json?below=0.5").json["ratings"]) == sum(row["R"] < 0.5 for row in every)
    best = viewer.get("/runs.json?sort=best").json["ratings"]
    assert [row["R"] for row in best] == sorted((row["R"] for row in every), reverse=True)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/bord", "There is no page"),
        ("/board?agnet=x", "Did you mean 'agent'?"),
        ("/board?agent=plian", "Did you mean 'plain'?"),
        ("/eval/tow", "Did you mean 'two'?"),
        ("/runs?outcome=fail", "Did you mean 'failed'?"),
        ("/runs?below=low", "is not a number"),
        ("/runs?after=abc", "is not a number"),
        ("/runs?after=12345", "not among these"),
        ("/run/ffffffffffff", "There is no run"),
        ("/run/../../etc/passwd", "There is no page"),
        ("/now.csv", "no form .csv"),
        ("/compare?a=plain&b=nobody", "nobody"),
        ("/eval/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "There is no eval"),
    ],
)
def test_a_mistake_is_a_sentence(viewer, path, words):
    reply = viewer.get(path)
    assert reply.status == 404
    assert words in "".join(Markup(reply.text).data) or words in reply.text
    assert "script" not in Markup(reply.text).tags


def test_markdown_calls_nobody(viewer):
    text = viewer.get("/board.md").text
    assert "`plain fixed none`" in text
    assert "| --: |" in text
    assert "<" not in re.sub("`[^`]*`", "", text).replace("\\<", "")
    assert "`imported:<svg onload=alert(1)> *[m] –`" in text


def test_it_works_in_an_empty_folder_and_writes_nothing(project):
    with viewing(project) as running:
        for path in ("/board", "/runs", "/trust", "/evals"):
            reply = running.get(path)
            assert reply.status == 200
            assert "Run something first, such as: orvl dummy-good" in reply.text
        assert running.get("/board.json").status == 404
    assert os.listdir(project.root) == []


def test_it_reads_while_another_process_writes_and_shows_what_is_new(viewer, tmp_path):
    project = UserProject(tmp_path / "project")
    shutil.copytree(viewer.project.root, project.root, dirs_exist_ok=True)
    with viewing(project) as running, open_store(project.root / ".orvl", write=True):
        assert "plain fixed none" in running.get("/board").text
        project.toml("[judges.ann]\nanswers = 'no'\n")
        assert running.get("/board.json").json == project.orvl("report", "--json").json


def test_a_port_that_is_taken_is_a_sentence(viewer):
    done = viewer.project.orvl("view", "--no-open", f"--port={viewer.port}", process=True)
    assert done.status == 2
    assert f"Cannot serve at 127.0.0.1:{viewer.port}" in done.err
    assert "--port 0" in done.err


def test_parts_and_raw_texts_are_of_the_attempt_that_is_asked_for(project):
    project.agent(
        "shaky",
        """
        import os
        models = {"none": ["fixed"]}

        def command(prompt):
            return ["sh", "-c", "echo hi", "\\0" if "BREAK" in os.environ else ""]
        """,
    )
    project.eval("one", "---\nmetrics: {speed: 1}\n---\nSay hello.\n")
    project.orvl("shaky", "--eval=one", env={"BREAK": "1"})
    assert project.orvl("shaky", "--eval=one").status == 0
    with viewing(project) as running:
        (row,) = running.runs()
        run = f"/run/{row['run']}"
        assert [one["outcome"] for one in running.get(f"{run}.json").json["attempts"]] == ["errored", "finished"]
        both = running.get(run).text
        assert f'href="{run}?attempt=1"' in both and f'href="{run}?attempt=2"' in both
        first = running.get(f"{run}?attempt=1")
        assert "NUL byte" in first.text
        parts = [one for one in Markup(first.text).links if one.startswith(f"{run}/")]
        assert parts and all(re.search(r"[?&]attempt=1\b", one) for one in parts)
        assert (
            running.get(f"{run}.json?attempt=1").json == project.orvl("show", row["run"], "--attempt=1", "--json").json
        )
        assert running.get(f"{run}/raw/stdout/1").body == b"hi\n"
        assert running.get(f"{run}/raw/stdout/1?attempt=1").status == 404
        for wrong in ("3", "0", "1.5", "x"):
            assert running.get(f"{run}?attempt={wrong}").status == 404


# -- what is going on


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_now_shows_what_runs_while_it_runs_and_nothing_after_it(project, end):
    """A command that was killed leaves its file behind: only who writes to the store is running."""
    project.agent(
        "slow", 'models = {"none": ["fixed"]}\ndef command(prompt): return ["sh", "-c", "sleep $1", "", prompt]\n'
    )
    project.eval("short", "---\nmetrics: {speed: 1}\n---\n0\n")
    project.eval("long", "---\nmetrics: {speed: 1}\n---\n300\n")
    assert project.orvl("slow", "--eval=short").status == 0
    with viewing(project) as running:
        assert "Nothing is running." in running.get("/now").text
        assert running.get("/now.json").json == {"schema": 1, "running": False, "now": None}
        command = subprocess.Popen(
            [*project.command, "slow", "--eval=short,long", "--episodes=2"], cwd=project.root, env=project.env
        )
        try:
            wait_for(lambda: (running.get("/now.json").json["now"] or {}).get("done") == 1, "nothing was done")
            wait_for(lambda: len(running.get("/now.json").json["now"]["runs"]) == 2, "nothing was under way")
            content = running.get("/now.json").json["now"]
            assert (content["total"], content["running"]) == (3, 2)
            text = "".join(Markup(running.get("/now").text).data)
            assert content["summary"].split(" done")[0] in text
            assert "slow fixed none long" in text
            assert {one["stage"] for one in content["runs"]} == {"turn 1 of 1"}
            assert "turn 1 of 1" in text
            assert 'http-equiv="refresh"' not in running.get("/now").text
            assert '<meta http-equiv="refresh" content="5">' in running.get("/now?every=5").text
            assert running.get("/runs").status == 200
        finally:
            command.send_signal(end)
            command.wait(60)
        assert "Nothing is running." in running.get("/now").text
    assert (project.root / ".orvl/now.json").exists() == (end == signal.SIGKILL)


def test_what_stands_in_the_file_of_now_is_only_data(viewer, tmp_path):
    project = UserProject(tmp_path / "project")
    shutil.copytree(viewer.project.root, project.root, dirs_exist_ok=True)
    with viewing(project, fails=True) as running, open_store(project.root / ".orvl", write=True):
        assert summaries(running, 1) == ["Another command is writing to the store."]
        for text in ("", "{", "[]", "[" * 100_000, "null"):
            (project.root / ".orvl/now.json").write_text(text)
            assert "Another command is writing to the store." in running.get("/now").text
        (project.root / ".orvl/now.json").write_text('{"runs": 1}')
        failed = running.get("/now")
        assert failed.status == 500
        assert "This page failed" in failed.text
        assert "frame-ancestors" in failed.headers["Content-Security-Policy"]
        assert running.get("/board").status == 200


@contextmanager
def listening(viewer: Viewer) -> Iterator[tuple[int, Iterator[dict]]]:
    """The status of the stream of /now, and its events."""
    with socket.create_connection(("127.0.0.1", viewer.port), timeout=60) as end:
        end.sendall(
            f"GET /now/events HTTP/1.1\r\nHost: 127.0.0.1:{viewer.port}\r\nCookie: {viewer.cookie}\r\n\r\n".encode()
        )
        with end.makefile("rb") as lines:
            status = int(lines.readline().split()[1])
            yield status, (json.loads(line[6:]) for line in lines if line.startswith(b"data: "))


def summaries(viewer: Viewer, number: int) -> list[str]:
    with listening(viewer) as (status, events):
        return [next(events)["texts"]["summary"] for _ in range(number)] if status == 200 else []


def test_the_stream_of_now_is_for_who_may_read_and_has_few_listeners(viewer):
    assert summaries(viewer, 2) == ["Nothing is running."] * 2
    for headers in ({}, {"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        cookie = {"Cookie": viewer.cookie} if headers else {}
        assert viewer.ask("/now/events", {**cookie, **headers}).status == 403
    with ExitStack() as stack:
        statuses = [stack.enter_context(listening(viewer))[0] for _ in range(9)]
        assert 200 in statuses and statuses[-1] == 503
        assert viewer.get("/board").status == 200
    wait_for(lambda: summaries(viewer, 1), "those who left still count")


def test_the_viewer_ends_although_somebody_listens(viewer):
    with viewing(viewer.project) as running, listening(running) as (status, _):
        assert status == 200
        os.kill(running.pid, signal.SIGTERM)
        wait_for(lambda: Path(f"/proc/{running.pid}/status").read_text().count("State:\tZ"), "it did not end")


# -- one file


@pytest.fixture(scope="module")
def file(viewer, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("file") / "report.html"
    done = viewer.project.orvl("report", "--html", str(path))
    assert done.status == 0, done.err
    assert f"written to {path}" in done.out
    return path


def test_the_file_holds_every_part_and_every_link_leads_inside(viewer, file):
    text = file.read_text()
    page = Markup(text)
    ids = set(re.findall(r' id="([^"]+)"', text))
    assert {"board", "trust", "evals", "runs", "eval-1", "eval-2"} <= ids
    assert {f"run-{row['run']}" for row in viewer.runs()} <= ids
    assert {one.removeprefix("#") for one in page.links} <= ids
    for row in viewer.project.orvl("report", "--json").json["ratings"]:
        assert f"{row['R']:.3f}" in text


def test_the_file_is_text_under_a_policy_of_its_own(file):
    text = file.read_text()
    page = Markup(text)
    assert not page.tags & {"script", "iframe", "object", "embed", "base", "img", "b", "form"}
    assert text.count("<style>") == 1
    assert not page.acting
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy and "default-src &#x27;none&#x27;; style-src &#x27;sha256-" in policy[1]
    assert "<script>alert(1)</script>" in "".join(page.data)


def test_the_file_keeps_to_its_size_and_says_what_is_missing(viewer, file, tmp_path):
    """First runs lose parts, then there are fewer runs: the failed one is the last to go."""
    whole, path = len(file.read_bytes()), tmp_path / "small.html"
    (failed,) = viewer.runs("hostile", "--eval=two")
    refused = viewer.project.orvl("report", "--html", str(path), "--size=1kB").err
    least = int(re.search(r"has ([\d,]+) bytes", refused)[1].replace(",", ""))
    seen = []
    for most in (whole * 3 // 4, least + 40_000, least + 8_000):
        assert viewer.project.orvl("report", "--html", str(path), "--size", f"{most / 1000:.3f}kB").status == 0
        text = path.read_text()
        assert len(text.encode()) <= most
        shown = re.search(r"(\d) of 8 runs, (\d) of them with all their parts", text)
        assert shown
        seen.append((int(shown[1]), int(shown[2])))
        assert "orvl show KEY" in text
        assert f'id="run-{failed["run"]}"' in text
        assert text.count('<section id="run-') == int(shown[1])
        assert {one.removeprefix("#") for one in Markup(text).links} <= set(re.findall(r' id="([^"]+)"', text))
    assert seen[0][0] == 8 and 0 < seen[0][1] < 8
    assert 0 < seen[-1][0] < 8
    assert seen == sorted(seen, reverse=True)


def test_the_file_compares_the_first_two_contestants(viewer, file):
    text = "".join(Markup(file.read_text()).data)
    first, second = (row["agent"] for row in viewer.get("/board.json").json["ratings"][:2])
    assert "Compare" in text
    assert re.search(rf"{re.escape(first)}\b.*{re.escape(second)}\b", text)
    verdict = viewer.get(f"/compare.json?a={first}&b={second}").json["verdict"]
    assert verdict in text


@pytest.mark.parametrize(("part", "title"), [("steps", "Conversation"), ("diffs", "Diff")])
def test_parts_can_be_left_out_of_the_file(viewer, file, tmp_path, part, title):
    path = tmp_path / "less.html"
    assert viewer.project.orvl("report", "--html", str(path), f"--without={part}").status == 0
    assert f"<h2>{title}</h2>" in file.read_text()
    assert f"<h2>{title}</h2>" not in path.read_text()
    assert f"Not inside: {part}, texts beyond" in path.read_text()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--html=x.html", "--json"), "leave out"),
        (("--html=x.html", "--by=run"), "leave out"),
        (("--html=x.html", "--size=big"), "10MB or 500kB"),
        (("--html=x.html", "--size=1kB"), "is too small: without any run the file has"),
        (("--html=x.html", "--without=step"), "Did you mean 'steps'?"),
        (("--html=missing/x.html",), "Cannot write missing/x.html"),
        (("nobody", "--html=x.html"), "no agent 'nobody'"),
    ],
)
def test_a_file_that_cannot_be_is_a_sentence(viewer, flags, words):
    done = viewer.project.orvl("report", *flags)
    assert done.status == 2
    assert words in done.err
    assert not (viewer.project.root / "x.html").exists()
