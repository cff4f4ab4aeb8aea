"""The records that a call asks for. A record certainly fits, certainly does not, or is undecided (None)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from operator import ge, gt, le, lt
from typing import Any, cast

from support.checker.knowledge import Fact
from support.checker.ledger import Answered, Json, Record
from support.checker.moments import moment
from support.checker.specs import NOWHERE, Specs, given

Test = Callable[[Fact], bool | None]

_PAGING = ("limit", "offset", "page", "cursor")
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}


@dataclass(frozen=True)
class Question:
    """The tests that a record must pass to be in a list. `clear`: all arguments are understood."""

    tests: tuple[Test, ...]
    clear: bool

    @property
    def asks_for_all(self) -> bool:
        return self.clear and not self.tests

    def fits(self, fact: Fact) -> bool | None:
        """Whether a record belongs to the answer."""
        fits = [test(fact) for test in self.tests]
        if False in fits:
            return False
        return None if None in fits or not self.clear else True


def question(plan: Record, call: Answered, specs: Specs) -> Question:
    """Return the tests of a call, as far as the plan explains its arguments."""
    tests = [
        _test(rule["field"], rule["op"], value) if specs.is_plain(plan["entity"], rule["field"]) else _unknown
        for argument, rule in plan["filters"].items()
        if (value := _wanted(rule, given(call, argument))) is not NOWHERE
    ]
    tests += [_test(field, "equals", value) for field, value in plan["fixed"].items()]
    if plan.get("query") and given(call, plan["query"]) is not NOWHERE:
        tests.append(_text_test(given(call, plan["query"]), specs.texts(plan["entity"])))
    explained = {*plan["filters"], plan.get("query"), plan.get("sort"), plan.get("order"), *paging_names(plan)}
    heads = {str(name).partition(".")[0] for name in explained if name}
    return Question(tuple(tests), all(name in heads or value is None for name, value in call.arguments.items()))


def _wanted(rule: Record, value: Json) -> Json:
    """Return the value to compare with: the given one, that of a flag, or the exclusion that a flag lifts."""
    if rule.get("only") is not None:
        return rule["only"] if value is True else NOWHERE
    if rule.get("unless") is None:
        return value
    return NOWHERE if value is True else rule["unless"]


def paging_names(plan: Record) -> Iterator[str]:
    """Return the arguments that choose a page."""
    return (plan["paging"][word] for word in _PAGING if plan["paging"].get(word))


def _unknown(_fact: Fact) -> bool | None:
    return None


def _test(field: str, op: str, wanted: Json) -> Test:
    judge = partial(_compared, _COMPARISONS[op]) if op in _COMPARISONS else _JUDGES.get(op, _undecided)

    def test(fact: Fact) -> bool | None:
        if field not in fact.fields:
            return False if fact.is_whole and op == "equals" else None
        return judge(fact.fields[field], wanted)

    return test


def _undecided(_value: Json, _wanted: Json) -> bool | None:
    return None


def _equal(value: Json, wanted: Json) -> bool | None:
    if isinstance(value, str) and isinstance(wanted, str):
        return True if value == wanted else None if value.lower() == wanted.lower() else False
    return value == wanted if type(value) is type(wanted) else None


def _contains(value: Json, wanted: Json) -> bool | None:
    if isinstance(value, list):
        parts = cast("list[Json]", wanted) if isinstance(wanted, list) else [wanted]
        return True if all(item in cast("list[Json]", value) for item in parts) else None
    if isinstance(value, str) and isinstance(wanted, str):
        return True if wanted.lower() in value.lower() else None
    return None


def _among(value: Json, wanted: Json) -> bool | None:
    return True if isinstance(wanted, list) and value in wanted else None


def _other(value: Json, wanted: Json) -> bool | None:
    same = _equal(value, wanted)
    return None if same is None else not same


_JUDGES: dict[str, Callable[[Json, Json], bool | None]] = {
    "equals": _equal, "not": _other, "contains": _contains, "in": _among,
}  # fmt: skip


def _compared(compare: Callable[[Any, Any], bool], value: Json, wanted: Json) -> bool | None:
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return compare(value, wanted)
    left, right = moment(value), moment(wanted)
    return compare(left, right) if left is not None and right is not None else None


def _text_test(text: Json, searched: list[str]) -> Test:
    """Return the test of a search text. A certain hit has exactly the text in one of the searched fields."""
    plain = isinstance(text, str) and re.fullmatch(r"[\w ]*", text) is not None

    def test(fact: Fact) -> bool | None:
        values = [fact.fields.get(field) for field in searched]
        return True if plain and any(isinstance(v, str) and text.lower() in v.lower() for v in values) else None

    return test
