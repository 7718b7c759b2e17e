"""Tasks in Harbor's published shape, made in a folder."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

TOML = """
version = "1.0"

[metadata]
author_name = "Ada"
difficulty = "easy"

[verifier]
timeout_sec = 60.0

[agent]
timeout_sec = 120.0

[environment]
build_timeout_sec = 600.0
cpus = 1
memory_mb = 2048
"""
DOCKERFILE = """
FROM ubuntu:24.04
RUN apt-get update && apt-get install -y --no-install-recommends \\
    python3 tmux asciinema \\
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY data/ ./data/
"""
INSTRUCTION = """
<!-- some-bench canary GUID 0000-1111 -->

Sort the numbers of `data/in.txt` into /app/sorted.txt.
"""
TEST = """
#!/bin/bash
apt-get update
reward=0
[ "$(cat /app/sorted.txt | tr '\\n' ' ')" = "1 2 3 " ] && [ -f /tests/hidden.txt ] && reward=1
mkdir -p /logs/verifier
echo $reward > /logs/verifier/reward.txt
"""
SOLUTION = """
#!/bin/bash
sort -n data/in.txt > /app/sorted.txt
"""
STEPS = """
schema_version = "1.4"
multi_step_reward_strategy = "{strategy}"

[task]
name = "bench/greetings"
description = "A greeting, and then another one."

[verifier]
timeout_sec = 30.0

[[steps]]
name = "hello"
[steps.agent]
timeout_sec = 40.0

[[steps]]
name = "good-bye"
min_reward = 0.5
[steps.verifier]
timeout_sec = 20.0
[steps.agent]
timeout_sec = 50.0
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
        if path.suffix == ".sh":
            path.chmod(0o755)
    return folder


def single(folder: Path, **changed: str) -> Path:
    """A task of one step; a part that is changed to nothing is left out. `__` in a name stands for `/`, `_` for `.`."""
    files = {
        "task.toml": TOML,
        "instruction.md": INSTRUCTION,
        "environment/Dockerfile": DOCKERFILE,
        "environment/data/in.txt": "3\n1\n2\n",
        "tests/test.sh": TEST,
        "tests/hidden.txt": "hidden\n",
        "solution/solve.sh": SOLUTION,
    }
    names = {name.replace("/", "__").replace(".", "_"): name for name in files}
    for key, text in changed.items():
        files[names[key]] = text
    return write(folder, {name: text for name, text in files.items() if text})


def with_steps(folder: Path, strategy: str = "mean") -> Path:
    """Two steps; the second wants what the first one's test would not pass any more."""
    judge = 'read -r said < greeting.txt; [ "$said" = "{}" ] && echo 1 > /logs/verifier/reward.txt\n'
    fails = "#!/bin/bash\n. /tests/common.sh\n"
    return write(
        folder,
        {
            "task.toml": STEPS.format(strategy=strategy),
            "environment/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\n",
            "tests/common.sh": "echo 0 > /logs/verifier/reward.txt\n",
            "steps/hello/instruction.md": "Write hello into greeting.txt.\n",
            "steps/hello/tests/test.sh": fails + judge.format("hello"),
            "steps/hello/solution/solve.sh": "#!/bin/bash\necho hello > greeting.txt\n",
            "steps/good-bye/instruction.md": "No, good-bye.\n---\nAnd nothing else.\n",
            "steps/good-bye/tests/test.sh": fails + judge.format("good-bye"),
            "steps/good-bye/solution/solve.sh": "#!/bin/bash\necho good-bye > greeting.txt\n",
        },
    )


def contents(folder: Path) -> dict[str, tuple[str, bytes, bool]]:
    """All that is in a folder: what each thing is, its bytes, and whether it can be executed."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = ("link", str(path.readlink()).encode(), False)
        elif path.is_dir():
            found[name] = ("folder", b"", False)
        else:
            found[name] = ("file", path.read_bytes(), bool(path.stat().st_mode & 0o100))
    return found
