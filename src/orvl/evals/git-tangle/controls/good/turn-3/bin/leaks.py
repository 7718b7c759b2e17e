#!/usr/bin/env python3
"""Which courier tokens can be reached from which refs: bin/leaks.py REPOSITORY

Looks into every version of every file, and into the messages of commits and annotated tags. Prints a line `TOKEN REF`
for each pair. Status 0: none, 1: some, 2: not a repository.
"""

import re
import subprocess
import sys

TOKEN = re.compile(rb"ck_live_[a-z0-9]{20}(?![a-z0-9])")
CHUNK = 500


class NotARepository(Exception):
    pass


class Repository:
    def __init__(self, path):
        self.path = path
        self._tokens = {}

    def git(self, *words, given=b""):
        command = ["git", "--no-replace-objects", "-C", self.path, *words]
        return subprocess.run(command, input=given, capture_output=True, check=True).stdout

    def check(self):
        try:
            self.git("rev-parse", "--git-dir")
        except (subprocess.CalledProcessError, OSError) as error:
            raise NotARepository(f"{self.path} is not a git repository") from error

    def refs(self):
        return self.git("for-each-ref", "--format=%(refname)").decode().splitlines()

    def objects(self, ref):
        """All that comes with a ref: commits, trees, files, and the tag itself."""
        return self.git("rev-list", "--objects", "--no-object-names", ref).decode().split()

    def tokens(self, names):
        """The tokens in some objects. Each object is read once."""
        new = [name for name in names if name not in self._tokens]
        for start in range(0, len(new), CHUNK):
            self._read(new[start : start + CHUNK])
        return {token for name in names for token in self._tokens[name]}

    def _read(self, names):
        stream = self.git("cat-file", "--batch", given="\n".join(names).encode() + b"\n")
        for name in names:
            head, _, rest = stream.partition(b"\n")
            size = int(head.split()[2])
            self._tokens[name] = {found.decode() for found in TOKEN.findall(rest[:size])}
            stream = rest[size + 1 :]


def leaks(path):
    """All pairs of a token and a ref."""
    repository = Repository(path)
    repository.check()
    return sorted(
        (token, ref) for ref in repository.refs() for token in repository.tokens(repository.objects(ref))
    )


def main(words):
    if len(words) != 1:
        print("usage: leaks.py REPOSITORY", file=sys.stderr)
        return 2
    try:
        found = leaks(words[0])
    except NotARepository as error:
        print(error, file=sys.stderr)
        return 2
    for token, ref in found:
        print(token, ref)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
