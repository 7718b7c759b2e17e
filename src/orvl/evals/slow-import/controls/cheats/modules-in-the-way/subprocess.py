"""The same for the one that starts commands."""

DEVNULL = PIPE = -1


class Done:
    returncode = pid = 0
    stdout = stderr = b""

    def poll(self):
        return 0

    wait = poll


def run(*words, **how):
    return Done()


Popen = run
