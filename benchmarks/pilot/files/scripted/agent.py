"""Makes the workspace what turn.json says: the files that it started with, and layers of others over them."""

import base64
import json
import os
import shutil
import sys
from pathlib import Path

HOME, WORKSPACE = Path.home(), Path.cwd()
START = HOME / "start"


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()


def put(path, content, is_executable):
    path.parent.mkdir(parents=True, exist_ok=True)
    remove(path)
    path.write_bytes(content)
    path.chmod(0o755 if is_executable else 0o644)


turn = json.loads((HOME / "turn.json").read_text())
if not turn["session"]:
    sys.exit("No shipped eval begins with this prompt.")
if not START.exists():
    shutil.copytree(WORKSPACE, START, symlinks=True, ignore=lambda at, _: [".git"] if Path(at) == WORKSPACE else [])
if turn["layers"] is not None:
    for path in WORKSPACE.iterdir():
        if path.name != ".git":
            remove(path)
    shutil.copytree(START, WORKSPACE, symlinks=True, dirs_exist_ok=True)
    for layer in turn["layers"]:
        for name in layer["deleted"]:
            remove(WORKSPACE / name)
        for name, (is_executable, content) in layer["files"].items():
            put(WORKSPACE / name, base64.b64decode(content), is_executable)
print(turn["session"])
