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


def read_lines(path):
    """All lines of a file, without their ends."""
    reader = reader_for(path)
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise TallyError("%s: %s" % (path, error.strerror))
    lines = content.split(b"\n")
    return [line.rstrip(b"\r").decode(reader.ENCODING, "replace") for line in lines]


def count_lines(path):
    """How many lines with data there are."""
    reader = reader_for(path)
    count = 0
    for number, line in enumerate(read_lines(path), 1):
        if number <= reader.FIRST or not line.strip():
            continue
        if reader.end_count(line) is not None:
            break
        count += 1
    return count


def check_complete(path):
    """A file that is whole ends with a line that counts the others. Nothing but empty lines comes after it."""
    reader = reader_for(path)
    lines = read_lines(path)
    while lines and not lines[-1].strip():
        lines.pop()
    count = reader.end_count(lines[-1]) if lines else None
    if count is None or count != count_lines(path):
        raise Incomplete("%s: incomplete" % os.path.basename(path))


def data_lines(path):
    """(number, line) of each line with data; numbers count all lines from 1."""
    reader = reader_for(path)
    found = []
    for number, line in enumerate(read_lines(path), 1):
        if number <= reader.FIRST or not line.strip():
            continue
        if reader.end_count(line) is not None:
            break
        found.append((number, line))
    return found


def raw_line(path, number):
    """A line as it is in the file, for the rejects."""
    return read_lines(path)[number - 1]
