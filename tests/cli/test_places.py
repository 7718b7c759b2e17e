"""Evals that want absolute paths, variables, a reward and a script as their solution: what tasks of other tools need."""

from __future__ import annotations

import pytest

EVAL = """
---
metrics: {checks: 1}
workdir: /app
places: [/data]
env: {GREETING: hello, PATH: "/home/agent/tools:$PATH"}
setup: mkdir -p ~/tools && cp /setup/hi ~/tools && hi > made-by-setup
checks:
  - {name: verifier, verifier: all, run: bash /tests/test.sh}
---
Write /app/out.txt and /data/out.txt.
"""
TEST = """
#!/bin/bash
[ "$(pwd)" = /app ] && [ "$(hi)" = "hello from /app" ] && touch /tests/written && [ "$(ls /logs/verifier)" = "" ] || exit 1
reward=0
[ "$(cat /app/out.txt)" = yes ] && reward=0.25
[ "$(cat /data/out.txt)" = "given yes" ] && reward=1
echo $reward > /logs/verifier/reward.txt
exit 7
"""


@pytest.fixture
def task(project):
    project.write("evals/task/eval.md", EVAL)
    project.write("evals/task/workspace/.places/data/in.txt", "given\n")
    project.write("evals/task/setup/hi", '#!/bin/sh\necho $GREETING from "$(pwd)"\n').chmod(0o755)
    project.write("evals/task/checks/all/test.sh", TEST)
    project.write("evals/task/controls/good/.run", "sh /solution/solve.sh\n")
    project.write(
        "evals/task/controls/good/solve.sh",
        'echo yes > out.txt; echo "$(cat /data/in.txt) yes" > /data/out.txt\n',
    )
    return project


def does(project, command: str, name: str = "mine") -> None:
    project.agent(name, f'models = {{"none": ["m"]}}\ndef command(): return ["sh", "-c", {command!r}]\n')


def checked(project, agent: str, *flags: str):
    result = project.orvl(agent, "--eval=task", *flags)
    assert result.status == 0, result.err
    (check,) = project.orvl("show", f"{agent}/task/1", "--json").json["attempts"][0]["checks"]
    return check


def test_a_script_of_the_evals_makes_the_good_result_and_earns_the_whole_reward(task):
    check = checked(task, "dummy-good")
    assert (check["passed"], check["share"], check["isolation"]) == (True, 1, "in-process")
    shown = task.orvl("show", "dummy-good/task/1").out
    assert ".places/data/out.txt" in shown and "solve.sh" not in shown
    assert task.orvl("show", "dummy-good/task/1", "--file", "made-by-setup").out == "hello from /app\n"


def test_doing_nothing_earns_none_of_it_and_some_of_the_work_its_part(task):
    assert checked(task, "empty")["share"] == 0
    does(task, "echo yes > out.txt")
    check = checked(task, "mine")
    assert (check["passed"], check["share"], check["status"]) == (False, 0.25, 7)
    assert task.orvl("report", "mine", "--json").json["ratings"][0]["R"] == 0.25


def test_a_reward_that_the_agent_wrote_beforehand_is_never_seen(task):
    for place in ("/logs/verifier", "/tmp/logs/verifier", "~/logs/verifier", "logs/verifier", "/data/logs/verifier"):
        does(task, f"mkdir -p {place} && echo 1 > {place}/reward.txt; echo 1 > {place}/reward.json; true")
        check = checked(task, "mine", "--fresh")
        assert (check["passed"], check["share"]) == (False, 0), place


def test_a_place_that_the_agent_turned_into_a_link_leads_nowhere(task):
    does(task, "rm -rf .places && ln -s / .places; echo x > /data/mine 2>/dev/null; true")
    assert checked(task, "mine")["share"] == 0


@pytest.mark.parametrize(
    ("written", "share", "words"),
    [
        ("", None, "it wrote no reward to /logs/verifier/reward.txt or reward.json"),
        ("echo nan > $L/reward.txt", None, "/logs/verifier/reward.txt says nan, which is not from 0 to 1"),
        ("echo 2 > $L/reward.txt", None, "says 2, which is not from 0 to 1"),
        ("echo -1 > $L/reward.txt", None, "says -1, which is not from 0 to 1"),
        ("echo well > $L/reward.txt", None, "/logs/verifier/reward.txt has no number: 'well\\n'"),
        (": > $L/reward.txt", None, "has no number: ''"),
        ("ln -s /tests/one $L/reward.txt; echo 1 > /tests/one", None, "it wrote no reward"),
        ("mkfifo $L/reward.txt", None, "it wrote no reward"),
        ("head -c 70000 /dev/zero > $L/reward.txt", None, "has more than 64 KiB"),
        ("rm -rf /tmp/logs; ln -s /etc /tmp/logs", None, "it wrote no reward"),
        ("echo 0.5 > $L/reward.txt", 0.5, ""),
        ('echo \'{"reward": 0.75, "style": 0}\' > $L/reward.json; echo 1 > $L/reward.txt', 0.75, ""),
        ('echo \'{"a": 1, "b": 0.5}\' > $L/reward.json', 0.75, ""),
        ('echo \'{"a": 3, "b": -2}\' > $L/reward.json', None, "has no number"),
        ("echo '{}' > $L/reward.json", None, "has no number"),
        ('echo \'{"reward": "1"}\' > $L/reward.json', None, "has no number"),
        ("echo 1 > $L/reward.json", 1, ""),
    ],
)
def test_only_a_number_from_0_to_1_in_a_plain_file_is_a_reward(task, written, share, words):
    task.write("evals/task/checks/all/test.sh", f"L=/logs/verifier\n{written}\nexit 0\n")
    check = checked(task, "empty")
    assert check["share"] == share
    assert check["passed"] == (share == 1)
    assert words in check["output"]


def test_a_verifier_that_takes_too_long_has_failed_whatever_it_wrote(task):
    task.write("evals/task/checks/all/test.sh", "echo 1 > /logs/verifier/reward.txt; sleep 60\n")
    task.write("evals/task/eval.md", EVAL.replace("run: bash", "limit: 1, run: bash"))
    check = checked(task, "empty")
    assert (check["passed"], check["share"], check["cut"]) == (False, None, "passed its limit of 1 s")


def test_without_walls_there_are_no_such_paths(task):
    result = task.orvl("empty", "--eval=task", "--sandbox=none")
    assert result.status == 1
    assert "task needs /app, /data, /tests, which only a sandbox has; run it without --sandbox none" in result.err


def test_other_checks_find_the_work_and_their_files_where_it_is(task):
    checks = (
        "  - {name: beside, run: test -f checks/secret && test -f out.txt && test $GREETING = hello}\n"
        "  - {name: apart, run: sh checks/apart.sh, isolated: true}\n"
    )
    task.write("evals/task/eval.md", EVAL.replace("checks:\n", f"checks:\n{checks}"))
    task.write("evals/task/checks/secret", "s\n")
    task.write(
        "evals/task/checks/apart.sh", '[ "$(subject run sh -c \'pwd; hi; cat /data/out.txt\')" = "$(cat checks/x)" ]'
    )
    task.write("evals/task/checks/x", "/app\nhello from /app\ngiven yes\n")
    task.write("evals/task/eval.md", (task.root / "evals/task/eval.md").read_text().replace("hi > made", "true > made"))
    task.orvl("dummy-good", "--eval=task")
    found = task.orvl("show", "dummy-good/task/1", "--json").json["attempts"][0]["checks"]
    # HOME is new for what an isolated check runs, so the program that the setup put there is not.
    assert [check["passed"] for check in found] == [True, False, True], found
    task.write("evals/task/checks/x", "/app\ngiven yes\n")
    task.orvl("score", "dummy-good", "--eval=task")
    found = task.orvl("show", "dummy-good/task/1", "--json").json["attempts"][0]["checks"]
    assert [check["passed"] for check in found] == [True, True, True], found


def test_controls_by_turn_may_be_scripts(project):
    project.write(
        "evals/two/eval.md",
        "---\nmetrics: {checks: 1}\nchecks:\n  - {name: one, run: test -f one, turn: 1}\n"
        "  - {name: two, run: test -f two}\n---\nOne.\n---\nTwo.\n",
    )
    project.write("evals/two/controls/good/turn-1/.run", "touch one\n")
    project.write("evals/two/controls/good/turn-2/.run", "test -f one && test ! -e /solution/no && touch two\n")
    assert project.orvl("dummy-good", "--eval=two", "--json").json["ratings"][0]["R"] == 1
    project.write("evals/two/controls/good/turn-2/.run", "echo oh no >&2; exit 3\n")
    (row,) = project.orvl("dummy-good", "--eval=two", "--json").json["ratings"]
    assert row["runs"]["failed"] == 1
    assert "turn 2 ended with status 3, and said: oh no" in project.orvl("show", "dummy-good/two/1").out


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("workdir: app", "'app' cannot be a folder of a run: it must be an absolute path"),
        ("workdir: /app/../etc", "'/app/../etc' cannot be a folder of a run: it must be an absolute path"),
        ("workdir: /usr/local", "a sandbox has /usr of its own"),
        ("workdir: /home", "a sandbox has /home/agent of its own"),
        ("places: [/tests]", "a sandbox has /tests of its own"),
        ("{workdir: /app, places: [/app/data]}", "'/app/data' and '/app' are in each other"),
        ("places: [/data, /data/x]", "'/data/x' and '/data' are in each other"),
        ("env: {HOME: /root}", "'env' may not set 'HOME': orvl sets it for every run."),
        ("env: {OPENAI_BASE_URL: x}", "'env' may not set 'OPENAI_BASE_URL'"),
        ("env: {OPENAI_API_KEY: x}", "keys never reach agents"),
        ("checks: [{name: a, run: x, verifier: ../..}]", "there is no folder checks/../.. that it could be shown"),
        ("checks: [{name: a, run: x, verifier: gone}]", "there is no folder checks/gone that it could be shown"),
        ("checks: [{name: a, run: x, verifier: all, isolated: true}]", "remove 'isolated' or 'steps'"),
    ],
)
def test_what_no_sandbox_can_have_is_refused(task, head, words):
    task.write("evals/task/eval.md", f"---\n{head}\n---\nGo.\n")
    result = task.orvl("empty", "--eval=task", "--dry-run")
    assert result.status == 2
    assert words in result.err


def test_a_working_folder_may_lie_in_another_place(project):
    project.write("evals/in/eval.md", "---\nmetrics: {speed: 1}\nworkdir: /app/src\nplaces: [/app]\n---\nGo.\n")
    project.write("evals/in/workspace/a.txt", "inner\n")
    project.write("evals/in/workspace/.places/app/b.txt", "outer\n")
    does(project, "cat a.txt ../b.txt; pwd; echo more > /app/c.txt")
    assert project.orvl("mine", "--eval=in").status == 0
    assert project.orvl("show", "mine/in/1", "--output").out.split()[-3:] == ["inner", "outer", "/app/src"]
    assert project.orvl("show", "mine/in/1", "--file", ".places/app/c.txt").out == "more\n"


def test_the_setup_alone_may_reach_registries(project):
    project.write("evals/net/eval.md", "---\nmetrics: {speed: 1}\nsetup: env > seen\nnetwork: setup\n---\nGo.\n")
    does(project, "grep -c ^HTTPS_PROXY seen; env | grep -c ^HTTPS_PROXY; true")
    assert project.orvl("mine", "--eval=net").status == 0
    assert project.orvl("show", "mine/net/1", "--output").out.split()[-2:] == ["1", "0"]
