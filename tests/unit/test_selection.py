"""The five words: by place and by name, commas, globs and `all`; what is wrong is told with what was meant."""

from __future__ import annotations

import shlex

import pytest

from orvl.cli import with_command
from orvl.errors import UserError
from orvl.plan.planning import make_plan
from orvl.plan.selection import ORDER, Selection
from orvl.project import open_project

HEAD = "---\nmetrics: {speed: 1, checks: 1}\n---\n"


@pytest.fixture
def known(project):
    """Three agents on a few models and providers, and three evals."""
    agents = {
        "mine": {"zen": ["qwen3-coder", "kimi-k2"], "openrouter": ["qwen3-coder"]},
        "my-other": {"anthropic": ["sonnet"]},
        "third": {"zen": ["kimi-k2"], "none": ["fixed"]},
    }
    for name, models in agents.items():
        project.agent(name, f"models = {models}\ndef command(prompt): return 'true'\n")
    for name in ("todo-app", "todo-api", "shop"):
        project.eval(name, HEAD + "x")
    return project


def cells(project, **words: str) -> set[str]:
    """The cells of a plan, each as its four names."""
    plan = make_plan(open_project(project.root), Selection(**{"eval": "shop", **words}), episodes=[1])
    return {str(cell) for cell in plan.cells}


def complaint(project, *words: str, **by_name: str) -> str:
    given = Selection(**dict(zip(ORDER, words, strict=False)), **by_name)
    with pytest.raises(UserError) as caught:
        make_plan(open_project(project.root), given, episodes=[1])
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


def planned(project, *words: str, **options) -> list[dict]:
    result = project.orvl(*words, "--dry-run", "--json", **options)
    assert result.status == 0, result.err
    return result.json["plan"]["runs"]


def refused(result, *words: str) -> str:
    assert result.status == 2, result
    assert result.out == ""
    assert "Traceback" not in result.err
    assert result.err.startswith("orvl: ")
    assert len(result.err.splitlines()) == 1
    for word in words:
        assert word in result.err
    return result.err


# -- what the words stand for


def test_words_by_place(known):
    runs = planned(known, "mine", "qwen3-coder", "zen", "shop", "speed")
    assert [(run["agent"], run["model"], run["provider"], run["eval"]) for run in runs] == [
        ("mine", "qwen3-coder", "zen", "shop")
    ]


def test_words_by_name_in_any_order_and_beside_words_by_place(known):
    by_place = planned(known, "mine", "qwen3-coder", "zen", "shop")
    assert planned(known, "--eval=shop", "--provider=zen", "--model", "qwen3-coder", "--agent=mine") == by_place
    assert planned(known, "run", "mine", "--provider=zen", "qwen3-coder", "--eval=shop") == by_place
    assert planned(known, "--eval=shop", "--provider=zen", "mine", "qwen3-coder") == by_place


MEANT = {
    "left out means all": (
        {"agent": "mine"},
        {"mine qwen3-coder zen shop", "mine kimi-k2 zen shop", "mine qwen3-coder openrouter shop"},
    ),
    "a provider": ({"agent": "mine", "provider": "openrouter"}, {"mine qwen3-coder openrouter shop"}),
    "commas": (
        {"agent": "mine,third", "model": "kimi-k2"},
        {"mine kimi-k2 zen shop", "third kimi-k2 zen shop"},
    ),
    "commas with spaces and a last comma": (
        {"agent": " mine , third,", "model": "kimi-k2"},
        {"mine kimi-k2 zen shop", "third kimi-k2 zen shop"},
    ),
    "a glob": (
        {"agent": "m*", "model": "*n*"},
        {"mine qwen3-coder zen shop", "mine qwen3-coder openrouter shop", "my-other sonnet anthropic shop"},
    ),
    "a question mark": ({"agent": "m?ne", "provider": "z?n", "model": "k*"}, {"mine kimi-k2 zen shop"}),
    "a set": ({"agent": "[mt]*", "provider": "none"}, {"third fixed none shop"}),
    "evals by glob": (
        {"agent": "third", "provider": "none", "eval": "todo-a*"},
        {"third fixed none todo-app", "third fixed none todo-api"},
    ),
    "a glob and a name that overlap": (
        {"agent": "third,th*", "provider": "none"},
        {"third fixed none shop"},
    ),
    "all and a name": (
        {"agent": "third", "provider": "all,none", "model": "fixed"},
        {"third fixed none shop"},
    ),
}


@pytest.mark.parametrize("case", MEANT)
def test_what_words_stand_for(known, case):
    words, meant = MEANT[case]
    assert cells(known, **words) == meant


def test_all_means_every_one(known):
    plan = make_plan(open_project(known.root), Selection(eval="shop,hello-world"), episodes=[1])
    assert {cell.agent.name for cell in plan.cells} == {"mine", "my-other", "third", "empty", "dummy-good", "dummy-bad"}
    assert "Skipped dummy-good on shop" in " ".join(plan.warnings)


def test_a_metric_that_is_named_counts_alone(known):
    known.score("half", "weight = 0\ndef score(run): return 0.5\n")
    result = known.orvl("third", "fixed", "none", "shop", "half", "--json")
    assert result.status == 0, result.err
    assert result.json["ratings"][0]["R"] == 0.5
    assert list(result.json["ratings"][0]["metrics"]) == ["half"]


def test_all_metrics_are_those_of_the_eval(known):
    project = open_project(known.root)
    for word in ("all", "all,speed"):
        panel = make_plan(project, Selection(agent="third", eval="shop", metric=word), episodes=[1]).panels["shop"]
        assert {metric.name for metric in panel.metrics} == {"speed", "checks"}


def test_a_glob_of_metrics_chooses_among_those_of_the_eval(known):
    """`*` is `all`; a metric that the eval does not weigh has to be named."""
    project = open_project(known.root)
    for word, names in (("*", ["speed", "checks"]), ("s*", ["speed"])):
        panel = make_plan(project, Selection(agent="third", eval="shop", metric=word), episodes=[1]).panels["shop"]
        assert sorted(metric.name for metric in panel.metrics) == sorted(names)


def test_a_flag_given_twice_means_both(known):
    plan = known.orvl("mine", "--eval=shop", "--eval=todo-app", "--dry-run", "--json").json["plan"]
    assert {run["eval"] for run in plan["runs"]} == {"shop", "todo-app"}


def test_a_model_may_have_signs_of_a_glob_or_a_slash(known):
    known.agent("odd", 'models = {"none": ["a[1]", "q/w:free", "x*"]}\ndef command(): return "true"\n')
    assert cells(known, agent="odd", model="a[1]") == {"odd a[1] none shop"}
    assert cells(known, agent="odd", model="q/w:free") == {"odd q/w:free none shop"}
    assert cells(known, agent="odd", model="x*") == {"odd x* none shop"}


def test_a_dry_run_shows_names_as_they_are(known):
    known.agent("odd", 'models = {"none": ["m[free]", "m[/x]"]}\ndef command(): return "true"\n')
    result = known.orvl("odd", "--eval=shop", "--dry-run")
    assert result.status == 0, result.err[-300:]
    assert "m[free]" in result.out
    assert "m[/x]" in result.out


# -- words that are wrong

WRONG = {
    "agent": (["mien"], "There is no agent 'mien'. Did you mean 'mine'?"),
    "agent with an underscore": (["my_other"], "Did you mean 'my-other'?"),
    "agent in capitals": (["Mine"], "Did you mean 'mine'?"),
    "one of several": (["mine,thrid"], "There is no agent 'thrid'. Did you mean 'third'?"),
    "beside all": (["all,thrid"], "Did you mean 'third'?"),
    "nothing close": (["qqqqqq"], "There is no agent 'qqqqqq'. Known: "),
    "model": (["mine", "qwen3-codr"], "mine has no model 'qwen3-codr'. Did you mean 'qwen3-coder'?"),
    "provider": (["mine", "all", "zenn"], "mine has no provider 'zenn'. Did you mean 'zen'?"),
    "eval": (["mine", "all", "all", "todo-ap"], "There is no eval 'todo-ap'. Did you mean 'todo-ap"),
    "metric": (["mine", "all", "all", "shop", "sped"], "There is no metric 'sped'. Did you mean 'speed'?"),
    "a model of another agent": (["mine", "sonnet"], "mine does not list the model 'sonnet'. It has: "),
    "a provider of another agent": (["mine", "all", "anthropic"], "mine does not list the provider 'anthropic'."),
    "a glob that fits nothing": (["x*"], "No agent matches 'x*'."),
    "a model glob that fits nothing": (["mine", "gpt*"], "No model matches 'gpt*'."),
    "a pair that is not there": (
        ["mine", "kimi-k2", "openrouter"],
        "mine has no 'kimi-k2' from 'openrouter'; it has kimi-k2 from zen.",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_unknown_word_is_refused_with_the_closest(known, case):
    words, sentence = WRONG[case]
    assert sentence in complaint(known, *words)


MISPLACED = {
    "provider for agent": (
        ["zen"],
        "'zen' is a provider; the order is agent model provider eval metric",
        "orvl all all zen",
    ),
    "provider for model": (
        ["mine", "zen"],
        "'zen' is a provider; the order is agent model provider eval metric",
        "orvl mine all zen",
    ),
    "model for agent": (
        ["kimi-k2"],
        "'kimi-k2' is a model; the order is agent model provider eval metric",
        "orvl all kimi-k2",
    ),
    "model for provider": (
        ["mine", "all", "kimi-k2"],
        "'kimi-k2' is a model; the order is agent model provider eval metric",
        "orvl mine kimi-k2",
    ),
    "eval for model": (
        ["mine", "shop"],
        "'shop' is an eval; the order is agent model provider eval metric",
        "orvl mine all all shop",
    ),
    "eval for agent": (
        ["shop"],
        "'shop' is an eval; the order is agent model provider eval metric",
        "orvl all all all shop",
    ),
    "metric for eval": (
        ["mine", "all", "all", "speed"],
        "'speed' is a metric; the order is agent model provider eval metric",
        "orvl mine all all all speed",
    ),
    "agent for eval": (
        ["all", "all", "all", "mine"],
        "'mine' is an agent; the order is agent model provider eval metric",
        "orvl mine",
    ),
    "provider and model exchanged": (
        ["mine", "zen", "kimi-k2"],
        "'zen' is a provider; the order is agent model provider eval metric",
        "orvl mine kimi-k2 zen",
    ),
    "provider before model, with an eval": (
        ["mine", "zen", "kimi-k2", "shop"],
        "'zen' is a provider; the order is agent model provider eval metric",
        "orvl mine kimi-k2 zen shop",
    ),
    "eval and provider exchanged": (
        ["mine", "kimi-k2", "shop", "zen"],
        "'shop' is an eval; the order is agent model provider eval metric",
        "orvl mine kimi-k2 zen shop",
    ),
}


@pytest.mark.parametrize("case", MISPLACED)
def test_a_word_in_the_wrong_place_is_told_with_the_right_one(known, case):
    words, sentence, better = MISPLACED[case]
    said = complaint(known, *words)
    assert sentence in said
    assert "the order is agent model provider eval metric" in said
    assert said.endswith(f"Try: {better}")


def test_what_is_to_be_tried_works(known):
    for words in (["mine", "zen", "kimi-k2"], ["mine", "kimi-k2,zen"], ["mine", "shop"], ["zen"]):
        better = complaint(known, *words).rpartition("Try: orvl ")[2]
        assert make_plan(open_project(known.root), Selection(*shlex.split(better)), episodes=[1]).cells


def test_an_agent_that_has_none_of_the_models_is_not_left_out_silently(known):
    plan = make_plan(
        open_project(known.root), Selection(agent="mine,my-other", model="kimi-k2", eval="shop"), episodes=[1]
    )
    assert {str(cell) for cell in plan.cells} == {"mine kimi-k2 zen shop"}
    assert "my-other" in " ".join(plan.warnings)


CALLS = {
    "too many words": (["mine", "all", "all", "shop", "speed", "more", "most"], "There are 7 words; the order is"),
    "agent twice": (["mine", "--agent=third"], "The agent is given twice: 'mine' and --agent=third."),
    "eval twice": (["mine", "all", "all", "shop", "--eval=shop"], "The eval is given twice"),
    "an empty word": (["", "--eval=shop"], "agent"),
    "an empty flag": (["mine", "--eval="], "eval"),
    "only a comma": ([",", "--eval=shop"], "agent"),
    "a flag that is not there": (["mine", "--evl=shop"], "--eval"),
    "a flag without a value": (["mine", "--eval"], "--eval"),
    "episodes of 0": (["mine", "--episodes=0"], "--episodes"),
    "episodes a word": (["mine", "--episodes=many"], "--episodes"),
    "a command that is to come": (["certify", "--eval=shop"], "certify"),
}


@pytest.mark.parametrize("case", CALLS)
def test_a_wrong_call_is_refused_in_one_sentence(known, case):
    words, sentence = CALLS[case]
    refused(known.orvl("--dry-run", *words), sentence)


def test_an_unknown_word_ends_with_2_and_makes_no_store(known):
    refused(known.orvl("mine", "zen", "--json"), "'zen' is a provider", "Try: orvl mine all zen")
    assert not (known.root / ".orvl").exists()


def test_a_report_is_narrowed_by_all_five_words(known):
    assert known.orvl("third", "fixed", "none", "shop,todo-app", "--json").status == 0
    rows = known.orvl("report", "third", "fixed", "none", "shop", "--by=eval", "--json").json["ratings"]
    assert [row["eval"] for row in rows] == ["shop"]
    refused(known.orvl("report", "thrid"), "Did you mean 'third'?")
    refused(known.orvl("report", "--metric=sped"), "Did you mean 'speed'?")
    rows = known.orvl("report", "--metric=speed", "--eval=shop", "--by=eval", "--json").json["ratings"]
    assert [list(row["metrics"]) for row in rows] == [["speed"]]
    assert rows[0]["R"] is not None


# -- commands before and after flags


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["mine"], ["run", "mine"]),
        (["run", "mine"], ["run", "mine"]),
        (["report"], ["report"]),
        (["--project", "X", "report", "--json"], ["report", "--project", "X", "--json"]),
        (["--project=X", "--store", "Y", "report"], ["report", "--project=X", "--store", "Y"]),
        (["--json", "-q", "list"], ["list", "--json", "-q"]),
        (["--project", "report", "mine"], ["run", "--project", "report", "mine"]),
        (["--project", "list"], ["run", "--project", "list"]),
        (["--eval=e", "mine"], ["run", "--eval=e", "mine"]),
        (["--project", "X", "mine", "report"], ["run", "--project", "X", "mine", "report"]),
        (["--help"], ["--help"]),
        (["--version"], ["--version"]),
        ([], []),
    ],
)
def test_the_command_may_come_after_flags(given, meant):
    assert with_command(given) == meant


def test_flags_before_a_command_do_what_they_do_after_it(known):
    outside = known.root.parent
    assert known.orvl("third", "fixed", "--eval=shop").status == 0
    before = known.orvl("--project", str(known.root), "report", "--json", cwd=outside)
    after = known.orvl("report", "--json", "--project", str(known.root), cwd=outside)
    assert before.status == after.status == 0
    assert before.json == after.json
    listed = known.orvl("--json", "--project", str(known.root), "list", "evals", cwd=outside)
    assert "shop" in {row["name"] for row in listed.json["evals"]}


def test_help_is_shown_and_nothing_runs_without_a_word(known):
    for words in ([], ["--help"], ["-h"]):
        result = known.orvl(*words)
        assert result.status == 0
        assert "orvl AGENT [MODEL] [PROVIDER] [EVAL] [METRIC]" in result.out
    assert "--dry-run" in known.orvl("run", "--help").out
    assert known.orvl("--version").out.startswith("orvl")
    assert not (known.root / ".orvl").exists()


# -- completion


def completed(project, line: str, cwd=None) -> list[str]:
    """What bash is offered at the end of a line."""
    words = line.split()
    at = len(words) if line.endswith(" ") else len(words) - 1
    env = {"_ORVL_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(at)}
    result = project.orvl(env=env, cwd=cwd)
    assert result.status == 0
    assert result.err == ""
    return [name for row in result.out.splitlines() if (name := row.partition(",")[2])]


COMPLETED = {
    "orvl m": {"mine", "my-other", "mini-swe-agent"},
    "orvl mine,th": {"mine,third"},
    "orvl dum": {"dummy-good", "dummy-bad"},
    "orvl mine ": {"qwen3-coder", "kimi-k2", "all"},
    "orvl run mine q": {"qwen3-coder"},
    "orvl mine qwen3-coder ": {"zen", "openrouter", "all"},
    "orvl mine kimi-k2 ": {"zen", "all"},
    "orvl mine all all to": {"todo-app", "todo-api", "todo-cli"},
    "orvl mine all all shop sp": {"speed"},
    "orvl report third ": {"kimi-k2", "fixed", "all"},
    "orvl mine --provider openr": {"openrouter"},
    "orvl --agent third --model f": {"fixed"},
    "orvl nosuch ": set(),
}


@pytest.mark.parametrize("line", COMPLETED)
def test_the_shell_completes_the_words(known, line):
    assert set(completed(known, line)) == COMPLETED[line]


def test_the_first_word_is_an_agent_or_a_command(known):
    offered = completed(known, "orvl ")
    assert {"mine", "third", "report", "list", "init"} <= set(offered)
    assert len(offered) == len(set(offered))
    assert {"report", "run"} <= set(completed(known, "orvl r"))


def test_completion_looks_into_the_project_that_is_named(known):
    assert completed(known, f"orvl --project {known.root} mine", cwd=known.root.parent) == ["mine"]
    assert "report" in completed(known, f"orvl --project {known.root} rep", cwd=known.root.parent)


def test_completion_is_quiet_on_what_is_broken_and_offers_the_rest(known):
    known.agent("broken", "import no_such_module\n")
    known.agent("noisy", "print('noise')\nmodels = {'none': ['nn']}\ndef command(): return 'true'\n")
    assert completed(known, "orvl broken ") in ([], ["all"])
    assert completed(known, "orvl all kimi-k2") == ["kimi-k2"]
    assert set(completed(known, "orvl noisy ")) == {"nn", "all"}
    known.toml("penalty = -7\n")
    assert completed(known, "orvl mine all all sho") == ["shop"]
    completed(known, "orvl mine ")
