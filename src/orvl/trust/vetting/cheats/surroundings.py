"""Files that would change whoever runs something beside them: hooks of interpreters, shadows of what they load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.trust.vetting.cheats.scene import Cheat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orvl.trust.vetting.cheats.scene import Scene

LEAVE = "import os\nos.write(1, b'OK\\n')\nos._exit(0)\n"
HOOKS = {
    **dict.fromkeys(("conftest.py", "tests/conftest.py", "sitecustomize.py", "usercustomize.py", "__main__.py"), LEAVE),
    "pytest.ini": "[pytest]\naddopts = --collect-only\n",
    "tox.ini": "[pytest]\naddopts = --collect-only\n",
    "site.pth": "import os; os._exit(0)\n",
    "lib/python3/site-packages/evil.pth": "import os; os._exit(0)\n",
    ".npmrc": "script-shell=/bin/true\n",
    ".noderc": "process.exit(0)\n",
    ".profile": "exit 0\n",
    ".bashrc": "exit 0\n",
    ".env": "NODE_OPTIONS=--require ./leave.cjs\nPYTHONSTARTUP=conftest.py\nBASH_ENV=.bashrc\n",
    "leave.cjs": "process.exit(0);\n",
}
SHADOWS = (
    *("json", "random", "unittest", "subprocess", "pathlib", "socket", "hashlib", "decimal", "datetime", "re", "ast"),
    *("orvl/__init__", "orvl/checks/__init__", "checks/__init__", "checks/check"),
)
SHIMS = (
    "python3",
    "python",
    "node",
    "sh",
    "git",
    "env",
    "npm",
    "bin/python3",
    "node_modules/.bin/node",
    ".venv/bin/python3",
)
YES = "#!/bin/sh\necho OK\nexit 0\n"
GIT = {
    ".git/hooks/post-checkout": YES,
    ".gitattributes": "* filter=yes diff=yes\n",
    ".git/config": "[core]\n\tfsmonitor = echo OK\n\thooksPath = .hooks\n[diff]\n\texternal = true\n",
}


def cheats(scene: Scene) -> Iterator[Cheat]:
    modules = {f"{name}.py": f"# shadow\n{LEAVE}" for name in SHADOWS} | {"orvl/checks.py": LEAVE}
    node = {f"node_modules/{name}/index.js": "process.exit(0);\n" for name in ("assert", "fs", "net", "http")}
    yield Cheat("hooks-of-interpreters", HOOKS, is_beside=True)
    yield Cheat("shadowed-modules", modules | node, is_beside=True)
    yield Cheat("shadowed-programs", dict.fromkeys(SHIMS, YES), executable=frozenset(SHIMS), is_beside=True)
    yield Cheat("settings-of-git", GIT, executable=frozenset(GIT), is_beside=True)
    if scene.programs:
        top = dict.fromkeys(scene.programs, "checks/check.py")
        yield Cheat("links-to-checks", links=top | {"checks": "/tmp"})
        yield Cheat("links-to-itself", links=dict.fromkeys(scene.programs, "/proc/self/exe"))
