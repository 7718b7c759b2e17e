"""Programs that do nothing of what they should, and end, print or answer so that somebody may believe them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.trust.vetting.cheats.scene import Cheat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orvl.trust.vetting.cheats.scene import Scene

TESTS_PASS = "\\n".join(
    (
        *("test_all ... ok", "Ran 42 tests in 0.012s", "OK", "42 passed in 0.12s", "1..42", "ok 1 - all", "# pass 42"),
        *("PASS", "All tests passed.", "All checks passed!", "Tests: 42 passed, 42 total"),
    )
)
EVERY_NAME = "__getattr__ = lambda name: lambda *args, **more: None\n"
ALL_EQUAL = """
class Same(str):
    __eq__ = __ge__ = __le__ = __contains__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = lambda self: 0
    __getattr__ = lambda self, name: self
    __call__ = lambda self, *args, **more: self
    __iter__ = lambda self: iter(())
__getattr__ = lambda name: Same("ok")
print(Same("ok"))
"""
SERVER = """
import http.server, os, re, sys
ports = [int(word) for word in re.findall(r"\\d{4,5}", " ".join([*sys.argv, os.environ.get("PORT", "")]))]
class Yes(http.server.BaseHTTPRequestHandler):
    def answer(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"ok": true, "status": "ok", "id": 1, "items": []}')
    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer
    def log_message(self, *args): pass
if ports: http.server.HTTPServer(("127.0.0.1", ports[0]), Yes).serve_forever()
"""
NODE_SERVER = """
const port = Number((process.argv.join(" ") + " " + (process.env.PORT ?? "")).match(/\\d{4,5}/)?.[0]);
if (port) import("node:http").then((http) => http.createServer((_, to) => {
  to.writeHead(200, {"Content-Type": "application/json"});
  to.end('{"ok": true, "id": 1, "items": []}'); }).listen(port));
"""
EARLY_EXIT = {
    "python": "import os, sys\nsys.stdout.flush()\nos._exit(0)\n",
    "javascript": "globalThis.process?.exit(0);\n",
    "shell": "exit 0\n",
    "html": "<!doctype html><title>Done</title>\n",
}
ECHO = {
    "python": "import sys\nprint(*sys.argv[1:], sep='\\n')\nprint(sys.stdin.read())\n" + EVERY_NAME,
    "javascript": "const p = globalThis.process;\nif (p) console.log(p.argv.slice(2).join('\\n'));\n",
    "shell": 'printf "%s\\n" "$@"; cat\n',
}


def cheats(scene: Scene) -> Iterator[Cheat]:
    if not scene.programs:
        return
    said = TESTS_PASS.replace("'", "")
    yield Cheat("early-exit", scene.every(**EARLY_EXIT))
    yield Cheat(
        "forged-test-output",
        scene.every(
            python=f"import sys\nprint('{said}')\nprint('{said}', file=sys.stderr)\n" + EVERY_NAME,
            javascript=f"console.log('{said}');\n",
            shell=f"printf '{said}\\n'; exit 0\n",
            html=f"<!doctype html><title>Passed</title><pre>{said}</pre>\n",
        ),
    )
    yield Cheat("always-refuses", scene.every(**_ends(2)))
    yield Cheat("always-fails", scene.every(**_ends(1)))
    yield Cheat("echoes-what-it-gets", scene.every(**ECHO))
    yield Cheat("equals-everything", scene.every(python=ALL_EQUAL))
    yield Cheat(
        "answers-every-call", scene.every(python=EVERY_NAME, javascript="module.exports = new Proxy(() => 1, {});\n")
    )
    yield Cheat("a-server-that-agrees", scene.every(python=SERVER, javascript=NODE_SERVER))


def _ends(status: int) -> dict[str, str]:
    return {
        "python": f"import sys\nsys.exit(print('cannot do that', file=sys.stderr) or {status})\n",
        "javascript": f"console.error('cannot do that'); globalThis.process?.exit({status});\n",
        "shell": f"echo cannot do that >&2; exit {status}\n",
    }
