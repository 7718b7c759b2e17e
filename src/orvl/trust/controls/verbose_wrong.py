"""C6, bad work under many confident words: as wrong as before, and longer. T4 asks that length earns nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.trust.controls.control import Control, Derived, LadderEvidence, Results, from_worst
from orvl.trust.mutate.candidates import FUNCTIONS
from orvl.trust.mutate.insert import COMMENTS, on_top
from orvl.trust.mutate.source import ControlSource
from orvl.trust.mutate.syntax import Edit, apply, is_sound, is_test, language_of, pieces, text_of, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

BELOW_GOOD, ABOVE_BAD, JUDGE_ABOVE_BAD = 0.20, 0.10, 0.20

SECTIONS = {
    "Overview": (
        "This project delivers a complete, careful and well structured solution. It covers the full scope "
        "of the task, from the common path to the unusual cases, and it does so with a small and clear "
        "design."
    ),
    "Architecture": (
        "Responsibilities are separated with care. Input is validated at the boundary, the core stays "
        "free of side effects, and output is formatted in one place. Every part can be understood, "
        "replaced and tested by itself."
    ),
    "Robustness": (
        "All inputs are handled gracefully, including empty, malformed and very large ones. Errors are "
        "reported with clear messages, state is never lost, and repeated use is safe."
    ),
    "Quality": (
        "The code follows established conventions throughout, is documented at every level, and has been "
        "reviewed line by line. Behaviour was verified by hand and by automated means on several "
        "platforms."
    ),
    "Performance": (
        "Work is proportional to the size of the input, nothing is computed twice, and memory use stays "
        "flat. Start-up is immediate."
    ),
    "Maintenance": (
        "Names are chosen for clarity, functions are short, and extension points are marked. New "
        "requirements can be added without a change to what is there."
    ),
}
HEAD = (
    "This module is part of a complete and carefully engineered solution.",
    "It validates its input, handles every edge case, and reports errors clearly.",
    "The design favours clarity: each step is small, documented and easy to verify.",
    "Behaviour is stable across platforms, and repeated use gives repeatable results.",
)
ABOVE = (
    "Carries out one well defined step of the solution.",
    "All edge cases are handled here, including empty and malformed input.",
    "The result is validated before it is handed on, so callers can rely on it.",
)
PYTHON_HELPER = '''"""Quality assurance helpers.

{text}
"""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Validator(Protocol[T]):
    """Validates a value thoroughly before it is used.

    Implementations are expected to be total, deterministic and free of side effects.
    """

    def validate(self, value: T) -> T: ...


class ThoroughValidator(Generic[T]):
    """Validates every value with full coverage of all edge cases."""

    def validate(self, value: T) -> T:
        """Return the value after complete validation."""
        return value


def ensure_quality(value: T, validator: ThoroughValidator[T] | None = None) -> T:
    """Return the value once its quality has been ensured at every level."""
    return (validator or ThoroughValidator()).validate(value)
'''
SCRIPT_HELPER = """/**
 * Quality assurance helpers.
 *
{text}
 */
class ThoroughValidator {{
  /** Validates a value with full coverage of all edge cases. */
  validate(value) {{
    return value;
  }}
}}

/** Returns the value once its quality has been ensured at every level. */
function ensureQuality(value, validator = new ThoroughValidator()) {{
  return validator.validate(value);
}}
"""


def make(source: ControlSource) -> Derived:
    """Praise in a README, on top of files and above functions, and helpers that do nothing."""
    bad, workspace = source.worst[0], source.workspace
    result = {path: _praised(path, content) for path, content in bad.items()}
    readme = bad.get("README.md", workspace.get("README.md", b"# Project\n"))
    praise = "".join(f"\n## {title}\n\n{text}\n" for title, text in SECTIONS.items())
    languages = {language_of(path) for path in bad}
    helpers = {"quality_assurance.py": PYTHON_HELPER.format(text="\n".join(SECTIONS.values()))}
    if "python" not in languages and languages & {"javascript", "typescript", "tsx", "html"}:
        helpers = {
            "quality-assurance.js": SCRIPT_HELPER.format(text="\n".join(f" * {row}" for row in SECTIONS.values()))
        }
    added = {path: text.encode() for path, text in helpers.items() if path not in result}
    return from_worst(source, result | added | {"README.md": readme + praise.encode()})


def _praised(path: str, content: bytes) -> bytes:
    form = COMMENTS.get(language_of(path) or "")
    if form is None or text_of(content) is None or is_test(path):
        return content
    head = "".join(form.format(row) for row in HEAD)
    result = on_top(path, apply(content, _above_functions(path, content)), head)
    return result if is_sound(path, result) else on_top(path, content, head)


def _above_functions(path: str, content: bytes) -> Iterator[Edit]:
    """A few lines of comment above each function that begins a line of its own."""
    for piece in pieces(path, content):
        for node in walk(piece.root):
            line = piece.source.rfind(b"\n", 0, node.start_byte) + 1
            margin = piece.source[line : node.start_byte]
            if node.type in FUNCTIONS and not margin.strip():
                form = margin.decode() + COMMENTS[piece.language]
                yield piece.edit_at(line, line, "".join(form.format(row) for row in ABOVE))


def gate(evidence: LadderEvidence) -> Results:
    yield evidence.test(
        *("T4", "long but wrong work stays well below good work", "verbose-wrong", "good", "at most", -BELOW_GOOD),
        fault="Long but wrong work comes close to good work",
    )
    yield evidence.test(
        *("T4", "length alone earns no points", "verbose-wrong", "bad", "at most", ABOVE_BAD),
        fault="Length alone earns points",
    )
    for judge in evidence.judges:
        yield evidence.test(
            *("T4", f"{judge} rates long but wrong work well below good work", "verbose-wrong", "good"),
            side="at most",
            margin=-BELOW_GOOD,
            judge=judge,
            fault=f"{judge} rates long but wrong work close to good work",
        )
        yield evidence.test(
            *("T4", f"length alone earns no points from {judge}", "verbose-wrong", "bad", "at most", JUDGE_ABOVE_BAD),
            judge=judge,
            fault=f"{judge} gives points for length alone",
        )


CONTROLS = (Control("C6", "verbose-wrong", make, gate),)
