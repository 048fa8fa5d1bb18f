"""Questions that take work: how each begins, and how far it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from topicloom.designers import DESIGNERS
from topicloom.errors import InputError
from topicloom.explore.asking.background_work import Job
from topicloom.explore.asking.trade_off_answer import answer_trade_off
from topicloom.explore.asking.what_if import DESIGN
from topicloom.explore.asking.what_if_answer import ToldAnswer, answer_question
from topicloom.explore.asking.what_if_form import question_of
from topicloom.explore.explorer import Explorer


def begin(explorer: Explorer, name: str, given: Mapping[str, Any]) -> int:
    """Begin to answer a question of that name and give the number of the work."""
    if name not in _QUESTIONS:
        raise InputError(f"nobody can be asked '{name}'; known are {', '.join(_QUESTIONS)}")
    return _QUESTIONS[name](explorer, given)


def whole_number(given: Mapping[str, Any], name: str) -> int:
    """A whole number of a question."""
    value = given.get(name)
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{name} must be a whole number")
    return value


def _what_if(explorer: Explorer, given: Mapping[str, Any]) -> int:
    number = whole_number(given, "overlay")
    interest = explorer.collection.overlay(number).seen.overlay.interest
    question = question_of(interest, given)
    total = DESIGNERS.find(question.algorithm).total if question.reaction == DESIGN else None
    parameters = DESIGNERS.prepare(question.algorithm, 0, question.parameters).parameters

    def work(job: Job) -> ToldAnswer:
        job.doing = f"{question.algorithm} works" if question.reaction == DESIGN else "working"
        job.total = None if total is None else total(interest, parameters)
        return answer_question(explorer, number, question, job)

    return explorer.jobs.start(work)


def _trade_off(explorer: Explorer, given: Mapping[str, Any]) -> int:
    number = whole_number(given, "wanted")
    if not 0 <= number < len(explorer.collection.wanted):
        raise InputError(f"there are no subscriptions {number}")
    # The answer is always the same, so it is looked for once.
    known = explorer.once(("trade-off", number), lambda: [0])
    if not explorer.jobs.is_good(known[0]):
        known[0] = explorer.jobs.start(lambda job: answer_trade_off(explorer, number, job))
    return known[0]


_QUESTIONS: dict[str, Callable[[Explorer, Mapping[str, Any]], int]] = {"what-if": _what_if, "trade-off": _trade_off}


def progress(explorer: Explorer, number: int) -> dict[str, Any]:
    """How far a piece of work is: what to show once it has ended, or the problem that ended it."""
    job = explorer.jobs.find(number)
    if not job.ended:
        return {"job": number, "doing": job.doing, "done": job.watch.done, "total": job.total}
    try:
        return {"job": number, "html": job.result().html}
    except InputError as error:
        return {"job": number, "problem": str(error)}
