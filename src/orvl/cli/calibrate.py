"""`orvl calibrate`: how harsh or generous each judge is, from work whose worth is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import JsonOut, console
from orvl.cli.ladder import ladder_options, over_the_ladder

if TYPE_CHECKING:
    from orvl.project import Project
    from orvl.store import Store
    from orvl.trust.ladder import Ladder


@click.command()
@ladder_options
def command(**given: Any) -> int:
    """Measure how harsh or generous each judge is, and put their scores on a common scale.

    The dose series is work with no bug, one, two, four, and all: what it is worth is what people say of it, or the
    share of the eval's checks that it passes. Each judge gets a straight line from worth to score, drawn towards "as it
    is" by as much as it is unsure, and the error on an anchor that was held out is printed. A judge whose scores hardly
    follow the worth, or no line, is refused. From then on reports show the calibrated rating beside the raw one, which
    is never replaced.

    The exit status is 0 when every judge is calibrated, and 1 when one is refused.
    """
    from orvl.trust.controls.doses import DOSES

    def finish(project: Project, ladder: Ladder, store: Store, out: JsonOut | None) -> int:
        from orvl.report.calibration import print_calibration
        from orvl.trust.calibration import KIND, make

        content = make(project, ladder, store)
        number = store.transaction([lambda s: s.add_trust(KIND, content)])[0]
        if out:
            out.write({"schema": 1, "calibration": {"id": number, **content}})
        else:
            print_calibration(console(), content)
        return int(any(judge["map"]["refused"] for judge in content["judges"]))

    return over_the_ladder(given, DOSES, finish, needs_judges=True)
