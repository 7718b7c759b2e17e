"""What a browser did and saw, as pictures: the agent's page itself is never opened here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.web.html import tag
from orvl.web.show import Heading, link, short, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orvl.capture.browser.result import Look, StepResult
    from orvl.web.html import Child
    from orvl.web.run.asked import RunAsked
    from orvl.web.show import TableRow

CLASSES = {"passed": "good", "done": "good", "failed": "bad"}


def part(run: RunAsked) -> Child:
    look = run.last.inspections.page
    shots = [shot for shot in look.shots if not shot.plain] if look else []
    pictures = {shot.name: address for shot in shots if (address := run.picture(shot))}
    if look is None or not (pictures or look.steps):
        return None
    of_steps = {step.shot for step in look.steps}
    ordered = sorted(pictures, key=lambda name: name in of_steps)
    return [
        _steps(run, look, pictures) if look.steps else None,
        [_picture(run, name, pictures[name]) for name in ordered],
    ]


def anchor_of_shot(look: Look | None, name: str) -> str | None:
    """The place of a picture; None where the page shows none of this name."""
    names = [shot.name for shot in look.shots if not shot.plain] if look else []
    return f"shot-{names.index(name) + 1}" if name in names else None


def _steps(run: RunAsked, look: Look, pictures: Mapping[str, str]) -> Child:
    headings = [Heading("step", words=True), Heading("result"), Heading("why", words=True), Heading("picture")]
    rows: list[TableRow] = [(None, _step(run, look, step, pictures)) for step in look.steps]
    return table("Steps in the browser", headings, rows)


def _step(run: RunAsked, look: Look, step: StepResult, pictures: Mapping[str, str]) -> list[Child]:
    picture = step.shot if step.shot in pictures and not run.shares_page else None
    return [
        tag("span", f"{step.number}. {short(step.step)}", id_=run.anchor(f"step-{step.number}")),
        tag("span", step.word, class_=CLASSES.get(step.word)),
        short(step.reason or ""),
        link(short(picture), f"#{anchor_of_shot(look, picture)}") if picture else "",
    ]


def _picture(run: RunAsked, name: str, address: str) -> Child:
    image = tag("img", src=address, alt=f"The page, {short(name)}", loading="lazy")
    anchor = anchor_of_shot(run.last.inspections.page, name)
    return tag("figure", image, tag("figcaption", short(name)), id_=run.anchor(anchor) if anchor else None)
