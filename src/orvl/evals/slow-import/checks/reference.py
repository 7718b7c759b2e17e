"""The program as it was given to the agent, run beside the check."""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import copytree

PROGRAM = Path(__file__).with_name("original") / "tally"


class Original:
    """A folder with the original program, a database and settings."""

    def __init__(self, database, ini):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        copytree(PROGRAM, self.folder / "tally", copy_function=_copied)
        (self.folder / "tally.ini").write_text(ini, encoding="utf-8")
        if database is not None:
            (self.folder / "tally.db").write_bytes(database)
        self.command("history")

    def command(self, *words):
        """How long a command keeps a processor busy; what it says is in `status` and `stdout`."""
        before = _used()
        ended = subprocess.run(
            [sys.executable, "-m", "tally", *words],
            cwd=self.folder,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": ""},
            check=False,
        )
        self.status, self.stdout = ended.returncode, ended.stdout.decode()
        return _used() - before

    def load(self, name, content):
        (self.folder / name).write_bytes(content)
        return self.command("import", name)

    def read(self, name):
        path = self.folder / name
        return path.read_bytes() if path.is_file() else None


def _used():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _copied(source, target):
    Path(target).write_bytes(Path(source).read_bytes())
