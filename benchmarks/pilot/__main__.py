"""`python -m benchmarks.pilot [--episodes N] [--eval NAME,…] [--keep PAGE]`: runs the pilot, prints its board."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.pilot.board import as_markdown, board_of
from benchmarks.pilot.running import make_project, orvl, run
from benchmarks.pilot.skills import SKILLS
from benchmarks.pilot.work import shipped

START, END = "<!-- pilot -->\n", "<!-- end of pilot -->\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pilot", description=__doc__)
    parser.add_argument("--episodes", type=int, default=2)
    parser.add_argument("--eval", default="", help="evals by name, separated by commas; all shipped ones by default")
    parser.add_argument("--folder", type=Path, help="where runs are kept, so that another call continues")
    parser.add_argument("--keep", type=Path, help="the page that gets the result")
    words = parser.parse_args()
    evals = [*filter(None, words.eval.split(","))] or list(shipped())
    with tempfile.TemporaryDirectory(prefix="orvl-pilot-") as temporary:
        project = make_project(words.folder or Path(temporary))
        plan = run(project, SKILLS, evals, words.episodes)
        print(orvl(project, "report"))
        text = as_markdown(board_of(project), plan, words.episodes)
    print(text)
    if words.keep:
        keep(words.keep, text)


def keep(page: Path, text: str) -> None:
    """Puts the result between the marks of a page."""
    before, _, rest = page.read_text().partition(START)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{START}{text}{END}{after}")


if __name__ == "__main__":
    main()
