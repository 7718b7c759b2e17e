"""What /now knows of a run that talks to a model: calls, silence, budget, providers, and what was said."""

from __future__ import annotations

import subprocess
import time

from helpers.asker import KEY, prepared
from helpers.crawl import Markup
from helpers.viewing import viewing, wait_for
from orvl.testing import Answer, Fault, ModelServer, Tokens


def test_now_says_how_long_a_model_has_been_silent_and_what_is_open(project):
    first = Answer("Hello.", tokens=Tokens(input=60, output=40))
    with ModelServer([first, Fault.hang(120), Fault.hang(120)]) as server:
        prepared(project, server, times=2, more="concurrency = 3")
        project.eval("two", "---\nmetrics: {speed: 1}\nlimits: {turn: 100}\n---\nSay hello.\n")
        command = subprocess.Popen(
            [*project.command, "asker", "--eval=two", "--budget=50", "--sandbox=none"],
            cwd=project.root,
            env={**project.env, **KEY},
        )
        try:
            wait_for((project.root / ".orvl/orvl.db").exists, "there is no store")
            with viewing(project) as viewer:

                def run() -> dict:
                    content = viewer.get("/now.json").json["now"] or {"runs": []}
                    return content["runs"][0] if content["runs"] else {}

                wait_for(lambda: run().get("calls") == 2, "the second call did not begin")
                wait_for(lambda: time.time() - run()["heard"] > 3, "silence is not counted")
                content = viewer.get("/now.json").json["now"]
                (one,) = content["runs"]
                assert (one["stage"], one["open_calls"]) == ("turn 1 of 1", 1)
                assert content["budget"] == 50
                assert content["providers"] == [{"provider": "host", "open_calls": 1, "concurrency": 3}]
                text = " ".join("".join(Markup(viewer.get("/now").text).data).split())
                assert "of $50.00 are spent by agents" in text
                assert "2, 1 open" in text and "calls open" in text
        finally:
            command.terminate()
            command.wait(60)


def test_what_a_command_says_stands_on_now_too(project):
    """A provider that fails is given up with a sentence, which stays on the page while other runs go on."""
    with ModelServer(lambda _: Fault(404, "The model does not exist <b>.")) as server:
        prepared(project, server)
        project.agent(
            "slow", 'models = {"none": ["fixed"]}\ndef command(prompt): return ["sh", "-c", "sleep 100", "", prompt]\n'
        )
        command = subprocess.Popen(
            [
                *project.command,
                "asker,slow",
                "--eval=one",
                "--episodes=3",
                "--yes",
                "--sandbox=none",
                "--concurrency=2",
            ],
            cwd=project.root,
            env={**project.env, **KEY},
        )
        try:
            wait_for((project.root / ".orvl/orvl.db").exists, "there is no store")
            with viewing(project) as viewer:
                wait_for(lambda: (viewer.get("/now.json").json["now"] or {}).get("notices"), "nothing was said")
                sentence = viewer.get("/now.json").json["now"]["notices"][0]["sentence"]
                page = viewer.get("/now").text
                assert "<b>" not in page
                assert sentence.split(":")[0] in "".join(Markup(page).data)
        finally:
            command.terminate()
            command.wait(60)
