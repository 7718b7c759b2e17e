"""`orvl check`: a sound eval passes, each planted defect is found by its test, and calls that are wrong are refused."""

from __future__ import annotations

import json

import pytest

from helpers.gate_evals import CHECK, EVAL, MINI_CHECK, MINI_GOOD, MINI_PROMPT, SECOND, patch, write_eval, write_mini
from helpers.needs import need_program
from helpers.user_project import UserProject

MADE_ONCE = ("sound",)
TESTS = 17


@pytest.fixture(autouse=True)
def walls():
    need_program("bwrap")


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A sound eval that was checked quickly."""
    project = UserProject(tmp_path_factory.mktemp("sound") / "project")
    write_eval(project)
    return project, project.orvl("check", "tally", "--quick", timeout=900)


def checked(project, *numbers: int, name: str = "tally", words: tuple[str, ...] = ()):
    """What these tests say, by number, and the exit status."""
    flags = [f"--test={number}" for number in numbers]
    done = project.orvl("check", name, "--json", *flags, *words, timeout=900)
    assert done.status in (0, 1), done.err
    (eval_,) = done.json["evals"]
    tests = {test["number"]: test for test in eval_["tests"]}
    assert done.status == int(any(test["state"] == "failed" for test in tests.values()))
    return [tests[number] for number in numbers]


# -- a sound eval


def test_a_sound_eval_passes_the_quick_tests(sound):
    _, done = sound
    assert done.status == 0, done.out + done.err
    lines = [line for line in done.out.splitlines() if line[:2].strip().isdigit()]
    states = {int(line[:2]): line[4:18].strip() for line in lines[:TESTS]}
    assert sorted(states) == list(range(1, TESTS + 1))
    assert {number for number, state in states.items() if state == "skipped"} == {6, 7, 13}
    assert {number for number, state in states.items() if state == "not applicable"} == {8, 14, 16, 17}
    assert "FAILED" not in done.out
    assert "tally: nothing failed" in done.out.splitlines()[-1]


def test_progress_goes_to_standard_error_and_nothing_to_the_users_store(sound):
    project, done = sound
    assert "tally: 11 cheats gain nothing …" in done.err
    assert not (project.root / ".orvl").exists()


@pytest.mark.nightly
def test_a_sound_eval_passes_the_whole_gate_and_a_ranking_says_so(project):
    write_eval(project)
    done = project.orvl("check", "tally", "--json", timeout=1800)
    (eval_,) = done.json["evals"]
    assert done.status == 0, [test for test in eval_["tests"] if test["state"] == "failed"]
    assert eval_["vetted"] is True
    assert project.orvl("dummy-good,dummy-bad", "--eval=tally", "--json").json["vetted"] == {"tally": True}


# -- planted defects


def test_a_check_that_always_passes(project):
    always = "  - {name: always, run: 'true', isolated: true, limit: 60, turn: 2}\n---\nPlease"
    write_eval(project, eval_dot_md=EVAL.replace("---\nPlease", always))
    turns, every = checked(project, 3, 4)
    assert turns["state"] == "failed" and "passes always, which is first due at turn 2" in turns["todo"][0]
    assert every["state"] == "failed" and every["todo"][0].startswith("always is failed by nothing")


def test_a_bug_that_no_check_catches(project):
    quiet = patch("no whole number", "no number", SECOND)
    write_eval(project, controls__bugs__04_quiet_dot_patch=quiet)
    (bugs,) = checked(project, 5, words=("--quick",))
    assert bugs["state"] == "failed"
    assert bugs["todo"] == ["No check notices controls/bugs/04_quiet.patch: let one ask for what it breaks."]


def test_good_work_of_the_first_turn_that_passes_the_seconds_checks(project):
    write_eval(project, controls__good__turn_1__tally_dot_py=None, **{"controls__good__turn-1__tally_dot_py": SECOND})
    (turns,) = checked(project, 3)
    assert turns["state"] == "failed"
    assert "good of turn 1 passes knows-the-mean, which is first due at turn 2" in turns["todo"][0]


def test_good_work_in_one_piece_says_nothing_of_turns(project):
    changes = {f"controls__good__turn-{turn}__tally_dot_py": None for turn in (1, 2)}
    write_eval(project, **changes, controls__good__tally_dot_py=SECOND)
    (turns,) = checked(project, 3)
    assert "laid down in one piece" in turns["sentence"]


def test_a_flaky_check(project):
    write_mini(project, MINI_CHECK + "\nimport os\nif os.urandom(1)[0] % 2: checks.fail('bad luck')\n")
    (repeats,) = checked(project, 6, name="word", words=("--minutes=0.01",))
    assert repeats["state"] == "failed"
    assert repeats["todo"][0].startswith("says-the-word flips on good")
    assert "as many as fit into 0.01 minutes" in repeats["sentence"]


def test_a_check_that_is_too_slow_for_its_limit(project):
    write_mini(project, MINI_CHECK + "\nimport time\ntime.sleep(11)\n", limit=20)
    (room,) = checked(project, 7, name="word", words=("--minutes=0.01",))
    assert room["state"] == "failed" and "says-the-word takes" in room["todo"][0] and "limit is 20 s" in room["todo"][0]


def test_inputs_that_are_in_the_prompt(project):
    fixed = MINI_CHECK.replace('["".join(checks.random().choices("abcdefgh", k=9)) for _ in range(4)]', '["Ada"]')
    write_mini(project, fixed)
    leaks, seeds = checked(project, 9, 13, name="word", words=("--minutes=0.01",))
    assert leaks["state"] == "failed" and "Agents can know 1 of 1 inputs" in leaks["todo"][0]
    assert seeds["state"] == "failed" and "0 inputs differ" in seeds["todo"][0]


def test_answers_in_the_workspace(project):
    answer = MINI_GOOD + "\n".join(f"# line {number} of the answer" for number in range(9))
    write_mini(project, controls__good__say_dot_py=answer, workspace__old__backup_dot_txt=answer)
    (leaks,) = checked(project, 9, name="word")
    assert leaks["todo"] == ["old/backup.txt of the workspace has lines of controls/good (say.py): take them out."]


def test_a_packed_copy_of_the_checks_in_the_workspace(project):
    import zipfile

    write_mini(project)
    place = project.root / "evals/word/workspace/old.zip"
    place.parent.mkdir()
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner/check.py", MINI_CHECK)
    (leaks,) = checked(project, 9, name="word")
    assert leaks["todo"] == ["old.zip (inner/check.py) of the workspace has lines of checks/check.py: take them out."]


def test_what_a_check_needs_and_nothing_says(project):
    changes = {
        "checks__check_dot_py": CHECK.replace('[2, ""]', '[3, ""]').replace("Sum:", "Total:"),
        "controls__good__turn-1__tally_dot_py": None,
        "controls__good__turn-2__tally_dot_py": SECOND.replace("return 2", "return 3").replace("Sum:", "Total:"),
    }
    write_eval(project, **changes)
    (unsaid,) = checked(project, 10)
    assert unsaid["state"] == "failed"
    assert unsaid["figures"]["unsaid"] == {"adds-up": ["Total"], "refuses-words": ["3", "Total"]}
    write_eval(project, **changes, eval_dot_md=EVAL.replace("tier: core", "said: [Total, status 3]"))
    (unsaid,) = checked(project, 10)
    assert unsaid["state"] == "failed" and unsaid["figures"]["unsaid"] == {"refuses-words": ["3"]}
    write_eval(project, **changes, eval_dot_md=EVAL.replace("tier: core", "said: [Total, '3']"))
    (unsaid,) = checked(project, 10)
    assert unsaid["state"] == "passed"


def test_a_flag_that_is_said_only_in_a_later_turn(project):
    early = EVAL.replace(
        "knows-the-mean, run: python3 checks/check.py means, isolated: true, limit: 60, turn: 2",
        "knows-the-mean, run: python3 checks/check.py means, isolated: true, limit: 60, turn: 1",
    )
    write_eval(project, eval_dot_md=early)
    (unsaid,) = checked(project, 10)
    assert unsaid["figures"]["unsaid"] == {"knows-the-mean": ["--mean", "Mean"]}


def test_cheats_that_work(project):
    """A check that looks for a word only; and one cheat special to the eval."""
    weak = "from orvl import checks\nended = checks.run('python3', 'say.py', 'x')\nraise SystemExit('passed' not in ended.stdout)\n"
    write_mini(project, weak, controls__cheats__shouts__say_dot_py='print("passed")\n')
    (cheats,) = checked(project, 11, name="word", words=("--quick",))
    assert cheats["state"] == "failed"
    sentences = "\n".join(cheats["todo"])
    assert "controls/cheats/shouts gains 1.00 in says-the-word" in sentences
    assert "forged-test-output on empty gains 1.00" in sentences


def test_the_name_of_a_cheat_that_is_taken(project):
    write_mini(project, **{"controls__cheats__early-exit__say_dot_py": ""})
    done = project.orvl("check", "word", "--test=11", timeout=300)
    assert done.status == 2 and "'early-exit' is the name of a cheat that every eval is tried with" in done.err


def test_work_that_runs_where_the_checker_is(project):
    inside = 'import subprocess, sys\nopen("/tmp/say.py", "wb").write(checks.read("say.py") or b"")\nsubprocess.run([sys.executable, "/tmp/say.py", "x"])\n'
    write_mini(project, MINI_CHECK + inside)
    (apart,) = checked(project, 12, name="word")
    assert apart["todo"] == ["says-the-word runs code of the work's where the checker is: use checks.run()."]
    write_mini(project, MINI_CHECK + 'exec(checks.read("say.py") or b"")\n')
    (apart,) = checked(project, 12, name="word")
    assert "checks/check.py:7 calls exec" in apart["todo"][0]


def test_a_check_beside_the_work(project):
    write_mini(project, more="  - {name: beside, run: test -f say.py, limit: 60}\n")
    (apart,) = checked(project, 12, name="word")
    assert apart["todo"][0].startswith("beside runs in the folder that the agent left")


def test_a_placeholder_that_nobody_fills(project):
    write_mini(project, prompt=MINI_PROMPT + " It is for {{city}}.")
    (seeds,) = checked(project, 13, name="word", words=("--minutes=0.01",))
    assert seeds["todo"] == [
        "{{city}} stays in the prompt of turn 1: name it in 'vary', or excuse it: said: ['{{city}}']"
    ]


def test_an_episode_in_which_good_work_fails(project):
    """The prompt and the check draw a city, and good work knows only one of them."""
    more = "vary: {city: [Lyon, Ghent, Porto, Turin]}\n"
    cities = MINI_CHECK.replace("for _ in range(4)]", "for _ in range(4)] + [str(checks.drawn()['city'])]")
    good = 'import sys\n\nword = sys.argv[1]\nif word in ("Ghent", "Porto", "Turin"): word = "Lyon"\nprint(f"Word: {word}")\n'
    write_mini(project, cities, MINI_PROMPT + " Try {{city}}.", more, controls__good__say_dot_py=good)
    (seeds,) = checked(project, 13, name="word", words=("--minutes=0.01",))
    assert seeds["state"] == "failed" and "Good work fails says-the-word in episode" in seeds["todo"][0]
    assert "drawn were city" in seeds["todo"][0]


def test_seconds_are_no_measure(project):
    write_mini(project, MINI_CHECK + 'if checks.run("python3", "say.py", "x").seconds > 30: checks.fail("slow")\n')
    (speed,) = checked(project, 8, name="word")
    assert speed["todo"] == [
        "checks/check.py:7 compares seconds, which say more of the machine than of the work: use checks.ratio()."
    ]


def test_a_bar_that_good_work_is_close_to(project):
    measured = 'found = checks.ratio(lambda: 1.0, lambda: 1.0, bar=1.2, pairs=3)\nif found > 1.2: checks.fail("slow")\n'
    write_mini(project, MINI_CHECK + measured)
    (speed,) = checked(project, 8, name="word")
    assert speed["todo"][0] == "says-the-word: good work takes 1.00 of the reference, too close to the bar of 1.2."


def test_a_setup_that_fails(project):
    write_mini(project, more="setup: ['echo no network >&2; exit 7']\n")
    good, setup = checked(project, 1, 14, name="word")
    assert good["state"] == setup["state"] == "failed"
    assert "no network" in setup["sentence"] + "".join(setup["todo"])


# -- evals that would fool a gate


def test_a_good_control_that_changes_nothing(project):
    write_mini(project, "from orvl import checks\nchecks.files()\n", workspace__say_dot_py=MINI_GOOD)
    good, nothing, cheats = checked(project, 1, 2, 5, name="word", words=("--quick",))
    assert good["state"] == "failed" and "controls/good changes nothing in the workspace" in good["todo"][0]
    assert cheats["state"] == "failed"
    assert nothing["state"] == "failed" and "empty gets 1.00, and 0.05 is the most" in "\n".join(nothing["todo"])


def test_an_eval_without_a_good_control(project):
    project.write("evals/word/eval.md", "---\nchecks: [{name: one, run: 'true', isolated: true}]\n---\nDo it.\n")
    (good,) = checked(project, 1, name="word")
    assert good["state"] == "failed" and "no good result" in good["todo"][0]


def test_an_eval_without_checks(project):
    project.write("evals/word/eval.md", "Do it.\n")
    (good,) = checked(project, 1, name="word")
    assert good["state"] == "failed" and good["sentence"] == "the eval has no checks"


def test_checks_that_only_keep_are_refused(project):
    project.write("evals/word/eval.md", "---\nchecks: [{name: one, run: 'true', keep: true}]\n---\nDo it.\n")
    done = project.orvl("check", "word")
    assert done.status == 2 and "one must be due at the end" in done.err


# -- wrong calls


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Name the evals to check, such as: orvl check hello-world."),
        (("hello-wold",), "Did you mean 'hello-world'?"),
        (("hello-world", "--quick", "--write"), "--write needs all tests"),
        (("hello-world", "--test=18"), "18 is not in the range 1<=x<=17"),
    ],
)
def test_wrong_calls(project, words, said):
    done = project.orvl("check", *words)
    assert done.status == 2 and said in done.err


def test_results_of_a_users_own_eval_do_not_go_into_the_package(project):
    write_mini(project)
    done = project.orvl("check", "word", "--write")
    assert done.status == 2 and "that of word is kept anyway, in the store" in done.err


def test_an_agent_may_not_be_called_check(project):
    project.agent("check", 'models = {"none": ["m"]}\ndef command(): return "true"\n')
    done = project.orvl("run", "check", "--eval=hello-world")
    assert done.status == 2 and "check" in done.err


def test_json_has_every_test(project):
    write_mini(project)
    done = project.orvl("check", "word", "--test=8", "--json", timeout=300)
    (eval_,) = done.json["evals"]
    assert [test["number"] for test in eval_["tests"]] == list(range(1, TESTS + 1))
    assert eval_["vetted"] is None and eval_["holds"] is True
    assert json.loads(done.out)["schema"] == 1
