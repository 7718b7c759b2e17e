"""The program as it was given to the agent, run beside the check."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from shutil import copytree

OF_CLOCK = 0.6
"""On a busy machine the clock measures the others, so the processor's time counts. But who has the work done by a process
that nobody waits for pays this share of the time that it took."""
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
        before, began = _used(), time.perf_counter()
        ended = subprocess.run(
            [sys.executable, "-m", "tally", *words],
            cwd=self.folder,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": ""},
            check=False,
        )
        self.status, self.stdout = ended.returncode, ended.stdout.decode()
        return max(_used() - before, OF_CLOCK * (time.perf_counter() - began))

    def remove(self):
        self._folder.cleanup()

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
