"""A model as a judge: asked, asked once more where its answer cannot be used, and then an abstention."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from orvl.errors import BudgetSpent, CallRefused, NoAnswer, UnusableAnswer
from orvl.gateway.wire import FORMATS
from orvl.gateway.wire.format import Question
from orvl.score.judges import Verdict, split, verdict
from orvl.score.judges.answers import ChecklistAnswer, read_answer, requested_tools, schema
from orvl.score.judges.extra_evidence import extra_evidence
from orvl.score.judges.injection import alarm_of, moved_items
from orvl.score.judges.pointers import Pointers
from orvl.score.judges.prompt import SYSTEM, complaint, instruction
from orvl.score.judges.tools import JudgeTools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.gateway.account import Account
    from orvl.gateway.wire.format import ModelAnswer
    from orvl.score.judges import Item
    from orvl.score.judges.answers import ItemAnswer
    from orvl.score.judges.evidence import EvidenceView, RunEvidence
    from orvl.score.judges.extra_evidence import ExtraEvidence, ExtraView
    from orvl.score.judges.panel import JudgedRun, JudgeEndpoint
    from orvl.score.judges.replies import JudgeConversation, Replies

MAX_ANSWER_REPEATED = 20_000
"""Characters of an earlier answer that a judge is reminded of."""
MAX_ANSWER_KEPT = 2_000
MAX_LISTED = 20


@dataclass(frozen=True)
class ViewAnswer:
    """What a judge answered about one view: an answer, or the reason why there is none, and what it took."""

    answer: ChecklistAnswer | None
    reason: str | None
    words: str
    account: Account


class ModelJudge:
    """Asks one model about one metric of one run."""

    def __init__(self, endpoint: JudgeEndpoint, judged: JudgedRun, tool_calls: int, replies: Replies) -> None:
        self.name = endpoint.judge.name
        self.verdicts: list[Verdict] = []
        self._endpoint, self._judged, self._tool_calls, self._replies = endpoint, judged, tool_calls, replies

    async def checklist(self, items: Sequence[Item], evidence: Any = None) -> Verdict:
        """The weighted share of yes; both views of the run are asked about at once."""
        texts, weights = split(items)
        gathered = await self._judged.evidence(self._endpoint.judge.room)
        extra = extra_evidence(evidence, self._judged.run)
        views = [(gathered.full, extra.full)]
        # The local model is slow, and its scores are never part of a rating: one view is enough.
        if (gathered.plain or extra.differs) and not self._endpoint.judge.is_local:
            views.append((gathered.plain or gathered.full, extra.plain))
        if len(views) == 1:
            answers = [await self._ask(texts, *views[0])]
        else:
            answers = await asyncio.gather(*(self._ask(texts, *view) for view in views))
        given = self._verdict(answers, texts, weights, gathered, extra)
        self.verdicts.append(given)
        return given

    def _verdict(
        self,
        answers: Sequence[ViewAnswer],
        texts: Sequence[str],
        weights: Sequence[float],
        gathered: RunEvidence,
        extra: ExtraEvidence,
    ) -> Verdict:
        """The verdict on the full view; that on the plain view where words to readers have moved the judge."""
        first, second = answers[0], answers[1] if len(answers) > 1 else None
        suspicious = (*gathered.suspicious, *extra.suspicious)
        detail = _usage(answers) | {"evidence": gathered.key, "left_out": list(gathered.left_out)[:MAX_LISTED]}
        if suspicious:
            detail["suspicious"] = list(suspicious)[:MAX_LISTED]
        if first.answer is None:
            return Verdict(None, (), first.reason, detail | {"said": first.words[:MAX_ANSWER_KEPT]})
        given, chosen = _score(first.answer, weights), first.answer
        # What words alone have moved to a yes is no evidence: without it there is no score. A judge that says yes to
        # nothing, even with the words, was not moved by them.
        if second is not None and given.score and (why := _why_no_score(second, weights)):
            words = f"the work speaks to its judges ({suspicious[0]}), and without these words" if suspicious else ""
            reason = f"{words or 'without the comments, texts and pictures of the work'}: {why}"
            return Verdict(None, (), reason, detail | {"plain": {"score": None, "reason": why}})
        if second is not None and second.answer is not None:
            plain = _score(second.answer, weights)
            detail["plain"] = {"score": plain.score, "answers": list(plain.answers)}
            if alarm := alarm_of(given, plain, weights, suspicious):
                detail["alarm"], given, chosen = alarm, plain, second.answer
            elif moved := moved_items(given, plain, suspicious):
                chosen = first.answer.doubting(moved)
                given = _score(chosen, weights)
        elif second is not None:
            detail["plain"] = {"score": None, "reason": second.reason}
        detail |= {"items": list(map(_item_detail, texts, weights, chosen.items)), "rationale": chosen.rationale}
        return replace(given, detail=detail)

    # -- one view

    async def _ask(self, texts: Sequence[str], view: EvidenceView, extra: ExtraView) -> ViewAnswer:
        panel, endpoint = self._judged.panel, self._endpoint
        account = panel.account(endpoint, self._judged.contestant)
        answer, reason, words = None, None, ""
        ended = await self._judged.turn(endpoint, view)
        try:
            async with asyncio.timeout(None) as clock:
                answer = await self._converse(account, clock, texts, view, extra)
        except TimeoutError:
            if endpoint.local:
                endpoint.local.interrupt()
            reason = f"it did not answer within {panel.seconds:g} s" + _last_trouble(account)
        except CallRefused as error:
            if account.over_budget:
                raise BudgetSpent from error
            reason = str(error)
        except NoAnswer as error:
            reason, words = str(error), error.words
        finally:
            ended.set()
        return ViewAnswer(answer, reason, words, account)

    async def _converse(
        self, account: Account, clock: asyncio.Timeout, texts: Sequence[str], view: EvidenceView, extra: ExtraView
    ) -> ChecklistAnswer:
        """Asks until there is an answer: tools as often as allowed, and one more try where it cannot be used."""
        pointers = Pointers(self._judged.run, view, extra.images)
        tools = JudgeTools(self._judged.run, view, self._judged.browse, self._tool_calls)
        question = self._question(texts, view, extra, pointers, tools)
        conversation = self._replies.conversation(question)
        usable: ChecklistAnswer | None = None
        problems: list[str] = []
        is_second_try = False
        while True:
            given = await self._answer(account, clock, conversation, question, len(texts), pointers.listed)
            words = given.content
            if tools.left and (requests := requested_tools(given)):
                results = await tools.call(requests, conversation.replied)
                question = replace(question, before=(*question.before, (words[:MAX_ANSWER_REPEATED], results)))
                continue
            try:
                usable = read_answer(given, len(texts)).checked(pointers.problem)
                problems = usable.unfounded
            except UnusableAnswer as error:
                problems = [str(error)]
            # A second answer counts with its wrong pointers, which make its yes a cannot-tell.
            if not problems or (is_second_try and usable):
                break
            if is_second_try:
                raise NoAnswer(problems[0], words)
            is_second_try = True
            said = words[:MAX_ANSWER_REPEATED] or "(nothing)"
            question = replace(question, before=(*question.before, (said, complaint(problems))))
        assert usable is not None
        return usable

    def _question(
        self, texts: Sequence[str], view: EvidenceView, extra: ExtraView, pointers: Pointers, tools: JudgeTools
    ) -> Question:
        endpoint = self._endpoint
        asked = instruction(view.nonce, texts, pointers.kinds, is_plain=view.is_plain)
        if tools.left:
            asked += f"\n{tools.instruction}"
        question = Question(
            model=endpoint.model,
            system=SYSTEM,
            evidence=view.text,
            instruction=asked,
            more=extra.text,
            images=extra.images,
            options=endpoint.judge.options,
            mark_cache=endpoint.provider.name == "openrouter",
        )
        if local := endpoint.local:
            return replace(question, evidence=local.readable(question.evidence), more=local.readable(question.more))
        return question

    async def _answer(
        self,
        account: Account,
        clock: asyncio.Timeout,
        conversation: JudgeConversation,
        question: Question,
        count: int,
        listed: Sequence[str],
    ) -> ModelAnswer:
        """The next answer: one that is stored already, or a new one, stored before anything is made of it."""
        if stored := conversation.next():
            answer, call = stored
            account.calls.append(call)
            return answer
        async with self._judged.panel.room(self._endpoint):
            answer = await self._send(account, clock, question, count, listed)
            deadline = clock.when()
            clock.reschedule(None)  # The disk's time is not the judge's.
            await conversation.add(answer, account.calls[-1], question.before[-1][1] if question.before else None)
            clock.reschedule(deadline)
        return answer

    async def _send(
        self, account: Account, clock: asyncio.Timeout, question: Question, count: int, listed: Sequence[str]
    ) -> ModelAnswer:
        """Sends a question; where the provider does not know schemas for answers, the same without one."""
        panel, endpoint = self._judged.panel, self._endpoint
        if why := panel.gateway.why_stopped(endpoint.provider.name, endpoint.model, account.contestant):
            raise NoAnswer(why.rstrip("."))

        def begin() -> None:
            # The clock runs from the first time that the question is sent: waiting for a free slot is not its time.
            if clock.when() is None:
                clock.reschedule(asyncio.get_running_loop().time() + panel.seconds)

        while True:
            with_schema = endpoint.judge.key not in panel.without_schema
            allowed_pointers = tuple(listed) if endpoint.judge.is_local else ()
            form = schema(count, allowed_pointers, may_look=self._tool_calls > 0) if with_schema else None
            content = FORMATS[endpoint.protocol].ask(replace(question, schema=form))
            async with panel.turn_of(endpoint):
                call = await panel.gateway.ask(account, content, begin)
            panel.charge(account.calls[-1])
            if call.failure is None:
                panel.question_ended(account, None)
                return call.answer
            if with_schema and call.status in (400, 404, 422) and _is_about_schema(call.refusal):
                panel.without_schema.add(endpoint.judge.key)
                account.failure = None
                account.aborted.clear()
                continue
            panel.question_ended(account, call.failure)
            raise NoAnswer(call.failure.message)


def _is_about_schema(words: str) -> bool:
    low = words.lower()
    return any(part in low for part in ("response_format", "json_schema", "schema", "tool", "text.format"))


def _last_trouble(account: Account) -> str:
    """What the provider said last, where that was an error."""
    last = account.calls[-1] if account.calls else None
    failed = last is not None and last.status is not None and last.status >= 300
    return f" ({last.trouble})" if last and failed and last.trouble else ""


def _why_no_score(view: ViewAnswer, weights: Sequence[float]) -> str | None:
    if view.answer is None:
        return view.reason
    given = _score(view.answer, weights)
    return given.reason if given.score is None else None


def _score(answer: ChecklistAnswer, weights: Sequence[float]) -> Verdict:
    given = verdict([item.verdict for item in answer.items], weights)
    if given.score is None and answer.unfounded:
        return replace(given, reason=f"{given.reason} ({answer.unfounded[0]})")
    return given


def _item_detail(text: str, weight: float, item: ItemAnswer) -> dict[str, Any]:
    kept: dict[str, Any] = {"item": text, "verdict": item.verdict, "pointer": item.pointer, "why": item.why}
    kept |= {} if weight == 1 else {"weight": weight}
    return kept | ({"unfounded": item.unfounded} if item.unfounded else {})


def _usage(views: Sequence[ViewAnswer]) -> dict[str, Any]:
    """Calls, tokens, money and time; a sum with an unknown part is unknown."""
    calls = [call for view in views for call in view.account.calls]
    usage = [view.account.usage(0.0) for view in views]
    seconds = max(sum(call.seconds for call in view.account.calls) for view in views)
    detail: dict[str, Any] = {"calls": len(calls), "seconds": round(seconds, 3)}
    for name in ("input_tokens", "cached_tokens", "output_tokens", "cost_usd"):
        values = [getattr(part, name) for part in usage]
        detail[name] = None if None in values else sum(values)
    detail |= {"is_bound": True} if any(part.is_bound for part in usage) else {}
    served = next((call.served_model for call in reversed(calls) if call.served_model), None)
    sources = {part.cost_source for part in usage if part.cost_source}
    return detail | {"model": served, "cost_source": ",".join(sorted(sources)) or None}
