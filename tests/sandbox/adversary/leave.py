"""Leaves a workspace that is a trap for whoever looks into it: links, pipes, sockets, and a repository full of hooks."""

import os
import socket
import sys
import time

MARK, PROJECT = sys.argv[1:3]


def put(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


def repository():
    """Every way that a repository has to make git run something."""
    run = f"touch {MARK}"
    put(".git/HEAD", "ref: refs/heads/main\n")
    put(".git/refs/heads/.keep", "")
    put(".git/objects/info/alternates", f"{PROJECT}/.git/objects\n")
    put(
        ".git/config",
        f"""[core]
	repositoryformatversion = 0
	bare = false
	fsmonitor = "{run}; false"
	hooksPath = .hooks
	pager = {run}
	editor = {run}
	sshCommand = {run}
	attributesFile = .gitattributes
[diff]
	external = {run}
[diff "trap"]
	textconv = {run}; cat
	command = {run}
[filter "trap"]
	clean = {run}; cat
	smudge = {run}; cat
	process = {run}
	required = true
[alias]
	status = "!{run}"
[submodule "inner"]
	path = inner
	url = "ext::sh -c '{run}'"
	update = "!{run}"
[include]
	path = {PROJECT}/orvl.toml
""",
    )
    put(".gitattributes", "* filter=trap diff=trap\n")
    put(".gitmodules", f'[submodule "inner"]\n\tpath = inner\n\turl = "ext::sh -c \'{run}\'"\n')
    put("inner/.git", f"gitdir: {PROJECT}/.git\n")
    for name in ("pre-commit", "post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman"):
        put(f".git/hooks/{name}", f"#!/bin/sh\n{run}\n", 0o755)
        put(f".hooks/{name}", f"#!/bin/sh\n{run}\n", 0o755)
    for name in ("sitecustomize.py", "conftest.py", "zstandard.py", "json.py"):
        put(name, f"import os\nos.system({run!r})\n")


def links():
    there = {
        "passwd": "/etc/passwd",
        "store": f"{PROJECT}/.orvl",
        "hidden": f"{PROJECT}/evals/e/checks",
        "toml": f"{PROJECT}/orvl.toml",
    }
    there |= {
        "up": "../" * 12 + PROJECT[1:],
        "process": "/proc/self",
        "checks": f"{PROJECT}/evals/e",
        "one": "two",
        "two": "one",
    }
    for name, to in there.items():
        os.symlink(to, name)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
    put("kept.txt", "kept")
    os.link("kept.txt", "kept-too.txt")
    with open("sparse", "wb") as file:
        file.truncate(15 << 20)
    os.mkdir("many")
    for number in range(700):
        put(f"many/{number}", "")


def swap():
    """A folder that becomes a link and a folder again, for as long as it is let."""
    if os.fork():
        return
    os.setsid()
    os.mkdir("swapped")
    put("swapped/orvl.toml", "own")
    os.symlink(PROJECT, "other")
    while True:
        for first, then in (("swapped", "aside"), ("other", "swapped"), ("swapped", "other"), ("aside", "swapped")):
            os.rename(first, then)


if __name__ == "__main__":
    repository()
    if len(sys.argv) < 4:
        links()
        swap()
        time.sleep(0.3)
