"""An agent of known skill: does each turn well, with bugs, badly or not at all, as a seed says."""

import json
import os

from benchmarks.pilot.skills import SKILLS, name_of

from orvl import Command

models = {"none": [name_of(skill) for skill in SKILLS]}


def command(model, prompt, session, turn):
    from benchmarks.pilot.work import NOTHING, eval_asking, work_in

    episode = int(os.environ.get("PILOT_EPISODE", "0"))
    # orvl also asks with a prompt of no eval, to see which files the command names: the same as in a run.
    name = str.__str__(session) if session else eval_asking(str.__str__(prompt), episode)
    work = work_in(int(model[-2:]) / 100, name, episode, turn) if name else NOTHING
    return Command(["python3", "scripted/agent.py"], files={"turn.json": json.dumps({"session": name, **work})})


def read(output):
    return {"session": output.strip()}
