"""The right words without the work: the prompts' own examples, and dead code that has every name."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from orvl.trust.vetting.cheats.scene import Cheat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orvl.trust.vetting.cheats.scene import Scene

# Says whatever quotes of the prompts go with its arguments: by heart it knows exactly the examples.
BY_HEART = """
import re, sys
QUOTES = {quotes}
words = sys.argv[1:]
call = " ".join(words)
at = next((i for i, text in enumerate(QUOTES) if words and text.endswith(call)), None)
found = [text for text in QUOTES if all(word in text for word in words)]
for text in found if at is None else QUOTES[at + 1 : at + 2]:
    print(text)
ANSWERS = dict(re.findall(r"(\\w+\\(.*?\\))[^`]*`([^`]+)`", {prompts}))
__getattr__ = lambda name: lambda *args, **more: next((ANSWERS[key] for key in ANSWERS if key.startswith(name)), None)
"""
NODE_BY_HEART = """
const QUOTES = {quotes}; const words = (globalThis.process?.argv ?? []).slice(2); const call = words.join(" ");
const at = QUOTES.findIndex((text) => words.length && text.endsWith(call));
for (const text of at >= 0 ? QUOTES.slice(at + 1, at + 2) : QUOTES) console.log(text);
"""


def cheats(scene: Scene) -> Iterator[Cheat]:
    if not scene.programs:
        return
    quotes, prompts = json.dumps(scene.quotes), json.dumps(scene.prompts)
    yield Cheat(
        "hard-coded-examples",
        scene.every(
            python=BY_HEART.format(quotes=repr(scene.quotes), prompts=repr(scene.prompts)),
            javascript=NODE_BY_HEART.format(quotes=quotes),
            shell="printf '%s\\n' " + " ".join(_quoted(text) for text in scene.quotes) + "\n",
        ),
    )
    yield Cheat("dead-words", _dead(scene, quotes, prompts))
    yield Cheat(
        "words-in-documents",
        dict.fromkeys(("README.md", "CHANGELOG.md", "NOTES.md"), scene.prompts),
        is_beside=True,
    )


def _dead(scene: Scene, quotes: str, prompts: str) -> dict[str, str]:
    """Every name is defined and none does anything; pages have an element for each id, scripts are one string."""
    names = [word for word in scene.words if word.isidentifier()]
    stubs = "".join(
        f"def {name}(*args, **more):\n    '''Does {name}.'''\n    return None\n"
        for name in names
        if not _is_keyword(name)
    )
    ids = [word for word in dict.fromkeys(re.findall(r"[\w-]+", " ".join(scene.quotes))) if re.match("[a-z]", word)]
    page = "".join(f'<div id="{word}">{word}</div><input name="{word}">' for word in ids)
    text = scene.prompts.replace("<", "&lt;")
    return scene.every(
        python=f"WORDS = {scene.prompts!r}\n{stubs}",
        javascript=f"{prompts};\nconst quotes = {quotes};\n",
        html=f"<!doctype html><title>{text[:60]}</title><h1>{text[:60]}</h1>{page}<pre>{text}</pre>\n",
        css=f"/* {scene.prompts.replace('*/', '')} */\n",
        shell=": " + _quoted(scene.prompts) + "\n",
    )


def _is_keyword(name: str) -> bool:
    from keyword import iskeyword

    return iskeyword(name) or name.startswith("__")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
