"""The table of the page beside the numbers that are right."""

from build import built
from cases import Wrong, expect
from page import COLUMNS_OF_AMOUNTS, number
from shop import Figures

NEARLY = 0.0501
"""Half of the last digit of a conversion: both ways of rounding are right."""


def compare(made, story, *columns, by="order", days=None):
    """These columns of all rows. A day that is missing or too many is wrong whatever is compared."""
    rows = made.page.rows()
    right = story.shop.figures(by)
    names = [day.isoformat() for day in story.shop.days]
    expect("the rows of the table", [*names, "total"], list(rows))
    wanted = dict(zip(names, right)) | {"total": sum(right, Figures())}
    for name in days or wanted:
        for column in columns:
            compare_cell(f"{column} of {name}", column, wanted[name], rows[name].get(column, ""))


def compare_cell(what, column, figures, text):
    wanted, seen = getattr(figures, column), number(what, text)
    if column == "conversion":
        is_right = (seen is None) == (wanted is None) and (wanted is None or abs(seen - wanted) <= NEARLY)
    elif column in COLUMNS_OF_AMOUNTS:
        is_right = seen is not None and abs(seen - wanted / 100) < 0.001
        wanted = wanted / 100
    else:
        is_right = seen == wanted
    if not is_right:
        raise Wrong(f"{what}: expected {wanted}, saw {text!r}")


def table_case(name, tell, *columns, by="order"):
    """A case: what a function tells, built and compared."""

    story = tell()
    made = built(story)
    return name, lambda: compare(made, story, *columns, by=by)
