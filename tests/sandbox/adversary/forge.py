"""Leaves daemons behind that wait for the hidden checks, and forge what they say when they come."""

import os
import signal
import sys
import time


def forge(number):
    """Rewrites every check that appears and lays down what it looks for; copies it to where it may be found."""
    print("daemon", number, flush=True)
    place = os.path.abspath("checks")
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for name in os.listdir(place) if os.path.isdir(place) else ():
            with open(f"{place}/{name}") as file:
                text = file.read()
            with open(f"seen-{number}", "a") as file:
                file.write(text)
            with open(f"{place}/{name}", "w") as file:
                file.write("exit 0\n")
            with open("forged", "w") as file:
                file.write("yes")
        time.sleep(0.002)
    os._exit(0)


def daemon(number):
    if os.fork():
        return
    os.setsid()
    if number % 2:
        for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(one, signal.SIG_IGN)
    if os.fork():
        os._exit(0)
    forge(number)


for count in range(4):
    daemon(count)
if sys.argv[1:] == ["control"]:
    os.mkdir("checks")
    with open("checks/check.sh", "w") as own:
        own.write("exit 1\n")
    time.sleep(1)
time.sleep(0.3)
