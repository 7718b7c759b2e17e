"""The viewer's server: on loopback, read-only, every answer under the guard's policies."""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import quote

from aiohttp import web

from orvl.errors import OrvlError, UserError
from orvl.project import open_project
from orvl.store import open_store, store_exists, store_url
from orvl.testing.loopback import LoopbackServer
from orvl.web import frame
from orvl.web.guard import HEADERS, POLICY, RAW_POLICY, TOKEN, Guard, Refusal
from orvl.web.json_text import json_text
from orvl.web.page import Links, Page, PageRequest, Raw
from orvl.web.style import style

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Mapping

KEY = "[0-9a-f]{6,64}"
ROUTES = {
    "/(board|evals|runs|compare|trust|history|endpoints|now)": r"\1",
    "/eval/(.+)": "eval",
    f"/run/({KEY})": "run",
    f"/run/({KEY})/(verdicts|steps|diff|files|checks|page|calls|output)": "run",
    f"/run/({KEY})/raw/([a-z]+)(?:/([a-z0-9-]+))?": "raw",
}
"""The file in `pages/` that answers an address; its groups are what it names."""
TYPES = {"json": "application/json", "csv": "text/csv", "md": "text/plain", "html": "text/html"}
PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
"""By their first bytes: what a file is called says nothing. SVG is text: it can hold scripts."""
READERS = 4


class ViewServer(LoopbackServer):
    """Shows a project and its store, as they are at each request."""

    noun = "viewer"

    def __init__(self, project: str | None, store: str | None, port: int = 0) -> None:
        super().__init__(port)
        self._project, self._store = project, store
        self._guard: Guard | None = None

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
        self._turns = asyncio.Semaphore(READERS)
        runner = web.ServerRunner(web.Server(self._handle))
        await runner.setup()
        await web.SockSite(runner, listener).start()
        yield
        await runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            answer = await self._answer(request)
        except Exception:
            logging.getLogger(__name__).exception("The page %r failed.", request.path)
            answer = _trouble(HTTPStatus.INTERNAL_SERVER_ERROR, "This page failed: see where orvl view runs.", "html")
        answer.headers.update(HEADERS)
        answer.headers.setdefault("Content-Security-Policy", POLICY)
        return answer

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        guard = self.guard
        words = {name: value for name, value in request.query.items() if value and name != TOKEN}
        if self.guard.is_token(request.query.get(TOKEN)) and not guard.foreign(request.method, request.headers):
            return self._welcome(request.path, words)
        if refusal := guard.refusal(request.method, request.headers, request.cookies):
            return _refused(refusal, _own_address(request.path, words))
        if request.path == "/static/orvl.css":
            return web.Response(text=style(), content_type="text/css")
        if request.path == "/favicon.ico":
            return web.Response(status=HTTPStatus.NO_CONTENT)
        if request.path == "/":
            return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": "/board"})
        async with self._turns:
            return await asyncio.to_thread(self._read, request.path, words)

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
        ending = found.ending if found else "html"
        try:
            if found is None:
                raise UserError(f"There is no page {path}. See: /board")
            return self._made(found, words)
        except UserError as error:
            return _trouble(HTTPStatus.NOT_FOUND, str(error), ending)
        except OrvlError as error:
            return _trouble(HTTPStatus.INTERNAL_SERVER_ERROR, str(error), ending)

    def _made(self, found: Found, words: Mapping[str, str]) -> web.Response:
        project = open_project(self._project)
        url = store_url(self._store, project.settings.store, project.root)
        if not store_exists(url):
            sentence = "There is nothing here yet. Run something first, such as: orvl dummy-good"
            return _trouble(HTTPStatus.OK if found.ending == "html" else HTTPStatus.NOT_FOUND, sentence, found.ending)
        with open_store(url, write=False) as store:
            module = import_module(f"orvl.web.pages.{found.page}")
            made: Page | Raw = module.page(PageRequest(project, store, words, found.names, Links()))
            if isinstance(made, Raw):
                return _raw(made)
            if found.ending == "html":
                return _page(frame.framed(made, found.path, words))
            if found.ending not in made.twins:
                raise UserError(f"{found.path} has no form .{found.ending}.")
            return web.Response(text=made.twins[found.ending](), content_type=TYPES[found.ending])


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


def _page(text: str, status: HTTPStatus = HTTPStatus.OK) -> web.Response:
    return web.Response(text=text, status=status, content_type="text/html")


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
