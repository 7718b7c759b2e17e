"""`orvl install`: real npm and pip, against a registry and a folder of wheels made here."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from helpers.needs import need
from orvl.errors import InstallError
from orvl.install import cache, installed, pip, place_of
from orvl.install.make import install
from orvl.project import open_project
from orvl.types import Agent

TINY = """
    #!/usr/bin/env node
    console.log(require("tiny-helper") + " " + require("./package.json").version)
"""
POSTINSTALL = "node -e \"require('fs').writeFileSync('seen.json', JSON.stringify(process.env))\""


class Registry:
    """An npm registry on loopback; while `open` is not set, it lets those who ask for a package's content wait."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.versions: dict[str, dict] = {}
        self.asked: list[str] = []
        self.open = threading.Event()
        self.open.set()
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.replace("%2f", "/").replace("%2F", "/")
                registry.asked.append(path)
                if path.endswith(".tgz"):
                    registry.open.wait(60)
                content = registry.answer(path)
                self.send_response(200 if content else 404)
                self.send_header("Content-Type", "text/html" if path.startswith("/simple/") else "application/json")
                self.end_headers()
                self.wfile.write(content or b"{}")

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: object) -> None:
                """A client that was killed is no error here."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def answer(self, path: str) -> bytes | None:
        if path in self.files:
            return self.files[path]
        versions = self.versions.get(path.strip("/"))
        return json.dumps({"name": path.strip("/"), "versions": versions}).encode() if versions else None

    def add(self, name: str, version: str, files: dict[str, str], **more: object) -> None:
        about = {"name": name, "version": version, **more}
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w:gz") as archive:
            for path, text in {"package.json": json.dumps(about), **files}.items():
                member = tarfile.TarInfo(f"package/{path}")
                member.size = len(text.encode())
                archive.addfile(member, io.BytesIO(text.encode()))
        content = data.getvalue()
        path = f"/{name}/-/{name}-{version}.tgz"
        self.files[path] = content
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
        dist = {"tarball": self.address + path, "integrity": integrity}
        self.versions.setdefault(name, {})[version] = {**about, "hasInstallScript": "scripts" in more, "dist": dist}

    @property
    def tarballs(self) -> list[str]:
        return [path for path in self.asked if path.endswith(".tgz")]


@pytest.fixture
def registry():
    made = Registry()
    made.add(
        "tiny-helper", "2.0.0", {"index.js": 'module.exports = "tiny"', "cli.js": "#!/usr/bin/env node\n"}, bin="cli.js"
    )
    for version in ("1.0.0", "1.1.0"):
        made.add(
            "tiny-agent",
            version,
            {"cli.js": TINY.replace("\n    ", "\n").lstrip()},
            bin={"tiny": "cli.js"},
            dependencies={"tiny-helper": "^2.0.0"},
            scripts={"postinstall": POSTINSTALL},
        )
    yield made
    made.open.set()
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def wheels(tmp_path):
    """A folder of wheels: `wheel(name, version, requires_python)` adds one with a program of its name."""
    folder = tmp_path / "wheels"
    folder.mkdir()

    def add(name: str, version: str, requires_python: str = ">=3.8") -> None:
        module = name.replace("-", "_")
        about = f"{module}-{version}.dist-info"
        files = {
            f"{module}.py": f"import platform\ndef main(): print('{name} {version} on', platform.python_version())\n",
            f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Python: {requires_python}\n",
            f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{about}/entry_points.txt": f"[console_scripts]\n{name} = {module}:main\n",
        }
        record = "".join(f"{path},sha256={_hash(text)},{len(text)}\n" for path, text in files.items())
        with zipfile.ZipFile(folder / f"{module}-{version}-py3-none-any.whl", "w") as wheel:
            for path, text in {**files, f"{about}/RECORD": f"{record}{about}/RECORD,,\n"}.items():
                wheel.writestr(path, text)

    add.folder = folder
    return add


def _hash(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


class Machine:
    """The project, and an environment in which npm and pip reach only what was made here."""

    def __init__(self, project, registry, wheels, tmp_path) -> None:
        self.project = project
        self.cache = tmp_path / "cache"
        nothing = tmp_path / "nothing"
        nothing.touch()
        self.env = {
            "ORVL_CACHE": str(self.cache),
            "npm_config_registry": registry.address,
            "npm_config_cache": str(tmp_path / "npm-cache"),
            "npm_config_userconfig": str(nothing),
            "npm_config_fetch_retries": "0",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_EXTRA_INDEX_URL": "",
            "PIP_FIND_LINKS": str(wheels.folder),
        }

    def agent(self, name: str, install: dict, version: list[str] | None = None) -> Path:
        lines = [f"install = {install!r}", 'models = {"none": ["fixed"]}', f"version = {version or []!r}"]
        return self.project.agent(name.replace("-", "_"), "\n".join(lines) + '\ndef command(): return "true"\n')

    def install(self, *words: str, **env: str):
        return self.project.orvl("install", *words, env={**self.env, **env})

    def start(self, *words: str) -> subprocess.Popen:
        return subprocess.Popen(
            [*self.project.command, "install", *words],
            cwd=self.project.root,
            env={**self.project.env, **self.env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def loaded(self, name: str) -> Agent:
        return open_project(self.project.root).agent(name)

    def installed(self, name: str):
        return installed(self.loaded(name))

    def folders(self, name: str) -> list[Path]:
        return [path for path in place_of(self.loaded(name)).iterdir() if path.is_dir()]


@pytest.fixture
def machine(project, registry, wheels, tmp_path, monkeypatch):
    made = Machine(project, registry, wheels, tmp_path)
    monkeypatch.setenv("ORVL_CACHE", str(made.cache))
    made.agent("tiny", {"npm": ["tiny-agent@1.0.0"]}, ["tiny", "--version"])
    return made


def wait_for(what) -> None:
    until = time.monotonic() + 60
    while not what():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)


def test_npm_packages_are_installed_once_recorded_and_cannot_be_changed(machine, registry):
    done = machine.install("tiny")
    assert done.status == 0, done.err
    assert re.match(r"tiny: installed tiny-agent 1\.0\.0 \(\d\.\d MiB\) in .* s, in /", done.out)
    assert "tiny: installing tiny-agent@1.0.0 with npm\n" in done.err
    found = machine.installed("tiny")
    assert found.folder.is_relative_to(machine.cache / "agents" / "tiny")
    assert found.bin == found.folder / "bin"
    assert found.readable == (found.folder,)
    assert found.packages == ("tiny-agent 1.0.0",)
    assert [path.name for path in found.bin.iterdir()] == ["tiny"], "programs of what it depends on are not in PATH"
    ran = subprocess.run([found.bin / "tiny"], capture_output=True, text=True, check=True)
    assert ran.stdout == "tiny 1.0.0\n"
    every = [found.folder, *found.folder.rglob("*")]
    assert len(every) > 10
    assert not [path for path in every if not path.is_symlink() and path.stat().st_mode & 0o222]
    assert found.size == sum(path.stat().st_size for path in every if path.is_file() and not path.is_symlink())

    record = json.loads((place_of(machine.loaded("tiny")) / "installation.json").read_text())
    made_by = record["made_by"]["npm"]
    assert made_by["versions"] == {"tiny-agent": "1.0.0", "tiny-helper": "2.0.0"}
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    assert made_by["runtime"] == f"node {node[1:]}"
    assert made_by["installer"].startswith("npm ")
    assert record["install"] == {"npm": ["tiny-agent@1.0.0"]}
    assert record["says"] == "tiny 1.0.0"
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", found.checksum)

    asked = len(registry.asked)
    again = machine.install("tiny")
    assert again.status == 0
    assert "tiny: tiny-agent 1.0.0 (" in again.out
    assert "is already installed; --fresh installs it again" in again.out
    assert len(registry.asked) == asked
    assert machine.installed("tiny") == found


def test_fresh_installs_again_and_what_was_there_stays_until_then(machine, registry):
    assert machine.install("tiny").status == 0
    first = machine.installed("tiny")
    broken = machine.install("tiny", "--fresh", npm_config_registry="http://127.0.0.1:9", npm_config_offline="true",
                             npm_config_cache=str(machine.cache / "other"))  # fmt: skip
    assert broken.status == 1
    assert machine.installed("tiny") == first
    assert machine.install("tiny", "--fresh").status == 0
    second = machine.installed("tiny")
    assert second.folder != first.folder
    assert second.checksum == first.checksum
    assert (first.bin / "tiny").exists(), "an agent that still runs keeps its files"
    registry.add("tiny-helper", "2.1.0", {"index.js": 'module.exports = "other"'})
    assert machine.install("tiny", "--fresh", npm_config_prefer_online="true").status == 0
    third = machine.installed("tiny")
    assert third.checksum != first.checksum, "what it depends on has changed"
    assert sorted(machine.folders("tiny")) == sorted([second.folder, third.folder])


def test_other_packages_are_another_installation(machine):
    assert machine.install("tiny").status == 0
    first = machine.installed("tiny")
    machine.agent("tiny", {"npm": ["tiny-agent@1.1.0"]}, ["tiny", "--version"])
    assert machine.installed("tiny") is None
    assert machine.install("tiny").status == 0
    assert machine.installed("tiny").packages == ("tiny-agent 1.1.0",)
    assert first.bin.exists()


def test_install_scripts_run_without_the_keys_of_providers(machine):
    assert machine.install("tiny", OPENAI_API_KEY="sk-secret", MY_OWN="kept").status == 0
    seen = json.loads((machine.installed("tiny").folder / "npm/node_modules/tiny-agent/seen.json").read_text())
    assert seen["MY_OWN"] == "kept"
    assert "sk-secret" not in seen.values()
    own = json.loads((machine.installed("tiny").folder / "npm/package.json").read_text())
    assert own["allowScripts"] == {"tiny-agent": True}, "those of what it depends on are left to npm"


def test_pip_packages_get_an_environment_whose_python_stays_out_of_path(machine, wheels):
    wheels("snake", "3.2.1")
    wheels("other", "1.0")
    machine.agent("snake-agent", {"pip": ["snake==3.2.1", "other==1.0"]}, ["snake"])
    done = machine.install("snake-agent", PIP_TARGET="/nowhere", PYTHONPATH="/nowhere")
    assert done.status == 0, done.err
    found = machine.installed("snake-agent")
    assert found.packages == ("snake 3.2.1", "other 1.0")
    assert sorted(path.name for path in found.bin.iterdir()) == ["other", "snake"]
    ran = subprocess.run([found.bin / "snake"], capture_output=True, text=True, check=True)
    assert ran.stdout == f"snake 3.2.1 on {platform.python_version()}\n"
    base = Path(sys.base_prefix)
    assert found.readable == (found.folder, *([] if base.is_relative_to("/usr") else [base]))
    record = json.loads((place_of(machine.loaded("snake-agent")) / "installation.json").read_text())["made_by"]["pip"]
    assert record["runtime"] == f"python {platform.python_version()}"
    assert record["versions"]["snake"] == "3.2.1"
    assert record["installer"] == f"pip {record['versions']['pip']}"
    assert machine.install("snake-agent", "--fresh").status == 0
    again = machine.installed("snake-agent")
    assert again.folder != found.folder
    assert again.checksum == found.checksum


def test_an_agent_may_need_both_installers(machine, wheels):
    wheels("snake", "3.2.1")
    machine.agent("both", {"npm": ["tiny-agent@1.0.0"], "pip": ["snake==3.2.1"]}, ["snake"])
    assert machine.install("both").status == 0
    assert sorted(path.name for path in machine.installed("both").bin.iterdir()) == ["snake", "tiny"]


def test_a_python_that_fits_is_looked_for(machine, wheels):
    pythons = pip._pythons()
    assert next(pythons) == (sys.executable, platform.python_version())
    other = next(pythons, (None, None))[1]
    need(other, "there is only one Python here")
    wheels("snake", "3.2.1", f"!={platform.python_version()}")
    machine.agent("snake", {"pip": ["snake==3.2.1"]}, ["snake"])
    done = machine.install("snake")
    assert done.status == 0, done.err
    assert f"it needs Python !={platform.python_version()}, not {platform.python_version()}" in done.err
    ran = subprocess.run([machine.installed("snake").bin / "snake"], capture_output=True, text=True, check=True)
    assert ran.stdout.split()[-1] == other


@pytest.mark.parametrize("by_index", [False, True])
def test_no_python_fits(machine, wheels, registry, monkeypatch, by_index):
    monkeypatch.setattr(pip, "OTHER_PYTHONS", ())
    wheels("snake", "3.2.1", "<3")
    wheel = "snake-3.2.1-py3-none-any.whl"
    link = f'<a href="/simple/{wheel}" data-requires-python="&lt;3">{wheel}</a>'
    older = link.replace("3.2.1", "0.1").replace("&lt;3", "&lt;2")
    registry.files["/simple/snake/"] = f"{older} {link}".encode()
    for name, value in machine.env.items():
        monkeypatch.setenv(name, value)
    if by_index:
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.delenv("PIP_FIND_LINKS")
        monkeypatch.setenv("PIP_INDEX_URL", f"{registry.address}/simple/")
    machine.agent("snake", {"pip": ["snake==3.2.1"]})
    with pytest.raises(InstallError) as raised:
        install(machine.loaded("snake"), lambda _: None)
    assert str(raised.value) == (
        f"snake==3.2.1 needs Python <3; found only {platform.python_version()}. Put one that it allows into PATH, "
        "such as python3.12."
    )
    assert machine.folders("snake") == []
    assert ("/simple/snake/" in registry.asked) == by_index


@pytest.mark.parametrize(
    ("kind", "package"),
    [
        *(("npm", it) for it in ("tiny-agent", "tiny-agent@latest", "tiny-agent@^1.0.0", "tiny-agent@1", "--global")),
        *(("npm", it) for it in ("tiny@file:../tiny", "https://127.0.0.1/t.tgz", "tiny@npm:other@1.0.0", "@a/b")),
        *(("pip", it) for it in ("snake", "snake>=1", "snake==1.*", "snake @ file:///x", "-rfile", "snake==1,<2")),
    ],
)
def test_what_is_not_pinned_is_refused(machine, registry, kind, package):
    path = machine.agent("loose", {kind: [package]})
    done = machine.install("tiny,loose")
    assert done.status == 2
    example = {"npm": "opencode-ai@1.18.33", "pip": "aider-chat==0.86.2"}[kind]
    assert done.err == (
        f"orvl: {path}:1: 'install' names the {kind} package {package!r} without an exact version; "
        f"write it as {example!r}.\n"
    )
    assert not registry.asked
    assert not machine.cache.exists()


@pytest.mark.parametrize("package", ["@scope/name@1.2.3", "name@0.1.0-beta.1", "a.b_c@10.20.30+build.5"])
def test_what_is_pinned_for_npm(package):
    from orvl.install.npm import PINNED

    assert PINNED.fullmatch(package)["name"] == package.rpartition("@")[0]


@pytest.mark.parametrize("package", ["aider-chat==0.86.2", "Name[extra,more]==1!2.0.post1+local"])
def test_what_is_pinned_for_pip(package):
    assert pip.PINNED.fullmatch(package)["name"] == re.split(r"\[|==", package)[0]


def test_a_failed_install_shows_the_installers_last_words_and_others_go_on(machine):
    machine.agent("absent", {"npm": ["tiny-agent@9.9.9"]})
    done = machine.install("absent", "tiny")
    assert done.status == 1
    assert "orvl: Cannot install absent: npm exited with status 1.\n  npm error" in done.err
    assert "No matching version found for tiny-agent@9.9.9" in done.err
    assert "tiny: installed" in done.out
    assert machine.installed("absent") is None
    assert machine.folders("absent") == []


def test_a_failed_pip_shows_its_last_words(machine, wheels):
    machine.agent("absent", {"pip": ["snake==9.9"]})
    done = machine.install("absent")
    assert done.status == 1
    assert "orvl: Cannot install absent: pip exited with status 1.\n" in done.err
    assert "  ERROR: No matching distribution found for snake==9.9" in done.err
    assert machine.folders("absent") == []


def test_an_agent_that_does_not_start_does_not_count(machine, registry):
    registry.add("bad-agent", "1.0.0", {"cli.js": "#!/usr/bin/env node\nthrow 'no good'\n"}, bin={"bad": "cli.js"})
    machine.agent("bad", {"npm": ["bad-agent@1.0.0"]}, ["bad", "--version"])
    done = machine.install("bad")
    assert done.status == 1
    assert "orvl: bad was installed, but `bad --version` exited with status 1.\n" in done.err
    assert "no good" in done.err
    assert machine.installed("bad") is None
    machine.agent("wrong", {"npm": ["tiny-agent@1.0.0"]}, ["other"])
    assert "Cannot install wrong: its packages have no program 'other', only tiny.\n" in machine.install("wrong").err
    registry.add("library", "1.0.0", {"index.js": ""})
    machine.agent("library", {"npm": ["library@1.0.0"]})
    assert "Cannot install library: its packages have no program.\n" in machine.install("library").err


def test_what_was_killed_half_way_does_not_count_and_is_cleaned_up(machine, registry):
    registry.open.clear()
    process = machine.start("tiny")
    wait_for(lambda: registry.tarballs)
    (half,) = machine.folders("tiny")
    npm = _children(process.pid)
    process.kill()
    process.communicate()
    assert machine.installed("tiny") is None
    assert half.exists()
    assert "no: orvl install tiny" in machine.install().out
    for child in npm:
        os.kill(child, signal.SIGKILL)
    registry.open.set()
    assert machine.install("tiny").status == 0
    assert machine.folders("tiny") == [machine.installed("tiny").folder]
    assert not half.exists()


def test_interrupting_ends_the_installer_and_leaves_nothing(machine, registry):
    registry.open.clear()
    process = machine.start("tiny")
    wait_for(lambda: registry.tarballs)
    npm = _children(process.pid)
    assert npm
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    assert process.returncode == 130
    assert not [child for child in npm if Path(f"/proc/{child}").exists()]
    assert machine.installed("tiny") is None
    assert machine.folders("tiny") == []


def _children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_two_at_once_install_once(machine, registry):
    registry.open.clear()
    first = machine.start("tiny")
    wait_for(lambda: registry.tarballs)
    second = machine.start("tiny")
    assert second.stderr.readline() == "tiny: another orvl is installing it; waiting\n"
    registry.open.set()
    (out, _), (out_of_second, _) = first.communicate(timeout=300), second.communicate(timeout=60)
    assert (first.returncode, second.returncode) == (0, 0)
    assert "tiny: installed" in out
    assert "is already installed" in out_of_second
    assert sorted(registry.tarballs) == ["/tiny-agent/-/tiny-agent-1.0.0.tgz", "/tiny-helper/-/tiny-helper-2.0.0.tgz"]


def test_it_says_that_it_goes_on(machine, registry):
    registry.open.clear()
    process = machine.start("tiny")
    lines = [process.stderr.readline() for _ in range(2)]
    registry.open.set()
    process.communicate(timeout=300)
    assert lines == ["tiny: installing tiny-agent@1.0.0 with npm\n", "tiny: npm has been running for 5 s\n"]


def test_words_and_the_list(machine):
    machine.agent("snake", {"npm": ["tiny-agent@1.1.0"]})
    listed = machine.install()
    assert listed.status == 0
    assert re.search(r"^ *snake +npm: tiny-agent@1\.1\.0 +no: orvl install snake *$", listed.out, re.MULTILINE)
    assert "dummy-good" not in listed.out
    assert machine.install("tin?,s*e").status == 0
    listed = machine.install()
    today = time.strftime("%Y-%m-%d", time.gmtime())
    assert re.search(rf"^ *tiny +npm: tiny-agent@1\.0\.0 +since {today}, \d\.\d MiB *$", listed.out, re.MULTILINE)
    assert re.search(rf"^ *snake +npm: tiny-agent@1\.1\.0 +since {today}, \d\.\d MiB *$", listed.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["tinny"], "There is no agent 'tinny'. Did you mean 'tiny'? See: orvl list agents"),
        (["tiny", "dummy-good"], "dummy-good has nothing to install: "),
        (["dummy-*"], "No agent that matches 'dummy-*' has anything to install. See: orvl install"),
        ([","], "The agent is empty: ','. Write `all` to mean all."),
        (["--fresh"], "Name the agents, or write: orvl install all --fresh"),
        (["tiny", "--fresh", "--remove"], "--fresh and --remove exclude each other."),
    ],
)
def test_mistakes_in_the_call(machine, registry, words, sentence):
    done = machine.install(*words)
    assert done.status == 2
    assert done.err.startswith(f"orvl: {sentence}")
    assert done.err.count("\n") == 1
    assert not registry.asked


def test_remove_deletes_it(machine):
    assert machine.install("tiny", "--remove").out == "tiny: was not installed\n"
    assert machine.install("tiny").status == 0
    assert machine.install("tiny", "--remove").out == "tiny: deleted\n"
    assert machine.installed("tiny") is None
    assert machine.folders("tiny") == []


def test_without_npm(machine, project, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").symlink_to(shutil.which("git"))
    path = str(tmp_path / "bin")
    done = machine.install("tiny", PATH=path)
    assert done.status == 1
    missing = "node and npm not in PATH; install Node.js, which includes both"
    assert done.err == f"orvl: Cannot install tiny: {missing}.\n"
    assert "no: node and npm not in PATH" in " ".join(machine.install(PATH=path).out.split())
    seen = project.orvl("doctor", env={**machine.env, "PATH": path})
    assert f"is not in PATH; tiny-agent@1.0.0 not installed by orvl: {missing}\n" in seen.out


def test_the_doctor_tells_what_is_installed(machine, project):
    before = project.orvl("doctor", env=machine.env).out
    hint = "install it with: orvl install tiny"
    line = (
        f"missing  agent tiny is not installed: 'tiny' is not in PATH; tiny-agent@1.0.0 not installed by orvl: {hint}\n"
    )
    assert line in before
    assert machine.install("tiny").status == 0
    machine.agent("loose", {"npm": ["tiny-agent"]})
    after = project.orvl("doctor", env=machine.env).out
    assert re.search(r"  agent tiny.*; tiny-agent 1\.0\.0 installed since \d{4}-\d\d-\d\d, \d\.\d MiB$", after, re.M)
    assert re.search(r"^ +wrong  .*/agents/loose\.py:1: 'install' names the npm package 'tiny-agent'", after, re.M)


@pytest.mark.parametrize("harm", ["no folder", "other format", "not JSON", "a list", "no base", "moved"])
def test_what_is_harmed_does_not_count(machine, tmp_path, monkeypatch, harm):
    assert machine.install("tiny").status == 0
    found = machine.installed("tiny")
    record = place_of(machine.loaded("tiny")) / "installation.json"
    data = json.loads(record.read_text())
    if harm == "no folder":
        found.folder.rename(found.folder.parent / "gone")
    elif harm == "moved":
        machine.cache.rename(tmp_path / "elsewhere")
        monkeypatch.setenv("ORVL_CACHE", str(tmp_path / "elsewhere"))
    elif harm == "no base":
        record.write_text(json.dumps({**data, "readable": [*data["readable"], "/no/such/python"]}))
    else:
        record.write_text({"other format": json.dumps({**data, "format": 99}), "not JSON": "{", "a list": "[]"}[harm])
    assert machine.installed("tiny") is None


def test_a_cache_that_cannot_be_written(machine):
    machine.cache.write_text("a file")
    done = machine.install("tiny")
    assert done.status == 1
    assert re.fullmatch(rf"orvl: Cannot install tiny: not a directory at {machine.cache}\S*\.\n", done.err)


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.delenv("ORVL_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache() == tmp_path / ".cache/orvl"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache() == tmp_path / ".cache/orvl"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache() == tmp_path / "xdg/orvl"
    monkeypatch.setenv("ORVL_CACHE", "~/own")
    assert cache() == tmp_path / "own"


def test_asking_what_is_installed_is_quick(machine):
    assert machine.install("tiny").status == 0
    agent = machine.loaded("tiny")
    began = time.process_time()
    for _ in range(200):
        assert installed(agent)
    assert time.process_time() - began < 2
