"""Harbor tasks as evals: imported, run in the real sandbox, or refused with the reason. Nothing runs at import."""

from __future__ import annotations

import os
import zipfile

import pytest

from helpers.harbor_tasks import DOCKERFILE, INSTRUCTION, TEST, TOML, single, with_steps, write
from orvl.project import open_project

ONLY_CHECKS = "[metrics]\nchecks = 1\n"


def imported(project, folder, *flags: str, status: int = 0):
    project.toml(ONLY_CHECKS)
    result = project.orvl("import", "harbor", str(folder), *flags, "--json")
    assert result.status == status, result.err
    return result.json["tasks"]


def refused(project, folder) -> str:
    (row,) = imported(project, folder, status=1)
    assert row["status"] == "refused" and row["eval"] is None
    assert not [path for path in (project.root / "evals").iterdir() if not path.name.startswith("kept")]
    return row["words"][0]


def rated(project, name: str, *agents: str) -> dict[str, float]:
    result = project.orvl(",".join(agents), "--eval", name, "--json")
    assert result.status == 0, result.err
    return {row["agent"]: row["R"] for row in result.json["ratings"]}


def prompts(project, name: str) -> list[str]:
    return list(open_project(project.root).eval(name).prompts)


def does(project, command: str, name: str = "mine") -> None:
    project.agent(name, f'models = {{"none": ["m"]}}\ndef command(): return ["sh", "-c", {command!r}]\n')


# -- what is imported


def test_a_task_becomes_an_eval_that_tells_good_work_from_none(project, tmp_path):
    folder = single(tmp_path / "tasks" / "sort_numbers")
    write(tmp_path / "tasks", {"LICENSE": "Free for all.\n"})
    (row,) = imported(project, tmp_path / "tasks")
    assert (row["task"], row["status"], row["eval"], row["words"]) == ("sort_numbers", "imported", "sort-numbers", [])
    does(project, "mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt; echo 1 > reward.txt; true")
    assert rated(project, "sort-numbers", "dummy-good", "empty", "mine") == {"dummy-good": 1, "empty": 0, "mine": 0}
    own = project.root / "evals" / "sort-numbers"
    assert (own / "LICENSE").read_text() == "Free for all.\n"
    assert "canary GUID 0000-1111" in (own / "eval.md").read_text().partition("---\nSort the")[0]
    assert (own / "source" / "instruction.md").read_bytes() == (folder / "instruction.md").read_bytes()
    shown = project.orvl("show", "dummy-good/sort-numbers/1", "--json").json
    assert prompts(project, "sort-numbers") == ["Sort the numbers of `data/in.txt` into /app/sorted.txt."]
    assert {check["isolation"] for check in shown["attempts"][0]["checks"]} == {"in-process"}


def test_imported_evals_are_marked_in_lists_and_reports(project, tmp_path):
    imported(project, single(tmp_path / "sort"))
    (row,) = [row for row in project.orvl("list", "evals", "--json").json["evals"] if row["name"] == "sort"]
    assert row["imported"] == "harbor"
    project.orvl("empty", "--eval=sort")
    report = project.orvl("report", "empty")
    assert "Evals imported from harbor: sort." in report.out
    assert "Checks of sort run in-process" in report.out
    assert project.orvl("report", "empty", "--json").json["imported_evals"] == {"sort": "harbor"}


def test_steps_become_turns_each_with_its_own_verifier(project, tmp_path):
    (row,) = imported(project, with_steps(tmp_path / "x"))
    assert row["eval"] == "greetings"
    assert row["words"] == [
        "all steps are run, whatever the reward of those before (min_reward)",
        "no licence was found",
    ]
    does(project, "echo hello > greeting.txt", "stuck")
    # 0.4 × the mean of both turns + 0.6 × the last one.
    assert rated(project, "greetings", "dummy-good", "empty", "stuck") == {"dummy-good": 1, "empty": 0, "stuck": 0.2}
    assert prompts(project, "greetings") == ["Write hello into greeting.txt.", "No, good-bye.\n---\nAnd nothing else."]
    checks = project.orvl("show", "dummy-good/greetings/1", "--json").json["attempts"][0]["checks"]
    assert [(check["name"], check["turn"], check["passed"]) for check in checks] == [
        ("hello", 1, True),
        ("good-bye", 0, True),
    ]


def test_where_only_the_last_step_counts_only_its_verifier_does(project, tmp_path):
    imported(project, with_steps(tmp_path / "x", strategy="final"))
    does(project, "echo hello > greeting.txt", "stuck")
    does(project, "echo good-bye > greeting.txt", "late")
    assert rated(project, "greetings", "stuck", "late") == {"stuck": 0, "late": 1}


def test_a_graded_reward_counts_as_the_share(project, tmp_path):
    test = """
    #!/usr/bin/env python3
    import json, pathlib
    lines = pathlib.Path("sorted.txt").read_text().split() if pathlib.Path("sorted.txt").exists() else []
    right = sum(a == b for a, b in zip(lines, ["1", "2", "3"]))
    json.dump({"reward": right / 3, "lines": 1}, open("/logs/verifier/reward.json", "w"))
    """
    imported(project, single(tmp_path / "sort", tests__test_sh=test))
    does(project, "printf '1\\n2\\n9\\n' > sorted.txt")
    R = rated(project, "sort", "dummy-good", "empty", "mine")
    assert (R["dummy-good"], R["empty"]) == (1, 0)
    assert R["mine"] == pytest.approx(2 / 3)


def test_limits_memory_and_network_are_the_tasks_own(project, tmp_path):
    toml = TOML.replace(
        "memory_mb = 2048", 'memory = "4G"\nallow_internet = false\n[environment.env]\nMODE = "${MODE:-x}"'
    )
    imported(project, single(tmp_path / "sort", task_toml=toml))
    text = (project.root / "evals/sort/eval.md").read_text()
    for line in ("  turn: 120.0", "  memory: 4096", "  limit: 60.0", "  MODE: x", "workdir: /app"):
        assert f"{line}\n" in text
    assert "network" not in text
    imported(project, single(tmp_path / "open"))
    assert "network: registries\n" in (project.root / "evals/open/eval.md").read_text()


def test_the_dockerfile_is_followed_line_by_line(project, tmp_path):
    dockerfile = """
    # syntax=docker/dockerfile:1
    ARG BASE=debian
    FROM --platform=linux/amd64 ${BASE}:bookworm
    ARG WHO=nobody
    ENV GREETING="hello $WHO" \\
        PATH="/srv/tools:$PATH"
    ENV OLD form of it
    LABEL a=b
    EXPOSE 80
    WORKDIR /app
    COPY --chmod=755 <<'END' /srv/tools/greet
    #!/bin/sh
    echo "$GREETING"
    END
    COPY --chown=root:root ["data/in.txt", "data/o*.txt", "./copied/"]
    COPY notes.md /app/README.md
    # A comment between,
    RUN set -e; \\
        # and one inside,
        mkdir -p made && \\
        sudo chown -R root:root made && useradd -m tester
    RUN <<EOF
    greet > made/greeting
    pwd >> made/greeting
    EOF
    RUN cat > made/text <<LAST && echo done >> made/text
    $GREETING, $WHO
    LAST
    RUN ["sh", "-c", "echo exec > made/exec"]
    WORKDIR sub
    RUN pwd > where
    WORKDIR /app
    SHELL ["/bin/bash", "-o", "pipefail", "-c"]
    RUN [[ a == a ]] && echo bash > made/bash
    USER tester
    CMD ["sleep", "infinity"]
    """
    test = """
    #!/bin/bash
    cd /app
    {
      greet; cat made/greeting made/text made/exec made/bash sub/where README.md; ls copied; echo "$OLD"; ls; ls data
    } > /logs/verifier/seen 2>&1
    diff /logs/verifier/seen /tests/hidden.txt && echo 1 > /logs/verifier/reward.txt
    """
    seen = (
        "hello nobody\nhello nobody\n/app\nhello nobody, nobody\ndone\nexec\nbash\n/app/sub\nnotes\nin.txt\nother.txt\n"
        "form of it\nREADME.md\ncopied\nmade\nsub\nls: cannot access 'data': No such file or directory\n"
    )
    folder = single(tmp_path / "lines", environment__Dockerfile=dockerfile, tests__test_sh=test, tests__hidden_txt=seen)
    write(
        folder / "environment",
        {"data/other.txt": "o\n", "notes.md": "notes\n", "data/out.log": "x\n", ".dockerignore": "**/*.log\n!x\n"},
    )
    imported(project, folder)
    assert rated(project, "lines", "empty") == {"empty": 1}, project.orvl("show", "empty/lines/1").out


def test_python_packages_of_the_image_are_there_for_agent_and_verifier(project, tmp_path):
    """From a file of the task's own: there may be no network here."""
    dockerfile = """
    FROM python:3.8-slim
    WORKDIR /app
    COPY tiny-1.0-py3-none-any.whl /tmp/
    RUN pip install --no-index --no-cache-dir /tmp/tiny-1.0-py3-none-any.whl
    """
    test = """
    #!/bin/bash
    pip install tiny==1.0
    [ "$(cat said)" = 42 ] && python -c 'import tiny; assert tiny.answer == 42' && echo 1 > /logs/verifier/reward.txt
    """
    solution = "#!/bin/bash\npython3 -c 'import tiny; print(tiny.answer)' > said\n"
    folder = single(
        tmp_path / "tiny", environment__Dockerfile=dockerfile, tests__test_sh=test, solution__solve_sh=solution
    )
    with zipfile.ZipFile(folder / "environment/tiny-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny.py", "answer = 42\n")
        wheel.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        wheel.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("tiny-1.0.dist-info/RECORD", "tiny.py,,\ntiny-1.0.dist-info/RECORD,,\n")
    imported(project, folder)
    build = project.root / "evals/tiny/setup/build.sh"
    assert '"$HOME/.venv/bin/pip" install tiny==1.0' in build.read_text()
    # What the verifier wants is in the image already: without the line that would fetch it again, no network is needed.
    build.write_text(build.read_text().replace('"$HOME/.venv/bin/pip" install tiny==1.0', ""))
    assert rated(project, "tiny", "dummy-good", "empty") == {"dummy-good": 1, "empty": 0}


def test_a_verifier_that_fetches_its_tools_gets_them_from_the_setup(project, tmp_path):
    test = """
    #!/bin/bash
    set -e
    apt-get update && apt-get install -y curl
    curl -LsSf https://astral.sh/uv/0.9.5/install.sh | sh
    source $HOME/.local/bin/env
    if [ "$PWD" = "/" ]; then exit 1; fi
    set +e
    uvx -p 3.13 -w pytest==8.4.1 --with=pytest-json-ctrf==0.3.5 pytest --ctrf /logs/verifier/ctrf.json /tests/hidden.txt
    if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
    """
    imported(project, single(tmp_path / "sort", tests__test_sh=test))
    build = project.root / "evals/sort/setup/build.sh"
    wanted = '"$HOME/.verifier/bin/pip" install pytest==8.4.1 pytest-json-ctrf==0.3.5 pytest\n'
    assert wanted in build.read_text()
    tool = '#!/bin/sh\n[ "$*" = "--ctrf /logs/verifier/ctrf.json /tests/hidden.txt" ] && test -f sorted.txt\n'
    project.write("evals/sort/setup/pytest", tool).chmod(0o755)
    made = 'mkdir -p "$HOME/.verifier/bin" && cp /setup/pytest "$HOME/.verifier/bin"\n'
    build.write_text(build.read_text().replace('python3 -m venv "$HOME/.verifier"\n', "").replace(wanted, made))
    assert rated(project, "sort", "dummy-good", "empty") == {"dummy-good": 1, "empty": 0}


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("uv venv .t && source .t/bin/activate && uv pip install a==1 'b[x]>=2' && uv run tool", ["a==1", "b[x]>=2"]),
        ("cd /tests && uv init && uv add a==1 && uv run --with b tool", ["a==1", "b"]),
        ("uv tool run --from a tool", ["a"]),
        ("uvx --with a,b==1 tool@2", ["a", "b==1", "tool==2"]),
        ("uvx -w a -w a tool", ["a", "tool"]),
        ("uv pip install -r /tests/reqs.txt; uv run tool", ["-r", "/setup/verifier/reqs.txt"]),
    ],
)
def test_ways_to_ask_uv_for_tools(project, tmp_path, command, wanted):
    test = f"#!/bin/bash\n{command} && echo 1 > /logs/verifier/reward.txt\n"
    folder = single(tmp_path / "sort", tests__test_sh=test)
    write(folder, {"tests/reqs.txt": "a\n"})
    imported(project, folder)
    build = project.root / "evals/sort/setup/build.sh"
    line = f'"$HOME/.verifier/bin/pip" install {" ".join(wanted)}'.replace("b[x]>=2", "'b[x]>=2'")
    assert line in build.read_text()
    made = 'mkdir -p "$HOME/.verifier/bin" && ln -s /bin/true "$HOME/.verifier/bin/tool"'
    build.write_text(build.read_text().replace('python3 -m venv "$HOME/.verifier"', "").replace(line, made))
    assert rated(project, "sort", "empty") == {"empty": 1}, project.orvl("show", "empty/sort/1").out


def test_folders_besides_the_working_one_are_places(project, tmp_path):
    dockerfile = DOCKERFILE + "COPY data/in.txt /data/given/in.txt\nRUN mkdir -p /srv/out && echo s > /srv/out/s\n"
    prompt = "Copy /data/given/in.txt to /results/out.txt. Serve it under /api/numbers.\n"
    test = """
    #!/bin/bash
    cmp /results/out.txt /data/given/in.txt && [ "$(cat /srv/out/s)" = s ] && echo 1 > /logs/verifier/reward.txt
    """
    solve = "#!/bin/bash\ncp /data/given/in.txt /results/out.txt\n"
    parts = {"environment__Dockerfile": dockerfile, "instruction_md": prompt, "tests__test_sh": test}
    imported(project, single(tmp_path / "copy", **parts, solution__solve_sh=solve))
    text = (project.root / "evals/copy/eval.md").read_text()
    assert "places:\n- /data\n- /results\n- /srv\n" in text
    assert rated(project, "copy", "dummy-good", "empty") == {"dummy-good": 1, "empty": 0}


# -- what is refused


def changed(what: str, old: str, new: str) -> str:
    assert old in what
    return what.replace(old, new)


REFUSED = [
    ({"task_toml": TOML + "gpus = 1\n"}, "it needs a GPU"),
    ({"task_toml": TOML + 'os = "windows"\n'}, "it runs on Windows"),
    ({"task_toml": TOML + '[[environment.mcp_servers]]\nname = "m"\nurl = "http://m"\n'}, "it needs MCP servers"),
    ({"task_toml": TOML + 'skills_dir = "/skills"\n'}, "it brings skills for the agent"),
    ({"task_toml": TOML + '[environment.healthcheck]\ncommand = "true"\n'}, "it waits for a service (healthcheck)"),
    (
        {"task_toml": changed(TOML, "timeout_sec = 60.0", 'environment_mode = "separate"')},
        "its verifier has an environment of its own",
    ),
    (
        {"task_toml": changed(TOML, "timeout_sec = 60.0", 'env = {KEY = "${OPENAI_API_KEY}"}')},
        "[verifier] needs OPENAI_API_KEY of this machine's environment",
    ),
    (
        {"task_toml": changed(TOML, "60.0", '"soon"')},
        "'timeout_sec' of [verifier] is no number of seconds up to a week",
    ),
    ({"task_toml": changed(TOML, "60.0", "1e300")}, "'timeout_sec' of [verifier] is no number of seconds up to a week"),
    ({"task_toml": "a = " + "[" * 20_000}, "task.toml is nested too deeply"),
    ({"task_toml": "a = " + "1" * 10_000}, "task.toml is nested too deeply, or has a number without end"),
    ({"task_toml": "a = 1\na = 2\n"}, "task.toml is not TOML: Cannot overwrite a value"),
    ({"task_toml": "x = 'y'\n" * 50_000}, "task.toml has more than 256 KiB"),
    ({"task_toml": "environment = 3\n"}, "'environment' of task.toml is no table"),
    (
        {"environment__Dockerfile": "FROM alpine:3\nWORKDIR /app\n"},
        "Dockerfile:1: the base image alpine:3 is not known",
    ),
    ({"environment__Dockerfile": "FROM python:3.99\nWORKDIR /app\n"}, "it needs python3 3.99, and 3."),
    (
        {"environment__Dockerfile": "FROM debian AS one\nFROM debian\nCOPY --from=one /a /b\n"},
        "Dockerfile:2: it is built in several stages",
    ),
    ({"environment__Dockerfile": DOCKERFILE + "COPY --from=nginx /x /app/\n"}, "it copies from another image"),
    ({"environment__Dockerfile": DOCKERFILE + "ONBUILD RUN true\n"}, "Dockerfile:7: ONBUILD cannot be had here"),
    ({"environment__Dockerfile": DOCKERFILE + 'ENTRYPOINT ["x"]\n'}, "Dockerfile:7: ENTRYPOINT cannot be had here"),
    ({"environment__Dockerfile": DOCKERFILE + "RUN --mount=type=secret,id=k true\n"}, "it mounts something"),
    ({"environment__Dockerfile": DOCKERFILE + "RUN apk add git\n"}, "it installs with apk"),
    ({"environment__Dockerfile": DOCKERFILE + "RUN git clone https://x.org/y\n"}, "it fetches from x.org, which no"),
    ({"environment__Dockerfile": DOCKERFILE + "RUN git init && git commit -m x\n"}, "it makes a git history"),
    ({"environment__Dockerfile": DOCKERFILE + "ADD https://x.org/y /app/\n"}, "it downloads a file"),
    ({"environment__Dockerfile": DOCKERFILE + "ADD x.tar.gz /app/\n"}, "ADD unpacks an archive"),
    ({"environment__Dockerfile": DOCKERFILE + "COPY ../tests /app/\n"}, "it copies from outside of environment/"),
    ({"environment__Dockerfile": DOCKERFILE + "COPY nothing /app/\n"}, "there is no nothing in environment/"),
    ({"environment__Dockerfile": DOCKERFILE + "COPY data /etc/data\n"}, "/etc/data is the system's"),
    ({"environment__Dockerfile": DOCKERFILE + "COPY data /\n"}, "its image has files of its own in /"),
    (
        {"environment__Dockerfile": DOCKERFILE + "RUN echo x >> /etc/hosts.allow\n"},
        "it uses /etc/hosts.allow, which is",
    ),
    ({"environment__Dockerfile": DOCKERFILE + "ENV HOME=/app\n"}, "it moves the home folder"),
    ({"environment__Dockerfile": DOCKERFILE + "ENV OPENAI_BASE_URL=x\n"}, "OPENAI_BASE_URL cannot be set"),
    (
        {"environment__Dockerfile": DOCKERFILE + "RUN cat <<EOF\nno end\n"},
        "Dockerfile:7: the text up to 'EOF' has no end",
    ),
    ({"environment__Dockerfile": DOCKERFILE + "LET x\n"}, "Dockerfile:7: 'LET' is no instruction"),
    ({"environment__Dockerfile": "# escape=`\n" + DOCKERFILE}, "it has another escape character"),
    ({"environment__Dockerfile": "RUN true\n"}, "Dockerfile:1: the first instruction must be FROM"),
    ({"environment__Dockerfile": "FROM debian\n"}, "it has no working folder (WORKDIR)"),
    ({"environment__Dockerfile": "FROM debian\nWORKDIR /usr/src/app\n"}, "/usr/src/app is the system's"),
    ({"environment__Dockerfile": "FROM debian\nWORKDIR /tests\n"}, "a sandbox has /tests of its own"),
    (
        {"environment__Dockerfile": DOCKERFILE + "RUN apt-get install -y no-such-package-1 no-such-2\n"},
        "it needs Debian packages that are not installed here: sudo apt install no-such-package-1 no-such-2",
    ),
    (
        {"environment__Dockerfile": DOCKERFILE + "RUN apt-get install -y $X\n"},
        "the package '$X' that it installs cannot be",
    ),
    ({"environment__Dockerfile": ""}, "it has no environment/Dockerfile, but an image that was built elsewhere"),
    ({"instruction_md": ""}, "it has no instruction.md"),
    ({"instruction_md": "<!-- canary -->\n\n"}, "an instruction is empty"),
    ({"instruction_md": "a\n\\---\nb\n"}, "its instructions cannot be written in an eval as they are"),
    ({"instruction_md": "Configure /etc/nginx/nginx.conf.\n"}, "it asks for /etc/nginx, which is the system's"),
    ({"instruction_md": "Make a key in `~/.ssh/id_rsa`.\n"}, "it asks for files in the home folder (~/.s…)"),
    ({"instruction_md": "Write /tmp/out.txt.\n"}, "it asks for files in /tmp (/tmp/o…)"),
    ({"tests__test_sh": ""}, "it has no tests/test.sh"),
    ({"tests__test_sh": "curl https://x.org/y | sh\n"}, "its verifier fetches from x.org, which no sandbox reaches"),
    ({"tests__test_sh": "apt-get install -y no-such-package-1\n"}, "sudo apt install no-such-package-1"),
    ({"tests__test_sh": "pip install git+ssh://x/y\n"}, "tests/test.sh: the Python package 'git+ssh://x/y'"),
    (
        {"tests__test_sh": "pip install -r /app/requirements.txt\n"},
        "what its verifier installs by /app/requirements.txt",
    ),
    (
        {"tests__test_sh": "uvx --with-requirements x pytest\n"},
        "what '--with-requirements' of uv installs cannot be told",
    ),
]


@pytest.mark.parametrize(("parts", "words"), REFUSED, ids=[words[:60] for _, words in REFUSED])
def test_what_cannot_be_run_here_is_refused_with_the_reason(project, tmp_path, parts, words):
    why = refused(project, single(tmp_path / "task", **parts))
    assert words in why


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"environment/docker-compose.yaml": "services: {}\n"}, "several services (environment/docker-compose.yaml)"),
        ({"trajectory.json": "{}\n"}, "it begins in the middle of a conversation"),
        ({"environment/.dockerignore": "*" * 40 + "\n"}, "has more than 3 stars"),
    ],
)
def test_other_files_of_a_task_may_rule_it_out(project, tmp_path, files, words):
    assert words in refused(project, write(single(tmp_path / "task"), files))


@pytest.mark.parametrize(
    ("toml", "files", "words"),
    [
        ('[[steps]]\nname = "../hello"\n', {}, "a step cannot be named '../hello'"),
        ('[[steps]]\nname = ".."\n', {}, "a step cannot be named '..'"),
        ('[[steps]]\nname = "a"\n[[steps]]\nname = "A"\n', {}, "two steps are named 'A'"),
        ('steps = ["a"]\n', {}, "'steps' of task.toml is no list of tables"),
        ("[[steps]]\nname = 'x'\n" * 101, {}, "it has more than 100 steps"),
        ('[[steps]]\nname = "hello"\n[[steps]]\nname = "gone"\n', {}, "it has no steps/gone/instruction.md"),
        (None, {"steps/good-bye/workdir/new.txt": "x\n"}, "the step 'good-bye' brings files of its own (workdir)"),
        (None, {"steps/hello/workdir/setup.sh": "x\n"}, "the step 'hello' has a setup of its own"),
    ],
)
def test_steps_that_cannot_be_turns_are_refused(project, tmp_path, toml, files, words):
    folder = write(with_steps(tmp_path / "x"), files)
    if toml:
        write(folder, {"task.toml": toml})
    assert words in refused(project, folder)


# -- what a task may try


def test_nothing_of_a_task_runs_when_it_is_imported(project, tmp_path):
    mark = tmp_path / "ran"
    parts = {
        "environment__Dockerfile": f"{DOCKERFILE}RUN touch /mark\n".replace("/mark", f"/data{mark}"),
        "tests__test_sh": f"#!/bin/sh\ntouch {mark}\n",
        "solution__solve_sh": f"#!/bin/sh\ntouch {mark}\n",
    }
    folder = single(tmp_path / "task", **parts)
    write(folder, {"sitecustomize.py": f"open({str(mark)!r}, 'w')\n", "orvl.py": "1/0\n", "python3": "1/0\n"})
    (folder / "python3").chmod(0o755)
    assert imported(project, folder)
    assert project.orvl("import", "harbor", ".", "--project", str(project.root), cwd=folder).status == 0
    assert not mark.exists()


def test_links_and_odd_files_are_never_followed(project, tmp_path):
    (tmp_path / "secret").write_text("secret\n")
    for number, (name, target) in enumerate(
        [("environment/data/link", "../../../secret"), ("tests/link", "/etc/passwd"), ("tests/up", "..")]
    ):
        folder = single(tmp_path / f"task{number}")
        (folder / name).symlink_to(target)
        result = project.orvl("import", "harbor", str(folder), "--json").json["tasks"][0]
        inside = name == "tests/up"
        assert result["status"] == "refused", name
        assert ("link to a folder elsewhere" if inside else "is a link that leads out of it") in result["words"][0]
    folder = single(tmp_path / "pipe")
    os.mkfifo(folder / "environment/pipe")
    assert "environment/pipe is neither a file nor a folder" in refused(project, folder)
    assert "secret" not in "".join(path.name for path in (project.root / "evals").rglob("*"))


def test_links_inside_a_task_are_copied_as_what_they_lead_to(project, tmp_path):
    folder = single(tmp_path / "task")
    (folder / "environment/data/again.txt").symlink_to("in.txt")
    (folder / "tests/given.txt").symlink_to("../environment/data/in.txt")
    imported(project, folder)
    own = project.root / "evals/task"
    assert (
        (own / "workspace/data/again.txt").read_text() == (own / "checks/verifier/given.txt").read_text() == "3\n1\n2\n"
    )
    assert (own / "source/tests/given.txt").readlink().as_posix() == "../environment/data/in.txt"


def test_a_task_has_bounds(project, tmp_path):
    folder = single(tmp_path / "large")
    with (folder / "environment/huge").open("wb") as file:
        file.truncate(600 << 20)
    assert "it has more than 512 MiB" in refused(project, folder)
    folder = single(tmp_path / "deep")
    (folder / "/".join(["environment", *"d" * 60])[: 11 + 120]).mkdir(parents=True)
    assert "its folders are more than 40 deep" in refused(project, folder)
    folder = single(tmp_path / "odd")
    (folder / "environment" / "a\nb").write_text("x")
    assert "is not plain text" in refused(project, folder)
    folder = single(tmp_path / "wordy", instruction_md="x" * (2 << 20))
    assert "instruction.md has more than 1024 KiB" in refused(project, folder)


@pytest.mark.parametrize("name", ["../../escaped", "/etc/passwd", "a/../../b", "..", "x/...", "é/ü", "a b,c"])
def test_no_name_of_a_task_leads_out_of_the_projects_evals(project, tmp_path, name):
    toml = f'[task]\nname = "{name}"\n{TOML}'
    before = {path for path in tmp_path.rglob("*") if "project" not in path.parts}
    folder = single(tmp_path / "task", task_toml=toml)
    (row,) = project.orvl("import", "harbor", str(folder), "--json").json["tasks"]
    evals = [path.name for path in (project.root / "evals").iterdir()]
    assert evals == ([row["eval"]] if row["status"] == "imported" else [])
    assert all("/" not in name and ".." not in name and name.isascii() for name in evals)
    after = {path for path in tmp_path.rglob("*") if not {"project", "task"} & set(path.parts)}
    assert {path for path in after - before if path.name not in ("tmp", "no-cache")} == set()


# -- several tasks, and again


def test_a_folder_of_tasks_is_imported_as_far_as_it_can_be(project, tmp_path):
    single(tmp_path / "tasks" / "one")
    single(tmp_path / "tasks" / "deeper" / "two", task_toml=TOML + "gpus = 8\n")
    single(tmp_path / "tasks" / "three" / "one", instruction_md="Another one.\n")
    write(tmp_path / "tasks", {"README.md": "no task\n"})
    project.toml(ONLY_CHECKS)
    result = project.orvl("import", "harbor", str(tmp_path / "tasks"))
    assert result.status == 1
    lines = [line.split() for line in result.out.splitlines() if line.strip()]
    assert [line[:2] for line in lines if line[1:2] in (["imported"], ["refused"])] == [
        ["deeper/two", "refused"],
        ["one", "imported"],
        ["three/one", "refused"],
    ]
    assert "it needs a GPU" in result.out
    assert "there is an eval named 'one' already" in result.out
    assert "3 tasks: 1 imported, 2 refused" in result.out
    assert sorted(path.name for path in (project.root / "evals").iterdir()) == ["one"]
    again = project.orvl("import", "harbor", str(tmp_path / "tasks" / "one"))
    assert again.status == 0 and "1 task: 1 unchanged" in again.out
    assert imported(project, tmp_path / "tasks" / "three" / "one", "--name", "third")[0]["eval"] == "third"


def test_an_eval_that_is_there_is_never_overwritten(project, tmp_path):
    folder = single(tmp_path / "sort")
    imported(project, folder)
    project.write("evals/sort/checks/verifier/mine.sh", "echo\n")
    (row,) = imported(project, folder, status=1)
    assert "there is an eval named 'sort' already" in row["words"][0]
    assert (project.root / "evals/sort/checks/verifier/mine.sh").exists()
    (row,) = imported(project, single(tmp_path / "hello-world"), status=1)
    assert "there is an eval named 'hello-world' already" in row["words"][0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["harbor", "nowhere"], "is no folder. Name that of a task, or of several."),
        (["harbor", "."], "There is no task in"),
        (["harbor", ".", "--scale", "2"], "--scale is not for harbor"),
        (["harbor", ".", "--as", "x"], "--as is not for harbor"),
        (["results", "x.csv", "--name", "y"], "--name is not for results"),
        (["harbor", "tasks", "--name", "x"], "--name is for one task, and tasks has 2."),
        (["harbor", "tasks/a", "--name", "../x"], "'../x' cannot be an eval's name"),
    ],
)
def test_wrong_calls(project, words, sentence):
    single(project.root / "tasks" / "a")
    single(project.root / "tasks" / "b")
    if words[1] == ".":
        words[1] = "tasks/a/tests"
    result = project.orvl("import", *words)
    assert result.status == 2
    assert sentence in result.err


def test_what_stays_of_an_instruction_is_all_but_its_canary(project, tmp_path):
    imported(project, single(tmp_path / "task", instruction_md=INSTRUCTION + "\n# canary of mine\n"))
    text = (project.root / "evals/task/eval.md").read_text()
    assert text.endswith("Sort the numbers of `data/in.txt` into /app/sorted.txt.\n\n# canary of mine\n")


@pytest.mark.parametrize(
    "text",
    [
        "a\n---\nb",
        "a\n--- or\nb",
        "when: {failed: x}\nb",
        "print {{output: rm -rf /}} and {{x}} and \\{{output: y}}",
        "---\na",
    ],
)
def test_whatever_an_instruction_says_is_text(project, tmp_path, text):
    imported(project, single(tmp_path / "task", instruction_md=f"{text}\n"))
    project.agent("sayer", 'models = {"none": ["m"]}\ndef command(prompt): return ["printf", "%s", prompt]\n')
    project.orvl("sayer", "--eval=task")
    assert project.orvl("show", "sayer/task/1", "--output").out.rstrip("\n") == text


def test_a_solution_that_cannot_be_run_here_is_noted(project, tmp_path):
    solve = "#!/bin/bash\napt-get install -y no-such-package-1\n"
    (row,) = imported(project, single(tmp_path / "task", solution__solve_sh=solve))
    assert row["words"][0].startswith(
        "its solution may fail here: it needs a Debian package that is not installed here"
    )
    (row,) = imported(project, single(tmp_path / "none", solution__solve_sh="", tests__test_sh=TEST))
    assert row["words"][0] == "no solution"
    assert "Skipped dummy-good on none" in project.orvl("dummy-good", "--eval=none", "--dry-run").err


def test_an_agent_sees_neither_tests_nor_solution(project, tmp_path):
    """Neither at their own paths nor as the copies that the eval keeps of them, and nothing of the eval's folder."""
    mark = "mark-of-what-is-hidden"
    task = single(
        tmp_path / "task", tests__test_sh=f"{TEST}\n# {mark}\n", solution__solve_sh=f"#!/bin/bash\n# {mark}\n"
    )
    imported(project, task)
    places = f"/app /home /root /tmp /var /srv {project.root}"
    does(project, f"ls -d /tests /solution /logs /setup 2>/dev/null; grep -rlsI {mark} {places}; echo looked")
    project.orvl("mine", "--eval=task")
    assert project.orvl("show", "mine/task/1", "--output").out.strip() == "looked"


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "LD_PRELOAD", "HOME"])
def test_variables_that_are_not_for_a_task_are_refused(project, tmp_path, name):
    text = f'{TOML}\n[environment.env]\n{name} = "x"\n'
    assert name in refused(project, single(tmp_path / "task", task_toml=text))


# -- the gate

PYTHON_TEST = """
#!/bin/sh
echo 0 > /logs/verifier/reward.txt
PYTHONPATH=/app python3 -c 'import adding; assert adding.add(2, 3) == 5' && echo 1 > /logs/verifier/reward.txt
"""


def test_an_imported_task_goes_through_the_tests_that_do_not_ask_for_more_than_it_has(project, tmp_path):
    """What its solution leaves is made by a script, and bad work and cheats are made of that."""
    solution = "#!/bin/sh\nprintf 'def add(a, b):\\n    return a + b\\n' > /app/adding.py\n"
    files = {"tests/test.sh": PYTHON_TEST, "solution/solve.sh": solution}
    folder = write(single(tmp_path / "adds"), files)
    write(folder, {"instruction.md": "Write adding.py with add(a, b).\n"})
    imported(project, folder)
    checked = project.orvl("check", "adds", "--test=1", "--test=2", "--test=4", "--test=11", "--json")
    assert checked.status == 1, checked.err
    (found,) = checked.json["evals"]
    states = {test["number"]: test["state"] for test in found["tests"]}
    assert (states[1], states[2], states[4]) == ("passed", "passed", "passed")
    assert states[3] == "not applicable"
    (cheats,) = [test for test in found["tests"] if test["number"] == 11]
    assert cheats["state"] == "failed"
    assert any("early-exit on empty gains 1.00" in one for one in cheats["todo"]), cheats
