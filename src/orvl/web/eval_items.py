"""How contestants did on one eval: each run as a dot, and each item of its checklists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.names import count
from orvl.rate.item_shares import MOST, item_shares
from orvl.web.draw import dots
from orvl.web.html import tag
from orvl.web.show import Heading, heat, link, missing, sentences, table

if TYPE_CHECKING:
    from orvl.rate.collect import Board
    from orvl.web.html import Child
    from orvl.web.page import PageRequest
    from orvl.web.show import TableCell, TableRow


def runs_part(asked: PageRequest, board: Board, eval_: str) -> Child:
    """R of each run; where several lie, the dot is darker."""
    rows: list[TableRow] = []
    for ref in board.gathered.refs:
        values = [R for R in board.ratings.get(ref.id or 0, ()) if R == R]
        if ref.names[3] == eval_ and values:
            agent, model, provider, _ = ref.names
            runs = asked.links.runs(agent=agent, model=model, provider=provider, eval=eval_)
            rows.append((None, [link(" ".join(ref.names[:3]), runs), dots(values), str(len(values))]))
    if not rows:
        return None
    headings = [Heading("agent model provider", words=True), Heading("0 to 1"), Heading("rated runs")]
    return [tag("h2", "Each run"), table("R of each run", headings, rows)]


def items_part(asked: PageRequest, board: Board, eval_: str) -> Child:
    """Items down, contestants across: the share of answers that say that the item is fulfilled."""
    found = item_shares(asked.store, board, eval_)
    if not found.items:
        return None

    def cell(item: tuple[str, int], one: tuple[str, str, str]) -> TableCell:
        share, (agent, model, provider) = found.share(item, one), one
        runs = asked.links.runs(agent=agent, model=model, provider=provider, eval=eval_)
        return missing("– not told") if share is None else heat(share, link(f"{share:.2f}", runs))

    rows: list[TableRow] = [
        (None, [f"{item[0]}: {text}", *(cell(item, one) for one in found.contestants)])
        for item, text in found.items.items()
    ]
    headings = [Heading("item", words=True), *(Heading(" ".join(one)) for one in found.contestants)]
    newest = f", the newest {MOST:,}" if found.verdicts >= MOST else ""
    legend = f"Share of good answers among those that were told, over {count(found.verdicts, 'verdict')}{newest}."
    return [tag("h2", "Items"), table("Share of good answers by item", headings, rows), sentences([legend])]
