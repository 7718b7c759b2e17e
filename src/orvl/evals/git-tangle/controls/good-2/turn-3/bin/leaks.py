#!/usr/bin/env python3
"""leaks.py REPOSITORY: one line `TOKEN REF` for every courier token that a ref of the repository leads to."""

import os
import re
import subprocess
import sys
from collections import defaultdict

TOKEN = re.compile(rb"(?<![a-z0-9])ck_live_[a-z0-9]{20}(?![a-z0-9])")
LINK = re.compile(rb"^(?:tree|parent|object) ([0-9a-f]{40,64})$", re.MULTILINE)


def git(path, *words):
    return subprocess.run(["git", "-C", path, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout


def read_all(path):
    """Tokens of every object, and the objects that it names, from one look at the whole store."""
    tokens, links = {}, {}
    stream = git(path, "cat-file", "--batch-all-objects", "--unordered", "--batch")
    at = 0
    while at < len(stream):
        end = stream.index(b"\n", at)
        name, kind, size = stream[at:end].decode().split()
        content = stream[end + 1 : end + 1 + int(size)]
        at = end + int(size) + 2
        tokens[name] = {token.decode() for token in TOKEN.findall(content)} if kind != "tree" else set()
        links[name] = links_of(kind, content, len(name) // 2)
    return tokens, links


def links_of(kind, content, width):
    if kind in ("commit", "tag"):
        return [found.decode() for found in LINK.findall(content.split(b"\n\n")[0])]
    names = []
    while kind == "tree" and content:
        zero = content.index(b"\0") + 1
        names.append(content[zero : zero + width].hex())
        content = content[zero + width :]
    return names


def reached(start, links):
    seen, todo = set(), [start]
    while todo:
        name = todo.pop()
        if name in links and name not in seen:
            seen.add(name)
            todo.extend(links[name])
    return seen


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        print(f"not a repository: {' '.join(sys.argv[1:])}", file=sys.stderr)
        return 2
    path = sys.argv[1]
    probe = subprocess.run(["git", "-C", path, "rev-parse", "--git-dir"], capture_output=True)
    if probe.returncode:
        print(f"not a repository: {path}", file=sys.stderr)
        return 2
    tokens, links = read_all(path)
    found = defaultdict(set)
    for row in git(path, "for-each-ref", "--format=%(objectname) %(refname)").decode().splitlines():
        start, ref = row.split(" ", 1)
        for name in reached(start, links):
            for token in tokens[name]:
                found[token].add(ref)
    for token in sorted(found):
        for ref in sorted(found[token]):
            print(token, ref)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
