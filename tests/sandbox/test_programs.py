"""A program of a user's home starts inside bubblewrap with only its own installation; the rest of the home stays out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from orvl.sandbox.programs import ProgramFiles, installation, together, visible_path

SYSTEM = "/usr/local/bin:/usr/bin:/bin"
PYTHON = Path(os.path.realpath(sys.executable))
SITE = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
SECRETS = (
    ".secret",
    ".ssh/id_rsa",
    ".config/other/token",
    ".cargo/credentials.toml",
    ".npm/_logs/log",
    ".local/share/other/auth.json",
    ".local/lib/other/data",
    "project/eval.md",
)
NODE = '#!/bin/sh\nscript=$(readlink -f "$1")\ncat "$script" "${script%/*}/../package.json"\n'
MODULE = "#!/usr/bin/env node\nmodule\n"


class Home:
    """A user's home, with secrets in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "project"
        self.closed = [root, self.project]
        for secret in SECRETS:
            self.write(secret, "secret")

    def write(self, path: str, text: str, mode: int = 0o644) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("HOME_FOLDER", str(self.root)))
        file.chmod(mode)
        return file

    def program(self, path: str, text: str = "#!/bin/sh\necho started\n") -> Path:
        return self.write(path, text, 0o755)

    def link(self, path: str, text: str | Path) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(text)
        return place

    def search(self, program: Path, *folders: str) -> str:
        return ":".join([str(program.parent), *(str(self.root / folder) for folder in folders), SYSTEM])

    def seen(self, program: Path, *folders: str) -> ProgramFiles:
        seen = installation(program, self.search(program, *folders), self.closed)
        check_shape(seen, self.closed)
        return seen

    def start(self, program: Path, *folders: str) -> str:
        """Starts a program by its name inside, and shows that no secret is there."""
        seen, search = self.seen(program, *folders), self.search(program, *folders)
        assert self.secrets(seen) == ""
        return inside(seen, search, program.name)

    def secrets(self, seen: ProgramFiles) -> str:
        look = 'for file; do if test -e "$file"; then echo "$file"; fi; done'
        return inside(seen, SYSTEM, "sh", "-c", look, "sh", *(str(self.root / secret) for secret in SECRETS))

    def below(self, seen: ProgramFiles) -> list[str]:
        return [str(path.relative_to(self.root)) for path in seen.paths if path.is_relative_to(self.root)]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def inside(seen: ProgramFiles, search: str, *argv: str) -> str:
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib64"):
        command += ["--symlink", f"usr/{name}", f"/{name}"]
    command += ["--ro-bind-try", "/opt", "/opt", "--ro-bind-try", "/etc/alternatives", "/etc/alternatives"]
    command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/home/agent", "--clearenv"]
    for name, value in {"HOME": "/home/agent", "PATH": visible_path(search, seen), **seen.env}.items():
        command += ["--setenv", name, value]
    for path in seen.paths:
        command += ["--ro-bind", str(path), str(path)]
    for place, text in seen.links:
        command += ["--symlink", text, str(place)]
    done = subprocess.run([*command, "--", *argv], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, (done.stderr, seen)
    return done.stdout


def check_shape(seen: ProgramFiles, closed: list[Path]) -> None:
    for path in seen.paths:
        assert not any(folder.is_relative_to(path) for folder in closed), path
        assert not any(other != path and other.is_relative_to(path) for other in seen.paths), path
        assert not any(place.is_relative_to(path) for place, _ in seen.links), path


# What needs nothing, and what leads nowhere.


@pytest.mark.parametrize("name", ["sh", "env", "ls"])
def test_a_program_of_the_system_needs_nothing(name):
    assert installation(Path("/usr/bin") / name, SYSTEM) == ProgramFiles()
    assert installation(Path("/bin") / name, SYSTEM, [Path("/root")]) == ProgramFiles()


def test_what_leads_nowhere_is_no_error(home):
    loop = home.link("bin/loop", "pool")
    home.link("bin/pool", "loop")
    itself = home.link("bin/self", "self/self")
    broken = home.link("bin/broken", "../gone/tool")
    for program in (loop, itself, broken, home.root / "bin/absent", home.root, Path("/nul\0/x")):
        assert home.seen(program) == ProgramFiles()


def test_a_script_without_its_interpreter_is_no_error(home):
    lines = ("#!", "#!/usr/bin/env", "#!/usr/bin/env -S", "#! /gone/tool -x", "#!/usr/bin/env gone", "#!/a\0b")
    for number, line in enumerate(lines):
        program = home.program(f"bin/tool-{number}", line + "\n")
        assert home.below(home.seen(program)) == [f"bin/{program.name}"]


def test_scripts_that_name_each_other_end(home):
    one = home.program(".local/bin/one", '#!/bin/sh\nexec "HOME_FOLDER/.local/bin/two"\n')
    home.program(".local/bin/two", "#!/bin/sh\nexec one\n")
    assert home.below(home.seen(one)) == [".local/bin/one", ".local/bin/two"]


def test_an_unreadable_program_is_bound_alone(home):
    program = home.program(".local/bin/tool")
    program.chmod(0o111)
    assert home.below(home.seen(program)) == [".local/bin/tool"]


def test_a_secret_that_comes_along_would_be_noticed(home):
    assert len(home.secrets(ProgramFiles((home.root,))).splitlines()) == len(SECRETS)


# Single files and folders.


@pytest.mark.parametrize(
    "folder", [".local/bin", "bin", ".cargo/bin", "go/bin", "Downloads", ".config", ".local/share"]
)
def test_a_file_in_a_common_folder_is_bound_alone(home, folder):
    program = home.program(f"{folder}/tool")
    home.program(f"{folder}/neighbour")
    assert home.start(program) == "started\n"
    assert home.below(home.seen(program)) == [f"{folder}/tool"]


def test_a_program_finds_what_lies_in_its_own_prefix(home):
    program = home.program("apps/tool-1.2/bin/tool", "#!/bin/sh\ncat ${0%/*}/../lib/data\n")
    home.write("apps/tool-1.2/lib/data", "data")
    assert home.start(program) == "data"
    assert home.below(home.seen(program)) == ["apps/tool-1.2"]


def test_a_program_finds_what_lies_in_its_own_folder(home):
    home.program(".local/share/foo/foo.py", '#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/data"\n')
    home.write(".local/share/foo/data", "data")
    link = home.link(".local/bin/foo", "../share/foo/foo.py")
    assert home.start(link) == "data"
    assert home.below(home.seen(link)) == [".local/share/foo"]


def test_a_binary_linked_from_its_versions(home):
    target = home.root / ".local/share/agent/versions/1.2.3"
    target.parent.mkdir(parents=True)
    shutil.copy("/usr/bin/echo", target)
    link = home.link(".local/bin/agent", target)
    assert home.start(link) == "\n"
    assert home.below(home.seen(link)) == [".local/share/agent/versions"]


@pytest.mark.parametrize("folder", [".agent", ".config/agent", ".local/share/agent", "apps/agent"])
def test_secrets_beside_a_program_stay_out(home, folder):
    program = home.program(f"{folder}/bin/agent", "#!/bin/sh\nls ${0%/*}/..; cat ${0%/*}/../lib/data\n")
    home.write(f"{folder}/lib/data", "data")
    home.write(f"{folder}/auth.json", "secret")
    home.write(f"{folder}/.env", "secret")
    home.write(f"{folder}/history/one", "secret")
    assert home.start(program) == "bin\nlib\ndata"


@pytest.mark.parametrize(
    "name", ["auth.json", ".credentials.json", "oauth_creds.json", ".env.local", "x.pem", ".npmrc"]
)
def test_what_looks_like_a_secret_stays_out(home, name):
    program = home.program("apps/agent/bin/agent")
    home.write(f"apps/agent/{name}", "secret")
    assert home.below(home.seen(program)) == ["apps/agent/bin"]


@pytest.mark.parametrize("name", ["tokenizer.json", "secrets.py", "auth", "config.js", "keys.js"])
def test_what_only_sounds_like_a_secret_comes_along(home, name):
    program = home.program("apps/agent/bin/agent")
    home.write(f"apps/agent/{name}", "code")
    assert home.below(home.seen(program)) == ["apps/agent"]


# Closed folders.


def test_a_closed_folder_and_what_holds_it_are_never_bound(home, tmp_path):
    program = home.program("apps/agent/bin/agent")
    search = home.search(program)
    for closed in (tmp_path, home.root / "apps", home.root / "apps/agent", home.root / "apps/agent/work/x"):
        seen = installation(program, search, [home.root, closed])
        check_shape(seen, [home.root, closed])
        assert home.below(seen) == (["apps/agent/bin/agent"] if "agent" in str(closed) else ["apps/agent"])


def test_a_closed_folder_is_known_by_its_other_name(home, tmp_path):
    program = home.program("apps/agent/bin/agent")
    alias = tmp_path / "alias"
    alias.symlink_to(home.root / "apps/agent")
    assert home.below(installation(program, SYSTEM, [home.root, alias])) == ["apps/agent/bin/agent"]


def test_a_home_behind_a_link_is_shown_under_its_name(home, tmp_path):
    home.program(".local/share/foo/bin/foo")
    home.link(".local/bin/foo", "../share/foo/bin/foo")
    alias = tmp_path / "alias"
    alias.symlink_to(home.root)
    seen = installation(alias / ".local/bin/foo", SYSTEM, [alias])
    assert seen.paths == (alias / ".local/share/foo",)
    assert seen.links == ((alias / ".local/bin/foo", "../share/foo/bin/foo"),)
    assert inside(seen, f"{alias}/.local/bin:{SYSTEM}", "foo") == "started\n"


def test_a_virtual_environment_around_a_closed_folder_shows_only_its_parts(home):
    home.closed.append(home.root / "work-env/project")
    home.write("work-env/project/eval.md", "secret")
    venv.create(home.root / "work-env", with_pip=False, symlinks=True)
    assert home.start(home.program("work-env/bin/tool", python(home.root / "work-env", "print('hi')"))) == "hi\n"


# Links.


def test_links_are_made_anew_one_by_one(home):
    home.program("apps/tool-2/tool")
    home.link("apps/current", "tool-2")
    home.link("links/tool", home.root / "apps/current/tool")
    folder = home.link("bin", ".local/bin")
    home.link(".local/bin/tool", "../../links/tool")
    assert home.start(folder / "tool") == "started\n"
    seen = home.seen(folder / "tool")
    assert home.below(seen) == ["apps/tool-2"]
    assert [str(place.relative_to(home.root)) for place, _ in seen.links] == [
        ".local/bin/tool",
        "apps/current",
        "bin",
        "links/tool",
    ]


def test_a_link_into_the_system_needs_only_itself(home):
    link = home.link(".local/bin/tool", "/usr/bin/true")
    assert home.start(link) == ""
    assert home.seen(link) == ProgramFiles(links=((link, "/usr/bin/true"),))


@pytest.mark.parametrize("line", ["env tool", "env -S tool --flag", "env -S A=1 tool", "env -Stool"])
def test_an_interpreter_is_found_in_the_search_path(home, line):
    home.program("apps/tool/bin/tool")
    program = home.program(".local/bin/script", f"#!/usr/bin/{line}\n")
    assert home.start(program, "apps/tool/bin") == "started\n"
    assert home.below(home.seen(program, "apps/tool/bin")) == [".local/bin/script", "apps/tool"]


# Python.


def python(prefix: Path, code: str) -> str:
    return f"#!{prefix}/bin/python\n{code}\n"


def test_a_virtual_environment_comes_with_its_python(home):
    root = home.root / ".local/share/pipx/venvs/tool"
    venv.create(root, with_pip=False, symlinks=True)
    home.write(f".local/share/pipx/venvs/tool/{SITE}/module.py", "name = 'module'")
    home.program(".local/share/pipx/venvs/tool/bin/tool", python(root, "import json, module; print(module.name)"))
    link = home.link(".local/bin/tool", root / "bin/tool")
    assert home.start(link) == "module\n"
    assert home.below(home.seen(link)) == [".local/share/pipx/venvs/tool"]


def test_the_python_of_a_virtual_environment_is_that_environment(home):
    root = home.root / "env"
    venv.create(root, with_pip=False, symlinks=True)
    seen = home.seen(root / "bin/python")
    code = "import sys; print(sys.prefix)"
    assert inside(seen, home.search(root / "bin/python"), "python", "-c", code) == f"{root}\n"


@pytest.mark.parametrize("folder", [".local/share/uv/tools/tool", ".venv", "project/.venv"])
def test_the_python_that_an_environment_is_built_on_is_a_prefix_of_its_own(home, folder):
    base = ".local/share/uv/python/cpython-3.99"
    text = "#!/bin/sh\nbase=$(readlink -f $0)\ncat ${base%/*}/../lib/python3.99/os.py\n"
    home.program(f"{base}.1/bin/python3.99", text)
    home.write(f"{base}.1/lib/python3.99/os.py", "library")
    home.link(base, "cpython-3.99.1")
    program = home.link(f"{folder}/bin/python", home.root / base / "bin/python3.99")
    home.write(f"{folder}/pyvenv.cfg", f"home = HOME_FOLDER/{base}/bin\n")
    assert home.start(program) == "library"
    whole = [folder] if folder.startswith(".local") else [f"{folder}/bin", f"{folder}/pyvenv.cfg"]
    assert home.below(home.seen(program)) == sorted([f"{base}.1", *whole])


def test_a_python_in_a_common_prefix_comes_with_its_library_only(home):
    program = home.program(".local/bin/python3.99", "#!/bin/sh\ncat ${0%/*}/../lib/python3.99/os.py\n")
    home.write(".local/lib/python3.99/os.py", "library")
    assert home.start(program) == "library"
    assert home.below(home.seen(program)) == [".local/bin/python3.99", ".local/lib/python3.99"]


def test_a_script_of_pip_install_user_finds_its_packages(home):
    home.write(f".local/{SITE}/module.py", "name = 'module'")
    program = home.program(".local/bin/tool", f"#!{PYTHON}\nimport module; print(module.name)\n")
    assert home.start(program) == "module\n"
    seen = home.seen(program)
    assert home.below(seen) == [".local/bin/tool", f".local/{SITE}"]
    assert seen.env == {"PYTHONUSERBASE": str(home.root / ".local")}


def test_a_shebang_too_long_for_the_system_is_followed(home):
    root = home.root / "with space"
    venv.create(root, with_pip=False, symlinks=True)
    text = f"#!/bin/sh\n'''exec' \"{root}/bin/python\" \"$0\" \"$@\"\n' '''\nprint('started')\n"
    assert home.start(home.program(".local/bin/tool", text)) == "started\n"


# Node.


def test_a_node_prefix_of_its_own_is_bound_whole(home):
    prefix = ".nvm/versions/node/v20.1.0"
    home.program(f"{prefix}/bin/node", NODE)
    home.program(f"{prefix}/lib/node_modules/@scope/agent/dist/cli.js", MODULE)
    home.write(f"{prefix}/lib/node_modules/@scope/agent/package.json", "{}")
    link = home.link(f"{prefix}/bin/agent", "../lib/node_modules/@scope/agent/dist/cli.js")
    assert home.start(link) == f"{MODULE}{{}}"
    assert home.below(home.seen(link)) == [prefix]
    assert home.below(home.seen(home.root / prefix / "bin/node")) == [prefix]


@pytest.mark.parametrize("prefix", [".local", ".npm-global"])
def test_a_package_in_a_shared_prefix_is_bound_alone(home, prefix):
    home.program("apps/node/bin/node", NODE)
    home.program(f"{prefix}/lib/node_modules/@scope/agent/dist/cli.js", MODULE)
    home.write(f"{prefix}/lib/node_modules/@scope/agent/package.json", "{}")
    home.write(f"{prefix}/lib/node_modules/@scope/other/package.json", "{}")
    link = home.link(f"{prefix}/bin/agent", "../lib/node_modules/@scope/agent/dist/cli.js")
    assert home.start(link, "apps/node/bin") == f"{MODULE}{{}}"
    assert home.below(home.seen(link, "apps/node/bin")) == [f"{prefix}/lib/node_modules/@scope/agent", "apps/node"]


def test_a_node_unpacked_into_a_common_prefix_is_bound_alone(home):
    program = home.program(".local/bin/node")
    home.write(".local/lib/node_modules/npm/package.json", "{}")
    assert home.below(home.seen(program)) == [".local/bin/node"]
    home.program(".local/lib/node_modules/npm/bin/npm", MODULE)
    npm = home.link(".local/bin/npm", "../lib/node_modules/npm/bin/npm")
    assert home.start(npm) == "started\n"
    assert home.below(home.seen(npm)) == [".local/bin/node", ".local/lib/node_modules/npm"]


def test_a_registrys_token_in_a_node_prefix_stays_out(home):
    program = home.program("n/bin/node")
    home.write("n/lib/node_modules/npm/package.json", "{}")
    home.write("n/etc/npmrc", "secret")
    assert home.below(home.seen(program)) == ["n/bin", "n/lib"]


@pytest.mark.parametrize("modules", [".bun/install/global/node_modules", ".config/yarn/global/node_modules"])
def test_packages_that_share_their_dependencies_come_together(home, modules):
    home.program(".local/bin/node", NODE)
    home.program(f"{modules}/agent/dist/cli.js", MODULE)
    home.write(f"{modules}/agent/package.json", "{}")
    home.link(f"{modules}/.bin/agent", "../agent/dist/cli.js")
    link = home.link(".bun/bin/agent", home.root / modules / ".bin/agent")
    assert "module" in home.start(link, ".local/bin")
    assert home.below(home.seen(link, ".local/bin")) == sorted([modules, ".local/bin/node"])


def test_a_package_of_pnpm_comes_with_the_global_folder(home):
    home.program("apps/node/bin/node", NODE)
    store = ".local/share/pnpm/global/5/.pnpm/agent@1/node_modules/agent"
    home.program(f"{store}/dist/cli.js", MODULE)
    home.write(f"{store}/package.json", "{}")
    home.link(".local/share/pnpm/global/5/node_modules/agent", "../.pnpm/agent@1/node_modules/agent")
    shim = '#!/bin/sh\nbasedir=$(dirname "$(echo "$0" | sed -e \'s,x,x,g\')")\n'
    shim += 'exec node  "$basedir/global/5/node_modules/agent/dist/cli.js" "$@"\n'
    program = home.program(".local/share/pnpm/agent", shim)
    assert home.start(program, "apps/node/bin") == f"{MODULE}{{}}"
    link = home.link(".local/bin/direct", home.root / ".local/share/pnpm/global/5/node_modules/agent/dist/cli.js")
    assert home.below(home.seen(link, "apps/node/bin")) == [".local/share/pnpm/global/5", "apps/node"]


def test_a_package_that_is_linked_from_its_checkout_is_bound_alone(home):
    home.program("apps/node/bin/node", NODE)
    home.program("src/agent/dist/cli.js", MODULE)
    home.write("src/agent/package.json", "{}")
    home.write("src/other/code", "code")
    home.link(".npm-global/lib/node_modules/agent", "../../../src/agent")
    link = home.link(".npm-global/bin/agent", "../lib/node_modules/agent/dist/cli.js")
    assert home.start(link, "apps/node/bin") == f"{MODULE}{{}}"
    assert home.below(home.seen(link, "apps/node/bin")) == ["apps/node", "src/agent"]


# Launchers that look into the home.


@pytest.mark.parametrize(
    ("root", "name"),
    [(".pyenv", "PYENV_ROOT"), (".rbenv", "RBENV_ROOT"), (".nodenv", "NODENV_ROOT"), (".asdf", "ASDF_DATA_DIR")],
)
def test_a_version_manager_is_bound_whole_with_its_variable(home, root, name):
    shim = home.program(
        f"{root}/shims/tool", f'#!/usr/bin/env bash\nexec "HOME_FOLDER/{root}/libexec/manager" exec tool\n'
    )
    home.program(f"{root}/libexec/manager", f'#!/bin/sh\nexec "${{{name}}}/versions/1/bin/tool"\n')
    home.program(f"{root}/versions/1/bin/tool")
    assert home.start(shim) == "started\n"
    seen = home.seen(shim)
    assert home.below(seen) == [root]
    assert seen.env == {name: str(home.root / root)}


@pytest.mark.parametrize(
    ("root", "shims", "name"),
    [(".local/share/mise", "shims", "MISE_DATA_DIR"), (".volta", "bin", "VOLTA_HOME")],
)
def test_a_launcher_by_link_is_bound_with_its_manager(home, root, shims, name):
    home.program(".local/bin/launcher", f'#!/bin/sh\nexec "${{{name}}}/installs/${{0##*/}}/1/bin/${{0##*/}}"\n')
    home.program(f"{root}/installs/tool/1/bin/tool")
    link = home.link(f"{root}/{shims}/tool", home.root / ".local/bin/launcher")
    assert home.start(link) == "started\n"
    seen = home.seen(link)
    assert home.below(seen) == sorted([".local/bin/launcher", root])
    assert seen.env == {name: str(home.root / root)}


@pytest.mark.parametrize("hard", [True, False])
def test_a_launcher_of_rustup_comes_with_its_toolchains_but_not_with_credentials(home, hard):
    rustup = home.program(".cargo/bin/rustup", '#!/bin/sh\nexec "$RUSTUP_HOME/toolchains/mine/bin/${0##*/}"\n')
    home.program("src/rust/stage1/bin/cargo")
    home.link(".rustup/toolchains/mine", home.root / "src/rust/stage1")
    cargo = home.root / ".cargo/bin/cargo"
    if hard:
        cargo.hardlink_to(rustup)
    else:
        cargo.symlink_to("rustup")
    assert home.start(cargo) == "started\n"
    seen = home.seen(cargo)
    assert home.below(seen) == [f".cargo/bin/{'cargo' if hard else 'rustup'}", ".rustup", "src/rust/stage1"]
    assert seen.env == {"RUSTUP_HOME": str(home.root / ".rustup")}


def test_homebrew_is_bound_whole(home):
    home.program("brew/.linuxbrew/bin/brew")
    home.program("brew/.linuxbrew/Cellar/tool/1/bin/tool", "#!/bin/sh\ncat HOME_FOLDER/brew/.linuxbrew/opt/lib/data\n")
    home.write("brew/.linuxbrew/opt/lib/data", "data")
    link = home.link("brew/.linuxbrew/bin/tool", "../Cellar/tool/1/bin/tool")
    assert home.start(link) == "data"


# Wrapper scripts.


@pytest.mark.parametrize(
    "text",
    [
        'exec "HOME_FOLDER/.local/share/foo/bin/foo" "$@"',
        "HOME_FOLDER/.local/share/foo/bin/foo",
        'exec "$HOME/.local/share/foo/bin/foo" "$@"',
        "exec ${HOME}/.local/share/foo/bin/foo",
        "exec ~/.local/share/foo/bin/foo",
        'root="$HOME/.local/share/foo"\nexec "$root/bin/foo"',
        'exec "${FOO_ROOT:-$HOME/.local/share/foo}/bin/foo"',
        'exec "$(cd "$(dirname "$0")" && pwd)/../share/foo/bin/foo"',
        'exec "${0%/*}/../share/foo/bin/foo"',
        'sh "HOME_FOLDER/.local/share/foo/main.js"',
    ],
)
def test_what_a_wrapper_names_comes_along(home, text):
    home.program(".local/share/foo/bin/foo", '#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/../lib/data"\n')
    home.write(".local/share/foo/lib/data", "data")
    home.write(".local/share/foo/main.js", "cat ${0%/*}/lib/data")
    wrapper = home.program(".local/bin/foo", f"#!/bin/sh\n# see HOME_FOLDER/.local/bin/other\n{text}\n")
    home.program(".local/bin/other")
    assert home.start(wrapper) == "data"
    assert home.below(home.seen(wrapper)) == [".local/bin/foo", ".local/share/foo"]


def test_the_programs_that_a_wrapper_calls_by_name_come_along(home):
    home.program("apps/tool/bin/tool")
    wrapper = home.program(".local/bin/foo", "#!/bin/bash\nset -e\nif true; then exec tool; fi\n")
    assert home.start(wrapper, "apps/tool/bin") == "started\n"


def test_a_wrapper_does_not_bring_what_it_cannot_run(home):
    text = '#!/bin/sh\n. "$HOME/.secret"\ncat "HOME_FOLDER/.ssh/id_rsa" HOME_FOLDER/.config HOME_FOLDER\n'
    assert home.below(home.seen(home.program(".local/bin/foo", text))) == [".local/bin/foo"]


# Several programs, and their PATH.


def test_installations_together_are_not_nested():
    one = ProgramFiles((Path("/a/b/c"), Path("/x")), ((Path("/a/b/link"), "c"), (Path("/l"), "x")), {"A": "1"})
    two = ProgramFiles((Path("/a/b"), Path("/x")), ((Path("/l"), "x"),), {"A": "2", "B": "2"})
    both = together([one, two])
    assert both == ProgramFiles((Path("/a/b"), Path("/x")), ((Path("/l"), "x"),), {"A": "1", "B": "2"})
    assert together([both]) == both
    assert together([]) == ProgramFiles()


def test_a_path_keeps_its_order_and_only_what_is_seen(home):
    home.program("apps/tool/bin/tool")
    home.link("apps/current", "tool")
    link = home.link(".local/bin/tool", "../../apps/current/bin/tool")
    (home.root / ".pyenv/shims").mkdir(parents=True)
    folders = [".pyenv/shims", "apps/current/bin", ".local/bin", ".local/bin", "apps/tool/bin", "absent"]
    mine = {folder: str(home.root / folder) for folder in folders}
    search = ":".join(["/usr/bin", *(str(home.root / folder) for folder in folders), "", ".", "bin", "/bin", "/var/x"])
    seen = installation(link, search, home.closed)
    kept = ["/usr/bin", mine["apps/current/bin"], mine[".local/bin"], mine["apps/tool/bin"], "/bin"]
    assert visible_path(search, seen).split(":") == kept
    assert visible_path(search, ProgramFiles()) == "/usr/bin:/bin"
