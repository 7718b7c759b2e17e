"""Files of the desks: semicolons, Windows letters, a head line.

    kind;number;sold;venue;product;count;price;note
    S;00481533;14.07.2026 09:05:00;HAF;DAYT;2;12,50;"paid; by card"
    X;00481533
    #END;2
"""

import re

from tally import money, row
from tally.errors import Problem

ENCODING = "cp1252"
FIRST = 1
DELIMITER = ";"


def end_count(line):
    match = re.compile(r"#END;([0-9]+)\s*").fullmatch(line)
    return int(match[1]) if match else None


def split_fields(line):
    """Quotes go around a whole field, and are doubled inside. Any others are a mistake of the desk's program."""
    pattern = re.compile(r'(?:"((?:[^"]|"")*)"|([^"%s]*))(%s|$)' % (DELIMITER, DELIMITER))
    fields = []
    at = 0
    while True:
        match = pattern.match(line, at)
        if match is None:
            raise Problem("quotes")
        quoted, plain, end = match.groups()
        fields = fields + [plain if quoted is None else quoted.replace('""', '"')]
        if not end:
            return fields
        at = match.end()


def parse(line, settings):
    fields = split_fields(line)
    is_short = fields[0] == "X" and len(fields) >= 2
    if len(fields) != 8 and not is_short:
        raise Problem("fields")
    kind, number, sold, venue, product, count, price, note = (fields + [""] * 6)[:8]
    return row.make(settings, kind, number, sold, venue, product, count, lambda: money.parse_price(price), note)
