"""Takes every line for nothing, and every duration for wrong."""


def parse_line(line):
    return None


def read(lines):
    return iter(())


def seconds(text):
    raise ValueError(text)


def slowest(entries, count):
    if count < 1:
        raise ValueError(count)
    return []
