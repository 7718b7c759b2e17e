"""A model as a judge: asked, asked once more where its answer cannot be used, and then an abstention."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from orvl.errors import BudgetSpent, CallRefused, NoAnswer, UnusableAnswer
from orvl.gateway.failures import CallFailure
from orvl.gateway.wire import FORMATS
from orvl.gateway.wire.format import Question
from orvl.project.judges import WORDING
from orvl.score.judges import Verdict, split, verdict
from orvl.score.judges.answers import ChecklistAnswer, read_answer, requested_tools, schema
from orvl.score.judges.extra_evidence import extra_evidence
from orvl.score.judges.injection import FAVOURS, OPEN, ROUNDS, alarm_of, disputed, majority, merits, moved
from orvl.score.judges.pointers import Pointers
from orvl.score.judges.prompt import SYSTEM, complaint, instruction
from orvl.score.judges.tools import JudgeTools

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.gateway.account import Account
    from orvl.gateway.wire.format import ModelAnswer
    from orvl.score.judges import Item
    from orvl.score.judges.answers import ItemAnswer
    from orvl.score.judges.evidence import EvidenceView
    from orvl.score.judges.extra_evidence import ExtraView
    from orvl.score.judges.panel import JudgedRun, JudgeEndpoint
    from orvl.score.judges.replies import JudgeConversation, Replies
    from orvl.types import ChecklistItem

MAX_ANSWER_REPEATED = 20_000
"""Characters of an earlier answer that a judge is reminded of."""
MAX_ANSWER_KEPT = 2_000
MAX_LISTED = 20
UNSETTLED = "what it said without the work's comments and texts does not settle it"


@dataclass(frozen=True)
class ViewAnswer:
    """What a judge answered about one view: an answer, or the reason why there is none, and what it took."""

    answer: ChecklistAnswer | None
    reason: str | None
    words: str
    account: Account
    asked: Mapping[str, Any] = field(default_factory=dict)
    """What it was sent, and what it said to it, word for word."""
    is_missed: bool = False
    """Whether the judge could not be asked, or its provider failed: no word of its own."""


@dataclass(frozen=True)
class _Sampled:
    """All answers of a judge to one checklist, about the work with its words and without them."""

    wanted: Sequence[ChecklistItem]
    fulls: Sequence[ViewAnswer]
    plains: Sequence[ViewAnswer]
    suspicious: Sequence[str]
    least_told: float

    def score(self, answer: ChecklistAnswer) -> Verdict:
        answers = [item.verdict for item in answer.items]
        given = verdict(answers, [weight for _, weight in self.wanted], self._good, self.least_told)
        if given.score is None and answer.unfounded:
            return replace(given, reason=f"{given.reason} ({answer.unfounded[0]})")
        return given

    def why_no_score(self, view: ViewAnswer) -> str | None:
        """Why nothing at all is known without words."""
        if view.answer is None:
            return view.reason
        given = self.score(view.answer)
        return given.reason if not given.told else None

    @property
    def _good(self) -> list[str]:
        return [item.good for item in self.wanted]

    def decided(self) -> tuple[ChecklistAnswer, str | None]:
        """The answers that count, and the alarm. Where the views differ, what most samples say without words does.

        Items that words alone settle count as with them, unless the work speaks to its judges and has nothing else.
        """
        fulls, plains = _merits(self.fulls, self._good), _merits(self.plains, self._good)
        first, plain = self.fulls[0].answer, self.plains[0].answer
        assert first is not None and plain is not None
        is_complete = len(self.plains) + len(self.fulls) == 2 + sum(map(sum, ROUNDS)) == len(fulls) + len(plains)
        found = moved(fulls, plains) if is_complete else []
        most = [majority(plains, index) for index in range(len(self.wanted))]
        alarm = alarm_of(found, most, [weight for _, weight in self.wanted], self.suspicious)
        unsure = set(disputed(fulls[0], plains[0]))
        if self.suspicious and FAVOURS not in plains[0]:
            unsure |= {i for i, (a, b) in enumerate(zip(fulls[0], plains[0], strict=True)) if (a, b) == (FAVOURS, OPEN)}
        indexes = range(len(self.wanted)) if alarm else sorted(unsure)
        items = list(first.items)
        for index in indexes:
            items[index] = self._item(index, most[index])
        base = plain if alarm else first
        return replace(base, items=tuple(items)), alarm

    def _item(self, index: int, merit: int) -> ItemAnswer:
        """An answer without words that says what most of them say."""
        answers = [one.answer for one in self.plains if one.answer is not None]
        found = (
            one.items[index]
            for one, told in zip(answers, _merits(self.plains, self._good), strict=True)
            if told[index] == merit
        )
        unsettled = replace(answers[0].items[index], verdict="cannot-tell", unfounded=UNSETTLED)
        return next(found, unsettled)


class ModelJudge:
    """Asks one model about one metric of one run."""

    def __init__(self, endpoint: JudgeEndpoint, judged: JudgedRun, tool_calls: int, replies: Replies) -> None:
        self.name = endpoint.judge.name
        self.verdicts: list[Verdict] = []
        self._endpoint, self._judged, self._tool_calls, self._replies = endpoint, judged, tool_calls, replies

    async def checklist(self, items: Sequence[Item], evidence: Any = None) -> Verdict:
        """The weighted share of good answers; both views of the run are asked about at once."""
        wanted = split(items)
        gathered = await self._judged.evidence(self._endpoint.judge.room)
        extra = extra_evidence(evidence, self._judged.run)
        full, plain = (gathered.full, extra.full), (gathered.plain or gathered.full, extra.plain)
        # The local model is slow, and its scores are never part of a rating: one view is enough.
        has_plain = (gathered.plain is not None or extra.differs) and not self._endpoint.judge.is_local
        fulls, plains = await self._sample(wanted, full, plain, 1, int(has_plain))
        suspicious = (*gathered.suspicious, *extra.suspicious)
        for more_full, more_plain in ROUNDS:
            if not self._is_open(wanted, fulls, plains):
                break
            more = await self._sample(wanted, full, plain, more_full, more_plain)
            fulls, plains = fulls + more[0], plains + more[1]
        detail = _usage([*fulls, *plains]) | {"evidence": gathered.key, "prompt": WORDING}
        detail |= {"left_out": list(gathered.left_out)[:MAX_LISTED]}
        if suspicious:
            detail["suspicious"] = list(suspicious)[:MAX_LISTED]
        given = self._verdict(_Sampled(wanted, fulls, plains, suspicious, self._endpoint.judge.told), detail)
        self.verdicts.append(given)
        shown = {view.nonce: view.text for view, _ in ((full, plain) if has_plain else (full,))}
        await self._replies.keep_questions(self._judged.attempt, [one.asked for one in (*fulls, *plains)], shown)
        return given

    async def _sample(
        self,
        wanted: Sequence[ChecklistItem],
        full: tuple[EvidenceView, ExtraView],
        plain: tuple[EvidenceView, ExtraView],
        fulls: int,
        plains: int,
    ) -> tuple[list[ViewAnswer], list[ViewAnswer]]:
        """As many new answers about both views."""
        asked = [*[full] * fulls, *[plain] * plains]
        if len(asked) == 1:
            answers = [await self._ask(wanted, *asked[0])]
        else:
            answers = list(await asyncio.gather(*(self._ask(wanted, *view) for view in asked)))
        return answers[:fulls], answers[fulls:]

    def _is_open(
        self, wanted: Sequence[ChecklistItem], fulls: Sequence[ViewAnswer], plains: Sequence[ViewAnswer]
    ) -> bool:
        """Whether both views have answered, and every sample so far says that words have moved an item."""
        if not plains or any(one.answer is None for one in (*fulls, *plains)):
            return False
        good = [item.good for item in wanted]
        return bool(moved(_merits(fulls, good), _merits(plains, good)))

    def _verdict(self, asked: _Sampled, detail: dict[str, Any]) -> Verdict:
        """The verdict on the full view; that on the plain view where words to readers have moved the judge."""
        first = asked.fulls[0]
        if first.answer is None:
            missed = {"missed": True} if first.is_missed else {}
            return Verdict(None, (), first.reason, detail | {"said": first.words[:MAX_ANSWER_KEPT]} | missed)
        given, chosen = asked.score(first.answer), first.answer
        second = asked.plains[0] if asked.plains else None
        # What words alone have moved to a yes is no evidence: without it there is no score. A judge that says yes to
        # nothing, even with the words, was not moved by them.
        if second is not None and given.score and (why := asked.why_no_score(second)):
            speaks = asked.suspicious[0] if asked.suspicious else None
            words = f"the work speaks to its judges ({speaks}), and without these words" if speaks else ""
            reason = f"{words or 'without the comments, texts and pictures of the work'}: {why}"
            missed = {"missed": True} if second.is_missed else {}
            return Verdict(None, (), reason, detail | {"plain": {"score": None, "reason": why}} | missed)
        if second is not None and second.answer is not None:
            plain = asked.score(second.answer)
            detail["plain"] = {"score": plain.score, "answers": list(plain.answers)}
            if len(asked.fulls) + len(asked.plains) > 2:
                detail["samples"] = {"full": _answers(asked.fulls), "plain": _answers(asked.plains)}
            chosen, alarm = asked.decided()
            given = asked.score(chosen)
            detail |= {"alarm": alarm} if alarm else {}
        elif second is not None:
            detail["plain"] = {"score": None, "reason": second.reason}
        detail |= {"items": list(map(_item_detail, asked.wanted, chosen.items)), "rationale": chosen.rationale}
        detail |= {"analysis": chosen.analysis} if chosen.analysis else {}
        return replace(given, detail=detail)

    # -- one view

    async def _ask(self, wanted: Sequence[ChecklistItem], view: EvidenceView, extra: ExtraView) -> ViewAnswer:
        panel, endpoint = self._judged.panel, self._endpoint
        account = panel.account(endpoint, self._judged.contestant)
        answer, reason, words, is_missed = None, None, "", False
        asked: dict[str, Any] = {"view": "without words" if view.is_plain else "full", "evidence": view.nonce}
        asked |= {"more": extra.text, "images": [image.name for image in extra.images]}
        ended = await self._judged.turn(endpoint, view)
        try:
            async with asyncio.timeout(None) as clock:
                answer = await self._converse(account, clock, wanted, view, extra, asked)
        except TimeoutError:
            if endpoint.local:
                endpoint.local.interrupt()
            reason = f"it did not answer within {panel.seconds:g} s" + _last_trouble(account)
            is_missed = True
            panel.question_ended(endpoint, self._judged.name, CallFailure(reason, retry_call=False), panel.seconds)
        except CallRefused as error:
            if account.over_budget:
                raise BudgetSpent from error
            reason = str(error)
        except NoAnswer as error:
            reason, words, is_missed = str(error), error.words, error.is_missed
        finally:
            ended.set()
        asked |= {"reason": reason} if reason else {}
        return ViewAnswer(answer, reason, words, account, asked, is_missed)

    async def _converse(
        self,
        account: Account,
        clock: asyncio.Timeout,
        wanted: Sequence[ChecklistItem],
        view: EvidenceView,
        extra: ExtraView,
        asked: dict[str, Any],
    ) -> ChecklistAnswer:
        """Asks until there is an answer: tools as often as allowed, and one more try where it cannot be used."""
        pointers = Pointers(self._judged.run, view, extra.images, has_further=bool(extra.text))
        tools = JudgeTools(self._judged.run, view, self._judged.browse, self._tool_calls)
        texts, good = [text for text, _ in wanted], [item.good for item in wanted]
        question = self._question(texts, view, extra, pointers, tools)
        asked |= {"system": question.system, "instruction": question.instruction, "exchange": []}
        conversation = self._replies.conversation(question)
        usable: ChecklistAnswer | None = None
        problems: list[str] = []
        is_second_try = False
        while True:
            given = await self._answer(account, clock, conversation, question, len(texts), pointers.listed)
            words = given.content
            asked["exchange"].append({"said": given.structured, "replied": None})
            if tools.left and (requests := requested_tools(given)):
                results = await tools.call(requests, conversation.replied)
                asked["exchange"][-1]["replied"] = results
                question = replace(question, before=(*question.before, (words[:MAX_ANSWER_REPEATED], results)))
                continue
            try:
                usable = read_answer(given, len(texts)).checked(pointers.problem, good)
                problems = usable.unfounded
            except UnusableAnswer as error:
                problems = [str(error)]
            # A second answer counts with its wrong pointers, which make its answer a cannot-tell.
            if not problems or (is_second_try and usable):
                break
            if is_second_try:
                raise NoAnswer(problems[0], words)
            is_second_try = True
            said = words[:MAX_ANSWER_REPEATED] or "(nothing)"
            asked["exchange"][-1]["replied"] = complaint(problems)
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
        provider, run = endpoint.provider.name, self._judged.name
        if why := await panel.breaker.admit(provider, endpoint.model, run, panel.seconds):
            raise NoAnswer(why, is_missed=True)
        try:
            return await self._exchange(account, clock, question, count, listed)
        finally:
            panel.breaker.leave(provider, endpoint.model)

    async def _exchange(
        self, account: Account, clock: asyncio.Timeout, question: Question, count: int, listed: Sequence[str]
    ) -> ModelAnswer:
        panel, endpoint = self._judged.panel, self._endpoint

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
                panel.question_ended(endpoint, self._judged.name, None)
                return call.answer
            if with_schema and call.status in (400, 404, 422) and _is_about_schema(call.refusal):
                panel.without_schema.add(endpoint.judge.key)
                account.failure = None
                account.aborted.clear()
                continue
            # What a provider says to this one question alone, such as that it is too long, it would say again.
            failure = call.failure
            is_missed = failure.retry_call or failure.retry_run or failure.scope != "call"
            if is_missed:
                panel.question_ended(endpoint, self._judged.name, failure)
            raise NoAnswer(failure.message, is_missed=is_missed)


def _is_about_schema(words: str) -> bool:
    low = words.lower()
    return any(part in low for part in ("response_format", "json_schema", "schema", "tool", "text.format"))


def _last_trouble(account: Account) -> str:
    """What the provider said last, where that was an error."""
    last = account.calls[-1] if account.calls else None
    failed = last is not None and last.status is not None and last.status >= 300
    return f" ({last.trouble})" if last and failed and last.trouble else ""


def _merits(views: Sequence[ViewAnswer], good: Sequence[str]) -> list[tuple[int, ...]]:
    """What each answer says of each item."""
    answers = [view.answer for view in views if view.answer is not None]
    return [merits([item.verdict for item in answer.items], good) for answer in answers]


def _answers(views: Sequence[ViewAnswer]) -> list[list[str] | None]:
    return [None if view.answer is None else [item.verdict for item in view.answer.items] for view in views]


def _item_detail(wanted: ChecklistItem, item: ItemAnswer) -> dict[str, Any]:
    text, weight = wanted
    kept: dict[str, Any] = {"item": text, "verdict": item.verdict, "pointer": item.pointer, "why": item.why}
    kept |= {} if weight == 1 else {"weight": weight}
    kept |= {} if wanted.good == "yes" else {"good": wanted.good}
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
