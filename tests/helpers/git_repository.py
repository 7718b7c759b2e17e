"""A git repository that a test makes, commit by commit, and what a repository from somebody else may bring along."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

WHO = {
    f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "T"), ("EMAIL", "t@x"))
}
ALONE = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
EVIL = {
    "core.fsmonitor": "{evil} fsmonitor",
    "core.hooksPath": "{hooks}",
    "core.pager": "{evil} pager",
    "core.editor": "{evil} editor",
    "core.sshCommand": "{evil} ssh",
    "core.alternateRefsCommand": "{evil} alternates",
    "core.askPass": "{evil} askpass",
    "credential.helper": "!{evil} credential",
    "diff.external": "{evil} external",
    "diff.evil.command": "{evil} diff",
    "diff.evil.textconv": "{evil} textconv",
    "filter.evil.clean": "{evil} clean",
    "filter.evil.smudge": "{evil} smudge",
    "filter.evil.process": "{evil} process",
    "filter.evil.required": "true",
    "gpg.program": "{evil} gpg",
    "log.showSignature": "true",
    "alias.rev-list": "!{evil} alias",
    "alias.ls-tree": "!{evil} alias",
    "uploadpack.packObjectsHook": "{evil} pack",
}
"""Settings of a repository by which git executes something, in some command."""
HOOKS = (
    "post-checkout",
    "pre-commit",
    "reference-transaction",
    "post-index-change",
    "fsmonitor-watchman",
    "pre-auto-gc",
)


class GitRepository:
    """A folder under git's control."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str, **env: str) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=self.root,
            env={"PATH": os.environ["PATH"], "HOME": str(self.root), **WHO, **ALONE, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    def write(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else dedent(content).lstrip("\n").encode())
        return file

    def commit(self, message: str, files: Mapping[str, str | bytes | None]) -> str:
        """Writes files, or deletes those that are None, and commits all that there is; the commit's id."""
        for path, content in files.items():
            if content is None:
                (self.root / path).unlink()
            else:
                self.write(path, content)
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def set_traps(self, marks: Path) -> None:
        """Makes of it one that executes programs wherever git lets it; each leaves a mark."""
        evil = self.root.parent / "evil.sh"
        evil.write_text(f'#!/bin/sh\ntouch {marks}/"$1"\n')
        evil.chmod(0o755)
        hooks = self.root / ".git" / "traps"
        for folder in (hooks, self.root / ".git" / "hooks"):
            folder.mkdir(exist_ok=True)
            for name in HOOKS:
                (folder / name).write_text(f"#!/bin/sh\n{evil} {name}\n")
                (folder / name).chmod(0o755)
        for name, value in EVIL.items():
            self.git("config", name, value.format(evil=evil, hooks=hooks))
        (self.root / ".git" / "info").mkdir(exist_ok=True)
        (self.root / ".git" / "info" / "attributes").write_text("* filter=evil diff=evil\n")

    def set_promisor_trap(self, marks: Path) -> None:
        """Objects that are missing are fetched by a program that the repository names."""
        evil = self.root.parent / "evil.sh"
        evil.write_text(f'#!/bin/sh\ntouch {marks}/"$1"\n')
        evil.chmod(0o755)
        for name, value in {
            "core.repositoryFormatVersion": "1",
            "extensions.partialClone": "origin",
            "remote.origin.url": str(self.root),
            "remote.origin.promisor": "true",
            "remote.origin.partialCloneFilter": "blob:none",
            "remote.origin.uploadpack": f"{evil} promisor;",
        }.items():
            self.git("config", name, value)
