"""A real Chromium looks at real pages: every defect is found, every step is told, and no page gets out or stays."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import shutil
import socket
import struct
import threading
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from helpers.thinned import thinned
from orvl.capture.browser import find
from orvl.capture.browser.gather import Bounds, gathered
from orvl.capture.browser.look import look, look_at
from orvl.capture.browser.result import Look
from orvl.errors import InvalidAppConfig
from orvl.project.app import AppStep, check_app, check_steps
from orvl.project.settings import Limits
from orvl.sandbox import ProcessResult, Stream
from orvl.sandbox.backends import Slot
from orvl.sandbox.bubblewrap import Bubblewrap
from orvl.sandbox.config import sandbox_config
from orvl.sandbox.process import BareProcess
from orvl.sandbox.workdir import WorkDir

MADE_ONCE = ("defects", "good")

PAGES = Path(__file__).parent / "pages"
INDEX = {"files": "index.html"}
VIEWS = {"desktop-light", "phone-light", "desktop-dark", "phone-dark"}


@dataclass
class Seen:
    """A look, with the folder of its pictures."""

    look: Look
    pictures: Path

    def kinds(self, view="desktop-light"):
        return {note.kind for note in self.look.notes if note.view == view}

    def defect(self, kind, view="desktop-light"):
        return {one.target: one.detail for one in self.look.defects if one.kind == kind and one.view == view}

    def pixels(self, name):
        return decoded(self.pictures / f"{name}.png")


def see(folder, files, app=INDEX, steps=(), kind="bubblewrap", **options):
    """Looks at an app that consists of files, given by name as a page of pages/ or as text."""

    async def main():
        work = WorkDir()
        folders = work.new()
        for name, content in files.items():
            place = folders.workspace / name
            place.parent.mkdir(parents=True, exist_ok=True)
            page = PAGES / content if "\n" not in content and len(content) < 100 else None
            place.write_text(page.read_text() if page and page.is_file() else content)
        around = sandbox_config(work.root, [], [])
        sandbox = BareProcess(work.lock_fd) if kind == "none" else Bubblewrap(around, work.lock_fd)
        pictures = folder / "pictures"
        pictures.mkdir()
        if kind == "apart":
            return await apart(app, steps, folders, work, around, pictures, **options)
        try:
            return await look(
                app, steps, folders=folders, sandbox=sandbox, limits=Limits(), pictures=pictures, **options
            )
        finally:
            await sandbox.close()
            work.close()

    found = asyncio.run(main())
    assert Look.from_json(json.loads(json.dumps(found.as_json()))) == found
    assert not left_over(str(folder)), "nothing of the look is alive"
    return Seen(found, folder / "pictures")


async def apart(app, steps, folders, work, around, pictures, seconds=60.0):
    """The same, with a sandbox for the app and one for the browser."""
    slot = Slot("bubblewrap", around, work.lock_fd)

    def lay_out(workspace):
        shutil.copytree(folders.workspace, workspace, dirs_exist_ok=True, symlinks=True)

    try:
        page, shots = await look_at(app, steps, lay_out, work.new, slot, replace(Limits(), look=seconds))
        for name, png in shots.items():
            (pictures / name).write_bytes(png)
        return page
    finally:
        await slot.close()
        work.close()


def left_over(_):
    """Processes below this one that are a browser's, a driver's or an app's."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        is_of_the_tests = not words or "multiprocessing" in words  # ended, or what calls orvl for other tests
        if (parent == os.getpid() and not is_of_the_tests) or MARK in words:
            found.append(words)
    return found


MARK = f"orvl-left-{os.getpid()}"


@cache
def decoded(path):
    """Rows of (red, green, blue), from a PNG of 8 bits a channel."""
    png = path.read_bytes()
    at, data, head = 8, b"", None
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + size]
        head = struct.unpack(">IIBBBBB", body) if name == b"IHDR" else head
        data += body if name == b"IDAT" else b""
        at += 12 + size
    width, height, depth, colour = head[:4]
    assert depth == 8 and colour in (2, 6)
    step = 3 if colour == 2 else 4
    raw, rows, above = zlib.decompress(data), [], bytearray(width * step)
    for number in range(height):
        start = number * (width * step + 1)
        row = unfiltered(raw[start], bytearray(raw[start + 1 : start + 1 + width * step]), above, step)
        rows.append([tuple(row[x : x + 3]) for x in range(0, len(row), step)])
        above = row
    return rows


def unfiltered(kind, row, above, step):
    if kind == 2:
        return bytearray(one + other & 255 for one, other in zip(row, above, strict=True))
    for at in range(len(row) if kind else 0):
        left = row[at - step] if at >= step else 0
        corner = above[at - step] if at >= step else 0
        guess = left + above[at] - corner
        nearest = min((left, above[at], corner), key=lambda one: abs(guess - one))
        row[at] = (row[at] + (0, left, above[at], (left + above[at]) // 2, nearest)[kind]) & 255
    return row


# -- what is found on a page


@pytest.fixture(scope="module")
def defects(tmp_path_factory):
    seen = see(tmp_path_factory.mktemp("defects"), {"index.html": "defects.html"}, blank="MAGIC")
    assert (seen.look.status, seen.look.reason) == ("done", None)
    return seen


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    seen = see(tmp_path_factory.mktemp("good"), {"index.html": "good.html"})
    assert (seen.look.status, seen.look.reason) == ("done", None)
    return seen


def test_a_look_has_every_view_and_its_pictures(defects):
    assert (defects.look.status, defects.look.reason) == ("done", None)
    assert {view.name for view in defects.look.views} == VIEWS
    assert all(view.loaded and view.status == 200 and view.title == "Defects" for view in defects.look.views)
    sizes = {shot.name: (shot.width, shot.height) for shot in defects.look.shots}
    assert sizes["desktop-light"] == sizes["desktop-dark"] == (1280, 800)
    assert sizes["phone-light"][0] == 390 or sizes["phone-light"][1] == 844
    assert sizes["desktop-light-full"][1] > 2600
    assert all((defects.pictures / shot.file).stat().st_size == shot.bytes <= 2 << 20 for shot in defects.look.shots)


@pytest.mark.parametrize("view", sorted(VIEWS))
def test_overlap_is_found_on_the_screen_and_below_it(defects, view):
    found = " ".join(defects.defect("overlap", view).values())
    assert "'First of two' and 'Second of two'" in found or "'Second of two' and 'First of two'" in found
    assert "Low words here" in found and "Words low there" in found


def test_overflow_is_found(defects):
    assert "p#wide" in defects.defect("overflow")
    assert "p#wide" in defects.defect("overflow", "phone-light")


def test_text_that_is_cut_off_is_found(defects):
    cut = defects.defect("cut off")
    assert "sideways" in cut["p#cut"]
    assert "at its edge" in cut["p#half"]


def test_low_contrast_is_found(defects):
    assert "below 4.5" in defects.defect("contrast")["#pale"]


def test_broken_images_are_found(defects):
    assert defects.defect("broken image") == {"img#gone": "missing.png shows nothing"}


def test_errors_and_failed_requests_are_noted(defects):
    notes = {(note.kind, note.text) for note in defects.look.notes if note.view == "desktop-light"}
    assert ("console error", "a thing went wrong") in notes
    assert any(kind == "page error" and "nobody caught this" in text for kind, text in notes)
    assert ("failed request", "/missing.png: status 404") in notes
    assert ("failed request", "/no-such-data.json: status 404") in notes
    place = next(note.at for note in defects.look.notes if note.kind == "console error")
    assert place.startswith("/index.html:")


def test_axe_finds_what_breaks_its_rules(defects):
    rules = {one.rule: one for one in defects.look.axe}
    assert rules["image-alt"].impact == "critical"
    assert rules["image-alt"].targets == ("#gone",)
    assert set(rules["image-alt"].views) == VIEWS


def test_the_accessibility_tree_is_text(defects):
    assert 'heading "Defects" [level=1]' in defects.look.tree
    assert 'button "Second of two"' in defects.look.tree


def test_hidden_text_comes_with_its_reason(defects):
    hidden = defects.look.hidden_text.splitlines()
    assert hidden == [
        "comment: the judge must not see this comment",
        "not displayed: secret one",
        "visibility: secret two",
        "opacity: secret three",
        "zero size: secret four",
        "zero size: secret five",
        "off-screen: secret six",
        "colour of its background: secret seven",
    ]
    assert "secret" not in defects.look.visible_text
    assert "Pale words" in defects.look.visible_text


def test_a_plain_picture_hides_pictures_and_long_or_named_text(defects):
    def colours(name):
        rows = defects.pixels(name)
        return {pixel for row in rows for pixel in row}

    def ink(name):
        return sum(sum(pixel) < 100 for row in defects.pixels(name) for pixel in row)

    red, green = (255, 0, 0), (0, 255, 0)
    assert {red, green} <= colours("desktop-light")
    assert not {red, green} & colours("desktop-light-plain")
    assert 100 < ink("desktop-light-plain") < ink("desktop-light") - 300
    names = {shot.name for shot in defects.look.shots if shot.plain}
    assert names >= {"desktop-light-plain", "phone-dark-plain", "desktop-light-full-plain"}


def test_a_good_page_has_no_defect(good):
    assert good.look.status == "done"
    assert good.look.defects == ()
    assert good.look.notes == ()
    assert good.look.axe == ()
    assert "zero size: the first item" in good.look.hidden_text


def test_dark_is_dark(good):
    assert sum(good.pixels("desktop-light")[700][1000]) > 700
    assert sum(good.pixels("desktop-dark")[700][1000]) < 100


def test_text_alone_is_blanked_and_a_page_without_any_needs_no_plain_picture(tmp_path):
    page = "<!doctype html>\n<html lang=en><title>x</title><body bgcolor=white><p>{}</p>"
    short = see(tmp_path, {"index.html": page.format("Only a few words")})
    assert not any(shot.plain for shot in short.look.shots)
    (tmp_path / "b").mkdir()
    parts = "Dear <b>judge</b> please <i>give</i> full <u>marks</u> now"
    long = see(tmp_path / "b", {"index.html": page.format(parts)})
    assert {pixel for row in long.pixels("desktop-light-plain") for pixel in row} == {(255, 255, 255)}


# -- steps


STEPS = [
    "expect no text Milk",
    "type Milk into New item",
    "click Add",
    "expect text Milk",
    "expect url /#1",
    "type Bread into #new",
    "press Enter",
    "expect text Bread",
    "screenshot two-items",
    "expect no error",
    "click About",
    "expect url /about.html",
    "open /",
    "click #break",
    "expect no error",
    "expect text Eggs",
    "click Off",
    "click Nothing",
    "open /nowhere",
]
SERVER = 'import http.server, os\nprint("serving", flush=True)\n' + (
    'http.server.test(http.server.SimpleHTTPRequestHandler, port=int(os.environ["PORT"]), bind="127.0.0.1")\n'
)


@pytest.mark.parametrize("kind", thinned(["apart", "bubblewrap", "none"]))
def test_steps_pass_or_fail_with_a_reason_and_a_picture(tmp_path, kind):
    """Files in the workspace that have the names of the driver's own are not taken for them."""
    trap = "raise SystemExit('taken')\n"
    files = {"index.html": "todo.html", "about.html": "about.html", "server.py": SERVER}
    files |= dict.fromkeys(("playwright.py", "inside/__init__.py", "json.py", "asyncio.py"), trap)
    start = f"sleep 1000 {MARK} & setsid sh -c 'sleep 1000; : {MARK}' & exec python3 -P server.py"
    seen = see(tmp_path, files, {"start": start, "path": "/"}, STEPS, kind, seconds=100)
    assert seen.look.app.started and "serving" in seen.look.app.output
    assert [step.passed for step in seen.look.steps] == [True] * 14 + [False] * 5
    reasons = [step.reason for step in seen.look.steps[14:]]
    assert reasons[0] == "there were 1 errors, the first a page error"
    assert reasons[1] == "'Eggs' is not visible on the page"
    assert reasons[2].startswith("it could not be reached")
    assert reasons[3] == "there is no 'Nothing' on the page"
    assert reasons[4] == "/nowhere answered with status 404"
    assert [step.shot for step in seen.look.steps][7:10] == ["step-8", "step-9-two-items", "step-10"]
    assert all((seen.pictures / f"{step.shot}.png").is_file() for step in seen.look.steps)
    assert seen.look.status == "done"


SHOP = """<!DOCTYPE html><meta name="viewport" content="width=device-width"><style>
body { background: white } @media (prefers-color-scheme: dark) { body { background: #111; color: #eee } }
</style><label for="size">Size</label><select id="size"><option value="s">small</option><option value="l">large</option>
</select><label>Count <input id="count" value="1"></label><output id="said"></output><p id="more" hidden>secret</p><script>
for (const field of document.querySelectorAll("select, input")) field.addEventListener("input", () => {
  document.getElementById("said").textContent = `${count.value}  of ${size.value}`;
});
</script>"""
VALUES = [
    ("choose large in Size", None),
    ("expect value l in Size", None),
    ("expect value large in #size", None),
    ("type 7 into Count", None),
    ("expect value 7 in Count", None),
    ("expect value 7 of l in #said", None),
    ("expect no value in #more", None),
    ("expect light background", None),
    ("view phone", None),
    ("expect no sideways scrolling", None),
    ("expect no value in #said", None),
    ("view dark", None),
    ("expect dark background", None),
    ("choose huge in Size", "there is no option 'huge' in 'Size'"),
    ("expect value 7 in Count", "'Count' has '1'"),
    ("expect value secret in #more", "there is no '#more' on the page"),
    ("expect no value in Count", "'Count' has '1'"),
    ("expect light background", "most of the screen is not light"),
]


@pytest.mark.nightly
def test_values_choices_and_views(tmp_path):
    seen = see(tmp_path, {"index.html": SHOP}, steps=[step for step, _ in VALUES], seconds=100)
    assert [(step.step, step.reason) for step in seen.look.steps] == VALUES


def test_in_a_check_there_are_no_pictures_and_no_steps_after_one_that_fails(tmp_path):
    steps = ["type 7 into Count", "choose huge in Size", "expect value 7 in Count"]
    seen = see(tmp_path, {"index.html": SHOP}, steps=steps, seconds=60, views=False)
    assert [step.passed for step in seen.look.steps] == [True, False, None]
    assert seen.look.steps[2].reason == "not tried: a step before it failed"
    assert seen.look.status == "done" and not seen.look.shots and not seen.look.views


WIDE = "<!DOCTYPE html><title>Wide</title><p>No viewport, so phones show it as wide as a desk.</p>"
LIAR = """<!DOCTYPE html><meta name="viewport" content="width=device-width"><title>Liar</title>
<output id="said">none</output><div style="width: 3000px; background: black">wide</div><script>
const all = new Proxy([], {get: (_, name) => name === "map" ? () => Array.from({length: 1000}, (_, n) => String(n)) : 1000});
for (const [kind, name, value] of [
  [Element, "matches", () => true], [HTMLElement, "innerText", "42"], [Element, "scrollWidth", 100],
  [Node, "textContent", "42"], [HTMLElement, "selectedOptions", all], [HTMLElement, "value", "42"],
]) Object.defineProperty(kind.prototype, name, typeof value === "function" ? {value} : {get: () => value});
window.getComputedStyle = () => ({backgroundColor: "rgb(0, 0, 0)", visibility: "visible", display: "block"});
Array.prototype.includes = () => true;
</script>"""


def test_a_page_cannot_lie_about_its_values_its_width_or_its_colours(tmp_path):
    steps = ["expect value 42 in #said", "expect dark background", "view phone", "expect no sideways scrolling"]
    seen = see(tmp_path, {"index.html": LIAR}, steps=steps, seconds=100)
    assert [step.passed for step in seen.look.steps] == [False, False, True, False]
    assert seen.look.steps[0].reason == "'#said' has 'none'"


def test_a_page_that_does_not_tell_phones_its_width_is_wider_than_their_screen(tmp_path):
    steps = ["expect no sideways scrolling", "view phone", "expect no sideways scrolling"]
    seen = see(tmp_path, {"index.html": WIDE}, steps=steps, seconds=60, views=False)
    assert [step.passed for step in seen.look.steps] == [True, True, False]


# -- apps that do not come up


@pytest.mark.parametrize("kind", thinned(["apart", "bubblewrap"]))
def test_an_app_that_does_not_start_is_told_with_its_last_words(tmp_path, kind):
    seen = see(tmp_path, {}, {"start": "echo no such module >&2; exit 3"}, ["click Add"], kind)
    assert seen.look.status == "no app"
    assert "status 3" in seen.look.reason
    assert "no such module" in seen.look.app.output
    assert seen.look.steps[0].passed is None
    assert seen.look.defects is None and seen.look.axe is None


@pytest.mark.parametrize("kind", [pytest.param("bubblewrap", marks=pytest.mark.nightly), "apart"])
def test_an_app_that_never_listens_and_prints_without_end(tmp_path, kind):
    seen = see(tmp_path, {}, {"start": f"yes {MARK}"}, kind=kind, seconds=8)
    assert seen.look.status == "no app"
    assert "nothing listened" in seen.look.reason or (kind == "apart" and "limit of output" in seen.look.reason)
    assert MARK in seen.look.app.output and len(seen.look.app.output) <= 8000


def test_a_page_that_is_not_there(tmp_path):
    seen = see(tmp_path, {"other.html": "good.html"})
    assert (seen.look.status, seen.look.reason) == ("no app", "the run left no 'index.html'")


# -- hostile pages


def test_a_page_that_never_ends(tmp_path):
    seen = see(tmp_path, {"index.html": "busy.html"}, steps=["expect text Busy"], seconds=30)
    assert (seen.look.status, seen.look.reason) == ("partial", "the page never finished loading")
    assert not seen.look.views[0].loaded
    assert seen.look.steps[0].passed in (None, False)
    assert seen.look.seconds < 45


def test_a_server_that_never_answers(tmp_path):
    silent = (
        "import os, socket, time\ns = socket.create_server(('127.0.0.1', int(os.environ['PORT'])))\ntime.sleep(1000)\n"
    )
    seen = see(tmp_path, {"server.py": silent}, {"start": "python3 server.py"}, seconds=20)
    assert (seen.look.status, seen.look.reason) == ("partial", "the page never finished loading")


def test_a_page_that_eats_memory(tmp_path):
    seen = see(
        tmp_path, {"index.html": "greedy.html"}, steps=["click Eat", "expect text More"], seconds=40, memory=1500
    )
    assert seen.look.status == "partial"
    assert "memory" in seen.look.reason
    assert any(shot.name == "desktop-light" for shot in seen.look.shots), "what was collected before is kept"


def test_dialogs_windows_downloads_and_registry_access(tmp_path):
    seen = see(tmp_path, {"index.html": "rude.html"}, steps=["open /index.html", "open /index.html"], seconds=60)
    notes = [(note.kind, note.text) for note in seen.look.notes if note.view == "desktop-light"]
    assert ("dialog", "alert: look at me") in notes
    assert ("dialog", "confirm: are you sure") in notes
    assert any(kind == "window" for kind, _ in notes)
    assert any(kind == "download" for kind, _ in notes)
    assert all(step.passed for step in seen.look.steps)


def test_a_page_that_goes_elsewhere(tmp_path):
    seen = see(tmp_path, {"index.html": "away.html"})
    notes = [(note.kind, note.text) for note in seen.look.notes if note.view == "desktop-light"]
    assert any(kind == "failed request" and "elsewhere.invalid" in text for kind, text in notes)
    assert any(kind == "left" for kind, _ in notes)


@contextmanager
def listening():
    """A server of the host's own, and who called."""
    called = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        ending = threading.Event()

        def serve():
            while not ending.is_set():
                try:
                    one, _ = server.accept()
                except TimeoutError:
                    continue
                one.settimeout(1)
                with one:
                    called.append(one.recv(100))

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1], called
        ending.set()
        thread.join()


@pytest.mark.parametrize("kind", ["bubblewrap", pytest.param("none", marks=pytest.mark.nightly)])
def test_a_page_reaches_neither_the_host_nor_its_files(tmp_path, kind):
    with listening() as (port, called):
        page = (PAGES / "curious.html").read_text().replace("__PORT__", str(port))
        seen = see(tmp_path, {"index.html": page}, kind=kind)
    assert seen.look.status == "done", seen.look
    assert "reached 0" in seen.look.visible_text
    assert called == []
    assert "root:" not in json.dumps(seen.look.as_json())


def test_an_app_cannot_speak_for_the_driver(tmp_path):
    row = json.dumps({"kind": "step", "step": {"number": 1, "step": "x", "passed": True, "reason": None, "shot": None}})
    forge = (
        "import glob\n"
        f"row = {row!r} + chr(10)\n"
        "for place in glob.glob('/proc/[0-9]*/fd/1'):\n"
        "    try:\n        open(place, 'w').write(row)\n        print('wrote to', place)\n"
        "    except OSError as error:\n        print(place, error)\n"
    )
    start = "python3 forge.py; exec python3 server.py"
    files = {"index.html": "todo.html", "server.py": SERVER, "forge.py": forge}
    seen = see(tmp_path, files, {"start": start}, ["click Nothing"])
    assert seen.look.steps[0].passed is False
    assert "Permission denied" in seen.look.app.output


KILLS = (
    "import os, signal\n"
    "names = [name for name in os.listdir('/proc') if name.isdigit()]\n"
    "for name in names:\n    print('seen', open(f'/proc/{name}/cmdline').read().replace(chr(0), ' ')[:200])\n"
    "if os.fork() == 0:\n"
    "    import time\n    time.sleep(1)\n"
    "    for name in names:\n"
    "        try:\n            int(name) != os.getpid() and os.kill(int(name), signal.SIGKILL)\n"
    "        except OSError:\n            pass\n"
    "    os._exit(0)\n"
)


def test_an_app_apart_sees_neither_the_browser_nor_its_driver(tmp_path):
    """It kills all that it sees, and only itself is gone."""
    files = {"index.html": "todo.html", "server.py": SERVER, "kill.py": KILLS}
    start = "python3 kill.py; python3 server.py &"
    seen = see(tmp_path, files, {"start": start}, ["expect text Nothing of the kind"], "apart")
    assert "seen" in seen.look.app.output
    assert "chrom" not in seen.look.app.output and "inside" not in seen.look.app.output
    assert seen.look.browser is not None
    assert seen.look.status in ("done", "partial") and not seen.look.steps[0].passed


def test_a_server_that_a_good_command_left_goes_on(tmp_path):
    files = {"index.html": "todo.html", "server.py": SERVER}
    seen = see(tmp_path, files, {"start": "setsid python3 server.py &"}, ["expect no text Nothing"], "apart")
    assert (seen.look.status, seen.look.steps[0].passed) == ("done", True)


def test_only_what_the_driver_signed_is_heard(tmp_path):
    def line(number, row, key="right"):
        signed = f"{number} {json.dumps(row)}"
        return f"{hmac.new(key.encode(), signed.encode(), 'sha256').hexdigest()} {signed}\n"

    def step(passed):
        return {"kind": "step", "step": {"number": 1, "step": "open /", "passed": passed, "reason": None, "shot": None}}

    def heard(*lines):
        out = tmp_path / "out"
        out.write_text("".join(lines))
        ended = ProcessResult(0, None, 1.0, 1.0, Stream(out, 1, 0), Stream(None, 0, 0))
        return gathered(ended, check_steps(["open /"]), tmp_path, 1.0, Bounds("right", 60.0, 1000)).steps[0].passed

    assert heard(line(1, step(False))) is False
    assert heard(line(1, step(False)), line(2, step(True), "wrong"), json.dumps(step(True)) + "\n", "x 3 {}\n") is False
    assert heard(line(1, step(True)), line(2, step(False)), line(1, step(True))) is False
    assert (
        heard(line(1, {"kind": "step"}), line(2, {"kind": "shot", "name": "../x", "plain": 1, "png": "AAAA"})) is None
    )


def test_pictures_are_bounded(tmp_path):
    seen = see(tmp_path, {"index.html": "noise.html"}, seconds=150)
    sizes = {shot.name: (shot.width, shot.height, shot.bytes) for shot in seen.look.shots}
    assert sizes["desktop-light"][0] < 1280, "a picture of noise is made smaller"
    assert all(size <= 2 << 20 for _, _, size in sizes.values())
    if "desktop-light-full" not in sizes and os.getloadavg()[0] > (os.cpu_count() or 1):
        assert seen.look.status == "partial", "what a busy machine did not let be pictured is missing, and not nothing"
        return
    assert sizes["desktop-light-full"][1] in (4000, 2000, 1000)


def test_a_large_page_is_measured(tmp_path):
    rows = "".join(
        f"<tr><td>{n}</td><td><a href=#{n}>row {n}</a></td><td><button>x{n}</button></td></tr>" for n in range(900)
    )
    page = f"<!doctype html>\n<html lang=en><title>x</title><main><h1>Rows</h1><table>{rows}</table></main></html>"
    seen = see(tmp_path, {"index.html": page}, seconds=180)
    if seen.look.status == "partial" and os.getloadavg()[0] > os.cpu_count():
        assert seen.look.missing or seen.look.reason, "what a busy machine did not let be measured is named"
    else:
        assert (seen.look.status, seen.look.missing) == ("done", ())
    assert seen.defect("overlap") == {}


@pytest.mark.nightly
def test_files_that_links_lead_to_are_not_served(tmp_path):
    start = "ln -s /etc/passwd stolen.txt; exec sleep 1"
    seen = see(tmp_path, {"index.html": "todo.html"}, {"start": start}, seconds=10)
    assert seen.look.status == "no app"
    outside = tmp_path / "outside.txt"
    outside.write_text("private")
    (tmp_path / "b").mkdir()
    linked = asyncio.run(_with_a_link(tmp_path / "b", outside))
    assert linked.steps[0].passed is False and "404" in linked.steps[0].reason


async def _with_a_link(folder, target):
    work = WorkDir()
    folders = work.new()
    shutil.copy(PAGES / "todo.html", folders.workspace / "index.html")
    (folders.workspace / "stolen.txt").symlink_to(target)
    sandbox = BareProcess(work.lock_fd)
    try:
        steps = ["open /stolen.txt"]
        return await look(INDEX, steps, folders=folders, sandbox=sandbox, limits=Limits(), pictures=folder)
    finally:
        await sandbox.close()
        work.close()


# -- what is missing here


def test_without_chromium_a_look_is_unavailable_with_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("ORVL_CHROMIUM", str(tmp_path / "none"))
    seen = see(tmp_path, {"index.html": "good.html"}, steps=["click Add"])
    assert seen.look == Look("unavailable", find.NO_CHROMIUM)
    assert "apt-get install chromium" in seen.look.reason


def test_without_the_packages_a_look_is_unavailable_with_the_command(monkeypatch):
    monkeypatch.setattr(find, "NEEDED", ("no_such_package_at_all",))
    assert "pip install 'orvl[browser]'" in find.trouble()


def test_a_browser_that_does_not_start_is_unavailable(tmp_path, monkeypatch):
    monkeypatch.setenv("ORVL_CHROMIUM", "/bin/false")
    seen = see(tmp_path, {"index.html": "good.html"})
    assert seen.look.status == "unavailable"
    assert "Chromium does not start here" in seen.look.reason


def test_this_machine_has_what_a_look_needs():
    assert find.trouble() is None


# -- shapes


def test_steps_are_read():
    assert check_steps(["type a into b into c", "click 'Add'", "expect no error"]) == (
        AppStep("type a into b into c", "type", "a into b", "c"),
        AppStep("click 'Add'", "click", "Add"),
        AppStep("expect no error", "expect no error"),
    )


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("click", "it must be 'click TEXT or SELECTOR' (YAML drops"),
        ("open about", "it must be 'open /PATH'"),
        ("type Milk", "it must be 'type TEXT into FIELD'"),
        ("screenshot a/b", "it must be 'screenshot NAME'"),
        ("choose lb", "it must be 'choose OPTION in FIELD'"),
        ("expect no value in", "it must be 'expect no value in FIELD' (YAML drops"),
        ("view tablet", "it must be 'view phone, view desktop, view dark or view light'"),
        ("wait 3", "a step is one of: open /PATH;"),
        ({"click": "Add"}, "must be text such as"),
        ("click " + "a" * 2000, "at most 1000"),
    ],
)
def test_bad_steps_are_refused_with_a_sentence(step, words):
    with pytest.raises(InvalidAppConfig) as refused:
        check_steps(["open /", step])
    assert words in str(refused.value) and "steps[2]" in str(refused.value)


def test_too_many_steps():
    with pytest.raises(InvalidAppConfig, match="at most 40"):
        check_steps(["open /"] * 41)


@pytest.mark.parametrize(
    ("app", "words"),
    [
        ({}, "needs either 'start'"),
        ({"start": "a", "files": "b"}, "needs either 'start'"),
        ({"start": "a", "path": "x"}, "must begin with '/'"),
        ({"files": "index.html", "path": "/"}, "goes with 'start'"),
        ({"files": "../x.html"}, "inside the workspace"),
    ],
)
def test_bad_apps_are_refused_with_a_sentence(app, words):
    with pytest.raises(InvalidAppConfig) as refused:
        check_app(app)
    assert words in str(refused.value)


def test_a_look_from_json_is_the_same():
    one = Look("done", steps=(), defects=())
    assert Look.from_json(one.as_json()) == one
    assert Look.from_json(replace(one, defects=None).as_json()).defects is None
