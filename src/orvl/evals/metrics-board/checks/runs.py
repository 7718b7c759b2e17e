"""Commands of the work, several in one go: to start a sandbox's process takes longer than most of them."""

import shlex
from dataclasses import dataclass

from orvl import checks

SECONDS = 30
TOO_LONG = 124
SCRIPT = """
n=0
while read -r line; do
  n=$((n + 1))
  eval "timeout {seconds} $line" > "$1/$n.out" 2> "$1/$n.err" < /dev/null
  echo $? > "$1/$n.status"
done
"""


@dataclass(frozen=True)
class Ended:
    status: int
    stdout: bytes
    stderr: bytes

    @property
    def said(self):
        return self.stderr.decode("utf-8", "replace")


NOTHING = Ended(TOO_LONG, b"", b"it was not run, or did not end")


def run_all(folder, commands):
    """How each command ended; what they say is kept in a folder of the workspace until it is read."""
    checks.write(f"{folder}/commands", "")
    lines = "".join(f"{shlex.join(command)}\n" for command in commands)
    checks.run("sh", "-c", SCRIPT.replace("{seconds}", str(SECONDS)), "_", folder, input=lines, seconds=SECONDS * 4)
    return [_ended(f"{folder}/{number}") for number in range(1, len(commands) + 1)]


def _ended(path):
    status, out, err = (checks.read(f"{path}.{name}") for name in ("status", "out", "err"))
    if status is None or out is None or err is None or not status.strip().isdigit():
        return NOTHING
    return Ended(int(status), out, err)
