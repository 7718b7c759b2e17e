"""`python -m orvl.score.similarity FILE…` fits the built-in weights over files; `background.json` is what it prints."""

from __future__ import annotations

import sys
from pathlib import Path

from orvl.score.similarity.features import features
from orvl.score.similarity.weights import fit, save


def main(paths: list[str]) -> None:
    """Fits over the files that are named, each a document."""
    texts = ((path, Path(path).read_text(encoding="utf-8", errors="replace")) for path in paths)
    sys.stdout.write(save(fit(features(path, text) for path, text in texts)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
