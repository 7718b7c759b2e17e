"""The viewer's server: on loopback, every answer under the guard's policies; only /label writes."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import quote

from aiohttp import web

from orvl.errors import OrvlError, StoreBusy, UserError
from orvl.project import open_project
from orvl.store import open_store, store_exists, store_url
from orvl.testing.loopback import LoopbackServer
from orvl.web import frame
from orvl.web.board_picture import STYLE
from orvl.web.boards import Boards, StoreWatch
from orvl.web.guard import HEADERS, OF_ACCESS, RAW_POLICY, TOKEN, Guard, Refusal, picture_policy
from orvl.web.json_text import json_text
from orvl.web.label_queue import LabelQueues
from orvl.web.page import Links, Page, PageRequest, Raw
from orvl.web.style import script, style

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Callable, Mapping

KEY = "[0-9a-f]{6,64}"
ROUTES = {
    "/(board|evals|runs|compare|trust|history|endpoints|now)": r"\1",
    "/compare/runs": "compare_runs",
    "/label(?:/picture/([0-9]{1,3}))?": "label",
    "/eval/(.+)": "eval",
    f"/run/({KEY})": "run",
    f"/run/({KEY})/(verdicts|checks|curves|steps|diff|files|page|calls|output)": "run",
    f"/run/({KEY})/raw/([a-z]+)(?:/([A-Za-z0-9_-]+))?": "raw",
}
"""The file in `pages/` that answers an address; its groups are what it names."""
TYPES = {"json": "application/json", "csv": "text/csv", "md": "text/plain", "html": "text/html", "svg": "image/svg+xml"}
PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
"""By their first bytes: what a file is called says nothing. SVG is text: it can hold scripts."""
READERS = 4
EVENTS, EVERY, MOST_LISTENERS = "/now/events", 1.0, 8
"""The stream of /now, seconds between two looks, and how many may listen."""
NOTHING_NOW = '{"texts": {"summary": "Nothing is running."}, "tables": {}}'
NOTHING_YET = "There is nothing here yet. Run something first, such as: orvl dummy-good"
FORM = "application/x-www-form-urlencoded"
LARGEST_FORM = 16_000


class ViewServer(LoopbackServer):
    """Shows a project and its store, as they are at each request."""

    noun = "viewer"

    def __init__(self, project: str | None, store: str | None, port: int = 0) -> None:
        super().__init__(port)
        self._project, self._store = project, store
        self._guard: Guard | None = None
        self._boards, self._watch = Boards(), StoreWatch()
        self._label_queues = LabelQueues()

    @property
    def guard(self) -> Guard:
        """Known once the server has its port."""
        if self._guard is None:
            self._guard = Guard(self.port)
        return self._guard

    @property
    def address(self) -> str:
        """Where to begin; the token is for whoever started the viewer."""
        return f"{self.url}/board?{TOKEN}={self.guard.token}"

    @asynccontextmanager
    async def serving(self, listener: socket.socket) -> AsyncIterator[None]:
        self._turns, self._listeners = asyncio.Semaphore(READERS), 0
        runner = web.ServerRunner(web.Server(self._handle))
        await runner.setup()
        await web.SockSite(runner, listener).start()
        yield
        await runner.cleanup()
        self._watch.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            answer = await self._answer(request)
        except Exception:
            logging.getLogger(__name__).exception("The page %r failed.", request.path)
            answer = _trouble(HTTPStatus.INTERNAL_SERVER_ERROR, "This page failed: see where orvl view runs.", "html")
        for name, value in {**HEADERS, **OF_ACCESS["reading"]}.items():
            answer.headers.setdefault(name, value)
        return answer

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        guard = self.guard
        if request.method == "POST":
            return await self._write(request)
        words = {name: value for name, value in request.query.items() if value and name != TOKEN}
        if self.guard.is_token(request.query.get(TOKEN)) and not guard.foreign(request.method, request.headers):
            return self._welcome(request.path, words)
        if refusal := guard.refusal(request.method, request.headers, request.cookies):
            return _refused(refusal, _own_address(request.path, words))
        if request.path == "/static/orvl.css":
            return web.Response(text=style(), content_type="text/css")
        if request.path == "/static/orvl.js":
            return web.Response(text=script(), content_type="text/javascript")
        if request.path == EVENTS and request.method == "GET":
            return await self._events(request)
        if request.path == "/favicon.ico":
            return web.Response(status=HTTPStatus.NO_CONTENT)
        if request.path == "/":
            return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": "/board"})
        async with self._turns:
            return await asyncio.to_thread(self._read, request.path, words)

    async def _write(self, request: web.BaseRequest) -> web.Response:
        """Takes an answer of a form, and sends the browser on: what it loads again is then a page, not an answer."""
        if refusal := self.guard.writing_refusal(request.path, request.headers, request.cookies):
            return _refused(refusal, "/")
        if request.content_type != FORM or (request.content_length or LARGEST_FORM + 1) > LARGEST_FORM:
            return _trouble(HTTPStatus.BAD_REQUEST, "This is no answer of a form of this viewer.", "html")
        form = {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
        async with self._turns:
            return await asyncio.to_thread(self._answered, form)

    def _answered(self, form: Mapping[str, str]) -> web.Response:
        from orvl.web.pages import label

        def go_on(asked: PageRequest) -> web.Response:
            return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": label.answer(asked, form)})

        return self._with_store(go_on, "html")

    async def _events(self, request: web.BaseRequest) -> web.StreamResponse:
        """What /now shows, again and again, until the browser leaves or the viewer ends."""
        if self._listeners >= MOST_LISTENERS:
            sentence = f"{MOST_LISTENERS} pages of /now are open already; this one can be loaded again by hand."
            return _trouble(HTTPStatus.SERVICE_UNAVAILABLE, sentence, "json")
        stream = web.StreamResponse(headers={**HEADERS, **OF_ACCESS["reading"], "Content-Type": "text/event-stream"})
        assert self._ended is not None
        self._listeners += 1
        try:
            await stream.prepare(request)
            while not self._ended.is_set():
                async with self._turns:
                    text = await asyncio.to_thread(self._now)
                await stream.write(f"event: now\ndata: {text}\n\n".encode())
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ended.wait(), EVERY)
        except ConnectionResetError:
            pass  # the browser has left
        except Exception:
            logging.getLogger(__name__).exception("The stream of /now failed.")
        finally:
            self._listeners -= 1
        return stream

    def _now(self) -> str:
        """One line of JSON."""
        from orvl.web.pages.now import now_texts

        def made(asked: PageRequest) -> web.Response:
            return web.Response(text=json.dumps(now_texts(asked.store).as_json()))

        answer = self._with_store(made, "json")
        return (answer.text if answer.status == HTTPStatus.OK else None) or NOTHING_NOW

    def _welcome(self, path: str, words: Mapping[str, str]) -> web.Response:
        """Trades the token for a cookie. A page, not a redirect: a browser that came from elsewhere would withhold the
        cookie from the next address until a page of ours has sent it there."""
        go_on = _own_address(path, words)
        answer = _page(frame.notice("orvl", "Opening the viewer.", go_on=go_on, at_once=True))
        answer.set_cookie(self.guard.cookie, self.guard.token, httponly=True, samesite="Strict", path="/")
        return answer

    def _read(self, path: str, words: Mapping[str, str]) -> web.Response:
        """In a thread, with a store of its own."""
        found = _route(path)
        if found is None:
            return _trouble(HTTPStatus.NOT_FOUND, f"There is no page {path}. See: /board", "html")

        def made(asked: PageRequest) -> web.Response:
            return _made(found, replace(asked, words=words, names=found.names))

        return self._with_store(made, found.ending)

    def _with_store(self, answer: Callable[[PageRequest], web.Response], ending: str) -> web.Response:
        """What comes of the project and the store as they are now; every mistake is a sentence."""
        try:
            project = open_project(self._project)
            url = store_url(self._store, project.settings.store, project.root)
            if not store_exists(url):
                status = HTTPStatus.OK if ending == "html" else HTTPStatus.NOT_FOUND
                return _trouble(status, NOTHING_YET, ending)
            version = self._watch.version(url)
            with open_store(url, write=False) as store:
                return answer(
                    PageRequest(
                        project,
                        store,
                        boards=self._boards,
                        version=version,
                        store_url=url,
                        label_queues=self._label_queues,
                    )
                )
        except StoreBusy as error:
            return _trouble(HTTPStatus.CONFLICT, f"{error} Nothing was stored: go back, and answer again.", ending)
        except UserError as error:
            return _trouble(HTTPStatus.NOT_FOUND, str(error), ending)
        except OrvlError as error:
            return _trouble(HTTPStatus.INTERNAL_SERVER_ERROR, str(error), ending)


def _made(found: Found, asked: PageRequest) -> web.Response:
    made: Page | Raw = import_module(f"orvl.web.pages.{found.page}").page(asked)
    if isinstance(made, Raw):
        return _raw(made)
    if found.ending == "html":
        return _page(frame.framed(made, found.path, asked.words), headers=OF_ACCESS[made.access])
    if found.ending not in made.twins:
        raise UserError(f"{found.path} has no form .{found.ending}.")
    headers = {"Content-Security-Policy": picture_policy(STYLE)} if found.ending == "svg" else None
    return web.Response(text=made.twins[found.ending](), content_type=TYPES[found.ending], headers=headers)


@dataclass(frozen=True)
class Found:
    """The page that an address means, and the form in which it is wanted."""

    page: str
    names: tuple[str, ...]
    path: str
    ending: str = "html"


def _route(path: str) -> Found | None:
    plain, dot, ending = path.rpartition(".")
    has_ending = bool(dot) and ending in TYPES
    wanted = plain if has_ending else path
    for pattern, page in ROUTES.items():
        if match := re.fullmatch(pattern, wanted):
            names = tuple(name for name in match.groups() if name is not None)
            return Found(match.expand(page), names, wanted, ending if has_ending else "html")
    return None


def _own_address(path: str, words: Mapping[str, str]) -> str:
    """An address of ours that a page may link to; whatever else was asked for, the board."""
    known = _route(path) is not None
    return Links().to(quote(path, errors="replace") if known else "/board", words if known else {}) or "/board"


def _page(
    text: str, status: HTTPStatus = HTTPStatus.OK, headers: Mapping[str, str] = OF_ACCESS["reading"]
) -> web.Response:
    return web.Response(text=text, status=status, content_type="text/html", headers=headers)


def _refused(refusal: Refusal, address: str) -> web.Response:
    go_on = address if refusal.go_on else None
    return _page(frame.notice("orvl", refusal.sentence, go_on=go_on), refusal.status)


def _trouble(status: HTTPStatus, sentence: str, ending: str) -> web.Response:
    if ending == "html":
        return _page(frame.framed(Page("orvl", lambda: frame.sentence_of(sentence)), "/", {}), status)
    return web.Response(text=json_text({"schema": 1, "error": sentence}), status=status, content_type=TYPES["json"])


def _raw(made: Raw) -> web.Response:
    """Never a type that a browser would run: a picture by its first bytes, else text to save."""
    kind = next((kind for start, kind in PICTURES.items() if made.data.startswith(start)), None)
    headers = {"Content-Security-Policy": RAW_POLICY}
    if kind is None:
        headers["Content-Disposition"] = f'attachment; filename="{made.file_name}"'
        return web.Response(body=made.data, headers=headers, content_type="text/plain", charset="utf-8")
    return web.Response(body=made.data, headers=headers, content_type=kind)
