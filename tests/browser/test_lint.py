"""A project's own linters on what an agent did: the real tools, in a real sandbox."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import subprocess
import time
from dataclasses import dataclass, replace
from textwrap import dedent

import pytest

from orvl.capture.lint import editorconfig
from orvl.capture.lint.configs import configs_of, edits
from orvl.capture.lint.linter import LintIssue, LintOutput
from orvl.capture.lint.registry import LINTERS, roots_of
from orvl.capture.lint.report import FileMark, LintReport, LintSide, adherence
from orvl.capture.lint.rules import rules_of
from orvl.capture.lint.run import lint
from orvl.capture.lint.suppressions import suppressions
from orvl.capture.lint.workspace import MAX_FILE, Workspace, changed, looked_at
from orvl.errors import Interrupted, LinterFailed
from orvl.project.settings import Limits
from orvl.sandbox.backends import Slot
from orvl.sandbox.config import sandbox_config
from orvl.sandbox.workdir import WorkDir
from orvl.store import tree

MADE_ONCE = ("modules",)

RUFF = '[tool.ruff]\nline-length = 60\n[tool.ruff.lint]\nselect = ["E", "F"]\n'
CLEAN = '"""Words."""\n\n\ndef greet(name):\n    return "hello " + name\n'
UNUSED = "import os\n" + CLEAN
FLAT = 'export default [{ rules: { "no-unused-vars": "error", eqeqeq: "error" } }];\n'
TYPES = '{"compilerOptions": {"strict": true, "noEmit": true, "skipLibCheck": true, "types": []}}\n'
UNUSED_PARTS = re.compile(r"\.(?:map|md|d\.mts)$|typescript/lib/(?:typescript|_tsserver|_typingsInstaller)\.js$")
BLOBS: dict[str, bytes] = {}


def keep(fd, size):
    content = os.pread(fd, size + 1, 0)
    name = hashlib.sha256(content).hexdigest()
    BLOBS[name] = content
    return name


def write(name, fd, _size):
    os.write(fd, BLOBS[name])


def space(files: dict[str, str | bytes], *more: tree.Entry) -> Workspace:
    """A workspace of some files, as a capture has it."""
    entries = {entry.path: entry for entry in more}
    for path, content in files.items():
        data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
        name = hashlib.sha256(data).hexdigest()
        BLOBS[name] = data
        parts = path.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            entries.setdefault(folder, tree.Entry(folder, "folder", 0o755))
        entries[path] = tree.Entry(path, "file", 0o644, len(data), name)
    return Workspace(sorted(entries.values(), key=lambda entry: entry.path.split("/")), BLOBS.__getitem__)


@pytest.fixture(scope="module")
def look(tmp_path_factory):
    """Runs the linters of two workspaces in bubblewrap, as runs do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("tmp")))
        patch.setattr("tempfile.tempdir", None)
        work = WorkDir()

        def run(before: Workspace, after: Workspace, kind="bubblewrap") -> LintReport:
            async def go():
                around = sandbox_config(work.root, [], [])
                slot = Slot(kind, around, work.lock_fd)
                try:
                    return await lint(before, after, slot.walled, work.new, Limits(), write)
                finally:
                    await slot.close()

            report = asyncio.run(go())
            assert LintReport.from_json(json.loads(json.dumps(report.to_json()))) == report
            assert not [path for path in work.root.iterdir() if path.name not in ("etc", "dev")], "folders are left"
            return report

        yield run
        work.close()


@pytest.fixture(scope="session")
def modules(tmp_path_factory) -> Workspace:
    """eslint, prettier and typescript, installed by npm once."""
    root = tmp_path_factory.mktemp("npm")
    (root / "package.json").write_text("{}")
    words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "eslint@9", "prettier@3", "typescript@5"]
    subprocess.run(words, cwd=root, check=True, capture_output=True, timeout=300)
    entries, cut = tree.scan(root, keep, tree.TreeLimits())
    assert not cut
    needed = [
        entry for entry in entries if entry.path.startswith("node_modules") and not UNUSED_PARTS.search(entry.path)
    ]
    return Workspace(needed, BLOBS.__getitem__)


def rules(found):
    return sorted((one.tool, one.path, one.rule) for one in found)


# -- what every linter must do


@dataclass(frozen=True)
class Case:
    config: tuple[str, str]
    path: str
    clean: str
    bad: str
    rule: str
    comment: str | None
    broken: str


CASES = {
    "ruff": Case(("ruff.toml", 'lint.select = ["F"]\n'), "a.py", CLEAN, UNUSED, "F401", "# noqa", "[lint\n"),
    "ruff format": Case(
        ("ruff.toml", "[format]\n"), "a.py", "x = 1\n", "x  =  1\n", "format", "# fmt: off", "[format\nx"
    ),
    "eslint": Case(
        ("eslint.config.mjs", FLAT),
        *("a.js", "f();\n", "const unused = 1;\n", "no-unused-vars", "/* eslint-disable */", "export default ["),
    ),
    "prettier": Case((".prettierrc", "{}\n"), "a.js", "f();\n", "f( )\n", "format", "// prettier-ignore", "{x\n"),
    "tsc": Case(
        ("tsconfig.json", TYPES),
        *("a.ts", "export const a: number = 1;\n", "export const a: number = '';\n", "TS2322", "// @ts-nocheck", "{x"),
    ),
    "editorconfig": Case(
        (".editorconfig", "[*]\ntrim_trailing_whitespace = true\n"),
        *("a.txt", "x\n", "x \n", "trim_trailing_whitespace", None, "nonsense\n"),
    ),
}


@pytest.mark.parametrize("name", LINTERS)
def test_every_linter_is_recognised_run_and_read(look, request, name):
    case, installed = CASES[name], ()
    if LINTERS[name].npm_package:
        installed = request.getfixturevalue("modules").entries
    start = dict([case.config])
    assert name in [root.name for root in roots_of(space(start))]
    assert not LINTERS[name].roots(space({case.path: case.bad}))

    def report(files):
        return look(space(start, *installed), space(files, *installed))

    clean = report(start | {case.path: case.clean})
    assert [(use.ran, use.files) for use in clean.tools if use.name == name] == [(True, 1)], clean.tools
    assert (clean.new, clean.score) == ((), 1.0)
    assert (name, case.path, case.rule) in rules(report(start | {case.path: case.bad}).new)
    loosened = report({case.config[0]: case.broken, case.path: case.bad})
    assert (name, case.path, case.rule) in rules(loosened.new)
    assert "does not run: " in loosened.cap
    assert [edit.path for edit in loosened.edits] == [case.config[0]]


@pytest.mark.parametrize("name", LINTERS)
def test_a_comment_that_turns_a_linter_off_is_an_issue_of_it(name):
    case = CASES[name]
    assert (case.comment is None) == (LINTERS[name].suppression is None)
    files = space(dict([case.config, (case.path, f"{case.clean}{case.comment}\n")]))
    found = [one.tool for one in suppressions(files, [case.path], roots_of(files))]
    assert found == ([name] if case.comment else [])


WHOLE = {
    "ruff": "# ruff: noqa\n",
    "ruff format": "# fmt: off\n",
    "eslint": "/*\n  eslint-disable */\n",
    "tsc": "// @ts-nocheck\n",
}


@pytest.mark.parametrize("name", WHOLE)
def test_no_linter_is_turned_off_by_a_comment_over_a_file(look, request, name):
    case = CASES[name]
    installed = request.getfixturevalue("modules").entries if LINTERS[name].npm_package else ()
    start = dict([case.config])
    found = look(space(start, *installed), space(start | {case.path: WHOLE[name] + case.bad}, *installed))
    assert (name, case.path, case.rule) in rules(found.hidden)
    assert [(edit.path, edit.kind) for edit in found.edits] == [(case.path, "overruled")]
    assert found.cap


@pytest.mark.parametrize("name", [name for name, linter in LINTERS.items() if hasattr(linter, "issues")])
@pytest.mark.parametrize(("status", "out"), [(139, ""), (None, "\0"), (70, '{"a": [1]}'), (2, "[" * 100_000)])
def test_a_program_that_breaks_has_failed(name, status, out):
    with pytest.raises(LinterFailed):
        LINTERS[name].issues(LintOutput(status, out, "", "/w", ""))


# -- ruff


def test_a_clean_change_scores_one_and_a_new_finding_less(look):
    before = space({"pyproject.toml": RUFF, "old.py": UNUSED})
    clean = look(before, space({"pyproject.toml": RUFF, "old.py": UNUSED + "\n\nX = 1\n", "new.py": CLEAN}))
    assert (clean.score, clean.new, clean.cap, clean.edits) == (1.0, (), None, ())
    assert [(tool.name, tool.ran, tool.files) for tool in clean.tools] == [("ruff", True, 2)]
    worse = look(before, space({"pyproject.toml": RUFF, "old.py": UNUSED, "new.py": UNUSED}))
    assert rules(worse.new) == [("ruff", "new.py", "F401")]
    assert worse.score == pytest.approx(0.5 * 5 / (5 + 100 / 20))
    assert any("new.py:1" in line and "F401" in line for line in worse.lines())
    fixed = look(before, space({"pyproject.toml": RUFF, "old.py": CLEAN}))
    assert (fixed.score, fixed.fixed_count) == (1.0, 1)


def test_the_formatter_counts_only_where_the_project_uses_it(look):
    ugly = {"new.py": "x  =  1\n"}
    without = {"ruff.toml": "line-length = 80\n"}
    assert look(space(without), space(without | ugly)).score == 1.0
    for used in (
        {"ruff.toml": '[format]\nquote-style = "double"\n'},
        without | {"Makefile": "fmt:\n\truff format .\n"},
    ):
        found = look(space(used), space(used | ugly))
        assert rules(found.new) == [("ruff format", "new.py", "format")]
        assert found.score < 0.5


def test_a_loosened_configuration_is_seen_reported_and_caps_the_score(look):
    many = {f"m{number}.py": "".join(f"A{line} = 1\n" for line in range(100)) for number in range(3)}
    before = space({"pyproject.toml": RUFF})
    loose = (
        '[project]\nname = "x"\n[tool.ruff]\nline-length = 60\n[tool.ruff.lint]\nselect = ["E"]\nignore = ["E402"]\n'
    )
    found = look(before, space({"pyproject.toml": loose, "new.py": UNUSED, **many}))
    assert rules(found.new) == rules(found.hidden) == [("ruff", "new.py", "F401")]
    assert found.score == 0.5
    assert found.cap.endswith("hide 1 new finding")
    assert [(edit.path, edit.kind) for edit in found.edits] == [("pyproject.toml", "changed")]
    assert '-      "F"' in found.edits[0].diff
    assert any("hidden by an edit" in line for line in found.lines())


@pytest.mark.parametrize(
    "edit",
    [
        {"ruff.toml": "[lint]\nselect = []\n", "pyproject.toml": RUFF},
        {"sub/ruff.toml": "[lint]\nselect = []\n", "pyproject.toml": RUFF},
        {"pyproject.toml": "[project]\nname = 'x'\n"},
        {},
        {"pyproject.toml": "[tool.ruff\n"},
    ],
    ids=["a file that goes first", "one in a folder", "table removed", "file removed", "broken"],
)
def test_other_ways_to_get_rid_of_a_configuration(look, edit):
    found = look(space({"pyproject.toml": RUFF}), space({"sub/new.py": UNUSED, **edit}))
    assert rules(found.new) == [("ruff", "sub/new.py", "F401")]
    assert found.cap
    assert found.score <= 0.5
    assert found.edits


def test_an_edit_that_hides_nothing_is_reported_and_costs_nothing(look):
    stricter = RUFF.replace('"F"]', '"F", "B"]')
    found = look(space({"pyproject.toml": RUFF}), space({"pyproject.toml": stricter, "new.py": CLEAN}))
    assert (found.score, found.cap, len(found.edits)) == (1.0, None, 1)
    same = look(
        space({"pyproject.toml": RUFF}), space({"pyproject.toml": RUFF + "[project]\nname='x'\n", "a.py": CLEAN})
    )
    assert same.edits == ()


def test_work_that_git_ignores_is_looked_at(look):
    base = {"pyproject.toml": RUFF, ".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": ""}
    found = look(space(base), space({**base, ".gitignore": "*.py\n", "new.py": UNUSED}))
    assert rules(found.new) == [("ruff", "new.py", "F401")]


def test_a_comment_that_turns_a_linter_off_counts(look):
    before = space({"pyproject.toml": RUFF, "old.py": "import os  # noqa: F401\n"})
    found = look(before, space({"pyproject.toml": RUFF, "old.py": "import os  # noqa: F401\nX = 1\n"}))
    assert (found.score, found.new) == (1.0, ())
    found = look(before, space({"pyproject.toml": RUFF, "new.py": "import os  # noqa: F401\n"}))
    assert rules(found.new) == [("ruff", "new.py", "suppression")]
    assert (found.edits, found.cap) == ((), None)
    two = look(before, space({"pyproject.toml": RUFF, "new.py": "import os, sys  # noqa\n"}))
    assert two.new_count == 3  # as many as it hides


BAD = "".join(f"import os{number}\n" for number in range(12))


@pytest.mark.parametrize(
    "text",
    [
        f"# ruff: noqa\n{BAD}",
        f"#flake8:NOQA\n{BAD}",
        f"# ruff: noqa: F401\n{BAD}",
        BAD.replace("\n", "  # noqa: F401\n"),
        f"{BAD}# ruff: noqa é\n",
    ],
    ids=["all", "another tool's", "one rule", "on every line", "at the end"],
)
def test_a_comment_over_a_file_is_a_weakened_configuration(look, text):
    before = space({"pyproject.toml": RUFF})
    many = {"clean.py": "".join(f"A{line} = 1\n" for line in range(900))}
    plain = look(before, space({"pyproject.toml": RUFF, "new.py": BAD, **many}))
    found = look(before, space({"pyproject.toml": RUFF, "new.py": text, **many}))
    assert plain.score > 0.9
    assert (found.score, rules(found.hidden)) == (0.5, [("ruff", "new.py", "F401")] * 12)
    assert "(new.py) hide 12 new findings" in found.cap
    assert [(edit.path, edit.kind) for edit in found.edits] == [("new.py", "overruled")]
    assert "configuration overruled by the agent for a whole file: new.py" in found.lines()[:6]
    alone = look(before, space({"pyproject.toml": RUFF, "new.py": text}))
    assert alone.score < 0.05


def test_a_comment_over_a_file_that_was_there_or_hides_nothing_weakens_nothing(look):
    given = "# ruff: noqa\nimport os\n"
    before = space({"pyproject.toml": RUFF, "old.py": given})
    for now in (given + "import sys\n", "X = 1\n" + given):
        found = look(before, space({"pyproject.toml": RUFF, "old.py": now}))
        assert (found.score, found.edits, found.cap) == (1.0, (), None)
    found = look(before, space({"pyproject.toml": RUFF, "old.py": given, "new.py": "# ruff: noqa\nX = 1\n"}))
    assert (rules(found.new), found.cap) == ([("ruff", "new.py", "suppression")], None)


def test_a_configuration_that_was_broken_from_the_start_is_no_fault_of_the_agent(look):
    broken = {"ruff.toml": "[lint\n"}
    found = look(space({**broken, "a.py": CLEAN}), space({**broken, "a.py": UNUSED}))
    assert (found.score, found.new) == (None, ())
    assert "could run" in found.reason
    assert "Failed to parse" in found.tools[0].reason
    assert "ruff.toml" in found.tools[0].reason


def test_without_tools_or_without_work_nothing_is_run_and_there_is_no_score():
    def never(*_):
        raise AssertionError("a process was asked for")

    def told(before, after):
        return asyncio.run(lint(before, after, never, never, Limits(), never))

    none = told(space({"a.py": CLEAN}), space({"a.py": UNUSED}))
    assert (none.score, none.reason) == (None, "the eval's workspace configures no linter or formatter")
    idle = told(space({"ruff.toml": ""}), space({"ruff.toml": "", "notes.txt": "x", "lib/node_modules/a.py": "x"}))
    assert idle.score is None
    assert "no file that the project's tools look at" in idle.reason


def test_tools_that_only_the_agent_configured_are_shown_and_never_counted(look):
    found = look(space({"readme": ""}), space({"pyproject.toml": RUFF, "new.py": UNUSED}))
    assert (found.score, found.new_count, rules(found.own)) == (None, 0, [("ruff", "new.py", "F401")])
    assert [tool.by_agent for tool in found.tools] == [True]


def test_hostile_files_and_names(look):
    before = space({"ruff.toml": ""})
    odd = {
        "-x.py": UNUSED,
        "a b'\"$(id).py": UNUSED,
        "big.py": "x = 1\n" * MAX_FILE,
        "bin.py": b"\0\1\2",
        "new\nline.py": UNUSED,
        "\udcff.py": UNUSED,
        "ünï.py": UNUSED,
        "n" * 200 + ".py": UNUSED,
        "noqa" + "/d" * 40 + "/deep.py": UNUSED,
    }
    links = [
        tree.Entry("link.py", "link", 0o777, 0, None, "/etc/passwd"),
        tree.Entry("loop", "link", 0o777, 0, None, "loop"),
        tree.Entry("gone.py", "file", 0o644, 9, None, None, "too large"),
        tree.Entry("shut", "folder", 0o000),
    ]
    found = look(before, space({"ruff.toml": "", **odd, "shut/in.py": UNUSED}, *links))
    assert {one.path for one in found.new} == {
        *("-x.py", "a b'\"$(id).py", "ünï.py", "n" * 200 + ".py", "shut/in.py"),
        "noqa" + "/d" * 40 + "/deep.py",
    }
    assert len(found.left_out) == 4
    assert all(line.isprintable() for line in found.lines())
    assert "big.py: 1572864 bytes" in found.left_out


def test_many_files_are_bounded():
    after = space({f"f{number}.py": CLEAN for number in range(600)})
    looked = looked_at(after, changed(space({}), after))
    assert len(looked.lines) == 500
    assert looked.left_out[-1] == "80 more files"


def test_without_ruff_it_does_not_apply(look, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setattr("orvl.capture.lint.ruff.shutil.which", lambda name: None)
    found = look(space({"ruff.toml": ""}), space({"ruff.toml": "", "a.py": UNUSED}))
    assert (found.score, found.tools[0].ran) == (None, False)
    assert "pip install ruff" in found.tools[0].reason


# -- node's tools


def node(modules: Workspace, files: dict[str, str]) -> Workspace:
    return space(files, *modules.entries)


def test_eslint_prettier_and_tsc_by_their_own_configurations(look, modules):
    base = {
        "package.json": '{ "type": "module", "devDependencies": { "eslint": "9" } }\n',
        "eslint.config.js": FLAT,
        ".prettierrc": '{ "singleQuote": true }\n',
        "tsconfig.json": TYPES,
        "lib.ts": "export function twice(n: number): number {\n  return 2 * n;\n}\n",
        "use.ts": "import { twice } from './lib';\n\nexport const four = twice(2);\n",
    }
    before = node(modules, base)
    clean = look(before, node(modules, base | {"app (x)/a.js": "export const a = 'b';\n"}))
    assert (clean.score, clean.new) == (1.0, ())
    assert [(tool.name, tool.ran) for tool in clean.tools] == [("eslint", True), ("prettier", True), ("tsc", True)]
    work = {
        "(app)/b.js": "let unused = 1\nif (a == b) {}\n",
        "lib.ts": "export function twice(n: string): string {\n  return n + n;\n}\n",
        "broken.js": "let = = 1;\n",
    }
    found = look(before, node(modules, base | work))
    assert rules(found.new) == [
        ("eslint", "(app)/b.js", "eqeqeq"),
        ("eslint", "(app)/b.js", "no-unused-vars"),
        ("eslint", "broken.js", "syntax"),
        ("prettier", "(app)/b.js", "format"),
        ("prettier", "broken.js", "syntax"),
        ("tsc", "use.ts", "TS2345"),
    ]
    assert {(mark.path, mark.new) for mark in found.files} == {
        *(("(app)/b.js", 3), ("broken.js", 2), ("lib.ts", 0)),
        ("use.ts", 1),
    }


def test_what_an_agent_does_to_nodes_configurations_is_seen(look, modules):
    base = {
        "package.json": '{\n  "name": "x",\n  "prettier": { "semi": true }\n}\n',
        "eslint.config.mjs": 'import { rules } from "./lint/rules.mjs";\nexport default [{ rules }];\n',
        "lint/rules.mjs": 'export const rules = { "no-unused-vars": "error" };\n',
    }
    edit = {
        "package.json": '{\n  "name": "x",\n  "dependencies": {},\n  "prettier": { "semi": false }\n}\n',
        "lint/rules.mjs": "export const rules = {};\n",
        "a.js": "const unused = 1\n",
    }
    found = look(node(modules, base), node(modules, base | edit))
    assert rules(found.hidden) == [("eslint", "a.js", "no-unused-vars"), ("prettier", "a.js", "format")]
    assert [edit.path for edit in found.edits] == ["lint/rules.mjs", "package.json"]
    assert found.score < 0.5
    broken = look(
        node(modules, base), node(modules, base | {"eslint.config.mjs": "export default [", "a.js": "f();\n"})
    )
    assert "eslint does not run" in broken.cap
    assert broken.score == 0.5


def test_an_editorconfig_that_prettier_would_follow_is_an_edit_of_its_configuration(look, modules):
    base = {".prettierrc": "{}\n"}
    work = {".editorconfig": "[*]\nindent_size = 8\n", "a.js": "f(() => {\n        g();\n});\n"}
    found = look(node(modules, base), node(modules, base | work))
    assert rules(found.hidden) == [("prettier", "a.js", "format")]
    assert [edit.path for edit in found.edits] == [".editorconfig"]


def test_a_program_put_in_a_tools_place_is_not_believed(look, modules):
    base = {"eslint.config.mjs": FLAT}
    liar = '#!/bin/sh\necho "[]"\n'
    entries = [replace(one, mode=0o755) for one in space({"node_modules/eslint/bin/eslint.js": liar}).entries]
    after = node(modules, base | {"a.js": "const unused = 1;\n"})
    after = Workspace(
        sorted({**after.by_path, **{one.path: one for one in entries}}.values(), key=lambda one: one.path.split("/")),
        after.read,
    )
    found = look(node(modules, base), after)
    assert rules(found.hidden) == [("eslint", "a.js", "no-unused-vars")]
    assert [edit.path for edit in found.edits] == ["node_modules/eslint"]


def test_packages_that_only_the_agent_installed_are_used_for_the_start_too(look, modules):
    base = {"eslint.config.mjs": FLAT, "old.js": "const unused = 1;\n"}
    found = look(space(base), node(modules, base | {"old.js": "const unused = 1;\nf();\n"}))
    assert (found.score, found.new) == (1.0, ())


def test_old_eslint_configurations(look, modules):
    base = {".eslintrc.json": '{ "root": true, "rules": { "eqeqeq": 2 } }', "a.ts": "let a: number = 1;\n"}
    found = look(node(modules, base), node(modules, base | {"b.js": "a == b;\n", "a.ts": "let b: number = 1;\n"}))
    assert rules(found.new) == [("eslint", "b.js", "eqeqeq")]


@pytest.mark.parametrize(
    ("name", "config", "said"),
    [
        ("eslint.config.mjs", 'import "no-such-package";\n', "no-such-package"),
        ("eslint.config.mjs", "export default [{ rules: { nonsense: 2 } }];\n", "nonsense"),
        (".prettierrc", "{x\n", "Invalid configuration"),
        ("prettier.config.mjs", 'throw new Error("no");\n', "no"),
        ("tsconfig.json", "{bad\n", "tsconfig.json"),
    ],
)
def test_broken_configurations_of_node_do_not_apply_and_say_why(look, modules, name, config, said):
    base = {name: config}
    found = look(node(modules, base), node(modules, base | {"a.ts": "let x = 1\n", "a.js": "let x = 1\n"}))
    if name.startswith("eslint"):
        base["a.js"] = "f();\n"
        found = look(node(modules, base), node(modules, base | {"a.js": "let x = 1\n"}))
    assert found.score is None
    assert said in found.tools[0].reason


def test_a_project_without_its_packages_does_not_apply(look):
    base = {"tsconfig.json": TYPES, "package.json": '{"dependencies": {"react": "19"}}', ".prettierrc": "{}"}
    found = look(space(base), space(base | {"a.ts": 'import "react";\n'}))
    assert found.score is None
    assert {tool.name: tool.reason for tool in found.tools} == {
        "prettier": "prettier is not installed in the workspace's node_modules, nor on the system",
        "tsc": "the project's packages are not installed (node_modules)",
    }


def test_configurations_run_behind_walls(look, modules, tmp_path):
    target = tmp_path / "escaped"
    target.mkdir()
    config = f'import fs from "fs";\nfs.writeFileSync("{target}/x", "x");\nexport default [];\n'
    base = {"eslint.config.mjs": config}
    found = look(node(modules, base), node(modules, base | {"a.js": "f();\n"}))
    assert found.score is None
    assert "ENOENT" in found.tools[0].reason
    assert not list(target.iterdir())
    open_air = look(node(modules, base), node(modules, base | {"a.js": "f();\n"}), "none")
    assert open_air.score == 1.0
    assert list(target.iterdir())


def test_referenced_projects_of_typescript():
    files = space(
        {
            "web/tsconfig.json": '{ "files": [], "references": [{ "path": "./tsconfig.app.json" }, { "path": "./no" }] }',
            "web/tsconfig.app.json": TYPES,
            "web/node_modules/.bin/tsc": "",
        }
    )
    [root] = roots_of(files)
    [one] = root.linter.commands(root, [], files)
    assert one.argv == ("./node_modules/.bin/tsc", "--noEmit", "--pretty", "false", "-p", "tsconfig.app.json")
    assert one.words[-7:] == ["./web", *one.argv]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("while (true) {}\n", "took longer than 6 s"),
        (
            'import { spawnSync } from "child_process"; spawnSync("yes", { stdio: "inherit" });\n',
            "printed more than 32 MiB",
        ),
    ],
)
def test_a_configuration_that_never_ends(look, modules, monkeypatch, config, said):
    monkeypatch.setattr("orvl.capture.lint.run.SECONDS", 6.0)
    base = {"eslint.config.mjs": FLAT}
    began = time.monotonic()
    found = look(node(modules, base), node(modules, {"eslint.config.mjs": config, "a.js": "f();\n"}))
    assert said in found.cap
    assert found.score == 0.5
    assert time.monotonic() - began < 60


def test_a_sandbox_that_is_stopped_ends_it(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    work = WorkDir()

    async def go():
        slot = Slot("none", sandbox_config(work.root, [], []), work.lock_fd)
        slot.stop()
        try:
            files = {"ruff.toml": "", "a.py": CLEAN}
            await lint(space({"ruff.toml": ""}), space(files), slot.walled, work.new, Limits(), write)
        finally:
            await slot.close()

    with pytest.raises(Interrupted):
        asyncio.run(go())
    assert not [path for path in work.root.iterdir() if path.name not in ("etc", "dev")]
    work.close()


# -- which tools, and their configurations


def test_tools_are_told_by_files():
    files = space(
        {
            "pyproject.toml": "[tool.black]\n",
            "api/pyproject.toml": "[tool.ruff.lint]\nselect = []\n",
            "web/package.json": '{"eslintConfig": {}, "prettier": {}}',
            "web/src/.eslintrc.yml": "rules: {}\n",
            "web/tsconfig.json": "{}",
            "docs/eslint.config.ts": "",
            ".editorconfig": "",
            "broken/package.json": '{"prettier": ',
            "node_modules/x/.eslintrc": "{}",
            "dist/.prettierrc": "{}",
        }
    )
    assert [(tool.name, tool.folder, tool.configs) for tool in roots_of(files)] == [
        ("ruff", "", ("api/pyproject.toml",)),
        ("eslint", "docs", ("docs/eslint.config.ts",)),
        ("eslint", "web", ("web/src/.eslintrc.yml", "web/package.json")),
        ("prettier", "web", ("web/package.json",)),
        ("tsc", "web", ("web/tsconfig.json",)),
        ("editorconfig", "", (".editorconfig",)),
    ]


def test_what_a_configuration_leads_to_is_one_too():
    files = space(
        {
            "tsconfig.json": '{"extends": "./conf/base.json", "files": ["./main.ts"]}',
            "conf/base.json": '{"extends": "../conf/other"}',
            "conf/other.json": '{"extends": "../tsconfig.json"}',
            "main.ts": "",
            ".eslintrc.cjs": "const a = require('./rules/a'); module.exports = {extends: ['./b.json']}",
            "rules/a.js": "import x from '../../../../etc/passwd'",
            "b.json": "{}",
            ".eslintignore": "x",
            "ruff.toml": 'extend = "conf/r.toml"\n',
            "conf/r.toml": "",
        }
    )
    assert configs_of(files, ["tsc"]) == {"tsconfig.json", "conf/base.json", "conf/other.json"}
    assert configs_of(files, ["eslint"]) == {".eslintrc.cjs", "rules/a.js", "b.json", ".eslintignore"}
    assert configs_of(files, ["ruff"]) == {"ruff.toml", "conf/r.toml"}


def test_edits_are_bounded_and_of_the_right_kind():
    long = "".join(f"a{number} = {number}\n" for number in range(100))
    found = edits(space({"ruff.toml": ""}), space({"ruff.toml": long, ".ruff.toml": "\x1b[31m" + "y" * 999}), ["ruff"])
    assert [(one.path, one.kind, len(one.diff)) for one in found] == [
        (".ruff.toml", "added", 1),
        ("ruff.toml", "changed", 21),
    ]
    assert found[0].diff[0].startswith("+\\x1b[31m")
    assert len(found[0].diff[0]) < 250
    huge = edits(space({"ruff.toml": ""}), space({"ruff.toml": "x\n" * MAX_FILE}), ["ruff"])
    assert huge[0].diff[0].endswith("bytes") or "bytes" in huge[0].diff[0]


# -- what tools print


@pytest.mark.parametrize(
    ("tool", "status", "out", "err", "said"),
    [
        ("ruff", 2, "", "ruff failed\n  Cause: Failed to parse /w/ruff.toml", "Failed to parse ruff.toml"),
        ("ruff", 0, '{"a": 1}', "", '{"a": 1}'),
        ("ruff", 0, "[" * 100_000, "", "[[["),
        ("ruff format", 0, "", "", "status 0 and printed nothing"),
        ("eslint", 2, "", "\nOops! Something went wrong! :(\n\nESLint: 9.1\n\nError: bad\n at x", "Error: bad"),
        ("prettier", 2, "", "[error] Invalid configuration for file", "Invalid configuration"),
        ("prettier", 139, "", "", "status 139"),
        ("tsc", 1, "error TS5023: Unknown compiler option 'x'.", "", "TS5023"),
        ("tsc", 2, "tsconfig.json(1,2): error TS1136: Property assignment expected.", "", "TS1136"),
        ("tsc", 1, "", "Killed", "Killed"),
    ],
)
def test_tools_that_fail_say_why(tool, status, out, err, said):
    with pytest.raises(LinterFailed) as raised:
        LINTERS[tool].issues(LintOutput(status, out, err, "/w", ""))
    assert said in str(raised.value)
    assert len(str(raised.value)) <= 600


def test_rows_of_any_shape_are_read():
    rows = [
        1,
        {},
        {"filename": None, "location": 3, "message": "x\ny" * 999},
        {"filename": "/w/a.py", "location": {"row": "z"}},
    ]
    found = LINTERS["ruff"].issues(LintOutput(1, json.dumps(rows), "", "/w", ""))
    assert [(one.path, one.line) for one in found] == [(".", 0), (".", 0), ("a.py", 0)]
    assert all(len(one.message) <= 400 and one.message.isprintable() for one in found)
    rows = [{"filePath": "/w/a.js", "messages": [None, {"message": "File ignored"}, {"ruleId": "x", "line": True}]}]
    assert rules(LINTERS["eslint"].issues(LintOutput(0, json.dumps(rows), "", "/w", ""))) == [("eslint", "a.js", "x")]
    assert LINTERS["tsc"].issues(LintOutput(2, "error TS18003: No inputs were found", "", "/w", "")) == []
    [one] = LINTERS["tsc"].issues(LintOutput(2, "(a)/b(1).ts(3,4): error TS1: words\n  more\n", "", "/w", "web"))
    assert (one.path, one.line, one.rule) == ("web/(a)/b(1).ts", 3, "TS1")


# -- .editorconfig


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*", ["a", "b/c.py"], []),
        ("*.py", ["a.py", "x/y/b.py"], ["a.pyc"]),
        ("*.{js,ts}", ["a.js", "x/a.ts"], ["a.jsx", "a.{js,ts}"]),
        ("/src/*.py", ["src/a.py"], ["src/x/a.py", "x/src/a.py"]),
        ("src/**.py", ["src/a.py", "src/x/a.py"], ["a.py"]),
        ("{Makefile,**/Makefile}", ["Makefile", "x/Makefile"], ["Makefile.am"]),
        ("file{1..3}.txt", ["file2.txt"], ["file4.txt"]),
        ("[a-c]?.md", ["bx.md"], ["dx.md", "b/.md"]),
        ("[!a].md", ["b.md"], ["a.md"]),
        ("{single}.x", ["{single}.x"], ["single.x"]),
    ],
)
def test_patterns_of_editorconfig(pattern, yes, no):
    settings = editorconfig.settings_of({".editorconfig": f"[{pattern}]\nx = 1\n"}, [*yes, *no])
    assert [path for path in (*yes, *no) if settings[path]] == yes


HOSTILE = ["*a" * 90 + "b", "{a,a}" * 60 + "b", "**/" * 40 + "b", "{" * 20_000 + "}" * 20_000]


@pytest.mark.parametrize("pattern", HOSTILE, ids=["stars", "braces", "folders", "nested"])
def test_a_hostile_pattern_ends_the_linter_and_nothing_else(monkeypatch, pattern):
    monkeypatch.setattr(editorconfig, "SECONDS", 2)
    began = time.monotonic()
    files = space({".editorconfig": f"[{pattern}]\ncharset = utf-8\n", "a" * 200 + ".txt": b"\xff"})
    try:
        assert not editorconfig.check(["a" * 200 + ".txt"], files)
    except LinterFailed as error:
        assert str(error).isprintable()
    assert time.monotonic() - began < 60


def test_a_pattern_that_never_ends_is_told():
    with pytest.MonkeyPatch.context() as patch, pytest.raises(LinterFailed, match="its patterns take too long"):
        patch.setattr(editorconfig, "SECONDS", 2)
        editorconfig.settings_of({".editorconfig": f"[{HOSTILE[0]}]\nx = 1\n"}, ["a" * 200])


@pytest.mark.parametrize("pattern", ["[z-a]", "{a,{1..3}}", "{1..9999999999}", "[", "{"])
def test_an_odd_pattern_is_a_sentence_or_matches_nothing(pattern):
    try:
        assert not editorconfig.settings_of({".editorconfig": f"[{pattern}]\nx = 1\n"}, ["b"])["b"]
    except LinterFailed as error:
        assert len(str(error)) < 300


def test_editorconfig_is_checked():
    config = """
        root = true
        [*]
        indent_style = space
        indent_size = 2
        end_of_line = lf
        insert_final_newline = true
        trim_trailing_whitespace = true
        charset = utf-8
        [*.go]
        indent_style = tab
        [*.md]
        trim_trailing_whitespace = false
        insert_final_newline = unset
    """
    four = "a:\n    b:\n        c:\nd:\n    e\n"
    files = space(
        {
            ".editorconfig": dedent(config),
            "good.js": "f(() => {\n  g();\n});\n",
            "bad.js": b"\xef\xbb\xbff() \r\n\tg();",
            "four.js": four,
            "a.go": "x {\n  y\n\tz\n /* a\n  * b\n}\n",
            "a.md": "x  \ny",
            "latin.txt": b"\xe9\n",
            "empty.js": "",
            "sub/.editorconfig": "[*.js]\nindent_size = 4\n",
            "sub/four.js": four,
        }
    )
    found = editorconfig.check(sorted(files.own), files)
    assert sorted((one.path, one.rule, one.line) for one in found if ".editorconfig" not in one.path) == [
        ("a.go", "indent_style", 2),
        ("bad.js", "charset", 0),
        ("bad.js", "end_of_line", 0),
        ("bad.js", "indent_style", 2),
        ("bad.js", "insert_final_newline", 2),
        ("bad.js", "trim_trailing_whitespace", 1),
        ("four.js", "indent_size", 0),
        ("latin.txt", "charset", 0),
    ]


def test_editorconfig_before_and_after_and_edited(look):
    config = "[*]\ntrim_trailing_whitespace = true\n"
    before = space({".editorconfig": config, "a.txt": "x \n"})
    found = look(before, space({".editorconfig": config, "a.txt": "x \ny\n", "b.txt": "z\t\n"}))
    assert rules(found.new) == [("editorconfig", "b.txt", "trim_trailing_whitespace")]
    loose = look(before, space({".editorconfig": "[*.c]\n", "b.txt": "z\t\n"}))
    assert loose.cap
    broken = look(before, space({".editorconfig": "nonsense\n", "b.txt": "z\n"}))
    assert "line 1 of .editorconfig" in broken.cap


# -- the score


def test_marks():
    assert FileMark("a", 500, 0).mark == 1
    assert FileMark("a", 100, 5).mark == 0.25
    assert FileMark("a", 1, 1).mark == 0.25
    assert [FileMark("a", lines, 0).weight for lines in (1, 300, 99_999)] == [20, 300, 1000]


def test_the_score_is_the_mean_of_files_by_their_lines():
    one = LintIssue("ruff", "a.py", 3, "F401", "x")
    known = LintIssue("ruff", "b.py", 9, "E501", "Line too long (80 > 60)")
    moved = LintIssue("ruff", "b.py", 2, "E501", "Line too long (99 > 60)")
    report = adherence(
        LintSide([known]),
        LintSide([one, moved]),
        LintSide([one, moved]),
        {"a.py": 100, "b.py": 300},
        {"ruff": ["a.py", "b.py"]},
        {"ruff": ["ruff.toml"]},
        {},
    )
    assert report.new == (one,)
    assert report.score == pytest.approx((100 * 0.5 * 5 / 6 + 300) / 400)
    with pytest.raises(ValueError, match="form 1"):
        LintReport.from_json({"form": 2})


# -- rules


AGENTS = """\
---
description: ignored
---
# Project

This is a small service. It must not use global state. Nice to have you here!

## Commands
- `make test` runs the tests
- Run `npm install` first

## Code style
- Use 2 spaces for
  indentation
- **Never** use `any`
- Single quotes in JavaScript
- `src/` holds the code
- See [the guide](https://example.org)
- Commit messages must be short
- Errors:
  - raise `AppError`, with a cause
- Should we use tabs?

```python
- Never read this
```
| always | a table |
> Always a quote
<!-- Always
a comment -->

## Don't
- `console.log`
- mutate arguments

1. Always write a test for a new function.
"""


def test_rules_are_found_and_prose_and_commands_are_not():
    found = rules_of(space({"AGENTS.md": AGENTS}))
    assert [(rule.text, rule.line) for rule in found] == [
        ("It must not use global state.", 6),
        ("Use 2 spaces for indentation", 13),
        ("Never use `any`", 15),
        ("Single quotes in JavaScript", 16),
        ("Errors: raise `AppError`, with a cause", 21),
        ("Don't: `console.log`", 33),
        ("Don't: mutate arguments", 34),
        ("Always write a test for a new function.", 36),
    ]


def test_rules_of_several_files_in_order_once_and_bounded():
    files = {
        "src/api/AGENTS.md": "- Validate every input\n",
        "CLAUDE.md": "- Always sort imports.\n",
        "AGENTS.md": "- always **sort** imports\n- Never " + "long words " * 90,
        ".cursor/rules/a.mdc": "---\nglobs: x\n---\n- Prefer composition over inheritance\n",
        ".github/copilot-instructions.md": "Use early returns. We like cats.\n",
        "CONTRIBUTING.md": "- Document public functions\n- Open a pull request\n",
        "node_modules/x/AGENTS.md": "- Never seen here\n",
        "README.md": "- Always read me\n",
    }
    found = rules_of(space(files))
    assert [(rule.text[:40], rule.path) for rule in found] == [
        ("always sort imports", "AGENTS.md"),
        ("Never long words long words long words l", "AGENTS.md"),
        ("Use early returns.", ".github/copilot-instructions.md"),
        ("Prefer composition over inheritance", ".cursor/rules/a.mdc"),
        ("In src/api/: Validate every input", "src/api/AGENTS.md"),
        ("Document public functions", "CONTRIBUTING.md"),
    ]
    assert max(len(rule.text) for rule in found) <= 300
    assert len(rules_of(space({"AGENTS.md": "".join(f"- Never use thing number {n}\n" for n in range(99))}))) == 20
    assert rules_of(space({"AGENTS.md": b"\xff\0\xfe", "CLAUDE.md": ""})) == []


def test_hostile_rules_take_no_long_time():
    began = time.monotonic()
    for text in ("<!--" * 50_000, "[" * 200_000, "`" * 200_000, "- " * 100_000, "when " * 50_000, "* a:\n " * 40_000):
        rules_of(space({"AGENTS.md": text}))
    assert time.monotonic() - began < 10


def test_reports_name_a_weakened_configuration(project):
    code = f"# ruff: noqa\n{BAD}"
    argv = ["python3", "-c", "import sys; open('new.py', 'w').write(sys.argv[1])", code]
    project.agent("mine", f"models = {{'none': ['m']}}\ndef command(): return {argv!r}\n")
    project.write("evals/e/eval.md", "---\nmetrics: {adherence: 1}\n---\nGo.\n")
    project.write("evals/e/workspace/ruff.toml", 'lint.select = ["F"]\n')
    result = project.orvl("mine", "--json", timeout=200)
    assert result.json["ratings"][0]["metrics"]["adherence"]["mean"] < 0.05
    said = "adherence: 1 run weakened the configuration of the project's linters, which hid findings"
    assert any(warning.startswith(said) for warning in result.json["warnings"]), result.json["warnings"]
    assert any(warning.startswith(said) for warning in project.orvl("report", "--json").json["warnings"])
    assert "configuration overruled by the agent for a whole file: new.py" in project.orvl("show", "mine/e/1").out
