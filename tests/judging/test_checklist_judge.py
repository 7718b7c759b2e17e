"""What any judge must do, whoever answers: a model, orvl.toml, or a judge in another thread's loop."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager

import pytest

from helpers.gateways import CANARY, provider_at
from helpers.judging import captured, judge_named, says
from orvl.errors import Abstention
from orvl.gateway import Gateway
from orvl.score.judges.fixed import FixedJudge
from orvl.score.judges.model import ModelJudge
from orvl.score.judges.panel import JudgeEndpoint, JudgePanel
from orvl.score.judges.replies import Replies
from orvl.score.score_run import ThreadsafeJudge
from orvl.testing import ModelServer
from orvl.types import Judge

FILES = {"a.py": "def add(a, b):\n    return a + b\n"}
ITEMS = ["It adds.", ("It is short.", 2.0), "It is tested."]


def fixed_judge(answers):
    return FixedJudge(Judge("a", "fixed", "none", 1.0, "key", answers=list(answers)), "m")


@contextmanager
def fixed(answers):
    yield fixed_judge(answers)


@contextmanager
def model(answers):
    with ModelServer(says(*answers)) as server, captured(FILES) as run:
        gateway = Gateway({"CANARY_KEY": CANARY})
        judge = judge_named("a")
        endpoint = JudgeEndpoint(judge, provider_at(server.url, judge.provider), "openai", judge.model)
        panel = JudgePanel(gateway, lambda _: endpoint, 30.0, print)
        made = ModelJudge(endpoint, panel.judged_run(run, []), 0, Replies("", "", (), None))
        checklist = made.checklist

        async def closing(items, evidence=None):
            try:
                return await checklist(items, evidence)
            finally:
                await gateway.close()

        made.checklist = closing
        yield made


@contextmanager
def threadsafe(answers):
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield ThreadsafeJudge(fixed_judge(answers), loop)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture(params=[fixed, model, threadsafe], ids=lambda make: make.__name__)
def making(request):
    return request.param


def test_the_score_is_the_weighted_share_of_yes(making):
    with making(["yes", "no", "cannot-tell"]) as judge:
        verdict = asyncio.run(judge.checklist(ITEMS))
        assert verdict.score == pytest.approx(1 / 3)
        assert float(verdict) == verdict.score
        assert verdict.answers == ("yes", "no", "cannot-tell")
        assert judge.name == "a"


def test_a_judge_that_cannot_tell_abstains(making):
    with making(["cannot-tell"] * 3) as judge:
        verdict = asyncio.run(judge.checklist(ITEMS))
        assert verdict.score is None
        assert verdict.reason
        with pytest.raises(Abstention):
            float(verdict)


def test_all_verdicts_are_kept_in_order(making):
    with making(["no", "yes", "yes"]) as judge:
        verdicts = [asyncio.run(judge.checklist(ITEMS)) for _ in range(2)]
        assert judge.verdicts == verdicts
