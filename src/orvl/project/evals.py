"""`evals/NAME.md` or `evals/NAME/eval.md` → Eval."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.errors import FileError, InvalidAppConfig, InvalidPrompt
from orvl.project.app import check_app, check_expectations
from orvl.project.check_commands import missing_file
from orvl.project.conditions import check_conditions
from orvl.project.controls import check_controls
from orvl.project.front_matter import CheckSettings, EvalSettings, FrontMatter
from orvl.project.house_rules import house_rules
from orvl.project.items import FORM, eval_items
from orvl.project.names import count
from orvl.project.places import wrong_places, wrong_variable
from orvl.project.user import user_of
from orvl.project.vary import check_sizes, choices_of, variants_of
from orvl.project.wordings import WrittenPrompt, as_written, lines_of, parsed, parts_of, split_turns
from orvl.store import tree
from orvl.store.beneath import stays_inside
from orvl.types import Check, Choices, Eval, EvalItems, Wording

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.project.find import SourceFile
    from orvl.project.settings import UserSettings

KEY = re.compile(r"""["']?([\w-]+)["']?:(?:\s|$)""")


def load_eval(file: SourceFile, check_limit: float, seed: str = "", user_model: UserSettings | None = None) -> Eval:
    """Loads an eval; `check_limit` applies to checks that set none, `seed` to what varies, and `user_model` to its
    user."""
    path = file.path
    if not path.exists():
        raise FileError(path, None, "an eval's folder needs an 'eval.md' with the prompt.")
    # A lone file may be linked within its project; the file of a folder only within that folder.
    _check_inside(path, path.parent if path.name == "eval.md" else path.parent.resolve().parent)
    text = _text(file)
    head, first_line, body = split_front_matter(path, text)
    front = FrontMatter(path, head)
    settings = front.settings
    turns = split_turns(path, body, first_line)
    prompts = tuple(map(as_written, turns))
    vary = choices_of(front)
    wordings = _wordings(path, turns, vary)
    folder = path.parent if path.name == "eval.md" else None
    variants = variants_of(folder, vary, _folder_digest)
    checks = _checks(front, check_limit, folder, prompts)
    limits = {name: value for name, value in vars(settings.limits).items() if value}
    app, steps = _app(front)
    metrics = _metrics(front)
    setup = tuple(settings.setup)
    _check_places(front)
    workspace, hidden, reference = (_digest(folder, part) for part in ("workspace", "checks", "reference"))
    further = [part for part in (steps, _digest(folder, "round-trip")) if part]
    browsed = [sorted(app.items())] if app and any(check.steps or check.isolated for check in checks) else []
    has_linters, has_rules = house_rules(folder / "workspace" if folder and workspace else None)
    checks_digest = _hash([_identity(check) for check in checks], hidden, *browsed)
    more = _more(settings, folder)
    if wordings:
        more += _drawn_from(turns, vary, variants, seed)
    if user := user_of(front, len(turns), user_model):
        more.append(
            ["user", user.goal, sorted(user.facts.items()), user.patience, user.model, sorted(user.later.items())]
        )
    if asked := check_conditions(path, turns, wordings, checks):
        more.append(["when", _deciding(checks, asked), hidden, *browsed])
    return Eval(
        name=file.name,
        path=path,
        origin=file.origin,
        digest=_hash(file.name, prompts, workspace, sorted(limits.items()), *more),
        scoring_digest=_hash(checks_digest, sorted(app.items()), reference, *further),
        checks_digest=checks_digest,
        description=settings.description or _first_words(turns[0][0].text),
        prompts=prompts,
        metrics=metrics,
        only_names_metrics=front.only_names_metrics,
        checks=checks,
        par=settings.par,
        floor=settings.floor,
        items=_items(front),
        limits=limits,
        app=app,
        steps=steps,
        setup=setup,
        network=settings.network,
        workdir=settings.workdir,
        places=tuple(settings.places),
        env=settings.env,
        imported=settings.imported,
        family=settings.family.strip() or file.family,
        folder=folder,
        workspace_digest=workspace,
        has_linters=has_linters,
        has_rules=has_rules,
        control_digests=_control_digests(folder, len(prompts)),
        tier=settings.tier,
        vary=vary,
        wordings=wordings,
        variants=variants,
        seed=seed,
        user=user,
        private=settings.private,
        said=tuple(settings.said),
        lines=front.lines,
    )


def _more(settings: EvalSettings, folder: Path | None) -> list[Any]:
    """What is part of an eval's identity only if it has it."""
    more: list[Any] = []
    if settings.setup or settings.network:
        more.append(["setup", settings.setup, "network", settings.network])
    if settings.workdir or settings.places or settings.env:
        more.append(["workdir", settings.workdir, "places", settings.places, "env", sorted(settings.env.items())])
    if files := _digest(folder, "setup"):
        more.append(["files of the setup", files])
    return more


def _check_places(front: FrontMatter) -> None:
    """Refuses paths that no sandbox can have, and variables that are orvl's own."""
    settings = front.settings
    if why := wrong_places(settings.workdir, settings.places):
        raise front.wrong(("places" if settings.places else "workdir",), why)
    for name, value in settings.env.items():
        if why := wrong_variable(name, value):
            raise front.wrong(("env", name), f"'env' may not set {name!r}: {why}.")


def _wordings(
    path: Path, turns: Sequence[Sequence[WrittenPrompt]], vary: Mapping[str, Choices]
) -> tuple[tuple[Wording, ...], ...]:
    """What is said in each turn, in its parts; none where everything is said as it is written."""
    found = tuple(tuple(parsed(path, written, vary) for written in turn) for turn in turns)
    for written, wording in zip(itertools.chain(*turns), itertools.chain(*found), strict=True):
        check_sizes(path, written.line, wording, vary)
    as_written = [[Wording((written.text,))] for written, *_ in turns]
    is_plain = not vary and [[_joined(wording) for wording in turn] for turn in found] == as_written
    return () if is_plain else found


def _deciding(checks: Sequence[Check], asked: frozenset[str]) -> list[Any]:
    """The checks on which it depends what is said, and those before them that build something for them."""
    last = max((at for at, check in enumerate(checks) if check.name in asked and check.is_beside), default=-1)
    found = [check for at, check in enumerate(checks) if check.name in asked or (check.is_beside and at < last)]
    return [_identity(check) for check in found]


def _joined(wording: Wording) -> Wording:
    """A wording of nothing but texts, as one text."""
    texts = [part for part in wording.parts if isinstance(part, str)]
    return replace(wording, parts=("".join(texts),)) if len(texts) == len(wording.parts) else wording


def _drawn_from(
    turns: Sequence[Sequence[WrittenPrompt]],
    vary: Mapping[str, Choices],
    variants: Mapping[str, Mapping[str, str]],
    seed: str,
) -> list[Any]:
    """What is part of an eval's identity only if its episodes, or what happens in them, differ."""
    choices = [[key, [one.start, one.stop] if isinstance(one, range) else list(one)] for key, one in vary.items()]
    texts = [[written.text for written in turn] for turn in turns]
    folders = [[key, sorted(some.items())] for key, some in variants.items()]
    varies = vary or any(len(turn) > 1 for turn in turns)
    return [["vary", choices, "wordings", texts, "variants", folders, *(["seed", seed] if seed and varies else [])]]


def split_front_matter(path: Path, text: str) -> tuple[str, int, str]:
    """The YAML at the top, the line on which the conversation starts, and the conversation."""
    lines = lines_of(text)
    if not lines or lines[0].rstrip() != "---":
        _check_begun(path, lines)
        return "", 1, text
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() == "---":
            return "".join(lines[1 : number - 1]), number + 1, "".join(lines[number:])
    raise FileError(path, 1, "the front matter is not closed: end it with a line of '---' before the prompt.")


def _check_begun(path: Path, lines: Sequence[str]) -> None:
    """Refuses settings without a line of `---` above them: they would be the agent's first prompt, checks and all."""
    first = [line.rstrip() for line in itertools.takewhile(lambda line: line.rstrip() != "---", lines)]
    if not any(first) and len(first) < len(lines):
        raise FileError(path, 1, "the '---' before the front matter must be the first line; remove the empty lines.")
    outer = [line for line in first if re.match(r"\w|[\"']\w", line)]
    keys = [match[1] for match in itertools.takewhile(bool, (KEY.match(line) for line in outer)) if match]
    known = {field.name for field in fields(EvalSettings)}
    settings = [key for key in keys if key in known]
    # One such word may begin a prompt; all that stands before a line of `---`, or several of them, do not.
    if settings and (len(settings) > 1 or (len(keys) == len(outer) and len(first) < len(lines))):
        raise FileError(
            path,
            1,
            f"'{settings[0]}' is a setting of an eval, but no line of '---' begins the front matter: put one above "
            "it. (A prompt that begins so needs two lines of '---' above it.)",
        )


def _text(file: SourceFile) -> str:
    try:
        return file.source.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = file.source[: error.start].count(b"\n") + 1
        raise FileError(file.path, line, "an eval must be UTF-8 text.") from error


def _metrics(front: FrontMatter) -> dict[str, float] | None:
    weights = front.settings.metrics
    if weights == {}:
        raise front.wrong(("metrics",), "'metrics' must be names with weights, such as {checks: 3, speed: 1}.")
    if weights is not None and not any(weights.values()):
        raise front.wrong(("metrics",), "'metrics' has only weights of 0; at least one must be above 0.")
    return weights


def _items(front: FrontMatter) -> dict[str, EvalItems]:
    """Requirements of the eval's own, by metric."""
    found = {}
    for metric, written in front.settings.items.items():
        items = eval_items(written)
        if items is None:
            raise front.wrong(
                ("items", metric),
                f"'items.{metric}' must be a list of {FORM}; or {{add: [...]}}, or {{replace: [...]}} for a list "
                "instead of the metric's own.",
            )
        found[metric] = items
    return found


def _checks(front: FrontMatter, default_limit: float, folder: Path | None, prompts: Sequence[str]) -> tuple[Check, ...]:
    checks = []
    for number, row in enumerate(front.settings.checks):
        if bool(row.run) == bool(row.steps):
            sentence = f"'checks[{number + 1}]' needs 'run', a command, or 'steps'; one of the two."
            raise front.wrong(("checks", number), sentence)
        if row.steps and not any(vars(front.settings.app).values()):
            sentence = f"the steps of '{row.name}' need an 'app', such as app: {{files: index.html}}."
            raise front.wrong(("checks", number), sentence)
        try:
            check_expectations(row.steps)
            _check_braces(row.steps, front)
        except (InvalidAppConfig, InvalidPrompt) as error:
            raise front.wrong(("checks", number), f"check '{row.name}': {error}") from error
        if why := missing_file(row.run, folder, prompts):
            raise front.wrong(("checks", number, "run"), f"check '{row.name}': {why}")
        if why := _wrong_turns(row, len(prompts)) or _wrong_verifier(row, folder):
            raise front.wrong(("checks", number), f"check '{row.name}': {why}")
        turn = row.turn or int(row.keep)
        checks.append(
            Check(
                row.name,
                row.run,
                row.limit or float(default_limit),
                row.weight,
                row.isolated,
                tuple(row.steps),
                turn=0 if turn == len(prompts) else turn,
                until=row.until,
                keep=row.keep,
                verifier=row.verifier,
            )
        )
    names = [check.name for check in checks]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise front.wrong(("checks",), f"two checks are named '{twice}'; rename one of them.")
    if checks and not any(check.until == 0 and not check.keep for check in checks):
        sentence = "every check is retired before the end, or only keeps what was there: one must be due at the end."
        raise front.wrong(("checks",), sentence)
    return tuple(checks)


def _wrong_turns(row: CheckSettings, turns: int) -> str:
    """Why a check would never be due; empty if it is."""
    for name, turn in (("turn", row.turn), ("until", row.until)):
        if turn > turns:
            return f"'{name}: {turn}' is after the last turn; the conversation has {count(turns, 'turn')}."
    due = row.turn or (1 if row.keep else turns)
    if row.until and row.until <= due:
        return f"it is due from turn {due} and retired from turn {row.until}, so never; 'until' must be later."
    return ""


def _wrong_verifier(row: CheckSettings, folder: Path | None) -> str:
    """Why a check cannot be one that writes a reward; empty if it can."""
    if not row.verifier:
        return ""
    if row.isolated or row.steps:
        return "a 'verifier' shares the sandbox of the agent's work; remove 'isolated' or 'steps'."
    if not stays_inside(row.verifier) or folder is None or not (folder / "checks" / row.verifier).is_dir():
        return f"there is no folder checks/{row.verifier} that it could be shown."
    return ""


def _identity(check: Check) -> list[Any]:
    more: list[Any] = [["isolated", check.isolated, "steps", check.steps]] if check.isolated or check.steps else []
    if check.turn or check.until or check.keep:
        more.append(["turn", check.turn, "until", check.until, "keep", check.keep])
    if check.verifier:
        more.append(["verifier", check.verifier])
    return [check.name, check.run, check.limit, check.weight, *more]


def _check_braces(steps: Sequence[str], front: FrontMatter) -> None:
    for step in steps if front.settings.vary else ():
        parts_of(step, front.settings.vary)


def _app(front: FrontMatter) -> tuple[dict[str, str], tuple[str, ...]]:
    """The app and the steps through it, checked as far as possible before anything runs."""
    app = {name: value for name, value in vars(front.settings.app).items() if value}
    steps = tuple(front.settings.steps)
    key = "app"
    try:
        if app:
            check_app(app)
        key = "steps"
        check_expectations(steps)
        _check_braces(steps, front)
    except (InvalidAppConfig, InvalidPrompt) as error:
        raise front.wrong((key,), str(error)) from error
    if steps and not app:
        raise front.wrong(("steps",), "'steps' need an 'app', such as app: {files: index.html}.")
    return app, steps


def _control_digests(folder: Path | None, turns: int) -> dict[str, str]:
    controls = folder / "controls" if folder else None
    if not controls or not controls.is_dir():
        return {}
    _check_inside(controls, controls.parent)
    folders = [entry for entry in sorted(controls.iterdir()) if entry.is_dir()]
    digests = {entry.name: _folder_digest(entry, controls.parent) for entry in folders}
    check_controls(controls, turns)
    return digests


def _digest(folder: Path | None, part: str) -> str:
    if folder is None or not os.path.lexists(folder / part):
        return ""
    return _folder_digest(folder / part, folder)


def _check_inside(path: Path, folder: Path) -> None:
    """An eval may be somebody else's: what it names in its folder has to lie there."""
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise FileError(path, None, "this leads out of the eval's folder; put a copy here instead of a link.")


def _folder_digest(path: Path, folder: Path) -> str:
    _check_inside(path, folder)
    if not path.is_dir():
        raise FileError(path, None, "this must be a folder.")
    try:
        return tree.digest(path.resolve(), is_data=True)
    except OSError as error:
        raise FileError(
            error.filename or path, None, f"an eval's folder cannot contain this: {error.strerror}."
        ) from error


def _hash(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _first_words(prompt: str) -> str:
    line = prompt.strip().splitlines()[0]
    return line if len(line) <= 80 else line[:79] + "…"
