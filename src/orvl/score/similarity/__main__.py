"""`python -m orvl.score.similarity FILE…` fits the built-in weights over files and prints `background.json`."""

from __future__ import annotations

import sys
from pathlib import Path

from orvl.score.similarity.features import features
from orvl.score.similarity.weights import fit, save


def main(paths: list[str]) -> None:
    """Fits over the named files, each a document."""
    texts = ((path, Path(path).read_text(encoding="utf-8", errors="replace")) for path in paths)
    sys.stdout.write(save(fit(features(path, text) for path, text in texts)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
