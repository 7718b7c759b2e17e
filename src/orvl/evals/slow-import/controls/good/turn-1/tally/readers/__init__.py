"""The three kinds of files that the partner sends. A reader knows three things:

    ENCODING           of its files
    FIRST              the number of lines before the first one with data
    end_count(line)    the count in an end line; None if the line is no end line
    parse(line, settings)  a Row; raises Problem
"""

import os

from tally.errors import Incomplete, TallyError
from tally.readers import csvfile, datfile, jsonfile

BY_SUFFIX = {".csv": csvfile, ".dat": datfile, ".jsonl": jsonfile}


def reader_for(path):
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in BY_SUFFIX:
        raise TallyError("%s: files are .csv, .dat or .jsonl" % path)
    return BY_SUFFIX[suffix]


def numbered_lines(path):
    """(number, line) of each line, without its end; numbers count from 1. Empty lines are left out."""
    encoding = reader_for(path).ENCODING
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise TallyError("%s: %s" % (path, error.strerror))
    lines = [line.rstrip(b"\r").decode(encoding, "replace") for line in content.split(b"\n")]
    return [(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def data_lines(path):
    """The lines with data, up to the end line, of a file that is whole: it ends with a line that counts the others.
    Nothing but empty lines comes after it."""
    reader = reader_for(path)
    lines = numbered_lines(path)
    count = reader.end_count(lines[-1][1]) if lines else None
    found = []
    for number, line in lines:
        if number <= reader.FIRST:
            continue
        if reader.end_count(line) is not None:
            break
        found.append((number, line))
    if count is None or count != len(found):
        raise Incomplete("%s: incomplete" % os.path.basename(path))
    return found
