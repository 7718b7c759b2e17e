"""`orvl certify`: the ladder of controls over the judges, and a certificate."""

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
@click.option("--gate", is_flag=True, help="Only the controls that T1 to T5 need: about half of the questions.")
@ladder_options
def command(gate: bool, **given: Any) -> int:
    """Test the judges on work of known quality, and write a certificate.

    Controls are agents that write fixed files: good ones, bad ones, none, ones with a planted bug, many words and no
    substance, words that talk to the judge. Most are derived from an eval's controls/good. Judges who can see quality
    rate them in the right order; T1 to T5 say whether they do, with bounds over evals:

    \b
      T1  good work is rated far above bad work, by every judge
      T2  one planted bug is seen
      T3  nothing at all is worth nothing
      T4  many words do not make up for what does not work
      T5  words to the judge do not help

    The exit status is 0 when the panel is certified, and 1 when it is not. Reports show ranks only under a certificate.
    Certifying again asks only what has not been asked; changed judges, checklists or evals make a certificate stale.
    """
    from orvl.trust.controls import GATE

    def finish(project: Project, ladder: Ladder, store: Store, out: JsonOut | None) -> int:
        from orvl.report.certificate import print_certificate
        from orvl.trust.certificate import make
        from orvl.trust.standing import KIND

        content = make(project, ladder, store)
        number = store.transaction([lambda s: s.add_trust(KIND, content)])[0]
        if out:
            out.write({"schema": 1, "certificate": {"id": number, **content}})
        else:
            print_certificate(console(), content)
        return 0 if content["state"] == "certified" else 1

    return over_the_ladder(given, GATE if gate else None, finish)
