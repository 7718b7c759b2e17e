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
    """Each line that is not empty, with its number from 1 on and without its end; never more than one at a time."""
    reader = reader_for(path)
    if not os.path.isfile(path):
        raise TallyError("%s: No such file or directory" % path)
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            line = line.removesuffix(b"\n").rstrip(b"\r").decode(reader.ENCODING, "replace")
            if not line.isspace() and line:
                yield number, line


def data_lines(path):
    reader = reader_for(path)
    for number, line in numbered_lines(path):
        if number > reader.FIRST:
            if reader.end_count(line) is not None:
                break
            yield number, line


def check_complete(path):
    """The last line must be an end line, and know how many lines come before the first of these."""
    reader = reader_for(path)
    wanted = None
    count = 0
    is_over = False
    for number, line in numbered_lines(path):
        wanted = reader.end_count(line)
        if number > reader.FIRST:
            is_over = is_over or wanted is not None
            count += not is_over
    if wanted is None or wanted != count:
        raise Incomplete("%s: incomplete" % os.path.basename(path))
