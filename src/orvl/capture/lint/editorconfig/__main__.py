"""The settings of .editorconfig for some files, by the package `editorconfig`, in a process that may be ended.

The package turns patterns into regular expressions, which a hostile pattern can make run for years, and holds the
interpreter while they run: no thread could stop it.
"""

from __future__ import annotations

import codecs
import io
import json
import resource
import sys
from configparser import ParsingError
from posixpath import dirname, join

from editorconfig.handler import EditorConfigHandler
from editorconfig.ini import EditorConfigParser

ROOT = "/workspace"
MEMORY = 1 << 30


def main() -> None:
    """Reads configurations and paths as JSON; prints the settings by path, or what is wrong with a configuration."""
    question = json.load(sys.stdin)
    seconds = int(question["seconds"])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    answer: dict[str, object]
    try:
        answer = {"settings": {path: settings(question["configs"], path) for path in question["paths"]}}
    except ParsingError as error:
        answer = {"wrong": [error.source, *error.errors[0]]}
    json.dump(answer, sys.stdout)


def settings(configs: dict[str, str], path: str) -> dict[str, str]:
    """The settings for a file: a nearer configuration wins, and none above a root counts."""
    handler = EditorConfigHandler(join(ROOT, path))
    folder = path
    while folder:
        folder = dirname(folder)
        config = join(folder, ".editorconfig")
        if config not in configs:
            continue
        parser = EditorConfigParser(handler.filepath)
        text = io.BytesIO(configs[config].encode("utf-8", "replace"))
        stream = codecs.StreamReaderWriter(text, codecs.getreader("utf-8"), codecs.getwriter("utf-8"))
        # `read` would open a file: nothing of the workspace is on a disk here.
        parser._read(stream, join(ROOT, config))
        parser.options.update(handler.options)
        handler.options = parser.options
        if parser.root_file:
            break
    handler.preprocess_values()
    return dict(handler.options)


if __name__ == "__main__":
    main()
