"""Where an overlay's arguments go, and how its settings are merged with the agent's own."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml

from orvl.errors import FileError
from orvl.run.command import with_arguments
from orvl.run.merging import merged, to_toml

PLACE = Path("overlays/fast/home/.codex/config.toml")
DOCUMENT = """
model = "m"
"odd key" = "a \\"quoted\\" \\u007f sign, 漢字 and 😀"
numbers = [1, -2.5, 1e300, inf]
on = true
when = 2026-01-02T03:04:05Z
day = 2026-01-02
[providers."a.b"]
url = "http://127.0.0.1:1/v1"
[providers."a.b".headers]
x = "1"
[empty]
[[servers]]
name = "one"
args = ["-y", {deep = [1]}]
[[servers]]
name = "two"
"""


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["a", "--", "P"], ["a", "X", "--", "P"]),
        (["a", "resume", "--json", "--", "session-1", "P"], ["a", "resume", "--json", "X", "--", "session-1", "P"]),
        (["a", "run", "--", "session-1"], ["a", "run", "X", "--", "session-1"]),
        (["a", "-m", "m", "--"], ["a", "-m", "m", "X", "--"]),
        (["npx", "-y", "a", "--", "run", "-m", "m", "P"], ["npx", "-y", "a", "--", "run", "-m", "m", "X", "P"]),
        (["uv", "run", "--", "a", "--json", "--", "P"], ["uv", "run", "--", "a", "--json", "X", "--", "P"]),
        (["a", "-p", "P"], ["a", "X", "-p", "P"]),
        (["a", "run", "P"], ["a", "run", "X", "P"]),
        (["a", "--prompt=P"], ["a", "--prompt=P", "X"]),
        (["a"], ["a", "X"]),
    ],
)
def test_arguments_go_where_options_are_taken(argv, expected):
    assert with_arguments(argv, ["X"], "P") == expected


def test_a_prompt_that_looks_like_the_end_of_options_is_a_prompt():
    assert with_arguments(["a", "--json", "--", "--"], ["X"], "--") == ["a", "--json", "X", "--", "--"]
    assert with_arguments(["a", "--json", "--", "-rf"], ["X"], "-rf") == ["a", "--json", "X", "--", "-rf"]


def test_toml_is_written_as_it_was_read():
    table = tomllib.loads(DOCUMENT)
    assert tomllib.loads(to_toml(table)) == table


def test_toml_is_merged_at_every_depth():
    over = 'model = "n"\n[providers."a.b".headers]\ny = "2"\n[new]\nlist = []\n'
    both = tomllib.loads(merged(DOCUMENT, over, "config.toml", PLACE)[1])
    assert both["model"] == "n"
    assert both["providers"] == {"a.b": {"url": "http://127.0.0.1:1/v1", "headers": {"x": "1", "y": "2"}}}
    assert both["servers"] == tomllib.loads(DOCUMENT)["servers"]
    assert both["new"] == {"list": []}


@pytest.mark.parametrize(
    ("name", "own", "over", "line", "words"),
    [
        ("config.toml", "a = 1", "b = 2\nc = = 3\n", 2, "this is not TOML"),
        ("config.toml", "a = 1", "b = 2\nc = '''open", 2, "this is not TOML"),
        ("settings.json", "{}", '{\n  "a": 1,\n  // why\n  "b": 2\n}', 3, "this is not JSON"),
        ("settings.json", "{}", '{"a": 1', 1, "this is not JSON"),
        ("settings.jsonc", "{}", '// why\n{"b": 2}', 1, "this is not JSON"),
        ("CONFIG_CONTENT", "{}", '{"a": oops}', 1, "this is not JSON"),
    ],
)
def test_what_cannot_be_merged_is_a_sentence_with_its_place(name, own, over, line, words):
    with pytest.raises(FileError, match=words) as raised:
        merged(own, over, name, PLACE)
    assert str(raised.value).startswith(f"{PLACE}:{line}: ")
    assert "\n" not in str(raised.value)


def test_a_date_that_does_not_exist_is_a_sentence():
    with pytest.raises(FileError, match=r"this is not YAML, .*month must be in 1\.\.12"):
        merged("a: 1", "a: 2024-13-45\n", "config.yaml", PLACE)


def test_a_mark_of_the_byte_order_is_no_content():
    assert merged('{"a": 1}', '\ufeff{"a": 2}', "a.json", PLACE)[1] == '{"a": 2}'
    assert tomllib.loads(merged("a = 1", "\ufeffb = 2", "a.toml", PLACE)[1]) == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("name", "over", "form"),
    [
        ("a.yaml", "when: 2026-99-99", "YAML"),
        ("a.yaml", f"n: {'9' * 5000}", "YAML"),
        ("a.yaml", "a: " + "[" * 100_000, "YAML"),
        ("a.yaml", "a: &a [*a]", "YAML"),
        ("a.json", f'{{"n": {"9" * 5000}}}', "JSON"),
        ("a.toml", f"n = {'9' * 5000}", "TOML"),
    ],
)
def test_values_that_nobody_can_read_are_a_sentence(name, over, form):
    own = {"a.yaml": "a: 1", "a.json": "{}", "a.toml": "a = 1"}[name]
    with pytest.raises(FileError, match=f"this is not {form}"):
        merged(own, over, name, PLACE)


def test_what_is_neither_is_replaced():
    assert merged("a: 1", "b: 2", "config.ini", PLACE) == ("a: 1", "b: 2")
    assert merged('{"a": 1}', "plain words", "PROMPT", PLACE) == ('{"a": 1}', "plain words")


def test_yaml_is_merged_and_a_mistake_in_it_has_its_place():
    own = "model: m\nproviders:\n  host:\n    url: http://127.0.0.1:1/v1\nwhen: 2026-01-02\n"
    over = "providers:\n  host:\n    retries: 2\nread-only: [a, b]\n"
    for name in (".conf/config.yaml", ".agent.conf.yml"):
        _, text = merged(own, over, name, PLACE)
        assert yaml.safe_load(text) == {
            **yaml.safe_load(own),
            "providers": {"host": {"url": "http://127.0.0.1:1/v1", "retries": 2}},
            "read-only": ["a", "b"],
        }
        assert yaml.safe_load(merged(own, "# nothing\n\n", name, PLACE)[1]) == yaml.safe_load(own)
        with pytest.raises(FileError, match=r"config.toml:2: this is not YAML"):
            merged(own, "a: 1\nb: ]\n", name, PLACE)
