"""`/compare`: which of two is better, on which evals they differ, and what differs between them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.pipeline import compare
from orvl.plan.identities import between, identities
from orvl.report.comparison import comparison_json, print_comparison
from orvl.report.terminal import TextColumn, TextTable
from orvl.web.draw import slope
from orvl.web.filters import filters
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.page import Page, as_word, flags
from orvl.web.show import Heading, PageTerminal, link, sentences, table
from orvl.web.twins import table_twins

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orvl.rate.compare import Comparison, OneEval
    from orvl.rate.sides import Contestant
    from orvl.web.html import Child
    from orvl.web.page import PageRequest
    from orvl.web.show import TableRow

WORDS = ("model", "provider", "eval", "metric", "judge")
MOST_CHANGES = 8


def page(asked: PageRequest) -> Page:
    asked.only("a", "b", "within", *WORDS)
    a, b = asked.words.get("a"), asked.words.get("b")
    form = filters("/compare", asked, "a", "b", "within", *WORDS, button="Compare")
    if not a or not b:
        return Page(
            "Compare", lambda: [tag("h1", "Which of two is better?"), form, _choices(asked)], ("orvl", "compare")
        )
    found = compare(asked.project, asked.store, a, b, replace(asked.selection, agent="all"), asked.judges)
    if (within := asked.number("within")) is not None:
        if not 0 < within <= 1:
            raise UserError(f"within={within:g} is not between 0 and 1.")
        found = replace(found, within=within)
    terminal = PageTerminal(caption="Differences by metric")
    print_comparison(terminal, found)
    return Page(
        f"{a} against {b}",
        lambda: _comparison(asked, found, terminal, form),
        ("orvl", "compare", a, b, *flags(asked.words, "within", *WORDS)),
        {"json": lambda: json_text(comparison_json(found)), **table_twins(*terminal.tables, _as_text(found))},
    )


def _choices(asked: PageRequest) -> Child:
    """What can be compared: agents, models and providers of the store."""
    cells = [cell for cell in asked.store.cells() if cell.runs and not cell.agent.startswith("control:")]
    names = {kind: sorted({getattr(cell, kind) for cell in cells}) for kind in ("agent", "model", "provider")}
    return [tag("p", f"{kind}s: {', '.join(known)}") for kind, known in names.items() if len(known) > 1]


def _comparison(asked: PageRequest, found: Comparison, terminal: PageTerminal, form: Child) -> list[Child]:
    return [
        tag("h1", *terminal.said[:2]),
        form,
        terminal.parts[2:],
        _changed(asked, found),
        tag("h2", "By eval"),
        _by_eval(asked, found),
    ]


def _by_eval(asked: PageRequest, found: Comparison) -> list[Child]:
    headings = [Heading("eval", words=True), *map(Heading, ("0 to 1", found.a, found.b, "difference"))]
    legend = f"0 to 1: {found.a} is the blue dot, {found.b} the ochre one. Figures lead to the runs that made them."
    return [table("Differences by eval", headings, [_row(asked, found, one) for one in _ordered(found)]),
            *sentences([legend])]  # fmt: skip


def _ordered(found: Comparison) -> list[OneEval]:
    return sorted(found.evals, key=lambda one: -abs(one.difference))


def _row(asked: PageRequest, found: Comparison, one: OneEval) -> TableRow:
    a, b = (_runs(asked, found, side, one.name) for side in (0, 1))
    cells = [link(one.name, asked.links.eval(one.name)), slope(one.a, one.b), link(f"{one.a:.3f}", a)]
    return None, [*cells, link(f"{one.b:.3f}", b), f"{one.difference:+.3f}"]


def _side(found: Comparison, side: int) -> list[Contestant]:
    return sorted({names for pair in found.pairs for names in pair[side]})


def _runs(asked: PageRequest, found: Comparison, side: int, eval_: str) -> str | None:
    """The runs of one side on an eval."""

    def word(names: Iterable[str]) -> str:
        return ",".join(map(as_word, sorted(set(names))))

    agents, models, providers = zip(*_side(found, side), strict=True)
    words = {"agent": word(agents), "model": word(models), "provider": word(providers), "eval": as_word(eval_)}
    return asked.links.to("/runs", words)


def _changed(asked: PageRequest, found: Comparison) -> Child:
    """What the runs of the two were made of, where it differs: files, versions, overlays."""
    current = identities(asked.project, asked.store.cells()).current
    told: Counter[str] = Counter()
    for a, b in found.pairs:
        for one in found.evals:
            cells = [current.get((*side[0], one.name)) for side in (b, a) if side]
            if len(cells) == 2 and cells[0] is not None and cells[1] is not None:
                told.update(between(cells[0], cells[1]))
    if not told:
        return tag("p", f"Nothing that is recorded differs between {found.a} and {found.b} but their names.")
    listed = ", ".join(name for name, _ in told.most_common(MOST_CHANGES))
    return tag("p", f"What differs from {found.b} to {found.a}: {listed}.")


def _as_text(found: Comparison) -> TextTable:
    columns = [TextColumn("eval", words=True), *map(TextColumn, (found.a, found.b, "difference"))]
    rows = [[one.name, f"{one.a:.3f}", f"{one.b:.3f}", f"{one.difference:+.3f}"] for one in _ordered(found)]
    return TextTable(columns, rows)
