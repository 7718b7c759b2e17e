"""What could not be used goes into FILE.rejects, beside the file: where it stands, why, and the line itself."""

import os


class Rejects:
    """Grows under another name; FILE.rejects is there when all of it is."""

    def __init__(self, path):
        self.path = path + ".rejects"
        self.file = open(self.path + ".part", "w", encoding="utf-8", newline="\n")

    def add(self, file, line, reason, raw):
        self.file.write("%s:%d\t%s\t%s\n" % (file, line, reason, raw))

    def finish(self):
        self.file.close()
        os.replace(self.path + ".part", self.path)
