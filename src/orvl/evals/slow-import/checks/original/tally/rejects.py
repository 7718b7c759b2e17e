"""What could not be used goes into FILE.rejects, beside the file: where it stands, why, and the line itself."""


def path_of(path):
    return path + ".rejects"


def begin(path):
    """An empty file: the partner's program wants one each night, rejects or not."""
    with open(path_of(path), "w", encoding="utf-8"):
        pass


def add(path, file, line, reason, raw):
    with open(path_of(path), "a", encoding="utf-8", newline="\n") as rejects:
        rejects.write("%s:%d\t%s\t%s\n" % (file, line, reason, raw))
