"""What counts on an eval that names no metrics: the default weights, from every side."""

from __future__ import annotations

from pathlib import Path

import pytest

from orvl.capture.lint.registry import roots_of
from orvl.capture.lint.rules import rules_of
from orvl.capture.lint.workspace import Workspace
from orvl.errors import OrvlError
from orvl.project import open_project
from orvl.project.house_rules import house_rules
from orvl.store.tree import Entry

APP = "---\nchecks: [{name: a, run: 'true'}]\napp: {files: index.html}\n---\nDo it.\n"
JUDGES = '[judges.a]\nanswers = "yes"\n'
NO_WEIGHT = {"tokens": 0, "tool-calls": 0}


def weights(root: Path, name: str = "one") -> dict[str, float]:
    project = open_project(root)
    return project.weights(project.eval(name), project.panel())


@pytest.fixture
def whole(tmp_path):
    """An eval to which everything applies."""
    folder = tmp_path / "evals/one"
    (folder / "workspace").mkdir(parents=True)
    (folder / "workspace/ruff.toml").touch()
    (folder / "eval.md").write_text(APP)
    return tmp_path


def test_programs_alone(whole):
    assert weights(whole) == pytest.approx(
        {"checks": 0.80, "adherence": 0.05, "ui": 0.025, "ux": 0.025, "speed": 0.05, "cost": 0.05, **NO_WEIGHT}
    )


def test_with_judges(whole):
    (whole / "orvl.toml").write_text(JUDGES)
    assert weights(whole) == pytest.approx(
        {
            "checks": 0.55,
            "adherence": 0.05,
            "ui": 0.025,
            "ux": 0.025,
            "speed": 0.05,
            "cost": 0.05,
            "code-quality": 0.10,
            "readability": 0.05,
            "scope": 0.10,
            **NO_WEIGHT,
        }
    )


def test_judges_without_a_say_are_asked_and_weigh_nothing(whole):
    (whole / "orvl.toml").write_text("[local]\n")
    counted = {name: weight for name, weight in weights(whole).items() if weight}
    assert counted == pytest.approx(
        {"checks": 0.80, "adherence": 0.05, "ui": 0.025, "ux": 0.025, "speed": 0.05, "cost": 0.05}
    )
    assert weights(whole)["readability"] == 0


def test_what_does_not_apply_goes_to_checks(whole):
    (whole / "evals/one/workspace/ruff.toml").unlink()
    assert weights(whole)["checks"] == pytest.approx(0.85)
    (whole / "evals/one/eval.md").write_text(APP.replace("app: {files: index.html}\n", ""))
    assert weights(whole) == pytest.approx({"checks": 0.90, "speed": 0.05, "cost": 0.05, **NO_WEIGHT})
    (whole / "evals/one/workspace/AGENTS.md").write_text("- Never use globals.\n")
    assert "adherence" not in weights(whole), "no program reads rules"
    (whole / "orvl.toml").write_text(JUDGES)
    assert weights(whole)["adherence"] == pytest.approx(0.05)
    assert weights(whole)["checks"] == pytest.approx(0.60)


def test_without_checks_judges_say_whether_it_works(whole):
    (whole / "orvl.toml").write_text(JUDGES)
    (whole / "evals/one/eval.md").write_text("Do it.\n")
    found = weights(whole)
    assert "checks" not in found
    assert {name: found[name] for name in ("functionality", "bugs", "missing-cases")} == pytest.approx(
        {"functionality": 0.40, "bugs": 0.10, "missing-cases": 0.10}
    )
    assert sum(found.values()) == pytest.approx(1)


def test_without_checks_and_judges_something_else_leads(whole):
    file = whole / "evals/one/eval.md"
    file.write_text(APP.replace("checks: [{name: a, run: 'true'}]\n", ""))
    assert weights(whole) == pytest.approx(
        {"adherence": 0.05, "ui": 0.425, "ux": 0.425, "speed": 0.05, "cost": 0.05, **NO_WEIGHT}
    )
    file.write_text("Do it.\n")
    (whole / "evals/one/reference").mkdir()
    (whole / "evals/one/reference/a.py").write_text("print(1)\n")
    assert weights(whole)["semantic-similarity"] == pytest.approx(0.85)


def test_a_reference_takes_a_tenth_beside_checks(whole):
    (whole / "evals/one/reference").mkdir()
    (whole / "evals/one/reference/a.py").write_text("print(1)\n")
    assert (weights(whole)["semantic-similarity"], weights(whole)["checks"]) == pytest.approx((0.10, 0.70))


def test_a_metric_of_ones_own_counts_on_ones_own_evals(whole):
    (whole / "scores").mkdir()
    (whole / "scores/tidy.py").write_text("weight = 4\ndef score(run): return 1\n")
    assert weights(whole)["tidy"] == pytest.approx(4 / 24)
    assert weights(whole)["checks"] == pytest.approx(16 / 24)
    assert "tidy" not in weights(whole, "hello-world")
    (whole / "scores/speed.py").write_text("def score(run): return 1\n")
    assert "speed" in weights(whole, "hello-world"), "it takes the place of the built-in one"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("earned = 1\ndef score(run): return 1\n", "'earned' is 1; write True or False."),
        ('earned = True\nitems = ["It is good."]\n', "'earned' is for what a run took"),
    ],
)
def test_only_what_a_run_took_is_earned(tmp_path, text, sentence):
    (tmp_path / "scores").mkdir()
    (tmp_path / "scores/odd.py").write_text(text)
    with pytest.raises(OrvlError, match=sentence) as raised:
        open_project(tmp_path).metric("odd")
    assert "scores/odd.py:1" in str(raised.value)


@pytest.mark.parametrize(
    ("floor", "sentence"),
    [("1", "'floor' is 1; it must be below 1."), ("-0.1", "'floor' is -0.1; it must be 0 or more."), ("a", "a number")],
)
def test_a_floor_is_from_0_to_below_1(tmp_path, floor, sentence):
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals/one.md").write_text(f"---\nfloor: {floor}\n---\nDo it.\n")
    with pytest.raises(OrvlError) as raised:
        open_project(tmp_path).eval("one")
    assert sentence in str(raised.value)


CONFIGS = {
    "ruff.toml": "",
    "lib/.ruff.toml": "",
    "pyproject.toml": "[tool.ruff]\n",
    "tsconfig.json": "{}",
    "a/.editorconfig": "root = true\n",
    ".eslintrc": "{}",
    ".eslintrc.json": "{}",
    "eslint.config.mjs": "export default []",
    ".prettierrc": "{}",
    "prettier.config.js": "",
}
OTHERS = {"README.md": "ruff.toml", "node_modules/ruff.toml": "", "src/main.py": "", "pyproject.toml": "[project]\n"}


@pytest.mark.parametrize(("path", "text"), [*CONFIGS.items(), *OTHERS.items()])
def test_a_plan_knows_the_same_linters_as_the_linters_do(tmp_path, path, text):
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text)
    files = Workspace([Entry(path, "file", 0o644, len(text), "0" * 64)], lambda _: text.encode())
    assert house_rules(tmp_path)[0] == bool(roots_of(files))


@pytest.mark.parametrize("path", ["AGENTS.md", "pkg/CLAUDE.md", ".cursorrules", ".github/copilot-instructions.md"])
def test_a_plan_knows_the_same_rules_as_the_judges_are_given(tmp_path, path):
    text = "- Never use globals.\n"
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text)
    files = Workspace([Entry(path, "file", 0o644, len(text), "0" * 64)], lambda _: text.encode())
    assert house_rules(tmp_path)[1] and rules_of(files)
