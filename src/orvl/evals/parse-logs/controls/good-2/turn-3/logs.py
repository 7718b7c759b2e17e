"""Our server logs as dicts."""

LEVELS = ("DEBUG", "INFO", "WARN", "ERROR")
SHAPE = "0000-00-00T00:00:00Z"
DIGITS = "0123456789"
UNITS = (("h", 3600.0), ("m", 60.0), ("s", 1.0), ("ms", 1 / 1000))
KEY_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + DIGITS + "_.-")


def parse_line(line):
    """A dict with the parts of a line; None for a line that begins no entry."""
    line = chomp(line)
    time, rest = line[: len(SHAPE)], line[len(SHAPE) :]
    if "".join("0" if sign in DIGITS else sign for sign in time) != SHAPE or not rest.startswith(" "):
        return None
    level, space, rest = rest.lstrip(" ").partition(" ")
    rest = rest.lstrip(" ")
    if level not in LEVELS or not space or not rest.startswith("["):
        return None
    source, bracket, rest = rest[1:].partition("]")
    if not (source and bracket) or rest[:1] not in ("", " "):
        return None
    words = list(scan(rest))
    first = len(words)
    while first and words[first - 1][1] is not None:
        first -= 1
    begin = words[first][0] if first < len(words) else len(rest)
    fields = dict(pair for _, pair in words[first:])
    return {"time": time, "level": level, "source": source, "message": rest[:begin].strip(" "), "fields": fields}


def read(lines):
    """The entries of a file one by one, each with the lines that belong to it."""
    entry, blank = None, []
    for line in lines:
        begun = parse_line(line)
        if begun is not None:
            if entry is not None:
                yield entry
            entry, blank = begun | {"more": []}, []
        elif entry is not None:
            blank.append(chomp(line))
            if blank[-1].strip():  # blank lines count only if another one comes after them
                entry["more"] += blank
                blank = []
    if entry is not None:
        yield entry


def chomp(line):
    for end in ("\r\n", "\n", "\r"):
        if line.endswith(end):
            return line[: -len(end)]
    return line


def scan(text):
    """The words of a text: where each begins, and its key and value if it is a field."""
    at = 0
    while at < len(text):
        if text[at] == " ":
            at += 1
            continue
        pair, end = field_at(text, at)
        yield at, pair
        at = end


def field_at(text, at):
    """The field that begins here and where it ends; None in its place where there is none."""
    space = text.find(" ", at)
    plain_end = len(text) if space < 0 else space
    key, equals, value = text[at:plain_end].partition("=")
    if not equals or not key or not KEY_SIGNS.issuperset(key):
        return None, plain_end
    if not value.startswith('"'):
        return (key, value), plain_end
    return quoted(text, key, at + len(key) + 2) or (None, plain_end)


def quoted(text, key, at):
    """The field whose value goes on here inside quotes; None if the quotes are not right."""
    value = ""
    while at < len(text):
        sign = text[at]
        if sign == '"':
            return ((key, value), at + 1) if text[at + 1 : at + 2] in ("", " ") else None
        if sign == "\\":
            at += 1
            sign = text[at : at + 1]
            if sign not in ('"', "\\") or not sign:
                return None
        value += sign
        at += 1
    return None


def seconds(text):
    """A duration such as 1m30s as a float."""
    total, left, units = 0.0, text, list(UNITS)
    while left:
        number = left[: len(left) - len(left.lstrip(DIGITS + "."))]
        left = left[len(number) :]
        unit = left[: len(left) - len(left.lstrip("hms"))]
        left = left[len(unit) :]
        while units and units[0][0] != unit:
            units.pop(0)
        whole, point, part = number.partition(".")
        if not units or not whole or (point and not part) or "." in part:
            raise ValueError(f"not a duration: {text!r}")
        total += float(number) * units.pop(0)[1]
    if not text:
        raise ValueError("an empty text is no duration")
    return total


def slowest(entries, count):
    """So many of the entries, those that took longest, beginning with the longest."""
    if count < 1:
        raise ValueError(f"{count} entries cannot be the slowest")
    timed = []
    for entry in entries:
        try:
            timed.append((seconds(entry["fields"].get("took", "")), entry))
        except ValueError:
            pass
    timed.sort(key=lambda pair: pair[0], reverse=True)  # which keeps the order of equal ones
    return [entry for _, entry in timed[:count]]
