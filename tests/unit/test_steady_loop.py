"""Deadlines of orvl stand still while orvl does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

CODE = """
import asyncio, sys
from orvl.engine.steady_loop import run

async def main():
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    print("ready", flush=True)
    async with asyncio.timeout(1.5):
        print((await reader.readline()).decode(), flush=True)
    try:
        async with asyncio.timeout(0.2):
            await reader.readline()
    except TimeoutError:
        print("late", flush=True)

run(main())
"""


def test_an_answer_that_came_while_orvl_was_stopped_is_not_late():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", CODE], **pipes) as process:
        assert process.stdout.readline() == "ready\n"
        os.kill(process.pid, signal.SIGSTOP)
        process.stdin.write("answer\n")
        process.stdin.flush()
        time.sleep(4)
        os.kill(process.pid, signal.SIGCONT)
        assert process.stdout.readline() == "answer\n", process.stderr.read()
        process.stdout.readline()
        assert process.stdout.readline() == "late\n"
