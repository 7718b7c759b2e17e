"""What a first run may cost: a guess from prices, marked as one; then what runs have cost."""

from __future__ import annotations

from typing import Any

import pytest

from helpers.user_project import UserProject

AGENT = "models = {'shop': ['m']}\ndef command(prompt): return ['true']\n"
PRICES = '[providers.shop]\nbase_url = "https://shop.example/v1"\nprotocol = "openai"\n[providers.shop.prices]\nm = {input = 2, output = 10}\n'
A_RUN = (64_286 * 2 + 7_143 * 10) / 1e6
"""Of 100,000 weighted tokens: t tokens, a tenth of them in answers, weigh .9 t + 5 × .1 t, so t is 71,429."""
EVAL = "---\npar: {tokens: 100000}\nmetrics: {speed: 1}\n---\nDo it.\n"


@pytest.fixture
def priced(project: UserProject) -> UserProject:
    project.agent("buyer", AGENT)
    project.eval("one", EVAL)
    project.toml(PRICES)
    return project


def cost(project: UserProject, *words: str) -> Any:
    done = project.orvl(*words, "--dry-run", "--json")
    assert done.status == 0, done.err
    return done.json.get("cost") or done.json["plan"]["cost_usd"]


def test_before_the_first_run_prices_and_par_tell_the_cost(priced):
    found = cost(priced, "buyer", "--episodes", "3")
    assert found["likely"] == pytest.approx(3 * A_RUN)
    assert found["low"] < found["likely"] < found["high"]
    assert found["guess"] is True
    assert "a guess" in found["source"]
    assert "a guess: prices × par tokens" in priced.orvl("buyer", "--dry-run").out


def test_par_of_the_metric_counts_where_the_eval_has_none(priced):
    priced.eval("one", EVAL.replace("par: {tokens: 100000}\n", ""))
    assert cost(priced, "buyer")["likely"] == pytest.approx(A_RUN)
    priced.eval("one", EVAL.replace("100000", "200000"))
    assert cost(priced, "buyer")["likely"] == pytest.approx(2 * A_RUN, rel=1e-4)


def test_judges_are_counted_for_each_metric_that_they_answer(priced):
    priced.toml(PRICES + '[judges.a]\nmodel = "m"\nprovider = "shop"\n')
    priced.agent("free", "models = {'none': ['fixed']}\ndef command(prompt): return ['true']\n")
    assert cost(priced, "free")["high"] == 0, "the eval asks no judge"
    priced.eval("one", EVAL.replace("{speed: 1}", "{readability: 1, bugs: 1}"))
    found = cost(priced, "free")
    assert found["likely"] == pytest.approx(2 * (12_000 * 2 + 1_500 * 10) / 1e6)
    assert found["guess"] is True
    assert cost(priced, "buyer")["likely"] == pytest.approx(found["likely"] + A_RUN)


def test_certify_tells_its_cost_before_the_first_question(priced):
    priced.toml(PRICES + '[judges.a]\nmodel = "m"\nprovider = "shop"\n')
    found = cost(priced, "certify", "--eval", "hello-world")
    assert found["guess"] is True
    assert 0 < found["low"] < found["likely"] < found["high"]


def test_a_model_without_a_price_stays_unknown(priced):
    priced.agent("buyer", AGENT.replace("['m']", "['m', 'odd']"))
    found = cost(priced, "buyer")
    assert (found["low"], found["likely"], found["high"], found["guess"]) == (None, None, None, False)
    assert "odd at shop" in found["source"]


def test_nothing_to_pay_is_no_guess(priced):
    priced.agent("free", "models = {'none': ['fixed']}\ndef command(prompt): return ['true']\n")
    assert cost(priced, "free") == {
        "low": 0,
        "likely": 0,
        "high": 0,
        "guess": False,
        "source": "nothing here costs money",
    }
