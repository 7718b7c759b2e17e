"""python3 server.py --port 8000 --db cafe.db: a small HTTP server on asyncio, in front of desk.py."""

import argparse
import asyncio
import json
import sys
import traceback
from http import HTTPStatus
from pathlib import Path

from desk import Desk
from store import Store

MOST = 1_000_000


async def talk(desk: Desk, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serves one phone for as long as it stays."""
    try:
        while await one_request(desk, reader, writer):
            pass
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError):
        pass  # the phone is gone, or does not speak HTTP
    finally:
        writer.close()


async def one_request(desk: Desk, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Answers a request; whether there may be another one."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, version = head[0].split(" ")
    headers = {}
    for line in filter(None, head[1:]):
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    length = int(headers.get("content-length", "0"))
    if length > MOST:
        return False
    body = await reader.readexactly(length)
    try:
        status, answer = desk.answer(method, target, headers, body)
    except Exception:
        traceback.print_exc(file=sys.stderr)
        status, answer = 500, {"error": "The tablet has a problem."}
    stays = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
    writer.write(response(status, answer, stays))
    await writer.drain()
    return stays


def response(status: int, answer: object, stays: bool) -> bytes:
    content = b"" if status == 204 else json.dumps(answer).encode()
    rows = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"Connection: {'keep-alive' if stays else 'close'}"]
    if status != 204:
        rows += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    return "\r\n".join([*rows, "", ""]).encode() + content


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--db", default="cafe.db")
    options = parser.parse_args()
    desk = Desk(Store(options.db), Path(__file__).with_name("staff.json"))
    server = await asyncio.start_server(lambda *phone: talk(desk, *phone), "127.0.0.1", options.port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
