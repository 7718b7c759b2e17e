"""What could not be used goes into FILE.rejects, beside the file: where it stands, why, and the line itself."""


class Rejects:
    """An empty file to begin with: the partner's program wants one each night, rejects or not."""

    def __init__(self, path):
        self.file = open(path + ".rejects", "w", encoding="utf-8", newline="\n")

    def add(self, file, line, reason, raw):
        self.file.write("%s:%d\t%s\t%s\n" % (file, line, reason, raw))

    def finish(self):
        self.file.close()
