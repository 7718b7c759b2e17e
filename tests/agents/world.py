"""A user's project with one real agent, and the real command line to run it."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Thread
from typing import Any, Self

from agents.model import FILES, PROMPTS, Model
from helpers.forked import call_in_fork
from helpers.user_project import Result, blob_keys
from orvl.project import open_project
from orvl.store.sqlite import SqliteStore
from orvl.testing import Answer, ModelServer, Tokens
from orvl.types import ModelCall

KEY, WRONG_KEY = "CONFORMANCE_KEY", "CONFORMANCE_WRONG_KEY"
PROTOCOLS = ("openai", "responses", "anthropic", "gemini")
LONGEST, LOOKING = 600.0, 3.0
CHECKS = "".join(f"\n  - {{name: {name}, run: test -s {name}}}" for name in FILES)


@dataclass
class Look:
    """What a look into a run's folders and at all processes found while the agent was at work."""

    files: int = 0
    processes: int = 0
    key_in: list[str] = field(default_factory=list)


class World:
    """A project, a scripted model that wants a key, and all that orvl said."""

    def __init__(self, folder: Path, agent: str) -> None:
        self.agent, self.root, self.tmp = agent, folder / "project", folder / "tmp"
        self.root.mkdir()
        self.tmp.mkdir()
        self.key = f"canary-{secrets.token_hex(20)}"
        self.model = Model()
        self.server = ModelServer(self.model, key=self.key)
        self.said: list[Result] = []
        self.look = Look()

    def __enter__(self) -> Self:
        self.server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.stop()

    # -- the project

    def write(self, models: dict[str, list[str]], own: dict[str, str] | None = None, most_calls: int = 6) -> None:
        """orvl.toml, with models by provider, and the two evals; `own` has lines of a provider's own."""
        providers = "".join(self._provider(name, (own or {}).get(name, "")) for name in models)
        toml = f"attempts = 2\n[limits]\nturn = 120\n[agents.{self.agent}.models]\n"
        toml += "".join(f"{name} = {json.dumps(names)}\n" for name, names in models.items())
        (self.root / "orvl.toml").write_text(toml + providers)
        (self.root / "evals").mkdir()
        session = f"---\nmetrics: {{checks: 1}}\nchecks:{CHECKS}\n---\n{PROMPTS[0]}\n---\n{PROMPTS[1]}\n"
        (self.root / "evals/session.md").write_text(session)
        single = f"---\nmetrics: {{checks: 1}}\nlimits: {{calls: {most_calls}}}\nchecks:\n"
        single += f"  - {{name: one, run: test -s one.txt}}\n---\n{PROMPTS[0]}\n"
        (self.root / "evals/single.md").write_text(single)

    def _provider(self, name: str, lines: str) -> str:
        """A provider at the server, which speaks all protocols, or at another address if its own lines say so."""
        known = dict(line.split(" = ", 1) for line in lines.splitlines())
        places = ", ".join(f'{one} = "{self.server.base_url(one)}"' for one in PROTOCOLS)
        protocol = json.dumps(PROTOCOLS) if "base_url" in known else f"{{{places}}}"
        own = {"protocol": protocol, "key": f'"{KEY}"'} | known
        return f"[providers.{name}]\n" + "".join(f"{word} = {value}\n" for word, value in own.items())

    # -- the command line

    def orvl(self, *words: str, timeout: float = LONGEST) -> Result:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ORVL", "COV", "COLUMNS"))}
        if cache := os.environ.get("ORVL_CACHE"):
            kept["ORVL_CACHE"] = cache
        keys = {KEY: self.key, WRONG_KEY: "wrong-" + self.key[::-1]}
        env = {**kept, **keys, "CI": "1", "TMPDIR": str(self.tmp)}
        if words[0] in (self.agent, "install"):  # Only a new process has its environment where others can read it.
            done = subprocess.run(
                [sys.executable, "-m", "orvl", *words],
                cwd=self.root,
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout,
                check=False,
            )
        else:
            done = call_in_fork([*words], self.root, env, timeout)
        result = Result(done.returncode, *(text.decode("utf-8", "replace") for text in (done.stdout, done.stderr)))
        self.said.append(result)
        return result

    def install(self) -> None:
        done = self.orvl("install", self.agent)
        assert done.status == 0, done.err

    # -- what came of it

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """One row per run, as `orvl report` gives them."""
        found = self.orvl("report", "--by", "run", "--json")
        assert found.status == 0, found.err
        rows: list[dict[str, Any]] = found.json["ratings"]
        return rows

    def row(self, provider: str, model: str) -> dict[str, Any]:
        found = [row for row in self.rows if (row["provider"], row["model"]) == (provider, model)]
        assert len(found) == 1, f"{len(found)} runs of {model} at {provider}: {self.said[-2:]}"
        return found[0]

    def shown(self, run: str) -> dict[str, Any]:
        found = self.orvl("show", run, "--json")
        assert found.status == 0, found.err
        shown: dict[str, Any] = found.json
        return shown

    def file(self, run: str, path: str) -> str:
        return self.orvl("show", run, "--file", path).out

    def answered(self, model: str) -> list[tuple[Answer, Tokens]]:
        """The answers that were sent to their end, of what was asked under a model's name."""
        numbers = {request.number for request in self.server.requests if request.model == model}
        return [
            (one.said, one.tokens)
            for one in self.server.given
            if one.number in numbers and one.complete and one.tokens and isinstance(one.said, Answer)
        ]

    def calls(self, run: str) -> list[ModelCall]:
        """The calls of models of all attempts, as the gateway noted them."""
        with SqliteStore(self.root / ".orvl", write=False) as store:
            query = (
                "SELECT attempt.id FROM attempt JOIN run ON run.id = attempt.run WHERE run.key = ? ORDER BY attempt.id"
            )
            return [call for (attempt,) in store.rows(query, (run,)) for call in store.calls(attempt)]

    @property
    def pinned_version(self) -> str:
        packages = open_project(str(self.root)).agent(self.agent).install
        first = next(one for names in packages.values() for one in names)
        return first.replace("==", "@").rpartition("@")[2]

    def trajectory(self, run: str) -> str:
        """The run as an ATIF file."""
        folder = self.root / "trajectories"
        done = self.orvl("export", "atif", self.agent, "--output", str(folder))
        assert done.status == 0, done.err
        return next(folder.glob(f"{run[:12]}*")).read_text()

    # -- the key

    def look_at_the_end(self) -> Thread:
        """Looks once for the key in all that the run has on disk and in all processes, while the agent still works."""

        def look() -> None:
            if self.model.at_the_end.wait(LONGEST):
                self.look = look_for(self.key.encode(), self.tmp)

        self.model.hold = LOOKING
        thread = Thread(target=look, daemon=True)
        thread.start()
        return thread

    def key_kept_in(self) -> list[str]:
        """Where the key is in the store, in exports, or in what orvl said."""
        places = [place for place, content in self.bytes_kept().items() if self.key.encode() in content]
        return places + [result.out + result.err for result in self.said if self.key in result.out + result.err]

    def bytes_kept(self) -> dict[str, bytes]:
        """All that is in the store, unpacked, and in exports; by where it is."""
        kept = {}
        folder = self.root / ".orvl"
        with SqliteStore(folder, write=False) as store:
            kept |= {f"blob {key}": store.blobs.get(key) for key in blob_keys(folder)}
        kept |= {str(path): path.read_bytes() for path in folder.glob("blobs/*/*") if path.suffix != ".zst"}
        kept |= {str(path): path.read_bytes() for path in folder.glob("*") if path.is_file()}
        for what in ("runs", "scores"):
            kept[f"export of {what}"] = self.orvl("export", what, "-", "--format", "jsonl").out.encode()
        exported = self.orvl("export", "atif", self.agent, "--output", str(self.root / "trajectories"))
        assert exported.status == 0, exported.err
        return kept | {str(path): path.read_bytes() for path in self.root.glob("trajectories/*")}


def look_for(secret: bytes, folder: Path) -> Look:
    """Where a secret is: in files below a folder, in the environment and the arguments of any process."""
    look = Look()
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            look.files += 1
            look.key_in += [str(path)] if secret in _bytes_of(path) else []
    for process in Path("/proc").glob("[0-9]*"):
        look.processes += 1
        for name in ("environ", "cmdline"):
            look.key_in += [str(process / name)] if secret in _bytes_of(process / name) else []
    return look


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def closed_port() -> int:
    """A port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])
