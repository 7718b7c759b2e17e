"""A model on the panel: asked, asked once more where its answer cannot be used, and then an abstention."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from orvl.errors import BudgetSpent, CallRefused, NoAnswer, UnusableAnswer
from orvl.gateway.wire import FORMATS
from orvl.gateway.wire.format import Question
from orvl.score.judges import Verdict, split, verdict
from orvl.score.judges.alarm import alarm_of, moved_items
from orvl.score.judges.answers import Answered, looks_in, read, said, schema
from orvl.score.judges.looks import Looks
from orvl.score.judges.pointers import Pointers
from orvl.score.judges.prompt import SYSTEM, complaint, instruction
from orvl.score.judges.shown import shown_as

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.gateway.account import Account
    from orvl.gateway.judge_call import JudgeCall
    from orvl.score.judges import Item
    from orvl.score.judges.answers import ItemAnswer
    from orvl.score.judges.bench import Case, Seat
    from orvl.score.judges.evidence import Evidence, View
    from orvl.score.judges.shown import Further

KEPT_ANSWER = 20_000
SHOWN_ANSWER = 2_000


@dataclass
class Asked:
    """What came of one view: an answer or the reason why there is none, and what it took."""

    answered: Answered | None
    reason: str | None
    words: str
    account: Account


class ModelJudge:
    """Asks one model about one metric of one run."""

    def __init__(self, seat: Seat, case: Case, looks: int) -> None:
        self.name = seat.judge.name
        self.verdicts: list[Verdict] = []
        self._seat, self._case, self._looks = seat, case, looks

    async def checklist(self, items: Sequence[Item], evidence: Any = None) -> Verdict:
        """The weighted share of yes; both views of the run are asked about at once."""
        texts, weights = split(items)
        gathered = await self._case.evidence(self._seat.judge.room)
        further = shown_as(evidence, self._case.run)
        views = [(gathered.full, further.full)]
        if (gathered.plain or further.differs) and not self._seat.judge.is_local:
            views.append((gathered.plain or gathered.full, further.plain))
        if len(views) == 1:
            asked = [await self._ask(texts, *views[0])]
        else:
            asked = await asyncio.gather(*(self._ask(texts, *view) for view in views))
        told = self._verdict(asked, texts, weights, gathered, further)
        self.verdicts.append(told)
        return told

    def _verdict(
        self,
        asked: Sequence[Asked],
        texts: Sequence[str],
        weights: Sequence[float],
        gathered: Evidence,
        further: Further,
    ) -> Verdict:
        """The first view's answers; those of the plain one where words to readers have moved the judge."""
        first, second = asked[0], asked[1] if len(asked) > 1 else None
        suspicious = (*gathered.suspicious, *further.suspicious)
        detail = _used(asked) | {"evidence": gathered.key, "left_out": list(gathered.left_out)[:20]}
        if suspicious:
            detail["suspicious"] = list(suspicious)[:20]
        if first.answered is None:
            return Verdict(None, (), first.reason, detail | {"said": first.words[:SHOWN_ANSWER]})
        if suspicious and second is not None and (why := _untold(second, weights)):
            reason = f"the work speaks to its judges ({suspicious[0]}), and without these words: {why}"
            return Verdict(None, (), reason, detail)
        told, chosen = _share(first.answered, weights), first.answered
        if second is not None and second.answered is not None:
            plain = _share(second.answered, weights)
            detail["plain"] = {"score": plain.score, "answers": list(plain.answers)}
            if alarm := alarm_of(told, plain, weights, suspicious):
                detail["alarm"], told, chosen = alarm, plain, second.answered
            elif moved := moved_items(told, plain, suspicious):
                chosen = first.answered.doubting(moved)
                told = _share(chosen, weights)
        elif second is not None:
            detail["plain"] = {"score": None, "reason": second.reason}
        detail |= {"items": list(map(_kept, texts, weights, chosen.items)), "rationale": chosen.rationale}
        return replace(told, detail=detail)

    # -- one view

    async def _ask(self, texts: Sequence[str], view: View, more: Further.Part) -> Asked:
        bench, seat = self._case.bench, self._seat
        account = bench.account(seat)
        answered, reason, words = None, None, ""
        done = await self._case.turn(seat, view)
        try:
            async with asyncio.timeout(None) as clock:
                answered = await self._answered(account, clock, texts, view, more)
        except TimeoutError:
            if seat.local:
                seat.local.interrupt()
            reason = f"it did not answer within {bench.seconds:g} s" + _last_trouble(account)
        except CallRefused as error:
            if account.over_budget:
                raise BudgetSpent from error
            reason = str(error)
        except NoAnswer as error:
            reason, words = str(error), error.words
        finally:
            done.set()
        return Asked(answered, reason, words, account)

    async def _answered(
        self, account: Account, clock: asyncio.Timeout, texts: Sequence[str], view: View, more: Further.Part
    ) -> Answered:
        pointers = Pointers(self._case.run, view, more.pictures)
        looks = Looks(self._case.run, view, self._case.browse, self._looks)
        asked = instruction(view.nonce, texts, pointers.kinds, is_plain=view.is_plain)
        if looks.left:
            asked += f"\n{looks.instruction}"
        form = Question(
            model=self._seat.model,
            system=SYSTEM,
            evidence=view.text,
            instruction=asked,
            more=more.text,
            images=more.pictures,
            options=self._seat.judge.options,
            mark_cache=self._seat.provider.name == "openrouter",
        )
        if local := self._seat.local:
            form = replace(form, evidence=local.readable(form.evidence), more=local.readable(form.more))
        usable: Answered | None = None
        problems: list[str] = []
        asked_again = False
        while True:
            question = await self._put(account, clock, form, len(texts), pointers.listed)
            words = said(question.answer)
            if looks.left and (wanted := looks_in(question.answer)):
                form = replace(form, before=(*form.before, (words[:KEPT_ANSWER], await looks.take(wanted))))
                continue
            try:
                answered = read(question.answer, len(texts)).checked(pointers.trouble)
                usable, problems = answered, answered.unfounded
            except UnusableAnswer as error:
                problems = [str(error)]
            if not problems or (asked_again and usable):
                break
            if asked_again:
                raise NoAnswer(problems[0], words)
            asked_again = True
            form = replace(form, before=(*form.before, (words[:KEPT_ANSWER] or "(nothing)", complaint(problems))))
        assert usable is not None
        return usable

    async def _put(
        self, account: Account, clock: asyncio.Timeout, form: Question, count: int, listed: Sequence[str]
    ) -> JudgeCall:
        """One question; where the host does not know answers by a schema, the same without one."""
        bench, seat = self._case.bench, self._seat
        if why := bench.gateway.why_stopped(seat.provider.name, seat.model):
            raise NoAnswer(why.rstrip("."))

        def begin() -> None:
            if clock.when() is None:
                clock.reschedule(asyncio.get_running_loop().time() + bench.seconds)

        while True:
            with_schema = seat.judge.key not in bench.without_schema
            among = tuple(listed) if seat.judge.is_local else ()
            by = schema(count, among, may_look=self._looks > 0) if with_schema else None
            content = FORMATS[seat.protocol].ask(replace(form, schema=by))
            question = await bench.gateway.ask(account, content, begin)
            if question.failure is None:
                bench.tell(account, None)
                return question
            if with_schema and question.status in (400, 404, 422) and _is_about_schema(question.refusal):
                bench.without_schema.add(seat.judge.key)
                account.failure = None
                account.aborted.clear()
                continue
            bench.tell(account, question.failure)
            raise NoAnswer(question.failure.message)


def _is_about_schema(words: str) -> bool:
    low = words.lower()
    return any(part in low for part in ("response_format", "json_schema", "schema", "tool", "text.format"))


def _last_trouble(account: Account) -> str:
    """What the provider said last, where it said something other than an answer."""
    last = account.calls[-1] if account.calls else None
    failed = last is not None and last.status is not None and last.status >= 300
    return f" ({last.trouble})" if last and failed and last.trouble else ""


def _untold(asked: Asked, weights: Sequence[float]) -> str | None:
    """Why a view gave no score."""
    if asked.answered is None:
        return asked.reason
    told = _share(asked.answered, weights)
    return told.reason if told.score is None else None


def _share(answered: Answered, weights: Sequence[float]) -> Verdict:
    told = verdict([item.verdict for item in answered.items], weights)
    if told.score is None and answered.unfounded:
        return replace(told, reason=f"{told.reason} ({answered.unfounded[0]})")
    return told


def _kept(text: str, weight: float, item: ItemAnswer) -> dict[str, Any]:
    kept: dict[str, Any] = {"item": text, "verdict": item.verdict, "pointer": item.pointer, "why": item.why}
    kept |= {} if weight == 1 else {"weight": weight}
    return kept | ({"unfounded": item.unfounded} if item.unfounded else {})


def _used(asked: Sequence[Asked]) -> dict[str, Any]:
    """Calls, tokens, money and time; a sum with an unknown part is unknown."""
    calls = [call for one in asked for call in one.account.calls]
    usage = [one.account.usage(0.0) for one in asked]
    seconds = max(sum(call.seconds for call in one.account.calls) for one in asked)
    detail: dict[str, Any] = {"calls": len(calls), "seconds": round(seconds, 3)}
    for name in ("input_tokens", "cached_tokens", "output_tokens", "cost_usd"):
        values = [getattr(one, name) for one in usage]
        detail[name] = None if None in values else sum(values)
    served = next((call.served_model for call in reversed(calls) if call.served_model), None)
    sources = {one.cost_source for one in usage if one.cost_source}
    return detail | {"model": served, "cost_source": ",".join(sorted(sources)) or None}
