"""The three kinds of files that the partner sends. A reader knows three things:

    ENCODING           of its files
    FIRST              the number of lines before the first one with data
    end_count(line)    the count in an end line; None if the line is no end line
    parse(line, settings)  a Row; raises Problem
"""

import hashlib
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
    """(number, line) of each line, one by one and without its end; numbers count from 1. Empty lines are left out."""
    encoding = reader_for(path).ENCODING
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                text = line.rstrip(b"\n").rstrip(b"\r").decode(encoding, "replace")
                if text.strip():
                    yield number, text
    except OSError as error:
        raise TallyError("%s: %s" % (path, error.strerror))


def data_lines(path):
    """The lines with data, up to the end line."""
    reader = reader_for(path)
    for number, line in numbered_lines(path):
        if number <= reader.FIRST:
            continue
        if reader.end_count(line) is not None:
            return
        yield number, line


def check_complete(path):
    """A file that is whole ends with a line that counts the others. Nothing but empty lines comes after it."""
    last = ""
    for _, last in numbered_lines(path):
        pass
    count = reader_for(path).end_count(last)
    if count is None or count != sum(1 for _ in data_lines(path)):
        raise Incomplete("%s: incomplete" % os.path.basename(path))


def digest(path):
    """What tells a file from another one of the same name."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
