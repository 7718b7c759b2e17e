"""CSV as spreadsheets like it: commas, a line of names, CRLF."""

import csv
import io


def table(names, rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(names)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value):
    """Empty instead of None, and nothing that a spreadsheet would take for a formula."""
    if value is None:
        return ""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@"):
        return "'" + value
    return value
