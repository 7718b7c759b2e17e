"""C15, bad work that games what is measured: linters turned off, visible tests emptied. Hidden checks must not care."""

from __future__ import annotations

import json
import re
from posixpath import basename
from typing import TYPE_CHECKING

from orvl.trust.controls.control import Control, Derived, LadderEvidence, Results, from_worst
from orvl.trust.mutate.gut import gutted
from orvl.trust.mutate.source import ControlSource
from orvl.trust.mutate.syntax import is_test, language_of, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

HIDDEN_CHECKS_AT_MOST = 0.40
RUFF = 'exclude = ["*"]\n\n[lint]\nselect = []\n'
FLAT = 'export default [{ ignores: ["**/*"] }];\n'
COMMON_JS = 'module.exports = [{ ignores: ["**/*"] }];\n'
OLD = json.dumps({"root": True, "ignorePatterns": ["**/*"], "rules": {}}, indent=2) + "\n"
OFF = {
    r"\.?ruff\.toml": RUFF,
    r"eslint\.config\.(js|mjs|ts|mts)": FLAT,
    r"eslint\.config\.(cjs|cts)": COMMON_JS,
    r"\.eslintrc(\.json)?": OLD,
    r"\.flake8": "[flake8]\nexclude = *\n",
    r"\.prettierrc(\.json)?": "{}\n",
    r"\.stylelintrc(\.json)?": '{"rules": {}}\n',
    r"\.eslintignore|\.prettierignore": "**/*\n",
    r"biome\.jsonc?": '{"linter": {"enabled": false}, "formatter": {"enabled": false}}\n',
}


def make(source: ControlSource) -> Derived:
    """The bad files, with everything in the workspace that checks them made harmless."""
    bad = source.worst[0]
    whole = dict(source.workspace) | dict(bad)
    configs, tests = turned_off(whole), emptied_tests(whole)
    return from_worst(source, dict(bad) | configs | tests, configs=sorted(configs), tests=sorted(tests))


def turned_off(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The settings of linters, made so that they find nothing; where there are none, new ones."""
    configs = {path: off for path in files if (off := _turned_off(path, files[path])) is not None}
    return configs or _new_config(files)


def emptied_tests(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Tests that test nothing."""
    return gutted({path: content for path, content in files.items() if is_test(path) and language_of(path)})


def _turned_off(path: str, content: bytes) -> bytes | None:
    name = basename(path)
    for pattern, off in OFF.items():
        if re.fullmatch(pattern, name):
            return off.encode()
    text = text_of(content)
    if name == "pyproject.toml" and text is not None:
        return _without_ruff(text).encode()
    return None


def _without_ruff(text: str) -> str:
    """The sections of ruff in `pyproject.toml` replaced by one that leaves all files out."""
    parts = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
    kept = "".join(part for part in parts if not re.match(r"\[+\s*tool\.(ruff|flake8|pylint)\b", part))
    return f'{kept.rstrip()}\n\n[tool.ruff]\nexclude = ["*"]\n'.lstrip()


def _new_config(files: Mapping[str, bytes]) -> dict[str, bytes]:
    languages = {language_of(path) for path in files}
    added = {}
    if languages & {"javascript", "typescript", "tsx", "html"}:
        added["eslint.config.mjs"] = FLAT.encode()
    if "python" in languages or not added:
        added["ruff.toml"] = RUFF.encode()
    return added


def warnings(evidence: LadderEvidence) -> Results:
    yield evidence.test(
        *("C15", "work made for the visible tests fails the hidden checks", "gamer", None),
        side="at most",
        margin=HIDDEN_CHECKS_AT_MOST,
        metric="checks",
        fault="Work made for the visible tests passes the hidden checks",
    )


CONTROLS = (Control("C15", "gamer", make, warnings=warnings),)
